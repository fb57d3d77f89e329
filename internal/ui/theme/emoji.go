//go:build no_emoji

package theme

import (
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
)

// fyneEmoji is where Fyne looks for signs that the font of a text does not have. With
// no_emoji its own font for them, of 4 MB, is left out; ours, which the cards have, takes
// its place.
//
//go:linkname fyneEmoji fyne.io/fyne/v2/theme.emoji
var fyneEmoji fyne.Resource

func init() { fyneEmoji = emoji }
