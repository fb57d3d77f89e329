package resident

import (
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/link"
)

// TestLinksOfASort: what a link says of itself, as the tray shows it, and what one
// lacks that cannot even be tried.
func TestLinksOfASort(t *testing.T) {
	for st, want := range map[link.State]health.Phase{
		{Phase: link.Refused, Cause: link.CauseNoSecret}: health.Incomplete,
		{Phase: link.Refused, Cause: link.CauseStore}:    health.Down,
		{Phase: link.Refused, Cause: link.CauseDenied}:   health.Refused,
		{Phase: link.Connected}:                          health.Up,
	} {
		if got := phaseOf(st); got != want {
			t.Errorf("%+v: phase %d, want %d", st, got, want)
		}
	}
	for want, s := range map[link.Cause]settings.Softphone{
		link.CauseNeeds("extension"): {Kind: "ari", Address: "https://pbx.example", User: "u"},
		link.CauseNeeds("address"):   {Kind: "wazo", Extension: "101", User: "u"},
		link.CauseNeeds("user"):      {Kind: "3cx", Address: "https://pbx.example", Extension: "101"},
		link.CauseSettings:           {Kind: "ari", Address: "http://pbx.example", Extension: "101", User: "u"},
	} {
		if got := lacks(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestFactsKeepWhy: what is known of a link's trouble goes with the link.
func TestFactsKeepWhy(t *testing.T) {
	var f facts
	f.link("ari", "centrale", health.Refused)
	if !f.because("centrale", link.CauseDenied) || f.because("centrale", link.CauseDenied) || f.why("centrale") != "denied" {
		t.Error("the cause is not kept, or told as news twice")
	}
	f.link("ari", "centrale", health.Down)
	for cause, admin := range map[link.Cause]bool{link.CauseNobody: false, link.CauseFault: false, link.CauseExpired: true} {
		f.because("centrale", cause)
		if sources := f.of(&engine.Snapshot{}).Sources; len(sources) != 1 || sources[0].Admin != admin {
			t.Errorf("%s: %+v", cause, sources)
		}
	}
	f.unlink("centrale")
	if f.why("centrale") != "" {
		t.Error("the cause outlives the link")
	}
}
