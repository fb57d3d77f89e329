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
			found.Sentence = l.T(text.StartFound(""))
			b, w := openStart(t, l, began(l))
			b.App.Settings().SetTheme(theme.New(look))
			kittest.Scaled(w.win, fyne.NewSize(640, 696), 1)
			kittest.Shot(t, w.win, "start"+name+"none")
			b.Tell(t, deskapi.KindStartState, began(l, found))
			kittest.Shot(t, w.win, "start"+name+"one")
			b.Tell(t, deskapi.KindStartState, began(l, everyPhone(l)...))
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
			b.Tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "command", At: kittest.Noon, Tells: deskapi.TellsEnd, Answered: true, Ended: true})
			kittest.Shot(t, p.win, "test"+name+"seen")
			p.panel.begin()
			b.Tell(t, "test.nothing", deskapi.TestNothing{Seq: 2, Checks: everyCheck(l)})
			kittest.Uncut(t, string(l), p.win)
			kittest.Shot(t, p.win, "test"+name+"nothing")
			p.win.Close()
		}
	}
}
