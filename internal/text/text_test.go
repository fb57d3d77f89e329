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

// TestBothLanguages checks that every text of the catalogue is there in Dutch and English, with
// the same placeholders.
func TestBothLanguages(t *testing.T) {
	verb := regexp.MustCompile(`%[a-z]`)
	for k, e := range catalogue(t) {
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

// TestEveryTextIsUsed checks that the programs, or else the local hub's pages, use every text
// that has a constant, and that these pages use no other.
func TestEveryTextIsUsed(t *testing.T) {
	parse := func(file string) *ast.File {
		return must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
	}
	used := map[string]bool{} // by name
	for _, dir := range []string{"..", "../../app"} {
		must.Do(t, filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || file == "../text/keys.go" {
				return err
			}
			tree := parse(file)
			imports := func(i *ast.ImportSpec) bool { return i.Path.Value == `"wiebelt/internal/text"` }
			if tree.Name.Name == "text" || slices.ContainsFunc(tree.Imports, imports) {
				ast.Inspect(tree, func(n ast.Node) bool {
					if name, ok := n.(*ast.Ident); ok {
						used[name.Name] = true
					}
					return true
				})
			}
			return nil
		}))
	}
	inPages := map[string]bool{} // by key
	pages, _ := filepath.Glob("../localhub/web/*.html")
	for _, f := range pages {
		for _, m := range regexp.MustCompile(`\.[TN] "([^"]+)"`).FindAllStringSubmatch(string(must.Get(os.ReadFile(f))(t)), -1) {
			inPages[m[1]] = true
		}
	}
	constants := 0
	ast.Inspect(parse("keys.go"), func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			constants++
			key := must.Get(strconv.Unquote(v.Values[0].(*ast.BasicLit).Value))(t)
			if !used[v.Names[0].Name] && !inPages[key] {
				t.Errorf("nothing uses %s", key)
			}
			delete(inPages, key)
		}
		return true
	})
	for key := range inPages {
		t.Errorf("the pages use %s, which is not there", key)
	}
	if constants < 900 {
		t.Errorf("only %d constants found", constants)
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
