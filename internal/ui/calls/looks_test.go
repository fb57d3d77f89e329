package calls

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// TestCallsPictures leaves a picture of every state of the window with
// WIEBELT_SHOTS set; nothing of ours is cut in any of them.
func TestCallsPictures(t *testing.T) {
	scenes := []struct {
		name    string
		welcome func(text.Language) deskapi.Welcome
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
		{"empty", nil, func(b *bench) { b.read(nil, nil) }},
		{"empty-demo", func(l text.Language) deskapi.Welcome { return kittest.Greeting(l, kittest.DemoCalls...) },
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
			b.state(t, deskapi.CallsState{Group: true, Manual: true, CallBack: true, Fault: l.T(text.CallsFault("read_only"), "Jan (IT), toestel 140")})
		}},
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			for _, s := range scenes {
				greeting := kittest.Greeting(l)
				if s.welcome != nil {
					greeting = s.welcome(l)
				}
				b := newBench(t, greeting)
				b.App.Settings().SetTheme(theme.New(look))
				b.Show(deskapi.WindowCalls)
				b.Welcome.Status = deskapi.Status{OK: true, Sentence: l.T(text.StatusReadyLast, "11:52", "Bria")}
				b.calls.showStatus()
				b.state(t, deskapi.CallsState{Manual: true, CallBack: true})
				kittest.Scaled(b.calls.win, fyne.NewSize(720, 640), 1)
				s.do(b)
				kittest.Uncut(t, string(l)+" "+s.name, b.calls.win)
				kittest.Shot(t, b.calls.win, "calls-"+string(l)+"-"+look+"-"+s.name)
				b.calls.win.Close()
			}
		}
	}
}
