package resident

import (
	"wiebelt/internal/call"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/bria"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/softphone/threecx"
	"wiebelt/internal/softphone/wazo"
)

// WayIn is a way in by which calls can come, as Wiebelt is set now.
type WayIn struct {
	Kind string // of call.Way
	Name string // what people call it, "" for its kind's name
	// Tells is what it can report at least. A phone on one of the open ways may
	// report more, which is believed once it was seen.
	Tells call.Tells
	// Phase is what is known of it. Only links have a heartbeat; of the other
	// ways nothing is claimed but that the listener's port was taken.
	Phase health.Phase
}

// declared is what each kind of way in can report, as it says itself in every
// event (call.Way.Tells).
var declared = map[string]call.Tells{
	call.KindWebSocket: call.TellsAll, call.KindHTTP: call.TellsRing, call.KindURL: call.TellsRing, call.KindCommand: call.TellsRing,
	call.KindBaresip: call.TellsAll, bria.Kind: call.TellsAll, linphone.Kind: call.TellsAll,
	ari.Kind: call.TellsAll, wazo.Kind: call.TellsAll, threecx.Kind: call.TellsAll,
}

// WaysIn gives every way in that is set up: the open ones first, then the links
// in the order of the settings.
func (r *Resident) WaysIn() []WayIn {
	s := r.set()
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	var all []WayIn
	add := func(kind, name string, phase health.Phase) {
		all = append(all, WayIn{Kind: kind, Name: name, Tells: declared[kind], Phase: phase})
	}
	listener := health.Unwatched
	if r.facts.port < 0 {
		listener = health.Down
	}
	if s.Listener.Enabled {
		add(call.KindWebSocket, "", listener)
		if s.Listener.HTTP {
			add(call.KindHTTP, "", listener)
		}
	}
	add(call.KindURL, "", health.Unwatched)
	add(call.KindCommand, "", health.Unwatched)
	for _, p := range s.Softphones {
		add(p.Kind, p.Name, r.facts.links[linkName(p)].Phase)
	}
	return all
}
