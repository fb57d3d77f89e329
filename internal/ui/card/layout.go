package card

import (
	"cmp"
	"fmt"
	"image/color"
	"strings"
	"time"
	"unicode"

	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
	"wiebelt/internal/text"
)

// layout lays a card out. It depends on its arguments alone.
func layout(c companion.Card, l Look) *face {
	if c.Strip {
		return strip(c, l)
	}
	p := newPainter(l)
	state := p.stateColour(c)
	p.header(c, state)
	return p.finish(p.body(c), state)
}

// layoutMore is the line that counts the calls without a card.
func layoutMore(n int, l Look) *face {
	p := newPainter(l)
	p.text(p.lg.N(text.CardMore, n), left-1, 6, textWidth, stateFont, p.c.Muted)
	return p.finish(moreHeight, p.c.Quiet)
}

func (p *painter) stateColour(c companion.Card) color.NRGBA {
	switch {
	case c.Phase == companion.PhaseOver, c.Phase == companion.PhaseReported:
		return p.c.Quiet
	case c.Phase == companion.PhaseAnswered:
		return p.c.InCall
	case c.Outcome == companion.Failed && (c.Failure == contact.CredentialsRefused || c.Failure == contact.ScopeRefused):
		return p.c.Refused
	case c.Outcome == companion.Failed:
		return p.c.Trouble
	case c.Outcome == companion.Searching, c.Outcome == companion.Found, c.Outcome == companion.Several, c.Outcome == companion.Offered:
		return p.c.Accent
	}
	return p.c.Quiet
}

func (p *painter) stateWord(c companion.Card) string {
	switch {
	case c.Phase == companion.PhaseReported || c.Phase == companion.PhaseRinging && c.Strip && !c.Outgoing:
		return p.lg.T(text.CardStateReported, c.Rang.Local().Format("15:04"))
	case c.Phase == companion.PhaseOver:
		return p.lg.T(text.CardStateOver)
	case c.Phase == companion.PhaseAnswered:
		return p.lg.T(text.CardStateAnswered)
	case c.Outgoing:
		return p.lg.T(text.CardStateOutgoing)
	case c.Outcome == companion.Internal:
		return p.lg.T(text.CardStateInternal)
	}
	return p.lg.T(text.CardStateIncoming)
}

func (p *painter) lineWords(c companion.Card) string {
	switch {
	case c.LineName != "" && c.LineText != "":
		return p.lg.T(text.CardLineNamed, c.LineName, c.LineText)
	case c.LineText != "":
		return p.lg.T(text.CardLine, c.LineText)
	}
	return ""
}

// header is the first line: mark, state, line called, clock and ×.
func (p *painter) header(c companion.Card, state color.NRGBA) {
	const y = 14
	p.mark(left-1, y+3, c.Phase == companion.PhaseAnswered, state)
	x := float32(left + 17)
	x += p.text(p.stateWord(c), x, y, 140, stateBold, state) + 8
	end := float32(right - 10)
	close := Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoClose}}
	p.cross(end, y+8, close)
	end -= 18
	if since := clockFrom(c); !since.IsZero() {
		p.f.clock = clockFace{x: end - 44, y: y - 1, w: 44, h: 18, since: since, color: p.c.Muted, size: stateFont.size}
		end -= 50
	}
	words := p.lineWords(c)
	if c.Times > 1 {
		again := p.lg.T(text.CardAgain, c.Times)
		if c.LineName != "" { // the name alone: there is less room
			words = p.lg.T(text.CardLine, c.LineName)
		}
		words = strings.TrimSuffix(again+" · "+words, " · ")
	}
	p.text(words, x, y, end-x, stateFont, p.c.Muted)
}

// clockFrom is what the clock counts from; a phone that reports only the ring
// has no clock, since nobody knows whether the call goes on.
func clockFrom(c companion.Card) time.Time {
	switch c.Phase {
	case companion.PhaseAnswered:
		return c.Answered
	case companion.PhaseRinging:
		return c.Rang
	}
	return time.Time{}
}

// body draws the rest and returns the card's height.
func (p *painter) body(c companion.Card) float32 {
	switch c.Outcome {
	case companion.Searching:
		return p.searching(c)
	case companion.Found:
		return p.found(c)
	case companion.Several:
		return p.several(c)
	case companion.Nobody:
		return p.nobody(c)
	case companion.Failed:
		return p.failed(c)
	case companion.Offered:
		return p.offered(c)
	case companion.Withheld:
		return p.note(p.lg.T(text.CardWithheld), p.lg.T(text.CardWithheldWhy))
	case companion.Unfilled:
		return p.note(p.lg.T(text.CardUnfilled), p.lg.T(text.CardUnfilledWhy, p.admin()))
	case companion.NoNumber:
		return p.note(cmp.Or(c.PhoneName, c.Number.Display()), p.lg.T(text.CardNonumberWhy))
	case companion.Own:
		title := p.lg.T(text.CardOwn)
		if c.Number.LineName != "" {
			title = p.lg.T(text.CardOwnNamed, c.Number.LineName)
		}
		return p.small(title, c.Number.Display(), c.Via)
	case companion.Internal:
		return p.small(cmp.Or(c.PhoneName, p.lg.T(text.CardExtensionUnnamed)), p.lg.T(text.CardExtension, c.Number.Display()), c.Via)
	default: // Short, and numbers that are never looked up
		why := p.lg.T(text.CardShort)
		if c.Number.NeverLookup {
			why = p.lg.T(text.CardNever)
		}
		return p.note(c.Number.Display(), strings.TrimSpace(why))
	}
}

const (
	bigY    = 42
	numberY = 70
	ruleY   = 102
	fieldsY = 112
)

func (p *painter) big(s string) {
	f := bigFont
	if width(s, f) > textWidth {
		f = lessBig
	}
	p.text(s, left-1, bigY, textWidth+1, f, p.c.Ink)
}

func (p *painter) numberLine(number, via string) {
	x := float32(left - 1)
	x += p.text(number, x, numberY, textWidth, numberFont, p.c.Ink)
	if via != "" {
		p.text(p.lg.T(text.CardVia, via), x+10, numberY+1, right-x-10, fieldFont, p.c.Muted)
	}
}

func (p *painter) rule(y float32) { p.add(box(p.c.Line, left-1, y, textWidth+1, 1)) }

// searching has exactly the height and the buttons of a found card.
func (p *painter) searching(c companion.Card) float32 {
	p.big(c.Number.Display())
	if c.Noticed {
		p.text(p.lg.T(text.CardSearching), left-1, numberY, textWidth, numberFont, p.c.Muted)
		p.f.bar = &barFace{x: left - 1, y: ruleY, w: textWidth + 1, since: c.Rang}
	}
	y := p.foundButtonsY()
	p.openButton(c, y, false)
	return y + buttonH + bottomPad
}

func (p *painter) foundButtonsY() float32 { return fieldsY + fieldCount*fieldPitch + 12 }

func (p *painter) found(c companion.Card) float32 {
	k := c.Contacts[0]
	p.big(p.nameOf(c, k))
	p.numberLine(c.Number.Display(), c.Via)
	p.rule(ruleY)
	y := float32(fieldsY)
	if c.Possible {
		for _, s := range wrap(p.lg.T(text.CardPossibleWhy), textWidth, 2, fieldFont) {
			p.text(s, left-1, y, textWidth, fieldFont, p.c.Trouble)
			y += fieldPitch
		}
	}
	last := float32(fieldsY + (fieldCount-1)*fieldPitch)
	if why := p.trouble(c); why != "" {
		p.text(why, left-1, last, textWidth, fieldFont, p.c.Trouble)
		last -= fieldPitch
	}
	for _, f := range p.fields(k) {
		if y > last {
			break
		}
		p.text(f.label, left-1, y, labelWidth-4, fieldFont, p.c.Muted)
		x := float32(left - 1 + labelWidth)
		room := right - x
		if f.copy != "" {
			room -= 24
		}
		w := p.text(f.value, x, y, room, fieldFont, p.c.Ink)
		if f.copy != "" {
			p.copyIcon(x+w+9, y+4, Do{Copy: f.copy})
		}
		y += fieldPitch
	}
	y = p.foundButtonsY()
	p.openButton(c, y, c.LinkOK[0])
	return y + buttonH + bottomPad
}

// trouble is why the file cannot be opened, in the place of the last field.
func (p *painter) trouble(c companion.Card) string {
	switch {
	case !c.LinkOK[0]:
		return p.lg.T(text.CardNolink)
	case c.OpenError:
		return p.lg.T(text.CardBrowser)
	}
	return ""
}

type field struct{ label, value, copy string }

// fields are the parts of a contact that are there, in their order.
func (p *painter) fields(k contact.Contact) []field {
	all := []field{
		{p.lg.T(text.CardFieldRelation), contact.GroupDigits(k.RelationNumber), k.RelationNumber},
		{p.lg.T(text.CardFieldAddress), k.Address.Line(), ""},
		{p.lg.T(text.CardFieldProducer), k.Producer.Text(), ""},
		{p.lg.T(text.CardFieldModified), "", ""},
	}
	if by := k.LastModifiedBy.Text(); by != "" {
		all[3].value = p.lg.T(text.CardFieldModifiedBy, by)
	}
	kept := all[:0]
	for _, f := range all {
		if f.value != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

func (p *painter) nameOf(c companion.Card, k contact.Contact) string {
	name := cmp.Or(k.Name(), p.lg.T(text.CardUnnamed))
	if c.Possible {
		return p.lg.T(text.CardPossible, name)
	}
	return name
}

// openButton draws the pair under a found card: open the file, copy the number.
func (p *painter) openButton(c companion.Card, y float32, on bool) {
	s := p.openWords()
	if c.Opened == 0 {
		s = p.lg.T(text.CardButtonAgain)
	}
	p.button(s, left-1, y, 204, buttonH, true, on, Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoOpen}})
	p.copyButton(c.Number, left-1+204+gap, y, right-(left-1+204+gap))
}

func (p *painter) openWords() string {
	word := p.lg.T(text.Key("card.word." + cmp.Or(p.l.FileWord, "relatie")))
	s := p.lg.T(text.CardButtonOpen, word)
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

func (p *painter) copyButton(n phone.Number, x, y, w float32) {
	do := Do{Copy: n.Copy()}
	s := p.lg.T(text.CardButtonCopy)
	if p.l.Copied == do {
		s = p.lg.T(text.CardButtonCopied)
	}
	p.button(s, x, y, w, buttonH, false, n.Copy() != "", do)
}

// several lists every match in two fixed lines a row; none is preselected.
func (p *painter) several(c companion.Card) float32 {
	title := p.lg.N(text.CardSeveral, len(c.Contacts))
	p.big(title)
	p.numberLine(c.Number.Display(), c.Via)
	y := float32(ruleY)
	from := min(max(p.l.FirstRow, 0), max(0, len(c.Contacts)-rowsShown))
	to := min(from+rowsShown, len(c.Contacts))
	if c.Possible {
		p.rule(y)
		for _, s := range wrap(p.lg.T(text.CardPossibleWhy), textWidth, 2, fieldFont) {
			p.text(s, left-1, y+6, textWidth, fieldFont, p.c.Trouble)
			y += 20
		}
		y += 8
	}
	for i := from; i < to; i++ {
		p.rule(y)
		p.row(c, i, y)
		y += rowPitch
	}
	if len(c.Contacts) > rowsShown {
		p.rule(y)
		p.text(p.lg.T(text.CardRows, from+1, to, len(c.Contacts)), left-1, y+8, 200, rowDetail, p.c.Muted)
		p.rowButton("▲", right-64, y+4, 30, 24, false, from > 0, Do{Scroll: -rowsShown})
		p.rowButton("▼", right-30, y+4, 30, 24, false, to < len(c.Contacts), Do{Scroll: rowsShown})
		y += 32
	}
	return y + 10
}

func (p *painter) row(c companion.Card, i int, y float32) {
	k := c.Contacts[i]
	badge := box(color.Transparent, left-1, y+18, 22, 22)
	badge.StrokeColor, badge.StrokeWidth, badge.CornerRadius = p.c.Line, 1, 3
	p.add(badge)
	p.textCentre(fmt.Sprint(i+1), left-1, y+21, 22, rowDetail, p.c.Muted)
	const buttonW = 76
	bx := float32(right - buttonW)
	x := float32(left + 29)
	p.text(cmp.Or(k.Name(), p.lg.T(text.CardUnnamed)), x, y+8, bx-x-8, rowName, p.c.Ink)
	detail := strings.Trim(contact.GroupDigits(k.RelationNumber)+" · "+k.Address.ShortLine(), " ·")
	p.text(detail, x, y+28, bx-x-8, rowDetail, p.c.Muted)
	s := p.lg.T(text.CardButtonOpenRow)
	if c.Opened == i {
		s = "✓ " + s
	}
	p.rowButton(s, bx, y+12, buttonW, 30, true, c.LinkOK[i],
		Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoOpen, Index: i}})
}

// Heights of the cards that are not found cards, buttons at the same place.
const noteButtonsY = 128

func (p *painter) nobody(c companion.Card) float32 {
	p.big(c.Number.Display())
	p.text(p.lg.T(text.CardNobody), left-1, 78, textWidth, fieldBold, p.c.Ink)
	if c.PhoneName != "" {
		p.text(p.lg.T(text.CardPhoneName, c.PhoneName), left-1, 98, textWidth, fieldFont, p.c.Muted)
	}
	p.copyButton(c.Number, left-1, noteButtonsY, textWidth+1)
	return noteButtonsY + buttonH + bottomPad
}

func (p *painter) failed(c companion.Card) float32 {
	p.big(c.Number.Display())
	bold := p.lg.T(text.CardFailed)
	rest := p.lg.T(text.Failure(string(c.Failure)))
	switch {
	case c.Failure.NeedsAdmin():
		rest += " " + p.lg.T(text.CardTell, p.admin())
	case c.Retrying:
		rest += " " + p.lg.T(text.CardRetrying)
	}
	bw := p.text(bold, left-1, 78, textWidth, fieldBold, p.c.Ink) + 4
	// The first line begins behind the bold words: measure that as if they were there.
	lines := wrapFirst(rest, textWidth-bw, textWidth, 2, fieldFont)
	for i, s := range lines {
		x := float32(left - 1)
		if i == 0 {
			x += bw
		}
		p.text(s, x, 78+float32(i)*19, textWidth, fieldFont, p.c.Muted)
	}
	p.button(p.lg.T(text.CardButtonRetry), left-1, noteButtonsY, 204, buttonH, false, true,
		Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoRetry}})
	p.copyButton(c.Number, left-1+204+gap, noteButtonsY, right-(left-1+204+gap))
	return noteButtonsY + buttonH + bottomPad
}

func (p *painter) offered(c companion.Card) float32 {
	p.big(c.Number.Display())
	for i, s := range wrap(p.lg.T(text.CardOffered), textWidth, 2, fieldFont) {
		p.text(s, left-1, 78+float32(i)*19, textWidth, fieldFont, p.c.Muted)
	}
	p.button(p.lg.T(text.CardButtonLookup), left-1, noteButtonsY, 204, buttonH, true, true,
		Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoRetry}})
	p.copyButton(c.Number, left-1+204+gap, noteButtonsY, right-(left-1+204+gap))
	return noteButtonsY + buttonH + bottomPad
}

// note is a title with an explanation and nothing to click.
func (p *painter) note(title, why string) float32 {
	p.big(title)
	y := float32(78)
	for _, s := range wrap(why, textWidth, 2, fieldFont) {
		p.text(s, left-1, y, textWidth, fieldFont, p.c.Muted)
		y += 19
	}
	return y + bottomPad
}

// small is a title with one line under it.
func (p *painter) small(title, under, via string) float32 {
	p.big(title)
	p.numberLine(under, via)
	return numberY + 22 + bottomPad
}

func strip(c companion.Card, l Look) *face {
	p := newPainter(l)
	state := p.stateColour(c)
	p.mark(15, 23, c.Phase == companion.PhaseAnswered, state)
	end := float32(right - 10)
	p.cross(end, stripHeight/2, Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoClose}})
	end -= 18
	if c.Outcome == companion.Found && c.LinkOK[0] {
		s := p.lg.T(text.CardButtonOpenRow)
		w := width(s, font{13, 19, true}) + 20
		p.rowButton(s, end-w, 14, w, 28, false, true, Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoOpen}})
		end -= w + 4
	}
	x := float32(35)
	p.text(p.stripTitle(c), x, 9, end-x, rowName, p.c.Ink)
	words := p.stateWord(c)
	if n := c.Number.Display(); n != "" {
		words += " · " + n
	}
	if c.Times > 1 {
		words += " · " + p.lg.T(text.CardAgain, c.Times)
	}
	if since := clockFrom(c); !since.IsZero() && c.Phase == companion.PhaseAnswered {
		words += " · "
		w := p.text(words, x, 29, end-x, rowDetail, p.c.Muted)
		p.f.clock = clockFace{x: x + w, y: 28, w: 50, h: 18, since: since, color: p.c.Muted, size: rowDetail.size, left: true}
	} else {
		p.text(words, x, 29, end-x, rowDetail, p.c.Muted)
	}
	// A click beside the buttons unfolds the strip.
	unfold := area{0, 0, end, stripHeight, Do{Engine: true, Action: companion.Action{Card: c.ID, Do: companion.DoUnfold}}}
	p.f.areas = append([]area{unfold}, p.f.areas...)
	return p.finish(stripHeight, state)
}

func (p *painter) stripTitle(c companion.Card) string {
	switch c.Outcome {
	case companion.Found:
		return p.nameOf(c, c.Contacts[0])
	case companion.Several:
		return p.lg.N(text.CardSeveral, len(c.Contacts))
	case companion.Nobody:
		return p.lg.T(text.CardNobodyShort)
	case companion.Withheld:
		return p.lg.T(text.CardWithheld)
	case companion.Internal:
		return cmp.Or(c.PhoneName, p.lg.T(text.CardExtensionUnnamed))
	case companion.Own:
		return p.lg.T(text.CardOwn)
	case companion.Failed:
		return strings.TrimSuffix(p.lg.T(text.CardFailed), ":")
	case companion.Unfilled:
		return p.lg.T(text.CardUnfilled)
	}
	return cmp.Or(c.Number.Display(), c.PhoneName)
}

func (p *painter) admin() string { return cmp.Or(p.l.Support, p.lg.T(text.CardAdmin)) }

// wrapFirst is wrap with a first line of another width.
func wrapFirst(s string, firstMax, max float32, n int, f font) []string {
	head := wrap(s, firstMax, 2, f)
	if len(head) < 2 {
		return head
	}
	rest := strings.TrimSpace(strings.TrimPrefix(s, head[0]))
	return append(head[:1], wrap(rest, max, n-1, f)...)
}

// clockText is a duration as "0:03" or "1:02:03".
func clockText(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
