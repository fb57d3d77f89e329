package start

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// everyPhone returns everything that the first start's window can show about phones.
func everyPhone(l text.Language) []phone {
	var all []phone
	for _, o := range []string{"", "off", "running", "other", "unread"} {
		all = append(all, phone{id: "x " + o, name: l.T(text.StartPhone("microsip")), sentence: l.T(text.StartFound(o)), connectable: o == "", recipe: "microsip"})
	}
	for _, p := range []string{"up", "trying", "down", "kicked", "refused", "incomplete", "behind"} {
		all = append(all, phone{id: "link " + p, name: l.T(text.StartPhone("linphone")), sentence: l.T(text.StartLink(p)), ok: p == "up"})
	}
	return append(all, phone{id: "ours", name: "Twinkle", sentence: l.T(text.StartOurs), ok: true, recipe: "twinkle"})
}

// everyCheck returns everything that can be shown if no call came.
func everyCheck(l text.Language) []check {
	const admin = "Jan Willem van der Meulen (IT), toestel 140"
	var all []check
	for _, p := range []string{"up", "trying", "down", "kicked"} {
		all = append(all, check{name: "baresip", sentence: l.T(text.StartCheck(p))})
	}
	for _, p := range []string{"refused", "incomplete"} {
		all = append(all, check{name: "Wazo", sentence: l.T(text.StartCheck(p), admin)})
	}
	for _, k := range []string{"websocket", "http", "url", "command"} {
		all = append(all, check{name: l.T(text.StartSource(k)), sentence: l.T(text.StartCheckBefore, "do 19 nov 16:12")})
	}
	return append(all, check{name: "Bria", sentence: l.T(text.StartCheckBria)},
		check{name: "MicroSIP", sentence: l.T(text.StartCheckOurs, "MicroSIP")},
		check{name: l.T(text.StartCheckPortName), sentence: l.T(text.StartCheckPort, 27471, admin)},
		check{name: l.T(text.StartCheckNoneName), sentence: l.T(text.StartCheckNone)})
}

// TestStartFits checks that no word of the first start and of a test call is cut, in
// either language and at every scale, in the window as it opens and at its minimum size.
func TestStartFits(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b, w := openStart(t, l, began())
		locked, unjoined := byPolicy(t, "top-left"), began()
		locked.phones = everyPhone(l)
		unjoined.join = true
		w.notJoined = l.T(text.RelayJoinUnknown)
		for name, s := range map[string]state{"none": began(), "every": began(everyPhone(l)...), "locked": locked, "join": unjoined} {
			w.setState(s)
			w.failed.Trouble("")
			if w.open = name == "locked"; w.open {
				w.failed.Trouble(l.T(text.StartFailed, "Jan Willem van der Meulen (IT), toestel 140"))
			}
			w.fillAdmins()
			uitest.Examine(t, "start-"+string(l)+"-"+name, w.win, []fyne.Size{{Width: 640, Height: 696}, {Width: w.win.Content().MinSize().Width, Height: 480}})
		}
		w.win.Close()

		b.Show(windowapi.WindowTest)
		p := b.Page(windowapi.WindowTest).(*testWindow)
		for _, scene := range []struct {
			name string
			do   func()
		}{
			{"begin", func() {}},
			{"waiting", p.panel.begin},
			{"rang", func() {
				came(t, b, 1, windowapi.TestSeen{Kind: "baresip", Name: "baresip", At: uitest.Noon, ReportLevel: windowapi.RingOnly})
			}},
			{"seen", func() {
				came(t, b, 1, windowapi.TestSeen{Kind: "command", At: uitest.Noon, ReportLevel: windowapi.RingAndEnd, Answered: true, Ended: true})
			}},
			{"nothing", func() {
				p.panel.begin()
				p.panel.showMissed(2, everyCheck(l))
			}},
		} {
			scene.do()
			uitest.Examine(t, "test-"+string(l)+"-"+scene.name, p.win, []fyne.Size{{Width: 560, Height: 480}, {Width: p.win.Content().MinSize().Width, Height: 400}})
		}
		p.win.Close()
	}
}
