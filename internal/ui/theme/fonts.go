package theme

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"

	"wiebelt/assets/fonts"
)

// The bundled fonts beside Noto Sans. A Fyne resource is a key of Fyne's caches,
// so there is one value of each.
var (
	hebrew     = &fyne.StaticResource{StaticName: "NotoSansHebrew-Regular.ttf", StaticContent: fonts.Hebrew}
	hebrewBold = &fyne.StaticResource{StaticName: "NotoSansHebrew-Bold.ttf", StaticContent: fonts.HebrewBold}
	arabic     = &fyne.StaticResource{StaticName: "NotoSansArabic-Regular.ttf", StaticContent: fonts.Arabic}
	arabicBold = &fyne.StaticResource{StaticName: "NotoSansArabic-Bold.ttf", StaticContent: fonts.ArabicBold}
	emoji      = &fyne.StaticResource{StaticName: "NotoEmoji-Regular.ttf", StaticContent: fonts.Emoji}
)

// Simple reports whether r is in Noto Sans and written from left to right, as
// nearly all is: Latin, Greek and Cyrillic letters and the usual signs.
func Simple(r rune) bool {
	return r < 0x03E2 || r > 0x03EF && r < 0x0530 || r >= 0x1E00 && r < 0x2028 || r == '€'
}

// FontFor gives the bundled font that has r, and whether there is one; else it
// is Noto Sans. Named as the source of a text it comes before every font of the
// system, which serves only letters that no bundled font has.
func FontFor(r rune, bold bool) (fyne.Resource, bool) {
	list := bundled[0]
	if bold {
		list = bundled[1]
	}
	if Simple(r) {
		return list[0], true
	}
	for i, f := range list {
		if has(letters()[i], r) {
			return f, true
		}
	}
	return list[0], false
}

// Source gives the font of a text that Noto Sans has whole, nil of any other. Fyne
// reads a font that is named by itself; one that it finds through the theme only
// together with its emoji and a font of the system, which takes longer than all
// else that a window needs before it is there.
func Source(s string, style fyne.TextStyle) fyne.Resource {
	if style.Italic || style.Monospace || style.Symbol || strings.ContainsFunc(s, func(r rune) bool { return !Simple(r) }) {
		return nil
	}
	f, _ := FontFor(' ', style.Bold)
	return f
}

// bundled are the fonts in the order in which they are asked, regular and bold.
var bundled = [2][]fyne.Resource{
	{base.DefaultTextFont(), hebrew, arabic, emoji},
	{base.DefaultTextBoldFont(), hebrewBold, arabicBold, emoji},
}

// letters are what the fonts of bundled have; bold ones have what regular ones
// have.
var letters = sync.OnceValue(func() (all [][]span) {
	for _, f := range bundled[0] {
		all = append(all, spans(f.Content()))
	}
	return all
})

// span is a row of letters that a font has, both ends included.
type span struct{ from, to rune }

func has(all []span, r rune) bool {
	i, exact := slices.BinarySearchFunc(all, r, func(s span, r rune) int { return int(s.from - r) })
	return exact || i > 0 && r <= all[i-1].to
}

// spans reads the character map of a TrueType font (OpenType "cmap", formats 4
// and 12). The font is one of ours, so nothing in it is hostile.
func spans(font []byte) (all []span) {
	u16 := func(at int) int { return int(binary.BigEndian.Uint16(font[at:])) }
	u32 := func(at int) int { return int(binary.BigEndian.Uint32(font[at:])) }
	for i := range u16(4) {
		entry := 12 + 16*i
		if string(font[entry:entry+4]) != "cmap" {
			continue
		}
		table := u32(entry + 8)
		for j := range u16(table + 2) {
			sub := table + u32(table+4+8*j+4)
			switch u16(sub) {
			case 12:
				for g := range u32(sub + 12) {
					at := sub + 16 + 12*g
					all = append(all, span{rune(u32(at)), rune(u32(at + 4))})
				}
			case 4:
				n := u16(sub+6) / 2
				for s := range n {
					end, start := u16(sub+14+2*s), u16(sub+16+2*n+2*s)
					delta, at := u16(sub+16+4*n+2*s), sub+16+6*n+2*s
					off := u16(at)
					for r := start; r <= end && r != 0xFFFF; r++ {
						if off == 0 && (r+delta)&0xFFFF != 0 || off != 0 && u16(at+off+2*(r-start)) != 0 {
							all = append(all, span{rune(r), rune(r)})
						}
					}
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(int(a.from-b.from), int(b.to-a.to)) })
	joined := all[:0]
	for _, s := range all {
		if last := len(joined) - 1; last >= 0 && s.from <= joined[last].to+1 {
			joined[last].to = max(joined[last].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return slices.Clip(slices.Clone(joined))
}

// Script stands for the letters that come in one font with r.
func Script(r rune) uint32 { return uint32(language.LookupScript(r)) }

// SystemFonts finds out which fonts this machine has, and reads the one that has
// r; it reports whether there is one. The first time that takes from a moment to seconds; until it was done,
// drawing a letter that no bundled font has takes as long. What is left for the
// one who draws r is to take the font's tables apart, which no other goroutine
// can do for Fyne: 12 to 40 ms, once, for the largest ones there are (Noto Sans
// CJK, 20 MB). Safe for concurrent use.
func SystemFonts(r rune) bool {
	m := fontscan.NewFontMap(silent{})
	if err := m.UseSystemFonts(""); err != nil {
		return false // such letters stay unknown
	}
	m.SetQuery(fontscan.Query{Families: []string{fontscan.SansSerif}})
	m.SetScript(language.LookupScript(r))
	face := m.ResolveFace(r) // its file is in memory now
	if face == nil {
		return false
	}
	_, has := face.NominalGlyph(r)
	return has
}

type silent struct{}

func (silent) Printf(string, ...any) {}
