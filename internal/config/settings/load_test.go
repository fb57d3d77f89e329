package settings

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/testutil/must"
)

func dirs(t testing.TB, file string) profile.Dirs {
	t.Helper()
	d := must.Get(profile.Find(t.TempDir()))(t)
	if file != "" {
		must.Do(t, os.WriteFile(Path(d), []byte(file), 0o600))
	}
	return d
}

func TestNoFileIsDefaults(t *testing.T) {
	s, problems := Load(dirs(t, ""))
	if len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	if s.Hub.LookupTimeout != 5*time.Second || s.Listener.Port != 27471 || !s.Listener.HTTP || s.Card.Corner != "bottom-right" ||
		s.Phone.Region != "NL" || s.Phone.InternalDigits != 4 || s.History.Days != 7 || s.Hub.SecretStore != "os" || s.Scheme.Lookup != "ask" ||
		!slices.Equal(s.Card.Fields, CardFields) || s.Card.FullFor != time.Minute || s.Card.AfterCall != 20*time.Second {
		t.Errorf("%+v", s)
	}
	if m := s.Hub.Missing(); !slices.Equal(m, []string{"hub.base_url", "hub.client_id", "hub.organisation_code"}) {
		t.Errorf("missing: %v", m)
	}
	for _, v := range s.Values() {
		if v.Source != Default || v.Problem != "" {
			t.Errorf("%+v", v)
		}
	}
}

// TestTable: every default is allowed and reads back from its own text and from the file
// that Set writes.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Keys() {
		if seen[e.Key] {
			t.Errorf("%s stands in the table twice", e.Key)
		}
		seen[e.Key] = true
		v, c := e.read(e.def)
		if c != nil || !reflect.DeepEqual(v, e.def) {
			t.Errorf("%s: its default is not allowed: %v", e.Key, c)
		}
		if v, err := ParseText(e.Key, e.Default()); err != nil || !reflect.DeepEqual(v, e.def) {
			t.Errorf("%s: %q gives %v, %v", e.Key, e.Default(), v, err)
		}
		if e.allowed() == (&Entry{}).allowed() {
			t.Errorf("%s does not say what is allowed", e.Key)
		}
		d := dirs(t, "")
		if err := Set(d, map[string]any{e.Key: e.def}); err != nil {
			t.Errorf("%s: %v", e.Key, err)
		}
		s, problems := Load(d)
		if len(problems) > 0 || s.Source(e.Key) != User || !reflect.DeepEqual(e.get(s), e.def) {
			t.Errorf("%s: %v, %v", e.Key, problems, s.Source(e.Key))
		}
	}
}

const whole = `# our office
audit = "eventlog"

[hub]
base_url = "https://hub.example/api/" # with a slash
client_id = "wiebelt-1"
organisation_code = "4711"
lookup_timeout = "3s"
secret_expires = 2027-01-31

[phone]
internal_prefixes = [
  "*8", # pickup
  "7",
]
never_lookup = ["020 123 45 67"]

[[line]]
number = "020 765 43 21"
name = "Schade"

[[line]]
number = "020 765 43 22"

[[softphone]]
kind = "baresip"
address = "127.0.0.1:4444"
[[softphone]]
kind = "baresip"
[card]
fields = ["address"]
after_call = "0s"
hide_from_capture = false
`

func TestWholeFile(t *testing.T) {
	s, problems := Load(dirs(t, whole))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if s.Audit != "eventlog" || s.Hub.BaseURL != "https://hub.example/api" || s.Hub.LookupTimeout != 3*time.Second ||
		s.Hub.SecretExpires.Format(time.DateOnly) != "2027-01-31" || !slices.Equal(s.Phone.InternalPrefixes, []string{"*8", "7"}) ||
		s.Card.AfterCall != 0 || s.Card.HideFromCapture || !slices.Equal(s.Card.Fields, []string{"address"}) {
		t.Errorf("%+v", s)
	}
	if want := []Line{{"020 765 43 21", "Schade"}, {"020 765 43 22", ""}}; !slices.Equal(s.Lines, want) {
		t.Errorf("%+v", s.Lines)
	}
	if want := []Softphone{{Kind: "baresip", Name: "baresip", Address: "127.0.0.1:4444"}, {Kind: "baresip", Name: "baresip-2"}}; !slices.Equal(s.Softphones, want) {
		t.Errorf("%+v", s.Softphones)
	}
	if m := s.Hub.Missing(); m != nil {
		t.Errorf("missing %v", m)
	}
	if s.Source("hub.base_url") != User || s.Source("hub.hub_url") != Default || s.Source("line") != User {
		t.Error("sources")
	}
	listed := map[string]string{}
	for _, v := range s.Values() {
		listed[v.Key] = v.Value
	}
	if _, is := listed["line[2].name"]; !is {
		t.Error("a number without a name is listed without its name")
	}
	for key, want := range map[string]string{"line[1].name": "Schade", "softphone[1].kind": "baresip", "phone.internal_prefixes": "*8, 7", "card.full_for": "60s", "hub.secret_expires": "2027-01-31"} {
		if listed[key] != want {
			t.Errorf("%s is listed as %q", key, listed[key])
		}
	}
}

// TestProblems checks that a problem is identified by key and line,
// that its value is never repeated, and that the default applies.
func TestProblems(t *testing.T) {
	const canary = "geheim4711"
	for _, c := range []struct {
		file string
		key  string
		line int
		kind ProblemKind
	}{
		{"[hub]\nbase_url = 5\n", "hub.base_url", 2, WrongType},
		{"\n\n[hub]\n# x\nbase_url = \"http://hub.example/geheim4711\"\n", "hub.base_url", 5, NotAllowed},
		{"[hub]\nbase_url = \"https://user:geheim4711@hub.example\"\n", "hub.base_url", 2, NotAllowed},
		{"[hub]\nbase_url = \"https://hub.example/?x=geheim4711\"\n", "hub.base_url", 2, NotAllowed},
		{"hub.hub_url = \"javascript:geheim4711\"\n", "hub.hub_url", 1, NotAllowed},
		{"[hub]\nclient_id = \"a:geheim4711\"\n", "hub.client_id", 2, NotAllowed},
		{"[hub]\nclient_id = \"a\\u0007b\"\n", "hub.client_id", 2, NotAllowed},
		{"[hub]\norganisation_code = \"47 11\"\n", "hub.organisation_code", 2, NotAllowed},
		{"[hub]\nClient_Secret = \"geheim4711\"\n", "hub.Client_Secret", 2, UnknownKey},
		{"[hub]\nproxy = \"http://u:geheim4711@proxy:8080\"\n", "hub.proxy", 2, NotAllowed},
		{"[hub]\nintermediary = \"../x\"\n", "hub.intermediary", 2, NotAllowed},
		{"[hub]\nlookup_timeout = 5\n", "hub.lookup_timeout", 2, WrongType},
		{"[hub]\nlookup_timeout = \"5\"\n", "hub.lookup_timeout", 2, NotAllowed},
		{"[hub]\nlookup_timeout = \"-5s\"\n", "hub.lookup_timeout", 2, NotAllowed},
		{"[hub]\nlookup_timeout = \"9000h\"\n", "hub.lookup_timeout", 2, NotAllowed},
		{"[hub]\nsecret_expires = \"31-01-2027\"\n", "hub.secret_expires", 2, NotAllowed},
		{"[hub]\nsecret_expires = 5\n", "hub.secret_expires", 2, WrongType},
		{"[hub]\nextra_ca_file = \"ca.pem\"\n", "hub.extra_ca_file", 2, NotAllowed},
		{"[hub]\nbasic_auth_encoding = \"Plain\"\n", "hub.basic_auth_encoding", 2, NotAllowed},
		{"[listener]\nport = \"27471\"\n", "listener.port", 2, WrongType},
		{"[listener]\nport = 27471.5\n", "listener.port", 2, WrongType},
		{"[listener]\nport = 80\n", "listener.port", 2, NotAllowed},
		{"[listener]\nport = -1\n", "listener.port", 2, NotAllowed},
		{"[listener]\nport = 9223372036854775807\n", "listener.port", 2, NotAllowed},
		{"[listener]\nenabled = 1\n", "listener.enabled", 2, WrongType},
		{"[listener]\nenabled = \"yes\"\n", "listener.enabled", 2, WrongType},
		{"[listener]\nallowed_origins = [\"*\"]\n", "listener.allowed_origins", 2, NotAllowed},
		{"[listener]\nallowed_origins = [\"null\"]\n", "listener.allowed_origins", 2, NotAllowed},
		{"[listener]\nallowed_origins = [\"https://a.example/path\"]\n", "listener.allowed_origins", 2, NotAllowed},
		{"[listener]\nallowed_origins = \"https://a.example\"\n", "listener.allowed_origins", 2, WrongType},
		{"[listener]\nallowed_origins = [1]\n", "listener.allowed_origins", 2, WrongType},
		{"[phone]\nregion = \"Nederland\"\n", "phone.region", 2, NotAllowed},
		{"[phone]\nregion = \"QQ\"\n", "phone.region", 2, NotAllowed},
		{"[phone]\ninternal_digits = 9\n", "phone.internal_digits", 2, NotAllowed},
		{"[phone]\ninternal_prefixes = [\"x\"]\n", "phone.internal_prefixes", 2, NotAllowed},
		{"[phone]\ncall_back = \"dial\"\n", "phone.call_back", 2, NotAllowed},
		{"[phone]\ncall_back = \"dial {number} {number}\"\n", "phone.call_back", 2, NotAllowed},
		{"[phone]\ncall_back = 'dial \"{number}'\n", "phone.call_back", 2, NotAllowed},
		{"[card]\nhotkey = \"the card, please\"\n", "card.hotkey", 2, NotAllowed},
		{"[card]\nhotkey = \"Ctrl+Alt\"\n", "card.hotkey", 2, NotAllowed},
		{"[card]\nhotkey = \"W+Ctrl\"\n", "card.hotkey", 2, NotAllowed},
		{"[card]\nhotkey = \"Ctrl++\"\n", "card.hotkey", 2, NotAllowed},
		{"[phone]\nnever_lookup = [\"geheim\"]\n", "phone.never_lookup", 2, NotAllowed},
		{"[card]\nfields = [\"address\", \"address\"]\n", "card.fields", 2, NotAllowed},
		{"[card]\nfields = [\"date_of_birth\"]\n", "card.fields", 2, NotAllowed},
		{"[card]\ncorner = \"middle\"\n", "card.corner", 2, NotAllowed},
		{"[card]\nfull_for = \"1s\"\n", "card.full_for", 2, NotAllowed},
		{"[card]\ncolour = \"red\"\n", "card.colour", 2, UnknownKey},
		{"[history]\ndays = 0\n", "history.days", 2, NotAllowed},
		{"[history]\nkeep = false\n", "history.keep", 2, WrongType},
		{"[ui]\nlanguage = \"de\"\n", "ui.language", 2, NotAllowed},
		{"audit = true\n", "audit", 1, WrongType},
		{"colour = 1\n", "colour", 1, UnknownKey},
		{"\n\"col\\u006fur\" = 1\n", "colour", 2, UnknownKey},
		{"\"col\\u202eour\" = 1\n", "col?our", 1, UnknownKey},
		{strings.Repeat("k", 90) + " = 1\n", strings.Repeat("k", 80) + "…", 1, UnknownKey},
		{"  [colour]\n", "colour", 1, UnknownKey},
		{"azAZ_-09 = 1\n", "azAZ_-09", 1, UnknownKey},
		{"[phone]\ninternal_prefixes = [\n\"1\",\n]\ncall_back = \"dial\"\n", "phone.call_back", 5, NotAllowed},
		{"[support]\ncontact = '''\nJan'''\n[card]\ncorner = \"middle\"\n", "card.corner", 5, NotAllowed},
		{"[colour]\nx = 1\n", "colour", 1, UnknownKey},
		{"hub = \"https://geheim4711\"\n", "hub", 1, WrongType},
		{"[[hub]]\nbase_url = \"https://hub.example\"\n", "hub", 1, WrongType},
		{"line = \"020\"\n", "line", 1, WrongType},
		{"line = [\"020\"]\n", "line[1]", 1, WrongType},
		{"[[line]]\nnumber = 20\n", "line[1].number", 2, WrongType},
		{"[[line]]\nnumber = \"020 765 43 21\"\n[[line]]\nname = \"geheim4711\"\n", "line[2].number", 3, NotAllowed},
		{"[[line]]\nnumber = \"020 765 43 21\"\ncolour = 1\n", "line[1].colour", 3, UnknownKey},
		{"[[softphone]]\nkind = \"skype\"\n", "softphone[1].kind", 2, NotAllowed},
		{"[[softphone]]\nkind = \"ari\"\npassword = \"geheim4711\"\n", "softphone[1].password", 3, UnknownKey},
		{"[[softphone]]\nkind = \"ari\"\nname = \"a\"\n[[softphone]]\nkind = \"ari\"\nname = \"a\"\n", "softphone[2].name", 6, NotAllowed},
		{"[hub]\nbase_url = geheim4711\n", "hub.base_url", 2, BadSyntax},
		{"[hub]\nbase_url = \"https://hub.example\nclient_id = \"a\"\n", "hub.base_url", 2, BadSyntax},
		{"[hub\nbase_url = \"https://hub.example\"\n", "", 1, BadSyntax},
		{"[hub", "", 1, BadSyntax},
		{"\"", "", 1, BadSyntax},
		{"[hub]\nclient_id = \"a\"\nclient_id = \"geheim4711\"\n", "hub.client_id", 3, BadSyntax},
		{"[phone]\nnever_lookup = [\"020\"\n", "phone.never_lookup", 2, BadSyntax},
		{"[hub]\nclient_id = \"\"\"a\nb\n", "", 0, Unreadable},
		{"\xff\xfe[\x00", "", 0, Unreadable},
		{"[hub]\nclient_id = \"\xff\"\n", "", 0, Unreadable},
		{strings.Repeat("#", maxFile+1), "", 0, Unreadable},
		{"x = " + strings.Repeat("[", maxBrackets+1), "", 0, BadSyntax},
		{"x = " + strings.Repeat("a.", maxLine), "x", 1, BadSyntax},
	} {
		s, problems := Load(dirs(t, c.file))
		name := c.file[:min(len(c.file), 60)]
		if len(problems) == 0 {
			t.Errorf("%q: no problem", name)
			continue
		}
		secret := c.kind == UnknownKey && strings.Contains(c.file, canary)
		if p := problems[0]; p.Key != c.key || p.Line != c.line || p.Kind != c.kind || p.Source != User || strings.Contains(p.Expected, "wiebelt provision") != secret {
			t.Errorf("%q: %+v, want %s %d %s", name, p, c.key, c.line, c.kind)
		}
		for _, p := range problems {
			if strings.Contains(p.Error(), canary) {
				t.Errorf("%q: the value stands in %q", name, p)
			}
		}
		told := c.key == ""
		if told && !strings.HasPrefix(problems[0].Error(), FileName) {
			t.Errorf("%q: the file is not named in %q", name, problems[0])
		}
		for _, v := range s.Values() {
			told = told || v.Key == c.key && v.Problem != ""
			if strings.Contains(v.Problem, canary) {
				t.Errorf("%q: the value stands in %q", name, v.Problem)
			}
		}
		if !told {
			t.Errorf("%q: no problem of %s among the values", name, c.key)
		}
		if e := find(c.key); e != nil && c.key != "hub.client_id" && !reflect.DeepEqual(e.get(s), e.def) {
			t.Errorf("%q: the default does not hold", name)
		}
	}
}

// TestTexts checks what a key accepts, up to its limit, and in which form it is kept.
func TestTexts(t *testing.T) {
	long := func(n int) string { return strings.Repeat("1", n) }
	for _, c := range []struct{ key, text, want string }{
		{"hub.client_id", long(200), long(200)},
		{"hub.client_id", long(201), ""},
		{"hub.organisation_code", long(200), long(200)},
		{"hub.organisation_code", long(201), ""},
		{"hub.intermediary", "tussenpersoon-1", "tussenpersoon-1"},
		{"hub.intermediary", "a\u202eb", ""},
		{"hub.proxy", "http://proxy.example:8080", "http://proxy.example:8080"},
		{"relay.url", "https://relay.example/", "https://relay.example"},
		{"relay.url", "http://127.0.0.1:8080", ""},
		{"relay.url", "https://user@relay.example", ""},
		{"relay.fingerprint", strings.Repeat("AB:cd ", 16), strings.Repeat("abcd", 16)},
		{"relay.fingerprint", long(62), ""},
		{"relay.fingerprint", long(63) + "x", ""},
		{"hub.organisation_code", `4"7`, ""},
		{"hub.organisation_code", `4\7`, ""},
		{"hub.organisation_code", "4é7", ""},
		{"hub.contact_scopes", " a  b ", "a b"},
		{"hub.contact_scopes", `a b"`, ""},
		{"phone.internal_digits", "x", ""},
		{"listener.port", "x", ""},
		{"listener.port", "80", ""},
		{"listener.enabled", "maybe", ""},
		{"no.key", "x", ""},
		{"card.full_for", "60", ""},
		{"phone.call_back", "sip", "sip"},
		{"phone.call_back", "off", "off"},
		{"phone.call_back", "{number}", ""},
		{"phone.call_back", "dial\u202e {number}", ""},
		{"card.hotkey", "Ctrl+", ""},
		{"card.full_for", "60s", "60s"},
		{"card.full_for", "1m30s", "90s"},
		{"card.full_for", "120s", "2m"},
		{"card.full_for", "60m", "1h"},
		{"card.after_call", "0m", "0s"},
		{"line", "020", ""},
		{"support.contact", long(200), long(200)},
		{"support.contact", long(201), ""},
		{"support.contact", "Jan\u202e", ""},
		{"phone.region", "nl", "NL"},
		{"phone.region", "001", ""},
		{"phone.internal_prefixes", " *8, 7 ,", "*8, 7"},
		{"phone.internal_prefixes", long(20), long(20)},
		{"phone.internal_prefixes", long(21), ""},
		{"listener.allowed_origins", "https://Phone.Example:8443, chrome-extension://abc", "https://phone.example:8443, chrome-extension://abc"},
		{"listener.allowed_origins", "https://" + long(292), "https://" + long(292)},
		{"listener.allowed_origins", "https://" + long(293), ""},
		{"listener.allowed_origins", "https://user@phone.example", ""},
		{"listener.allowed_origins", "https://*.example", ""},
		{"listener.allowed_origins", "phone.example", ""},
		{"listener.allowed_origins", "https://phone.example?", ""},
		{"listener.allowed_origins", "https://phone.example#", ""},
		{"listener.allowed_origins", "https://phone.example?x=1", ""},
		{"listener.allowed_origins", "https://", ""},
		{"listener.allowed_origins", "//phone.example", ""},
		{"listener.allowed_origins", "http://[::1", ""},
		{"listener.allowed_origins", "https://phone\u202e.example", ""},
		{"phone.never_lookup", strings.Repeat("020, ", maxList-1) + "020", strings.Repeat("020, ", maxList-1) + "020"},
		{"phone.never_lookup", strings.Repeat("020, ", maxList) + "020", ""},
	} {
		v, err := ParseText(c.key, c.text)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s takes %.40q", c.key, c.text)
			}
			continue
		}
		if got := find(c.key).format(v); err != nil || got != c.want {
			t.Errorf("%s = %.40q gives %.40q, %v; want %.40q", c.key, c.text, got, err, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	for command, want := range map[string][]string{
		`phone {number}`:                               {"phone", "{number}"},
		`  phone   -d  {number}  `:                     {"phone", "-d", "{number}"},
		`"C:\Program Files\Phone\p.exe" call:{number}`: {`C:\Program Files\Phone\p.exe`, "call:{number}"},
		`phone "a b" "" {number}`:                      {"phone", "a b", "", "{number}"},
		`phone '{number}' ; rm -rf $HOME`:              {"phone", "'{number}'", ";", "rm", "-rf", "$HOME"},
		`phone`:                                        nil, `{number}`: nil, `{number} x`: nil, `phone {number} {number}`: nil, `"phone {number}`: nil, ``: nil,
		`"" {number}`: nil, `phone{number} x`: nil,
	} {
		if got := SplitCommand(command); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// TestBrokenHeader: the keys of a broken header do not end up in the table above it.
func TestBrokenHeader(t *testing.T) {
	for _, file := range []string{
		"[delivery]\nkeep_sent = 1\n[history\ndays = 3\nkeep_sent = 9\n[ui]\ntheme = \"dark\"\n",
		"[delivery]\nkeep_sent = 1\n[his tory]\nkeep_refused = 9\n[ui]\ntheme = \"dark\"\n",
	} {
		s, problems := Load(dirs(t, file))
		if len(problems) != 1 || problems[0].Line != 3 || s.Delivery.KeepSent != 1 || s.Delivery.KeepRefused != 30 || s.UI.Theme != "dark" {
			t.Errorf("%v %+v", problems, s)
		}
	}
}

// TestOneBadLine checks that a bad line spoils no other.
func TestOneBadLine(t *testing.T) {
	s, problems := Load(dirs(t, "[hub]\norganisation_code = 47 11\nclient_id = \"a\"\n[history]\ndays = 3\nkeep = \"all\"\n"))
	if s.Hub.ClientID != "a" || s.History.Days != 3 || s.History.Keep != "full" {
		t.Errorf("%+v", s)
	}
	if len(problems) != 2 || problems[0].Line != 2 || problems[1].Line != 6 {
		t.Errorf("%v", problems)
	}
	problem := map[string]string{}
	for _, v := range s.Values() {
		problem[v.Key] = v.Problem
	}
	if problem["history.keep"] == "" || problem["hub.organisation_code"] == "" || problem["hub.client_id"] != "" {
		t.Errorf("%v", problem)
	}
}

func TestEditorsMarks(t *testing.T) {
	s, problems := Load(dirs(t, "\ufeff[history]\r\ndays = 3\r\n"))
	if len(problems) > 0 || s.History.Days != 3 {
		t.Errorf("%v", problems)
	}
}

// TestNoFileAtAll checks that anything but a regular file is reported and never waited for.
func TestNoFileAtAll(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"folder":       func(path string) error { return os.Mkdir(path, 0o700) },
		"link nowhere": linkNowhere,
		"pipe":         pipe,
	} {
		d := dirs(t, "")
		must.Do(t, plant(Path(d)))
		if _, problems := Load(d); len(problems) != 1 || problems[0].Kind != Unreadable {
			t.Errorf("%s: %v", name, problems)
		}
		if err := Set(d, map[string]any{"history.days": 3}); err == nil {
			t.Errorf("%s: written over", name)
		}
	}
}

// TestReload: a user's file that cannot be read, or is being replaced, changes nothing; at the
// start the strictest values apply. One that is gone, or readable again, counts.
func TestReload(t *testing.T) {
	const good = "[history]\nkeep = \"off\"\ndays = 90\n[[line]]\nnumber = \"0201234567\"\n"
	for name, spoil := range map[string]func(path string) error{
		"UTF-16":   func(path string) error { return os.WriteFile(path, []byte("[\x00h\x00"), 0o600) },
		"too long": func(path string) error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) },
		"folder":   func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"unclosed": func(path string) error { return os.WriteFile(path, []byte("[hub]\nclient_id = \"\"\"a\nb\n"), 0o600) },
		"empty":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"missing":  os.Remove,
	} {
		d := dirs(t, good)
		before, _ := Load(d)
		must.Do(t, spoil(Path(d)))
		replaced := name == "missing" || name == "empty"
		s, absent := before.Reload(d, false)
		for range 2 {
			if s.History != before.History || len(s.Lines) != 1 || s.Unsure("history.keep") || s.Unreadable() == replaced || absent != replaced {
				t.Errorf("%s: %+v, problems %v, absent: %v", name, s.History, s.Problems(), absent)
			}
			s, absent = s.Reload(d, false)
		}
		s, absent = s.Reload(d, true)
		if (s.History == before.History) == replaced || absent {
			t.Errorf("%s for good: %+v", name, s.History)
		}
		if s, _ := Load(d); (s.History == History{"off", 1, false}) == replaced || s.Unsure("history.keep") == replaced {
			t.Errorf("%s at the start: %+v", name, s.History)
		}
		withPolicy(t, "[history]\nkeep = \"numbers\"\n", nil)
		if s, _ := Load(d); s.History.Keep != "numbers" || s.Unsure("history.keep") {
			t.Errorf("%s: the policy does not count", name)
		}
		withPolicy(t, "", nil)
		must.Do(t, os.RemoveAll(Path(d)))
		must.Do(t, os.WriteFile(Path(d), []byte("[history]\ndays = 30\n"), 0o600))
		if s, _ = s.Reload(d, false); s.History.Days != 30 || len(s.Lines) != 0 {
			t.Errorf("%s: mended: %+v", name, s.History)
		}
	}
	for name, err := range map[string]error{"missing": fs.ErrNotExist, "empty": nil} {
		d := dirs(t, "")
		withPolicy(t, "[history]\ndays = 90\n", nil)
		before, _ := Load(d)
		withPolicy(t, "", err)
		if s, absent := before.Reload(d, false); s.History.Days != 90 || !absent {
			t.Errorf("a policy that is %s for a moment: %+v", name, s.History)
		}
		if s, absent := before.Reload(d, true); s.History.Days != 7 || absent {
			t.Errorf("a policy that is %s: %+v", name, s.History)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(whole)
	f.Add("[hub]\nbase_url = \"\"\"\nx\"\"\"\"\n")
	f.Add("a.\"b\\\"c\".'d' = {x=[1,{}]}\n[[line]]\n")
	f.Fuzz(func(t *testing.T, file string) {
		l := layer{source: User}
		if len(file) > 10_000 {
			return
		}
		l.parse(file)
		s := Defaults()
		s.apply(l)
		_ = s.Values()
		for i := range table { // every value in force is allowed
			if _, c := table[i].read(table[i].get(s)); c != nil {
				t.Fatalf("%s: %v", table[i].Key, c)
			}
		}
	})
}
