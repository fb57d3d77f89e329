package hubtrial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// wanted returns a trial of a hub that accepts its credentials.
func wanted(t *testing.T) Trial {
	t.Helper()
	h := must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 20}))(t)
	t.Cleanup(func() { _ = h.Close() })
	value := must.Get(h.AddClient(t.Context(), "office", "1234"))(t)
	dirs := must.Get(profile.Find(t.TempDir()))(t)
	s := settings.Defaults()
	s.Hub.BaseURL, s.Hub.HubURL, s.Hub.ClientID, s.Hub.OrganisationCode, s.Hub.SecretStore = h.BaseURL(), h.HubURL(), "office", "1234", secret.KindFile
	return Trial{Dirs: dirs, Settings: s, Hub: s.Hub, Secret: value, Number: "0612345678"}
}

// TestSecretWorks judges a secret by the hub's answer and keeps nothing.
func TestSecretWorks(t *testing.T) {
	x := wanted(t)
	if !SecretWorks(t.Context(), x.Dirs, x.Hub, x.Secret) || SecretWorks(t.Context(), x.Dirs, x.Hub, "no") {
		t.Error("not what the hub says")
	}
}

// TestSave checks that secrets and settings are saved all or nothing:
// the previous secrets are restored if the settings cannot be written.
func TestSave(t *testing.T) {
	x := wanted(t)
	write(t, x.Dirs, "# by hand\n[hub]\nsecret_store = \"file\"\n")
	store := secret.Open(secret.KindFile, x.Dirs)
	hub, _ := secret.HubRef(x.Hub.BaseURL, "office")
	link, _ := secret.SoftphoneRef("ari", "centrale", "https://pbx.example")
	kept := func() string {
		var all []string
		for _, ref := range []secret.Ref{hub, link} {
			old, next, err := secret.Pair(t.Context(), store, ref)
			if err != nil && !errors.Is(err, secret.ErrNotSet) {
				t.Fatal(err)
			}
			all = append(all, old+"/"+next)
		}
		return strings.Join(all, " ")
	}
	file := func() string { b, _ := os.ReadFile(settings.Path(x.Dirs)); return string(b) }
	save := func(s secret.Store, w SaveRequest) (bool, error) {
		t.Helper()
		before, _ := settings.Load(x.Dirs)
		w.Open = func(kind string) (secret.Store, error) {
			if kind != secret.KindFile {
				t.Errorf("store %q", kind)
			}
			return s, nil
		}
		return Save(t.Context(), x.Dirs, before, w)
	}
	changes := map[string]any{"hub.base_url": x.Hub.BaseURL, "hub.client_id": "office",
		"softphone": []settings.Softphone{{Kind: "ari", Name: "centrale", Address: "https://pbx.example", Extension: "101", User: "w"}}}

	before := file()
	if _, err := save(store, SaveRequest{Secret: "one"}); !errors.Is(err, ErrNoAddress) || kept() != "/ /" {
		t.Errorf("a secret of nobody: %v, %s", err, kept())
	}
	var wrong settings.Problem
	if _, err := save(store, SaveRequest{Changes: map[string]any{"hub.base_url": "ftp://nonsense"}, Secret: "one"}); !errors.As(err, &wrong) || kept() != "/ /" || file() != before {
		t.Errorf("wrong settings: %v, %s", err, kept())
	}
	if waiting, err := save(store, SaveRequest{Changes: changes, Secret: "one", LinkSecrets: map[string]string{"centrale": "two", "nobody": "x"}}); err != nil || waiting || kept() != "one/ two/" {
		t.Fatalf("%v, %s", err, kept())
	}
	if s := file(); !strings.Contains(s, "# by hand") || !strings.Contains(s, "pbx.example") || secret.StoredDate(x.Dirs, hub).IsZero() {
		t.Error(s)
	}
	// A secret that cannot be read now is not removed when the rest fails.
	if _, err := save(unread{store, new(bool)}, SaveRequest{Changes: map[string]any{"ui.theme": "light"}, LinkSecrets: map[string]string{"centrale": "new"}}); err == nil || kept() != "one/ two/" {
		t.Errorf("unread: %v, %s", err, kept())
	}
	if waiting, err := save(store, SaveRequest{Secret: "three"}); err != nil || !waiting || kept() != "one/three two/" {
		t.Errorf("a further one waits: %v, %s", err, kept())
	}
	if waiting, err := save(store, SaveRequest{Secret: "four", SecretVerified: true}); err != nil || waiting || kept() != "four/ two/" {
		t.Errorf("one that has worked: %v, %s", err, kept())
	}
	for _, c := range []struct {
		w    SaveRequest
		want string
	}{{SaveRequest{Secret: "wrong"}, "four/wrong two/"}, {SaveRequest{Secret: "four", SecretVerified: true}, "four/ two/"}, {SaveRequest{Secret: "five"}, "four/five two/"}} {
		if _, err := save(store, c.w); err != nil || kept() != c.want {
			t.Fatalf("%v, %s, want %s", err, kept(), c.want)
		}
	}

	before = file()
	all := SaveRequest{Changes: map[string]any{"card.corner": "top-left"}, Secret: "six", LinkSecrets: map[string]string{"centrale": "seven"}}
	var refused *StoreError
	if _, err := save(&full{Store: store}, all); !errors.As(err, &refused) || kept() != "four/five two/" || file() != before {
		t.Errorf("a store that is full: %v, %s", err, kept())
	}
	for _, works := range []bool{true, false} {
		all.SecretVerified = works
		now, _ := settings.Load(x.Dirs)
		all.Open = func(string) (secret.Store, error) { // everything has succeeded so far
			return store, errors.Join(os.Remove(settings.Path(x.Dirs)), os.Mkdir(settings.Path(x.Dirs), 0o700))
		}
		if _, err := Save(t.Context(), x.Dirs, now, all); err == nil || kept() != "four/five two/" {
			t.Errorf("settings that cannot be written: %v, %s", err, kept())
		}
		must.Do(t, os.Remove(settings.Path(x.Dirs)))
		write(t, x.Dirs, before)
	}
	if s := fmt.Sprintf("%v %+v %#v", all, all, all); strings.Contains(s, "seven") || strings.Contains(s, "six") {
		t.Error("printed: " + s)
	}
}

// TestAfter checks that a secret goes to no other hub and into no other store
// than the policy's, and that a policy that sets the hub sets the store too.
func TestAfter(t *testing.T) {
	path := filepath.Join(t.TempDir(), settings.PolicyFile)
	for _, c := range []struct {
		policy, key, value string
		want               text.Key
	}{
		{"", "hub.base_url", "https://b.example", text.SetupPolicy},
		{"", "hub.secret_store", "machine", text.AdminLocked},
		{"secret_store = \"machine\"\n", "hub.secret_store", "machine", ""},
		{"", "hub.secret_store", "os", ""},
	} {
		must.Do(t, os.WriteFile(path, []byte("[hub]\nbase_url = \"https://a.example\"\n"+c.policy), 0o600))
		before, _ := settings.CheckPolicy(path)
		_, _, err := ResultingHub(before, map[string]any{c.key: c.value})
		if said, _ := errors.AsType[*text.Error](err); (err != nil) != (c.want != "") || said != nil && said.Key != c.want {
			t.Errorf("%s, %s = %s: %v", c.policy, c.key, c.value, err)
		}
	}
}

func write(t *testing.T, d profile.Dirs, src string) {
	t.Helper()
	must.Do(t, errors.Join(d.Make(), os.WriteFile(settings.Path(d), []byte(src), 0o600)))
}

// full is a store without room for more.
type full struct{ secret.Store }

var errFull = errors.New("no room")

func (*full) Set(context.Context, secret.Ref, string) error { return errFull }

// unread is a store whose first Get and every Set fail.
type unread struct {
	secret.Store
	read *bool
}

func (u unread) Get(ctx context.Context, ref secret.Ref) (string, error) {
	if !*u.read {
		*u.read = true
		return "", errors.New("not now")
	}
	return u.Store.Get(ctx, ref)
}

func (unread) Set(context.Context, secret.Ref, string) error { return errors.New("not now") }
