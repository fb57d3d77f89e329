//go:build linux

package linphone_test

import (
	"context"
	"net"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/phonetest"
)

type dialler = func(ctx context.Context, network, address string) (net.Conn, error)

func connect(t *testing.T, address string, dial dialler) *linktest.Watch {
	t.Helper()
	p, err := linphone.New(linphone.Config{Address: address, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	return linktest.Run(t, p)
}

func TestRealCalls(t *testing.T) {
	d := phonetest.StartLinphone(t)
	w := connect(t, d.Pipe, d.Dial)
	w.Until(link.Connected)
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
			w := w.In(t)
			running := d.Place(t, tt.scenario)
			first := w.Want(call.Ringing)
			if len(first.Number) < len(tt.number) || first.Number[:len(tt.number)] != tt.number || first.Name != tt.caller || first.Direction != call.Incoming || first.ID == "" {
				t.Errorf("event %+v", first)
			}
			reason := call.ReasonUnknown
			if tt.scenario.Answer {
				d.Press("answer")
				if e := w.Want(call.Answered); e.ID != first.ID || e.Number != first.Number {
					t.Errorf("event %+v", e)
				}
				reason = call.Completed
			}
			if e := w.Want(call.Ended); e.ID != first.ID || e.Number != first.Number || e.Name != first.Name || e.Reason != reason {
				t.Errorf("event %+v", e)
			}
			running.Wait()
		})
	}
	if len(w.Events) > 0 {
		t.Errorf("%d events too many", len(w.Events))
	}
}

// A program that starts during calls finds them: the one that is on, and the one
// that rings.
func TestRealSnapshot(t *testing.T) {
	d := phonetest.StartLinphone(t)
	before := connect(t, d.Pipe, d.Dial)
	before.Until(link.Connected)
	talk := d.Place(t, phonetest.Scenario{Number: "0612345678", Answer: true, Talk: 4 * time.Second})
	first := before.Want(call.Ringing)
	d.Press("answer")
	before.Want(call.Answered)
	ring := d.Place(t, phonetest.Scenario{Number: "0201234567", Name: "Zoë", Ring: 3 * time.Second})
	second := before.Want(call.Ringing)
	before.Stop()

	w := connect(t, d.Pipe, d.Dial)
	got := map[string]call.Event{}
	for range 2 {
		e := w.Next()
		got[e.ID] = e
	}
	if e := got[first.ID]; e.State != call.Answered || e.Direction != call.Incoming || e.Number != first.Number {
		t.Errorf("the call that is on: %+v", e)
	}
	if e := got[second.ID]; e.State != call.Ringing || e.Direction != call.Incoming || e.Number != second.Number || e.Name != "Zoë" {
		t.Errorf("the call that rings: %+v", e)
	}
	for range 2 {
		w.Want(call.Ended)
	}
	talk.Wait()
	ring.Wait()
}

// In an outgoing call the event's From is ourselves.
func TestRealOutgoing(t *testing.T) {
	d := phonetest.StartLinphone(t)
	w := connect(t, d.Pipe, d.Dial)
	w.Until(link.Connected)
	d.Press("call sip:0687654321@127.0.0.1:1")
	e := w.Want(call.Ringing)
	if e.Direction != call.Outgoing || e.Number != "sip:0687654321@127.0.0.1:1" {
		t.Errorf("event %+v", e)
	}
	d.Press("terminate")
	if e := w.Want(call.Ended); e.Direction != call.Outgoing {
		t.Errorf("event %+v", e)
	}
}

// The daemon ends in the middle of a call and comes back: the call is over, and
// the link is there again within two seconds.
func TestRealRestart(t *testing.T) {
	d := phonetest.StartLinphone(t)
	w := connect(t, d.Pipe, nil)
	w.Until(link.Connected)
	d.Place(t, phonetest.Scenario{Number: "0612345678", Ring: time.Minute})
	w.Want(call.Ringing)
	d.Stop()
	w.Until(link.Waiting)
	w.Want(call.Ended)
	d.Restart(t)
	back := time.Now()
	w.Until(link.Connected)
	if after := time.Since(back); after > 2*time.Second {
		t.Errorf("link was back after %v", after)
	} else {
		t.Logf("link was back after %v", after)
	}
	d.Place(t, phonetest.Scenario{Number: "0687654321"}).Wait()
	if e := w.Want(call.Ringing); e.Number[:14] != "sip:0687654321" {
		t.Errorf("first event after the restart: %+v", e)
	}
	w.Want(call.Ended)
}

// Two programs on one daemon: it serves the first. The second says so and does
// not come again and again.
func TestRealSecondClient(t *testing.T) {
	d := phonetest.StartLinphone(t)
	first := connect(t, d.Pipe, nil)
	first.Until(link.Connected)
	second := connect(t, d.Pipe, nil)
	if s := second.Until(link.Kicked); s.Retry.Sub(s.Since) < 30*time.Second {
		t.Errorf("the second comes again after %v", s.Retry.Sub(s.Since))
	}
	d.Place(t, phonetest.Scenario{Number: "0612345678"}).Wait()
	first.Want(call.Ringing)
	first.Want(call.Ended)
}

// A call that only rings is found too.
func TestRealSnapshotRinging(t *testing.T) {
	d := phonetest.StartLinphone(t)
	before := connect(t, d.Pipe, nil)
	before.Until(link.Connected)
	ring := d.Place(t, phonetest.Scenario{Number: "0201234567", Ring: 2 * time.Second})
	first := before.Want(call.Ringing)
	before.Stop()
	w := connect(t, d.Pipe, nil)
	if e := w.Want(call.Ringing); e.ID != first.ID || e.Number != first.Number || e.Direction != call.Incoming {
		t.Errorf("event %+v", e)
	}
	w.Want(call.Ended)
	ring.Wait()
}
