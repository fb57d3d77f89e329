package tray

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/testutil/winetest"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"tray": withTray})
	os.Exit(m.Run())
}

// withTray is the program with the tray, which reads models from standard input and
// prints what was chosen: systray keeps its state in global variables, so every test
// needs a process of its own.
func withTray(must.Test, []string) {
	ctx, cancel := context.WithCancel(context.Background())
	t := New(Params{Icons: assets.Icons, Log: slog.New(slog.DiscardHandler),
		Chosen: func(id string) { fmt.Println("chosen", id) }, Open: func() { fmt.Println("open") }})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			var m Model
			if json.Unmarshal(in.Bytes(), &m) == nil {
				t.Set(m)
			}
		}
		cancel()
	}()
	t.Run(ctx)
}

// ownBus starts the test's own session bus on a server without a screen.
func ownBus(t *testing.T) (s *xtest.Server, address string, c *dbus.Conn) {
	t.Helper()
	s = xtest.NoScreen(t)
	address = s.PlainBus()
	return s, address, xtest.Connect(t, address)
}

type child struct {
	t *testing.T
	*processtest.Process
}

func command(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := processtest.Command(context.Background(), "tray")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), processtest.RoleEnv + "=tray"}, env...)
	return cmd
}

func start(t *testing.T, env ...string) *child {
	t.Helper()
	cmd := command(t, env...)
	cmd.Stderr = os.Stderr
	p := processtest.StartCommand(t, cmd)
	t.Cleanup(func() {
		_ = p.Input.Close()
		// The race detector may report races in the library, which sets its exit code.
		if end, failed := errors.AsType[*exec.ExitError](p.Wait()); failed && !end.Exited() {
			t.Error("the tray does not end: ", end)
		}
	})
	return &child{t, p}
}

func (c *child) set(m Model) {
	c.t.Helper()
	must.Do(c.t, json.NewEncoder(c.Input).Encode(m))
}

func (c *child) says(want string) {
	c.t.Helper()
	if got := must.Receive(c.t, c.Lines, want); got != want {
		c.t.Fatalf("%q, want %q", got, want)
	}
}

var calls = Model{State: Ready, Sentence: "Klaar.", Items: []Item{
	{ID: "status", Title: "Klaar.", Disabled: true}, {Separator: true}, {ID: "calls", Title: "Oproepen…"}, {ID: "quit", Title: "Afsluiten"}}}

// shown is a tray and what a panel sees of it on the bus.
type shown struct {
	*xtest.Server
	kid        *child
	c          *dbus.Conn
	host       *xtest.TrayHost
	name       string
	item, menu dbus.BusObject
}

func shownOn(t *testing.T, m Model) shown {
	t.Helper()
	server, address, c := ownBus(t)
	s := shown{Server: server, kid: start(t, busVar+"="+address), c: c, host: xtest.HostTray(t, c)}
	s.kid.set(m)
	s.Until("registered", func() bool { return len(s.host.Items()) > 0 })
	s.name = s.host.Items()[0]
	s.item, s.menu = c.Object(s.name, "/StatusNotifierItem"), c.Object(s.name, "/StatusNotifierItem/menu")
	s.Until("the first menu", func() bool { got, _ := xtest.TrayMenu(s.menu); return len(got) == len(m.Items) })
	return s
}

func TestWithoutABus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if HasHost(t.Context()) {
		t.Error("a host without a bus")
	}
	kid := start(t, "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR="+t.TempDir())
	kid.set(calls) // shows nothing, prints nothing, and ends when asked to
}

// TestWaitHost checks that the tray waits for a panel that starts later.
func TestWaitHost(t *testing.T) {
	_, address, c := ownBus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	if WaitHost(t.Context(), 10*time.Millisecond) {
		t.Error("a host on an empty bus")
	}
	found := make(chan bool, 1)
	go func() { found <- WaitHost(t.Context(), time.Minute) }()
	xtest.HostTray(t, c)
	if !<-found {
		t.Error("the host came, and nobody saw it")
	}
}

// TestWindows runs this package's Windows tests under wine.
func TestWindows(t *testing.T) { winetest.New(t).Test(winetest.BuildTests(t), 2) }
