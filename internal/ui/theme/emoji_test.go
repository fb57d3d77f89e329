//go:build no_emoji

package theme

import (
	"testing"

	base "fyne.io/fyne/v2/theme"
)

// TestEmojiOfWindows checks that Fyne's widgets draw emoji with the same font as the cards.
func TestEmojiOfWindows(t *testing.T) {
	if f := base.DefaultEmojiFont(); f == nil || f.Name() != emoji.Name() {
		t.Error("Fyne has another font, or none")
	}
}
