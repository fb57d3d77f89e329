package calls

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
)

// TestCallsPictures leaves a picture of every state of the window with
// WIEBELT_SHOTS set; nothing of ours is cut in any of them.
func TestCallsPictures(t *testing.T) {
	named := customer() // by the phone system only
	named.ID, named.Name, named.ContactID, named.RelationNumber, named.Link, named.Matches, named.Outcome = 5, "P. Jansen", "", "", "", 0, history.OutcomeNobody
	scenes := []struct {
		name    string
		welcome func(text.Language) windowapi.Welcome
		do      func(*bench)
	}{
		{"day", nil, func(b *bench) { b.read(aDay(), nil) }},
		{"hover", nil, func(b *bench) {
			b.read(aDay(), nil)
			views(b)[2].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(300, 20)}})
		}},
		{"chosen", nil, func(b *bench) {
			b.read(aDay(), nil)
			b.calls.win.Canvas().Focus(b.calls.list)
			b.calls.pick(1)
		}},
		{"work", nil, func(b *bench) {
			b.read(workDay(), nil)
			b.calls.tick(views(b)[5].row)
			b.calls.remove(views(b)[3].row)
			views(b)[6].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(590, 20)}})
		}},
		{"missed", nil, func(b *bench) {
			b.calls.show(history.ViewMissed)
			b.read(workDay(), nil)
		}},
		{"people", nil, func(b *bench) {
			several := named
			several.ID, several.Name, several.Matches, several.Outcome = 7, "", 3, history.OutcomeSeveral
			denied := customer()
			denied.ID, denied.ContactID, denied.RelationNumber, denied.Link, denied.TakenOff = 6, "", "", "", true
			b.read([]history.Entry{several, denied, named}, nil)
			b.calls.lookAgain(views(b)[7].row)
			b.on.got = callactions.Looked{More: 1, Contacts: []windowapi.Contact{
				{ID: "b", Earlier: true, Name: "B. Bakker", Relation: "200201", Address: "Dorpsstraat 1, 1234 AB Ons Dorp", Link: "x"},
				{ID: "a", Name: "A. Aarts", Relation: "200202", Address: "Kerkstraat 9, 1234 AB Ons Dorp", Link: "x"}}}
			b.Tell(t, windowapi.KindLookup, windowapi.Found{Seq: 1, Entry: 7})
			b.calls.win.Canvas().Focus(b.calls.list)
			b.calls.choose(1)
		}},
		{"menu", nil, func(b *bench) {
			b.read(aDay(), nil)
			test.Tap(uitest.ButtonOf(b.calls.win, b.Lang.T(text.CallsMenu)))
		}},
		{"empty", nil, func(b *bench) { b.read(nil, nil) }},
		{"empty-demo", func(l text.Language) windowapi.Welcome { return uitest.Greeting(l, uitest.DemoCalls...) },
			func(b *bench) { b.read(nil, nil) }},
		{"unreadable", nil, func(b *bench) { b.read(nil, errors.New("disk")) }},
		{"wipe", nil, func(b *bench) {
			b.read(aDay(), nil)
			b.calls.askWipe()
		}},
		{"nothing", nil, func(b *bench) {
			b.read(aDay(), nil)
			b.calls.filter.SetText("zzz")
		}},
		{"no-missed", nil, func(b *bench) {
			b.read(aDay(), nil)
			b.calls.show(history.ViewMissed)
			b.took(answer{wish: b.wanted(), exact: true})
		}},
		{"fault", nil, func(b *bench) {
			b.read(aDay(), nil)
			l := b.Lang
			b.state(callactions.State{Group: true, Manual: true, CallBack: true})
			b.say(t, l.T(text.CallsFault("read_only"), "Jan (IT), toestel 140"), "")
		}},
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			for _, s := range scenes {
				greeting := uitest.Greeting(l)
				if s.welcome != nil {
					greeting = s.welcome(l)
				}
				b := newBench(t, greeting)
				b.App.Settings().SetTheme(theme.New(look))
				b.Show(windowapi.WindowCalls)
				b.Welcome.Status = windowapi.Status{OK: true, Sentence: l.T(text.StatusReadyLast, "11:52", "Bria")}
				b.calls.showStatus()
				b.state(callactions.State{Manual: true, CallBack: true})
				uitest.Scaled(b.calls.win, fyne.NewSize(720, 640), 1)
				s.do(b)
				uitest.Uncut(t, string(l)+" "+s.name, b.calls.win, rowOf(l, named, uitest.Noon).detail)
				uitest.Shot(t, b.calls.win, "calls-"+string(l)+"-"+look+"-"+s.name)
				b.calls.win.Close()
			}
		}
	}
}
