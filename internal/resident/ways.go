package resident

import (
	"wiebelt/internal/call"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/kinds"
)

// WayIn is a way in by which calls can come, as Wiebelt is set now.
type WayIn struct {
	Kind string // of call.Way
	Name string // what people call it, "" for its kind's name
	// Phase is what is known of it. Only links have a heartbeat; of the other
	// ways nothing is claimed but that the listener's port was taken.
	Phase health.Phase
}

// WaysIn gives every way in that is set up: the open ones first, then the links
// in the order of the settings.
func (r *Resident) WaysIn() []WayIn {
	s := r.set()
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	var all []WayIn
	off := map[string]bool{call.KindWebSocket: !s.Listener.Enabled, call.KindHTTP: !s.Listener.Enabled || !s.Listener.HTTP}
	for _, name := range kinds.Sources() {
		w := WayIn{Kind: name, Phase: health.Unwatched}
		if kinds.Of(name).Reach == kinds.ByListener && r.facts.port < 0 {
			w.Phase = health.Down
		}
		if !off[name] {
			all = append(all, w)
		}
	}
	for _, p := range s.Softphones {
		all = append(all, WayIn{Kind: p.Kind, Name: p.Name, Phase: r.facts.links[linkName(p)].Phase})
	}
	return all
}
