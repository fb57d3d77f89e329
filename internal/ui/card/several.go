package card

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
)

// maxNumbered is how many matches have their own key; others are found by typing.
const maxNumbered = 9

const filterH = 38

// generalNumber draws a general number, whose relations say little about the caller.
func (p *painter) generalNumber(c engine.Card) float32 {
	p.numberLine(c, c.Number.Display(), false)
	p.sentence(p.lg.T(text.CardManyWhy), 0, numberY+28, 1, fieldFont, p.c.Muted)
	return p.actions(c, noteButtonsY, p.lg.T(text.CardButtonFind), !c.Dimmed, true, Effect{Search: true, Caller: c.Number}, -1)
}

// several lists the matches, two fixed lines per row; none is preselected. Its height
// depends on their number, not on user input.
func (p *painter) several(c engine.Card) float32 {
	p.numberLine(c, c.Number.Display(), true)
	y := float32(ruleY)
	if c.Possible {
		p.rule(y)
		p.sentence(p.lg.T(text.CardPossibleWhy), 0, y+6, 2, font{13, 20, false}, p.c.Trouble)
		y += 48
	}
	list := matching(c, p.l.RowsState.Filter)
	shown := p.rows(c)
	boxed := len(c.Contacts) > maxNumbered // the search box separates the rows from the number
	if boxed {
		p.filter(c, y)
		y += filterH
	}
	from := firstRow(p.l.RowsState.First, len(list), shown)
	to := min(from+shown, len(list))
	for at := from; at < to; at++ {
		if at > from || !boxed {
			p.rule(y + float32(at-from)*rowPitch)
		}
		y := y + float32(at-from)*rowPitch
		p.v.rows = append(p.v.rows, row{y: y, position: [2]int{at + 1, len(list)}})
		p.row = len(p.v.rows)
		p.withinControl(func() { p.match(c, list[at], y) })
		p.row = 0
	}
	if len(list) == 0 {
		p.label(p.lg.T(text.CardFilterNone), textLeft, y+18, textWidth, fieldFont, p.c.Muted)
	}
	y += float32(shown) * rowPitch
	if len(c.Contacts) > shown {
		p.rule(y)
		if len(list) > 0 {
			p.label(p.lg.T(text.CardRows, from+1, to, len(list)), textLeft, y+8, 200, rowDetail, p.c.Muted)
		}
		p.scrollButton(textRight-68, y+4, true, from > 0, Effect{Scroll: -shown})
		p.scrollButton(textRight-32, y+4, false, to < len(list), Effect{Scroll: shown})
		y += pagerH
	} else {
		p.rule(y)
	}
	return p.footer(c, y, c.OpenedIndex, cmp.Or(c.OpenedIndex+1, c.EarlierChoice+1)-1)
}

func (p *painter) rows(c engine.Card) int {
	return min(cmp.Or(p.l.Rows, rowsShown), rowsShown, len(c.Contacts))
}

// heightWithoutRows returns the height of a card of several matches without its rows.
func heightWithoutRows(c engine.Card) float32 {
	h := float32(ruleY + footGap + footH + footPad)
	if c.Possible {
		h += 48
	}
	if len(c.Contacts) > maxNumbered {
		h += filterH
	}
	return h + pagerH
}

func firstRow(want, all, shown int) int { return max(0, min(want, all-shown)) }

// filter draws the filter line, which takes letters once the card has the keyboard focus.
func (p *painter) filter(c engine.Card, y float32) {
	do := Effect{Search: true, Caller: c.Number}
	edge := p.c.Line
	if p.l.Typing || do == p.l.Hover {
		edge = p.c.Accent
	}
	r := box(p.c.Soft, textLeft, y+5, textWidth, 28)
	r.CornerRadius, r.StrokeColor, r.StrokeWidth = 4, edge, 1
	if p.l.Typing {
		r.StrokeWidth = 2
	}
	p.add(r)
	x := float32(textLeft + 10)
	p.withinControl(func() {
		switch {
		case p.l.RowsState.Filter != "":
			x += p.text(p.l.RowsState.Filter, x, y+9, textWidth-24, fieldFont, p.c.Ink)
		case p.l.Typing:
			p.label(p.lg.T(text.CardFilterType), x+6, y+9, textWidth-24, fieldFont, p.c.Muted)
		default:
			p.label(p.lg.T(text.CardFilter), x, y+9, textWidth-24, fieldFont, p.c.Muted)
		}
	})
	if p.l.Typing {
		p.add(box(p.c.Ink, x+1, y+11, 1, 16))
	}
	p.area(textLeft, y+5, textWidth, 28, p.lg.T(text.CardFilter), do).role = screenreader.Entry
}

func (p *painter) scrollButton(x, y float32, up, on bool, do Effect) {
	c, name := p.c.Accent, p.lg.T(text.CardRowsAfter)
	if !on {
		c, do = p.c.Muted, Effect{Disabled: true}
	} else if do == p.l.Hover {
		p.fill(x, y, 32, 24, p.c.UnderPointer(p.c.Soft), 4)
	}
	h := float32(3)
	if up {
		h, name = -h, p.lg.T(text.CardRowsBefore)
	}
	p.strokes(c, 2, x+16, y+12, [4]float32{-5, -h, 0, h}, [4]float32{0, h, 5, -h})
	p.area(x, y, 32, 24, name, do)
}

func (p *painter) match(c engine.Card, i int, y float32) {
	k := c.Contacts[i]
	const buttonW = 80
	top := y
	x, end := float32(textLeft), float32(textRight-buttonW)
	if len(c.Contacts) <= maxNumbered {
		badge := box(color.Transparent, x, y+16, 22, 22)
		badge.StrokeColor, badge.StrokeWidth, badge.CornerRadius = p.c.Line, 1, 3
		p.add(badge)
		p.centre(fmt.Sprint(i+1), x, y+19, 22, rowDetail, p.c.Muted)
		x += 30
	}
	room := end - x - 8
	name, number, address := p.l.Privacy.name(k), contact.GroupDigits(k.RelationNumber), isolatedParts(k.Address).ShortLine()
	if !slices.Contains(p.l.Fields, fieldRelation) {
		number = ""
	}
	if !slices.Contains(p.l.Fields, fieldAddress) || p.l.Privacy != "" && p.l.Privacy != PrivacyFull {
		address = ""
	}
	if p.l.Privacy == PrivacyNumber && number != "" {
		name, number = text.Capital(p.lg.T(text.CardRelation, number)), ""
	}
	name = cmp.Or(name, p.lg.T(text.CardUnnamed))
	tag := ""
	if i == c.EarlierChoice {
		tag = p.earlierTag(name, room)
	}
	opens, ink, broken := p.lg.T(text.CardButtonOpenRow), p.c.Muted, false
	if c.OpenedIndex == i {
		opens, broken = p.lg.T(text.CardButtonAgainRow), c.OpenError
	}
	if broken {
		number, address, ink = "", p.lg.T(text.CardBrowserRow), p.c.Trouble
	}
	p.v.rows[p.row-1].texts = [...]string{name, tag, number, address}
	if number == "" && address == "" { // nothing below it
		y += 9
	}
	if tag == "" {
		p.text(name, x, y+8, room, rowName, p.c.Ink)
	} else {
		tw := tagWidth(tag)
		w := p.text(name, x, y+8, room-tw-8, rowName, p.c.Ink)
		p.fill(x+w+8, y+10, tw, 17, p.c.Soft, 3)
		p.label(tag, x+w+14, y+10, tw-12+1, tagFont, p.c.Muted)
	}
	y += 28
	if number != "" {
		x += p.text(number, x, y, end-x-8-18, rowDetail, p.c.Muted)
		do := Effect{Copy: k.RelationNumber, Caller: c.Number, Contact: k}
		x += 6
		x += p.copyIcon(x, y+3, end-x-8, do)
		if do == p.l.Copied {
			address = ""
		}
		if s, _ := fit(address, end-x-8-12, rowDetail); s == "" || s == "…" {
			address = "" // none of it would be visible
		}
		if address != "" {
			x += 3
			x += p.label(" · ", x, y, 20, rowDetail, p.c.Muted)
		}
	}
	p.drawText(address, x, y, end-x-8, rowDetail, ink, broken)
	var do Effect
	if c.LinkOK[i] {
		do = contactEffect(c, engine.ActionOpen, i)
	}
	p.open(opens, end, top+12, buttonW, 30, true, c.LinkOK[i], do)
}

// earlierTag returns what marks the contact opened earlier: fewer words beside a long name.
func (p *painter) earlierTag(name string, room float32) string {
	tag := p.lg.T(text.CardEarlierOpened)
	if width(name, rowName)+8+tagWidth(tag) > room {
		tag = p.lg.T(text.CardEarlier)
	}
	return tag
}

func tagWidth(tag string) float32 { return width(tag, tagFont) + 12 }

// matching returns the indices of the contacts whose name, relation number or address
// contain every word of filter.
func matching(c engine.Card, filter string) []int {
	words := strings.Fields(searchKey(filter))
	out := make([]int, 0, len(c.Contacts))
	for i, k := range c.Contacts {
		all := true
		if len(words) > 0 {
			text := searchKey(k.Name() + " " + k.RelationNumber + " " + k.Address.Line())
			for _, w := range words {
				all = all && strings.Contains(text, w)
			}
		}
		if all {
			out = append(out, i)
		}
	}
	return out
}

// searchKey returns s without accents and in lower case, as people type searches.
func searchKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(s))
}
