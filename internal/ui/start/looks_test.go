package start

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
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
			uitest.Scaled(w.win, fyne.NewSize(640, 696), 1)
			uitest.Shot(t, w.win, "start"+name+"none")
			unjoined := began()
			unjoined.join = true
			w.take(unjoined)
			uitest.Shot(t, w.win, "start"+name+"join")
			w.code.SetText("7F3K-9QXM-2LHD-VT8W")
			w.notJoined = l.T(text.RelayJoinCode)
			w.fillJoin()
			uitest.Scaled(w.win, fyne.NewSize(640, 696), 2)
			uitest.Shot(t, w.win, "start"+name+"join-not")
			uitest.Scaled(w.win, fyne.NewSize(640, 696), 1)
			w.take(began(found))
			uitest.Shot(t, w.win, "start"+name+"one")
			w.take(began(everyPhone(l)...))
			uitest.Shot(t, w.win, "start"+name+"every")
			w.open = true
			w.fillAdmins()
			uitest.Shot(t, w.win, "start"+name+"admins")
			w.win.Close()

			b.Show(windowapi.WindowTest)
			p := b.Page(windowapi.WindowTest).(*testWindow)
			uitest.Scaled(p.win, fyne.NewSize(560, 480), 1)
			uitest.Shot(t, p.win, "test"+name+"begin")
			p.panel.begin()
			uitest.Shot(t, p.win, "test"+name+"waiting")
			came(t, b, 1, windowapi.TestSeen{Kind: "command", At: uitest.Noon, Reports: windowapi.RingAndEnd, Answered: true, Ended: true})
			uitest.Shot(t, p.win, "test"+name+"seen")
			p.panel.begin()
			p.panel.missed(2, everyCheck(l))
			uitest.Uncut(t, string(l), p.win)
			uitest.Shot(t, p.win, "test"+name+"nothing")
			p.win.Close()
		}
	}
}
