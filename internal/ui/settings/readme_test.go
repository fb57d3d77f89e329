package settings

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// TestReadmeShot checks that the README's picture shows the settings window as it is.
func TestReadmeShot(t *testing.T) {
	w := opened(openOn(t, text.English, "light", officeSettings))
	uitest.Scaled(w.win, fyne.NewSize(720, 592), 2)
	shottest.UpToDate(t, "../settings", "en", w.win.Canvas().Capture())
}
