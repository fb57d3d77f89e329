package card

import (
	"context"
	"image"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fynetheme "fyne.io/fyne/v2/theme"

	"wiebelt/internal/companion"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
)

// desktop is a display that notes what is shown on it.
type desktop struct {
	mu      sync.Mutex
	windows []*pane
	copied  string
	painted int // pictures that were shown
	changed chan struct{}
}

type pane struct {
	d    *desktop
	h    window.Handler
	rect image.Rectangle
	up   bool
}

func (d *desktop) New(h window.Handler) (window.Window, error) {
	p := &pane{d: d, h: h}
	d.windows = append(d.windows, p)
	return p, nil
}
func (d *desktop) Monitors() []window.Monitor {
	return []window.Monitor{{Name: "one", Area: image.Rect(0, 0, 1000, 800), Work: image.Rect(0, 0, 1000, 760), Scale: 1}}
}
func (d *desktop) Active() int        { return 0 }
func (d *desktop) Dark() bool         { return false }
func (d *desktop) HighContrast() bool { return false }
func (d *desktop) Hotkey(string, func()) (func(), error) {
	return nil, window.ErrUnsupported
}
func (d *desktop) Done() <-chan struct{} { return nil }
func (d *desktop) Close() error          { return nil }
func (d *desktop) Copy(s string) error {
	d.mu.Lock()
	d.copied = s
	d.mu.Unlock()
	d.tell()
	return nil
}
func (d *desktop) tell() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (p *pane) Show(r image.Rectangle, _ *window.Picture) error {
	p.d.mu.Lock()
	p.rect, p.up = r, true
	p.d.painted++
	p.d.mu.Unlock()
	p.d.tell()
	return nil
}
func (p *pane) Update(image.Point, *window.Picture) error {
	p.d.mu.Lock()
	p.d.painted++
	p.d.mu.Unlock()
	p.d.tell()
	return nil
}
func (p *pane) Hide() error {
	p.d.mu.Lock()
	p.up = false
	p.d.mu.Unlock()
	p.d.tell()
	return nil
}
func (p *pane) OnScreen() (*image.RGBA, error) { return nil, nil }
func (p *pane) TakeKeyboard() error            { return nil }
func (p *pane) GiveKeyboardBack() error        { return nil }
func (p *pane) HideFromCapture(bool) error     { return nil }
func (p *pane) Sync() error                    { return nil }
func (p *pane) Close() error                   { return nil }

func (d *desktop) paintings() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.painted
}

// up lists the places of the windows that are up, in the order of the slots.
func (d *desktop) up() (all []image.Rectangle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.windows {
		if p.up {
			all = append(all, p.rect)
		}
	}
	return all
}

// script is an engine that shows what the test says.
type script struct {
	mu    sync.Mutex
	snap  *companion.Snapshot
	watch chan struct{}
	done  chan companion.Action
}

func (s *script) Watch() <-chan struct{} { return s.watch }
func (s *script) Snapshot() *companion.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}
func (s *script) Do(a companion.Action) { s.done <- a }
func (s *script) show(more int, cards ...companion.Card) {
	s.mu.Lock()
	s.snap = &companion.Snapshot{Cards: cards, More: more}
	s.mu.Unlock()
	s.watch <- struct{}{}
}

type rig struct {
	t *testing.T
	d *desktop
	e *script

	slept atomic.Int64 // how far the clock stands from where it began
}

// pass lets time pass for what has just changed. By itself none does.
func (r *rig) pass(d time.Duration) { r.slept.Add(int64(d)) }

func startCards(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, d: &desktop{changed: make(chan struct{}, 1)}, e: &script{watch: make(chan struct{}, 1), done: make(chan companion.Action, 64)}}
	cs, err := New(Config{Language: text.Dutch, Appearance: Light, Corner: BottomRight, Log: slog.New(slog.DiscardHandler)}, r.e, r.d)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cs.now = func() time.Time { return began.Add(time.Duration(r.slept.Load())) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { cs.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	end := time.After(5 * time.Second)
	for !ok() {
		select {
		case <-r.d.changed:
		case <-end:
			r.t.Fatalf("never: %s; up: %v", what, r.d.up())
		}
	}
}

func (r *rig) action(do companion.Do) companion.Action {
	r.t.Helper()
	end := time.After(5 * time.Second)
	for {
		select {
		case a := <-r.e.done:
			if a.Do == do {
				return a
			}
		case <-end:
			r.t.Fatalf("action %d never came", do)
		}
	}
}

// none makes sure that none of the actions so far was do.
func (r *rig) none(do companion.Do) {
	r.t.Helper()
	for {
		select {
		case a := <-r.e.done:
			if a.Do == do {
				r.t.Fatalf("action %d came", do)
			}
			if a.Do == companion.DoLeave {
				return
			}
		case <-time.After(5 * time.Second):
			r.t.Fatal("the pointer's leaving was not told")
		}
	}
}

func (r *rig) click(slot int, p image.Point) {
	h := r.d.windows[slot].h
	h.PointerMoved(p)
	h.PointerPressed(p, window.Left)
	h.PointerReleased(p, window.Left)
}

// firstOpen is a point on the first button that opens a file. Fyne belongs to
// one goroutine, so it is asked before the cards run.
func firstOpen(t *testing.T, c companion.Card, row int) image.Point {
	t.Helper()
	offscreen.Start(fynetheme.DefaultTheme())
	f := layout(c, Look{Language: text.Dutch, FirstRow: row})
	a := f.areas[slices.IndexFunc(f.areas, func(a area) bool { return a.do.Engine && a.do.Action.Do == companion.DoOpen })]
	return image.Pt(int(a.x+10), int(a.y+10))
}

var openAt = image.Pt(120, 230)

func TestCornerAndStack(t *testing.T) {
	r := startCards(t)
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r.e.show(0, a)
	r.until("one card in the corner", func() bool {
		return slices.Equal(r.d.up(), []image.Rectangle{image.Rect(604, 482, 984, 744)})
	})
	r.e.show(2, a, b)
	r.until("the second above it, and the line that counts", func() bool {
		u := r.d.up()
		return len(u) == 3 && u[0] == image.Rect(604, 482, 984, 744) && u[1].Max.Y == 482-gap && u[2].Max.Y == u[1].Min.Y-gap
	})
	r.e.show(0, b)
	r.until("the second closes up", func() bool { u := r.d.up(); return len(u) == 1 && u[0].Max.Y == 744 })
}

func TestCardsKeepTheirPlaceUnderThePointer(t *testing.T) {
	r := startCards(t)
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r.e.show(0, a, b)
	r.until("two cards", func() bool { return len(r.d.up()) == 2 })
	second := r.d.up()[1]
	r.d.windows[1].h.PointerMoved(image.Pt(50, 50))
	r.action(companion.DoHover)
	r.e.show(0, b)
	r.until("the first is gone", func() bool { return len(r.d.up()) == 1 })
	if got := r.d.up()[0]; got != second {
		t.Fatalf("moved from %v to %v under the pointer", second, got)
	}
	r.d.windows[1].h.PointerLeft()
	r.until("closed up", func() bool { return r.d.up()[0].Max.Y == 744 })
}

func TestClickOpens(t *testing.T) {
	r := startCards(t)
	r.e.show(0, gallery(t)["found"])
	r.until("up", func() bool { return len(r.d.up()) == 1 })
	r.pass(guard)
	r.click(0, openAt)
	if a := r.action(companion.DoOpen); a.Card != 1 || a.Index != 0 {
		t.Fatalf("%+v", a)
	}
	r.click(0, image.Pt(300, 230))
	r.until("copied", func() bool { r.d.mu.Lock(); defer r.d.mu.Unlock(); return r.d.copied == "0612345678" })
}

// TestClickOnWhatHasJustChanged: the card comes up, or the person on it changes,
// in the moment of the click: that click meant something else.
func TestClickOnWhatHasJustChanged(t *testing.T) {
	g := gallery(t)
	row := firstOpen(t, g["several"], 0)
	r := startCards(t)
	r.e.show(0, g["found"])
	r.until("up", func() bool { return len(r.d.up()) == 1 })
	r.click(0, openAt)
	r.d.windows[0].h.PointerLeft()
	r.none(companion.DoOpen)

	r.pass(guard)
	other := g["several"]
	r.e.show(0, other)
	r.until("rows", func() bool { return r.d.up()[0].Dy() != 262 })
	r.click(0, row)
	r.d.windows[0].h.PointerLeft()
	r.none(companion.DoOpen)
}

func TestPressedHereReleasedThere(t *testing.T) {
	r := startCards(t)
	r.e.show(0, gallery(t)["found"])
	r.until("up", func() bool { return len(r.d.up()) == 1 })
	r.pass(guard)
	h := r.d.windows[0].h
	h.PointerPressed(image.Pt(50, 60), window.Left)
	h.PointerReleased(openAt, window.Left)
	h.PointerPressed(openAt, window.Right)
	h.PointerReleased(openAt, window.Right)
	h.PointerLeft()
	r.none(companion.DoOpen)
}

func TestRowsTurn(t *testing.T) {
	row := firstOpen(t, gallery(t)["many"], 3)
	r := startCards(t)
	r.e.show(0, gallery(t)["many"])
	r.until("up", func() bool { return len(r.d.up()) == 1 })
	h := r.d.windows[0].h
	before := r.d.paintings()
	h.Scrolled(image.Pt(100, 200), -3)
	r.until("turned", func() bool { return r.d.paintings() > before })
	r.pass(guard)
	r.click(0, row)
	if a := r.action(companion.DoOpen); a.Index != 3 {
		t.Fatalf("%+v", a)
	}
}
