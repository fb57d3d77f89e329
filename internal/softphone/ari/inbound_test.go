package ari

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

// come makes an Asterisk connect to us, after fill has set its state.
func come(t *testing.T, fill func(*simulate.ARI)) (*simulate.ARI, *linktest.Watch) {
	t.Helper()
	p, port := linktest.Inbound(t, "/in", func(sock *exchangelink.Socket) link.Phone {
		g := Inbound(exchangelink.Account{HasExtension: func(extension string) bool { return extension == "101" }}, sock).(*inbound)
		g.pace = pollIntervals{normal: 50 * time.Millisecond, unsure: 50 * time.Millisecond, missed: 50 * time.Millisecond}
		return g
	})
	w := linktest.Run(t, p)
	a := simulate.OutboundARI()
	if fill != nil {
		fill(a)
	}
	a.Connect(t.Context(), fmt.Sprintf("wss://127.0.0.1:%d/in", port))
	t.Cleanup(func() { _ = a.Close() })
	return a, w
}

func lists(a *simulate.ARI, all ...chan_) {
	a.With(func() {
		clear(a.Channels)
		for _, c := range all {
			a.Channels[c.id] = json.RawMessage(c.json())
		}
	})
}

// now gives an event a time that is still recent when it arrives, however long that takes.
func now(event string) string {
	return strings.Replace(event, "2026-01-05T09:30:00.000+0100", time.Now().Add(time.Hour).Format(stampLayout), 1)
}

const ringsAt = "ringing incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567 at 101"

// TestInbound: calls that already ring when Asterisk connects are reported, followed
// by its events; numbers are checked for being withheld over the same connection.
func TestInbound(t *testing.T) {
	a, w := come(t, func(a *simulate.ARI) { lists(a, ring) })
	w.Until(link.Connected)
	w.Expect(ringsAt)
	a.With(func() { a.Vars["1736065900.99 CONNECTEDLINE(num-pres)"] = "prohib_not_screened" })
	a.Send(now(last.event("ChannelStateChange")), now(ring.as(up).event("ChannelStateChange")), now(ring.event("ChannelDestroyed")))
	w.Expect("ringing incoming #1736065900.99 anonymous on 101 at 101", strings.Replace(ringsAt, "ringing", "answered", 1), strings.Replace(ringsAt, "ringing", "ended completed", 1))
}

// TestInboundKept: events that Asterisk queued while it was not
// connected are old, and the current channels show the outcome
// of their calls; events that arrive meanwhile are reported.
func TestInboundKept(t *testing.T) {
	over := ring.as(func(c *chan_) { c.id = "1736065800.1" })
	a, w := come(t, func(a *simulate.ARI) {
		for range mostQueued + 1 {
			a.Send(over.event("ChannelStateChange"))
		}
		a.Send(over.event("ChannelDestroyed"), ring.as(up).event("ChannelStateChange"), now(last.event("ChannelStateChange")))
		lists(a, ring)
	})
	w.Until(link.Connected)
	w.Expect(ringsAt, lastSaid+" at 101")
	a.EachSocket(linktest.Cut)
	w.Until(link.Waiting)
	lists(a)
	w.Wake <- struct{}{}
	w.Until(link.Connected)
	if a, b := w.Want(call.Ended), w.Want(call.Ended); a.ID == b.ID {
		t.Errorf("%+v, %+v", a, b)
	}
}

// TestInboundQueued: the queue of events that arrive before
// an answer is bounded, however large each event is.
func TestInboundQueued(t *testing.T) {
	w := &socketTransport{up: true}
	for _, size := range []int{1, mostBytes / 2, mostBytes / 2} {
		w.enqueue(make([]byte, size))
	}
	if len(w.queue) != 2 || w.bytes != mostBytes || !w.full {
		t.Errorf("%d are kept, %d bytes", len(w.queue), w.bytes)
	}
	if w.enqueue(make([]byte, mostBytes+1)); len(w.queue) != 0 || w.bytes != 0 {
		t.Errorf("one that is too large is kept, %d bytes", w.bytes)
	}
}

// TestInboundReplaced: if no event arrives though there are channels, another program
// has the application: that is reported, calls are found by polling, and the next
// event clears the fault.
func TestInboundReplaced(t *testing.T) {
	a, w := come(t, nil)
	w.Until(link.Connected)
	a.Send(now(last.event("ChannelStateChange")), now(last.event("ChannelDestroyed")))
	w.Want(call.Ringing)
	w.Want(call.Ended)
	is := func(cause link.Cause) {
		t.Helper()
		if s := w.Until(link.Connected); s.Cause != cause || cause != "" && s.BackendFaultSince.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	lists(a, ring)
	is(link.CauseReplaced)
	w.Expect(ringsAt)
	lists(a)
	w.Want(call.Ended)
	a.Send(now(last.event("ChannelStateChange")))
	is(link.NoCause)
	w.Want(call.Ringing)
	lists(a, last)
	a.Send(`{"type":"ApplicationUnregistered","application":"wiebelt"}`)
	is(link.CauseReplaced)
	a.Send(`{"type":"ApplicationRegistered","application":"wiebelt"}`)
	is(link.NoCause)
	lists(a) // a call ends without an event
	is(link.CauseReplaced)
	w.Await(call.Ended)
}

// TestInboundRefused: the ARI user in its settings does not exist.
func TestInboundRefused(t *testing.T) {
	for status, cause := range map[int]link.Cause{401: link.CauseDenied, 403: link.CauseRights, 500: link.CauseUnavailable} {
		_, w := come(t, func(a *simulate.ARI) { a.With(func() { a.RejectStatus = status }) })
		phase := link.Refused
		if status == 500 {
			phase = link.Waiting
		}
		if s := w.Until(phase); s.Cause != cause {
			t.Errorf("%d: %+v", status, s)
		}
	}
}

// TestInboundHostile: an unreadable message affects nothing else; one that is too
// long breaks the connection.
func TestInboundHostile(t *testing.T) {
	a, w := come(t, nil)
	w.Until(link.Connected)
	all := append(hostile(330), `{"type":"RESTResponse"}`, `{"type":"RESTResponse","request_id":"2","status_code":"x"}`, `{"type":"RESTResponse","request_id":"9999","status_code":200,"message_body":"[]"}`)
	for i, m := range all {
		c := last.as(func(c *chan_) { c.id = fmt.Sprintf("1736069999.%d", i) })
		a.Send(m, now(c.event("ChannelStateChange")), now(c.event("ChannelDestroyed")))
		for e := w.Next(); e.ID != c.id || e.State != call.Ended; e = w.Next() {
			if e != e.Clean() {
				t.Fatalf("%d: %+v", i, e)
			}
		}
	}
	a.Send(`{"x":"` + strings.Repeat("y", 9<<20) + `"}`)
	if s := w.Until(link.Waiting); errors.Is(s.Err, link.ErrClosed) || s.Err == nil {
		t.Errorf("%+v", s)
	}
}
