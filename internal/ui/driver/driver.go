package driver

import (
	"image"
	"maps"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/native/window"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// driver is the loop and the list of windows.
type driver struct {
	app     *App
	display window.Desktop
	icons   []*image.NRGBA

	queue queue
	quit  bool
	ended chan struct{} // closed when Run has returned

	windows    []*frame
	animations []*animation
	kept       time.Time // when keep was last called
	held       fyne.KeyModifier
	reader     exploring
}

func (d *driver) init(a *App, display window.Desktop, icons []*image.NRGBA) {
	d.app, d.display, d.icons = a, display, icons
	d.queue.wake = make(chan struct{}, 1)
	d.ended = make(chan struct{})
	a.settings.changed = d.restyle
	a.settings.desktop = looksOf(display)
}

// looks are the appearance settings of the desktop.
type looks struct {
	variant fyne.ThemeVariant
	high    bool // contrast
	still   bool // no animations
}

func looksOf(d window.Desktop) looks {
	l := looks{base.VariantLight, d.HighContrast(), d.LessMotion()}
	if d.Dark() {
		l.variant = base.VariantDark
	}
	return l
}

// queue holds jobs for the loop. Adding never blocks.
type queue struct {
	mu   sync.Mutex
	jobs []func()
	done bool
	wake chan struct{}
}

// add adds a job, and reports whether it will run.
func (q *queue) add(f func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done {
		return false
	}
	q.jobs = append(q.jobs, f)
	wake.Up(q.wake)
	return true
}

func (q *queue) take() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.jobs
	q.jobs = nil
	return jobs
}

// Run runs the loop. It returns after Quit, after the last window was closed, or
// when the desktop goes away.
func (d *driver) Run() {
	defer close(d.ended)
	call(d.app.lifecycle.started)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for !d.quit {
		d.keep(time.Now())
		jobs := d.queue.take()
		for _, f := range jobs {
			f()
		}
		next := d.tick(time.Now())
		for _, w := range slices.Clone(d.windows) {
			// An animation marks what it changes, and usually changes nothing.
			if len(jobs) > 0 || w.canvas.stale {
				w.update()
			}
		}
		d.tell()
		if d.quit {
			break
		}
		if next.IsZero() {
			alarm.Stop()
		} else {
			alarm.Reset(time.Until(next))
		}
		select {
		case <-d.queue.wake:
		case <-alarm.C:
		case <-d.display.Done():
			d.quit = true
		}
	}
	for _, w := range slices.Clone(d.windows) {
		w.destroy()
	}
	d.queue.mu.Lock()
	d.queue.done, d.queue.jobs = true, nil
	d.queue.mu.Unlock()
	call(d.app.lifecycle.stopped)
	_ = d.display.Close() // it ends with the process at the latest
}

// keep has Fyne keep the windows' renderers, and drops sizes of objects no longer in them.
func (d *driver) keep(now time.Time) {
	const often = 5 * time.Second // Fyne checks for old ones every ten seconds
	now = now.Round(0)            // wall clock, which continues while the computer sleeps
	if since := now.Sub(d.kept); since >= 0 && since < often {
		return
	}
	d.kept = now
	var roots []fyne.CanvasObject
	for _, w := range d.windows {
		roots = append(roots, w.canvas.roots()...)
	}
	in := map[fyne.CanvasObject]bool{}
	offscreen.Keep(roots, func(o fyne.CanvasObject) { in[o] = true })
	for _, w := range d.windows {
		maps.DeleteFunc(w.canvas.least, func(o fyne.CanvasObject, _ fyne.Size) bool { return !in[o] })
	}
}

// Quit ends Run and closes the windows.
func (d *driver) Quit() { d.queue.add(func() { d.quit = true }) }

// DoFromGoroutine has the loop run f. After the loop has ended it does nothing.
func (d *driver) DoFromGoroutine(f func(), wait bool) {
	if !wait {
		d.queue.add(f)
		return
	}
	done := make(chan struct{})
	if !d.queue.add(func() { defer close(done); f() }) {
		return
	}
	select {
	case <-done:
	case <-d.ended:
	}
}

func (d *driver) CreateWindow(title string) fyne.Window { return d.newFrame(title) }

func (d *driver) AllWindows() []fyne.Window {
	all := make([]fyne.Window, len(d.windows))
	for i, w := range d.windows {
		all[i] = w
	}
	return all
}

func (d *driver) RenderedTextSize(text string, size float32, style fyne.TextStyle, font fyne.Resource) (fyne.Size, float32) {
	if font == nil {
		font = theme.Source(text, style)
	}
	return offscreen.Measure(text, size, style, font)
}

func (d *driver) CanvasForObject(o fyne.CanvasObject) fyne.Canvas {
	for _, w := range d.windows {
		if w.canvas.holds[o] {
			return w.canvas
		}
	}
	return nil
}

func (d *driver) AbsolutePositionForObject(o fyne.CanvasObject) fyne.Position {
	for _, w := range d.windows {
		if pos, _, ok := w.canvas.find(o); ok { // includes what was not painted yet
			return pos
		}
	}
	return fyne.Position{}
}

func (d *driver) Device() fyne.Device                   { return device{} }
func (d *driver) DoubleTapDelay() time.Duration         { return 300 * time.Millisecond }
func (d *driver) SetDisableScreenBlanking(bool)         {}
func (d *driver) CurrentKeyModifiers() fyne.KeyModifier { return d.held }
func (d *driver) CreateSplashWindow() fyne.Window       { return d.newFrame("") }
func (d *driver) HasSecondaryDisplay() bool             { return len(d.display.Monitors()) > 1 }

var _ desktop.Driver = (*driver)(nil)

// device describes a computer with keyboard and mouse.
type device struct{ fyne.Device }

func (device) Orientation() fyne.DeviceOrientation { return fyne.OrientationHorizontalLeft }
func (device) IsMobile() bool                      { return false }

// restyle applies a changed theme to every window.
func (d *driver) restyle() {
	for _, w := range d.windows {
		w.canvas.surface.NewTheme()
		for _, root := range w.canvas.roots() {
			restyle(root)
		}
		w.canvas.fit()
		w.borders()
	}
}

func restyle(o fyne.CanvasObject) {
	in, _ := offscreen.Children(o)
	for _, c := range in {
		restyle(c)
	}
	relayout(o)
	o.Refresh()
}

// desktopChanged applies changes to the desktop's appearance, scale and monitors.
func (d *driver) desktopChanged() {
	if l := looksOf(d.display); l != d.app.settings.desktop {
		d.app.settings.setLooks(l)
	}
	for _, w := range d.windows {
		w.rescale()
	}
}
