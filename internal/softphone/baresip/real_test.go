package baresip_test

import (
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/baresip"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/phonetest"
)

// wired is a link to a real phone.
func connect(t *testing.T, address string) *linktest.Watch {
	t.Helper()
	p, err := baresip.New(baresip.Config{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	w := linktest.Run(t, p)
	w.Until(link.Connected)
	return w
}

func TestRealCalls(t *testing.T) {
	sip, ctrl := phonetest.StartBaresip(t)
	w := connect(t, ctrl)
	for _, tt := range []struct {
		name     string
		scenario phonetest.Scenario
		number   string // what the number begins with
		caller   string
		states   []call.State
		reason   call.Reason
	}{
		{"rings, caller gives up", phonetest.Scenario{Number: "+31612345678", Name: "J. de Vries", Ring: 50 * time.Millisecond},
			"sip:+31612345678@127.0.0.1", "J. de Vries", []call.State{call.Ringing, call.Ended}, call.ReasonUnknown},
		{"answered", phonetest.Scenario{Number: "0612345678", Answer: true, Ring: 50 * time.Millisecond, Talk: 50 * time.Millisecond},
			"sip:0612345678@127.0.0.1", "", []call.State{call.Ringing, call.Answered, call.Ended}, call.Completed},
		{"refused here", phonetest.Scenario{Number: "0201234567", Reject: true},
			"sip:0201234567@127.0.0.1", "", []call.State{call.Ringing, call.Ended}, call.ReasonUnknown},
		{"withheld", phonetest.Scenario{Number: "+31687654321", Withheld: true},
			"sip:anonymous@anonymous.invalid", "Anonymous", []call.State{call.Ringing, call.Ended}, call.ReasonUnknown},
		{"quoted display name", phonetest.Scenario{Number: "0201234567", Name: `Café "De Hoek" \ Zoë`},
			"sip:0201234567@127.0.0.1", `Café "De Hoek" \ Zoë`, []call.State{call.Ringing, call.Ended}, call.ReasonUnknown},
		{"tel with an extension", phonetest.Scenario{From: "<tel:+31-6-1234-5678;ext=12>"},
			"tel:+31-6-1234-5678;ext=12", "", []call.State{call.Ringing, call.Ended}, call.ReasonUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := w.In(t)
			phonetest.Call(t, sip, tt.scenario)
			id := ""
			for i, state := range tt.states {
				e := w.Next()
				if e.State != state || e.Name != tt.caller || e.Direction != call.Incoming || e.Line != "sip:101@127.0.0.1" {
					t.Fatalf("event %d: %+v, want %v", i, e, state)
				}
				if len(e.Number) < len(tt.number) || e.Number[:len(tt.number)] != tt.number {
					t.Errorf("number %q", e.Number)
				}
				if id == "" {
					id = e.ID
				}
				if e.ID == "" || e.ID != id {
					t.Errorf("id %q after %q", e.ID, id)
				}
				if state == call.Ended && e.Reason != tt.reason {
					t.Errorf("reason %q", e.Reason)
				}
			}
		})
	}
	if len(w.Events) > 0 {
		t.Errorf("%d events too many", len(w.Events))
	}
}

// The phone ends in the middle of a call and comes back: the call is over, and
// the link is there again within two seconds.
func TestRealRestart(t *testing.T) {
	b := phonetest.New(t)
	w := connect(t, b.Control)
	// The caller hears nothing more, and how its program ends does not matter.
	phonetest.Place(t, b.SIP, phonetest.Scenario{Number: "0612345678", Ring: time.Minute})
	if e := w.Next(); e.State != call.Ringing {
		t.Fatalf("%+v", e)
	}
	b.Stop()
	w.Until(link.Waiting)
	for {
		// baresip may still say that the call is over before it goes.
		if e := w.Next(); e.State == call.Ended {
			break
		}
	}
	b.Restart(t)
	back := time.Now()
	w.Until(link.Connected)
	if d := time.Since(back); d > 2*time.Second {
		t.Errorf("link was back after %v", d)
	}
	phonetest.Call(t, b.SIP, phonetest.Scenario{Number: "0687654321"})
	if e := w.Next(); e.State != call.Ringing || e.Number[:14] != "sip:0687654321" {
		t.Errorf("first event after the restart: %+v", e)
	}
}

// Two programs on one phone: baresip serves the newer one only. The link must
// stand back, not fight.
func TestRealSecondClient(t *testing.T) {
	_, ctrl := phonetest.StartBaresip(t)
	first := connect(t, ctrl)
	second := connect(t, ctrl)
	// Whichever is kicked twice first stands back, and the other stays.
	limit := time.After(30 * time.Second)
	for {
		select {
		case s := <-first.States:
			if s.Phase == link.Kicked {
				return
			}
		case s := <-second.States:
			if s.Phase == link.Kicked {
				return
			}
		case <-limit:
			t.Fatal("neither stood back")
		}
	}
}
