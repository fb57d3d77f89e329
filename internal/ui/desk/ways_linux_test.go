package desk

import (
	"testing"
	"time"

	"wiebelt/internal/deskapi"
)

// How things are, on a page of its own and beside the instructions of a phone.
func TestWaysWindow(t *testing.T) {
	s := newScreen(t)
	now := time.Now()
	for _, tt := range []struct{ lang, theme, title string }{
		{"nl", "light", "Telefoon koppelen"}, {"en", "dark", "Connect a phone"}, {"en", "light", "Connect a phone"}, {"nl", "dark", "Telefoon koppelen"},
	} {
		t.Run(tt.lang+"-"+tt.theme, func(t *testing.T) {
			name := "ways-" + tt.lang + "-" + tt.theme
			r := startDesk(t, s, welcome(tt.lang, tt.theme, deskapi.WindowRecipes, ""))
			r.wait(deskapi.KindWays, nil)
			r.wait(deskapi.KindPainted, nil)
			m := deskapi.Ways{Ways: []deskapi.WayState{
				{Kind: "websocket", Phase: deskapi.WayListens, Port: 27471}, {Kind: "http", Phase: deskapi.WayListens, Port: 27471, Last: now.Add(-26 * time.Hour)},
				{Kind: "url", Phase: deskapi.WayListens}, {Kind: "command", Phase: deskapi.WayListens, Last: now.Add(-time.Second)},
				{Kind: "baresip", Name: "baresip", Phase: deskapi.LinkUp, Since: now, Last: now},
				{Kind: "bria", Name: "Balie", Phase: deskapi.LinkDown, Since: now},
			}}
			r.send(deskapi.KindWays, m)
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
			m.Ways[4].Phase = deskapi.LinkDown
			r.send(deskapi.KindWays, m)
			until(t, "the state as it has become", func() bool { return count(s.shot(w, name+"-lost"), trouble) > 20 })
			r.send(deskapi.KindQuit, nil)
			r.ended(0)
		})
	}
}
