//go:build linux

package linphone_test

import (
	"context"
	"net"
	"testing"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/softphone/phonetest"
)

// wired is a link to a real daemon.
type wired struct {
	t      *testing.T
	events chan call.Event
	states chan link.State
	stop   func() // ends the link; may be called again
}

type dialler = func(ctx context.Context, network, address string) (net.Conn, error)

func connect(t *testing.T, address string, dial dialler) *wired {
	t.Helper()
	w := &wired{t: t, events: make(chan call.Event, 64), states: make(chan link.State, 64)}
	p, err := linphone.New(linphone.Config{Address: address, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		link.Run(ctx, link.Config{
			Name:  "desk",
			Take:  func(e call.Event) error { w.events <- e; return nil },
			State: func(s link.State) { w.states <- s },
		}, p)
	}()
	w.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(w.stop)
	return w
}

func (w *wired) until(p link.Phase) link.State {
	w.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case s := <-w.states:
			if s.Phase == p {
				return s
			}
		case <-limit:
			w.t.Fatalf("link never became %v", p)
		}
	}
}

func (w *wired) next() call.Event {
	w.t.Helper()
	select {
	case e := <-w.events:
		return e
	case <-time.After(30 * time.Second):
		w.t.Fatal("no event")
		return call.Event{}
	}
}

func (w *wired) want(state call.State) call.Event {
	w.t.Helper()
	e := w.next()
	if e.State != state {
		w.t.Fatalf("event %+v, want %v", e, state)
	}
	return e
}

func TestRealCalls(t *testing.T) {
	d := phonetest.StartLinphone(t)
	w := connect(t, d.Pipe, d.Dial)
	w.until(link.Connected)
	for _, tt := range []struct {
		name     string
		scenario phonetest.Scenario
		number   string // what the number begins with
		caller   string
	}{
		{"rings, caller gives up", phonetest.Scenario{Number: "+31612345678", Name: "J. de Vries", Ring: 50 * time.Millisecond}, "sip:+31612345678@127.0.0.1", "J. de Vries"},
		{"answered", phonetest.Scenario{Number: "0612345678", Answer: true, Talk: 50 * time.Millisecond}, "sip:0612345678@127.0.0.1", ""},
		{"withheld", phonetest.Scenario{Number: "+31687654321", Withheld: true}, "sip:anonymous@anonymous.invalid", "Anonymous"},
		{"quoted display name", phonetest.Scenario{Number: "0201234567", Name: `Café "De Hoek" \ Zoë`}, "sip:0201234567@127.0.0.1", `Café "De Hoek" \ Zoë`},
		{"tel with an extension", phonetest.Scenario{From: "<tel:+31-6-1234-5678;ext=12>"}, "tel:+31-6-1234-5678;ext=12", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			running := d.Place(t, tt.scenario)
			first := w.want(call.Ringing)
			if len(first.Number) < len(tt.number) || first.Number[:len(tt.number)] != tt.number || first.Name != tt.caller || first.Direction != call.Incoming || first.ID == "" {
				t.Errorf("event %+v", first)
			}
			reason := call.ReasonUnknown
			if tt.scenario.Answer {
				d.Press("answer")
				if e := w.want(call.Answered); e.ID != first.ID || e.Number != first.Number {
					t.Errorf("event %+v", e)
				}
				reason = call.Completed
			}
			if e := w.want(call.Ended); e.ID != first.ID || e.Number != first.Number || e.Name != first.Name || e.Reason != reason {
				t.Errorf("event %+v", e)
			}
			running.Wait()
		})
	}
	w.t = t
	if len(w.events) > 0 {
		t.Errorf("%d events too many", len(w.events))
	}
}

// A program that starts during calls finds them: the one that is on, and the one
// that rings.
func TestRealSnapshot(t *testing.T) {
	d := phonetest.StartLinphone(t)
	before := connect(t, d.Pipe, d.Dial)
	before.until(link.Connected)
	talk := d.Place(t, phonetest.Scenario{Number: "0612345678", Answer: true, Talk: 4 * time.Second})
	first := before.want(call.Ringing)
	d.Press("answer")
	before.want(call.Answered)
	ring := d.Place(t, phonetest.Scenario{Number: "0201234567", Name: "Zoë", Ring: 3 * time.Second})
	second := before.want(call.Ringing)
	before.stop()

	w := connect(t, d.Pipe, d.Dial)
	got := map[string]call.Event{}
	for range 2 {
		e := w.next()
		got[e.ID] = e
	}
	if e := got[first.ID]; e.State != call.Answered || e.Direction != call.Incoming || e.Number != first.Number {
		t.Errorf("the call that is on: %+v", e)
	}
	if e := got[second.ID]; e.State != call.Ringing || e.Direction != call.Incoming || e.Number != second.Number || e.Name != "Zoë" {
		t.Errorf("the call that rings: %+v", e)
	}
	for range 2 {
		w.want(call.Ended)
	}
	talk.Wait()
	ring.Wait()
}

// In an outgoing call the event's From is ourselves.
func TestRealOutgoing(t *testing.T) {
	d := phonetest.StartLinphone(t)
	w := connect(t, d.Pipe, d.Dial)
	w.until(link.Connected)
	d.Press("call sip:0687654321@127.0.0.1:1")
	e := w.want(call.Ringing)
	if e.Direction != call.Outgoing || e.Number != "sip:0687654321@127.0.0.1:1" {
		t.Errorf("event %+v", e)
	}
	d.Press("terminate")
	if e := w.want(call.Ended); e.Direction != call.Outgoing {
		t.Errorf("event %+v", e)
	}
}

// The daemon ends in the middle of a call and comes back: the call is over, and
// the link is there again within two seconds.
func TestRealRestart(t *testing.T) {
	d := phonetest.StartLinphone(t)
	w := connect(t, d.Pipe, nil)
	w.until(link.Connected)
	d.Place(t, phonetest.Scenario{Number: "0612345678", Ring: time.Minute})
	w.want(call.Ringing)
	d.Stop()
	w.until(link.Waiting)
	w.want(call.Ended)
	d.Restart(t)
	back := time.Now()
	w.until(link.Connected)
	if after := time.Since(back); after > 2*time.Second {
		t.Errorf("link was back after %v", after)
	} else {
		t.Logf("link was back after %v", after)
	}
	d.Place(t, phonetest.Scenario{Number: "0687654321"}).Wait()
	if e := w.want(call.Ringing); e.Number[:14] != "sip:0687654321" {
		t.Errorf("first event after the restart: %+v", e)
	}
	w.want(call.Ended)
}

// Two programs on one daemon: it serves the first. The second says so and does
// not come again and again.
func TestRealSecondClient(t *testing.T) {
	d := phonetest.StartLinphone(t)
	first := connect(t, d.Pipe, nil)
	first.until(link.Connected)
	second := connect(t, d.Pipe, nil)
	if s := second.until(link.Kicked); s.Retry.Sub(s.Since) < 30*time.Second {
		t.Errorf("the second comes again after %v", s.Retry.Sub(s.Since))
	}
	d.Place(t, phonetest.Scenario{Number: "0612345678"}).Wait()
	first.want(call.Ringing)
	first.want(call.Ended)
}

// A call that only rings is found too.
func TestRealSnapshotRinging(t *testing.T) {
	d := phonetest.StartLinphone(t)
	before := connect(t, d.Pipe, nil)
	before.until(link.Connected)
	ring := d.Place(t, phonetest.Scenario{Number: "0201234567", Ring: 2 * time.Second})
	first := before.want(call.Ringing)
	before.stop()
	w := connect(t, d.Pipe, nil)
	if e := w.want(call.Ringing); e.ID != first.ID || e.Number != first.Number || e.Direction != call.Incoming {
		t.Errorf("event %+v", e)
	}
	w.want(call.Ended)
	ring.Wait()
}
