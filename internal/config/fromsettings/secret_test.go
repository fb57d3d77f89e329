package fromsettings

import (
	"context"
	"errors"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
)

// shut is a store that returns no secrets.
type shut struct{ secret.Store }

func (shut) Get(context.Context, secret.Ref) (string, error) { return "", secret.ErrLocked }

// TestLinksSayWhy checks that an exchange whose secret is missing
// or locked reports that, and not that the exchange is absent.
func TestLinksSayWhy(t *testing.T) {
	d := must.Get(profile.Find(t.TempDir()))(t)
	for _, kind := range []string{"ari", "wazo", "3cx", "broadworks", "xelion", "yeastar-socket"} {
		s := settings.Softphone{Kind: kind, Name: "centrale", Address: "https://127.0.0.1:1", User: "u", Extension: "101"}
		p := must.Get(Softphone(d, secret.KindFile, s))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := link.RunOnce(ctx, link.Config{}, p)
		cancel()
		if got := link.CauseOf(err); got != link.CauseNoSecret {
			t.Errorf("%s without a secret: %q (%v)", kind, got, err)
		}
	}
	_, err := linkSecret(shut{}, secret.Ref{})(t.Context())
	var refusal *link.Refusal
	if !errors.As(err, &refusal) || link.CauseOf(err) != link.CauseStore {
		t.Errorf("a locked store: %v", err)
	}
}
