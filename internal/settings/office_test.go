package settings

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/profile"
)

// TestLocked: the policy locks what it sets, and with one key of the hub all that
// an administrator sets there.
func TestLocked(t *testing.T) {
	withPolicy(t, "[hub]\nproxy = \"none\"\n[card]\ncorner = \"top-left\"\nprivacy = \"initials\"\n", nil)
	s, _ := Load(profile.Dirs{Config: t.TempDir()})
	for key, want := range map[string]bool{"hub.proxy": true, "hub.base_url": true, "hub.client_id": true, "card.corner": true, "card.privacy": true,
		"card.hide_from_capture": true, "card.hotkey": false, "ui.theme": false, "listener.port": false, "audit": false} {
		if s.Locked(key) != want {
			t.Errorf("%s: locked is %v", key, s.Locked(key))
		}
	}
	if s := Defaults(); s.Locked("hub.base_url") {
		t.Error("locked without a policy")
	}
}

func TestWho(t *testing.T) {
	who := map[string]Who{}
	for _, e := range Keys() {
		who[e.Key] = e.Who
	}
	for _, a := range Arrays() {
		for _, e := range a.Fields {
			who[e.Key] = e.Who
		}
	}
	for key, want := range map[string]Who{"hub.base_url": Admin, "softphone.kind": Admin, "audit": Admin, "card.corner": AnyUser, "ui.language": AnyUser, "calls.group": AnyUser} {
		if who[key] != want {
			t.Errorf("%s is set by %q", key, who[key])
		}
	}
	for _, k := range adminKeys { // a key that was renamed would be everybody's
		if !slices.ContainsFunc(slices.Collect(keysOf(who)), func(s string) bool { return strings.HasPrefix(s, k) }) {
			t.Errorf("no key begins with %s", k)
		}
	}
}

func keysOf(m map[string]Who) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestArrays: the fields that are listed are those that are read and written.
func TestArrays(t *testing.T) {
	got := map[string][]string{}
	for _, a := range Arrays() {
		for _, f := range a.Fields {
			got[a.Name] = append(got[a.Name], f.Name())
		}
	}
	if !slices.Equal(got["line"], lineKeys) || !slices.Equal(got["softphone"], softphoneKeys) || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestCompose: what is written as text is read back, and secrets or nonsense are
// never composed.
func TestCompose(t *testing.T) {
	whole, problems := Parse(whole)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	values := map[string]any{"line": whole.Get("line"), "softphone": whole.Get("softphone")}
	for _, e := range Keys() {
		if whole.Source(e.Key) != Default {
			values[e.Key] = whole.Get(e.Key)
		}
	}
	text, err := Compose(values)
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Parse(text)
	if len(problems) > 0 || len(again.Lines) != 2 || len(again.Softphones) != 2 || again.Hub != whole.Hub || !slices.Equal(again.Phone.InternalPrefixes, whole.Phone.InternalPrefixes) {
		t.Errorf("%v\n%s", problems, text)
	}
	for _, bad := range []map[string]any{{"hub.client_secret": "x"}, {"hub.base_url": "ftp://x"}, {"nonsense": 1}} {
		if _, err := Compose(bad); err == nil {
			t.Errorf("%v was composed", bad)
		}
	}
	if again.Get("nonsense") != nil {
		t.Error("a key that there is not has a value")
	}
}

// TestParseRefuses what is no settings file at all.
func TestParseRefuses(t *testing.T) {
	for name, src := range map[string]string{"zero": "a\x00", "not UTF-8": "\xff", "10 MB": strings.Repeat("#", 10<<20)} {
		if _, problems := Parse(src); len(problems) != 1 || problems[0].Kind != Unreadable {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// TestCheckWritesNothing, whatever it says.
func TestCheckWritesNothing(t *testing.T) {
	d := dirs(t, "")
	if err := Check(d, map[string]any{"history.days": 3}); err != nil {
		t.Error(err)
	}
	if err := Check(d, map[string]any{"history.days": 3000}); err == nil {
		t.Error("a wrong value passes")
	}
	if _, err := os.Stat(Path(d)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written")
	}
	d = dirs(t, "[hub\n")
	if err := Check(d, map[string]any{"history.days": 3}); err == nil {
		t.Error("a file that is no TOML passes")
	}
}
