// Package fonts embeds the characters that Fyne's own font, Noto Sans, lacks: Hebrew,
// Arabic and monochrome emoji. All are Noto fonts under the SIL Open Font License; the
// licences are beside them.
package fonts

import _ "embed"

// The fonts, each a complete TrueType file. They must not be modified.
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
