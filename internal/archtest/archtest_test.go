package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Deps                               []string
	Incomplete                         bool
}

func list(t *testing.T, env []string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps,Incomplete"}, args...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

const module = "wiebelt/"

// TestArrowsPointDown checks every import on every platform against the layers.
func TestArrowsPointDown(t *testing.T) {
	for _, goos := range []string{"linux", "windows"} {
		seen := 0
		for _, p := range list(t, []string{"GOOS=" + goos, "GOARCH=amd64", "CGO_ENABLED=0"}, "./...") {
			from := strings.TrimPrefix(p.ImportPath, module)
			if LayerOf(from) == Unknown {
				t.Errorf("%s has no layer: give it one in internal/archtest", from)
			}
			for _, imp := range p.Imports {
				if to, ours := strings.CutPrefix(imp, module); ours {
					seen++
					if why := WhyForbidden(from, to); why != "" {
						t.Errorf("%s (%s): %s %s", goos, to, from, why)
					}
				}
				if strings.HasPrefix(imp, "fyne.io/fyne/") && !MayImportFyne(from) {
					t.Errorf("%s: %s imports %s; only the windows know Fyne", goos, from, imp)
				}
			}
		}
		if seen < 30 {
			t.Errorf("%s: only %d imports looked at; the walk itself is broken", goos, seen)
		}
	}
}

// TestDomainIsPlain checks that the domain depends on the standard library only.
func TestDomainIsPlain(t *testing.T) {
	for _, p := range list(t, nil, "./internal/core/call", "./internal/core/address", "./internal/core/phone", "./internal/core/numbering", "./internal/core/contact", "./internal/core/displaytext",
		"./internal/core/lazyregexp", "./internal/core/private", "./internal/core/wake", "./internal/softphone/registry") {
		for _, imp := range p.Imports {
			first, _, _ := strings.Cut(imp, "/")
			if strings.Contains(first, ".") {
				t.Errorf("%s imports %s; the domain needs the standard library only", p.ImportPath, imp)
			}
			if imp == "net/http" || imp == "os" {
				t.Errorf("%s imports %s; the domain knows no outside world", p.ImportPath, imp)
			}
		}
	}
}

// TestOtherSystems checks that on unsupported systems the program
// only prints that it does not run there.
func TestOtherSystems(t *testing.T) {
	for _, p := range list(t, []string{"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0"}, "./app/wiebelt") {
		if !slices.Equal(p.Imports, []string{"fmt", "os", "runtime"}) {
			t.Errorf("%s imports %v", p.ImportPath, p.Imports)
		}
	}
}

// TestPrograms checks what the programs link, for Linux and Windows: none needs cgo, OpenGL,
// or Fyne's app package, which reads settings and themes from places that other users may be
// able to write to. The resident, a client of relays, contains no server and no library that
// only tests need, whose packages would be initialized at every start; a relay has no windows;
// and the program that phones start at every call contains no library that takes time before
// its first line runs.
func TestPrograms(t *testing.T) {
	small := []string{"golang.org/x/sys/unix", "golang.org/x/sys/windows",
		"github.com/fsnotify/fsnotify", "github.com/fsnotify/fsnotify/internal", "github.com/gofrs/flock"}
	forTests := []string{"fyne.io/fyne/v2/test", "net/http/httptest", "github.com/nyaruka/phonenumbers"}
	not := map[string]func(d string) bool{
		"wiebelt": func(d string) bool {
			return strings.HasPrefix(d, "github.com/nats-io/nats-server/") || slices.Contains(forTests, d) ||
				strings.Contains(d, "/testify/")
		},
		"wiebelt-relay": func(d string) bool { return strings.HasPrefix(d, "fyne.io/") },
		"wiebelt-ring": func(d string) bool {
			first, _, _ := strings.Cut(d, "/")
			return strings.Contains(first, ".") && !slices.Contains(small, d) || d == "net/http"
		},
	}
	for _, goos := range []string{"linux", "windows"} {
		seen := 0
		for _, p := range list(t, []string{"GOOS=" + goos, "GOARCH=amd64", "CGO_ENABLED=0"}, "./app/...") {
			if p.Incomplete {
				t.Errorf("%s: %s does not load without cgo", goos, p.ImportPath)
			}
			own, known := not[strings.TrimPrefix(p.ImportPath, module+"app/")]
			if known {
				seen++
			}
			for _, d := range p.Deps {
				if strings.Contains(d, "go-gl/") || d == "fyne.io/fyne/v2/app" || d == "runtime/cgo" || known && own(d) {
					t.Errorf("%s: %s links %s", goos, p.ImportPath, d)
				}
			}
		}
		if seen != len(not) {
			t.Errorf("%s: only %d programs of %d", goos, seen, len(not))
		}
	}
}

// TestRulesCanFail checks that the rules above reject what they should.
func TestRulesCanFail(t *testing.T) {
	for _, c := range [][2]string{
		{"internal/core/call", "internal/hub"},
		{"internal/core/engine", "internal/hub"},
		{"internal/hub", "internal/core/engine"},
		{"internal/native/window", "internal/ui/card"},
		{"internal/ui/card", "internal/cli"},
		{"internal/hub", "internal/localhub"},
		{"internal/localhub", "internal/hub"},
		{"internal/softphone/listener", "internal/testutil/phonetest"},
		{"internal/newpackage", "internal/core/call"},
		{"internal/ui/calls", "internal/ui/lookup"},
		{"internal/ui/calls", "internal/ui/windowapp"},
		{"internal/ui/widgets", "internal/ui/calls"},
		{"internal/ui/calls", "internal/ui/uitest"},
		{"internal/resident/recorder", "internal/resident"},
		{"internal/resident/recorder", "internal/cli"},
		{"internal/resident/recorder", "internal/localhub"},
		{"internal/store/history", "internal/resident/recorder"},
		{"internal/ui/card", "internal/resident/recorder"},
		{"internal/resident/recorder", "internal/resident/newpart"},
		{"internal/resident/recorder", "internal/ui/calls"},
	} {
		if WhyForbidden(c[0], c[1]) == "" {
			t.Errorf("%s may import %s", c[0], c[1])
		}
	}
	for _, c := range [][2]string{
		{"internal/ui/calls", "internal/ui/widgets"}, {"internal/ui/windowapp", "internal/ui/calls"}, {"internal/ui/card", "internal/ui/offscreen"},
		{"app/wiebelt", "internal/cli"}, {"internal/ui/card", "internal/core/engine"}, {"internal/hub", "internal/core/contact"},
		{"internal/resident/recorder", "internal/store/history"}, {"internal/resident", "internal/resident/recorder"},
		{"internal/resident/recorder", "internal/config/fromsettings"}, {"internal/resident/recorder", "internal/ui/card"},
	} {
		if why := WhyForbidden(c[0], c[1]); why != "" {
			t.Errorf("%s may not import %s: %s", c[0], c[1], why)
		}
	}
}

// TestFilesThatAreNamed checks that files named in comments and in pages about the code exist.
func TestFilesThatAreNamed(t *testing.T) {
	root := os.DirFS("../..")
	var files []string
	if err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != "." && d.Name() != ".ci" {
			return fs.SkipDir
		}
		files = append(files, p)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	there := func(dir, name string) bool {
		return slices.ContainsFunc(files, func(f string) bool {
			for _, want := range []string{name, path.Join(dir, name)} {
				if ok, _ := path.Match(want, f); ok {
					return true
				}
			}
			return false
		})
	}
	named := regexp.MustCompile(`(?:^|[\s("` + "`" + `])([\w*./-]+\.(?:go|md)\b|(?:internal|app)/[\w*/-]+)`)
	seen := 0
	for _, f := range files {
		code := strings.HasSuffix(f, ".go")
		if !code && f != "README.md" && f != "internal/README.md" {
			continue
		}
		b := must.Get(fs.ReadFile(root, f))(t)
		for line := range strings.Lines(string(b)) {
			if code {
				var is bool
				if _, line, is = strings.Cut(line, "// "); !is {
					continue
				}
			}
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				if name := strings.TrimSuffix(m[1], "/"); !there(path.Dir(f), name) {
					t.Errorf("%s names %s, which is not there", f, name)
				}
				seen++
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d names found", seen)
	}
}
