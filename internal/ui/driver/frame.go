package driver

import (
	"image"
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/native/window"
	"wiebelt/internal/ui/offscreen"
)

// frame is a window: its canvas, and from the first Show on, the native
// window that shows it. What is never called on a window is not implemented.
type frame struct {
	fyne.Window
	app    *App
	title  string
	canvas *canvas
	native window.Frame

	size        image.Point // of the content, in pixels
	minSize     fyne.Size   // of the content, as set on the native window
	center      bool
	at          *image.Point // initial place of the content, in pixels of the desktop
	closed      bool
	needsLayout bool // size is new
	focused     bool
	cursor      window.Cursor
	pointer     pointer
	pix         []byte

	intercept, onClosed func()
	onDropped           func(fyne.Position, []fyne.URI)
}

func (a *App) newFrame(title string) *frame {
	w := &frame{app: a, title: title}
	w.canvas = newCanvas(w)
	w.canvas.SetScale(w.scale())
	a.windows = append(a.windows, w)
	return w
}

// monitor returns the monitor the window is or will be on.
func (w *frame) monitor() window.Monitor {
	all := w.app.display.Monitors()
	if w.native != nil {
		if r, err := w.native.Place(); err == nil {
			return all[max(0, window.MonitorOf(all, r))]
		}
	}
	return all[min(w.app.display.Active(), len(all)-1)]
}

func (w *frame) scale() float32 {
	if w.native != nil {
		if s, err := w.native.Scale(); err == nil {
			return s
		}
	}
	return w.monitor().Scale
}

func (w *frame) pixels(s fyne.Size) image.Point {
	return offscreen.Size(s, w.canvas.Scale())
}

func (w *frame) SetTitle(t string) {
	if w.title, w.canvas.unread = t, true; w.native != nil {
		w.check(w.native.SetTitle(t))
	}
}

func (w *frame) CenterOnScreen()          { w.center = true }
func (w *frame) SetPadded(on bool)        { w.canvas.SetPadded(on) }
func (w *frame) MainMenu() *fyne.MainMenu { return nil }

func (w *frame) SetOnClosed(f func())       { w.onClosed = f }
func (w *frame) SetCloseIntercept(f func()) { w.intercept = f }

func (w *frame) SetOnDropped(f func(fyne.Position, []fyne.URI)) { w.onDropped = f }

func (w *frame) Content() fyne.CanvasObject     { return w.canvas.Content() }
func (w *frame) SetContent(o fyne.CanvasObject) { w.canvas.SetContent(o) }
func (w *frame) Canvas() fyne.Canvas            { return w.canvas }

// Resize requests a size for the content, in units; the screen limits it.
func (w *frame) Resize(s fyne.Size) {
	w.size = w.bounded(w.pixels(s.Max(w.canvas.minSize())))
	if w.native != nil {
		w.check(w.native.Resize(w.size))
	}
	w.layout()
}

// border is the maximum width of a window manager's border, in units.
const border = 40

// bounded limits a size to the work area, borders included.
func (w *frame) bounded(s image.Point) image.Point {
	m := w.monitor()
	edge := int(border * w.canvas.Scale())
	return image.Pt(max(1, min(s.X, m.Work.Dx()-edge/4)), max(1, min(s.Y, m.Work.Dy()-edge)))
}

func (w *frame) layout() {
	scale := w.canvas.Scale()
	w.needsLayout = false
	w.canvas.Resize(fyne.NewSize(float32(w.size.X)/scale, float32(w.size.Y)/scale))
	w.canvas.stale, w.canvas.unread = true, true
}

// limit keeps the window from becoming smaller than its content.
func (w *frame) limit(least fyne.Size) {
	if least == w.minSize || w.native == nil {
		return
	}
	w.minSize = least
	px := w.bounded(w.pixels(least))
	w.check(w.native.SetLimits(px))
	if to := image.Pt(max(w.size.X, px.X), max(w.size.Y, px.Y)); to != w.size {
		w.check(w.native.Resize(to))
	}
}

// Show shows the window or brings it to the front. A window the desktop
// cannot show is closed.
func (w *frame) Show() {
	if w.closed {
		return
	}
	if w.native == nil {
		if w.size == (image.Point{}) {
			w.size = w.bounded(w.pixels(w.canvas.minSize()))
			w.layout()
		}
		work := w.monitor().Work // of the active one, before the window is on any
		bg := color.NRGBAModel.Convert(base.Color(base.ColorNameBackground)).(color.NRGBA)
		n, err := w.app.display.NewFrame(handler{w}, window.FrameOptions{Title: w.title, Size: w.size, Icons: w.app.icons, Background: [3]uint8{bg.R, bg.G, bg.B}})
		if err != nil {
			w.check(err)
			w.Close() // an invisible window must not stay open
			return
		}
		w.native = n
		w.setDarkBorders()
		if w.at == nil && w.center {
			w.at = &image.Point{X: work.Min.X + (work.Dx()-w.size.X)/2, Y: work.Min.Y + max(0, (work.Dy()-w.size.Y)/2)}
		}
		if w.at != nil {
			w.check(n.Move(*w.at))
		}
		w.rescale() // to the scale of the monitor it opened on
		w.canvas.relayoutStale()
	}
	w.update() // paint it before it appears
	w.check(w.native.Show())
}

// RequestPosition sets where the content will appear, in pixels of the desktop.
func (w *frame) RequestPosition(x, y int) { w.at = &image.Point{X: x, Y: y} }

// setDarkBorders has the desktop draw dark borders around a dark window.
func (w *frame) setDarkBorders() {
	c := color.GrayModel.Convert(base.Color(base.ColorNameBackground)).(color.Gray)
	if w.native != nil {
		w.check(w.native.SetDark(c.Y < 128))
	}
}

// RequestFocus brings the window to the front.
func (w *frame) RequestFocus() { w.Show() }

// Close closes the window, and ends Run if it was the last one.
func (w *frame) Close() {
	if w.closed {
		return
	}
	w.destroy()
	w.app.empty = len(w.app.windows) == 0
}

func (w *frame) destroy() {
	if w.closed {
		return
	}
	w.focus(false) // otherwise its caret would keep blinking
	w.canvas.Unfocus()
	w.closed, w.app.reader.treeChanged = true, true
	w.pointer.reset()
	w.app.windows = slices.DeleteFunc(w.app.windows, func(o *frame) bool { return o == w })
	if w.native != nil {
		w.check(w.native.Close())
	}
	callIfSet(w.onClosed)
}

// check logs a failure of the native window. If the connection to the desktop is
// lost, the loop ends anyway.
func (w *frame) check(err error) {
	if err != nil && err != window.ErrClosed {
		fyne.LogError("window", err)
	}
}

// rescale applies a new scale of the monitor: visible content keeps its size.
func (w *frame) rescale() {
	if w.closed {
		return
	}
	w.minSize, w.canvas.stale = fyne.Size{}, true // the work area may have changed
	to := w.scale()
	from := w.canvas.Scale()
	if to == from {
		return
	}
	s := w.canvas.Size()
	w.canvas.SetScale(to)
	w.Resize(s)
}

func (w *frame) update() {
	if w.closed || w.native == nil {
		return
	}
	if w.needsLayout {
		w.layout()
	}
	w.canvas.dropStaleFocus()
	if w.canvas.stale {
		w.canvas.relayoutStale()
	}
	for _, r := range w.canvas.render(w.size) {
		w.pix = w.canvas.surface.Pixels(r, w.pix)
		w.check(w.native.Draw(r.Min, &window.Picture{W: r.Dx(), H: r.Dy(), Pix: w.pix}))
	}
	w.noteReaderChanges()
}
