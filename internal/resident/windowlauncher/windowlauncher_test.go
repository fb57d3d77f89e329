package windowlauncher

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office is a resident with nothing but its windows.
type office struct {
	*Launcher
	t      *testing.T
	cfg    instance.Config
	end    func() // as the resident's end does
	copied chan string
	ended  chan struct{}
	asked  chan string // kinds answered
	hold   chan struct{}

	allowed atomic.Bool // the windows may come to the front
}

func (*office) Ring(call.Event) error { return nil }
func (o *office) Peer(ctx context.Context, _ instance.Hello, c *instance.Conn) {
	o.Serve(ctx, c)
}

func newOffice(t *testing.T) *office {
	t.Helper()
	dir := t.TempDir()
	o := &office{t: t, cfg: instance.Config{RunDir: dir, Version: "t", Build: "t"},
		copied: make(chan string, 1), ended: make(chan struct{}, 1), asked: make(chan string, 10), hold: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	o.Launcher = New(ctx, Params{ProfileDir: "/profile", Log: slog.New(slog.DiscardHandler),
		Welcome:    func(window string) windowapi.Welcome { return windowapi.Welcome{Window: window, Theme: "dark"} },
		Copy:       func(s string) error { o.copied <- s; return errors.New("no clipboard") },
		LetForward: func() { o.allowed.Store(true) },
		WorkArea:   func() windowapi.WorkArea { return windowapi.WorkArea{Scale: 1.5} },
		Language:   func() text.Language { return text.Dutch },
		Ended:      func() { o.ended <- struct{}{} },
		Answer: func(q request.Request) {
			if q.Kind == "slow.one" {
				select {
				case <-o.hold:
				case <-q.Ctx.Done():
				}
			}
			q.Reply("answer."+q.Kind, json.RawMessage(`{}`))
			o.asked <- q.Kind
		}})
	one := must.Get(instance.Acquire(o.cfg))(t)
	var serving sync.WaitGroup
	serving.Go(func() { _ = one.Serve(ctx, o) })
	o.end = sync.OnceFunc(func() { cancel(); serving.Wait(); _ = one.Close() })
	t.Cleanup(o.end)
	return o
}

// connect connects like a window process that was started for window.
func (o *office) connect(window string) *instance.Conn {
	o.t.Helper()
	c, _, err := instance.Connect(o.t.Context(), o.cfg, instance.RoleWindows)
	must.Do(o.t, err)
	o.t.Cleanup(func() { _ = c.Close() })
	must.Do(o.t, c.Send(windowapi.KindShow, windowapi.Show{Window: window}))
	return c
}

// next returns the next message's kind, "" once the connection has ended.
func (o *office) next(c *instance.Conn, into any) string {
	o.t.Helper()
	kind, raw, err := c.Receive()
	if err != nil {
		return ""
	}
	if into != nil && json.Unmarshal(raw, into) != nil {
		o.t.Errorf("%s: %s", kind, raw)
	}
	return kind
}

// receive checks the kind of the next message.
func (o *office) receive(c *instance.Conn, want string) {
	o.t.Helper()
	if kind := o.next(c, nil); kind != want {
		o.t.Errorf("%q, want %q", kind, want)
	}
}

// painted reports the requested window as shown, and waits until that is known.
func (o *office) painted(c *instance.Conn) {
	o.t.Helper()
	for _, kind := range []string{windowapi.KindPainted, "calls.ask"} {
		must.Do(o.t, c.Send(kind, nil))
	}
	o.next(c, nil)
}

// TestServe checks that the program is welcomed, updated, answered without one request
// blocking another, and told to quit at the end.
func TestServe(t *testing.T) {
	o := newOffice(t)
	if o.IsOpen() {
		t.Error("open before anybody came")
	}
	c := o.connect(windowapi.WindowCalls)
	var w windowapi.Welcome
	if kind := o.next(c, &w); kind != windowapi.KindWelcome || w.Window != windowapi.WindowCalls || w.Theme != "dark" || !o.IsOpen() {
		t.Fatalf("%s %+v, open %v", kind, w, o.IsOpen())
	}
	o.Show(windowapi.WindowHelp)
	var show windowapi.Show
	if kind := o.next(c, &show); kind != windowapi.KindShow || show.Window != windowapi.WindowHelp ||
		show.WorkArea.Scale != 1.5 || !o.allowed.Load() {
		t.Errorf("%s %+v", kind, show)
	}
	second := o.connect(windowapi.WindowDelivery)
	o.receive(second, windowapi.KindQuit)
	if kind := o.next(c, &show); kind != windowapi.KindShow || show.Window != windowapi.WindowDelivery {
		t.Errorf("%s %+v", kind, show)
	}
	send := func(kind string, msg any) {
		t.Helper()
		must.Do(t, c.Send(kind, msg))
	}
	send(windowapi.KindPainted, nil)
	send("slow.one", nil)
	send("calls.ask", nil)
	o.receive(c, "answer.calls.ask")
	close(o.hold)
	o.receive(c, "answer.slow.one")
	send(windowapi.KindCopy, windowapi.Copy{Text: strings.Repeat("x", maxCopied+1)})
	send(windowapi.KindCopy, windowapi.Copy{Text: "0612345678"})
	if s := <-o.copied; s != "0612345678" {
		t.Errorf("%d bytes were copied", len(s))
	}
	o.receive(c, windowapi.KindCopy)
	o.Send(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedHistory})
	o.receive(c, windowapi.KindChanged)
	o.Send(windowapi.KindQuit, nil)
	o.receive(c, windowapi.KindQuit)
	o.end()
	for o.next(c, nil) != "" { // it may be told to quit once more
	}
	if o.IsOpen() {
		t.Error("open after the end")
	}
}

// TestRequestsEndWithTheirWindow checks that a client that has disconnected gets no more answers.
func TestRequestsEndWithTheirWindow(t *testing.T) {
	o := newOffice(t)
	c := o.connect(windowapi.WindowCalls)
	o.next(c, nil)
	must.Do(t, c.Send("slow.one", nil))
	_ = c.Close()
	if kind := <-o.asked; kind != "slow.one" {
		t.Errorf("%s", kind)
	}
}

// TestShowStartsTheProgram checks that the program is started once, with the window and the
// profile, and again for a window requested as it exited.
func TestShowStartsTheProgram(t *testing.T) {
	o := newOffice(t)
	notes := filepath.Join(t.TempDir(), "notes")
	gate := filepath.Join(t.TempDir(), "gate")
	o.install("echo \"$*\" >> " + notes + "\nwhile [ ! -e " + gate + " ]; do sleep 0.01; done\n")
	o.Show(windowapi.WindowCalls)
	o.Show(windowapi.WindowHelp) // already starting: no second one
	must.Do(t, os.WriteFile(gate, nil, 0o600))
	for range 2 { // the first one exited without asking what to show
		must.Receive(t, o.ended, "its end")
	}
	b := must.Get(os.ReadFile(notes))(t)
	if got, want := string(b), "window calls --profile /profile\nwindow help --profile /profile\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// install puts a script in place of our program.
func (o *office) install(script string) {
	o.t.Helper()
	o.p.Exe = filepath.Join(o.t.TempDir(), "wiebelt")
	must.Do(o.t, os.WriteFile(o.p.Exe, []byte("#!/bin/sh\n"+script), 0o700))
}

// TestShowAsTheyClose checks that a window requested while the
// last one closes gets a process of its own.
func TestShowAsTheyClose(t *testing.T) {
	o := newOffice(t)
	notes := filepath.Join(t.TempDir(), "notes")
	o.install("echo \"$2\" >> " + notes + "\n")
	c := o.connect(windowapi.WindowCalls)
	o.next(c, nil)
	o.Show(windowapi.WindowDemo)
	o.next(c, nil)
	o.painted(c)
	o.Show(windowapi.WindowHelp)
	_ = c.Close()
	<-o.ended
	if b, err := os.ReadFile(notes); err != nil || string(b) != "help\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestTwoProcessesAtOnce checks that when somebody starts a window while another is
// starting, both are shown, by whichever process connects first.
func TestTwoProcessesAtOnce(t *testing.T) {
	o := newOffice(t)
	o.install("exec sleep 600\n")
	o.limit = time.Second
	o.Show(windowapi.WindowStart)
	c := o.connect(windowapi.WindowSettings)
	var w windowapi.Welcome
	var show windowapi.Show
	if kind := o.next(c, &w); kind != windowapi.KindWelcome || w.Window != windowapi.WindowSettings {
		t.Errorf("%s %+v", kind, w)
	}
	if kind := o.next(c, &show); kind != windowapi.KindShow || show.Window != windowapi.WindowStart {
		t.Errorf("%s %+v", kind, show)
	}
	<-o.ended    // the other one, which shows nothing
	o.painted(c) // otherwise it would be shown again after the test
}

// TestProgramThatHangs checks that a program that never asks what to show is killed,
// so that the next request starts another.
func TestProgramThatHangs(t *testing.T) {
	o := newOffice(t)
	o.limit = 50 * time.Millisecond
	o.install("exec sleep 600\n")
	for range 2 {
		o.Show(windowapi.WindowCalls)
		must.Receive(t, o.ended, "its end")
	}
}
