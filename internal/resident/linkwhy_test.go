package resident

import (
	"context"
	"errors"
	"testing"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/health"
	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/link"
)

// shut is a store that gives nothing out.
type shut struct{ secret.Store }

func (shut) Get(context.Context, secret.Ref) (string, error) { return "", secret.ErrLocked }

// TestLinksSayWhy: an exchange whose secret is missing or locked away says so,
// and not that the exchange is not there; so does a link that lacks a setting.
func TestLinksSayWhy(t *testing.T) {
	d, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"ari", "wazo", "3cx"} {
		s := settings.Softphone{Kind: kind, Name: "centrale", Address: "https://127.0.0.1:1", User: "u", Extension: "101"}
		p, err := Softphone(d, secret.KindFile, s)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err = link.Once(ctx, link.Config{}, p)
		cancel()
		if got := link.CauseOf(err); got != link.CauseNoSecret {
			t.Errorf("%s without a secret: %q (%v)", kind, got, err)
		}
	}
	_, err = linkSecret(shut{}, secret.Ref{})(t.Context())
	var refusal *link.Refusal
	if !errors.As(err, &refusal) || link.CauseOf(err) != link.CauseStore {
		t.Errorf("a locked store: %v", err)
	}
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
		if ways := f.of(&companion.Snapshot{}).Ways; len(ways) != 1 || ways[0].Admin != admin {
			t.Errorf("%s: %+v", cause, ways)
		}
	}
	f.unlink("centrale")
	if f.why("centrale") != "" {
		t.Error("the cause outlives the link")
	}
}
