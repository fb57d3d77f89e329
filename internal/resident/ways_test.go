package resident

import (
	"fmt"
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/activity"
	"wiebelt/internal/text"
)

// TestWaysNow: what is set up, in its order, and how it is doing.
func TestSourcesNow(t *testing.T) {
	s := settings.Defaults()
	s.Softphones = []settings.Softphone{{Kind: "wazo", Name: "centrale", Address: "https://pbx.example"}, {Kind: "baresip", Address: "127.0.0.1:4444"}}
	r := &Resident{heard: activity.New()}
	r.effective.Store(&effective{settings: s, lang: text.Dutch})
	want := func(want string) {
		t.Helper()
		got := ""
		for _, w := range r.sourcesNow().Sources {
			got += fmt.Sprintf("%s %s %s %d\n", w.Kind, w.Name, w.Phase, w.Port)
		}
		if got != want {
			t.Errorf("%swant\n%s", got, want)
		}
	}
	r.facts.listens(27471)
	r.facts.link("wazo", "centrale", health.Refused)
	want("websocket  listens 27471\nhttp  listens 27471\nurl  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip   0\n")
	r.facts.link("baresip", "127.0.0.1:4444", health.Up)
	r.facts.listens(-27471)
	want("websocket  taken 27471\nhttp  taken 27471\nurl  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip  up 0\n")
	r.facts.keyless(true)
	r.facts.listens(0)
	s.Listener.HTTP = false
	want("websocket  keyless 27471\nurl  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip  up 0\n")
	s.Listener.Enabled = false
	want("url  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip  up 0\n")
}
