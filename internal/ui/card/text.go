package card

import (
	"image/color"
	"sort"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/ui/offscreen"
)

// font is a size, its line height and its weight.
type font struct {
	size, line float32
	bold       bool
}

var (
	stateFont  = font{12, 16, false}
	stateBold  = font{12, 16, true}
	bigFont    = font{22, 28, true}
	lessBig    = font{18, 28, true}
	numberFont = font{15, 22, false}
	fieldFont  = font{13, 19, false}
	fieldBold  = font{13, 19, true}
	rowName    = font{14, 20, true}
	rowDetail  = font{12, 17, false}
	tagFont    = font{11, 16, false}
	buttonFont = font{14, 20, false}
	buttonBold = font{14, 20, true}
	openFont   = font{13, 19, true}
)

// text draws the external text s with its line box at (x, y), cut to room units with an
// ellipsis, and returns the width used.
func (p *painter) text(s string, x, y, room float32, f font, c color.Color) float32 {
	return p.drawText(s, x, y, room, f, c, false)
}

// label is like text, for our own texts, which must fit.
func (p *painter) label(s string, x, y, room float32, f font, c color.Color) float32 {
	return p.drawText(s, x, y, room, f, c, true)
}

func (p *painter) drawText(said string, x, y, room float32, f font, c color.Color, ours bool) float32 {
	s, w := fit(said, room, f)
	if s == "" {
		return 0
	}
	p.v.texts = append(p.v.texts, placedText{said, s, x, y, room, w, f, c, ours, p.inControl})
	if p.tooltips && !ours && s != said {
		p.area(x, y, w, f.line, "", Effect{FullText: said})
	}
	for _, o := range line(s, x, y, f, c) {
		if ours {
			p.add(offscreen.CachedText{Text: o})
		} else {
			p.add(o)
		}
	}
	return w
}

// centre draws the label of a button, or a row's number.
func (p *painter) centre(s string, x, y, room float32, f font, c color.Color) {
	_, w := fit(s, room, f)
	p.withinControl(func() { p.drawText(s, x+(room-w)/2, y, room, f, c, true) })
}

// line returns s as one object per piece, on a common baseline.
func line(s string, x, y float32, f font, c color.Color) []*canvas.Text {
	style := fyne.TextStyle{Bold: f.bold}
	d := fyne.CurrentApp().Driver()
	usual, base := d.RenderedTextSize(" ", f.size, style, fontFor(' ', f.bold))
	base += y + (f.line-usual.Height)/2
	ps := pieces(s, f.bold)
	out := make([]*canvas.Text, 0, len(ps))
	for _, part := range ps {
		t := canvas.NewText(part.s, c)
		t.TextSize, t.TextStyle, t.FontSource = f.size, style, part.font
		size, up := d.RenderedTextSize(part.s, f.size, style, part.font)
		t.Resize(size)
		t.Move(fyne.NewPos(x, base-up))
		out = append(out, t)
		x += size.Width
	}
	return out
}

func width(s string, f font) (w float32) {
	if s == "" {
		return 0
	}
	d, style := fyne.CurrentApp().Driver(), fyne.TextStyle{Bold: f.bold}
	for _, part := range pieces(s, f.bold) {
		size, _ := d.RenderedTextSize(part.s, f.size, style, part.font)
		w += size.Width
	}
	return w
}

// fit cuts s to at most room units, with an ellipsis if something was cut.
func fit(s string, room float32, f font) (string, float32) {
	w := width(s, f)
	if w <= room || s == "" {
		return s, w
	}
	iso := strings.ContainsRune(s, isolate)
	r := []rune(s)
	cut := func(n int) string {
		for n > 0 && n < len(r) && extendsPrevious(r[n]) {
			n--
		}
		s := strings.TrimRightFunc(string(r[:n]), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",·-(", r) }) + "…"
		if iso && strings.Count(s, string(isolate)) > strings.Count(s, string(endIso)) {
			s += string(endIso)
		}
		return s
	}
	s = cut(sort.Search(len(r), func(n int) bool { return width(cut(n+1), f) > room })) // longest prefix that fits
	if w = width(s, f); w > room {
		return "", 0
	}
	return s, w
}

// extendsPrevious reports whether r belongs to the preceding letter.
func extendsPrevious(r rune) bool {
	return unicode.Is(unicode.M, r) || r >= 0x1F3FB && r <= 0x1F3FF || r == 0x200D
}

// wrap breaks s into at most n lines of at most room units, the first of which has less
// room; the last line is cut.
func wrap(s string, first, room float32, n int, f font) []string {
	var lines []string
	cur := ""
	words := strings.Fields(s)
	for i, w := range words {
		next := w
		if cur != "" {
			next = cur + " " + w
		}
		max := room
		if len(lines) == 0 {
			max = first
		}
		if width(next, f) <= max || cur == "" && max == room {
			cur = next
			continue
		}
		if len(lines) == n-1 {
			return append(lines, strings.TrimSpace(cur+" "+strings.Join(words[i:], " ")))
		}
		lines = append(lines, cur) // "" where not even the first word fits beside what stands there
		cur = w
	}
	return append(lines, cur)
}

// sentence draws our own text over several lines and returns their number. The first line
// is indented by indent units.
func (p *painter) sentence(s string, indent, y float32, n int, f font, c color.Color) int {
	lines := wrap(s, textWidth-indent, textWidth, n, f)
	for i, s := range lines {
		x := float32(textLeft)
		if i == 0 {
			x += indent
		}
		p.label(s, x, y+float32(i)*f.line, textRight-x, f, c)
	}
	return len(lines)
}

// tooltip shows the full text of a cut text under the pointer, on top of what is next to it.
func (p *painter) tooltip() {
	s := p.l.Hover.FullText
	a := p.v.areaFor(p.l.Hover)
	if s == "" || a == nil {
		return
	}
	const pad, most = 8, 6
	f := fieldFont
	lines := wrap(s, textWidth-2*pad, textWidth-2*pad, most, f)
	h := float32(len(lines))*f.line + 2*pad
	y := max(1, min(a.y-pad, p.v.size.Height-1-h))
	r := box(p.c.Soft, textLeft, y, textWidth, h)
	r.StrokeColor, r.StrokeWidth, r.CornerRadius = p.c.Accent, 1, 4
	p.add(r)
	p.tooltips, p.inControl = false, true // text cut here is shown as far as possible
	for i, s := range lines {
		p.text(s, textLeft+pad, y+pad+float32(i)*f.line, textWidth-2*pad, f, p.c.Ink)
	}
}
