package guide

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// TestHelpInBothLanguages checks that both languages have the same pages with the same parts.
func TestHelpInBothLanguages(t *testing.T) {
	nl, en := Help(text.Dutch), Help(text.English)
	if len(nl) != len(en) || len(nl) < 10 {
		t.Fatalf("%d pages in Dutch, %d in English", len(nl), len(en))
	}
	count := func(p HelpPage, what string) int { return strings.Count("\n"+p.Text, what) }
	for i := range nl {
		a, b := nl[i], en[i]
		if a.ID != b.ID || a.Admin != b.Admin {
			t.Errorf("page %d: %q and %q", i, a.ID, b.ID)
		}
		if a.Title == "" || strings.HasPrefix(a.Title, "#") || len(a.Title) > 40 || a.Text == b.Text {
			t.Errorf("%s: title %q", a.ID, a.Title)
		}
		for _, part := range []string{"\n- ", "\n## ", "\n![", "\n    ", "\n> ", "`"} {
			if count(a, part) != count(b, part) {
				t.Errorf("%s: %q %d times in Dutch, %d in English", a.ID, part, count(a, part), count(b, part))
			}
		}
		if i > 0 && nl[i-1].Admin && !a.Admin {
			t.Errorf("%s stands behind the administrators' pages", a.ID)
		}
	}
}

// TestHelpCodeFits checks that lines to copy fit the
// help window: one that wraps is read as two commands.
func TestHelpCodeFits(t *testing.T) {
	const most = 50 // characters beside the list of pages
	lines := 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, p := range Help(l) {
			for line := range strings.Lines(p.Text) {
				code, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
				if !ok {
					continue
				}
				lines++
				if n := utf8.RuneCountInString(code); n > most {
					t.Errorf("%s, %s: %d characters: %s", l, p.ID, n, code)
				}
			}
		}
	}
	if lines < 40 {
		t.Errorf("%d lines of code only", lines)
	}
}

// TestHelpNamesTheSameThings checks that commands,
// keys and files are the same in both languages.
func TestHelpNamesTheSameThings(t *testing.T) {
	code := regexp.MustCompile("`[^`]+`")
	english := strings.NewReplacer("geheim.txt", "secret.txt", "TEKST", "TEXT", "NAAM", "NAME", "NUMMER", "NUMBER", "sjablonen", "templates",
		"hulp.zip", "help.zip", "aangeleverd · 1 geweigerd · 1 mogelijk aangeleverd · 0 in de wacht", "delivered · 1 refused · 1 maybe delivered · 0 waiting")
	nl, en := Help(text.Dutch), Help(text.English)
	for i := range nl {
		a, b := code.FindAllString(english.Replace(nl[i].Text), -1), code.FindAllString(en[i].Text, -1)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("%s: %q in Dutch, %q in English", nl[i].ID, a, b)
		}
	}
}

// TestHelpNamesWhatTheCardSays checks that the page on the card names
// the beginnings of the card's sentences.
func TestHelpNamesWhatTheCardSays(t *testing.T) {
	bold := regexp.MustCompile(`\*\*([^*]+)\*\*`)
	for _, l := range []text.Language{text.Dutch, text.English} {
		said := ""
		for _, k := range []text.Key{text.CardStateIncoming, text.CardStateAnswered, text.CardStateOutgoing, text.CardStateInternal, text.CardStateReported,
			text.CardNobody, text.CardFailed, text.CardPossible, text.CardWithheld} {
			said += "\n" + l.T(k)
		}
		names := bold.FindAllStringSubmatch(strings.Split(Help(l)[0].Text, "\n## ")[1], -1)
		for _, m := range names {
			if !strings.Contains(said, "\n"+m[1]) {
				t.Errorf("%s: the card does not say %q", l, m[1])
			}
		}
		if len(names) != 9 {
			t.Errorf("%s: %d names", l, len(names))
		}
	}
}

// TestHelpPictures checks that every picture on a page exists in the page's language and
// every existing picture is shown, each in light and dark.
func TestHelpPictures(t *testing.T) {
	picture := regexp.MustCompile(`!\[[^\]]+\]\(\.\./shots/([a-z-]+\.(..)\.png)\)`)
	icon := regexp.MustCompile(`(?m)^- !\[[^\]]+\]\(\.\./\.\./(icons/[a-z0-9-]+\.png)\) `)
	shown := map[string]bool{}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, p := range Help(l) {
			found := picture.FindAllStringSubmatch(p.Text, -1)
			icons := icon.FindAllStringSubmatch(p.Text, -1)
			for _, m := range icons {
				if _, err := assets.Icons.ReadFile(m[1]); err != nil {
					t.Errorf("%s, %s: %v", p.ID, l, err)
				}
			}
			if len(found)+len(icons) != strings.Count(p.Text, "![") {
				t.Errorf("%s, %s: a picture that is written otherwise", p.ID, l)
			}
			for _, m := range found {
				if _, err := assets.Shots.ReadFile("guide/shots/" + m[1]); err != nil || m[2] != string(l) {
					t.Errorf("%s, %s: %s: %v", p.ID, l, m[1], err)
				}
				shown[m[1]] = true
				stem, rest, _ := strings.Cut(m[1], ".")
				if _, err := assets.Shots.ReadFile("guide/shots/" + stem + "-dark." + rest); err != nil {
					t.Errorf("%s, %s: in the dark: %v", p.ID, l, err)
				}
			}
		}
	}
	files, err := assets.Shots.ReadDir("guide/shots")
	if err != nil || len(files) != 2*len(shown) {
		t.Errorf("%d pictures, %d are shown: %v", len(files), len(shown), err)
	}
}

// TestAccessibilityIsShown checks that the page on WCAG 2.2 names each criterion of levels
// A and AA once, and only tests that exist.
func TestAccessibilityIsShown(t *testing.T) {
	declared := map[string]bool{}
	must.Do(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(b, -1) {
			declared[string(m[1])] = true
		}
		return err
	}))
	for _, l := range []text.Language{text.Dutch, text.English} {
		seen := map[string]bool{}
		for _, p := range Help(l) {
			for _, m := range regexp.MustCompile("`(Test[A-Z]\\w*)`").FindAllStringSubmatch(p.Text, -1) {
				if !declared[m[1]] {
					t.Errorf("%s, %s: there is no %s", p.ID, l, m[1])
				}
			}
			if p.ID == "wcag" {
				for _, m := range regexp.MustCompile(`(?m)^- \*\*(\d\.\d\.\d+) .*\*\* \(AA?\): `).FindAllStringSubmatch(p.Text, -1) {
					seen[m[1]] = true
				}
			}
		}
		const criteria = 55 // of both levels, without the one removed in 2.2
		if len(seen) != criteria {
			t.Errorf("%s: %d criteria", l, len(seen))
		}
	}
}
