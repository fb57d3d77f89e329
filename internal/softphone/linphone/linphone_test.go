//go:build linux

package linphone

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	idle    = "Status: Ok\n\nSize: 0\n\n"
	noCall  = "Status: Error\nReason: No current call available.\n"
	noID    = "Status: Error\nReason: No call with such id.\n"
	unknown = "Status: Error\nReason: Unknown command.\n"
)

// Recorded from linphone-daemon 5.1.65, byte for byte.
var recorded = []string{
	"Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent: LinphoneCallIncomingReceived\nFrom: \"J. de Vries\" <sip:+31612345678@127.0.0.1:5070>\nId: 1\n\n\n\n",
	"Status: Ok\n\nSize: 1\nEvent-type: call-state-changed\n\nEvent: LinphoneCallEnd\nFrom: \"J. de Vries\" <sip:+31612345678@127.0.0.1:5070>\nId: 1\n\n\n\n",
	"Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent: LinphoneCallReleased\nFrom: \"J. de Vries\" <sip:+31612345678@127.0.0.1:5070>\nId: 1\n\n\n\n",
	"Status: Ok\n\nSize: 3\nEvent-type: call-state-changed\n\nEvent: LinphoneCallIncomingReceived\nFrom: <tel:+31-6-1234-5678;ext=12>\nId: 3\n\n\n\n",
	"Status: Ok\n\nSize: 2\nEvent-type: call-state-changed\n\nEvent: LinphoneCallPausing\nFrom: \"Anonymous\" <sip:anonymous@anonymous.invalid>\nId: 2\n\n\n\n",
	"Status: Ok\n\nSize: 1\nEvent-type: call-state-changed\n\nEvent: LinphoneCallConnected\nFrom: <tel:+31-6-1234-5678;ext=12>\nId: 3\n\n\n\n",
	"Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent: LinphoneCallStreamsRunning\nFrom: <tel:+31-6-1234-5678;ext=12>\nId: 3\n\n\n\n",
	"Status: Ok\n\nSize: 3\nEvent-type: call-state-changed\n\nEvent: LinphoneCallIncomingReceived\nFrom: \"Jan Smit\" <sip:+31612345678;ext=12@127.0.0.1:25070;user=phone>\nId: 4\n\n\n\n",
}

// event is an event's answer as the daemon writes it.
func event(queued int, state, from, id string) string {
	return fmt.Sprintf("Status: Ok\n\nSize: %d\nEvent-type: call-state-changed\n\nEvent: LinphoneCall%s\nFrom: %s\nId: %s\n\n\n\n", queued, state, from, id)
}

// script answers on one connection: pop takes the events one after another, and
// status is what call-status says, by its argument. When the events are used up
// it closes the connection.
type script struct {
	events []string
	status map[string]string
	asked  []string
}

func (s *script) serve(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 32768)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		// The real one takes all that it reads for one command.
		command := strings.TrimSuffix(string(buf[:n]), "\n")
		s.asked = append(s.asked, command)
		answer := unknown
		if id, ok := strings.CutPrefix(command, "call-status"); ok {
			answer = noID
			if id == "" {
				answer = noCall
			}
			if known, ok := s.status[strings.TrimSpace(id)]; ok {
				answer = known
			}
		} else if command == "pop-event" {
			if len(s.events) == 0 {
				return
			}
			answer, s.events = s.events[0], s.events[1:]
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// feed gives the events that a link makes of a script, and how it ended.
func feed(t testing.TB, scripts ...*script) (got []call.Event, err error) {
	t.Helper()
	var serving sync.WaitGroup
	next := 0
	p, err := New(Config{Address: "lp", Dial: func(context.Context, string, string) (net.Conn, error) {
		if next == len(scripts) {
			return nil, syscall.ECONNREFUSED
		}
		ours, theirs := net.Pipe()
		s := scripts[next]
		next++
		serving.Go(func() { s.serve(theirs) })
		return ours, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = link.Once(t.Context(), link.Config{Take: func(e call.Event) error {
		got = append(got, e)
		return nil
	}}, again{p, len(scripts)})
	serving.Wait()
	return got, err
}

// again keeps the same calls over several sessions.
type again struct {
	link.Phone
	times int
}

func (a again) Session(ctx context.Context, r *link.Reporter) (err error) {
	for range a.times {
		err = a.Phone.Session(ctx, r)
	}
	return err
}

func TestRecorded(t *testing.T) {
	s := &script{events: recorded}
	got, err := feed(t, s)
	if !errors.Is(err, link.ErrClosed) {
		t.Fatalf("ended with %v", err)
	}
	want := "ringing incoming #1 sip:+31612345678@127.0.0.1:5070 (J. de Vries); ended incoming #1 sip:+31612345678@127.0.0.1:5070 (J. de Vries); " +
		"ringing incoming #3 tel:+31-6-1234-5678;ext=12; answered incoming #3 tel:+31-6-1234-5678;ext=12; " +
		"ringing incoming #4 sip:+31612345678;ext=12@127.0.0.1:25070;user=phone (Jan Smit)"
	if have := linktest.SayAll(got...); have != want {
		t.Errorf("got  %s\nwant %s", have, want)
	}
	for _, e := range got {
		if e.Source != (call.Source{Kind: "linphone", Conn: "/tmp/lp", Reports: call.AllStates}) || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	for _, command := range s.asked {
		if command != "pop-event" && !strings.HasPrefix(command, "call-status") {
			t.Errorf("asked %q", command)
		}
	}
}

func TestEvents(t *testing.T) {
	const (
		jan = `"Jan \"de Hoek\" \\ Zoë" <sip:0612345678@pbx>;tag=x`
		us  = "<sip:101@pbx>"
	)
	in, end := event(1, "IncomingReceived", jan, "7"), event(0, "End", jan, "7")
	for _, tt := range []struct {
		name    string
		scripts []*script
		want    string
	}{
		{"answered", []*script{{events: []string{in, event(2, "Connected", jan, "7"), event(0, "StreamsRunning", jan, "7"), event(0, "Pausing", jan, "7"), event(0, "Paused", jan, "7"), event(0, "StreamsRunning", jan, "7"), end, event(0, "Released", jan, "7")}}},
			`ringing incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë); answered incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë); ended completed incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë)`},
		{"the connected event is missing", []*script{{events: []string{event(0, "IncomingReceived", "<sip:1@x>", "7"), event(0, "StreamsRunning", "<sip:1@x>", "7")}}},
			"ringing incoming #7 sip:1@x; answered incoming #7 sip:1@x"},
		{"outgoing", []*script{{
			status: map[string]string{"8": "Status: Ok\n\nState: LinphoneCallOutgoingInit\nFrom: <sip:0201234567@pbx>\n\n"},
			events: []string{event(0, "OutgoingInit", us, "8"), event(0, "OutgoingProgress", us, "8"), event(0, "OutgoingRinging", us, "8"), event(0, "Connected", us, "8"), event(0, "End", us, "8")}}},
			"ringing outgoing #8 sip:0201234567@pbx; answered outgoing #8 sip:0201234567@pbx; ended completed outgoing #8 sip:0201234567@pbx"},
		{"outgoing, gone before we ask", []*script{{events: []string{event(1, "OutgoingInit", us, "8"), event(0, "Error", us, "8")}}}, ""},
		{"end of a call that began before us", []*script{{events: []string{end}}}, ""},
		{"on when we come", []*script{{status: map[string]string{
			"":  "Status: Ok\n\nState: LinphoneCallStreamsRunning\nFrom: <sip:1@x>\nDirection: in\nDuration: 6\n\n",
			"5": "Status: Ok\n\nState: LinphoneCallStreamsRunning\nFrom: <sip:1@x>\nDirection: in\nDuration: 6\n\n",
			"6": "Status: Ok\n\nState: LinphoneCallPaused\nFrom: <sip:2@x>\n\n",
			"7": "Status: Ok\n\nState: LinphoneCallPausing\n\n",
			"9": "Status: Ok\n\nState: LinphoneCallStreamsRunning\nFrom: <sip:3@x>\nDirection: out\nDuration: 6\n\n",
			"8": "Status: Ok\n\nState: LinphoneCallIncomingReceived\nFrom: <sip:4@x>\n\n",
		}}}, "answered incoming #5 sip:1@x; answered unknown #6 sip:2@x; ringing incoming #8 sip:4@x; answered outgoing #9 sip:3@x"},
		{"over while we were away", []*script{{events: []string{in}}, {}},
			`ringing incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë); ended incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë)`},
		{"ended, and still looked up", []*script{{events: []string{event(0, "IncomingReceived", "<sip:1@x>", "7")}}, {status: map[string]string{"7": "Status: Ok\n\nState: LinphoneCallReleased\n\n"}}},
			"ringing incoming #7 sip:1@x; ended incoming #7 sip:1@x"},
		{"answered while we were away", []*script{{events: []string{event(0, "IncomingReceived", "<sip:1@x>", "7")}}, {status: map[string]string{"7": "Status: Ok\n\nState: LinphoneCallStreamsRunning\nFrom: <sip:1@x>\nDirection: in\nDuration: 6\n\n"}}},
			"ringing incoming #7 sip:1@x; answered incoming #7 sip:1@x"},
		{"still ringing", []*script{{events: []string{event(0, "IncomingReceived", "<sip:1@x>", "7")}}, {status: map[string]string{"7": "Status: Ok\n\nState: LinphoneCallIncomingReceived\nFrom: <sip:1@x>\n\n"}}},
			"ringing incoming #7 sip:1@x"},
		{"another daemon, the same id", []*script{{events: []string{event(0, "IncomingReceived", "<sip:1@x>", "1")}}, {status: map[string]string{"1": "Status: Ok\n\nState: LinphoneCallIncomingReceived\nFrom: <sip:2@x>\n\n"}}},
			"ringing incoming #1 sip:1@x; ended incoming #1 sip:1@x; ringing incoming #1 sip:2@x"},
		{"names with State in them", []*script{{events: []string{event(0, "StateIncomingReceived", "sip:1@x", "7"), event(0, "StateEnd", "sip:1@x", "7")}}},
			"ringing incoming #7 sip:1@x; ended incoming #7 sip:1@x"},
		{"a state never heard of", []*script{{events: []string{event(0, "IncomingReceived", "<sip:1@x>", "7"), event(0, "Teleported", "<sip:1@x>", "7"), event(0, "Teleported", "<sip:1@x>", "12")}}}, "ringing incoming #7 sip:1@x"},
		{"not calls", []*script{{events: []string{unknown, idle,
			"Status: Ok\n\nSize: 1\nEvent-type: receiving-tone\n\nTone: 1\nFrom: <sip:1@x>\nId: 1\n\n\n\n",
			"Status: Ok\n\nSize: 0\nEvent-type: call-stats\n\nId: 1\nType: Audio\nICE state: Not activated\n\n\n\n\n",
			"Status: Ok\n\nSize: 0\nEvent-type: message-received\n\nFrom: <sip:1@x>\nTo: <sip:2@x>\nId: a\nContent: \"hello\"\n\n\n\n",
		}}}, ""},
		// Whoever sends a text message chooses what stands in it.
		{"a message that looks like a call", []*script{{events: []string{
			"Status: Ok\n\nSize: 0\nEvent-type: message-received\n\nFrom: <sip:1@x>\nTo: <sip:2@x>\nId: 1\nContent: \"\n\n\n\n" + recorded[0] + "\"\n\n\n\n", idle,
			"Status: Ok\n\nSize: 0\nEvent-type: message-received\n\nFrom: <sip:1@x>\nId: 1\nContent: \"" + strings.Repeat("a", maxAnswer) + "\n\n\n\n" + recorded[0] + "\"\n\n\n\n", idle,
			event(0, "IncomingReceived", "<sip:1@x>", "7"),
		}}}, "ringing incoming #7 sip:1@x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := feed(t, tt.scripts...)
			if have := linktest.SayAll(got...); have != tt.want {
				t.Errorf("got  %s\nwant %s", have, tt.want)
			}
			if !errors.Is(err, link.ErrClosed) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// An answer may come in pieces of any size.
func TestPieces(t *testing.T) {
	for _, whole := range append([]string{idle, noCall, unknown}, recorded...) {
		want, ok := parse([]byte(whole))
		if !ok {
			t.Fatalf("%q is not whole", whole)
		}
		for i := range whole {
			part, ok := parse([]byte(whole[:i]))
			// Only blank lines may be left out.
			if ok && (part != want || strings.Trim(whole[i:], "\n") != "") {
				t.Errorf("%q is whole", whole[:i])
			}
		}
	}
}

// pipe is a socket's path short enough for the system.
func pipe(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "lp")
}

// fake is a daemon on a socket: idle but for the events that it is given.
type fake struct {
	path   string
	events chan string
	polls  chan time.Time // set: hears of every pop-event
}

func startFake(t testing.TB, taken bool) *fake {
	t.Helper()
	f := &fake{path: pipe(t), events: make(chan string, 16), polls: make(chan time.Time, 4096)}
	ln, err := net.Listen("unix", f.path)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if taken {
				conn.Close()
				continue
			}
			serving.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		serving.Wait()
	})
	return f
}

func (f *fake) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		answer := noCall
		if lines.Text() == "pop-event" {
			f.polls <- time.Now()
			select {
			case answer = <-f.events:
			default:
				answer = idle
			}
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// run keeps a link until the test ends.
func run(t testing.TB, path string) *linktest.Watch {
	t.Helper()
	p, err := New(Config{Address: path})
	if err != nil {
		t.Fatal(err)
	}
	return linktest.Run(t, p)
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// An idle link asks four times a second, which costs next to nothing; with a
// call it asks faster.
func TestPolling(t *testing.T) {
	f := startFake(t, false)
	w := run(t, f.path)
	first := <-f.polls
	runtime.GC() // of the tests before this one
	before, began := cpu(t), time.Now()
	for range 12 {
		<-f.polls
	}
	if d := time.Since(first); d < 2900*time.Millisecond {
		t.Errorf("12 idle questions in %v", d)
	}
	used, took := cpu(t)-before, time.Since(began)
	t.Logf("idle: %.3f %% of a core, the daemon's half included", 100*used.Seconds()/took.Seconds())
	if used > took/33 {
		t.Errorf("idle: %v of CPU time in %v", used, took)
	}
	f.events <- event(1, "IncomingReceived", "<sip:1@x>", "1")
	<-w.Events
	for len(f.polls) > 0 {
		<-f.polls
	}
	began = time.Now()
	for range 5 {
		<-f.polls
	}
	if d := time.Since(began); d > 1100*time.Millisecond {
		t.Errorf("5 questions during a call in %v", d)
	}
	w.Stop()
}

// All that is queued is taken at once.
func TestDrains(t *testing.T) {
	var s script
	for i := range 40 {
		s.events = append(s.events, event(39-i, "IncomingReceived", "<sip:1@x>", fmt.Sprint(i)))
	}
	began := time.Now()
	if got, _ := feed(t, &s); len(got) != 40 {
		t.Errorf("%d events", len(got))
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("took %v", d)
	}
}

func TestServedToAnother(t *testing.T) {
	f := startFake(t, true)
	p, err := New(Config{Address: f.path})
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Once(t.Context(), link.Config{}, p); !errors.Is(err, link.ErrReplaced) {
		t.Error(err)
	}
}

// A daemon that ends while it is asked, twice, has not been given to another
// program: it is being started anew.
func TestRestartedWhileAsked(t *testing.T) {
	path := pipe(t)
	listen := func() *net.UnixListener {
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		if err != nil {
			t.Error(err)
		}
		return ln
	}
	ln, serving := listen(), make(chan struct{})
	go func() {
		defer close(serving)
		for range 2 {
			conn, err := ln.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			ln.Close() // its socket goes with it
			ln = listen()
			conn.Close()
		}
	}()
	p, err := New(Config{Address: path})
	if err != nil {
		t.Fatal(err)
	}
	err = link.Once(t.Context(), link.Config{}, p)
	if !errors.Is(err, link.ErrNotThere) || errors.Is(err, link.ErrReplaced) {
		t.Error(err)
	}
	<-serving
	ln.Close()
}

func TestNobodyThere(t *testing.T) {
	missing := pipe(t)
	left := pipe(t)
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stale := pipe(t)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	for _, path := range []string{missing, left, stale} {
		p, err := New(Config{Address: path})
		if err != nil {
			t.Fatal(err)
		}
		if err := link.Once(t.Context(), link.Config{}, p); !errors.Is(err, link.ErrNotThere) {
			t.Error(err)
		}
	}
}

func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"lp": "/tmp/lp", "/run/user/1000/lp": "/run/user/1000/lp", "@lp": "/tmp/@lp",
		"": "", "a/b": "", "./lp": "", "/a\x00b": "", "/" + strings.Repeat("a", maxPath): "", strings.Repeat("a", maxPath): "",
	} {
		p, err := New(Config{Address: address})
		switch {
		case err != nil && want != "":
			t.Errorf("%q: %v", address, err)
		case err == nil && p.Traits().Source.Conn != want:
			t.Errorf("%q: %q", address, p.Traits().Source.Conn)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	f := startFake(t, false)
	w := run(t, f.path)
	w.Until(link.Connected)
	w.Stop()
}
