package relaylink

import (
	"maps"
	"time"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
)

// states are what the relays of the site said last of themselves, by name. They
// belong to one session: whoever connects anew knows nothing before they speak.
type states map[string]heardState

type heardState struct {
	wire.State
	at time.Time // by our clock
}

// maxRelays is how many are remembered; a site has three.
const maxRelays = 8

// take takes what a relay says of itself; anything else is left alone.
func (s states) take(b []byte, now time.Time) {
	said, err := wire.ParseState(b)
	if _, known := s[said.Relay]; err == nil && (known || len(s) < maxRelays) {
		s[said.Relay] = heardState{said, now}
	}
}

// trouble is what does not work behind the relays, the worst first, and since when if
// they say so. What one of them can do works; a relay that has not spoken for a while
// counts for nothing.
func (s states) trouble(now time.Time) (c link.Cause, since time.Time) {
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

// phase is how a link does. One by which an exchange reports waits for messages that can
// be read.
func phase(l wire.LinkState) string {
	switch {
	case l.State != wire.LinkReports:
		return l.State
	case l.Cause != "":
		return link.Waiting.String()
	}
	return link.Connected.String()
}
