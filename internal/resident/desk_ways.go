package resident

import (
	"reflect"
	"sync"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/kinds"
)

// told is the last state of the ways that the windows were told.
type toldWays struct {
	mu   sync.Mutex
	last deskapi.Ways
}

// tellWays tells open windows how the ways in are doing, if that is news.
func (r *Resident) tellWays() {
	if !r.desks.Open() {
		return
	}
	now := r.waysNow()
	r.toldWays.mu.Lock()
	news := !reflect.DeepEqual(now, r.toldWays.last)
	r.toldWays.last = now
	r.toldWays.mu.Unlock()
	if news {
		r.desks.Send(deskapi.KindWays, now)
	}
}

// waysNow is how every way in is doing. Nothing is claimed of one that has no
// heartbeat but when a call last came.
func (r *Resident) waysNow() deskapi.Ways {
	all := deskapi.Ways{Ways: []deskapi.WayState{}}
	port, taken := r.facts.listening(r.set().Listener.Port)
	links := r.set().Softphones
	for _, w := range r.WaysIn() {
		s := deskapi.WayState{Kind: w.Kind, Name: w.Name, Phase: deskapi.WayListens}
		if kind := kinds.Of(w.Kind); !kind.IsLink() {
			if kind.Reach == kinds.ByListener {
				s.Port = port
				switch {
				case taken:
					s.Phase = deskapi.WayTaken
				case !r.facts.hasTokens():
					s.Phase = deskapi.WayKeyless
				}
			}
			s.Last = r.heard.LastOver(w.Kind, "")
		} else if len(links) > 0 { // they come in the order of the settings
			name := linkName(links[0])
			links = links[1:]
			s.Phase, s.Since = linkPhases[w.Phase], r.facts.phaseSince(name)
			s.Why = r.facts.why(name)
			s.Last = r.heard.LastOver(w.Kind, name)
		}
		all.Ways = append(all.Ways, s)
	}
	return all
}

// linkPhase is how a link is doing.
func (r *Resident) linkPhase(name string) (health.Phase, bool) {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	w, ok := r.facts.links[name]
	return w.Phase, ok
}

// listening gives the listener's port, that of the settings until it runs, and
// whether another program has it.
func (f *facts) listening(set int) (port int, taken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.port < 0:
		return -f.port, true
	case f.port == 0:
		return set, false
	}
	return f.port, false
}
