package resident

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wiebelt/internal/call"
	"wiebelt/internal/configure"
	"wiebelt/internal/guide"
	"wiebelt/internal/health"
	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// What people read of a way in is what its events say.
func TestWaysDeclareWhatTheyTell(t *testing.T) {
	d, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for kind, address := range map[string]string{"baresip": "127.0.0.1:4444", "bria": "", "linphone": "lp", "ari": "https://pbx.example", "wazo": "https://pbx.example", "3cx": "https://pbx.example"} {
		p, err := configure.Softphone(d, secret.KindFile, settings.Softphone{Kind: kind, Name: "n", Address: address, User: "u", Extension: "101"})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		way := p.Traits().Way
		if want, known := declared[kind]; way.Kind != kind || way.Tells != want || !known {
			t.Errorf("%s: its events say %q and %d, declared is %d", kind, way.Kind, way.Tells, want)
		}
	}
	// And the recipe of a link promises no more and no less.
	words := map[guide.Tells]call.Tells{guide.TellsRing: call.TellsRing, guide.TellsEnd: call.TellsRingEnd, guide.TellsAll: call.TellsAll}
	tried := 0
	for _, r := range guide.All(text.Dutch) {
		for _, b := range r.Blocks() {
			if b.Kind != guide.Settings {
				continue
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, settings.FileName), []byte(b.Text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			own, err := profile.Find(dir)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := settings.Load(own)
			for _, p := range s.Softphones {
				tried++
				if got, known := declared[p.Kind]; !known || got != words[r.Tells] {
					t.Errorf("%s: the recipe says %s, the link %d", r.ID, r.Tells, got)
				}
			}
		}
	}
	if tried < 6 {
		t.Errorf("only %d recipes of links", tried)
	}
	for kind := range declared {
		if text.Dutch.T(text.Way(kind)) == "" {
			t.Errorf("%s has no name", kind)
		}
	}
}

func TestWaysIn(t *testing.T) {
	s := settings.Defaults()
	s.Softphones = []settings.Softphone{{Kind: "wazo", Name: "centrale", Address: "https://pbx.example"}, {Kind: "baresip", Address: "127.0.0.1:4444"}}
	r := &Resident{}
	r.effective.Store(&effective{settings: s, lang: text.Dutch})
	r.facts.listens(27471)
	r.facts.link("wazo", "centrale", health.Refused)
	want := []WayIn{
		{call.KindWebSocket, "", call.TellsAll, health.Unwatched}, {call.KindHTTP, "", call.TellsRing, health.Unwatched},
		{call.KindURL, "", call.TellsRing, health.Unwatched}, {call.KindCommand, "", call.TellsRing, health.Unwatched},
		{"wazo", "centrale", call.TellsAll, health.Refused}, {"baresip", "", call.TellsAll, health.Unwatched},
	}
	if got := r.WaysIn(); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	r.facts.link("baresip", "127.0.0.1:4444", health.Up)
	r.facts.listens(-27471)
	want[0].Phase, want[1].Phase, want[5].Phase = health.Down, health.Down, health.Up
	if got := r.WaysIn(); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	s.Listener.HTTP = false
	if got := r.WaysIn(); got[1].Kind != call.KindURL {
		t.Errorf("%v", got)
	}
	s.Listener.Enabled = false
	if got := r.WaysIn(); got[0].Kind != call.KindURL || len(got) != 4 {
		t.Errorf("%v", got)
	}
}
