package relaylink

import (
	"testing"
	"time"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
)

// TestTrouble: whatever one relay can do counts as working;
// only problems that a relay has reported recently count.
func TestTrouble(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	linked := func(state string) []wire.LinkState {
		return []wire.LinkState{{Name: "centrale", Kind: "ari", State: state, Since: ago(5 * time.Minute)}}
	}
	for _, c := range []struct {
		name string
		said []wire.State
		want link.Cause
	}{
		{"nobody has spoken", nil, link.NoCause},
		{"all is well", []wire.State{{Hub: "ok", Links: linked("connected")}}, link.NoCause},
		{"no link, and no hub yet", []wire.State{{Hub: "untried"}}, link.NoCause},
		{"a link is tried for the first time", []wire.State{{Hub: "off", Links: linked("connecting")}}, link.NoCause},
		{"the exchange is away", []wire.State{{Hub: "ok", Links: linked("waiting")}}, link.CauseExchange},
		{"the exchange refuses", []wire.State{{Hub: "slow", Links: linked("refused")}}, link.CauseExchange},
		{"another relay has the link", []wire.State{{Links: linked("elsewhere")}, {Links: linked("connected")}, {Links: linked("waiting")}}, link.NoCause},
		{"no relay has the link", []wire.State{{Links: linked("elsewhere")}, {Links: linked("waiting")}}, link.CauseExchange},
		{"one of two links", []wire.State{{Links: append(linked("connected"), wire.LinkState{Name: "tweede", State: "settings"})}}, link.CauseExchange},
		{"an exchange reports", []wire.State{{Links: linked("reports")}}, link.NoCause},
		{"what it sends cannot be read", []wire.State{{Links: []wire.LinkState{{Name: "centrale", State: "reports", Cause: "unread", Since: ago(5 * time.Minute)}}}}, link.CauseExchange},
		{"the hub is away", []wire.State{{Hub: "slow", Links: linked("connected")}}, link.CauseHub},
		{"the hub answers another relay", []wire.State{{Hub: "slow"}, {Hub: "ok"}}, link.NoCause},
		{"a word of a later version for no hub", []wire.State{{}}, link.NoCause},
		{"the disk is full", []wire.State{{Fault: "disk", Hub: "slow", Links: linked("waiting")}}, link.CauseStorage},
		{"one of two has a fault", []wire.State{{Fault: "quorum"}, {Hub: "ok"}}, link.NoCause},
	} {
		s := states{}
		s.store([]byte(`{"v":1,"relay":7}`), now)
		for i, said := range c.said {
			said.Relay, said.At = "r"+string(rune('1'+i)), ago(-time.Hour) // its clock is ahead
			for j := range said.Links {
				said.Links[j].Since = said.Links[j].Since.Add(time.Hour)
			}
			s.store(said.Encode(), now)
		}
		got, since := s.worstFault(now)
		if got != c.want || got == link.CauseExchange && c.name != "one of two links" && !since.Equal(ago(5*time.Minute)) {
			t.Errorf("%s: %q since %v", c.name, got, since)
		}
		if got, _ := s.worstFault(now.Add(4 * wire.StateEvery)); got != link.NoCause {
			t.Errorf("%s: %q, and nobody has spoken for long", c.name, got)
		}
	}
}

// TestBehind: a desk receives the relay's state, and reports a repeated one only once.
func TestBehind(t *testing.T) {
	r := newRelay(t)
	d := connected(t, r)
	say := func(s wire.State) {
		t.Helper()
		s.Relay, s.At = "r1", time.Now()
		must.Do(t, r.node.Conn.Publish(site.StateSubject(), s.Encode()))
	}
	since := time.Now().Add(-time.Hour)
	silent := wire.State{Links: []wire.LinkState{{Name: "centrale", State: "waiting", Since: since}}}
	for _, step := range []struct {
		said wire.State
		want link.Cause
	}{{silent, link.CauseExchange}, {silent, ""}, {wire.State{Hub: "slow"}, link.CauseHub}, {wire.State{Hub: "ok"}, link.NoCause}} {
		say(step.said)
		if step.want == "" && len(step.said.Links) > 0 {
			continue // nothing new
		}
		s := d.Until(link.Connected)
		if s.Cause != step.want || s.Cause == link.CauseExchange && s.BackendFaultSince.Sub(since).Abs() > time.Minute {
			t.Fatalf("%+v, want %q", s, step.want)
		}
	}
}
