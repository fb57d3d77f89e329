package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestSizes limits how much a reader has to keep in mind.
// It counts only the product, not its test support.
func TestSizes(t *testing.T) {
	const (
		mostBranches = 20   // ways through a function (McCabe)
		meanLines    = 12.8 // per function
		mostFolders  = 26   // below internal
		mostFields   = 20   // of a struct with more than plain data
	)
	folders, err := filepath.Glob("../*/")
	if err != nil || len(folders) > mostFolders {
		t.Errorf("%d folders below internal, want %d at most (%v)", len(folders), mostFolders, err)
	}
	functions, lines := 0, 0
	err = fs.WalkDir(os.DirFS("../.."), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (p == "bin" || d.Name() == "testdata" || p != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || LayerOf(path.Dir(p)) == TestsOnly:
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, filepath.Join("../..", p), nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, is := n.(*ast.StructType); is && s.Fields.NumFields() > mostFields && !plain(s) {
				t.Errorf("%s: a struct of %d fields that is not plain data", files.Position(s.Pos()), s.Fields.NumFields())
			}
			return true
		})
		for _, decl := range f.Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			functions++
			lines += files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
			if n := branches(f); n > mostBranches {
				t.Errorf("%s: %s has %d ways through it", files.Position(f.Pos()), f.Name.Name, n)
			}
		}
		return nil
	})
	if err != nil || functions < 4000 {
		t.Fatalf("%d functions: %v", functions, err)
	}
	if mean := float64(lines) / float64(functions); mean > meanLines {
		t.Errorf("a function has %.2f lines on average, want %.1f", mean, meanLines)
	}
}

// plain reports whether a struct is only data: no callbacks, no channels, no locks.
func plain(s *ast.StructType) bool {
	data := true
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType, *ast.ChanType, *ast.InterfaceType:
			data = false
		case *ast.SelectorExpr:
			p, is := n.X.(*ast.Ident)
			data = data && !(is && (p.Name == "sync" || p.Name == "atomic" || p.Name == "context"))
		}
		return data
	})
	return data
}

// branches counts the paths through a function, including those of nested functions.
func branches(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
