package start

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

type state struct {
	set    *settings.Settings
	setUp  bool // the hub is configured
	join   bool // the window asks for a code to join the relay with this computer
	phones []phone
	stale  bool // something was done since
}

type phone struct {
	id, name, sentence string
	connectable        bool // it can be connected now
	ok                 bool // it is connected, or runs Wiebelt
	recipe             string
}

// detectTimeout is how long to search for phones.
const detectTimeout = 5 * time.Second

func detectPhones(ctx context.Context) []detect.Phone {
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	return detect.Find(ctx, detect.ThisSystem())
}

// readState reads the state. sources is the resident's last report about them, nil for none.
func readState(ctx context.Context, d profile.Dirs, l text.Language, sources *windowapi.Sources) state {
	now, _ := settings.Load(d)
	s := state{set: now}
	_, err := fromsettings.HubConfig(d, now.Hub)
	s.setUp = err == nil || now.HasRelayLink()
	s.join = now.NeedsJoin()
	for _, p := range now.Softphones {
		phase, _ := sources.PhaseOf(p.Kind, p.Name)
		s.join = s.join || p.Kind == registry.Relay && now.Relay.URL != "" && (phase == windowapi.LinkRefused || phase == windowapi.LinkIncomplete)
		s.phones = append(s.phones, phone{id: "link " + cmp.Or(p.Name, p.Address), name: nameOf(l, p.Kind, p.Name), ok: phase == windowapi.LinkUp,
			sentence: l.T(text.StartLink(cmp.Or(phase, "trying")))})
	}
	found, ofKind := detectPhones(ctx), map[string]int{}
	for _, p := range found {
		ofKind[p.Kind]++
	}
	for _, p := range found {
		if linked(p, now.Softphones) {
			continue
		}
		name := l.T(text.StartPhone(p.Kind))
		if which := cmp.Or(p.Address, filepath.Base(p.File)); which != "." && ofKind[p.Kind] > 1 {
			name += " (" + which + ")"
		}
		f := phone{id: p.ID(), name: name, ok: p.RunsWiebelt, recipe: p.Kind,
			connectable: !p.RunsWiebelt && p.Obstacle == detect.NoObstacle, sentence: l.T(text.StartFound(string(p.Obstacle)))}
		switch {
		case p.RunsWiebelt:
			f.sentence = l.T(text.StartOurs)
		case f.connectable && p.File == "" && now.Locked("softphone"):
			f.connectable, f.sentence = false, l.T(text.StartLocked)
		}
		s.phones = append(s.phones, f)
	}
	return s
}

func nameOf(l text.Language, kind, name string) string {
	if name != "" && name != kind {
		return name
	}
	return l.T(text.Source(kind))
}

// linked reports whether a found phone is one of the links.
func linked(p detect.Phone, links []settings.Softphone) bool {
	return slices.ContainsFunc(links, func(s settings.Softphone) bool {
		// Without an address there is only one, or they cannot be distinguished; a socket's
		// address is its name here and may be its path there.
		return s.Kind == p.Kind && (p.Address == "" || filepath.Base(s.Address) == p.Address)
	})
}

// connect connects a phone that was found and returns what failed, as a sentence. It
// searches for the phone again.
func connect(ctx context.Context, d profile.Dirs, profileDir string, l text.Language, id string, log *slog.Logger) (failed string) {
	found := detectPhones(ctx)
	i := slices.IndexFunc(found, func(p detect.Phone) bool { return p.ID() == id })
	if i < 0 {
		return l.T(text.StartGone)
	}
	p := found[i]
	now, _ := settings.Load(d)
	var err error
	switch {
	case p.Obstacle != detect.NoObstacle:
		return l.T(text.StartFound(string(p.Obstacle)))
	case p.RunsWiebelt, linked(p, now.Softphones):
		return ""
	case p.File != "":
		err = registrations.ConnectFile(d, now, profileDir, p, detect.ThisSystem().Processes())
	case now.Locked("softphone"):
		return l.T(text.StartLocked)
	default:
		add := func(links []settings.Softphone) []settings.Softphone {
			if linked(p, links) {
				return links
			}
			return append(links, settings.Softphone{Kind: p.Kind, Address: p.Address})
		}
		_, err = hubtrial.Save(ctx, d, now, hubtrial.SaveRequest{Changes: map[string]any{"softphone": add}})
	}
	switch {
	case errors.Is(err, registrations.ErrPhoneRuns):
		return l.T(text.StartFound(string(detect.PhoneRunning)))
	case err != nil:
		log.Warn("a phone was not connected", "kind", p.Kind, "why", err)
		return l.T(text.StartFailed, l.Support(now.Support.Contact))
	}
	return ""
}

// check is one phone, or one source of calls, and what to check when no call came.
type check struct{ name, sentence string }

// checks returns what to check when no call came: for every source set up, for every phone
// found, and if there is nothing at all.
func checks(ctx context.Context, d profile.Dirs, l text.Language, sources *windowapi.Sources, now time.Time) (all []check) {
	set, _ := settings.Load(d)
	add := func(name string, key text.Key, args ...any) {
		all = append(all, check{name, l.T(key, args...)})
	}
	for _, p := range set.Softphones {
		phase, why := sources.PhaseOf(p.Kind, p.Name)
		switch name := nameOf(l, p.Kind, p.Name); {
		case phase == windowapi.LinkRefused && why == string(link.CauseBria):
			add(name, text.StartCheckBria)
		case phase == windowapi.LinkRefused, phase == windowapi.LinkIncomplete, phase == windowapi.LinkBackendFault:
			add(name, text.StartCheck(phase), l.Support(set.Support.Contact))
		default:
			add(name, text.StartCheck(cmp.Or(phase, "trying")))
		}
	}
	for _, p := range detectPhones(ctx) {
		switch name := l.T(text.StartPhone(p.Kind)); {
		case linked(p, set.Softphones):
		case p.RunsWiebelt:
			add(name, text.StartCheckOurs, name)
		default:
			add(name, text.StartFound(string(p.Obstacle)))
		}
	}
	if sources != nil {
		if i := slices.IndexFunc(sources.Sources, func(s windowapi.SourceState) bool { return s.Phase == windowapi.SourcePortTaken }); i >= 0 {
			add(l.T(text.StartCheckPortName), text.StartCheckPort, sources.Sources[i].Port, l.Support(set.Support.Contact))
		}
		for _, s := range sources.Sources {
			if !registry.Of(s.Kind).IsLink() && !s.LastCallAt.IsZero() {
				add(l.T(text.StartSource(s.Kind)), text.StartCheckBefore, l.Moment(s.LastCallAt, now))
			}
		}
	}
	if len(all) == 0 {
		add(l.T(text.StartCheckNoneName), text.StartCheckNone)
	}
	return all
}
