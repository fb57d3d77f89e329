package windowapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestFewKinds checks that one file defines all messages on the socket, that there are at
// most fifteen kinds, and that no importer sends its own kind.
func TestFewKinds(t *testing.T) {
	var kinds []string
	sent := 0
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ours := filepath.Dir(path) == "../../instance/windowapi"
		if ours && filepath.Base(path) != "windowapi.go" {
			t.Errorf("%s is a second file of messages", path)
		}
		if !ours && !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"wiebelt/internal/instance/windowapi"` }) {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if ours && strings.HasPrefix(name.Name, "Kind") {
						kinds = append(kinds, n.Values[i].(*ast.BasicLit).Value)
					}
				}
			case *ast.CallExpr:
				if f, is := n.Fun.(*ast.SelectorExpr); is && (f.Sel.Name == "Send" || f.Sel.Name == "Reply") && len(n.Args) == 2 {
					sent++
					if kind, is := n.Args[0].(*ast.BasicLit); is {
						t.Errorf("%s sends %s", path, kind.Value)
					}
				}
			}
			return true
		})
		return nil
	})
	must.Do(t, err)
	if slices.Sort(kinds); len(kinds) > 15 || len(slices.Compact(kinds)) != len(kinds) || len(kinds) == 0 || sent < 20 {
		t.Errorf("%d kinds, sent from %d places: %v", len(kinds), sent, kinds)
	}
}
