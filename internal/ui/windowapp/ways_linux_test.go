package windowapp

import (
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
)

// How things are, on a page of its own and beside the instructions of a phone.
func TestSourcesWindow(t *testing.T) {
	s := newScreen(t)
	now := time.Now()
	for _, tt := range []struct{ lang, theme, title string }{
		{"nl", "light", "Telefoon koppelen"}, {"en", "dark", "Connect a phone"}, {"en", "light", "Connect a phone"}, {"nl", "dark", "Telefoon koppelen"},
	} {
		t.Run(tt.lang+"-"+tt.theme, func(t *testing.T) {
			name := "ways-" + tt.lang + "-" + tt.theme
			r := startDesk(t, s, welcome(tt.lang, tt.theme, windowapi.WindowRecipes, ""))
			r.wait(windowapi.KindSources, nil)
			r.wait(windowapi.KindPainted, nil)
			m := windowapi.Sources{Sources: []windowapi.SourceState{
				{Kind: "websocket", Phase: windowapi.SourceListens, Port: 27471}, {Kind: "http", Phase: windowapi.SourceListens, Port: 27471, Last: now.Add(-26 * time.Hour)},
				{Kind: "url", Phase: windowapi.SourceListens}, {Kind: "command", Phase: windowapi.SourceListens, Last: now.Add(-time.Second)},
				{Kind: "baresip", Name: "baresip", Phase: windowapi.LinkUp, Since: now, Last: now},
				{Kind: "bria", Name: "Balie", Phase: windowapi.LinkDown, Since: now},
			}}
			r.send(windowapi.KindSources, m)
			w := s.window(tt.title)
			taken, trouble := uint32(0x1B7F4B), uint32(0x9A5B00)
			if tt.theme == "dark" {
				taken, trouble = 0x5CC28D, 0xE2A74A
			}
			s.click(w, 80, 58)
			until(t, "a link that is up and one that is down", func() bool {
				img := s.shot(w, name)
				return count(img, taken) > 20 && count(img, trouble) > 20
			})
			s.click(w, 80, 322) // baresip
			until(t, "its state beside its instructions", func() bool {
				img := s.shot(w, name+"-phone")
				return count(img, taken) > 20 && count(img, trouble) == 0
			})
			m.Sources[4].Phase = windowapi.LinkDown
			r.send(windowapi.KindSources, m)
			until(t, "the state as it has become", func() bool { return count(s.shot(w, name+"-lost"), trouble) > 20 })
			r.send(windowapi.KindQuit, nil)
			r.ended(0)
		})
	}
}
