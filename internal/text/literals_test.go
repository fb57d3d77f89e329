package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// spoken are the folders whose programs show text to people.
var spoken = []string{"../ui", "../resident", "../native/tray", "../native/notify", "../native/messagebox", "../health", "../guide", "../cli", "../doctor", "../relay/command"}

// failing are the folders whose errors commands show; the rest of their output is for programs.
var failing = []string{"../localhub", "../simulate", "../instance"}

// prose matches what people would read: two words, or one that begins like a sentence.
var prose = regexp.MustCompile(`\pL{2,} \pL{2,}|^\p{Lu}\p{Ll}{2,}`)

// known are literals that look like words but that no user reads.
var known = map[string]string{
	"Wiebelt":                       "the same in every language",
	"Wiebelt – ":                    "the same in every language",
	"Wiebelt relay":                 "the same in every language",
	"none of":                       "the name of a page inside the calls window",
	"not understood":                "an answer between our programs",
	"the hub's secret expires soon": "for the log of administrators",
	"the hub's secret has expired":  "for the log of administrators",
	"none yet":                      "stands for no group of keys",
	"Shell_TrayWnd":                 "the taskbar's window class",
	"Desktop":                       "a folder of the system",
	"Bureaublad":                    "a folder of the system",
	"Documents":                     "a folder of the system",
	"Documenten":                    "a folder of the system",
	"Downloads":                     "a folder of the system",
	"Dorpsstraat":                   "of the invented caller on a test card",
	"Ons Dorp":                      "of the invented caller on a test card",
	"Settings":                      "a section of MicroSIP's file",
	"SystrayClass":                  "a class of windows",
	"WiebeltTray":                   "a class of windows",
	"on hold":                       "never shown",
	"Windows":                       "the same in every language",
	"Windows %d.%d build %d":        "in the file for the help desk, as are those below",
	"the desktop did not answer\n":  "",
	"window manager":                "",
	"no screen to show cards on":    "",
	"%dx%d at %d,%d, %d %%, without panels %dx%d":             "",
	"left out: larger than the program writes\n":              "",
	"{\"msg\":\"[a line that is not ours]\"}\n":               "",
	"local hub: too large to be broken on purpose":            "ends an answer, as are those up to the next comment",
	"an e-mail address cannot be read":                        "for who adds contacts in code",
	"no program to run":                                       "for who plays in code",
	"report call: address is not valid":                       "",
	"a link may only say that a number rings or was answered": "an answer between our programs, as are those below",
	"%w: it is ending":                                        "",
	"message of %d bytes is too long":                         "",
	"message is too long":                                     "",
	"message is not understood":                               "",
	"no greeting":                                             "",
	"the pipe is another user's":                              "",
	"a program is started by its whole path only":             "",
}

func isKnown(s string) bool {
	_, ok := known[s]
	return ok || strings.HasPrefix(s, "gnome ") // desktop names
}

// file matches a picture, the name of a font or folder, a pattern, a command
// to be typed, or the comment of a metric.
var file = regexp.MustCompile(`^<svg |^<path |\.ttf$|^\^|^wiebelt(-ring)? |^# HELP |^\n%s\n\necho|^AppData/|^Software\\|^secret-tool `)

// quiet are functions whose texts no user reads: logging, its errors, patterns, and Fyne's words
// for which there are ours.
var quiet = []string{"Debug", "Info", "Warn", "Error", "Errorf", "New", "Is", "HasPrefix", "HasSuffix", "Contains", "Cut", "CutPrefix", "CutSuffix", "Index", "Format", "Parse", "MustCompile", "Getenv", "panic", "Lookup", "LookPath", "NewProc", "FieldByName", "WindowFyne"}

// TestNothingIsHardCoded checks that everything windows, cards, tray and messages show
// comes from the catalogue, in both languages.
func TestNothingIsHardCoded(t *testing.T) {
	seen := 0
	for _, dir := range slices.Concat(spoken, failing) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.HasSuffix(path, "test") {
				return fs.SkipDir // for tests only
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			tree, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			literals := said(tree, dir == "../cli")
			if slices.Contains(failing, dir) {
				literals = raised(tree)
			}
			for _, l := range literals {
				seen++
				s, err := strconv.Unquote(l.Value)
				if err == nil && prose.MatchString(s) && !isKnown(s) && !file.MatchString(s) {
					t.Errorf("%s: %q is said in one language only", files.Position(l.Pos()), s)
				}
			}
			return nil
		})
		must.Do(t, err)
	}
	if seen < 300 {
		t.Errorf("only %d literals were looked at", seen)
	}
}

// raised returns the literals in a file that become errors, except those that only say
// where an error came from or belong to a declared error value.
func raised(tree *ast.File) (all []*ast.BasicLit) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if _, ok := n.(*ast.GenDecl); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		l, lit := call.Args[0].(*ast.BasicLit)
		if ok && lit && (f.Sel.Name == "New" || f.Sel.Name == "Errorf") && !strings.HasSuffix(l.Value, `: %w"`) {
			all = append(all, l)
		}
		return true
	})
	return all
}

// said returns the literals in a file that somebody could see;
// with errors, also those that commands turn into errors.
func said(tree *ast.File, errors bool) (all []*ast.BasicLit) {
	var walk func(ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Type != nil {
				ast.Inspect(n.Type, walk)
			}
			return false // the tag is for encoding
		case *ast.KeyValueExpr: // a map's keys are not shown
			ast.Inspect(n.Value, walk)
			return false
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if slices.Contains(quiet, name) && !(errors && (name == "New" || name == "Errorf")) {
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				all = append(all, n)
			}
		}
		return true
	}
	ast.Inspect(tree, walk)
	return all
}
