package guide

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// windows is a typical office computer.
var windows = Values{
	Exe: `C:\Program Files\Wiebelt\wiebelt.exe`, Ring: `C:\Program Files\Wiebelt\wiebeltw.exe`,
	Settings: `C:\Users\J. de Vries\AppData\Roaming\Wiebelt\settings.toml`, Port: 27471,
	PathToken: strings.Repeat("p", 43), SocketToken: strings.Repeat("s", 43),
}

// chosen matches what readers choose themselves, named in their language.
var chosen = regexp.MustCompile(`(?m)^password = .*$`)

var linux = Values{Exe: "/usr/bin/wiebelt", Ring: "/usr/bin/wiebelt", Settings: "/home/jan/.config/wiebelt/settings.toml",
	Port: 27475, PathToken: strings.Repeat("p", 43), SocketToken: strings.Repeat("s", 43)}

// TestWanted checks that every phone that was promised a recipe has one,
// in both languages, and that the kinds of phones come after the products.
func TestWanted(t *testing.T) {
	// The kinds of phones are covered by the test of package registry.
	want := []string{"3cx-client", "8x8", "auerswald", "avaya", "enreach", "estos", "globaliptel", "innovaphone", "microsip", "ringotel", "teams", "wildix"}
	for _, l := range []text.Language{text.Dutch, text.English} {
		all := All(l)
		for i, r := range all {
			if i > 0 && (all[i-1].Group == GroupAny && r.Group == GroupPhone) {
				t.Errorf("%s: %s stands behind the kinds of phones", l, r.ID)
			}
			if got, ok := Find(l, strings.ToUpper(r.ID)); !ok || got.Title != r.Title {
				t.Errorf("%s: %s is not found", l, r.ID)
			}
		}
		for _, id := range want {
			if _, ok := Find(l, id); !ok {
				t.Errorf("%s: no recipe for %s", l, id)
			}
		}
	}
	if nl, en := All(text.Dutch), All(text.English); len(nl) != len(en) {
		t.Errorf("%d recipes in Dutch and %d in English", len(nl), len(en))
	}
	if _, ok := Find(text.Dutch, "nokia"); ok {
		t.Error("a recipe for a phone that has none")
	}
}

// TestLanguagesAgree checks that what is pasted and promised does not depend on the language.
func TestLanguagesAgree(t *testing.T) {
	for _, nl := range All(text.Dutch) {
		en, ok := Find(text.English, nl.ID)
		if !ok {
			t.Errorf("%s: no English", nl.ID)
			continue
		}
		if nl.Group != en.Group || nl.ReportLevel != en.ReportLevel || nl.Transfer != en.Transfer || nl.Verified != en.Verified {
			t.Errorf("%s: they promise different things", nl.ID)
		}
		if (nl.ReportLevelNote == "") != (en.ReportLevelNote == "") || (nl.TransferNote == "") != (en.TransferNote == "") || nl.VerifiedNote == en.VerifiedNote {
			t.Errorf("%s: a sentence is missing or not translated", nl.ID)
		}
		if len(nl.Parts) != len(en.Parts) {
			t.Errorf("%s: %d and %d parts", nl.ID, len(nl.Parts), len(en.Parts))
			continue
		}
		for i, p := range nl.Parts {
			q := en.Parts[i]
			if p.Step != q.Step || (p.Block == nil) != (q.Block == nil) {
				t.Errorf("%s: part %d is of another kind", nl.ID, i)
			}
			if p.Block != nil && q.Block != nil && (p.Block.Kind != q.Block.Kind || chosen.ReplaceAllString(p.Block.Text, "") != chosen.ReplaceAllString(q.Block.Text, "")) {
				t.Errorf("%s: other text to paste in block %d", nl.ID, i)
			}
			if p.Text == q.Text && p.Block == nil {
				t.Errorf("%s: part %d is not translated", nl.ID, i)
			}
		}
	}
}

// TestFilled checks that nothing is left to fill in, and that no token is shown unless asked for.
func TestFilled(t *testing.T) {
	for _, r := range append(All(text.Dutch), All(text.English)...) {
		for _, v := range []Values{windows, linux} {
			for _, p := range r.Parts {
				if s := v.FillText(p.Text); strings.Contains(s, "{{") || strings.Contains(s, "}}") {
					t.Errorf("%s: %q", r.ID, s)
				}
			}
			for i, b := range r.Blocks() {
				if b.Kind == Twinkle && v.Exe == windows.Exe {
					continue // none for Windows
				}
				s, err := b.Fill(v)
				if err != nil || strings.Contains(s, "{{") || strings.Contains(s, "}}") {
					t.Errorf("%s: block %d: %q, %v", r.ID, i, s, err)
				}
				token := strings.Contains(s, v.PathToken) || strings.Contains(s, v.SocketToken)
				if token != b.HasToken() {
					t.Errorf("%s: block %d: token %v, said %v", r.ID, i, token, b.HasToken())
				}
				m, err := b.Fill(v.Masked())
				if err != nil || strings.Contains(m, v.PathToken) || strings.Contains(m, v.SocketToken) ||
					b.HasToken() != strings.Contains(m, maskedToken) {
					t.Errorf("%s: block %d shows a token: %v", r.ID, i, err)
				}
				if listener, http := b.Needs(); listener != strings.Contains(s, "127.0.0.1:"+fmt.Sprint(v.Port)) && !b.HasToken() || http != strings.Contains(s, v.PathToken) {
					t.Errorf("%s: block %d needs %v %v", r.ID, i, listener, http)
				}
			}
		}
	}
}

// TestMicroSIPLength: MicroSIP reads at most 255 characters of a value.
func TestMicroSIPLength(t *testing.T) {
	r, _ := Find(text.Dutch, "microsip")
	b := r.Blocks()[0]
	long := windows
	long.Ring = `C:\` + strings.Repeat("x", 255-len(` ring --state answered --`)-len(`"C:\"`)) // the longest possible
	if s, err := b.Fill(long); err != nil {
		t.Errorf("255 characters: %v: %s", err, s)
	}
	long.Ring += "x"
	if _, err := b.Fill(long); !errors.Is(err, ErrLong) {
		t.Errorf("256 characters: %v", err)
	}
}

// TestPaths checks that what a phone would misread is reported, not pasted.
func TestPaths(t *testing.T) {
	twinkle, _ := Find(text.Dutch, "twinkle")
	microsip, _ := Find(text.Dutch, "microsip")
	program, _ := Find(text.Dutch, "any-program")
	change := func(f func(*Values)) Values { v := linux; f(&v); return v }
	for name, c := range map[string]struct {
		r    Recipe
		v    Values
		want error
	}{
		"twinkle, plain":             {twinkle, linux, nil},
		"twinkle, space":             {twinkle, change(func(v *Values) { v.Ring = "/opt/my programs/wiebelt" }), ErrSpace},
		"twinkle, space in profile":  {twinkle, change(func(v *Values) { v.Profile = "/tmp/a b" }), ErrSpace},
		"microsip, space":            {microsip, change(func(v *Values) { v.Ring = `C:\Program Files\w.exe` }), nil},
		"microsip, space in profile": {microsip, change(func(v *Values) { v.Profile = `C:\a b` }), ErrSpace},
		"program, space":             {program, change(func(v *Values) { v.Profile, v.Ring = "/tmp/a b", "/opt/a b" }), nil},
		"program, quote":             {program, change(func(v *Values) { v.Ring = `/opt/a" ring --state ended "` }), ErrPath},
		"program, line end":          {program, change(func(v *Values) { v.Profile = "/opt/a\nb" }), ErrPath},
	} {
		if s, err := c.r.Blocks()[0].Fill(c.v); !errors.Is(err, c.want) || err != nil && s != "" {
			t.Errorf("%s: %v, want %v: %s", name, err, c.want, s)
		}
	}
	v := change(func(v *Values) { v.Profile = "/tmp/a b" })
	if s, err := program.Blocks()[0].Fill(v); err != nil || s != `"/usr/bin/wiebelt" ring --state ringing --profile "/tmp/a b" -- NUMBER` {
		t.Errorf("%s %v", s, err)
	}
}

func TestValuesTellNothing(t *testing.T) {
	for _, s := range []string{fmt.Sprint(windows), fmt.Sprintf("%v %+v %#v", windows, windows, windows)} {
		if strings.Contains(s, "pppp") || strings.Contains(s, "ssss") {
			t.Error("printing shows a token")
		}
	}
}

const good = `title: X
group: phone
tells: ring
transfers: no
verified: none Not at all.

Words
that go on.

1. First.
2. Second
goes on.

` + "``` url Address\nhttp://127.0.0.1:{{port}}/\n```\n\n3. Third in {{settings}}.\n"

func TestParse(t *testing.T) {
	r := parse(good)
	if len(r.Parts) != 5 || r.Parts[0].Text != "Words that go on." || r.Parts[2].Text != "Second goes on." || r.Parts[4].Step != 3 ||
		r.Parts[3].Block.Caption != "Address" {
		t.Fatalf("%+v", r)
	}
}

// TestRecipesAreWhole: what the phone reports is said, steps are numbered, and places are only in blocks, which are checked.
func TestRecipesAreWhole(t *testing.T) {
	kinds := []Kind{URL, Link, Run, Program, Arguments, MicroSIP, Twinkle, ActionURL, Settings, Message, Command, Text}
	for _, r := range append(All(text.Dutch), All(text.English)...) {
		if r.Title == "" || r.VerifiedNote == "" || !slices.Contains([]Group{GroupPhone, GroupAny}, r.Group) ||
			!slices.Contains([]ReportLevel{RingOnly, RingAndEnd, AllStates}, r.ReportLevel) ||
			!slices.Contains([]Transfers{TransfersYes, TransfersNo, TransfersUnknown}, r.Transfer) ||
			!slices.Contains([]string{"run", "source", "vendor", "others", "none"}, r.Verified) || len(r.Blocks()) == 0 {
			t.Errorf("%s: %+v", r.ID, r)
		}
		steps := 0
		for _, p := range r.Parts {
			if p.Step > 0 {
				steps++
			}
			if p.Step > 0 && p.Step != steps || strings.ReplaceAll(p.Text, "{{settings}}", "") != placeholderForm().ReplaceAllString(p.Text, "") {
				t.Errorf("%s: step %d: %s", r.ID, p.Step, p.Text)
			}
		}
		for _, b := range r.Blocks() {
			if !slices.Contains(kinds, b.Kind) || b.Caption == "" || b.Text == "" {
				t.Errorf("%s: %+v", r.ID, b)
			}
			for _, place := range placeholdersIn(b.Text) {
				if placeholders[place] == nil {
					t.Errorf("%s: place %q", r.ID, place)
				}
			}
		}
	}
}
