// Package xtest gives tests their own X server: Xvfb on a free display, a
// window manager if requested, input and screenshots (xdotool, pictures of the
// screen, a terminal that records every key).
//
// It serves tests only. Every process that it starts belongs to the test that requested it
// and is ended by its own id when that test ends, even if it failed. Nothing in the user's
// own session is touched or read: the home, configuration and runtime folders are
// temporary, and there is no D-Bus session.
package xtest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/testutil/must"
)

// Options describe the screen. The zero value is 1280x800 at 24 bits.
type Options struct {
	Width, Height int
	Depth         int // 16, 24 or 30
	// Monitors are the parts of the screen that have a monitor each, the primary one first.
	// They need Xorg with its dummy driver instead of Xvfb. Each must be 1024x768, 960x540,
	// 800x600 or 640x480. They are named DUMMY0, DUMMY1 and so on.
	Monitors []image.Rectangle
	// DPI becomes the resource Xft.dpi; 0 leaves it unset.
	DPI int
	// Env is added to the environment of everything started on this server.
	Env []string
}

// Server is one running X server.
type Server struct {
	// Display is the value for DISPLAY, such as ":12".
	Display string
	// Dir is a temporary folder of this server: its programs' home.
	Dir string

	t     testing.TB
	env   []string
	xvfb  *exec.Cmd
	conn  *xgb.Conn
	root  xproto.Window
	setup *xproto.SetupInfo

	// These differ if programs run inside a compositor: the server with their windows, and
	// the environment of the screen around it.
	windows *xgb.Conn
	desk    xproto.Window
	around  []string
}

// Start starts an X server and, unless wm is empty, the window manager of that name
// ("openbox", "xfwm4"), and returns when both are ready.
func Start(t testing.TB, wm string, o Options) *Server {
	t.Helper()
	s := NoScreen(t)
	s.start(o)
	s.placeMonitors(o.Monitors)
	if wm != "" {
		s.startManager(wm)
	}
	return s
}

// NoScreen returns a server without a screen, for programs that only need a bus.
func NoScreen(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, Dir: t.TempDir()}
	NoneLeft(t, s.Dir)
	s.env = environment("", s.Dir, nil)
	return s
}

// placeMonitors switches on the requested monitors.
func (s *Server) placeMonitors(list []image.Rectangle) {
	s.t.Helper()
	for i, r := range list {
		name, mode := "DUMMY"+strconv.Itoa(i), fmt.Sprintf("%dx%d", r.Dx(), r.Dy())
		if i > 0 { // not connected, but assumed to be by these commands
			s.Run("xrandr", "--addmode", name, mode)
		}
		s.Run("xrandr", "--output", name, "--mode", mode, "--pos", fmt.Sprintf("%dx%d", r.Min.X, r.Min.Y))
	}
	if len(list) > 0 {
		s.Run("xrandr", "--output", "DUMMY0", "--primary")
	}
}

// dummy is the configuration of Xorg without hardware.
const dummy = `Section "ServerFlags"
	Option "AutoAddDevices" "false"
	Option "AutoAddGPU" "false"
	Option "DontVTSwitch" "true"
EndSection
Section "Device"
	Identifier "card"
	Driver "dummy"
	VideoRam 65536
EndSection
Section "Screen"
	Identifier "screen"
	Device "card"
	DefaultDepth 24
	SubSection "Display"
		Depth 24
		Virtual 2048 1536
	EndSubSection
EndSection
`

// xorg returns the command of such a server, up to its display. It is not the wrapper of
// the same name, which requires a console.
func (s *Server) xorg() *exec.Cmd {
	config := filepath.Join(s.Dir, "xorg.conf")
	s.write(config, dummy, 0o600)
	return exec.Command("/usr/lib/xorg/Xorg", "-config", config, "-logfile", filepath.Join(s.Dir, "xorg.log"),
		"-noreset", "-novtswitch", "-sharevts", "-nolisten", "tcp", "-displayfd", "3")
}

// prepare keeps the X library from printing into the test's output when a server ends before
// its clients, and registers the events of extensions. The library's maps are global: nobody
// may write to them once a connection is open.
var prepare = sync.OnceFunc(func() {
	xgb.Logger.SetOutput(io.Discard)
	for n := 64; n < 128; n++ { // extension events, which each server numbers differently
		if xgb.NewEventFuncs[n] == nil {
			xgb.NewEventFuncs[n] = func(b []byte) xgb.Event { return extensionEvent(b) }
		}
	}
})

// extensionEvent is an event from any extension.
type extensionEvent []byte

func (e extensionEvent) Bytes() []byte  { return e }
func (e extensionEvent) String() string { return "event of an extension" }

func (s *Server) start(o Options) {
	s.t.Helper()
	prepare()
	if o.Width == 0 {
		o.Width, o.Height = 1280, 800
	}
	s.xvfb = exec.Command("Xvfb", "-displayfd", "3", "-screen", "0",
		fmt.Sprintf("%dx%dx%d", o.Width, o.Height, cmp.Or(o.Depth, 24)), "-nolisten", "tcp", "-noreset")
	if len(o.Monitors) > 0 {
		s.xvfb = s.xorg()
	}
	var log bytes.Buffer
	s.xvfb.Stderr = &log
	line, err := s.firstLine(s.xvfb)
	if err != nil {
		end(s.xvfb) // otherwise it would still be writing
		s.t.Fatalf("xtest: the screen does not come up: %v\n%s", err, log.String())
	}
	s.Display = ":" + line
	s.env = environment(s.Display, s.Dir, o.Env)
	// Our own empty file, since clients must not look into the user's.
	s.write(filepath.Join(s.Dir, ".Xauthority"), "", 0o600)
	s.conn = must.Get(xgb.NewConnDisplay(s.Display))(s.t)
	s.t.Cleanup(s.conn.Close)
	s.setup = xproto.Setup(s.conn)
	s.root = s.setup.DefaultScreen(s.conn).Root
	s.windows, s.desk = s.conn, s.root
	if o.DPI != 0 {
		v := "Xft.dpi:\t" + strconv.Itoa(o.DPI) + "\n"
		must.Do(s.t, xproto.ChangePropertyChecked(s.conn, xproto.PropModeReplace, s.root, xproto.AtomResourceManager,
			xproto.AtomString, 8, uint32(len(v)), []byte(v)).Check())
	}
}

// firstLine starts a program that is ended with the test, and waits for the first line that
// it writes to its file descriptor 3.
func (s *Server) firstLine(cmd *exec.Cmd) (string, error) {
	s.t.Helper()
	r, w, err := os.Pipe()
	must.Do(s.t, err)
	defer r.Close()
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{w}, child()
	err = cmd.Start()
	w.Close()
	must.Do(s.t, err)
	s.t.Cleanup(func() { end(cmd) })
	r.SetReadDeadline(time.Now().Add(must.Patience))
	line, err := bufio.NewReader(r).ReadString('\n')
	return strings.TrimSpace(line), err
}

// environment returns the process environment without anything that
// leads to the user's own session, plus more.
func environment(display, dir string, more []string) []string {
	drop := []string{"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "HOME", "XDG_", "DBUS_", "GTK_", "QT_", "SESSION_MANAGER", "DESKTOP_"}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return slices.ContainsFunc(drop, func(d string) bool { return strings.HasPrefix(e, d) })
	})
	env = append(env,
		"DISPLAY="+display,
		"HOME="+dir,
		"XAUTHORITY="+filepath.Join(dir, ".Xauthority"),
		"XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"XDG_DATA_HOME="+filepath.Join(dir, "data"),
		"XDG_RUNTIME_DIR="+dir,
		// No bus, so that no program starts one that outlives it.
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
		"NO_AT_BRIDGE=1",
	)
	return append(env, more...)
}

func (s *Server) startManager(wm string) {
	s.t.Helper()
	var args []string
	if wm == "xfwm4" {
		// It reads its settings through D-Bus and does not start without it.
		s.Bus()
		args = append(args, "--compositor=off", "--vblank=off")
		// The bus starts the process that keeps those settings. That process writes them when
		// it ends, into a folder that is already being removed.
		keeper := 0
		s.t.Cleanup(func() { End(keeper) })
		defer func() { keeper = s.owner("org.xfce.Xfconf") }()
	}
	s.Spawn(wm, args...)
	s.Until("window manager takes windows", s.managed)
	// The very first key makes the server switch keyboards, and the manager briefly releases
	// its grabs. It has grabbed its keys again once it manages a window.
	s.Run("xdotool", "key", "Shift_L")
	s.Until("window manager takes windows again", s.managed)
}

// owner returns the process that owns a name on the bus, or 0 if there is none.
func (s *Server) owner(name string) int {
	out, err := s.Command("dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
		"org.freedesktop.DBus.GetConnectionUnixProcessID", "string:"+name).Output()
	if err != nil {
		return 0
	}
	_, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	pid, _ := strconv.Atoi(number)
	return pid
}

// End ends a process that is not our child and waits until it is gone.
func End(pid int) {
	p, err := os.FindProcess(pid)
	if pid <= 1 || err != nil || p.Signal(syscall.SIGTERM) != nil {
		return
	}
	tick := time.Tick(5 * time.Millisecond)
	for late := time.Now().Add(10 * time.Second); p.Signal(syscall.Signal(0)) == nil; <-tick {
		if time.Now().After(late) {
			_ = p.Kill() // it may just have ended
			return
		}
	}
}

// managed reports whether a window opened now is managed. openbox announces itself some time
// before that, and never checks again for windows opened in between.
func (s *Server) managed() bool {
	id, err := xproto.NewWindowId(s.conn)
	if err != nil {
		return false
	}
	sc := s.setup.DefaultScreen(s.conn)
	xproto.CreateWindow(s.conn, sc.RootDepth, id, s.root, 0, 0, 8, 8, 0, xproto.WindowClassInputOutput, sc.RootVisual, 0, nil)
	xproto.MapWindow(s.conn, id)
	defer xproto.DestroyWindow(s.conn, id)
	stop := time.After(100 * time.Millisecond)
	tick := time.Tick(2 * time.Millisecond)
	for {
		if r, err := xproto.QueryTree(s.conn, id).Reply(); err == nil && r.Parent != s.root {
			return true // it has a frame
		}
		select {
		case <-tick:
		case <-stop:
			return false
		}
	}
}

// Bus starts a private D-Bus session for everything started from now on, and
// returns its address.
func (s *Server) Bus() string { return s.bus("--session") }

// PlainBus starts a bus that, unlike the usual one, does not
// start programs for names without an owner.
func (s *Server) PlainBus() string {
	s.t.Helper()
	config := filepath.Join(s.Dir, "bus.conf")
	s.write(config, `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
  </policy>
</busconfig>`, 0o600)
	return s.bus("--config-file=" + config)
}

func (s *Server) bus(kind string) string {
	s.t.Helper()
	address, err := s.firstLine(s.Command("dbus-daemon", kind, "--nofork", "--nopidfile", "--print-address=3"))
	must.Do(s.t, err)
	s.env = append(s.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	return address
}

// Env returns the environment for programs on this server.
func (s *Server) Env() []string { return append([]string(nil), s.env...) }

// Enter gives this process the environment of programs on the server, until the test ends.
func (s *Server) Enter() {
	s.t.Helper()
	for _, e := range s.env {
		name, value, _ := strings.Cut(e, "=")
		s.t.Setenv(name, value)
	}
}

// Command returns a command for a program on this server, not yet started.
func (s *Server) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.Env()
	cmd.Dir = s.Dir
	cmd.SysProcAttr = child()
	return cmd
}

// Run runs a program until it exits and returns its output. It fails the test on
// an error, or after must.Patience.
func (s *Server) Run(name string, args ...string) string {
	s.t.Helper()
	return s.runIn(s.Env(), name, args...)
}

// xdotool runs xdotool on the screen itself, even if programs run inside a compositor.
func (s *Server) xdotool(args ...string) {
	s.t.Helper()
	env := s.around
	if env == nil {
		env = s.Env()
	}
	s.runIn(env, "xdotool", args...)
}

func (s *Server) runIn(env []string, name string, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = env, s.Dir, child()
	cmd.WaitDelay = time.Second // for a child that keeps the output open
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		s.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Spawn starts a program that is ended with the test.
func (s *Server) Spawn(name string, args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := s.Command(name, args...)
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.t.Cleanup(func() { end(cmd) })
	return cmd
}

// Kill kills the X server, as when a session is closed under a program.
func (s *Server) Kill() {
	s.xvfb.Process.Kill()
	s.xvfb.Wait()
}

// end asks a program to end, and kills it if it takes too long.
func end(cmd *exec.Cmd) {
	if cmd.ProcessState != nil {
		return
	}
	cmd.Process.Signal(syscall.SIGTERM)
	hard := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
	defer hard.Stop()
	cmd.Wait()
}

// Size returns the size of the screen, which monitors may change.
func (s *Server) Size() image.Point {
	s.t.Helper()
	g := must.Get(xproto.GetGeometry(s.conn, xproto.Drawable(s.root)).Reply())(s.t)
	return image.Pt(int(g.Width), int(g.Height))
}
