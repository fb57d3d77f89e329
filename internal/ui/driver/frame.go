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

// frame is a window: its canvas, and the native window that shows it from the
// first Show on. What nobody asks of a window is not there.
type frame struct {
	fyne.Window
	d      *driver
	title  string
	canvas *canvas
	native window.Frame

	size    image.Point // of the content, in pixels
	least   fyne.Size   // of the content, as the native window was told
	center  bool
	at      *image.Point // where the content is to come up, in pixels of the desktop
	closed  bool
	unlaid  bool // size is new
	focused bool
	cursor  window.Cursor
	pointer pointer
	pix     []byte

	intercept, onClosed func()
	onDropped           func(fyne.Position, []fyne.URI)
}

func (d *driver) newFrame(title string) *frame {
	w := &frame{d: d, title: title}
	w.canvas = newCanvas(w)
	w.canvas.SetScale(w.scale())
	d.windows = append(d.windows, w)
	return w
}

// monitor is the one that the window is on, or will come up on.
func (w *frame) monitor() window.Monitor {
	all := w.d.display.Monitors()
	if w.native != nil {
		if r, err := w.native.Place(); err == nil {
			return all[max(0, window.MonitorOf(all, r))]
		}
	}
	return all[min(w.d.display.Active(), len(all)-1)]
}

func (w *frame) scale() float32 { return w.monitor().Scale }

// pixels is a size in whole pixels.
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

// Resize asks for a size of the content, in units; the screen bounds it.
func (w *frame) Resize(s fyne.Size) {
	w.size = w.bounded(w.pixels(s.Max(w.canvas.minSize())))
	if w.native != nil {
		w.check(w.native.Resize(w.size))
		return
	}
	w.layout()
}

// border is what a window manager may put around a window, in units.
const border = 40

// bounded is a size that the work area has room for, borders included.
func (w *frame) bounded(s image.Point) image.Point {
	m := w.monitor()
	edge := int(border * w.canvas.Scale())
	return image.Pt(max(1, min(s.X, m.Work.Dx()-edge/4)), max(1, min(s.Y, m.Work.Dy()-edge)))
}

// layout gives the canvas the size of the window.
func (w *frame) layout() {
	scale := w.canvas.Scale()
	w.unlaid = false
	w.canvas.Resize(fyne.NewSize(float32(w.size.X)/scale, float32(w.size.Y)/scale))
	w.canvas.stale, w.canvas.unread = true, true
}

// limit keeps the window from becoming smaller than its content.
func (w *frame) limit(least fyne.Size) {
	if least == w.least || w.native == nil {
		return
	}
	w.least = least
	px := w.bounded(w.pixels(least))
	w.check(w.native.SetLimits(px))
	if to := image.Pt(max(w.size.X, px.X), max(w.size.Y, px.Y)); to != w.size {
		w.check(w.native.Resize(to))
	}
}

// Show brings the window up, or to the front. One that the desktop has no place for
// is closed.
func (w *frame) Show() {
	if w.closed {
		return
	}
	if w.native == nil {
		if w.size == (image.Point{}) {
			w.size = w.bounded(w.pixels(w.canvas.minSize()))
			w.layout()
		}
		bg := color.NRGBAModel.Convert(base.Color(base.ColorNameBackground)).(color.NRGBA)
		n, err := w.d.display.NewFrame(handler{w}, window.FrameOptions{Title: w.title, Size: w.size, Icons: w.d.icons, Background: [3]uint8{bg.R, bg.G, bg.B}})
		if err != nil {
			w.check(err)
			w.Close() // or a window would be held that nobody sees
			return
		}
		w.native = n
		w.borders()
		w.canvas.fit()
		if w.at != nil {
			w.check(n.Move(*w.at))
		} else if w.center {
			work := w.monitor().Work
			w.check(n.Move(image.Pt(work.Min.X+(work.Dx()-w.size.X)/2, work.Min.Y+max(0, (work.Dy()-w.size.Y)/2))))
		}
	}
	w.update() // painted before it comes up
	w.check(w.native.Show())
}

// RequestPosition asks for the place where the content is to come up, in pixels of the
// desktop.
func (w *frame) RequestPosition(x, y int) { w.at = &image.Point{X: x, Y: y} }

// borders has the desktop draw dark borders around a dark window.
func (w *frame) borders() {
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
	if len(w.d.windows) == 0 {
		w.d.quit = true
	}
}

func (w *frame) destroy() {
	if w.closed {
		return
	}
	w.focus(false) // or its caret would go on blinking
	w.canvas.Unfocus()
	w.closed, w.d.reader.untold = true, true
	w.pointer.gone()
	w.d.windows = slices.DeleteFunc(w.d.windows, func(o *frame) bool { return o == w })
	if w.native != nil {
		w.check(w.native.Close())
	}
	call(w.onClosed)
}

// check logs what the native window could not do. A desktop that has gone ends
// the loop by itself.
func (w *frame) check(err error) {
	if err != nil && err != window.ErrClosed {
		fyne.LogError("window", err)
	}
}

// rescale follows another scale of the monitor: what is seen stays as large as
// it was.
func (w *frame) rescale() {
	if w.closed {
		return
	}
	w.least, w.canvas.stale = fyne.Size{}, true // the work area may be another
	to := w.scale()
	from := w.canvas.Scale()
	if to == from {
		return
	}
	s := w.canvas.Size()
	w.canvas.SetScale(to)
	w.size = w.bounded(w.pixels(s))
	if w.native != nil {
		w.check(w.native.Resize(w.size))
	}
	w.layout()
}

// update brings on screen what has changed.
func (w *frame) update() {
	if w.closed || w.native == nil {
		return
	}
	if w.unlaid {
		w.layout()
	}
	w.canvas.letGo()
	if w.canvas.stale {
		w.canvas.fit()
	}
	for _, r := range w.canvas.frame(w.size) {
		w.pix = w.canvas.surface.Pixels(r, w.pix)
		w.check(w.native.Draw(r.Min, &window.Picture{W: r.Dx(), H: r.Dy(), Pix: w.pix}))
	}
	w.explores()
}
