package card

import (
	"context"
	"image"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

func TestMain(m *testing.M) {
	offscreen.Start(theme.New("light"))
	goleak.VerifyTestMain(m)
}

// desktop is a display that records what is shown on it.
type desktop struct {
	window.Display // what the cards do not use
	windows        []*pane
	copied         string
	copyErr        error
	painted        int // pictures that were shown
	monitors       []window.Monitor
	active         int
	hotkeys        map[string]func() // what each does
	taken          string            // a hotkey that another program has
	does           []string          // what each hotkey was described as doing
	told           func(error)       // reports what the desktop decides about the latest hotkey
	dark           bool
	kind           window.Kind
	filled         image.Rectangle // by another program
}

type pane struct {
	window.Card // what the cards do not use
	d           *desktop
	h           window.CardHandler
	rect        image.Rectangle
	up          bool
	keyboard    bool
	hidden      bool // from capture
	updated     func(*window.Picture)
}

func newDesktop() *desktop {
	return &desktop{hotkeys: map[string]func(){},
		monitors: []window.Monitor{{Name: "one", Area: image.Rect(0, 0, 1000, 800), Work: image.Rect(0, 0, 1000, 760), Scale: 1}}}
}

func (d *desktop) NewCard(h window.CardHandler) (window.Card, error) {
	p := &pane{d: d, h: h}
	d.windows = append(d.windows, p)
	return p, nil
}
func (d *desktop) Monitors() []window.Monitor           { return slices.Clone(d.monitors) }
func (d *desktop) Active() int                          { return d.active }
func (d *desktop) Appearance() window.Appearance        { return window.Appearance{Dark: d.dark} }
func (d *desktop) Kind() window.Kind                    { return d.kind }
func (d *desktop) FullScreen(area image.Rectangle) bool { return area == d.filled }

func (d *desktop) Hotkey(keys, does string, pressed func(), told func(error)) (func(), error) {
	d.told = told
	d.does = append(d.does, does)
	if keys == d.taken {
		return nil, window.ErrHotkeyTaken
	}
	d.hotkeys[keys] = pressed
	return func() { delete(d.hotkeys, keys) }, nil
}

func (d *desktop) Copy(s string) error { d.copied = s; return d.copyErr }

func (p *pane) Show(r image.Rectangle, pic *window.Picture) error {
	p.rect, p.up = r, true
	p.d.painted++
	return nil
}
func (p *pane) Update(_ image.Point, pic *window.Picture) error {
	if p.d.painted++; p.updated != nil {
		p.updated(pic)
	}
	return nil
}
func (p *pane) Hide() error { p.up, p.keyboard = false, false; return nil }

func (p *pane) TakeKeyboard() error          { p.keyboard = true; return nil }
func (p *pane) GiveKeyboardBack() error      { p.keyboard = false; return nil }
func (p *pane) HideFromCapture(h bool) error { p.hidden = h; return nil }
func (p *pane) Sync() error                  { return nil }

// up returns the places of the visible windows, in the order of the slots.
func (d *desktop) up() (all []image.Rectangle) {
	for _, p := range d.windows {
		if p.up {
			all = append(all, p.rect)
		}
	}
	return all
}

// typing returns the window with the focus, -1 for none.
func (d *desktop) typing() int {
	return slices.IndexFunc(d.windows, func(p *pane) bool { return p.keyboard })
}

// script is an engine that shows whatever the test sets.
type script struct {
	mu    sync.Mutex // for snap
	snap  *engine.Snapshot
	watch chan struct{}
	done  []engine.Action
}

func newScript() *script {
	return &script{snap: &engine.Snapshot{}, watch: make(chan struct{}, 1)}
}
func (s *script) Watch() <-chan struct{} { return s.watch }
func (s *script) Do(a engine.Action)     { s.done = append(s.done, a) }

func (s *script) Snapshot() *engine.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}

// set changes the engine's snapshot; show also announces it.
func (s *script) set(more int, cards ...engine.Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snap = &engine.Snapshot{Cards: cards, MoreCount: more}
}
func (s *script) show(more int, cards ...engine.Card) {
	s.set(more, cards...)
	wake.Up(s.watch)
}

// rig has cards on their own desktop. They run on the test's goroutine: sync handles
// what was sent to them.
type rig struct {
	t  *testing.T
	d  *desktop
	e  *script
	cs *Cards
	c  Config

	passed time.Duration // since the start, to tell what has just changed
}

// pass advances the cards' time, which does not advance by itself.
func (r *rig) pass(d time.Duration) { r.sync(); r.passed += d }

// startCards creates cards. change may alter their configuration and desktop before that.
func startCards(t *testing.T, change func(*Config, *desktop)) *rig {
	t.Helper()
	r := &rig{t: t, d: newDesktop(), e: newScript()}
	r.c = Config{Language: text.Dutch, Appearance: "light", Corner: BottomRight, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&r.c, r.d)
	}
	cs := must.Get(New(func() Config { return r.c }, r.e, r.d))(t)
	r.cs = cs
	began := time.Now()
	cs.now = func() time.Time { return began.Add(r.passed) }
	cs.changeHotkeys(nil)
	return r
}

// run gives the cards their own goroutine and the bubble's time, for tests in a synctest bubble.
func (r *rig) run() {
	r.cs.now = time.Now
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() { r.cs.Run(ctx); close(done) }()
	r.t.Cleanup(func() { cancel(); <-done })
}

// sync makes the cards handle everything sent to them, as Run does.
func (r *rig) sync() {
	for {
		select {
		case in := <-r.cs.input:
			in.handle(in.when)
		case <-r.cs.changed:
			r.cs.set(r.cs.config())
		case <-r.e.watch:
			r.cs.show()
		default:
			r.cs.reportTree()
			return
		}
	}
}

// on calls f once everything sent so far has been handled.
func (r *rig) on(f func()) { r.sync(); f() }

// is fails unless ok returns true once everything sent was handled.
func (r *rig) is(what string, ok func() bool) {
	r.t.Helper()
	if r.sync(); !ok() {
		r.t.Fatalf("not so: %s; up: %v", what, r.d.up())
	}
}

// brings puts cards on screen without advancing the time.
func (r *rig) brings(cards ...engine.Card) { r.e.show(0, cards...); r.sync() }

// shows puts one card on screen and advances the time until clicks on it count.
func (r *rig) shows(c engine.Card) {
	r.t.Helper()
	r.e.show(0, c)
	r.pass(time.Second)
}

// actions returns what the cards have asked the engine to do since the last call.
func (r *rig) actions(do engine.ActionKind) (all []engine.Action) {
	r.sync()
	for _, a := range r.e.done {
		if a.Kind == do {
			all = append(all, a)
		}
	}
	r.e.done = nil
	return all
}

func (r *rig) action(do engine.ActionKind) engine.Action {
	r.t.Helper()
	all := r.actions(do)
	if len(all) != 1 {
		r.t.Fatalf("action %d came %d times", do, len(all))
	}
	return all[0]
}

func (r *rig) none(do engine.ActionKind) {
	r.t.Helper()
	if all := r.actions(do); all != nil {
		r.t.Fatalf("came: %+v", all)
	}
}

// says reports whether the first card contains a text.
func (r *rig) says(word string) bool {
	r.sync()
	return slices.ContainsFunc(r.cs.slots[0].view.texts, func(w placedText) bool { return w.full == word })
}

func (r *rig) click(slot int, p image.Point) {
	h := r.d.windows[slot].h
	h.PointerMoved(p)
	h.PointerPressed(p, window.Left)
	h.PointerReleased(p, window.Left)
	r.sync()
}

func (r *rig) leave(slot int) { r.d.windows[slot].h.PointerLeft(); r.sync() }

// spot returns a point on the area of an action. Fyne
// belongs to one goroutine, so call it before the cards run.
func spot(t testing.TB, c engine.Card, l Look, is func(Effect) bool) image.Point {
	t.Helper()
	l.Language = text.Dutch
	v := layout(c, l)
	i := slices.IndexFunc(v.areas, func(a area) bool { return is(a.effect) })
	if i < 0 {
		t.Fatal("nothing on the card does that")
	}
	a := v.areas[i]
	return image.Pt(int(a.x+a.w/2), int(a.y+a.h/2))
}

func does(do engine.ActionKind) func(Effect) bool {
	return func(d Effect) bool { return d.requests(do) }
}
