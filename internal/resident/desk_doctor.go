package resident

import (
	"time"

	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
)

// linkPhases are the phases of links as they are told to the doctor.
var linkPhases = map[health.Phase]string{health.Unwatched: windowapi.LinkUnknown, health.Up: windowapi.LinkUp, health.Down: windowapi.LinkDown,
	health.Kicked: windowapi.LinkKicked, health.Refused: windowapi.LinkRefused, health.Incomplete: windowapi.LinkIncomplete}

// doctorFacts is what the doctor cannot see from outside.
func (r *Resident) doctorFacts(now time.Time) windowapi.DoctorFacts {
	known := r.facts.of(r.engine.Snapshot())
	report := health.Assess(known, r.lang(), "", now)
	f := windowapi.DoctorFacts{
		Opened: known.Opened, SetUp: known.SetUp && !known.SecretMissing, Failure: string(known.Lookup.Failure),
		Paused:    known.Paused.After(now),
		Doubt:     report.State == health.Doubt && len(known.Lost) == 0,
		Port:      r.facts.listened(),
		PortTaken: known.PortTaken > 0,
	}
	cards, hotkey, _ := r.shown.get()
	f.Cards, f.Hotkey = string(cards), string(hotkey)
	for _, p := range r.set().Softphones {
		name := linkName(p)
		phase, _ := r.facts.linkPhase(name)
		f.Links = append(f.Links, windowapi.DoctorLink{Kind: p.Kind, Name: name, Phase: linkPhases[phase], Why: r.facts.why(name)})
	}
	return f
}
