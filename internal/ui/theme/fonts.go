package theme

import (
	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"

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

// FontFor gives the bundled font that draws r: Noto Sans, or the one for its
// script. Named as the source of a text it comes before every font of the
// system, which serves only letters that no bundled font has.
func FontFor(r rune, bold bool) fyne.Resource {
	regular, heavy := base.DefaultTextFont(), base.DefaultTextBoldFont()
	switch {
	case r < 0x0590: // Latin, Greek, Cyrillic: nothing to look up
	case r <= 0x05FF, r >= 0xFB1D && r <= 0xFB4F:
		regular, heavy = hebrew, hebrewBold
	case r <= 0x06FF, r >= 0x0750 && r <= 0x077F, r >= 0x08A0 && r <= 0x08FF, r >= 0xFB50 && r <= 0xFDFF, r >= 0xFE70 && r <= 0xFEFC:
		regular, heavy = arabic, arabicBold
	case Emoji(r):
		return emoji
	}
	if bold {
		return heavy
	}
	return regular
}

// Emoji reports whether r is drawn as a small picture.
func Emoji(r rune) bool {
	switch {
	case r < 0x231A:
		return r == 0x20E3 || r == 0x203C || r == 0x2049
	case r <= 0x23FF:
		return r <= 0x231B || r == 0x2328 || r == 0x23CF || r >= 0x23E9 && r <= 0x23FA
	case r >= 0x2600 && r <= 0x27BF, r >= 0x1F000 && r <= 0x1FAFF:
		return true
	}
	return r == 0x2B50 || r == 0x2B55 || r == 0x2B1B || r == 0x2B1C || r == 0xFE0F
}
