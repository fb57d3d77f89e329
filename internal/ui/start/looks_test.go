package start

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// TestStartPictures leaves pictures of the first start and of a test call with
// WIEBELT_SHOTS set.
func TestStartPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			name := "-" + string(l) + "-" + look + "-"
			found := ready
			found.sentence = l.T(text.StartFound(""))
			b, w := openStart(t, l, began())
			b.App.Settings().SetTheme(theme.New(look))
			kittest.Scaled(w.win, fyne.NewSize(640, 696), 1)
			kittest.Shot(t, w.win, "start"+name+"none")
			w.take(began(found))
			kittest.Shot(t, w.win, "start"+name+"one")
			w.take(began(everyPhone(l)...))
			kittest.Shot(t, w.win, "start"+name+"every")
			w.open = true
			w.fillAdmins()
			kittest.Shot(t, w.win, "start"+name+"admins")
			w.win.Close()

			b.Show(deskapi.WindowTest)
			p := b.Page(deskapi.WindowTest).(*testWindow)
			kittest.Scaled(p.win, fyne.NewSize(560, 480), 1)
			kittest.Shot(t, p.win, "test"+name+"begin")
			p.panel.begin()
			kittest.Shot(t, p.win, "test"+name+"waiting")
			came(t, b, 1, deskapi.TestSeen{Kind: "command", At: kittest.Noon, Tells: deskapi.TellsEnd, Answered: true, Ended: true})
			kittest.Shot(t, p.win, "test"+name+"seen")
			p.panel.begin()
			p.panel.missed(2, everyCheck(l))
			kittest.Uncut(t, string(l), p.win)
			kittest.Shot(t, p.win, "test"+name+"nothing")
			p.win.Close()
		}
	}
}
