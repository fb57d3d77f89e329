package card

import (
	"cmp"
	"image/color"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/text"
)

// layout lays out a card. The result depends only on its arguments.
func layout(c engine.Card, l Look) *view {
	switch {
	case l.MoreCount > 0:
		return layoutMore(l)
	case c.SingleLine:
		return lineOf(c, l)
	case c.Strip:
		return strip(c, l)
	}
	p := newPainter(l)
	p.tooltips = true
	state := p.stateColour(c)
	p.header(c, state)
	w := p.big(p.title(c), c.Outcome == engine.OutcomeSeveral)
	height := p.body(c, w)
	p.cross(textRight-10, headerY+8, c)
	return p.finish(height, state)
}

// layoutMore lays out the line that counts the calls without a card.
func layoutMore(l Look) *view {
	p := newPainter(l)
	p.label(p.lg.N(text.CardMore, l.MoreCount), textLeft, 6, textWidth, stateFont, p.c.Muted)
	return p.finish(lineHeight, p.c.Quiet)
}

func (p *painter) stateColour(c engine.Card) color.NRGBA {
	switch {
	case c.Phase == engine.PhaseOver, c.Phase == engine.PhaseReported:
		return p.c.Quiet
	case c.Phase == engine.PhaseAnswered:
		return p.c.InCall
	case c.Outcome == engine.OutcomeFailed && (c.Failure == contact.CredentialsRefused || c.Failure == contact.ScopeRefused):
		return p.c.Refused
	case c.Outcome == engine.OutcomeFailed:
		return p.c.Trouble
	case c.Outcome == engine.OutcomeSearching, c.Outcome == engine.OutcomeFound, c.Outcome == engine.OutcomeSeveral,
		c.Outcome == engine.OutcomeOffered:
		return p.c.Accent
	}
	return p.c.Quiet
}

func (p *painter) stateWord(c engine.Card) string {
	switch {
	case c.Phase == engine.PhaseReported:
		return p.lg.T(text.CardStateReported, c.Rang.Local().Format("15:04"))
	case c.Phase == engine.PhaseOver:
		return p.lg.T(text.CardStateOver)
	case c.Phase == engine.PhaseAnswered:
		return p.lg.T(text.CardStateAnswered)
	case c.Outgoing:
		return p.lg.T(text.CardStateOutgoing)
	case c.Outcome == engine.OutcomeInternal:
		return p.lg.T(text.CardStateInternal)
	}
	return p.lg.T(text.CardStateIncoming)
}

func (p *painter) lineWords(c engine.Card) string {
	switch {
	case c.LineName != "" && c.LineText != "":
		return p.lg.T(text.CardLineNamed, isolated(c.LineName), c.LineText)
	case c.LineName != "":
		return p.lg.T(text.CardLine, isolated(c.LineName))
	case c.LineText != "":
		return p.lg.T(text.CardLine, c.LineText)
	}
	return ""
}

// headWords returns the line called, and what has no room below: how often the
// caller has rung, and who passed the call on. The last part is cut first.
func (p *painter) headWords(c engine.Card) string {
	again, line, via := "", p.lineWords(c), ""
	if c.RingsToday > 1 && !p.againBelow(c) {
		again = p.lg.T(text.CardAgain, c.RingsToday)
	}
	if by := p.via(c); by != "" && !p.besideNumber(c) {
		via = p.lg.T(text.CardViaShort, isolated(by))
	}
	if again+via != "" && c.LineName != "" { // the name alone: there is less room
		line = p.lg.T(text.CardLine, isolated(c.LineName))
	}
	return dotted(again, line, via)
}

// via returns who passed the call on, as far as it may be shown.
func (p *painter) via(c engine.Card) string {
	if p.l.Privacy == PrivacyNumber {
		return ""
	}
	return c.Via
}

// besideNumber reports whether the card has a line of its own for the number, with room
// beside it.
func (p *painter) besideNumber(c engine.Card) bool {
	switch c.Outcome {
	case engine.OutcomeFound:
		return p.l.Privacy != PrivacyNumber
	case engine.OutcomeSeveral, engine.OutcomeOwnLine, engine.OutcomeInternal:
		return true
	}
	return false
}

func cardEffect(c engine.Card, do engine.ActionKind) Effect {
	return Effect{Caller: c.Number, Action: engine.Action{Card: c.ID, Kind: do}}
}

func contactEffect(c engine.Card, do engine.ActionKind, i int) Effect {
	d := cardEffect(c, do)
	d.Action.Index, d.Action.Edition, d.Contact = i, c.Edition, c.Contacts[i]
	return d
}

// header draws the first line: mark, state, line called and clock, with room for the ×.
func (p *painter) header(c engine.Card, state color.NRGBA) {
	const y = headerY
	p.mark(textLeft, y+3, c, state)
	x := float32(textLeft + 18)
	word := p.stateWord(c)
	x += p.label(word, x, y, 150, stateBold, state) + 8
	end := float32(textRight - 28)
	switch since := clockFrom(c); {
	case !since.IsZero():
		p.clock(0, y, end, stateFont, since)
		end -= 50
	case c.Phase == engine.PhaseRinging && !c.Rang.IsZero():
		// The call's progress is not reported: only the time it rang is known.
		s := c.Rang.Local().Format("15:04")
		w := width(s, stateFont)
		p.label(s, end-w, y, w+1, stateFont, p.c.Muted)
		end -= w + 6
	}
	words := p.headWords(c)
	p.text(words, x, y, end-x, stateFont, p.c.Muted)
	p.v.spokenState = []string{word, words}
}

// clockFrom returns the start of the clock; a phone that only reports ringing has no clock,
// since it is unknown whether the call continues.
func clockFrom(c engine.Card) time.Time {
	switch {
	case c.ReportLevel == call.RingOnly:
	case c.Phase == engine.PhaseAnswered:
		return c.Answered
	case c.Phase == engine.PhaseRinging:
		return c.Rang
	}
	return time.Time{}
}

// title returns who is calling, as far as known and shown: the large text of a card.
func (p *painter) title(c engine.Card) string {
	switch c.Outcome {
	case engine.OutcomeFound:
		if p.l.Privacy != PrivacyNumber {
			return p.nameOf(c, c.Contacts[0])
		}
	case engine.OutcomeSeveral:
		if c.GeneralNumber {
			return p.lg.N(text.CardMany, len(c.Contacts))
		}
		return p.lg.N(text.CardSeveral, len(c.Contacts))
	case engine.OutcomeWithheld:
		return p.lg.T(text.CardWithheld)
	case engine.OutcomePlaceholder:
		return p.lg.T(text.CardUnfilled)
	case engine.OutcomeNoNumber:
		return cmp.Or(p.l.Privacy.words(cmp.Or(c.PhoneName, c.Number.Display())), p.lg.T(text.CardUnfilled))
	case engine.OutcomeOwnLine:
		if c.Number.LineName != "" {
			return p.lg.T(text.CardOwnNamed, isolated(c.Number.LineName))
		}
		return p.lg.T(text.CardOwn)
	case engine.OutcomeInternal:
		return cmp.Or(p.l.Privacy.words(c.PhoneName), p.lg.T(text.CardExtensionUnnamed))
	}
	return c.Number.Display()
}

// body draws what is below a title of width titleWidth, and returns the card's height.
func (p *painter) body(c engine.Card, titleWidth float32) float32 {
	switch c.Outcome {
	case engine.OutcomeSearching:
		return p.searching(c)
	case engine.OutcomeFound:
		return p.found(c)
	case engine.OutcomeSeveral:
		if c.GeneralNumber && !p.l.RowsState.Open {
			return p.generalNumber(c)
		}
		return p.several(c)
	case engine.OutcomeNobody:
		return p.nobody(c)
	case engine.OutcomeFailed:
		return p.failed(c)
	case engine.OutcomeOffered:
		return p.offered(c)
	case engine.OutcomeWithheld:
		return p.endWithText(p.lg.T(text.CardWithheldWhy))
	case engine.OutcomePlaceholder:
		return p.endWithText(p.lg.T(text.CardUnfilledWhy, p.admin()))
	case engine.OutcomeNoNumber:
		return p.endWithText(p.lg.T(text.CardNoNumberWhy))
	case engine.OutcomeOwnLine:
		return p.endWithLine(c, c.Number.Display())
	case engine.OutcomeInternal:
		return p.endWithLine(c, p.lg.T(text.CardExtension, c.Number.Display()))
	default: // OutcomeShort, and numbers never looked up
		if n := c.Number.ClipboardText(); n != "" {
			p.copyIcon(textLeft+titleWidth+12, bigY+9, textRight-textLeft-titleWidth-12, Effect{Copy: n, Caller: c.Number})
		}
		if c.Number.NeverLookup {
			return p.endWithText(p.lg.T(text.CardNever))
		}
		return p.endWithText(p.lg.T(text.CardShort))
	}
}

const (
	headerY = 14
	bigY    = 42
	numberY = 70
	ruleY   = 102
	fieldsY = 112
	noteY   = 78
)

func (p *painter) big(s string, ours bool) float32 {
	f := bigFont
	if width(s, f) > textWidth {
		f = lessBig
	}
	p.v.headline = len(p.v.texts) + 1
	return p.drawText(p.announce(s), textLeft, bigY, textWidth, f, p.c.Ink, ours)
}

// numberLine draws the second line; icon marks a telephone number, which can be copied.
func (p *painter) numberLine(c engine.Card, s string, icon bool) {
	x := float32(textLeft)
	x += p.text(p.announce(s), x, numberY, textWidth, numberFont, p.c.Ink)
	if icon && c.Number.ClipboardText() != "" {
		x += 9
		x += p.copyIcon(x, numberY+5, 110, Effect{Copy: c.Number.ClipboardText(), Caller: c.Number})
	}
	x, note := x+10, ""
	switch via := p.via(c); {
	case via != "":
		note = p.lg.T(text.CardVia, isolated(via))
		if width(note, fieldFont) > textRight-x {
			note = p.lg.T(text.CardViaShort, isolated(via))
		}
	case p.againBelow(c):
		note = p.lg.T(text.CardAgainAt, c.RingsToday, c.PreviousRing.Local().Format("15:04"))
	}
	p.text(note, x, numberY+2, textRight-x, fieldFont, p.c.Muted)
}

// againBelow reports whether there is room next to the number for how often and when the
// caller has called before.
func (p *painter) againBelow(c engine.Card) bool {
	return p.besideNumber(c) && c.RingsToday > 1 && !c.PreviousRing.IsZero() && p.via(c) == ""
}

func (p *painter) rule(y float32) { p.add(box(p.c.Line, textLeft, y, textWidth, 1)) }

// lines returns the lines of fields a found card has room for; a searching card has as
// many, so that nothing moves when the contact arrives.
func (p *painter) lines(c engine.Card) int {
	n := max(2, len(p.allowedFields())) // the first has room for "Niet deze relatie"
	if c.Possible {
		n += 2
	}
	return n
}

func (p *painter) buttonsY(c engine.Card) float32 {
	return fieldsY + float32(p.lines(c))*fieldPitch + 12
}

// searching draws a card of exactly the height and buttons of a found card.
func (p *painter) searching(c engine.Card) float32 {
	if c.ShowSearching {
		p.label(p.announce(p.lg.T(text.CardSearching)), textLeft, numberY, textWidth, numberFont, p.c.Muted)
		p.add(box(p.c.Line, textLeft, ruleY, textWidth, 3))
		if !p.l.LessMotion { // the text says it too
			p.v.bar = &bar{box(p.c.Accent, textLeft, ruleY, 0, 3), textWidth, c.Rang}
			p.add(p.v.bar.rect)
		}
	}
	return p.openButton(c, false, -1)
}

func (p *painter) found(c engine.Card) float32 {
	k := c.Contacts[0]
	if p.l.Privacy == PrivacyNumber {
		p.label(p.announce(p.lg.T(text.CardFoundHidden)), textLeft, numberY, textWidth, numberFont, p.c.Muted)
	} else {
		p.numberLine(c, c.Number.Display(), false)
	}
	p.rule(ruleY)
	y := float32(fieldsY)
	if c.Possible {
		p.sentence(p.lg.T(text.CardPossibleWhy), 0, y, 2, fieldFont, p.c.Trouble)
		y += 2 * fieldPitch
	}
	last := fieldsY + float32(p.lines(c)-1)*fieldPitch
	if why := p.trouble(c); why != "" {
		p.label(why, textLeft, last, textWidth, fieldFont, p.c.Trouble)
		last -= fieldPitch
	} else if p.l.Privacy == PrivacyNumber {
		p.label(p.lg.T(text.CardHidden), textLeft, last, textWidth, fieldFont, p.c.Muted)
	}
	// Not next to the buttons: a misplaced click must not remove a name.
	s := p.lg.T(text.CardNotThis)
	w := width(s, stateFont)
	p.link(s, textRight-w, y+2, w+1, p.c.Muted, true, contactEffect(c, engine.ActionRemoveContact, 0)) // on the line of the first field
	away := w + 12
	for _, f := range p.fields(k) {
		if y > last {
			break
		}
		p.label(f.label, textLeft, y, labelWidth-2, fieldFont, p.c.Muted)
		x := float32(textLeft + labelWidth)
		room := textRight - x - away
		away = 0
		if f.copy != "" {
			room -= 24
		}
		w := p.text(f.value, x, y, room, fieldFont, p.c.Ink)
		if f.copy != "" {
			p.copyIcon(x+w+9, y+4, x+room+24-x-w-9, Effect{Copy: f.copy, Caller: c.Number, Contact: k})
		}
		y += fieldPitch
	}
	return p.openButton(c, c.LinkOK[0], 0)
}

// footer draws the last line: small links that pass the call on, naming contact who, and that
// remove contact away from it; -1 means none. It returns the height of the card.
func (p *painter) footer(c engine.Card, y float32, who, away int) float32 {
	y += footGap
	room := float32(textWidth)
	pass := Effect{Copy: summary(c, who, p.lg), Caller: c.Number}
	s, ink := p.lg.T(text.CardPass), p.c.Accent
	if pass == p.l.Copied {
		s, ink = p.copiedText()
	}
	p.link(s, textLeft, y, room/2, ink, true, pass)
	room -= 160
	switch {
	case c.CanUndo: // where the removing link was
		s := p.lg.T(text.CardUndo)
		w := width(s, stateFont)
		p.link(s, textRight-w, y, w+1, p.c.Accent, true, cardEffect(c, engine.ActionUndo))
	case away >= 0:
		s := p.lg.T(text.CardNotThis)
		if p.l.Privacy != PrivacyNumber {
			s = p.lg.T(text.CardNotThisOne, isolated(p.nameOf(c, c.Contacts[away])))
		}
		_, w := fit(s, room, stateFont)
		p.link(s, textRight-w, y, room, p.c.Muted, p.l.Privacy == PrivacyNumber, contactEffect(c, engine.ActionRemoveContact, away))
	}
	return y + footH + footPad
}

// trouble returns why the file cannot be opened, to replace the last field.
func (p *painter) trouble(c engine.Card) string {
	switch {
	case !c.LinkOK[0]:
		return p.lg.T(text.CardNoLink)
	case c.OpenError:
		return p.lg.T(text.CardBrowser)
	}
	return ""
}

// openButton ends a card with two buttons: one opens the contact's file if possible, one
// copies the number; who is the contact, -1 for none yet.
func (p *painter) openButton(c engine.Card, on bool, who int) float32 {
	s := p.lg.OpenFileLabel(p.l.FileWord)
	if c.OpenedIndex == 0 {
		s = p.lg.T(text.CardButtonAgain)
	}
	var do Effect
	if on {
		do = contactEffect(c, engine.ActionOpen, 0)
	}
	return p.actions(c, p.buttonsY(c), s, !c.Dimmed, on, do, who)
}

// actions ends a card with a button, the one that copies the number, and the last line.
func (p *painter) actions(c engine.Card, y float32, words string, primary, on bool, do Effect, who int) float32 {
	p.button(words, textLeft, y, primaryW, primary, on, do)
	p.copyButton(c.Number, textLeft+primaryW+gap, y, textWidth-primaryW-gap)
	return p.footer(c, y+buttonH, who, -1)
}

func (p *painter) copyButton(n phone.Number, x, y, w float32) {
	do := Effect{Copy: n.ClipboardText(), Caller: n}
	s := p.lg.T(text.CardButtonCopy)
	if p.l.Copied == do {
		s, _ = p.copiedText()
	}
	p.button(s, x, y, w, false, n.ClipboardText() != "", do)
}

// The buttons of cards without contacts are below two lines of text, or as many more as an
// administrator's name needs.
const noteButtonsY = 128

func (p *painter) nobody(c engine.Card) float32 {
	if c.RemovedCount > 0 { // there is one, but the user says it is not the caller
		p.text(p.announce(p.removedName(c)), textLeft, noteY, textWidth, fieldBold, p.c.Ink)
		p.label(p.lg.T(text.CardNobodyLeft), textLeft, noteY+20, textWidth, fieldFont, p.c.Muted)
	} else {
		p.label(p.announce(p.lg.T(text.CardNobody)), textLeft, noteY, textWidth, fieldBold, p.c.Ink)
		if name := p.l.Privacy.words(c.PhoneName); name != "" {
			p.text(p.lg.T(text.CardPhoneName, isolated(name)), textLeft, noteY+20, textWidth, fieldFont, p.c.Muted)
		}
	}
	p.copyButton(c.Number, textLeft, noteButtonsY, textWidth)
	return p.footer(c, noteButtonsY+buttonH, -1, -1)
}

func (p *painter) removedName(c engine.Card) string {
	name := p.l.Privacy.name(c.LastRemoved)
	if name == "" {
		return p.lg.T(text.CardNotSaidUnnamed)
	}
	return p.lg.T(text.CardNotSaid, isolated(name))
}

func (p *painter) failed(c engine.Card) float32 {
	bold := p.lg.T(text.CardFailed)
	rest := p.lg.T(text.Failure(string(c.Failure)))
	p.announce(bold + " " + rest)
	switch {
	case c.Failure.NeedsAdmin():
		rest += " " + p.lg.T(text.CardTell, p.admin())
	case c.Retrying && c.Phase == engine.PhaseRinging:
		rest += " " + p.lg.T(text.CardRetrying)
	case c.Retrying:
		rest += " " + p.lg.T(text.CardRetryingOn)
	}
	w := p.label(bold, textLeft, noteY, textWidth, fieldBold, p.c.Ink) + 4
	lines := p.sentence(rest, w, noteY, 4, fieldFont, p.c.Muted)
	return p.lookupActions(c, p.lg.T(text.CardButtonRetry), false, lines)
}

func (p *painter) offered(c engine.Card) float32 {
	lines := p.sentence(p.lg.T(text.CardOffered), 0, noteY, 3, fieldFont, p.c.Muted)
	return p.lookupActions(c, p.lg.T(text.CardButtonLookup), !c.Dimmed, lines)
}

// lookupActions ends a card whose lookup starts on request.
func (p *painter) lookupActions(c engine.Card, words string, primary bool, lines int) float32 {
	y := noteButtonsY + float32(max(0, lines-2))*fieldFont.line
	return p.actions(c, y, words, primary, true, cardEffect(c, engine.ActionRetry), -1)
}

// endWithText ends a card with nothing to click below its title.
func (p *painter) endWithText(why string) float32 {
	return noteY + float32(p.sentence(why, 0, noteY, 3, fieldFont, p.c.Muted))*fieldFont.line + bottomPad
}

// endWithLine ends a card with one line below its title.
func (p *painter) endWithLine(c engine.Card, under string) float32 {
	p.numberLine(c, under, false)
	return numberY + numberFont.line + bottomPad
}

func (p *painter) admin() string { return isolated(p.lg.Support(p.l.Support)) }

// clockText formats a duration as "0:03" or "1:02:03", in every language.
func clockText(d time.Duration) string { return text.Dutch.Duration(d.Truncate(time.Second)) }
