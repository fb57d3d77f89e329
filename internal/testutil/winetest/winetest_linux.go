package winetest

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// layout is part of the pristine prefix's name. Increase it when the prefix's content changes.
const layout = "3"

// Prefix is a wine installation with its screen.
type Prefix struct {
	// Screen is the X server the programs draw on, with openbox.
	Screen *xtest.Server
	// Dir is WINEPREFIX; drive C: is Dir/drive_c.
	Dir string

	t   testing.TB
	env []string
}

// New returns a new prefix for the test.
func New(t testing.TB) *Prefix {
	t.Helper()
	p := &Prefix{t: t, Screen: xtest.Start(t, "openbox", xtest.Options{})}
	pristine := p.pristine()
	p.Dir = must.Get(os.MkdirTemp(filepath.Dir(pristine), "run-"))(t)
	t.Cleanup(func() { os.RemoveAll(p.Dir) })
	must.Do(t, clone(pristine, p.Dir))
	p.env = environment(p.Screen.Env(), p.Dir)
	t.Cleanup(p.stop)
	for range 5 {
		if p.start() {
			return p
		}
		p.stop()
	}
	t.Fatal("winetest: wine's services do not start")
	return nil
}

// start starts wine's server and services, and reports whether they work. Services start with
// the first program, run as long as the server, and use the first program's output, which must
// therefore not be one that a test reads to the end.
//
// Occasionally a driver of wine 8 crashes at the start, since its IoCreateDevice may be
// called before its own driver exists. It takes its process down: without the mount manager,
// for instance, nobody can list credentials.
func (p *Prefix) start() bool {
	p.t.Helper()
	said := p.output()
	p.t.Cleanup(func() {
		said.Close()
		if text, err := os.ReadFile(said.Name()); err == nil && p.t.Failed() {
			p.t.Logf("winetest: wine's services: %s", text)
		}
	})
	// wine's server exits seconds after the last
	// program; a program that starts just then fails.
	must.Do(p.t, p.tool("wineserver", p.env, "-p60"))
	err := p.toolTo(said, "wine", p.env, "cmd", "/c", `type \\.\MountPointManager`)
	text := string(must.Get(os.ReadFile(said.Name()))(p.t))
	return err == nil && !strings.Contains(text, "Unhandled")
}

// stop ends wine's server and, with it, every program.
func (p *Prefix) stop() {
	for _, flag := range []string{"-k", "-w"} {
		if err := p.tool("wineserver", p.env, flag); err != nil && flag == "-w" {
			p.t.Logf("winetest: wineserver %s: %v", flag, err)
		}
	}
}

func environment(base []string, dir string) []string {
	return append(base,
		"WINEPREFIX="+dir,
		"WINEARCH=win64",
		"WINEDEBUG=-all",
		"WINEDLLOVERRIDES="+libraries,
	)
}

// libraries disables .NET and the browser engine, which wine would install, menus in the
// user's session, and OpenGL. We need none of them.
const libraries = "mscoree=;mshtml=;winemenubuilder.exe=;opengl32="

// pristine creates the prefix of which all others are copies, unless it exists.
func (p *Prefix) pristine() string {
	p.t.Helper()
	version := must.Get(exec.Command("wine", "--version").Output())(p.t)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	base := filepath.Join(cache, "wiebelt-test")
	must.Do(p.t, os.MkdirAll(base, 0o700))
	lock := must.Get(os.OpenFile(filepath.Join(base, "wine.lock"), os.O_CREATE|os.O_RDWR, 0o600))(p.t)
	defer lock.Close() // also releases the lock
	must.Do(p.t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	name := strings.Map(func(r rune) rune {
		if r < '0' || r > 'z' {
			return '-'
		}
		return r
	}, strings.TrimSpace(string(version)))
	dir := filepath.Join(base, name+"-"+layout)
	if _, err := os.Stat(dir); err == nil {
		sweep(base)
		return dir
	}
	half := must.Get(os.MkdirTemp(base, "new-"))(p.t)
	defer os.RemoveAll(half)
	env := environment(p.Screen.Env(), half)
	must.Do(p.t, p.tool("wineboot", env, "--init"))
	must.Do(p.t, p.tool("wineserver", env, "-w"))
	// Go gets random numbers from a library that wine 8 lacks.
	random := forwarder("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036")
	must.Do(p.t, os.WriteFile(filepath.Join(half, "drive_c/windows/system32/bcryptprimitives.dll"), random, 0o600))
	must.Do(p.t, os.Rename(half, dir))
	return dir
}

// sweep removes what killed tests left behind long ago.
func sweep(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && (strings.HasPrefix(e.Name(), "run-") || strings.HasPrefix(e.Name(), "new-")) && time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}

// clone copies a prefix, mostly as hard links. The files at its top are the registry, which
// wine writes in place if a file has several links, so they are really copied.
func clone(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		switch {
		case rel == ".":
			return nil
		case e.IsDir():
			return os.Mkdir(dst, 0o700)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, dst)
		case filepath.Dir(rel) == ".":
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(dst, b, 0o600)
		}
		return os.Link(path, dst)
	})
}

// private returns a command whose files only its user can access, as in a user's folder on
// Windows: wine derives access rights from their mode.
func (p *Prefix) private(name string, args ...string) *exec.Cmd {
	return p.Screen.Command("sh", append([]string{"-c", `umask 077; exec "$0" "$@"`, name}, args...)...)
}

// tool runs one of wine's own tools until it exits.
func (p *Prefix) tool(name string, env []string, args ...string) error {
	said := p.output() // a file, since wine's server keeps it open
	defer said.Close()
	return p.toolTo(said, name, env, args...)
}

func (p *Prefix) toolTo(said *os.File, name string, env []string, args ...string) error {
	cmd := p.private(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, said, said
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	if err := cmd.Wait(); err != nil {
		text, _ := os.ReadFile(said.Name())
		return fmt.Errorf("%s %s: %w: %s", name, args, err, text)
	}
	return nil
}

// Env returns the environment for programs of this prefix.
func (p *Prefix) Env() []string { return append([]string(nil), p.env...) }

// StayUp opens a window that stays open; otherwise wine would start and end with every
// command. wine gives its desktop ten seconds to start. On a busy machine that takes longer,
// so that the window's program exits at once, and finds the desktop when started again.
func (p *Prefix) StayUp() {
	p.t.Helper()
	window := p.Start("notepad")
	p.Screen.Until("a window of wine's", func() bool {
		select {
		case _, runs := <-window.lines:
			if !runs {
				window = p.Start("notepad")
			}
		default:
		}
		return len(p.Screen.Windows("Notepad")) > 0
	})
}

// Command returns a command for a Windows program: a path, or a name known to wine
// ("notepad"). It is not yet started, and its Env may be extended.
func (p *Prefix) Command(exe string, args ...string) *exec.Cmd {
	cmd := p.private("wine", append([]string{exe}, args...)...)
	cmd.Env = p.Env()
	return cmd
}

// runTime is how long Run waits for a program. A test gives up earlier, and says why.
const runTime = 2 * must.Patience

// Run runs a program until it exits and returns its standard output and exit code.
func (p *Prefix) Run(exe string, args ...string) (string, int) {
	p.t.Helper()
	cmd := p.Command(exe, args...)
	// Files, since wine's own programs would keep pipes open for another second.
	said, complained := p.output(), p.output()
	defer said.Close()
	defer complained.Close()
	cmd.Stdout, cmd.Stderr = said, complained
	must.Do(p.t, cmd.Start())
	stop := time.AfterFunc(runTime, func() { cmd.Process.Kill() })
	defer stop.Stop()
	if err := cmd.Wait(); cmd.ProcessState == nil {
		p.t.Fatalf("winetest: %s: %v", exe, err)
	}
	code := cmd.ProcessState.ExitCode()
	if code != 0 { // shown only if the test fails
		why, _ := os.ReadFile(complained.Name())
		p.t.Logf("winetest: %s: exit %d: %s", filepath.Base(exe), code, why)
	}
	return string(must.Get(os.ReadFile(said.Name()))(p.t)), code
}

var passed = regexp.MustCompile(`(?m)^--- PASS: Test`)

// Test runs tests built for Windows, of which this many must pass, and none fail or be
// skipped. Neither subtests nor fuzz tests count.
func (p *Prefix) Test(exe string, passing int, flags ...string) {
	p.t.Helper()
	out, code := p.Run(exe, append([]string{"-test.v", "-test.timeout=" + (runTime - 30*time.Second).String()}, flags...)...)
	if n := len(passed.FindAllString(out, -1)); code != 0 || n != passing || strings.Contains(out, "--- SKIP") {
		p.t.Errorf("code %d, %d passed, want %d: %s", code, n, passing, out)
	}
}

// output returns a file for a program's output.
func (p *Prefix) output() *os.File {
	p.t.Helper()
	return must.Get(os.CreateTemp(p.Screen.Dir, "output"))(p.t)
}

// Process is a running Windows program that is controlled through lines of text.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.Writer
	lines chan string
}

// Start starts a program that is ended with the test.
func (p *Prefix) Start(exe string, args ...string) *Process {
	p.t.Helper()
	cmd := p.Command(exe, args...)
	in := must.Get(cmd.StdinPipe())(p.t)
	out := must.Get(cmd.StdoutPipe())(p.t)
	// A file, since processes left running by wine may keep the other end of a pipe open.
	said := p.output()
	defer said.Close()
	cmd.Stderr = said
	must.Do(p.t, cmd.Start())
	proc := &Process{t: p.t, cmd: cmd, in: in, lines: make(chan string, 10000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(proc.lines)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			select {
			case proc.lines <- strings.TrimRight(sc.Text(), "\r"):
			default: // the program is out of control
			}
		}
	}()
	p.t.Cleanup(func() {
		cmd.Process.Kill()
		out.Close() // a child may keep the other end open
		<-read
		cmd.Wait()
		if text, err := os.ReadFile(said.Name()); err == nil && p.t.Failed() {
			p.t.Logf("winetest: %s: %v: %s", filepath.Base(exe), cmd.ProcessState, text)
		}
	})
	return proc
}

// Send writes a line to the program's standard input.
func (p *Process) Send(line string) {
	p.t.Helper()
	must.Get(io.WriteString(p.in, line+"\n"))(p.t)
}

// Said skips lines printed by the program until one starts with prefix, and
// reports whether one does.
func (p *Process) Said(prefix string) bool {
	for {
		select {
		case line, ok := <-p.lines:
			if !ok || strings.HasPrefix(line, prefix) {
				return ok
			}
		default:
			return false
		}
	}
}

// Wait skips lines printed by the program until one starts with prefix, and
// returns the rest of it.
func (p *Process) Wait(prefix string) string {
	p.t.Helper()
	late := time.After(must.Patience)
	var seen []string
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("winetest: the program ended before it said %q; it said %q", prefix, seen)
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
			seen = append(seen, line)
		case <-late:
			p.t.Fatalf("winetest: the program never said %q, but %q", prefix, seen)
		}
	}
}

// Build cross-builds a Windows program from a package of this module (a path
// for go build, relative to the test's folder) and returns the file.
func Build(t testing.TB, pkg string, flags ...string) string {
	t.Helper()
	return build(t, append([]string{"build"}, flags...), pkg)
}

// BuildTests is Build for the tests of the package under test.
func BuildTests(t testing.TB, flags ...string) string {
	t.Helper()
	return build(t, append([]string{"test", "-c"}, flags...), ".")
}

func build(t testing.TB, args []string, pkg string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "program.exe")
	cmd := exec.Command("go", append(args, "-o", exe, pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s for Windows: %v\n%s", args[0], err, out)
	}
	return exe
}
