package localhub_test

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentences are the numbered sentences of hub-api.md, and its sections that
// have no numbers inside.
var sentences = []string{
	"1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "2.1", "2.2", "2.3", "3",
	"4.1", "4.2", "4.3", "4.3 rule 1", "4.3 rule 2", "4.3 rule 3", "4.3 rule 4",
	"5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "6", "7", "8.1", "8.2", "8.3", "9",
}

// The table in the package documentation lists every sentence of hub-api.md
// once, each with tests that exist, or with why there is none.
func TestDocumentationTable(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text, tests := file.Doc.Text(), testsBelow(t, ".")
	for _, bad := range badTable(text, tests) {
		t.Error(bad)
	}
	// It notices what is wrong.
	for name, c := range map[string]struct{ old, new, want string }{
		"left out":       {"1.9: ", "1.8: ", "1.9 is listed 0 times"},
		"listed twice":   {"5.1: ", "5.1, 9: ", "9 is listed 2 times"},
		"no such place":  {"5.1: ", "5.1, 5.7: ", "no sentence 5.7"},
		"no such test":   {"TestBearer", "TestBaerer", "no test TestBaerer"},
		"nothing at all": {"9: outside this document: ", "9: ", "9: neither tests nor a reason"},
	} {
		if strings.Count(text, c.old) == 0 {
			t.Errorf("%s: %q is not there", name, c.old)
		} else if bad := badTable(strings.Replace(text, c.old, c.new, 1), tests); !slices.Contains(bad, c.want) {
			t.Errorf("%s: %q", name, bad)
		}
	}
}

var testName = regexp.MustCompile(`\bTest[A-Z]\w*`)

func badTable(documentation string, tests map[string]bool) (bad []string) {
	listed := map[string]int{}
	for _, row := range tableRows(documentation) {
		places, about, _ := strings.Cut(row, ": ")
		for _, place := range strings.Split(places, ", ") {
			if !slices.Contains(sentences, place) {
				bad = append(bad, "no sentence "+place)
			}
			listed[place]++
		}
		named := testName.FindAllString(about, -1)
		for _, n := range named {
			if !tests[n] {
				bad = append(bad, "no test "+n)
			}
		}
		reason, outside := strings.CutPrefix(about, "outside this ")
		if len(named) == 0 && (!outside || !strings.Contains(reason, ": ")) {
			bad = append(bad, places+": neither tests nor a reason")
		}
	}
	for _, s := range sentences {
		if n := listed[s]; n != 1 {
			bad = append(bad, fmt.Sprintf("%s is listed %d times", s, n))
		}
	}
	return bad
}

// tableRows are the items of the list below the table's heading, each on a line.
func tableRows(documentation string) (rows []string) {
	var p comment.Parser
	var in bool
	var print comment.Printer
	print.TextWidth = -1
	for _, b := range p.Parse(documentation).Content {
		switch b := b.(type) {
		case *comment.Heading:
			in = strings.HasPrefix(string(b.Text[0].(comment.Plain)), "What shows")
		case *comment.List:
			for _, item := range b.Items {
				if in {
					rows = append(rows, strings.TrimSpace(string(print.Text(&comment.Doc{Content: item.Content}))))
				}
			}
		}
	}
	return rows
}

// testsBelow are the tests of the packages in a folder and below it.
func testsBelow(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				all[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
