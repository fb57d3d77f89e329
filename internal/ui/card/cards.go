// Package card shows the engine's cards: it lays a snapshot out as Fyne objects,
// paints them without OpenGL and puts the pictures into native windows that
// never take the keyboard.
//
// One goroutine, that of Cards.Run, owns every canvas, window and place; the
// engine's snapshots and the pointer's events reach it through channels.
package card

import (
	"context"
	"image"
	"log/slog"
	"time"

	fynetheme "fyne.io/fyne/v2/theme"

	"wiebelt/internal/companion"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
)

// Engine is what the cards need of the engine.
type Engine interface {
	Watch() <-chan struct{}
	Snapshot() *companion.Snapshot
	Do(companion.Action)
}

// Appearance says when cards are dark.
type Appearance string

// The values of the setting ui.theme.
const (
	System Appearance = "system"
	Light  Appearance = "light"
	Dark   Appearance = "dark"
)

// Corner is where cards stand.
type Corner string

// The values of the setting card.corner.
const (
	BottomRight Corner = "bottom-right"
	BottomLeft  Corner = "bottom-left"
	TopRight    Corner = "top-right"
	TopLeft     Corner = "top-left"
)

// Config is how the cards look and where they stand.
type Config struct {
	Language   text.Language
	Appearance Appearance
	FileWord   string
	Support    string
	Corner     Corner
	Monitor    string // "active", "primary" or a monitor's name
	Log        *slog.Logger
	// Painted, where set, is told of every card that came on screen. It is
	// called on the cards' goroutine once the screen has the picture.
	Painted func(Painted)
}

// Painted says that a state of a card is on screen.
type Painted struct {
	Card companion.Card
	At   time.Time
	Rect image.Rectangle // desktop pixels
	// OnScreen reads back what is visible there; Wanted is what should be.
	OnScreen func() (*image.RGBA, error)
	Wanted   func() *image.RGBA
}

// Times of the pointer's rules (product.md "The card").
const (
	guard     = 300 * time.Millisecond // no click on what has just changed
	copiedFor = time.Second
	slots     = companion.MaxCards + 1 // the last counts the further calls
	barTick   = 100 * time.Millisecond
	barFull   = 3 * time.Second // when the engine calls the hub too slow
	edge      = 16              // units between the cards and the work area
)

// Cards shows cards. Make one with New and let Run own a goroutine.
type Cards struct {
	c       Config
	engine  Engine
	display window.Display
	slots   [slots]*slot
	pointer chan pointerEvent
	monitor window.Monitor
	small   *offscreen.Canvas // for clocks and bars
	smallPx []byte
	now     func() time.Time // of what has just changed; tests have a clock of their own
}

// slot is one native window with the card that stands in it.
type slot struct {
	win    window.Window
	canvas *offscreen.Canvas
	pic    []byte
	w, h   int
	rect   image.Rectangle
	up     bool
	stale  bool // painted anew and not on screen yet
	card   companion.Card
	more   int
	face   *face

	hover   Do
	over    bool // the pointer is on the window
	at      image.Point
	copied  Do
	until   time.Time // copied is shown until
	row     int
	before  *face     // what was under the pointer before
	changed time.Time // when face replaced before
	pressed Do
	tick    string // what the clock says now
	bar     float32
}

// New makes the windows, unmapped. display stays the caller's.
func New(c Config, engine Engine, display window.Display) (*Cards, error) {
	offscreen.Start(fynetheme.DefaultTheme())
	cs := &Cards{c: c, engine: engine, display: display, pointer: make(chan pointerEvent, 64), small: offscreen.NewCanvas(), now: time.Now}
	for i := range cs.slots {
		win, err := display.New(&handler{cs.pointer, i})
		if err != nil {
			return nil, err
		}
		cs.slots[i] = &slot{win: win, canvas: offscreen.NewCanvas()}
	}
	cs.warm()
	return cs, nil
}

// warm paints a card that nobody sees, so that fonts are loaded before the
// first call.
func (cs *Cards) warm() {
	s := cs.slots[0]
	f := layout(companion.Card{Outcome: companion.Failed, Opened: -1}, cs.look(s))
	s.canvas.Set(f.content, f.size, 1)
	_, _, s.pic = s.canvas.Paint(f.background, s.pic)
}

// Run shows cards until ctx ends or the engine does, then hides them.
func (cs *Cards) Run(ctx context.Context) {
	watch := cs.engine.Watch()
	defer func() {
		for _, s := range cs.slots {
			_ = s.win.Hide()
		}
	}()
	var timer *time.Timer
	var tick <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-watch:
			if !more {
				return
			}
			cs.show()
		case ev := <-cs.pointer:
			cs.point(ev)
		case <-tick:
			cs.ticked(time.Now())
		}
		if timer != nil {
			timer.Stop()
		}
		tick = nil
		if next := cs.nextTick(time.Now()); next > 0 {
			timer = time.NewTimer(next)
			tick = timer.C
		}
	}
}

func (cs *Cards) look(s *slot) Look {
	return Look{Language: cs.c.Language, Dark: cs.dark(), FileWord: cs.c.FileWord, Support: cs.c.Support,
		Hover: s.hover, Copied: s.copied, FirstRow: s.row}
}

func (cs *Cards) dark() bool {
	switch cs.c.Appearance {
	case Light:
		return false
	case Dark:
		return true
	}
	return cs.display.Dark()
}

// show brings the windows in line with the newest snapshot.
func (cs *Cards) show() {
	snap := cs.engine.Snapshot()
	if !cs.anyUp() && len(snap.Cards) > 0 {
		cs.monitor = cs.pickMonitor()
	}
	cs.leave(snap)
	for _, c := range snap.Cards {
		s := cs.slotOf(c.ID)
		if s == nil {
			s = cs.freeSlot()
			if s == nil {
				continue // cannot be: the engine shows no more than there are slots
			}
			*s = slot{win: s.win, canvas: s.canvas, pic: s.pic, at: s.at}
		} else if s.up && sameLook(s.card, c) {
			s.card = c
			continue
		}
		s.card = c
		cs.lay(s)
	}
	cs.showMore(snap.More)
	cs.place()
}

// leave hides the windows of cards that are gone.
func (cs *Cards) leave(snap *companion.Snapshot) {
	for _, s := range cs.slots[:companion.MaxCards] {
		if !s.up && s.face == nil {
			continue
		}
		gone := true
		for _, c := range snap.Cards {
			gone = gone && c.ID != s.card.ID
		}
		if gone {
			_ = s.win.Hide()
			*s = slot{win: s.win, canvas: s.canvas, pic: s.pic}
		}
	}
}

func (cs *Cards) showMore(n int) {
	s := cs.slots[companion.MaxCards]
	if n == 0 {
		if s.up {
			_ = s.win.Hide()
			*s = slot{win: s.win, canvas: s.canvas, pic: s.pic}
		}
		return
	}
	if s.more != n {
		s.more = n
		cs.lay(s)
	}
}

// lay lays a slot's card out and paints it, not yet on screen.
func (cs *Cards) lay(s *slot) {
	look := cs.look(s)
	var f *face
	if s.more > 0 {
		f = layoutMore(s.more, look)
	} else {
		f = layout(s.card, look)
	}
	if s.face != nil {
		s.before, s.changed = s.face, cs.now()
	} else {
		s.before, s.changed = &face{}, cs.now()
	}
	s.face = f
	s.canvas.Set(f.content, f.size, cs.monitor.Scale)
	s.w, s.h, s.pic = s.canvas.Paint(f.background, s.pic)
	s.tick, s.bar = "", 0
	cs.paintClock(s, time.Now(), false)
	cs.paintBar(s, time.Now(), false)
	s.stale = true
}

// place gives every card its place and puts what changed on screen. Cards keep
// their place while the pointer is on one of them.
func (cs *Cards) place() {
	frozen := false
	for _, s := range cs.slots {
		frozen = frozen || s.up && s.over
	}
	scale := cs.monitor.Scale
	px := func(u float32) int { return int(u*scale + 0.5) }
	work := cs.monitor.Work
	top := cs.c.Corner == TopLeft || cs.c.Corner == TopRight
	y := work.Max.Y - px(edge)
	if top {
		y = work.Min.Y + px(edge)
	}
	for _, s := range cs.slots {
		if s.face == nil {
			continue
		}
		x := work.Max.X - px(edge) - s.w
		if cs.c.Corner == TopLeft || cs.c.Corner == BottomLeft {
			x = work.Min.X + px(edge)
		}
		r := image.Rect(x, y-s.h, x+s.w, y)
		if top {
			r = image.Rect(x, y, x+s.w, y+s.h)
		}
		if frozen && s.up { // keep the edge that faces the corner
			old := s.rect
			if top {
				r = image.Rect(x, old.Min.Y, x+s.w, old.Min.Y+s.h)
			} else {
				r = image.Rect(x, old.Max.Y-s.h, x+s.w, old.Max.Y)
			}
		}
		if top {
			y = r.Max.Y + px(gap)
		} else {
			y = r.Min.Y - px(gap)
		}
		if s.up && !s.stale && r == s.rect {
			continue
		}
		cs.put(s, r)
	}
}

// put shows a slot's picture at r.
func (cs *Cards) put(s *slot, r image.Rectangle) {
	s.rect, s.stale = r, false
	if err := s.win.Show(r, &window.Picture{W: s.w, H: s.h, Pix: s.pic}); err != nil {
		cs.c.Log.Warn("card not shown", "why", err)
		return
	}
	s.up = true
	if cs.c.Painted == nil || s.more > 0 {
		return
	}
	if err := s.win.Sync(); err != nil {
		return
	}
	cs.c.Painted(Painted{Card: s.card, At: time.Now(), Rect: r, OnScreen: s.win.OnScreen, Wanted: s.picture})
}

// refresh repaints a card that is up in its place.
func (cs *Cards) refresh(s *slot) {
	if !s.up || s.face == nil {
		return
	}
	before, changed, rect := s.before, s.changed, s.rect
	cs.lay(s)
	s.before, s.changed = before, changed // a hover is no change under the pointer
	if s.w == rect.Dx() && s.h == rect.Dy() {
		cs.put(s, rect)
		return
	}
	cs.place()
}

func (cs *Cards) repaint() {
	for _, s := range cs.slots {
		if s.face != nil {
			cs.lay(s)
		}
	}
	cs.place()
}

func (cs *Cards) anyUp() bool {
	for _, s := range cs.slots {
		if s.up {
			return true
		}
	}
	return false
}

func (cs *Cards) slotOf(id companion.CardID) *slot {
	for _, s := range cs.slots[:companion.MaxCards] {
		if s.face != nil && s.card.ID == id {
			return s
		}
	}
	return nil
}

func (cs *Cards) freeSlot() *slot {
	for _, s := range cs.slots[:companion.MaxCards] {
		if s.face == nil {
			return s
		}
	}
	return nil
}

func (cs *Cards) pickMonitor() window.Monitor {
	all := cs.display.Monitors()
	pick := all[0]
	switch cs.c.Monitor {
	case "primary":
	case "", "active":
		if i := cs.display.Active(); i >= 0 && i < len(all) {
			pick = all[i]
		}
	default:
		for _, m := range all {
			if m.Name == cs.c.Monitor {
				pick = m
			}
		}
	}
	if pick.Scale <= 0 {
		pick.Scale = 1
	}
	return pick
}

// picture is what the window should show, for comparison with the screen.
func (s *slot) picture() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, s.w, s.h))
	for i := 0; i+3 < len(s.pic) && i+3 < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = s.pic[i+2], s.pic[i+1], s.pic[i], 255
	}
	return img
}

// sameLook reports whether two states of a card paint the same.
func sameLook(a, b companion.Card) bool {
	if len(a.Contacts) != len(b.Contacts) || len(a.Contacts) > 0 && &a.Contacts[0] != &b.Contacts[0] {
		return false
	}
	if len(a.LinkOK) != len(b.LinkOK) {
		return false
	}
	for i := range a.LinkOK {
		if a.LinkOK[i] != b.LinkOK[i] {
			return false
		}
	}
	return a.ID == b.ID && a.Outcome == b.Outcome && a.Phase == b.Phase && a.Strip == b.Strip &&
		a.Outgoing == b.Outgoing && a.Number == b.Number && a.PhoneName == b.PhoneName &&
		a.LineName == b.LineName && a.LineText == b.LineText && a.Via == b.Via && a.Times == b.Times &&
		a.Possible == b.Possible && a.Failure == b.Failure && a.Noticed == b.Noticed &&
		a.Retrying == b.Retrying && a.Opened == b.Opened && a.OpenError == b.OpenError &&
		a.Answered.Equal(b.Answered) && a.Ring.Equal(b.Ring)
}

// units turns window pixels into units of the card.
func (cs *Cards) units(p image.Point) (x, y float32) {
	s := cs.monitor.Scale
	return float32(p.X) / s, float32(p.Y) / s
}
