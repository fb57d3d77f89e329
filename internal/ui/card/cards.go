// Package card shows the engine's cards: it lays out a snapshot as Fyne objects, paints
// them in memory and puts the pictures into native windows that take the keyboard focus
// only when the user asks for it.
//
// The goroutine of Cards.Run owns all canvases, windows and places; the engine's snapshots,
// pointer events and new settings reach it through channels.
package card

import (
	"cmp"
	"context"
	"errors"
	"image"
	"reflect"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// Durations in the rules for pointer and keyboard.
const (
	clickGuard       = 300 * time.Millisecond // clicks and keys are ignored on what has just changed
	copiedFor        = time.Second
	freezeAfterLeave = time.Second         // nothing moves for this long after the user left a card
	failedFor        = 4 * time.Second     // a failed copy is read, not glanced at
	slots            = engine.MaxShown + 1 // the last counts the further calls
	barTick          = 100 * time.Millisecond
	barFull          = 3 * time.Second // when the engine calls the hub too slow
)

// Cards shows cards. Create one with New and run Run on its own goroutine.
type Cards struct {
	c       Config
	engine  Engine
	display window.Display
	slots   [slots]*slot
	order   []*slot // of the visible cards, in order of arrival
	input   chan input
	config  func() Config
	changed chan struct{}
	buffer  []byte // of a picture, for the screen
	placement
	dragFrame
	fullScreen
	hotkeys [len(hotkeys)]hotkeyState
	toFocus engine.CardID // restored by the hotkey, to take the keyboard focus
	pointer pointerPath
	leftAt  time.Time // when the user last left a card; zero if gaps were closed since
	readerState
	forgetAt time.Time        // when to forget the last cards; zero: nothing to forget
	now      func() time.Time // tests use their own clock
}

// slot is a native window and the card in it.
type slot struct {
	win     window.Card
	visible bool
	state   engine.Card // as the engine has it; form may be folded further
	more    int
	view    *view
	paintState
	slotPlace
	pointerState
	copyState
	speechState
	lastAreas []area // what could be clicked when it was last presented
	rowsState RowsState
	keyboard  keyboardState
	nodeIDs   map[nodeKey]screenreader.ID // what readers were told about
}

type paintState struct {
	surface    offscreen.Surface
	damage     []image.Rectangle // painted since it was last presented
	needsPaint bool              // laid out again, not painted yet
}

// free prepares a slot for another card. A second and third card at once are rare: their
// pictures, megabytes on a large screen, are not kept.
func (cs *Cards) free(s *slot) {
	old := *s
	*s = slot{win: old.win}
	if s == cs.slots[0] {
		s.surface = old.surface
	}
}

// ReadFonts does the slowest part of preparing the first card. It may run concurrently with
// New; Run waits for it, or does it.
func ReadFonts() { offscreen.ReadFonts() }

// New creates the windows, unmapped. config returns what currently applies; like Events it
// is called on the cards' goroutine. The caller keeps owning display.
func New(config func() Config, engine Engine, display window.Display) (*Cards, error) {
	c := config()
	offscreen.Start(theme.New(c.Appearance))
	cs := &Cards{c: c, config: config, engine: engine, display: display, input: make(chan input, 64), changed: make(chan struct{}, 1),
		now: time.Now}
	var err error
	for i := range cs.slots {
		s := &slot{}
		cs.slots[i] = s
		if s.win, err = display.NewCard(&handler{cs, s}); err != nil {
			return nil, err
		}
	}
	if cs.frame, err = display.NewCard(&handler{cs: cs}); err != nil {
		return nil, err
	}
	cs.keepOutOfCapture()
	return cs, nil
}

// warm paints cards off screen, so that fonts are loaded and letters measured before the
// first call; a card that already exists does that itself.
func (cs *Cards) warm() {
	ReadFonts()
	s := cs.slots[0]
	for _, o := range []engine.Outcome{engine.OutcomeSearching, engine.OutcomeFailed} {
		if len(cs.engine.Snapshot().Cards) > 0 {
			break
		}
		layout(engine.Card{Outcome: o, ShowSearching: true, OpenedIndex: -1, EarlierChoice: -1}, cs.look(s)).paint(&s.surface, 1)
	}
	cs.forgetAt = cs.now().Add(idleAfter)
}

// ConfigChanged makes the cards read their configuration again. It may be called from any
// goroutine and returns immediately. Nobody hands a configuration over: an older one could
// arrive last, and show cards on a locked screen.
func (cs *Cards) ConfigChanged() { wake.Up(cs.changed) }

// Run shows cards until ctx or the engine ends, then hides them.
func (cs *Cards) Run(ctx context.Context) {
	watch := cs.engine.Watch()
	cs.changeHotkeys(nil)
	cs.warm()
	defer func() {
		for i := range cs.hotkeys {
			cs.releaseHotkey(i)
		}
		for _, s := range cs.slots {
			_ = s.win.Hide()
		}
		cs.hideFrame()
	}()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	var searching sync.WaitGroup
	defer searching.Wait()
	var found chan struct{} // closed when the system's fonts are known
	for {
		if r := systemFonts.missing.Load(); found == nil && r != 0 {
			found = make(chan struct{})
			searching.Go(func() { defer close(found); findFont(r) })
		}
		alarm.Stop()
		if next := cs.nextTick(); next > 0 {
			alarm.Reset(next)
		}
		select {
		case <-ctx.Done():
			return
		case _, more := <-watch:
			if !more {
				return
			}
			cs.show()
		case in := <-cs.input:
			in.handle(in.when)
		case <-cs.changed:
			cs.set(cs.config())
		case <-found:
			found = nil
			systemFonts.missing.Store(0) // painting may want another
			cs.repaint()
		case <-alarm.C:
			cs.handleTick()
		}
		cs.reportTree()
	}
}

func (cs *Cards) set(c Config) {
	old := cs.c
	cs.c, cs.treeChanged = c, true
	cs.changeHotkeys(old.Hotkeys)
	if old.HideFromCapture != c.HideFromCapture {
		cs.keepOutOfCapture()
	}
	if !reflect.DeepEqual(old.Corners, c.Corners) || old.Corner != c.Corner {
		cs.corners = nil // corners chosen by dragging are in c, or overridden
	}
	if cs.anyVisible() && old.Monitor != c.Monitor {
		cs.monitor = cs.pickMonitor()
	}
	if !c.Hidden { // before anything is hidden, nothing new is shown
		cs.repaint()
	}
	cs.show()
}

func (cs *Cards) keepOutOfCapture() {
	all := []window.Card{cs.frame}
	for _, s := range cs.slots {
		all = append(all, s.win)
	}
	for _, w := range all {
		if err := w.HideFromCapture(cs.c.HideFromCapture); err != nil && !errors.Is(err, window.ErrUnsupported) {
			cs.c.Log.Warn("cards are not kept out of screen sharing", "why", err)
			return
		}
	}
}

func (cs *Cards) look(s *slot) Look {
	a := cs.appearance()
	l := Look{Language: cs.c.Language, Dark: a.Dark, HighContrast: a.HighContrast, LessMotion: a.LessMotion, FileWord: cs.c.FileWord,
		Support: cs.c.Support, Fields: cs.c.Fields, Privacy: cs.c.Privacy, MoreCount: s.more, Hover: s.hover,
		Copied: s.copied, CopyFailed: s.failed, Typing: s.filterFocused(), RowsState: s.rowsState, Rows: cs.rowsThatFit(s.state)}
	if s.form.rows > 0 {
		l.Rows = min(l.Rows, s.form.rows)
	}
	if s.keyboard.active {
		l.Focus, l.Keyboard = s.keyboard.focus, true
	}
	return l
}

func (cs *Cards) appearance() window.Appearance {
	a := cs.display.Appearance()
	switch cs.c.Appearance {
	case "light":
		a.Dark = false
	case "dark":
		a.Dark = true
	}
	return a
}

// show updates the windows to the newest snapshot and returns it, an empty one
// while nothing may be shown.
func (cs *Cards) show() *engine.Snapshot {
	snap := cs.engine.Snapshot()
	if cs.c.Hidden {
		snap = &engine.Snapshot{}
	}
	if !cs.anyVisible() && len(snap.Cards) > 0 {
		cs.monitor = cs.pickMonitor()
	}
	if cs.holdsBack(snap) {
		snap = &engine.Snapshot{}
	}
	cs.removeGone(snap)
	for _, c := range snap.Cards {
		s := cs.slotOf(c.ID)
		if s == nil {
			s = cs.freeSlot()
			cs.order = append(cs.order, s)
		} else if s.visible && sameLook(s.state, c) {
			continue
		}
		if s.state.Number != c.Number || s.state.Outcome != c.Outcome {
			s.rowsState = RowsState{}
		}
		if c.Dimmed && !s.state.Dimmed && s.keyboard.active { // Enter was meant for a call that has ended
			s.keyboard.focus, s.keyboard.focusSet = Effect{}, cs.now()
		}
		if c.Phase == engine.PhaseRinging && !c.Rang.Equal(s.state.Rang) { // the same caller calls again
			s.announced = ""
		}
		s.requested = c.Raised.After(s.state.Raised)
		s.state = c
		cs.layOut(s)
		cs.refocus(s)
	}
	cs.showMore(snap.MoreCount)
	cs.place()
	cs.focusRestored()
	return snap
}

func (cs *Cards) removeGone(snap *engine.Snapshot) {
	for _, s := range cs.slots[:engine.MaxShown] {
		if s.view != nil && !slices.ContainsFunc(snap.Cards, func(c engine.Card) bool { return c.ID == s.state.ID }) {
			cs.takeDown(s)
		}
	}
}

// takeDown hides a card and frees its slot. A card that continues hidden
// is no longer in use.
func (cs *Cards) takeDown(s *slot) {
	if s.over {
		cs.sendAction(s, engine.ActionLeave)
		cs.pointer.onCard = false
	}
	if s.keyboard.active {
		cs.sendAction(s, engine.ActionKeyboardGone)
	}
	if s.dragStart != nil {
		cs.hideFrame()
	}
	_ = s.win.Hide() // also gives the keyboard focus back
	cs.treeChanged = true
	cs.free(s)
	cs.order = slices.DeleteFunc(cs.order, func(o *slot) bool { return o == s })
	cs.forgetAt = cs.now().Add(idleAfter)
}

func (cs *Cards) showMore(n int) {
	s := cs.slots[engine.MaxShown]
	switch {
	case n == s.more:
	case n == 0:
		cs.takeDown(s)
	default:
		s.more, s.state = n, engine.Card{SingleLine: true, Phase: engine.PhaseOver} // placed after all others
		cs.layOut(s)
	}
}

// layOut lays out what the engine wants, without painting: place may find that there is no room for it.
func (cs *Cards) layOut(s *slot) {
	want := asCard
	switch {
	case s.state.SingleLine:
		want = asLine
	case s.state.Strip:
		want = asStrip
	}
	cs.layOutAs(s, form{fold: want})
	s.bestHeight = s.view.size.Height
}

func (cs *Cards) layOutAs(s *slot, f form) {
	s.form = f
	c := s.state
	c.Strip, c.SingleLine = f.fold == asStrip, f.fold == asLine
	s.view, s.needsPaint = layout(c, cs.look(s)), true
}

// paint paints the current layout, not yet on screen.
func (cs *Cards) paint(s *slot) {
	s.view.tick(cs.now())
	s.damage = append(s.damage, s.view.paint(&s.surface, cs.monitor.Scale)...)
	s.needsPaint = false
}

func (cs *Cards) showAt(s *slot, r image.Rectangle) {
	if cs.present(s, r) {
		cs.recordAreaTimes(s)
		cs.reportPainted(s)
		cs.speak(s)
		cs.treeChanged = true
	}
}

// present shows a slot's picture at r; if it is there already, only what changed. It
// reports whether that worked.
func (cs *Cards) present(s *slot, r image.Rectangle) bool {
	there, damage := s.visible && r == s.rect, s.damage
	s.rect, s.damage = r, nil
	var err error
	if there {
		for _, d := range damage {
			cs.buffer = s.surface.Pixels(d, cs.buffer)
			err = cmp.Or(err, s.win.Update(d.Min, &window.Picture{W: d.Dx(), H: d.Dy(), Pix: cs.buffer}))
		}
	} else {
		w, h, pix := s.surface.Buffer()
		err = s.win.Show(r, &window.Picture{W: w, H: h, Pix: pix})
	}
	if err != nil {
		cs.c.Log.Warn("card not shown", "why", err)
		return false
	}
	s.visible = true
	return true
}

func (cs *Cards) reportPainted(s *slot) {
	if cs.c.Painted != nil && s.more == 0 && s.win.Sync() == nil {
		cs.c.Painted(Painted{Card: s.state, At: cs.now(), Rect: s.rect, OnScreen: s.win.OnScreen, Expected: s.surface.Image})
	}
}

// recordAreaTimes records since when each clickable thing has been clickable, and since
// when it has been in place.
func (cs *Cards) recordAreaTimes(s *slot) {
	now := cs.now()
	for i := range s.view.areas {
		a := &s.view.areas[i]
		a.rect = cs.onDesktop(s, a.x, a.y, a.w, a.h)
		a.placedSince, a.enabledSince = now, now
		for _, old := range s.lastAreas {
			if old.effect != a.effect {
				continue
			}
			if old.enabledSince.Before(a.enabledSince) {
				a.enabledSince = old.enabledSince
			}
			if old.rect == a.rect {
				a.placedSince = old.placedSince
			}
		}
	}
	s.lastAreas = s.view.areas
}

func (cs *Cards) refresh(s *slot) {
	if s.visible {
		cs.layOut(s)
		cs.place()
	}
}

func (cs *Cards) repaint() {
	for _, s := range cs.slots {
		if s.view != nil {
			cs.layOut(s)
		}
	}
	cs.place()
}

func (cs *Cards) anyVisible() bool {
	return slices.ContainsFunc(cs.slots[:], func(s *slot) bool { return s.visible })
}

func (cs *Cards) anyInUse() bool {
	return slices.ContainsFunc(cs.slots[:], func(s *slot) bool { return s.visible && s.inUse() })
}

func (cs *Cards) slotOf(id engine.CardID) *slot {
	for _, s := range cs.order {
		if s.state.ID == id {
			return s
		}
	}
	return nil
}

// freeSlot returns a slot without a card; there are as many as the engine shows cards.
func (cs *Cards) freeSlot() *slot {
	return cs.slots[slices.IndexFunc(cs.slots[:engine.MaxShown], func(s *slot) bool { return s.view == nil })]
}

// sameLook reports whether two states of a card look the same. States share their contacts,
// so comparing the first one tells whether they differ.
func sameLook(a, b engine.Card) bool {
	if len(a.Contacts) != len(b.Contacts) || len(a.Contacts) > 0 && &a.Contacts[0] != &b.Contacts[0] {
		return false
	}
	a.Contacts, b.Contacts = nil, nil
	return reflect.DeepEqual(a, b)
}
