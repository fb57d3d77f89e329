package resident

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/softphone/link"
)

type knownState struct {
	health.Facts                          // except what follows from the fields below
	port             int                  // of the listener, 0 if it is not running
	links            map[string]linkState // by the name in the settings
	schemeNotDefault bool                 // links of our scheme do not open this program
	cardsWaiting     bool                 // cards are waiting for a full-screen program
	calls            []engine.LastCall    // from before this program was started, newest first
}

type linkState struct {
	health.Source
	since time.Time  // start of its phase
	cause link.Cause // why it is not connected, or what does not work behind it
}

// facts guards what is known; the lock is held while copying. The zero value is ready.
type facts struct {
	mu       sync.Mutex
	known    knownState
	hubState hubwatch.HubState // result of the last check of the hub
}

// change changes what is known and reports whether health's facts or the waiting cards changed.
func (f *facts) change(do func(*knownState)) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, held := f.known.Facts, f.known.cardsWaiting
	do(&f.known)
	return held != f.known.cardsWaiting || !reflect.DeepEqual(was, f.known.Facts)
}

func (f *facts) read() knownState {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known
	k.links, k.calls = maps.Clone(k.links), slices.Clone(k.calls)
	return k
}

// assemble assembles what is known now, with the links ordered by name.
func (f *facts) assemble(s *engine.Snapshot) health.Facts {
	k := f.read()
	h := k.Facts
	h.Lookup.At, h.Lookup.Failure = s.Lookup.At, s.Lookup.Failure
	f.hubState.AddTo(&h)
	if s.LastCall != nil {
		h.LastCall = &health.Call{At: s.LastCall.At, Kind: s.LastCall.Kind}
	}
	for _, name := range slices.Sorted(maps.Keys(k.links)) {
		l := k.links[name]
		l.NeedsAdmin = l.cause.ForAdmin()
		h.Sources = append(h.Sources, l.Source)
	}
	return h
}

// pausedUntil returns the end of the pause, the zero time if there is none.
func (f *facts) pausedUntil(now time.Time) time.Time {
	if until := f.read().PausedUntil; until.After(now) {
		return until
	}
	return time.Time{}
}

// phases maps a link's phases: one still connecting for the first time is not
// known to be up or down.
var phases = map[link.Phase]health.Phase{link.Connecting: health.Unwatched,
	link.Waiting: health.Down, link.Kicked: health.Kicked, link.Refused: health.Refused}

// backendFaultPhase maps the causes of trouble behind a connected link to its phase.
var backendFaultPhase = map[link.Cause]health.Phase{link.NoCause: health.Up, link.CauseStorage: health.NoStorage, link.CauseExchange: health.NoExchange,
	link.CauseHub: health.NoHub}

// phaseOf returns the phase of a link. One without a secret is incomplete, not refused.
func phaseOf(st link.State) health.Phase {
	switch st.Cause {
	case link.CauseNoSecret:
		return health.Incomplete
	case link.CauseSecretStore:
		return health.Down
	}
	if st.Phase == link.Connected {
		return backendFaultPhase[st.Cause]
	}
	return phases[st.Phase]
}

// missingCause returns why a link could not even be tried.
func missingCause(p settings.Softphone) link.Cause {
	if m := p.Missing(); m != "" {
		return link.CauseNeeds(m)
	}
	return link.CauseSettings
}

func linkName(s settings.Softphone) string { return cmp.Or(s.Name, s.Address) }

// setLink records the state of a link and its cause, and reports whether that is new.
func (f *facts) setLink(kind, name string, phase health.Phase, st link.State) (news bool) {
	source := health.Source{Kind: kind, Name: name, Phase: phase, BackendFaultSince: st.BackendFaultSince}
	if name == kind {
		source.Name = "" // the default name
	}
	f.change(func(k *knownState) {
		was, there := k.links[name]
		now := linkState{source, was.since, st.Cause}
		if !there || was.Source != source {
			now.since = time.Now()
		}
		if news = !there || was != now; k.links == nil {
			k.links = map[string]linkState{}
		}
		k.links[name] = now
	})
	return news
}

// lastCalls are the calls of the menu, newest first.
func (f *facts) lastCalls(s *engine.Snapshot) []engine.LastCall {
	all := append(slices.Clip(s.RecentCalls), f.read().calls...)
	return all[:min(len(all), engine.MaxRecentCalls)]
}

// readHistory reads from the history which calls came before this program started, and from
// which kind of source; otherwise icon and menu would show none. If there are two links of
// one kind, the history does not say which of them it was.
func (r *Resident) readHistory(ctx context.Context) {
	last, err := r.store.Last(ctx, engine.MaxRecentCalls)
	if err != nil {
		r.o.Log.Warn("the calls of before are not known", "why", err)
	}
	rules := r.rules(r.settings())
	r.facts.change(func(k *knownState) {
		for _, e := range last {
			if !e.Rang.Before(k.StartedAt) {
				continue
			}
			if k.LastCall == nil && !e.WhileOff() { // those never came here
				k.LastCall = &health.Call{At: e.Rang, Kind: e.Kind}
			}
			if len(k.calls) < engine.MaxRecentCalls {
				k.calls = append(k.calls, engine.LastCall{Number: rules.Parse(e.Number, ""), Kind: e.Kind, At: e.Rang})
			}
		}
	})
	byKind, err := r.store.LastByKind(ctx)
	if err != nil {
		r.o.Log.Warn("when calls last came is not known", "why", err)
	}
	links := map[string][]string{}
	for _, p := range r.settings().Softphones {
		links[p.Kind] = append(links[p.Kind], linkName(p))
	}
	for kind, at := range byKind {
		switch names := links[kind]; len(names) {
		case 0:
			r.activity.AddKnown(kind, "", at)
		case 1:
			r.activity.AddKnown(kind, names[0], at)
		}
	}
	r.requestRefresh()
}

// forgetRecent forgets calls that were deleted, and how often a caller rang, so that
// neither menu nor engine brings them back.
func (r *Resident) forgetRecent(gone func(engine.LastCall) bool, who phone.Number) {
	r.facts.change(func(k *knownState) { k.calls = slices.DeleteFunc(k.calls, gone) })
	if r.engine != nil {
		r.engine.Forget(gone, who)
	}
}
