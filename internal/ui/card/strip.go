package card

import (
	"cmp"
	"image/color"
	"strings"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
)

// folded begins a card folded to a height, which a click unfolds. It returns the colour of its state.
func (p *painter) folded(c engine.Card, height float32) color.NRGBA {
	unfold := cardEffect(c, engine.ActionUnfold)
	if unfold == p.l.Hover {
		p.add(box(p.c.UnderPointer(p.c.Background), stateEdge, 1, cardWidth-stateEdge-1, height-2))
	}
	p.area(0, 0, cardWidth, height, p.lg.T(text.CardUnfold), unfold)
	state := p.foldedColour(c)
	p.mark(15, height/2-5, c, state)
	return state
}

func strip(c engine.Card, l Look) *view {
	p := newPainter(l)
	state := p.folded(c, stripHeight)
	end := float32(textRight - 42)
	p.chevron(end+11, stripHeight/2)
	if c.Outcome == engine.OutcomeFound && c.LinkOK[0] && !c.Dimmed {
		s := p.lg.T(text.CardButtonOpenRow)
		w := width(s, openFont) + 20
		p.open(s, end-w, 14, w, 28, false, true, contactEffect(c, engine.ActionOpen, 0))
		end -= w + 4
	}
	p.v.areas[0].w = end // a click beside the buttons unfolds the strip
	x := float32(35)
	p.text(p.stripTitle(c), x, 9, end-x, rowName, p.c.Ink)
	since := clockFrom(c)
	if c.Phase != engine.PhaseAnswered {
		since = time.Time{}
	}
	p.details(c, p.stateWord(c), x, 29, end-x, rowDetail, since)
	p.cross(textRight-10, stripHeight/2, c)
	return p.finish(stripHeight, state)
}

// foldedColour returns the colour of a folded card's
// state. It tells no more than the few words that fit.
func (p *painter) foldedColour(c engine.Card) color.NRGBA {
	state := p.stateColour(c)
	switch {
	case state == p.c.Refused:
		return p.c.Trouble
	case c.Outcome == engine.OutcomeShort && c.Phase == engine.PhaseRinging:
		return p.c.Accent
	}
	return state
}

// details draws in one line the call's state, caller and number of calls, each complete or
// not at all, and its duration.
func (p *painter) details(c engine.Card, words string, x, y, room float32, f font, since time.Time) {
	const clock = 50
	if !since.IsZero() {
		room -= clock + width(" · ", f)
	}
	var more []string
	n := c.Number.Display()
	if n != "" && n != p.stripTitle(c) && c.Outcome != engine.OutcomeNoNumber {
		more = append(more, n)
	}
	switch {
	case !c.SingleLine || n == "":
	case c.Outcome == engine.OutcomeFailed:
		more = append(more, p.failedWords())
	case c.Outcome == engine.OutcomeNobody && c.RemovedCount == 0:
		more = append(more, p.lg.T(text.WindowWhoNobody))
	}
	if c.RingsToday > 1 {
		more = append(more, p.lg.T(text.CardAgain, c.RingsToday))
	}
	for _, s := range more {
		if w := words + " · " + s; width(w, f) <= room {
			words = w
		}
	}
	if since.IsZero() {
		p.text(words, x, y, room, f, p.c.Muted)
		return
	}
	w := p.text(words+" · ", x, y, room+width(" · ", f), f, p.c.Muted)
	p.clock(x+w, y, 0, f, since)
}

// lineOf draws the single line of a call without a card; clicking it shows one.
func lineOf(c engine.Card, l Look) *view {
	p := newPainter(l)
	state := p.folded(c, lineHeight)
	const x, end = 35, textRight - 20
	title := p.stripTitle(c)
	words := p.stateWord(c)
	most := float32(end-x) - width("  "+words, stateFont)
	w := p.text(title, x, 6, most, stateBold, p.c.Ink) + 8
	p.details(c, words, x+w, 6, end-x-w, stateFont, time.Time{})
	p.chevron(textRight-6, lineHeight/2)
	return p.finish(lineHeight, state)
}

// chevron marks what a click unfolds.
func (p *painter) chevron(x, y float32) {
	p.strokes(p.c.Muted, 1.5, x, y, [4]float32{-4, -2, 0, 2}, [4]float32{0, 2, 4, -2})
}

// stripTitle returns the title of a folded card, which has no other line for the outcome.
func (p *painter) stripTitle(c engine.Card) string {
	switch { // on a line, with little room, who is calling comes first
	case c.Outcome == engine.OutcomeNobody && c.RemovedCount > 0:
		return p.removedName(c)
	case c.Outcome == engine.OutcomeNobody && !c.SingleLine:
		return p.lg.T(text.CardNobodyShort)
	case c.Outcome == engine.OutcomeFailed && (!c.SingleLine || c.Number.Display() == ""):
		return p.failedWords()
	}
	return cmp.Or(p.title(c), p.l.Privacy.words(c.PhoneName))
}

func (p *painter) failedWords() string { return strings.TrimSuffix(p.lg.T(text.CardFailed), ":") }
