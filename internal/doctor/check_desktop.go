package doctor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/health"
	"wiebelt/internal/native/window"
	"wiebelt/internal/softphone/phonefile"
)

// scheme reports what opens our links. It names no other program: its path may
// contain a person's name.
func (e *exam) scheme(context.Context) []finding {
	s, err := e.sys.register(e.Register)
	switch {
	case err != nil:
		return oneFinding(Off, "scheme.failed")
	case s.Scheme == "":
		return oneFinding(offUnless(registrations.RegisteredIn(e.Dirs).Scheme), "scheme.none")
	case !s.Ours:
		return oneFinding(Warn, "scheme.other")
	}
	return oneFinding(OK, "scheme.ok")
}

func (e *exam) autostart(context.Context) []finding {
	s, err := e.sys.register(e.Register)
	switch {
	case err != nil:
		return oneFinding(Off, "autostart.unknown")
	case !s.Autostart:
		return oneFinding(offUnless(registrations.RegisteredIn(e.Dirs).Autostart && !s.SwitchedOff), "autostart.off")
	}
	return oneFinding(OK, "autostart.ok")
}

// offUnless returns the state of a registration that does not exist: Warn if it has been lost.
func offUnless(registered bool) State {
	if registered {
		return Warn
	}
	return Off
}

// microSIPKeys lists the keys of microsip.ini that report a call; without the
// first, no call is reported.
var microSIPKeys = []string{"cmdCallRing", "cmdCallAnswer", "cmdCallEnd", "cmdCallBusy"}

// microsip checks what MicroSIP runs for a call.
func (e *exam) microsip(context.Context) []finding {
	path := e.sys.microSIP()
	if path == "" || !exists(path) {
		return oneFinding(Off, "microsip.none")
	}
	ini, err := phonefile.Read(path)
	if err != nil {
		return oneFinding(Warn, "microsip.unreadable")
	}
	ours := 0
	for i, key := range microSIPKeys {
		command := ini.Get("Settings", key)
		if !phonefile.RunsWiebelt(command) {
			if i == 0 {
				return oneFinding(offUnless(registrations.RegisteredIn(e.Dirs).MicroSIP != ""), "microsip.off")
			}
			continue
		}
		if program, _ := phonefile.SplitProgram(command); !exists(program) {
			return oneFinding(Fail, "microsip.gone")
		}
		ours++
	}
	if ours < len(microSIPKeys) {
		return oneFinding(Warn, "microsip.part")
	}
	return oneFinding(OK, "microsip.ok")
}

// screen reports what kind of desktop the cards are on, which determines what they can do.
func (e *exam) screen(ctx context.Context) []finding {
	if !e.sys.desktop() {
		return oneFinding(Off, "desktop.none")
	}
	switch kind := e.sys.screen(ctx); kind {
	case screenWayland, string(window.Layers):
		return oneFinding(Warn, "screen."+kind)
	case screenFailed:
		return oneFinding(Fail, "screen.failed")
	default:
		return oneFinding(OK, "screen."+kind)
	}
}

func (e *exam) tray(ctx context.Context) []finding {
	switch {
	case !e.sys.desktop():
		return oneFinding(Off, "desktop.none")
	case !e.sys.trayHost(ctx):
		return oneFinding(Off, "tray.none")
	}
	return oneFinding(OK, "tray.ok")
}

// cards reports how calls are shown, which hotkeys for cards do not work, and
// a missing sound player.
func (e *exam) cards(ctx context.Context) []finding {
	t := e.queryResident(ctx)
	switch t.presence {
	case residentAbsent:
		return oneFinding(Off, "cards.off")
	case residentHangs, residentSilent:
		return oneFinding(Off, "resident.untold")
	}
	switch f := t.facts; {
	case f.Cards == string(health.CardsNotifications):
		return oneFinding(Warn, "cards.notices")
	case f.Cards != string(health.CardsWindows):
		return oneFinding(Warn, "cards.none")
	}
	wrong := hotkeys(t.facts.Hotkeys)
	if e.Settings.Card.Sound == "on" && e.sys.player() == "" {
		wrong = append(wrong, oneFinding(Warn, "cards.silent")...)
	}
	if len(wrong) > 0 {
		return wrong
	}
	return oneFinding(OK, "cards.ok")
}

// hotkeys reports why the hotkeys of some settings do not work. The socket's answer may
// name anything: only settings are shown.
func hotkeys(why map[string]string) (all []finding) {
	for _, key := range slices.Sorted(maps.Keys(why)) {
		if _, known := settings.EntryOf(key); !known {
			continue
		}
		switch health.Hotkey(why[key]) {
		case health.HotkeyTaken:
			all = append(all, oneFinding(Warn, "cards.taken", key)...)
		case health.HotkeyUnsupported:
			all = append(all, oneFinding(Warn, "cards.unsupported", key)...)
		default:
			all = append(all, oneFinding(Warn, "cards.wrong", key)...)
		}
	}
	return all
}

// lock reports which sources can detect a locked screen.
func (e *exam) lock(ctx context.Context) []finding {
	if !e.sys.desktop() {
		return oneFinding(Off, "desktop.none")
	}
	sources := e.sys.lockSources(ctx)
	if len(sources) == 0 {
		return oneFinding(Off, "lock.none")
	}
	return oneFinding(OK, "lock.ok", strings.Join(sources, ", "))
}

// browser reports whether customer files can be opened.
func (e *exam) browser(ctx context.Context) []finding {
	switch {
	case !e.sys.desktop():
		return oneFinding(Off, "desktop.none")
	case !e.sys.browser(ctx):
		return oneFinding(Warn, "browser.none")
	}
	return oneFinding(OK, "browser.ok")
}
