package resident

import (
	"cmp"
	"sync"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
	"wiebelt/internal/text"
)

// Health is the state of the whole, in the words of the tray's icon.
type Health uint8

// The states, the worst last.
const (
	Ready Health = iota
	HubGone
	LinkLost
	CredentialsRefused
	NotSetUp
)

// facts is what is known about the state. One lock, held for a copy.
type facts struct {
	mu    sync.Mutex
	setUp bool
	port  int             // of the listener; negative: that port was taken
	links map[string]bool // softphone link → connected
}

func (f *facts) listens(port int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.port = port
}

func (f *facts) link(name string, connected bool) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.links == nil {
		f.links = map[string]bool{}
	}
	was, known := f.links[name]
	f.links[name] = connected
	return !known || was != connected
}

// assess says how things are, from facts that were seen and never from a socket
// that happens to be open.
func (f *facts) assess(s *companion.Snapshot, l text.Language, support string, now time.Time) (Health, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	admin := cmp.Or(support, l.T(text.CardAdmin))
	switch {
	case !f.setUp:
		return NotSetUp, l.T(text.StatusSetup, admin)
	case s.Lookup.Failure == contact.CredentialsRefused || s.Lookup.Failure == contact.ScopeRefused:
		return CredentialsRefused, l.T(text.StatusRefused, admin)
	case f.port < 0:
		return LinkLost, l.T(text.StatusPort, -f.port, admin)
	}
	for name, connected := range f.links {
		if !connected {
			return LinkLost, l.T(text.StatusLink, name)
		}
	}
	switch {
	case s.Lookup.Failure != "":
		return HubGone, l.T(text.StatusHub, l.T(text.Failure(string(s.Lookup.Failure))))
	case s.Last != nil && sameDay(s.Last.At, now):
		return Ready, l.T(text.StatusReadyLast, s.Last.At.Local().Format("15:04"), l.T(text.Way(s.Last.Kind)))
	}
	return Ready, l.T(text.StatusReadyNone)
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Local().Date()
	by, bm, bd := b.Local().Date()
	return ay == by && am == bm && ad == bd
}

// lastCall is the menu's line about the last call: time and number, no name.
func lastCall(s *companion.Snapshot, l text.Language) string {
	if s.Last == nil {
		return l.T(text.StatusMenuNone)
	}
	n := s.Last.Number.Display()
	if s.Last.Number.Kind == phone.Withheld {
		n = l.T(text.StatusMenuLastWithheld)
	}
	return l.T(text.StatusMenuLast, s.Last.At.Local().Format("15:04"), n)
}
