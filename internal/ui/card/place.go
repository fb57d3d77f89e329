package card

import (
	"image"
	"math"
	"slices"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
)

// Corner is the corner where cards appear.
type Corner string

// The values of the setting card.corner.
const (
	BottomRight Corner = "bottom-right"
	BottomLeft  Corner = "bottom-left"
	TopRight    Corner = "top-right"
	TopLeft     Corner = "top-left"
)

func (c Corner) top() bool  { return c == TopLeft || c == TopRight }
func (c Corner) left() bool { return c == TopLeft || c == BottomLeft }

type placement struct {
	monitor    window.Monitor
	corners    map[string]Corner
	relocating bool // the user moves the cards, or the scale has changed
	// placedScale is the monitor's scale at the last placement.
	placedScale float32
}

// slotPlace is where one card is, and in which form.
type slotPlace struct {
	rect       image.Rectangle
	at         position
	form       form    // as it is laid out
	lastForm   form    // at the last placement
	bestHeight float32 // height, in units, that the engine wants for the card
	requested  bool    // the user has just requested it
}

const edge = 16 // units between the cards and the work area

// corner returns the monitor's corner for the cards.
func (cs *Cards) corner() Corner {
	for _, m := range []map[string]Corner{cs.corners, cs.c.Corners} {
		if c := m[cs.monitor.Name]; c != "" {
			return c
		}
	}
	return cs.c.Corner
}

// place places every card and shows what changed: the first in the corner, later
// ones on the side away from it, in a second column if the monitor is too low. While
// one of them is in use, or was a moment ago, none moves; an active call never moves
// unless the user moves it.
func (cs *Cards) place() {
	stack := cs.order
	if more := cs.slots[engine.MaxShown]; more.view != nil {
		stack = append(slices.Clip(stack), more)
	}
	if len(stack) == 0 {
		return
	}
	// At another scale the old places are in pixels of another size.
	if cs.placedScale != cs.monitor.Scale {
		defer func(was bool) { cs.relocating = was }(cs.relocating)
		cs.placedScale, cs.relocating = cs.monitor.Scale, true
	}
	for i, p := range cs.space().arrange(cs.items(stack)) {
		s := stack[i]
		if s.form.fold != p.fold || s.form.rows != p.rows {
			cs.layOutAs(s, p.form)
			cs.refocus(s)
		}
		s.at, s.form, s.lastForm, s.requested = p.position, p.form, p.form, false
		laid := s.needsPaint
		if laid {
			cs.paint(s)
		}
		w, h, _ := s.surface.Buffer()
		if r := cs.rectAt(s.at, w, h); laid || !s.visible || r != s.rect {
			cs.showAt(s, r)
		}
	}
}

// items returns the cards as items for arrange.
func (cs *Cards) items(stack []*slot) []item {
	frozen := !cs.relocating && (cs.freezeRemaining() > 0 || cs.anyInUse())
	all := make([]item, len(stack))
	for i, s := range stack {
		rank := s.state.Rank()
		all[i] = item{forms: cs.forms(s), visible: s.visible && !cs.relocating, at: s.at, form: s.lastForm, requested: s.requested, rank: rank,
			fixed: frozen || rank.IsLive(), frozen: frozen, inUse: s.inUse()}
		if frozen && s.visible && !s.requested { // folded for lack of room: stays folded
			all[i].forms = slices.DeleteFunc(all[i].forms, func(f form) bool { return f.fold < s.lastForm.fold })
		}
	}
	return all
}

// forms returns the ways to show a card, best first.
func (cs *Cards) forms(s *slot) []form {
	strip, line := form{asStrip, 0, cs.heightPx(stripHeight)}, form{asLine, 0, cs.heightPx(lineHeight)}
	switch {
	case s.state.SingleLine:
		return []form{line}
	case s.state.Strip:
		return []form{strip, line}
	}
	all := []form{{asCard, 0, cs.heightPx(s.bestHeight)}}
	if s.listsMatches() {
		for n := cs.rowsThatFit(s.state); n > 0; n-- {
			if h := cs.heightPx(heightWithoutRows(s.state) + float32(n)*rowPitch); h < all[0].height {
				all = append(all, form{asCard, n, h})
			}
		}
	}
	return append(all, strip, line)
}

// heightPx converts a height to pixels, as painted.
func (cs *Cards) heightPx(u float32) int { return int(math.Ceil(float64(u * cs.monitor.Scale))) }

func (cs *Cards) space() space {
	edge, gap := cs.px(edge), cs.px(gap)
	columns := (cs.monitor.Work.Dx() - 2*edge + gap) / (cs.heightPx(cardWidth) + gap)
	return space{height: cs.monitor.Work.Dy(), columns: max(1, columns), edge: edge, gap: gap}
}

func (cs *Cards) rectAt(at position, w, h int) image.Rectangle {
	x := cs.px(edge) + at.column*(w+cs.px(gap))
	return clamp(fromCorner(cs.monitor.Work, cs.corner(), x, at.cornerDistance, w, h), cs.monitor.Work)
}

// fromCorner returns a rectangle at distance x and y from a corner of the work area.
func fromCorner(work image.Rectangle, corner Corner, x, y, w, h int) image.Rectangle {
	at := work.Max.Sub(image.Pt(x+w, y+h))
	if corner.left() {
		at.X = work.Min.X + x
	}
	if corner.top() {
		at.Y = work.Min.Y + y
	}
	return image.Rectangle{Max: image.Pt(w, h)}.Add(at)
}

// freezeRemaining returns how long cards must not move because the user has just left.
func (cs *Cards) freezeRemaining() time.Duration {
	return max(0, freezeAfterLeave-cs.now().Sub(cs.leftAt))
}

// clamp moves r into the work area; if it is larger, its top left stays inside.
func clamp(r, work image.Rectangle) image.Rectangle {
	r = r.Add(image.Pt(min(0, work.Max.X-r.Max.X), min(0, work.Max.Y-r.Max.Y)))
	return r.Add(image.Pt(max(0, work.Min.X-r.Min.X), max(0, work.Min.Y-r.Min.Y)))
}

func (cs *Cards) rowsThatFit(c engine.Card) int {
	if cs.monitor.Scale <= 0 {
		return rowsShown
	}
	room := float32(cs.monitor.Work.Dy())/cs.monitor.Scale - 2*edge - heightWithoutRows(c)
	return max(1, min(rowsShown, int(room/rowPitch)))
}

func (cs *Cards) px(u float32) int { return int(u*cs.monitor.Scale + 0.5) }

// onDesktop converts a rectangle on a card.
func (cs *Cards) onDesktop(s *slot, x, y, w, h float32) image.Rectangle {
	return image.Rect(cs.px(x), cs.px(y), cs.px(x+w), cs.px(y+h)).Add(s.rect.Min)
}

// areaAt returns the area at a pixel of its window.
func (cs *Cards) areaAt(s *slot, p image.Point) area {
	scale := cs.monitor.Scale
	return s.view.areaAt(float32(p.X)/scale, float32(p.Y)/scale)
}

// pickMonitor returns the monitor for the next cards.
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
		if i := slices.IndexFunc(all, func(m window.Monitor) bool { return m.Name == cs.c.Monitor }); i >= 0 {
			pick = all[i]
		}
	}
	return usable(pick)
}

// displayChanged applies changes of the monitors and of their scale and appearance.
func (cs *Cards) displayChanged(time.Time) {
	if cs.anyVisible() {
		cs.monitor = cs.currentMonitor()
		cs.repaint()
	}
}

// currentMonitor returns the current state of the cards' monitor, or another
// monitor if it is gone.
func (cs *Cards) currentMonitor() window.Monitor {
	for _, m := range cs.display.Monitors() {
		if m.Name == cs.monitor.Name {
			return usable(m)
		}
	}
	return cs.pickMonitor()
}

func usable(m window.Monitor) window.Monitor {
	if m.Scale <= 0 {
		m.Scale = 1
	}
	if m.Work.Empty() {
		m.Work = m.Area
	}
	return m
}

// drop ends a drag at p: the cards move to the nearest corner, which is
// stored for that monitor.
func (cs *Cards) drop(p image.Point) {
	m, to, ok := cs.target(p)
	if !ok {
		return
	}
	cs.monitor = m
	if cs.corners == nil {
		cs.corners = map[string]Corner{}
	}
	cs.corners[m.Name] = to
	for _, s := range cs.slots {
		if s.over { // the card moves away from the pointer
			s.over, s.hover = false, Effect{}
			cs.sendAction(s, engine.ActionLeave)
		}
	}
	cs.pointer.onCard, cs.relocating, cs.leftAt = false, true, time.Time{}
	cs.repaint()
	cs.relocating = false
	if cs.c.Moved != nil {
		cs.c.Moved(m.Name, to)
	}
}
