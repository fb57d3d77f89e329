package trial

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wanted is a trial of a hub that takes its credentials.
func wanted(t *testing.T) Trial {
	t.Helper()
	h, err := localhub.Start(context.Background(), localhub.Config{Synthetic: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	value, err := h.AddClient(t.Context(), "office", "1234")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := settings.Defaults()
	s.Hub.BaseURL, s.Hub.HubURL, s.Hub.ClientID, s.Hub.OrganisationCode, s.Hub.SecretStore = h.BaseURL(), h.HubURL(), "office", "1234", secret.KindFile
	return Trial{Dirs: dirs, Settings: s, Hub: s.Hub, Secret: value, Number: "0612345678"}
}

// TestRun: every step is told of twice, in order, until one fails; an office that
// delivers nothing passes without being able to.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Trial)
		want   string
		err    error
		ok     bool
	}{
		"all of it":          {func(*Trial) {}, "name ok tls off token ok scopes ok lookup ok", nil, true},
		"without a number":   {func(x *Trial) { x.Number = " " }, "name ok tls off token ok scopes ok lookup off", nil, true},
		"an internal number": {func(x *Trial) { x.Number = "101" }, "name ok tls off token ok scopes ok lookup failed", ErrNumber, false},
		"another secret":     {func(x *Trial) { x.Secret = "no" }, "name ok tls off token failed", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := wanted(t)
			c.change(&x)
			var told []string
			running := ""
			var failed error
			_, ok := x.Run(t.Context(), func(s Step) {
				if s.State == StateRunning {
					running = s.Name
					return
				}
				if s.Name != running {
					t.Errorf("%s ends, %s ran", s.Name, running)
				}
				told, failed = append(told, s.Name, s.State), s.Err
			})
			if got := strings.Join(told, " "); got != c.want || ok != c.ok {
				t.Errorf("%s, %v; want %s", got, ok, c.want)
			}
			if c.err != nil && !errors.Is(failed, c.err) || !c.ok && c.err == nil && contact.FailureOf(failed) != contact.CredentialsRefused {
				t.Errorf("failed for: %v", failed)
			}
		})
	}
}

// TestSecretWorks: by what the hub says of it, and nothing is kept.
func TestSecretWorks(t *testing.T) {
	x := wanted(t)
	if !SecretWorks(t.Context(), x.Dirs, x.Hub, x.Secret) || SecretWorks(t.Context(), x.Dirs, x.Hub, "no") {
		t.Error("not what the hub says")
	}
}

// TestTakeSetup: the secret and the settings are put in place, or neither: what
// was kept before comes back where the settings cannot be written.
func TestTakeSetup(t *testing.T) {
	x := wanted(t)
	store, err := secret.Open(secret.KindFile, x.Dirs)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := secret.Hub(x.Hub.BaseURL, x.Hub.ClientID)
	if err != nil {
		t.Fatal(err)
	}
	kept := func() string {
		v, err := store.Get(t.Context(), ref)
		if err != nil && !errors.Is(err, secret.ErrNotSet) {
			t.Fatal(err)
		}
		return v
	}
	take := func(value string, changes map[string]any) error {
		return TakeSetup(t.Context(), x.Dirs, store, x.Hub, value, changes)
	}
	changes := map[string]any{"hub.base_url": x.Hub.BaseURL}
	if err := take("first", map[string]any{"hub.base_url": "ftp://nonsense"}); err == nil || kept() != "" {
		t.Errorf("wrong settings: %v, kept %v", err, kept() != "")
	}
	if err := take("first", changes); err != nil || kept() != "first" {
		t.Fatalf("%v", err)
	}
	if s, _ := settings.Load(x.Dirs); s.Hub.BaseURL != x.Hub.BaseURL {
		t.Error("the settings were not written")
	}
	refusing := &full{Store: store}
	var kind *StoreError
	if err := TakeSetup(t.Context(), x.Dirs, refusing, x.Hub, "second", changes); !errors.As(err, &kind) || kept() != "first" {
		t.Errorf("a store that is full: %v, kept %s", err, kept())
	}
	spoiling := &spoiled{Store: store, path: settings.Path(x.Dirs)}
	if err := TakeSetup(t.Context(), x.Dirs, spoiling, x.Hub, "second", changes); err == nil || spoiling.taken != "second" || kept() != "first" {
		t.Errorf("settings that cannot be written: %v, kept %s", err, kept())
	}
}

// spoiled is a store after which the settings cannot be written.
type spoiled struct {
	secret.Store
	path  string
	taken string // the first secret
}

func (s *spoiled) Set(ctx context.Context, ref secret.Ref, value string) error {
	if s.taken == "" {
		s.taken = value
		if err := errors.Join(os.Remove(s.path), os.Mkdir(s.path, 0o700)); err != nil {
			return err
		}
	}
	return s.Store.Set(ctx, ref, value)
}

// full is a store that takes nothing more.
type full struct{ secret.Store }

var errFull = errors.New("no room")

func (*full) Set(context.Context, secret.Ref, string) error { return errFull }
