package resident

import (
	"slices"
	"testing"

	"wiebelt/internal/call"
	"wiebelt/internal/health"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

func TestWaysIn(t *testing.T) {
	s := settings.Defaults()
	s.Softphones = []settings.Softphone{{Kind: "wazo", Name: "centrale", Address: "https://pbx.example"}, {Kind: "baresip", Address: "127.0.0.1:4444"}}
	r := &Resident{}
	r.effective.Store(&effective{settings: s, lang: text.Dutch})
	r.facts.listens(27471)
	r.facts.link("wazo", "centrale", health.Refused)
	want := []WayIn{
		{call.KindWebSocket, "", health.Unwatched}, {call.KindHTTP, "", health.Unwatched},
		{call.KindURL, "", health.Unwatched}, {call.KindCommand, "", health.Unwatched},
		{"wazo", "centrale", health.Refused}, {"baresip", "", health.Unwatched},
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
