package relaylink

import (
	"maps"
	"time"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
)

// states holds the last state reported by each relay of the site, by name. It belongs to
// one session: a new connection starts without any.
type states map[string]heardState

type heardState struct {
	wire.State
	at time.Time // by our clock
}

// maxRelays limits how many relays are remembered; a site has three.
const maxRelays = 8

// store stores a relay's state; anything else is ignored.
func (s states) store(b []byte, now time.Time) {
	said, err := wire.ParseState(b)
	if _, known := s[said.Relay]; err == nil && (known || len(s) < maxRelays) {
		s[said.Relay] = heardState{said, now}
	}
}

// worstFault returns what does not work behind the relays, the worst problem
// first, and since when if they say so. Whatever one of them can do
// counts as working; a relay that has been silent for a while is ignored.
func (s states) worstFault(now time.Time) (c link.Cause, since time.Time) {
	maps.DeleteFunc(s, func(_ string, said heardState) bool { return now.Sub(said.at) > 3*wire.StateEvery })
	faulty, noHub, hub := 0, false, false
	connected, silent := map[string]bool{}, map[string]time.Time{}
	for _, said := range s {
		if said.Fault != "" {
			faulty++
			continue
		}
		switch said.Hub {
		case "ok":
			hub = true
		case "", "off", "untried":
		default:
			noHub = true
		}
		for _, l := range said.Links {
			switch phase(l) {
			case link.Connected.String():
				connected[l.Name] = true
			case link.Waiting.String(), link.Kicked.String(), link.Refused.String(), wire.LinkSettings:
				silent[l.Name] = said.at.Add(-max(0, said.At.Sub(l.Since)))
			}
		}
	}
	if faulty > 0 && faulty == len(s) {
		return link.CauseStorage, time.Time{}
	}
	for name, at := range silent {
		if !connected[name] && (c == link.NoCause || at.Before(since)) {
			c, since = link.CauseExchange, at
		}
	}
	if c == link.NoCause && noHub && !hub {
		c = link.CauseHub
	}
	return c, since
}

// phase returns a link's phase. A link that an exchange reports to is waiting while it
// gets no readable messages.
func phase(l wire.LinkState) string {
	switch {
	case l.State != wire.LinkWebhook:
		return l.State
	case l.Cause != "":
		return link.Waiting.String()
	}
	return link.Connected.String()
}
