package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"wiebelt/internal/testutil/must"
)

// failures reads every code of package contact from its source.
func failures(t *testing.T) []string {
	t.Helper()
	tree := must.Get(parser.ParseFile(token.NewFileSet(), "../core/contact/failure.go", nil, 0))(t)
	var all []string
	ast.Inspect(tree, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); !ok || kind.Name != "Failure" {
			return true
		}
		if lit, ok := v.Values[0].(*ast.BasicLit); ok {
			s, _ := strconv.Unquote(lit.Value)
			all = append(all, s)
		}
		return true
	})
	return all
}

// TestEveryFailureSaysWhatAndWhatToDo checks that every failure has its own words in both
// languages, short enough for the two lines of a card.
func TestEveryFailureSaysWhatAndWhatToDo(t *testing.T) {
	all := failures(t)
	if len(all) < 16 {
		t.Fatalf("only %d failures found", len(all))
	}
	there := catalogue(t)
	seen := map[string]string{}
	for _, f := range all {
		for _, k := range []Key{Failure(f), FailureDo(f)} {
			if _, ok := there[k]; !ok {
				t.Errorf("%s has no text", k)
			}
			for _, l := range []Language{Dutch, English} {
				s := l.T(k)
				if other, twice := seen[s]; twice {
					t.Errorf("%s and %s say the same: %q", other, k, s)
				}
				seen[s] = string(k)
				if k == Failure(f) && len(s) > 60 {
					t.Errorf("%s is too long for a card: %q", k, s)
				}
			}
		}
	}
}
