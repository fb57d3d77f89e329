package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestNamesInComments checks that whatever a comment calls "package x" is imported
// somewhere or is ours, and that an exported name of one of ours, "x.Name", is declared.
func TestNamesInComments(t *testing.T) {
	files := token.NewFileSet()
	all := map[string]bool{}   // packages: ours by name, imported ones by path elements
	ours := map[string]bool{}  // by name
	names := map[string]bool{} // "x.Name" of ours
	var comments []*ast.CommentGroup
	err := fs.WalkDir(os.DirFS("../.."), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (p == "bin" || p != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		f, err := parser.ParseFile(files, filepath.Join("../..", p), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		all[f.Name.Name], ours[f.Name.Name] = true, true
		for name := range f.Scope.Objects {
			names[f.Name.Name+"."+name] = true
		}
		for _, imp := range f.Imports {
			for part := range strings.SplitSeq(strings.Trim(imp.Path.Value, `"`), "/") {
				all[part] = true
			}
		}
		comments = append(comments, f.Comments...)
		return nil
	})
	must.Do(t, err)
	packages := regexp.MustCompile(`(?i)(\S+)\s+package\s+(\w+)`)
	determiner := regexp.MustCompile(`(?i)^(a|an|the|this|that|each|every|another|its|\S+')$`)
	exported := regexp.MustCompile(`(?:^|[^\w./])([a-z]\w*)\.([A-Z]\w*)`)
	seen := 0
	for _, c := range comments {
		at := files.Position(c.Pos())
		for _, m := range packages.FindAllStringSubmatch(c.Text(), -1) {
			if seen++; !determiner.MatchString(m[1]) && !all[m[2]] {
				t.Errorf("%s: there is no package %s", at, m[2])
			}
		}
		for _, m := range exported.FindAllStringSubmatch(c.Text(), -1) {
			if seen++; ours[m[1]] && !names[m[1]+"."+m[2]] {
				t.Errorf("%s: there is no %s.%s", at, m[1], m[2])
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d names found", seen)
	}
}
