package settings

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

func read(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

// TestSetKeepsTheRest compares whole files.
func TestSetKeepsTheRest(t *testing.T) {
	const header = "# Wiebelt. The command \"wiebelt settings\" lists every key and its value.\n"
	for _, c := range []struct {
		name, before string
		changes      map[string]any
		after        string
	}{
		{"new file", "", map[string]any{"hub.base_url": "https://hub.example/", "history.days": 3},
			header + "\n[history]\ndays = 3\n\n[hub]\nbase_url = \"https://hub.example\"\n"},
		{"in place, with its comment", "# a\n[history]\n  days  =  7   # a week\nkeep = \"off\"\n", map[string]any{"history.days": 30},
			"# a\n[history]\n  days  =  30   # a week\nkeep = \"off\"\n"},
		{"behind its group", "[history]\ndays = 7\n\n# colours\n[ui]\ntheme = \"dark\"\n", map[string]any{"history.keep": "off"},
			"[history]\ndays = 7\nkeep = \"off\"\n\n# colours\n[ui]\ntheme = \"dark\"\n"},
		{"into an empty group", "[history]\n[ui]\n", map[string]any{"history.days": 1}, "[history]\ndays = 1\n[ui]\n"},
		{"no line end at the end", "[ui]\ntheme = \"dark\"", map[string]any{"history.days": 1}, "[ui]\ntheme = \"dark\"\n\n[history]\ndays = 1\n"},
		{"dotted keys", "history.days = 7\nui.theme = \"dark\"\n", map[string]any{"history.keep": "off"}, "history.days = 7\nhistory.keep = \"off\"\nui.theme = \"dark\"\n"},
		{"without a group", "# ours\n[ui]\ntheme = \"dark\"\n", map[string]any{"audit": "eventlog"}, "audit = \"eventlog\"\n# ours\n[ui]\ntheme = \"dark\"\n"},
		{"Windows line ends", "[ui]\r\ntheme = \"dark\"\r\n", map[string]any{"ui.theme": "light", "ui.language": "nl"},
			"[ui]\r\ntheme = \"light\"\r\nlanguage = \"nl\"\r\n"},
		{"byte order mark", "\ufeff[ui]\ntheme = \"dark\"\n", map[string]any{"ui.theme": "light"}, "\ufeff[ui]\ntheme = \"light\"\n"},
		{"over several lines", "[phone]\nnever_lookup = [\n  \"020 1\", # a\n  \"020 2\"]\nregion = \"NL\"\n", map[string]any{"phone.never_lookup": []string{"0612345678"}},
			"[phone]\nnever_lookup = [\"0612345678\"]\nregion = \"NL\"\n"},
		{"an escaped quote", "[support]\ncontact = \"a\\\" # b\" # c\n", map[string]any{"support.contact": "Jan"},
			"[support]\ncontact = \"Jan\" # c\n"},
		{"taken out", "[history]\ndays = 7 # a week\nkeep = \"off\"\n", map[string]any{"history.days": nil}, "[history]\nkeep = \"off\"\n"},
		{"taken out where it was not", "[ui]\n", map[string]any{"history.days": nil}, "[ui]\n"},
		{"the same again", "[history]\ndays   = 7\n", map[string]any{"history.days": 7}, "[history]\ndays   = 7\n"},
		{"unknown keys stay", "[new]\nx = 1\n[history]\ncolour = 2\n", map[string]any{"history.days": 7}, "[new]\nx = 1\n[history]\ncolour = 2\ndays = 7\n"},
		{"wrong value mended", "[history]\ndays = \"x\"\n", map[string]any{"history.days": 7}, "[history]\ndays = 7\n"},
		{"text that looks like more", "[support]\ncontact = \"\"\"\n[history]\ndays = 3\n\"\"\"\n", map[string]any{"history.days": 7},
			"[support]\ncontact = \"\"\"\n[history]\ndays = 3\n\"\"\"\n\n[history]\ndays = 7\n"},
		{"quotes and paths", "", map[string]any{"support.contact": "Jan \"IT\", #140", "phone.call_back": `C:\Dial\dial.exe {number}`},
			header + "\n[phone]\ncall_back = 'C:\\Dial\\dial.exe {number}'\n\n[support]\ncontact = \"Jan \\\"IT\\\", #140\"\n"},
		{"lines replaced", "[ui]\ntheme = \"dark\"\n\n# ours\n[[line]]\nnumber = \"020 1\" # x\n\n[[line]]\nnumber = \"020 2\"\n\n[history]\ndays = 7\n",
			map[string]any{"line": []Line{{"020 3", "Schade"}, {"020 4", ""}}},
			"[ui]\ntheme = \"dark\"\n\n# ours\n[[line]]\nnumber = \"020 3\"\nname = \"Schade\"\n\n[[line]]\nnumber = \"020 4\"\n\n\n[history]\ndays = 7\n"},
		{"a line more", "[[softphone]]\nkind = \"new\"\n[[line]]\nnumber = \"020 1\"\n", map[string]any{"line": another},
			"[[softphone]]\nkind = \"new\"\n[[line]]\nnumber = \"020 1\"\n\n[[line]]\nnumber = \"020 9\"\n"},
		{"lines taken out", "[[line]]\nnumber = \"020 1\"\n[ui]\n", map[string]any{"line": nil}, "[ui]\n"},
		{"links", "line = [{number = \"020 1\"}]\n", map[string]any{"softphone": []Softphone{{Kind: "baresip"}, {Kind: "baresip"}}, "line": []Line{}},
			"\n[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\n\n[[softphone]]\nkind = \"baresip\"\nname = \"baresip-2\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dirs(t, c.before)
			must.Do(t, Set(d, c.changes))
			if got := read(t, Path(d)); got != c.after {
				t.Errorf("got  %q\nwant %q", got, c.after)
			}
		})
	}
}

func another(now []Line) []Line { return append(now, Line{"020 9", ""}) }

// TestSetRefuses checks that a refused Set leaves the file as it was.
func TestSetRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file string
		changes    map[string]any
		kind       ProblemKind // "" for ErrNotEditable
	}{
		{"unknown key", "[ui]\n", map[string]any{"hub.client_secret": "x"}, UnknownKey},
		{"unknown key out", "[ui]\n", map[string]any{"hub.x": nil}, UnknownKey},
		{"bad value", "[ui]\n", map[string]any{"listener.port": 80}, NotAllowed},
		{"wrong type", "[ui]\n", map[string]any{"listener.port": "27471"}, WrongType},
		{"one of two bad", "[ui]\n", map[string]any{"history.days": 3, "hub.base_url": "http://hub.example"}, NotAllowed},
		{"bad line", "[ui]\n", map[string]any{"line": []Line{{"", "x"}}}, NotAllowed},
		{"two links with one name", "[ui]\n", map[string]any{"softphone": []Softphone{{Kind: "ari", Name: "a"}, {Kind: "ari", Name: "a"}}}, NotAllowed},
		{"file is no TOML", "[ui\n", map[string]any{"history.days": 3}, BadSyntax},
		{"file is no text", "[ui]\n# \xff\n", map[string]any{"history.days": 3}, Unreadable},
		{"file is too big", "[ui]\n" + strings.Repeat("#", maxFile), map[string]any{"history.days": 3}, Unreadable},
		{"inline table", "history = {days = 7}\n", map[string]any{"history.keep": "off"}, ""},
		{"inside an inline table", "history = {days = 7}\n", map[string]any{"history.days": 3}, ""},
		{"no table", "history = 5\n", map[string]any{"history.days": 3}, ""},
		{"an array", "[[history]]\ndays = 7\n", map[string]any{"history.days": 3}, ""},
		{"a wrong line among others", "[[line]]\nnumber = \"020 1\"\n[[line]]\nnumber = 202\n", map[string]any{"line": another}, ""},
		{"more than a line has", "[[line]]\nnumber = \"020 1\"\nsince = \"2020\"\n", map[string]any{"line": another}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dirs(t, c.file)
			err := Set(d, c.changes)
			var e Problem
			switch {
			case c.kind == "" && !errors.Is(err, ErrNotEditable):
				t.Errorf("%v", err)
			case c.kind != "" && (!errors.As(err, &e) || e.Kind != c.kind):
				t.Errorf("%v", err)
			}
			if got := read(t, Path(d)); got != c.file {
				t.Errorf("the file is now %q", got)
			}
		})
	}
}

func TestSetReadsBack(t *testing.T) {
	d := dirs(t, whole)
	when := time.Date(2028, 2, 29, 0, 0, 0, 0, time.Local)
	must.Do(t, Set(d, map[string]any{"hub.secret_expires": when, "hub.lookup_timeout": 1500 * time.Millisecond, "card.fields": []string{}, "hub.client_id": "p@ss+/=%é"}))
	s, problems := Load(d)
	if len(problems) > 0 || !s.Hub.SecretExpires.Equal(when) || s.Hub.LookupTimeout != 1500*time.Millisecond || s.Card.Fields == nil || len(s.Card.Fields) != 0 || s.Hub.ClientID != "p@ss+/=%é" {
		t.Errorf("%v %+v", problems, s)
	}
	if !strings.HasPrefix(read(t, Path(d)), "# our office\n") {
		t.Error("the comment is gone")
	}
}

func TestWith(t *testing.T) {
	s, _ := Parse("[hub]\nclient_id = \"old\"\nproxy = \"none\"\n[[line]]\nnumber = \"0201234567\"\n")
	next := must.Get(s.With(map[string]any{"hub.client_id": "new", "hub.proxy": nil, "card.fields": []string{"address"}, "line": []Line{}}))(t)
	if next.Hub.ClientID != "new" || next.Hub.Proxy != "system" || next.Source("hub.proxy") != Default || next.Source("hub.client_id") != User ||
		len(next.Lines) != 0 || !reflect.DeepEqual(next.Card.Fields, []string{"address"}) {
		t.Errorf("%+v", next)
	}
	if s.Hub.ClientID != "old" || s.Hub.Proxy != "none" || s.Source("hub.proxy") != User || len(s.Lines) != 1 || len(s.Card.Fields) != len(CardFields) {
		t.Errorf("the old ones have changed: %+v", s)
	}
	for key, v := range map[string]any{"hub.base_url": "http://hub.example", "nonsense": 1, "history.days": "7"} {
		if _, err := s.With(map[string]any{key: v}); err == nil {
			t.Errorf("%s = %v was taken", key, v)
		}
	}
}

// FuzzSet: whatever the file, changing one key changes nothing else, and the only failure
// is a refusal.
func FuzzSet(f *testing.F) {
	f.Add(whole, "Jan")
	f.Add("support.contact = \"a\"", "\\")
	f.Add("[support]\ncontact = '''\n''' # x\n", "\"")
	f.Fuzz(func(t *testing.T, file, contact string) {
		if len(file) > 10_000 {
			return
		}
		wanted, err := normaliseValues(map[string]any{"support.contact": contact, "line": []Line{{"020 1", ""}}, "audit": "off"})
		if err != nil {
			return
		}
		out, err := edit(file, wanted)
		if err != nil {
			return
		}
		again, err := edit(out, wanted)
		if err != nil {
			t.Fatalf("a second time: %v\n%q", err, out)
		}
		l := layer{source: User}
		l.parse(out)
		s := Defaults()
		s.apply(l)
		if s.Audit != "off" || len(s.Lines) != 1 || s.Support.Contact != strings.TrimSpace(contact) {
			t.Fatalf("%q\n%q", out, again)
		}
	})
}

// TestTouch checks that a running Wiebelt is told to reload, with
// and without settings, and that the settings stay as they were.
func TestTouch(t *testing.T) {
	d := dirs(t, "")
	for _, was := range []string{"", "[hub]\nclient_id = \"wiebelt-1\"\n"} {
		if was != "" {
			must.Do(t, os.WriteFile(Path(d), []byte(was), 0o600))
			must.Do(t, os.Chtimes(Path(d), time.Unix(1, 0), time.Unix(1, 0)))
		}
		before := Fingerprint(d)
		must.Do(t, Touch(d))
		if b, err := os.ReadFile(Path(d)); Fingerprint(d) == before || string(b) != was || err != nil {
			t.Errorf("with %q: as before, or now %q (%v)", was, b, err)
		}
	}
}
