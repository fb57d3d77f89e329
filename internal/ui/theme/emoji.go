//go:build no_emoji

package theme

import (
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
)

// fyneEmoji is where Fyne looks for characters missing from a text's font. The build tag
// no_emoji removes its own 4 MB font for them; ours, which the cards use, replaces it.
//
//go:linkname fyneEmoji fyne.io/fyne/v2/theme.emoji
var fyneEmoji fyne.Resource

func init() { fyneEmoji = emoji }
