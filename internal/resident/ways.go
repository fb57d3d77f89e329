package resident

import (
	"reflect"
	"sync"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/registry"
)

// told is the last state of the ways that the windows were told.
type toldSources struct {
	mu   sync.Mutex
	last windowapi.Sources
}

// tellWays tells open windows how the ways in are doing, if that is news.
func (r *Resident) tellSources() {
	if !r.desks.Open() {
		return
	}
	now := r.sourcesNow()
	r.toldSources.mu.Lock()
	news := !reflect.DeepEqual(now, r.toldSources.last)
	r.toldSources.last = now
	r.toldSources.mu.Unlock()
	if news {
		r.desks.Send(windowapi.KindSources, now)
	}
}

// waysNow is how every way in is doing that is set up: first those by which phones
// come to us, then the links in the order of the settings. Only links have a
// heartbeat; of the others nothing is claimed but what became of the listener's
// port and when a call last came.
func (r *Resident) sourcesNow() windowapi.Sources {
	s := r.set()
	all := windowapi.Sources{Sources: []windowapi.SourceState{}}
	off := map[string]bool{call.KindWebSocket: !s.Listener.Enabled, call.KindHTTP: !s.Listener.Enabled || !s.Listener.HTTP}
	for _, name := range registry.Sources() {
		if off[name] {
			continue
		}
		w := windowapi.SourceState{Kind: name, Phase: windowapi.SourceListens, Last: r.heard.LastOver(name, "")}
		if registry.Of(name).Reach == registry.ByListener {
			var taken bool
			switch w.Port, taken = r.facts.listening(s.Listener.Port); {
			case taken:
				w.Phase = windowapi.SourceTaken
			case !r.facts.hasTokens():
				w.Phase = windowapi.SourceKeyless
			}
		}
		all.Sources = append(all.Sources, w)
	}
	for _, p := range s.Softphones {
		name := linkName(p)
		phase, since := r.facts.linkPhase(name)
		all.Sources = append(all.Sources, windowapi.SourceState{Kind: p.Kind, Name: p.Name, Phase: linkPhases[phase], Why: r.facts.why(name),
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
