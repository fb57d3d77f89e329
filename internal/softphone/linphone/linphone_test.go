//go:build linux

package linphone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { linktest.Main(m) }

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

var event = simulate.LinphoneEvent

// fake is a daemon that fails the test if asked to change anything.
type fake struct {
	*simulate.Linphone
	// answer replaces an answer; "" hangs up. It is called under the lock.
	answer func(command, answer string) string
}

// newFake starts a daemon with its socket at path, "" for any.
func newFake(t testing.TB, path string) *fake {
	t.Helper()
	d := must.Get(simulate.StartLinphone(context.Background(), path))(t)
	t.Cleanup(func() { d.Close() })
	f := &fake{Linphone: d}
	d.OnCommand = func(command, answer string) string {
		if name, _, _ := strings.Cut(command, " "); name != "pop-event" && name != "call-status" {
			t.Errorf("asked %q", command)
		}
		if f.answer == nil {
			return answer
		}
		return f.answer(command, answer)
	}
	return f
}

func newPhone(t testing.TB, address string) *softphone {
	t.Helper()
	return must.Get(New(address))(t).(*softphone)
}

func (f *fake) phone(t testing.TB) link.Phone {
	return newPhone(t, f.Address().Address)
}

// connection is what a daemon sends on one connection before it hangs up.
type connection struct {
	calls  map[int]simulate.LinphoneCall
	events []string
}

// feed returns the events that a link makes of connections, one after
// another, and how it ended.
func feed(t testing.TB, all ...connection) ([]call.Event, error) {
	t.Helper()
	d := newFake(t, "")
	d.answer = func(command, answer string) string {
		if command == "pop-event" && answer == idle {
			return ""
		}
		return answer
	}
	p := d.phone(t)
	return linktest.Once(t, linktest.Scripted{Phone: p, Do: func(ctx context.Context, r *link.Reporter) (err error) {
		for _, c := range all {
			d.With(func() { d.Calls, d.Queue = c.calls, c.events })
			err = p.Session(ctx, r)
		}
		return err
	}})
}

func TestRecorded(t *testing.T) {
	var events []string
	for _, s := range recorded {
		if a, whole := parse([]byte(s)); !whole || !a.ok || a.queued == strings.Contains(s, "Size: 0") {
			t.Errorf("%q is read as %+v", s, a)
		}
		events = append(events, s[strings.Index(s, "Event-type"):])
	}
	got, err := feed(t, connection{events: events})
	if !errors.Is(err, link.ErrClosed) {
		t.Fatalf("ended with %v", err)
	}
	want := "ringing incoming #1 sip:+31612345678@127.0.0.1:5070 (J. de Vries); ended incoming #1 sip:+31612345678@127.0.0.1:5070 (J. de Vries); " +
		"ringing incoming #3 tel:+31-6-1234-5678;ext=12; answered incoming #3 tel:+31-6-1234-5678;ext=12; " +
		"ringing incoming #4 sip:+31612345678;ext=12@127.0.0.1:25070;user=phone (Jan Smit)"
	if have := linktest.SayAll(got...); have != want {
		t.Errorf("got  %s\nwant %s", have, want)
	}
}

func TestEvents(t *testing.T) {
	const (
		jan = `"Jan \"de Hoek\" \\ Zoë" <sip:0612345678@pbx>;tag=x`
		us  = "<sip:101@pbx>"
	)
	in, end := event("IncomingReceived", jan, "7"), event("End", jan, "7")
	for _, tt := range []struct {
		name        string
		connections []connection
		want        string
	}{
		{"answered", []connection{{events: []string{in, event("Connected", jan, "7"), event("StreamsRunning", jan, "7"), event("Pausing", jan, "7"), event("Paused", jan, "7"), event("StreamsRunning", jan, "7"), end, event("Released", jan, "7")}}},
			`ringing incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë); answered incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë); ended completed incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë)`},
		{"the connected event is missing", []connection{{events: []string{event("IncomingReceived", "<sip:1@x>", "7"), event("StreamsRunning", "<sip:1@x>", "7")}}},
			"ringing incoming #7 sip:1@x; answered incoming #7 sip:1@x"},
		{"outgoing, gone before we ask", []connection{{events: []string{event("OutgoingInit", us, "8"), event("Error", us, "8")}}}, ""},
		{"end of a call that began before us", []connection{{events: []string{end}}}, ""},
		{"on when we come", []connection{{calls: map[int]simulate.LinphoneCall{
			5: {State: "StreamsRunning", From: "<sip:1@x>", Direction: "in"},
			6: {State: "Paused", From: "<sip:2@x>"},
			7: {State: "Pausing"},
			9: {State: "StreamsRunning", From: "<sip:3@x>", Direction: "out"},
			8: {State: "IncomingReceived", From: "<sip:4@x>"},
		}}}, "answered incoming #5 sip:1@x; answered unknown #6 sip:2@x; ringing incoming #8 sip:4@x; answered outgoing #9 sip:3@x"},
		{"over while we were away", []connection{{events: []string{in}}, {}},
			`ringing incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë); ended incoming #7 sip:0612345678@pbx (Jan "de Hoek" \ Zoë)`},
		{"ended, and still looked up", []connection{{events: []string{event("IncomingReceived", "<sip:1@x>", "7")}}, {calls: map[int]simulate.LinphoneCall{7: {State: "Released"}}}},
			"ringing incoming #7 sip:1@x; ended incoming #7 sip:1@x"},
		{"answered while we were away", []connection{{events: []string{event("IncomingReceived", "<sip:1@x>", "7")}}, {calls: map[int]simulate.LinphoneCall{7: {State: "StreamsRunning", From: "<sip:1@x>", Direction: "in"}}}},
			"ringing incoming #7 sip:1@x; answered incoming #7 sip:1@x"},
		{"still ringing", []connection{{events: []string{event("IncomingReceived", "<sip:1@x>", "7")}}, {calls: map[int]simulate.LinphoneCall{7: {State: "IncomingReceived", From: "<sip:1@x>"}}}},
			"ringing incoming #7 sip:1@x"},
		{"another daemon, the same id", []connection{{events: []string{event("IncomingReceived", "<sip:1@x>", "1")}}, {calls: map[int]simulate.LinphoneCall{1: {State: "IncomingReceived", From: "<sip:2@x>"}}}},
			"ringing incoming #1 sip:1@x; ended incoming #1 sip:1@x; ringing incoming #1 sip:2@x"},
		{"names with State in them", []connection{{events: []string{event("StateIncomingReceived", "sip:1@x", "7"), event("StateEnd", "sip:1@x", "7")}}},
			"ringing incoming #7 sip:1@x; ended incoming #7 sip:1@x"},
		{"a state never heard of", []connection{{events: []string{event("IncomingReceived", "<sip:1@x>", "7"), event("Teleported", "<sip:1@x>", "7"), event("Teleported", "<sip:1@x>", "12"), event("Connected", "<sip:1@x>", "12")}}}, "ringing incoming #7 sip:1@x"},
		{"nobody says who calls, or which call it is", []connection{{events: []string{event("IncomingReceived", "", "7"), event("IncomingReceived", "<sip:1@x>", "x")}}}, ""},
		{"not calls", []connection{{events: []string{
			"Event-type: receiving-tone\n\nTone: 1\nFrom: <sip:1@x>\nId: 1\n\n\n\n",
			"Event-type: call-stats\n\nId: 1\nType: Audio\nICE state: Not activated\n\n\n\n\n",
			"Event-type: message-received\n\nFrom: <sip:1@x>\nTo: <sip:2@x>\nId: a\nContent: \"hello\"\n\n\n\n",
		}}}, ""},
		// The sender of a text message chooses its content.
		{"a message that looks like a call", []connection{{events: []string{
			"Event-type: message-received\n\nFrom: <sip:1@x>\nTo: <sip:2@x>\nId: 1\nContent: \"\n\n\n\n" + recorded[0] + "\"\n\n\n\n",
			"Event-type: message-received\n\nFrom: <sip:1@x>\nId: 1\nContent: \"" + strings.Repeat("a", maxAnswer) + "\n\n\n\n" + recorded[0] + "\"\n\n\n\n",
			event("IncomingReceived", "<sip:1@x>", "7"),
		}}}, "ringing incoming #7 sip:1@x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := feed(t, tt.connections...)
			if have := linktest.SayAll(got...); have != tt.want {
				t.Errorf("got  %s\nwant %s", have, tt.want)
			}
			if !errors.Is(err, link.ErrClosed) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// TestDropped: a call that keeps ringing while the
// connection is lost, even twice, is reported again.
func TestDropped(t *testing.T) {
	d := newFake(t, "")
	var lost []string // the commands on which it hangs up
	d.answer = func(command, answer string) string {
		if len(lost) > 0 && command == lost[0] {
			lost = lost[1:]
			return ""
		}
		return answer
	}
	w := linktest.Run(t, d.phone(t)).Connected()
	d.With(func() {
		d.Calls[7] = simulate.LinphoneCall{State: "IncomingReceived", From: "<sip:1@x>"}
		d.Queue = append(d.Queue, event("IncomingReceived", "<sip:1@x>", "7"))
	})
	w.Expect("ringing incoming #7 sip:1@x")
	d.With(func() { lost = []string{"pop-event", "call-status 7"} })
	w.Expect("ringing incoming #7 sip:1@x")
}

// TestOutgoing: an event's From is our own address in an
// outgoing call, so the link queries the daemon.
func TestOutgoing(t *testing.T) {
	d := newFake(t, "")
	w := linktest.Run(t, d.phone(t))
	w.Until(link.Connected)
	d.With(func() {
		d.Calls[8] = simulate.LinphoneCall{State: "OutgoingInit", From: "<sip:0201234567@pbx>"}
		for _, state := range []string{"OutgoingInit", "OutgoingProgress", "OutgoingRinging", "Connected", "End"} {
			d.Queue = append(d.Queue, event(state, "<sip:101@pbx>", "8"))
		}
	})
	w.Expect("ringing outgoing #8 sip:0201234567@pbx", "answered outgoing #8 sip:0201234567@pbx", "ended completed outgoing #8 sip:0201234567@pbx")
}

// TestPieces: an answer may arrive in pieces of any size.
func TestPieces(t *testing.T) {
	for _, whole := range append([]string{idle, noCall, unknown}, recorded...) {
		want, ok := parse([]byte(whole))
		if !ok {
			t.Fatalf("%q is not whole", whole)
		}
		for i := range whole {
			part, ok := parse([]byte(whole[:i]))
			// Only blank lines may be missing.
			if ok && (part != want || strings.Trim(whole[i:], "\n") != "") {
				t.Errorf("%q is whole", whole[:i])
			}
		}
	}
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestPolling: an idle link polls four times a second, at
// almost no cost; during a call it polls faster.
func TestPolling(t *testing.T) {
	d := newFake(t, "")
	polls := make(chan time.Time, 4096)
	d.answer = func(command, answer string) string {
		if command == "pop-event" {
			polls <- time.Now()
		}
		return answer
	}
	w := linktest.Run(t, d.phone(t))
	took := func(n int) time.Duration { // to poll n times
		first := <-polls
		for range n - 1 {
			<-polls
		}
		return (<-polls).Sub(first)
	}
	<-polls
	runtime.GC() // the garbage of earlier tests
	before := cpu(t)
	idle, used := took(12), cpu(t)-before
	t.Logf("idle: %.3f %% of a core, the daemon's half included", 100*used.Seconds()/idle.Seconds())
	if idle < 12*idlePoll*9/10 || used > idle/33 {
		t.Errorf("idle: 12 questions and %v of CPU time in %v", used, idle)
	}
	d.With(func() { d.Queue = append(d.Queue, event("IncomingReceived", "<sip:1@x>", "1")) })
	w.Want(call.Ringing)
	for len(polls) > 0 {
		<-polls
	}
	if busy := took(6); busy > idle/2*8/10 {
		t.Errorf("6 questions during a call in %v, 12 without one in %v", busy, idle)
	}
}

// TestDrains: all queued events are fetched at once.
func TestDrains(t *testing.T) {
	var queue []string
	for i := range 40 {
		queue = append(queue, event("IncomingReceived", "<sip:1@x>", fmt.Sprint(i)))
	}
	began := time.Now()
	if got, _ := feed(t, connection{events: queue}); len(got) != 40 {
		t.Errorf("%d events", len(got))
	}
	if d := time.Since(began); d > 40*callPoll {
		t.Errorf("took %v, as long as if a pause was made after each", d)
	}
}

func TestServedToAnother(t *testing.T) {
	d := newFake(t, "")
	other := must.Get(net.Dial("unix", d.Address().Address))(t)
	defer other.Close()
	must.Get(io.WriteString(other, "pop-event\n"))(t)
	if _, err := other.Read(make([]byte, 1)); err != nil { // it is being served
		t.Fatal(err)
	}
	if _, err := linktest.Once(t, d.phone(t)); !errors.Is(err, link.ErrReplaced) {
		t.Error(err)
	}
}

// TestRestartedWhileAsked: a daemon that exits during a
// request, twice, is restarting, not in use by another program.
func TestRestartedWhileAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lp")
	d := newFake(t, path)
	p := newPhone(t, path)
	p.dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		d.Close()
		d = newFake(t, path)
		return conn, err
	}
	if _, err := linktest.Once(t, p); !errors.Is(err, link.ErrNotRunning) || errors.Is(err, link.ErrReplaced) {
		t.Error(err)
	}
}

func TestNobodyThere(t *testing.T) {
	missing, left, stale := filepath.Join(t.TempDir(), "lp"), filepath.Join(t.TempDir(), "lp"), filepath.Join(t.TempDir(), "lp")
	must.Do(t, os.WriteFile(left, nil, 0o600))
	ln := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: stale}))(t)
	ln.SetUnlinkOnClose(false)
	ln.Close()
	for _, path := range []string{missing, left, stale} {
		if _, err := linktest.Once(t, newPhone(t, path)); !errors.Is(err, link.ErrNotRunning) {
			t.Error(err)
		}
	}
}

func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"lp": "/tmp/lp", "/run/user/1000/lp": "/run/user/1000/lp", "@lp": "/tmp/@lp",
		"": "", "a/b": "", "./lp": "", "/a\x00b": "", "/" + strings.Repeat("a", maxPath): "", strings.Repeat("a", maxPath): "",
	} {
		p, err := New(address)
		switch {
		case err != nil && want != "":
			t.Errorf("%q: %v", address, err)
		case err == nil && p.Traits().Source != call.Source{Kind: "linphone", Conn: want, ReportLevel: call.AllStates}:
			t.Errorf("%q: %+v", address, p.Traits())
		}
	}
}
