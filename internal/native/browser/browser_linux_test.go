package browser

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	pkgbrowser "github.com/pkg/browser"
	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opener installs script as xdg-open and returns the file to which it writes its arguments.
func opener(t *testing.T, script string) (notes string) {
	t.Helper()
	dir := t.TempDir()
	notes = filepath.Join(dir, "notes")
	full := "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > " + notes + ".new\n/bin/mv " + notes + ".new " + notes + "\n" + script + "\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(full), 0o700))
	t.Setenv("PATH", dir)
	return notes
}

const page = "https://hub.example.nl/contacts/viewcontact/a%2Fb?x=1&y=2#z"

func TestOpen(t *testing.T) {
	notes := opener(t, "echo noise; exit 0")
	must.Do(t, Open(context.Background(), page))
	b := must.Get(os.ReadFile(notes))(t)
	if string(b) != "1\n"+page+"\n" {
		t.Errorf("the opener got %q", b)
	}
	// What it prints contains addresses, so that it must not get into ours.
	for _, to := range []io.Writer{pkgbrowser.Stdout, pkgbrowser.Stderr} {
		if f, ok := to.(*os.File); !ok || f.Name() != os.DevNull {
			t.Errorf("the opener prints to %v", to)
		}
	}
}

// TestAvailable checks that a browser is found by the desktop's settings, by name, or by
// the variable that xdg-open follows.
func TestAvailable(t *testing.T) {
	for _, c := range []struct {
		programs map[string]string // and what they do
		variable string
		want     bool
	}{
		{nil, "", false},
		{map[string]string{"firefox": ""}, "", false}, // nothing starts it
		{map[string]string{"x-www-browser": ""}, "", true},
		{map[string]string{"xdg-open": ""}, "", false},
		{map[string]string{"xdg-open": "", "xdg-mime": "echo firefox.desktop"}, "", true},
		{map[string]string{"xdg-open": "", "xdg-mime": "echo"}, "", false},
		{map[string]string{"xdg-open": "", "xdg-mime": "echo firefox.desktop; exit 4"}, "", false},
		{map[string]string{"xdg-open": "", "firefox": ""}, "", true},
		{map[string]string{"xdg-open": "", "ours": ""}, "none:ours", true},
	} {
		dir := t.TempDir()
		for name, does := range c.programs {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+does+"\n"), 0o700))
		}
		t.Setenv("PATH", dir)
		t.Setenv("BROWSER", c.variable)
		if got := Available(t.Context()); got != c.want {
			t.Errorf("%v, %q: %v", c.programs, c.variable, got)
		}
	}
}

// TestBrowserRunsOn checks that Open returns soon although a background browser keeps our
// output open, and that an opener that keeps running counts as a success.
func TestBrowserRunsOn(t *testing.T) {
	for script, limit := range map[string]time.Duration{"/bin/sleep 30 & echo $! > PID; exit 0": 3 * time.Second, "echo $$ > PID; exec /bin/sleep 30": 2 * openTimeout} {
		pid := filepath.Join(t.TempDir(), "pid")
		opener(t, strings.ReplaceAll(script, "PID", pid))
		start := time.Now()
		must.Do(t, Open(context.Background(), page))
		must.Within(t, start, limit)
		endByFile(t, pid)
	}
}

func TestContext(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	opener(t, "echo $$ > "+pid+"; exec /bin/sleep 30")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opened := make(chan error, 1)
	go func() { opened <- Open(ctx, page) }()
	must.Soon(t, func() (bool, any) { // until the script is running
		b, _ := os.ReadFile(pid)
		return strings.HasSuffix(string(b), "\n"), string(b)
	})
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	endByFile(t, pid)
	if err := Open(ctx, page); !errors.Is(err, context.Canceled) {
		t.Errorf("already over: %v", err)
	}
}

// endByFile kills the process whose id a script wrote to file.
func endByFile(t *testing.T, file string) {
	t.Helper()
	b := must.Get(os.ReadFile(file))(t)
	id := must.Get(strconv.Atoi(strings.TrimSpace(string(b))))(t)
	p := must.Get(os.FindProcess(id))(t)
	must.Do(t, p.Kill())
}

func TestFailures(t *testing.T) {
	opener(t, "exit 4")
	if err := Open(context.Background(), page); err == nil || errors.Is(err, ErrNoBrowser) || strings.Contains(err.Error(), "viewcontact") {
		t.Errorf("exit 4: %v", err)
	}
	opener(t, "exit 3")
	if err := Open(context.Background(), page); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("exit 3: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := Open(context.Background(), page); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("nothing there: %v", err)
	}
}

var refused = []string{
	"", "hub.example.nl", "//hub.example.nl/", "/etc/passwd", "-h", "--help", "http:", "http:/x", "http://", "http://:80/", "https:hub.example.nl",
	"file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ms-settings:", "smb://host/x", "HTTP\n://x/",
	"http://hub.example.nl/a b", "http://hub.example.nl/\n", "http://hub.example.nl/\x00", "http://hub.example.nl/\x7f", "http://hub.example.nl/é",
	"http://hub.example.nl/\\x", "http://hub.example.nl/\"x", "http://hub.example.nl/`x`", "http://user:pass@hub.example.nl/", "http://user@hub.example.nl/",
	"http://[::1/", "http://hub.example.nl/%zz", "https://hub.example.nl/" + strings.Repeat("a", maxAddress),
}

func TestRefused(t *testing.T) {
	notes := opener(t, "exit 0")
	for _, a := range refused {
		err := Open(context.Background(), a)
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", a, err)
		}
		if err != nil && strings.Contains(err.Error(), "hub.example") {
			t.Errorf("%q: the error holds the address", a)
		}
	}
	if _, err := os.Stat(notes); err == nil {
		t.Error("something was opened")
	}
}

func FuzzCheck(f *testing.F) {
	for _, a := range append(refused, page, "http://127.0.0.1:8080/contacts/viewcontact/12") {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, a string) {
		if check(a) != nil {
			return
		}
		low := strings.ToLower(a)
		if !strings.HasPrefix(low, "http://") && !strings.HasPrefix(low, "https://") || strings.ContainsAny(a, " \t\r\n\x00\"\\") {
			t.Errorf("%q accepted", a)
		}
	})
}
