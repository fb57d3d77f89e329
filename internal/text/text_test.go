package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
)

// keys reads every constant of type Key from the source, and the keys in the local hub's pages.
func keys(t *testing.T) []Key {
	t.Helper()
	var all []Key
	files, _ := filepath.Glob("keys_*.go")
	for _, f := range files {
		tree := must.Get(parser.ParseFile(token.NewFileSet(), f, nil, 0))(t)
		ast.Inspect(tree, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if lit, ok := v.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, _ := strconv.Unquote(lit.Value)
					all = append(all, Key(s))
				}
			}
			return true
		})
	}
	pages, _ := filepath.Glob("../localhub/web/*.html")
	for _, f := range pages {
		b := must.Get(os.ReadFile(f))(t)
		for _, m := range regexp.MustCompile(`\.[TN] "([^"]+)"`).FindAllStringSubmatch(string(b), -1) {
			all = append(all, Key(m[1]))
		}
	}
	return all
}

// catalogue returns all texts.
func catalogue(t *testing.T) map[Key]entry {
	t.Helper()
	all := map[Key]entry{}
	files, _ := fs.Glob(assets.Text, "text/*.json")
	for _, f := range files {
		name := strings.TrimSuffix(path.Base(f), ".json")
		for k, e := range area(name) {
			if !strings.HasPrefix(string(k), name+".") {
				t.Errorf("%s is not found in %s", k, f)
			}
			all[k] = e
		}
		lines := regexp.MustCompile(`(?m)^  "`).FindAll(must.Get(assets.Text.ReadFile(f))(t), -1)
		if len(lines) != len(area(name)) {
			t.Errorf("%s: %d texts have %d keys", f, len(lines), len(area(name)))
		}
	}
	return all
}

// TestEveryKeyHasBothLanguages checks that every text is in the catalogue in Dutch
// and English, with the same placeholders.
func TestEveryKeyHasBothLanguages(t *testing.T) {
	all := keys(t)
	if len(all) < 50 {
		t.Fatalf("only %d keys found", len(all))
	}
	there := catalogue(t)
	for _, k := range all {
		if _, ok := there[k]; !ok {
			t.Errorf("%s has no text", k)
		}
	}
	verb := regexp.MustCompile(`%[a-z]`)
	for k, e := range there {
		for _, s := range []string{e.NL.one, e.NL.other, e.EN.one, e.EN.other} {
			if s == "" {
				t.Errorf("%s lacks a form", k)
			}
			if !slices.Equal(verb.FindAllString(s, -1), verb.FindAllString(e.NL.other, -1)) {
				t.Errorf("%s: other places to fill in: %q", k, s)
			}
		}
	}
}

func TestPlurals(t *testing.T) {
	for n, want := range map[int]string{1: "Nog 1 oproep", 2: "Nog 2 oproepen", 0: "Nog 0 oproepen"} {
		if got := Dutch.N(CardMore, n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := English.T(Key("no.such")); got != "no.such" {
		t.Errorf("%q", got)
	}
}
