package resident

import (
	"reflect"
	"sync"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/registry"
)

// told is the last state of the ways that the windows were told.
type toldWays struct {
	mu   sync.Mutex
	last windowapi.Ways
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
		r.desks.Send(windowapi.KindWays, now)
	}
}

// waysNow is how every way in is doing that is set up: first those by which phones
// come to us, then the links in the order of the settings. Only links have a
// heartbeat; of the others nothing is claimed but what became of the listener's
// port and when a call last came.
func (r *Resident) waysNow() windowapi.Ways {
	s := r.set()
	all := windowapi.Ways{Ways: []windowapi.WayState{}}
	off := map[string]bool{call.KindWebSocket: !s.Listener.Enabled, call.KindHTTP: !s.Listener.Enabled || !s.Listener.HTTP}
	for _, name := range registry.Sources() {
		if off[name] {
			continue
		}
		w := windowapi.WayState{Kind: name, Phase: windowapi.WayListens, Last: r.heard.LastOver(name, "")}
		if registry.Of(name).Reach == registry.ByListener {
			var taken bool
			switch w.Port, taken = r.facts.listening(s.Listener.Port); {
			case taken:
				w.Phase = windowapi.WayTaken
			case !r.facts.hasTokens():
				w.Phase = windowapi.WayKeyless
			}
		}
		all.Ways = append(all.Ways, w)
	}
	for _, p := range s.Softphones {
		name := linkName(p)
		phase, since := r.facts.linkPhase(name)
		all.Ways = append(all.Ways, windowapi.WayState{Kind: p.Kind, Name: p.Name, Phase: linkPhases[phase], Why: r.facts.why(name),
			Since: since, Last: r.heard.LastOver(p.Kind, name)})
	}
	return all
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
