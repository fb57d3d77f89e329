package resident

import (
	"slices"
	"sync"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/text"
)

// facts collects what is known about the state of the whole. One lock, held for
// a copy.
type facts struct {
	mu       sync.Mutex
	setUp    bool
	port     int                      // of the listener; negative: that port was taken
	noTokens bool                     // the listener cannot run without them
	links    map[string]health.Source // by the name in the settings
	since    map[string]time.Time     // when a link's phase began
	causes   map[string]link.Cause    // why a link does not stand
	paused   time.Time
	opened   time.Time
	hubSeen  hubwatch.HubSeen // what the last check of the hub came to
	usual    *hubwatch.Usual  // nil where no history is kept
	lost     []health.Registration
	calls    []engine.LastCall // newest first, at most lastCalls
	newest   time.Time         // when the last call came that was noted in calls
	earlier  *health.Call      // the last one before this program was started
	sending  health.Delivery   // of the outbox
}

func (f *facts) listens(port int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.port = port
}

// link notes how a link is doing.
func (f *facts) link(kind, name string, phase health.Phase) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.links == nil {
		f.links, f.since = map[string]health.Source{}, map[string]time.Time{}
	}
	w := health.Source{Kind: kind, Name: name, Phase: phase}
	if name == kind {
		w.Name = "" // nobody gave it one
	}
	was, known := f.links[name]
	f.links[name] = w
	if changed = !known || was != w; changed {
		f.since[name] = time.Now()
	}
	return changed
}

// phases are a link's phases as far as they say anything: one that is tried for
// the first time is not known to be there nor to be gone.
var phases = map[link.Phase]health.Phase{link.Connecting: health.Unwatched, link.Connected: health.Up,
	link.Waiting: health.Down, link.Kicked: health.Kicked, link.Refused: health.Refused}

// pause stops cards until a moment; the zero time ends a pause.
func (f *facts) pause(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = until
}

// pausedUntil is the end of the pause, the zero time without one.
func (f *facts) pausedUntil(now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.paused.After(now) {
		return time.Time{}
	}
	return f.paused
}

// assess says how things are.
func (f *facts) assess(s *engine.Snapshot, screen func(*health.Facts), l text.Language, support string, now time.Time) health.Report {
	known := f.of(s)
	screen(&known)
	return health.Assess(known, l, support, now)
}

// of puts together what is known now, the links in the order of their names.
func (f *facts) of(s *engine.Snapshot) health.Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := health.Facts{SetUp: f.setUp, PortTaken: max(-f.port, 0), NoTokens: f.noTokens, Paused: f.paused, Opened: f.opened}
	h.Lookup.At, h.Lookup.Failure = s.Lookup.Last, s.Lookup.Failure
	f.hubSeen.Into(&h)
	h.Delivery = f.sending
	h.Lost = f.lost
	if f.usual != nil {
		h.Usual = f.usual.Calls()
	}
	h.Last = f.earlier
	if s.Last != nil {
		h.Last = &health.Call{At: s.Last.At, Kind: s.Last.Kind}
	}
	names := make([]string, 0, len(f.links))
	for n := range f.links {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		w := f.links[n]
		w.Admin = f.causes[n].ForAdmin()
		h.Sources = append(h.Sources, w)
	}
	return h
}

// delivers notes how the outbox is, and reports whether that is news.
func (f *facts) delivers(now health.Delivery) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	news = f.sending != now
	f.sending = now
	return news
}

// linkPhase is how a link is doing, and since when.
func (f *facts) linkPhase(name string) (phase health.Phase, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.links[name].Phase, f.since[name]
}

// loses notes which registrations are no longer ours.
func (f *facts) loses(lost []health.Registration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = lost
}

// counts takes over who knows how many calls are usual.
func (f *facts) counts(u *hubwatch.Usual) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.usual = u
}
