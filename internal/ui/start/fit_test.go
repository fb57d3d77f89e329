package start

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
)

// everyPhone is all that the first start's window can say of phones.
func everyPhone(l text.Language) []deskapi.StartPhone {
	var all []deskapi.StartPhone
	for _, o := range []string{"", "off", "running", "other", "unread"} {
		all = append(all, deskapi.StartPhone{ID: "x " + o, Name: l.T(text.StartPhone("microsip")), Sentence: l.T(text.StartFound(o)), Can: o == "", Recipe: "microsip"})
	}
	for _, p := range []string{"up", "trying", "down", "kicked", "refused", "incomplete"} {
		all = append(all, deskapi.StartPhone{ID: "link " + p, Name: l.T(text.StartPhone("linphone")), Sentence: l.T(text.StartLink(p)), OK: p == "up"})
	}
	return append(all, deskapi.StartPhone{ID: "ours", Name: "Twinkle", Sentence: l.T(text.StartOurs), OK: true, Recipe: "twinkle"})
}

// everyCheck is all that can be said when no call came.
func everyCheck(l text.Language) []deskapi.TestCheck {
	const admin = "Jan Willem van der Meulen (IT), toestel 140"
	var all []deskapi.TestCheck
	for _, p := range []string{"up", "trying", "down", "kicked"} {
		all = append(all, deskapi.TestCheck{Name: "baresip", Sentence: l.T(text.StartCheck(p))})
	}
	for _, p := range []string{"refused", "incomplete"} {
		all = append(all, deskapi.TestCheck{Name: "Wazo", Sentence: l.T(text.StartCheck(p), admin)})
	}
	for _, k := range []string{"websocket", "http", "url", "command"} {
		all = append(all, deskapi.TestCheck{Name: l.T(text.StartWay(k)), Sentence: l.T(text.StartCheckBefore, "do 19 nov 16:12")})
	}
	return append(all, deskapi.TestCheck{Name: "Bria", Sentence: l.T(text.StartCheckBria)},
		deskapi.TestCheck{Name: "MicroSIP", Sentence: l.T(text.StartCheckOurs, "MicroSIP")},
		deskapi.TestCheck{Name: l.T(text.StartCheckPortName), Sentence: l.T(text.StartCheckPort, 27471, admin)},
		deskapi.TestCheck{Name: l.T(text.StartCheckNoneName), Sentence: l.T(text.StartCheckNone)})
}

// No word of the first start and of a test call is cut, in either
// language and at every scale, in the window as it opens and in the smallest.
func TestStartFits(t *testing.T) {
	measured := 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scale := range kittest.Scales {
			b, w := openStart(t, l, began(l, everyPhone(l)...))
			state := began(l, everyPhone(l)...)
			state.CornerLocked, state.LanguageLocked, state.Failed = true, true, l.T(text.StartFailed, "Jan Willem van der Meulen (IT), toestel 140")
			for _, s := range []deskapi.StartState{began(l, everyPhone(l)...), began(l), state} {
				b.Tell(t, deskapi.KindStartState, s)
				w.open = s.CornerLocked
				w.fillAdmins()
				for _, size := range []fyne.Size{fyne.NewSize(640, 696), fyne.NewSize(w.win.Content().MinSize().Width, 480)} {
					kittest.Scaled(w.win, size, scale)
					kittest.Uncut(t, string(l), w.win)
					measured++
				}
				if scale == 1 {
					kittest.Fits(t, string(l), w.win)
				}
			}
			w.win.Close()

			b.Show(deskapi.WindowTest)
			p := b.Page(deskapi.WindowTest).(*testWindow)
			p.panel.begin()
			for _, say := range []func(){
				func() {},
				func() {
					b.Tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "baresip", Name: "baresip", At: kittest.Noon, Tells: deskapi.TellsRing})
				},
				func() {
					b.Tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "command", At: kittest.Noon, Tells: deskapi.TellsEnd, Answered: true, Ended: true})
				},
				func() {
					p.panel.begin()
					b.Tell(t, "test.nothing", deskapi.TestNothing{Seq: 2, Checks: everyCheck(l)})
				},
			} {
				say()
				for _, size := range []fyne.Size{fyne.NewSize(560, 480), fyne.NewSize(p.win.Content().MinSize().Width, 400)} {
					kittest.Scaled(p.win, size, scale)
					kittest.Uncut(t, string(l), p.win)
					measured++
				}
				if scale == 1 {
					kittest.Fits(t, string(l), p.win)
				}
			}
			p.win.Close()
		}
	}
	t.Logf("%d windows measured", measured)
}
