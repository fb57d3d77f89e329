package card

import (
	"context"
	"image"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desktop is a display that notes what is shown on it.
type desktop struct {
	mu       sync.Mutex
	windows  []*pane
	copied   string
	copyErr  error
	painted  int // pictures that were shown
	monitors []window.Monitor
	active   int
	taken    bool   // another program has the hotkey
	keys     string // the hotkey, while it is ours
	pressed  func()
	dark     bool
	changed  chan struct{}
}

type pane struct {
	d        *desktop
	h        window.Handler
	rect     image.Rectangle
	up       bool
	keyboard bool
	hidden   bool // from capture
	title    string
	updated  func(*window.Picture)
}

func newDesktop() *desktop {
	return &desktop{changed: make(chan struct{}, 1),
		monitors: []window.Monitor{{Name: "one", Area: image.Rect(0, 0, 1000, 800), Work: image.Rect(0, 0, 1000, 760), Scale: 1}}}
}

func (d *desktop) New(h window.Handler) (window.Window, error) {
	p := &pane{d: d, h: h}
	d.windows = append(d.windows, p)
	return p, nil
}
func (d *desktop) Monitors() []window.Monitor {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.monitors)
}
func (d *desktop) Active() int        { d.mu.Lock(); defer d.mu.Unlock(); return d.active }
func (d *desktop) Dark() bool         { d.mu.Lock(); defer d.mu.Unlock(); return d.dark }
func (d *desktop) HighContrast() bool { return false }
func (d *desktop) Hotkey(keys string, pressed func()) (func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.taken {
		return nil, window.ErrHotkeyTaken
	}
	d.keys, d.pressed = keys, pressed
	d.tell()
	return func() {
		d.mu.Lock()
		d.keys = ""
		d.mu.Unlock()
		d.tell()
	}, nil
}
func (d *desktop) Done() <-chan struct{} { return nil }
func (d *desktop) Close() error          { return nil }
func (d *desktop) Copy(s string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.copied = s
	d.tell()
	return d.copyErr
}
func (d *desktop) tell() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// do changes the desktop under its lock and wakes whoever waits.
func (p *pane) do(f func()) error {
	p.d.mu.Lock()
	f()
	p.d.mu.Unlock()
	p.d.tell()
	return nil
}

func (p *pane) Show(r image.Rectangle, pic *window.Picture) error {
	return p.do(func() { p.rect, p.up = r, true; p.d.painted++ })
}
func (p *pane) Update(_ image.Point, pic *window.Picture) error {
	return p.do(func() {
		if p.d.painted++; p.updated != nil {
			p.updated(pic)
		}
	})
}
func (p *pane) Hide() error                    { return p.do(func() { p.up, p.keyboard = false, false }) }
func (p *pane) OnScreen() (*image.RGBA, error) { return nil, nil }
func (p *pane) TakeKeyboard() error            { return p.do(func() { p.keyboard = true }) }
func (p *pane) GiveKeyboardBack() error        { return p.do(func() { p.keyboard = false }) }
func (p *pane) HideFromCapture(h bool) error   { return p.do(func() { p.hidden = h }) }
func (p *pane) Sync() error                    { return nil }
func (p *pane) SetTitle(s string) error        { return p.do(func() { p.title = s }) }
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

// typing is the window that has the keyboard, -1 for none.
func (d *desktop) typing() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.IndexFunc(d.windows, func(p *pane) bool { return p.keyboard })
}

func (d *desktop) clipboard() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.copied
}

// script is an engine that shows what the test says.
type script struct {
	mu    sync.Mutex
	snap  *engine.Snapshot
	watch chan struct{}
	done  chan engine.Action
	asked func() // called once, when the cards ask for a snapshot next
}

func newScript() *script {
	return &script{snap: &engine.Snapshot{}, watch: make(chan struct{}, 1), done: make(chan engine.Action, 256)}
}
func (s *script) Watch() <-chan struct{} { return s.watch }
func (s *script) Snapshot() *engine.Snapshot {
	s.mu.Lock()
	asked := s.asked
	s.asked = nil
	s.mu.Unlock()
	if asked != nil {
		asked()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}
func (s *script) Do(a engine.Action) { s.done <- a }
func (s *script) set(more int, cards ...engine.Card) {
	s.mu.Lock()
	s.snap = &engine.Snapshot{Cards: cards, More: more}
	s.mu.Unlock()
}
func (s *script) show(more int, cards ...engine.Card) {
	s.set(more, cards...)
	s.watch <- struct{}{}
}

type rig struct {
	t  *testing.T
	d  *desktop
	e  *script
	cs *Cards
	c  Config

	slept atomic.Int64 // how far the clock stands from where it began
}

// pass lets time pass for what hands do. By itself none does.
func (r *rig) pass(d time.Duration) { r.slept.Add(int64(d)) }

// startCards runs cards on a desktop of its own. change may alter both before
// they start.
func startCards(t *testing.T, change func(*Config, *desktop)) *rig {
	t.Helper()
	r := &rig{t: t, d: newDesktop(), e: newScript()}
	r.c = Config{Language: text.Dutch, Appearance: Light, Corner: BottomRight, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&r.c, r.d)
	}
	cs, err := New(r.c, r.e, r.d)
	if err != nil {
		t.Fatal(err)
	}
	r.cs = cs
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

// on runs f on the cards' goroutine once everything that was sent so far has
// been acted upon: the goroutine asks for the newest snapshot, and nothing else
// is in its hands.
func (r *rig) on(f func()) {
	r.t.Helper()
	r.ask(func() {}) // what it had in its hands may have asked for a snapshot itself
	r.ask(f)
}

// ask calls f when the cards' goroutine asks for a snapshot next.
func (r *rig) ask(f func()) {
	r.t.Helper()
	end := time.Now().Add(5 * time.Second)
	for len(r.cs.input)+len(r.e.watch)+len(r.cs.changed) > 0 {
		if runtime.Gosched(); time.Now().After(end) {
			r.t.Fatal("the cards do not take what is sent to them")
		}
	}
	done := make(chan struct{})
	r.e.mu.Lock()
	r.e.asked = func() { f(); close(done) }
	r.e.mu.Unlock()
	r.e.watch <- struct{}{}
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		r.t.Fatal("the cards' goroutine does not answer")
	}
}

func (r *rig) sync() { r.t.Helper(); r.on(func() {}) }

// shows puts one card on screen and lets enough time pass for it to be meant.
func (r *rig) shows(c engine.Card) {
	r.t.Helper()
	r.e.show(0, c)
	r.sync()
	r.pass(time.Second)
}

func (r *rig) action(do engine.Do) engine.Action {
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

// none makes sure that none of the actions so far was do; until is the one that
// ends them.
func (r *rig) none(do, until engine.Do) {
	r.t.Helper()
	for {
		select {
		case a := <-r.e.done:
			if a.Do == do {
				r.t.Fatalf("action %d came", do)
			}
			if a.Do == until {
				return
			}
		case <-time.After(5 * time.Second):
			r.t.Fatalf("action %d, which ends the others, was not told", until)
		}
	}
}

func (r *rig) click(slot int, p image.Point) {
	h := r.d.windows[slot].h
	h.PointerMoved(p)
	h.PointerPressed(p, window.Left)
	h.PointerReleased(p, window.Left)
}

func (r *rig) leave(slot int) { r.d.windows[slot].h.PointerLeft() }

// spot is a point on what does do. Fyne belongs to one goroutine, so it is asked
// before the cards run.
func spot(t testing.TB, c engine.Card, l Look, is func(Do) bool) image.Point {
	t.Helper()
	offscreen.Start(theme.New("light"))
	l.Language = text.Dutch
	f := layout(c, l)
	i := slices.IndexFunc(f.areas, func(a area) bool { return is(a.do) })
	if i < 0 {
		t.Fatal("nothing on the card does that")
	}
	a := f.areas[i]
	return image.Pt(int(a.x+a.w/2), int(a.y+a.h/2))
}

func does(do engine.Do) func(Do) bool {
	return func(d Do) bool { return d.Engine && d.Action.Do == do }
}
