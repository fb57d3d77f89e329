package settings

import (
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
)

// TestLocked checks that the policy locks the keys it sets, and the whole
// hub group if it sets the hub's address, whatever the user's own file says.
func TestLocked(t *testing.T) {
	dirs := profile.Dirs{Config: t.TempDir()}
	mine := "[hub]\nproxy = \"http://127.0.0.1:1\"\nextra_ca_file = \"/tmp/mine.pem\"\ncontact_scopes = \"all\"\nintermediary = \"mine\"\nclient_id = \"mine\"\n[history]\ndays = 30\n"
	must.Do(t, os.WriteFile(Path(dirs), []byte(mine), 0o600))
	withPolicy(t, "[hub]\nbase_url = \"https://hub.example\"\nclient_id = \"office\"\n[card]\ncorner = \"top-left\"\n[[line]]\nnumber = \"0201234567\"\n", nil)
	s, problems := Load(dirs)
	want := Defaults().Hub
	want.BaseURL, want.ClientID = "https://hub.example", "office"
	if s.Hub != want || s.Source("hub.proxy") != Default || s.History.Days != 30 || len(problems) != 0 {
		t.Errorf("%+v %v", s.Hub, problems)
	}
	const file = "/policy/" + PolicyFile
	for key, want := range map[string]string{"hub.proxy": file, "hub.base_url": file, "hub.client_id": file, "card.corner": file, "line": file,
		"card.hotkey": "", "ui.theme": "", "history.days": "", "audit": "", "softphone": ""} {
		if s.Locked(key) != (want != "") || s.LockedBy(key) != want {
			t.Errorf("%s: locked is %v, by %q", key, s.Locked(key), s.LockedBy(key))
		}
	}
	changes := map[string]any{"hub.base_url": "https://hub.example", "hub.proxy": "none", "hub.intermediary": nil, "card.corner": "top-right", "history.days": 3}
	if left := s.RemoveLocked(changes); !slices.Equal(left, []string{"card.corner", "hub.proxy"}) || len(changes) != 1 {
		t.Errorf("left %v, to change %v", left, changes)
	}
	withPolicy(t, "[hub]\nproxy = \"none\"\n", nil)
	if s, _ := Load(dirs); s.Hub.Proxy != "none" || s.Hub.ClientID != "mine" || s.Locked("hub.client_id") || !s.Locked("hub.proxy") {
		t.Errorf("one key of the hub locks another: %+v", s.Hub)
	}
}

// TestPrivacyFailsClosed checks that a policy with an unreadable value for how
// much is shown or kept sets the strictest value, which a user cannot loosen.
func TestPrivacyFailsClosed(t *testing.T) {
	dirs := profile.Dirs{Config: t.TempDir()}
	must.Do(t, os.WriteFile(Path(dirs), []byte("[history]\nkeep = \"full\"\n"), 0o600))
	strict := 0
	for _, e := range table {
		if e.strict == nil {
			continue
		}
		strict++
		group, name, in := strings.Cut(e.Key, ".")
		text := "[" + group + "]\n" + name + " = [[1]]\n"
		if !in {
			text = group + " = [[1]]\n"
		}
		withPolicy(t, text, nil)
		s, problems := Load(dirs)
		if !reflect.DeepEqual(s.Get(e.Key), e.strict) || len(problems) != 1 || problems[0].Source != Policy ||
			!problems[0].StrictestApplies || !s.Locked(e.Key) {
			t.Errorf("%s: %v, %v", e.Key, s.Get(e.Key), problems)
		}
		if v, c := e.read(e.strict); c != nil || !reflect.DeepEqual(v, e.strict) {
			t.Errorf("%s: its strictest value is none", e.Key)
		}
	}
	if strict < 8 {
		t.Errorf("only %d keys have a strictest value", strict)
	}
	for text, want := range map[string]History{
		"[history]\nkeep = \"nummers\"\n":             {"off", 7, true},
		"[history]\nkeep = numbers\n":                 {"off", 7, true},
		"history = \"numbers\"\n":                     {"off", 1, false},
		"[history\nkeep = \"numbers\"\n":              {"off", 1, false},
		"[history]\nkeep = \"numbers\"\nwhat is this": {"numbers", 1, false},
		"[hub]\nbase_url = nonsense\n":                {"full", 7, true},
	} {
		withPolicy(t, text, nil)
		if s, _ := Load(dirs); s.History != want {
			t.Errorf("%q: %+v", text, s.History)
		}
	}
	withPolicy(t, "", fs.ErrPermission)
	if s, _ := Load(dirs); s.History.Keep != "off" {
		t.Error("a policy that cannot be read lets everything be kept")
	}
	withPolicy(t, "", &filetrust.Error{Path: "/policy/" + PolicyFile, Fault: filetrust.FaultWrite})
	if s, _ := Load(dirs); s.History.Keep != "full" {
		t.Error("somebody else's policy counts")
	}
}

// TestExtensionOf: an extension is one for everybody,
// derived from the user's name, or taken from a table.
func TestExtensionOf(t *testing.T) {
	for _, c := range [][3]string{{"101", "jan", "101"}, {"${user}", `OFFICE\jan`, "jan"}, {"1${user}", "02", "102"},
		{"jan=101, Piet = 102", "jan", "101"}, {"jan=101, Piet = 102", `OFFICE\piet`, "102"}, {"jan=101", "kees", ""}, {"", "jan", ""}} {
		if got := (Softphone{Extension: c[0]}).ExtensionOf(c[1]); got != c[2] {
			t.Errorf("%s for %s: %q", c[0], c[1], got)
		}
	}
	for extension, ok := range map[string]bool{"101": true, "${user}": true, "jan=101, piet=102": true, "${usr}": false, "jan=101, 102": false, "jan=": false, "=101": false} {
		s, problems := Parse("[[softphone]]\nkind = \"ari\"\nextension = \"" + extension + "\"\n")
		if (len(problems) == 0) != ok || len(s.Softphones) == 1 != ok {
			t.Errorf("%s: %v", extension, problems)
		}
	}
}

// TestAddressCarriesNobody checks that no address contains a
// user name or password, and that a refused one is not repeated.
func TestAddressCarriesNobody(t *testing.T) {
	for _, address := range []string{"https://piet:Geheim9@pbx.example", "piet:Geheim9@pbx.example:5038", "https://piet@pbx.example"} {
		s, problems := Parse("[[softphone]]\nkind = \"ari\"\naddress = \"" + address + "\"\n")
		if len(s.Softphones) != 0 || len(problems) != 1 || problems[0].Key != "softphone[1].address" || strings.Contains(problems[0].Error(), "Geheim") {
			t.Errorf("%s: %v", address, problems)
		}
		if err := Check(profile.Dirs{Config: t.TempDir()}, map[string]any{"softphone": []Softphone{{Kind: "ari", Address: address}}}); err == nil {
			t.Errorf("%s is written", address)
		}
	}
	for address, want := range map[string]string{"https://piet:Geheim9@pbx.example:8089/ari?x=1#y": "https://pbx.example:8089", "127.0.0.1:4444": "127.0.0.1:4444", "pbx/x@y": "pbx", "": ""} {
		if got := ServerPart(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func TestWho(t *testing.T) {
	who := map[string]Audience{}
	for _, e := range AllEntries() {
		who[e.Key] = e.Audience
	}
	for key, want := range map[string]Audience{"hub.base_url": Admin, "softphone.kind": Admin, "audit": Admin, "card.corner": AnyUser, "ui.language": AnyUser, "calls.group": AnyUser} {
		if who[key] != want {
			t.Errorf("%s is set by %q", key, who[key])
		}
	}
	for _, k := range adminKeys { // a renamed key would be open to everybody
		if !slices.ContainsFunc(AllEntries(), func(e Entry) bool { return strings.HasPrefix(e.Key, k) }) {
			t.Errorf("no key begins with %s", k)
		}
	}
}

// TestCompose: composed text reads back unchanged, and secrets or nonsense
// are never composed.
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
	text := must.Get(Compose(values))(t)
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
