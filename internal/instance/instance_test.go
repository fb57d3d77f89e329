package instance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(roles)
	goleak.VerifyTestMain(m)
}

var roles = processtest.Roles{"resident": resident, "ring": ring}

// ring is a phone's program that hands over one call.
func ring(t must.Test, args []string) {
	dir, test, number := args[0], args[1], args[2]
	e := call.Event{Source: call.Source{Kind: call.KindCommand}, Number: number, At: time.Now()}
	must.Do(t, HandOver(context.Background(), config(dir), e, func() error {
		return StartDetached(append(os.Environ(), processtest.RoleEnv+"=resident"), must.Get(os.Executable())(t), dir, test)
	}))
}

// folder returns a private folder. On Windows it goes with wine's prefix, since wine does
// not support how Go removes folders.
func folder(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		return must.Get(os.MkdirTemp("", "instance"))(t)
	}
	return t.TempDir()
}

func config(dir string) Config {
	return Config{RunDir: dir, Version: "1", Build: "b"}
}

// resident records what it receives until the test, to which it connects first, is over.
func resident(t must.Test, args []string) {
	dir := args[0]
	test, err := net.Dial("tcp", args[1])
	if err != nil {
		return
	}
	if n, _ := test.Read(make([]byte, 1)); n == 0 {
		return
	}
	i, err := Acquire(config(dir))
	if errors.Is(err, ErrRunning) {
		return
	}
	must.Do(t, err)
	defer i.Close()
	f := must.Get(os.OpenFile(filepath.Join(dir, "heard"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
	fmt.Fprintf(f, "start %d\n", os.Getpid())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, test)
		cancel()
	}()
	fmt.Fprintln(f, "end", i.Serve(ctx, &testHandler{f: f}))
}

type testHandler struct {
	mu   sync.Mutex
	f    *os.File
	got  []call.Event
	fail error
	ends []error // how connections of peers ended
	news chan struct{}
}

func (e *testHandler) Ring(ev call.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail != nil {
		return e.fail
	}
	e.got = append(e.got, ev)
	if e.f != nil {
		fmt.Fprintf(e.f, "ring %s\n", ev.Number)
	}
	if e.news != nil {
		e.news <- struct{}{}
	}
	return nil
}

// Peer returns what the peer sends.
func (e *testHandler) Peer(_ context.Context, _ Hello, c *Conn) {
	for {
		kind, raw, err := c.Receive()
		if err != nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.ends = append(e.ends, err)
			return
		}
		_ = c.Send(kind, raw)
	}
}

// TestFiftyAtOnce has fifty programs hand over a call while nothing runs. One
// resident starts and receives fifty calls, and answers a peer until it ends in good order.
func TestFiftyAtOnce(t *testing.T) {
	dir := folder(t)
	t.Cleanup(func() { // once the residents have exited
		heard := string(must.Get(os.ReadFile(filepath.Join(dir, "heard")))(t))
		if n := strings.Count(heard, "start "); n == 0 || strings.Count(heard, "end <nil>\n") != n {
			t.Errorf("heard:\n%s", heard)
		}
	})
	test := admitResidents(t)
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			if out, err := processtest.Command(t.Context(), "ring", dir, test, strconv.Itoa(1000+n)).CombinedOutput(); err != nil {
				t.Errorf("ring %d: %v: %s", n, err, out)
			}
		})
	}
	all.Wait()
	var rings map[string]int
	starts := 0
	waitFor(t, "fifty calls", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "heard"))
		rings, starts = map[string]int{}, 0
		for l := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(strings.TrimSpace(l), "ring "); ok {
				rings[n]++
			} else if strings.HasPrefix(l, "start") {
				starts++
			}
		}
		return len(rings) >= 50
	})
	for n, times := range rings {
		if times != 1 {
			t.Errorf("call %s was heard %d times", n, times)
		}
	}
	if starts != 1 || len(rings) != 50 {
		t.Errorf("%d residents, %d calls", starts, len(rings))
	}
	if kind, raw, err := Ask(t.Context(), config(dir), "echo", "x"); err != nil || kind != "echo" || string(raw) != `"x"` {
		t.Errorf("a peer is told %q, %s: %v", kind, raw, err)
	}
}

// admitResidents returns an address at which residents are admitted until the test is over,
// which then waits until they have exited. Residents that see that they are not the first
// may still be in the folder when all calls have arrived, or be the first after all.
func admitResidents(t *testing.T) (address string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var residents []net.Conn
	over := make(chan struct{})
	go func() {
		defer close(over)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = c.Write([]byte{1})
			residents = append(residents, c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-over
		for _, c := range residents {
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c) // until it has exited
			_ = c.Close()
		}
	})
	return l.Addr().String()
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	must.Soon(t, func() (bool, any) { return ok(), "no " + what })
}

func serve(t *testing.T, dir string, e *testHandler) {
	t.Helper()
	i := must.Get(Acquire(config(dir)))(t)
	end := begin(t, i, e)
	t.Cleanup(func() { end(); _ = i.Close() })
}

// begin serves until end is called.
func begin(t testing.TB, i *Instance, h Handler) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() { defer close(served); _ = i.Serve(ctx, h) }()
	return func() {
		t.Helper()
		cancel()
		must.Receive(t, served, "its end")
	}
}

func TestWholeEventArrives(t *testing.T) {
	dir := folder(t)
	e := &testHandler{news: make(chan struct{}, 1)}
	serve(t, dir, e)
	want := call.Event{Source: call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}, ID: "x", State: call.Ended, Direction: call.Outgoing,
		Reason: call.Missed, Number: "0612345678", Name: "J. de Vries", Line: "101", Via: "102", At: time.Now().Round(0)}
	must.Do(t, deliver(t.Context(), config(dir), encodeEvent(want), settleTime))
	must.Receive(t, e.news, "the call")
	got := e.got[0]
	if !got.At.Equal(want.At) {
		t.Error("another time")
	}
	got.At = want.At
	if got != want {
		t.Errorf("%+v\n%+v", got, want)
	}
}

// TestRefused checks that a program whose call is refused learns why.
func TestRefused(t *testing.T) {
	dir := folder(t)
	serve(t, dir, &testHandler{})
	e := command("1")
	e.Source.Kind, e.State = call.KindURL, call.Ended
	err := deliver(t.Context(), config(dir), encodeEvent(e), settleTime)
	if err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "a link may only say") {
		t.Errorf("%v", err)
	}
}

// TestPeers checks that a peer and the resident exchange messages of any length, and that
// closing a connection ends both sides, even one that is waiting.
func TestPeers(t *testing.T) {
	dir := folder(t)
	e := &testHandler{}
	serve(t, dir, e)
	const peers = 20
	for range peers {
		c, hello, err := Connect(t.Context(), config(dir), RoleWindows)
		must.Do(t, err)
		if hello != (Hello{"1", "b", "resident"}) {
			t.Errorf("met %+v", hello)
		}
		for n := range 10 {
			sent := strings.Repeat("x", n*1000)
			must.Do(t, c.Send("echo", sent))
			if kind, raw, err := c.Receive(); err != nil || kind != "echo" || string(raw) != strconv.Quote(sent) {
				t.Fatalf("%d bytes came back as %q, %d bytes: %v", len(sent), kind, len(raw), err)
			}
		}
		ended := make(chan error)
		go func() { _, _, err := c.Receive(); ended <- err }()
		must.Soon(t, func() (bool, any) { return receives("TestPeers"), "nobody who waits" })
		must.Do(t, c.Close())
		if err := must.Receive(t, ended, "the end of Receive"); !errors.Is(err, os.ErrClosed) {
			t.Errorf("after closing: %v", err)
		}
	}
	must.Soon(t, func() (bool, any) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.ends) == peers && !slices.ContainsFunc(e.ends, func(err error) bool { return err != io.EOF }), fmt.Sprint(e.ends)
	})
}

// receives reports whether a goroutine that a test started waits for a message.
func receives(test string) bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		waits := strings.Contains(stack, "[IO wait") && strings.Contains(stack, "(*Conn).Receive(")
		if waits && strings.Contains(stack, "."+test+" in goroutine") {
			return true
		}
	}
	return false
}

func TestInboxIsReadAtStartAndKeptWhileNotTaken(t *testing.T) {
	dir := folder(t)
	started := 0
	ring := func(n string) error {
		return HandOver(t.Context(), config(dir), command(n), func() error { started++; return nil })
	}
	for n := range 20 {
		must.Do(t, ring(strconv.Itoa(n)))
	}
	if started != 20 {
		t.Errorf("start was called %d times", started)
	}
	e := &testHandler{fail: errors.New("stopping")}
	box := newInbox(config(dir), &receiver{h: e})
	box.read()
	if files, _ := filepath.Glob(filepath.Join(dir, "inbox", "*.call")); len(files) != 20 {
		t.Fatalf("%d of 20 calls are left though none was taken", len(files))
	}
	e.fail = nil
	if !box.read() {
		t.Error("it would be read again and again")
	}
	if len(e.got) != 20 || e.got[0].Number != "0" || e.got[19].Number != "19" {
		t.Fatalf("%d calls", len(e.got))
	}
	if files, _ := os.ReadDir(filepath.Join(dir, "inbox")); len(files) != 0 {
		t.Errorf("%d files left", len(files))
	}
}

func TestInboxLimits(t *testing.T) {
	dir := folder(t)
	must.Do(t, os.MkdirAll(filepath.Join(dir, "inbox"), 0o700))
	put := func(name string, b []byte) {
		must.Do(t, os.WriteFile(filepath.Join(dir, "inbox", name), b, 0o600))
	}
	put("1.call", bytes.Repeat([]byte("x"), maxInboxFileSize+1))
	put("2.call", []byte("no json"))
	put("3.call", []byte(`{"way":"baresip","state":"ringing","number":"1","at":"2026-01-01T00:00:00Z"}`))
	put("4.call", []byte(`{"way":"url","state":"ended","number":"1","at":"2026-01-01T00:00:00Z"}`))
	e := &testHandler{}
	newInbox(config(dir), &receiver{h: e}).read()
	if len(e.got) != 0 {
		t.Errorf("%+v", e.got)
	}
	if files, _ := os.ReadDir(filepath.Join(dir, "inbox")); len(files) != 0 {
		t.Errorf("%d files left", len(files))
	}
	for n := range maxInboxFiles {
		put(fmt.Sprintf("%d.call", n), []byte("{}"))
	}
	if err := HandOver(t.Context(), config(dir), command(""), func() error { return nil }); !errors.Is(err, ErrInboxFull) {
		t.Errorf("%v", err)
	}
}

func TestAfterQuitNothingStarts(t *testing.T) {
	dir := folder(t)
	must.Do(t, MarkQuit(config(dir)))
	e, start := command("1"), func() error { t.Error("started"); return nil }
	if err := HandOver(t.Context(), config(dir), e, start); !errors.Is(err, ErrQuit) {
		t.Errorf("%v", err)
	}
	if err := HandOver(t.Context(), config(dir), e, nil); !errors.Is(err, ErrNotRunning) {
		t.Errorf("%v", err)
	}
	ClearQuit(config(dir))
	started := false
	if err := HandOver(t.Context(), config(dir), e, func() error { started = true; return nil }); err != nil || !started {
		t.Errorf("%v %v", err, started)
	}
}

// TestGarbage sends messages that none of our programs would:
// nothing crashes, and a valid call still gets through.
func TestGarbage(t *testing.T) {
	dir := folder(t)
	e := &testHandler{news: make(chan struct{}, 1)}
	serve(t, dir, e)
	for n := range 300 {
		c := must.Get(dial(t.Context(), config(dir)))(t)
		b := make([]byte, 1+n*7%3000)
		_, _ = rand.Read(b)
		switch n % 4 {
		case 0:
			_, _ = c.Write(b)
		case 1:
			_, _ = c.Write([]byte(`{"kind":"hello","msg":{"role":"ring"}}` + "\n" + string(b) + "\n"))
		case 2:
			_, _ = c.Write([]byte(`{"kind":"ring"}` + "\n"))
		case 3:
			_, _ = c.Write(bytes.Repeat([]byte("["), 100_000))
		}
		_ = c.Close()
	}
	waitFor(t, "a good call", func() bool {
		return deliver(t.Context(), config(dir), encodeEvent(command("1")), settleTime) == nil
	})
	must.Receive(t, e.news, "the call")
	if len(e.got) != 1 {
		t.Errorf("%d calls", len(e.got))
	}
}

// TestCutMessage checks that a message whose end is missing is not taken.
func TestCutMessage(t *testing.T) {
	ours, theirs, err := os.Pipe()
	must.Do(t, err)
	_, err = theirs.WriteString(`{"kind":"ring"}`)
	must.Do(t, err, theirs.Close())
	c := newConn(ours)
	defer c.Close()
	if kind, _, err := c.Receive(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("taken as %q, %v", kind, err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte(`{"kind":"hello","msg":{"role":"ring"}}` + "\n"))
	f.Add([]byte("{}\n\n{\"kind\":1}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan struct{})
		go func() { defer close(sent); _, _ = theirs.Write(b); _ = theirs.Close() }()
		c := newConn(ours)
		for {
			if _, raw, err := c.Receive(); err != nil {
				break
			} else if len(raw) > maxLine {
				t.Fatalf("%d bytes", len(raw))
			}
		}
		_ = c.Close()
		<-sent
	})
}

// FuzzDecodeEvent: another program of this user can write
// anything, and this is the last place that sanitizes it.
func FuzzDecodeEvent(f *testing.F) {
	dirty, future := command("0612345678"), command("1")
	dirty.Name, dirty.Line, dirty.Via = "\u202eevil\x00\n"+strings.Repeat("x", 5000), "1\u2066", "a\r\nb"
	future.At = time.Now().Add(time.Hour) // would never be late
	for _, e := range []call.Event{dirty, future} {
		b, err := json.Marshal(encodeEvent(e))
		if _, _, bad := decodeEvent(b); err != nil || bad != nil {
			f.Fatal(err, bad)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"way":"url","at":"2026-01-01T00:00:00Z","state":"ended"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, _, err := decodeEvent(b)
		if err == nil && (e != e.Clean() || e.At.After(time.Now()) || e.Source.Kind == call.KindURL && e.State == call.Ended) {
			t.Fatalf("%+v", e)
		}
	})
}
