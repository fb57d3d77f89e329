package driver

import (
	"maps"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

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

func (q *queue) drain() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.jobs
	q.jobs = nil
	return jobs
}

// Run runs the loop. It returns after Quit, after the last window was closed, or
// when the desktop goes away.
func (a *App) Run() {
	defer close(a.ended)
	callIfSet(a.lifecycle.started)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for !a.over() {
		a.keepRenderers(time.Now())
		jobs := a.queue.drain()
		for _, f := range jobs {
			f()
		}
		next := a.tick(time.Now())
		for _, w := range slices.Clone(a.windows) {
			// An animation marks what it changes, and usually changes nothing.
			if len(jobs) > 0 || w.canvas.stale {
				w.update()
			}
		}
		a.reportTree()
		if a.over() {
			break
		}
		if next.IsZero() {
			alarm.Stop()
		} else {
			alarm.Reset(time.Until(next))
		}
		select {
		case <-a.queue.wake:
		case <-alarm.C:
		case <-a.display.Done():
			a.quit = true
		}
	}
	for _, w := range slices.Clone(a.windows) {
		w.destroy()
	}
	a.queue.mu.Lock()
	a.queue.done, a.queue.jobs = true, nil
	a.queue.mu.Unlock()
	callIfSet(a.lifecycle.stopped)
	_ = a.display.Close() // it ends with the process at the latest
}

func (a *App) over() bool { return a.quit || a.empty && len(a.windows) == 0 }

// keepRenderers has Fyne keep the windows' renderers, and drops sizes of objects no longer in them.
func (a *App) keepRenderers(now time.Time) {
	const often = 5 * time.Second // Fyne checks for old ones every ten seconds
	now = now.Round(0)            // wall clock, which continues while the computer sleeps
	if since := now.Sub(a.kept); since >= 0 && since < often {
		return
	}
	a.kept = now
	var roots []fyne.CanvasObject
	for _, w := range a.windows {
		roots = append(roots, w.canvas.roots()...)
	}
	in := map[fyne.CanvasObject]bool{}
	offscreen.KeepRenderers(roots, func(o fyne.CanvasObject) { in[o] = true })
	for _, w := range a.windows {
		maps.DeleteFunc(w.canvas.minSizes, func(o fyne.CanvasObject, _ fyne.Size) bool { return !in[o] })
	}
}

// Quit ends Run and closes the windows.
func (a *App) Quit() { a.queue.add(func() { a.quit = true }) }

// DoFromGoroutine has the loop run f. After the loop has ended it does nothing.
func (a *App) DoFromGoroutine(f func(), wait bool) {
	if !wait {
		a.queue.add(f)
		return
	}
	done := make(chan struct{})
	if !a.queue.add(func() { defer close(done); f() }) {
		return
	}
	select {
	case <-done:
	case <-a.ended:
	}
}

func (a *App) CreateWindow(title string) fyne.Window { return a.newFrame(title) }

func (a *App) AllWindows() []fyne.Window {
	all := make([]fyne.Window, len(a.windows))
	for i, w := range a.windows {
		all[i] = w
	}
	return all
}

func (a *App) RenderedTextSize(text string, size float32, style fyne.TextStyle, font fyne.Resource) (fyne.Size, float32) {
	if font == nil {
		font = theme.FontSource(text, style)
	}
	return offscreen.Measure(text, size, style, font)
}

func (a *App) CanvasForObject(o fyne.CanvasObject) fyne.Canvas {
	for _, w := range a.windows {
		if w.canvas.visible[o] {
			return w.canvas
		}
	}
	return nil
}

func (a *App) AbsolutePositionForObject(o fyne.CanvasObject) fyne.Position {
	for _, w := range a.windows {
		if pos, _, ok := w.canvas.find(o); ok { // includes what was not painted yet
			return pos
		}
	}
	return fyne.Position{}
}

func (a *App) Device() fyne.Device                   { return device{} }
func (a *App) DoubleTapDelay() time.Duration         { return 300 * time.Millisecond }
func (a *App) SetDisableScreenBlanking(bool)         {}
func (a *App) CurrentKeyModifiers() fyne.KeyModifier { return a.heldModifiers }
func (a *App) CreateSplashWindow() fyne.Window       { return a.newFrame("") }
func (a *App) HasSecondaryDisplay() bool             { return len(a.display.Monitors()) > 1 }

var _ desktop.Driver = (*App)(nil)

type device struct{ fyne.Device }

func (device) IsMobile() bool { return false }

func (a *App) restyle() {
	for _, w := range a.windows {
		w.canvas.surface.NewTheme()
		for _, root := range w.canvas.roots() {
			restyle(root)
		}
		w.canvas.relayoutStale()
		w.setDarkBorders()
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

func (a *App) desktopChanged() {
	if now := a.display.Appearance(); now != a.settings.desktop {
		a.settings.desktop = now
		a.settings.changed()
	}
	for _, w := range a.windows {
		w.rescale()
	}
}
