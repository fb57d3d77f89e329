//go:build linux

package linphone

import (
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/phonetest"
)

// connect returns a link on whose connection commands can be sent too.
func connect(t *testing.T, d *phonetest.Linphone) *linktest.Watch {
	t.Helper()
	p := newPhone(t, d.Pipe)
	p.dialer = d.Dial
	return linktest.Run(t, p)
}

func TestReal(t *testing.T) {
	t.Parallel()
	d := phonetest.StartLinphone(t)
	linktest.RealPhone{Phone: d, Link: func() *linktest.Watch { return connect(t, d) }, Answer: func() { d.Press("answer") }}.Run(t)
}

// TestRealSnapshot: a link that starts during calls finds both the active one and the ringing one.
func TestRealSnapshot(t *testing.T) {
	t.Parallel()
	d := phonetest.StartLinphone(t)
	before := connect(t, d)
	before.Until(link.Connected)
	talk := d.Place(t, phonetest.Scenario{Number: "0612345678", Answer: true, Talk: 4 * time.Second})
	first := before.Want(call.Ringing)
	d.Press("answer")
	before.Want(call.Answered)
	ring := d.Place(t, phonetest.Scenario{Number: "0201234567", Name: "Zoë", Ring: 3 * time.Second})
	second := before.Want(call.Ringing)
	before.Stop()

	w := connect(t, d)
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

// TestRealOutgoing: in an outgoing call, the event's From is our own address.
func TestRealOutgoing(t *testing.T) {
	t.Parallel()
	d := phonetest.StartLinphone(t)
	w := connect(t, d)
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

// TestRealSecondClient: with two programs on one daemon, it serves
// the first. The second reports that and does not keep retrying.
func TestRealSecondClient(t *testing.T) {
	t.Parallel()
	d := phonetest.StartLinphone(t)
	first := linktest.Run(t, newPhone(t, d.Pipe))
	first.Until(link.Connected)
	second := linktest.Run(t, newPhone(t, d.Pipe))
	if s := second.Until(link.Kicked); s.Retry.Sub(s.Since) < 30*time.Second {
		t.Errorf("the second comes again after %v", s.Retry.Sub(s.Since))
	}
	d.Place(t, phonetest.Scenario{Number: "0612345678"}).Wait()
	first.Want(call.Ringing)
	first.Want(call.Ended)
}
