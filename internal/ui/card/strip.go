package card

import (
	"cmp"
	"strings"

	"wiebelt/internal/companion"
	"wiebelt/internal/text"
)

func strip(c companion.Card, l Look) *face {
	p := newPainter(l)
	state := p.stateColour(c)
	p.mark(15, 23, c.Phase == companion.PhaseAnswered, state)
	end := float32(right - 10)
	p.area(0, 0, end, stripHeight, p.act(c, companion.DoUnfold))
	p.cross(end, stripHeight/2, p.act(c, companion.DoClose))
	end -= 18
	if c.Outcome == companion.Found && c.LinkOK[0] {
		s := p.lg.T(text.CardButtonOpenRow)
		w := width(s, openFont) + 20
		p.open(s, end-w, 14, w, 28, false, true, p.about(c, companion.DoOpen, 0))
		end -= w + 4
	}
	p.f.areas[0].w = end // beside the buttons a click unfolds the strip
	x := float32(35)
	p.text(p.stripTitle(c), x, 9, end-x, rowName, p.c.Ink)
	words := p.stateWord(c)
	if n := c.Number.Display(); n != "" && n != p.stripTitle(c) && c.Outcome != companion.NoNumber {
		words += " · " + n
	}
	if c.Times > 1 {
		words += " · " + p.lg.T(text.CardAgain, c.Times)
	}
	if since := clockFrom(c); !since.IsZero() && c.Phase == companion.PhaseAnswered {
		words += " · "
		const clock = 50
		w := p.text(words, x, 29, end-x-clock, rowDetail, p.c.Muted)
		p.f.clock = clockFace{x: x + w, y: 28, w: clock, h: 18, since: since, color: p.c.Muted, size: rowDetail.size, left: true}
	} else {
		p.text(words, x, 29, end-x, rowDetail, p.c.Muted)
	}
	return p.finish(stripHeight, state)
}

func (p *painter) stripTitle(c companion.Card) string {
	switch c.Outcome {
	case companion.Found:
		if p.l.Privacy == PrivacyNumber {
			break
		}
		return p.nameOf(c, c.Contacts[0])
	case companion.Several:
		return p.title(c)
	case companion.Nobody:
		if c.NotThis > 0 {
			return p.lg.T(text.CardNobodyLeft)
		}
		return p.lg.T(text.CardNobodyShort)
	case companion.Withheld:
		return p.lg.T(text.CardWithheld)
	case companion.Internal:
		return p.colleague(c)
	case companion.Own:
		return p.ownTitle(c)
	case companion.Failed:
		return strings.TrimSuffix(p.lg.T(text.CardFailed), ":")
	case companion.Unfilled:
		return p.lg.T(text.CardUnfilled)
	case companion.NoNumber:
		return cmp.Or(p.l.Privacy.words(cmp.Or(c.PhoneName, c.Number.Display())), p.lg.T(text.CardUnfilled))
	}
	return cmp.Or(c.Number.Display(), p.l.Privacy.words(c.PhoneName))
}
