//go:build no_emoji

package theme

import (
	"testing"

	base "fyne.io/fyne/v2/theme"
)

// TestEmojiOfWindows: Fyne's widgets draw signs with the font that the cards have.
func TestEmojiOfWindows(t *testing.T) {
	if f := base.DefaultEmojiFont(); f == nil || f.Name() != emoji.Name() {
		t.Error("Fyne has another font, or none")
	}
}
