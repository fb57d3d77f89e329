// Package fonts embeds the letters that Fyne's own font, Noto Sans, lacks:
// Hebrew, Arabic and monochrome emoji. All are Noto fonts under the SIL Open
// Font License; the licences lie beside them.
package fonts

import _ "embed"

// The fonts, each a whole TrueType file. Not to be changed.
var (
	//go:embed NotoSansHebrew-Regular.ttf
	Hebrew []byte
	//go:embed NotoSansHebrew-Bold.ttf
	HebrewBold []byte
	//go:embed NotoSansArabic-Regular.ttf
	Arabic []byte
	//go:embed NotoSansArabic-Bold.ttf
	ArabicBold []byte
	//go:embed NotoEmoji-Regular.ttf
	Emoji []byte
)
