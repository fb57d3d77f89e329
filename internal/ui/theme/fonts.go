package theme

import (
	"bytes"
	"io"
	"log"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"

	"wiebelt/assets/fonts"
)

// The bundled fonts besides Noto Sans. A Fyne resource is a key in Fyne's caches, so
// there is one value of each.
var (
	hebrew     = &fyne.StaticResource{StaticName: "NotoSansHebrew-Regular.ttf", StaticContent: fonts.Hebrew}
	hebrewBold = &fyne.StaticResource{StaticName: "NotoSansHebrew-Bold.ttf", StaticContent: fonts.HebrewBold}
	arabic     = &fyne.StaticResource{StaticName: "NotoSansArabic-Regular.ttf", StaticContent: fonts.Arabic}
	arabicBold = &fyne.StaticResource{StaticName: "NotoSansArabic-Bold.ttf", StaticContent: fonts.ArabicBold}
	emoji      = &fyne.StaticResource{StaticName: "NotoEmoji-Regular.ttf", StaticContent: fonts.Emoji}
)

// Simple reports whether r is in Noto Sans and left-to-right, as almost everything is:
// Latin, Greek and Cyrillic letters and the usual symbols.
func Simple(r rune) bool {
	return r < 0x03E2 || r > 0x03EF && r < 0x0530 || r >= 0x1E00 && r < 0x2028 || r == '€'
}

// FontFor returns the bundled font that has r, and whether there is one; otherwise Noto
// Sans. As a text's font source it takes precedence over all system fonts, which then serve
// only letters that no bundled font has.
func FontFor(r rune, bold bool) (fyne.Resource, bool) {
	list := bundled[0]
	if bold {
		list = bundled[1]
	}
	if Simple(r) {
		return list[0], true
	}
	for i, f := range list {
		if _, ok := characters()[i].Lookup(r); ok {
			return f, true
		}
	}
	return list[0], false
}

// FontSource returns the font of a text that Noto Sans covers completely, otherwise nil. Fyne
// loads an explicit font alone; one found through the theme is loaded together with emoji
// and a system font, which takes longer than everything else a window needs to appear.
func FontSource(s string, style fyne.TextStyle) fyne.Resource {
	if style.Italic || style.Monospace || style.Symbol || strings.ContainsFunc(s, func(r rune) bool { return !Simple(r) }) {
		return nil
	}
	f, _ := FontFor(' ', style.Bold)
	return f
}

// bundled are the fonts in search order, regular and bold.
var bundled = [2][]fyne.Resource{
	{base.DefaultTextFont(), hebrew, arabic, emoji},
	{base.DefaultTextBoldFont(), hebrewBold, arabicBold, emoji},
}

// characters are the characters of the bundled fonts; bold fonts have the same as regular
// ones. They are read only when a card needs one of them.
var characters = sync.OnceValue(func() (all []font.Cmap) {
	for _, f := range bundled[0] {
		all = append(all, charactersOf(f))
	}
	return all
})

// charactersOf reads the character map of a bundled font.
func charactersOf(f fyne.Resource) font.Cmap {
	check := func(err error) {
		if err != nil {
			panic("the bundled font " + f.Name() + " cannot be read: " + err.Error())
		}
	}
	file, err := opentype.NewLoader(bytes.NewReader(f.Content()))
	check(err)
	raw, err := file.RawTable(opentype.MustNewTag("cmap"))
	check(err)
	table, _, err := tables.ParseCmap(raw)
	check(err)
	cmap, _, err := font.ProcessCmap(table, tables.FPNone)
	check(err)
	return cmap
}

// Script identifies the letters that share a font with r.
func Script(r rune) uint32 { return uint32(language.LookupScript(r)) }

// LoadSystemFont finds this machine's fonts, reads the one that has r, and reports whether
// there is one. The first call takes from a moment to seconds; before that, drawing a
// letter that no bundled font has takes as long. What remains for drawing r is parsing
// the font's tables, which no other goroutine can do for Fyne: 12 to 40 ms, once, for the
// largest fonts (Noto Sans CJK, 20 MB). Safe for concurrent use.
func LoadSystemFont(r rune) bool {
	m := fontscan.NewFontMap(log.New(io.Discard, "", 0))
	if err := m.UseSystemFonts(""); err != nil {
		return false // such letters stay unknown
	}
	m.SetQuery(fontscan.Query{Families: []string{fontscan.SansSerif}})
	m.SetScript(language.LookupScript(r))
	face := m.ResolveFace(r) // loads its file into memory
	if face == nil {
		return false
	}
	_, has := face.NominalGlyph(r)
	return has
}
