package resident

import (
	"context"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/health"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/memory"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/text"
)

// Entries of the tray's menu. menuWindow plus a window's name opens that window; menuCall
// plus position and card shows that call again; menuRepair plus a registration restores it.
const (
	menuWindow  = "window."
	menuCall    = "call."
	menuRepair  = "repair."
	menuHub     = "hub"
	menuHour    = "pause.hour"
	menuDay     = "pause.day"
	menuResume  = "resume"
	menuVisible = "visible"
	menuQuit    = "quit"
)

// resumeHour is the hour at which a pause until tomorrow ends: before anybody is at work.
const resumeHour = 6 // o'clock

var icons = map[health.State]tray.State{
	health.Ready: tray.Ready, health.Doubt: tray.Doubt, health.HubGone: tray.HubGone, health.LinkLost: tray.LinkLost,
	health.CredentialsRefused: tray.CredentialsRefused, health.NotSetUp: tray.NotSetUp, health.Paused: tray.Paused,
}

// refreshLoop keeps tray and windows up to date. It works only when something has changed,
// after midnight, and when a pause ends.
func (r *Resident) refreshLoop(ctx context.Context) {
	watch := r.engine.Watch()
	started := time.After(startedAfter)
	paused := false
	for {
		r.refresh()
		last := r.engine.Snapshot().Lookup
		r.hubWatch.NoteLookup(last.At, last.Failure)
		now := time.Now()
		until, was := r.facts.pausedUntil(now), paused
		if paused = !until.IsZero(); was && !paused {
			r.showChange() // whatever woke us: a call, or the end of a sleep
		}
		next := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 1, 0, now.Location())
		if paused && until.Before(next) {
			next = until
		}
		if doubt := r.facts.assemble(r.engine.Snapshot()).DoubtFrom(); !doubt.Before(now) && doubt.Before(next) {
			next = doubt.Add(time.Second)
		}
		select {
		case <-ctx.Done():
			r.windows.Send(windowapi.KindQuit, nil)
			return
		case _, more := <-watch:
			if !more {
				watch = nil
			}
			if started == nil && len(r.engine.Snapshot().Cards) == 0 {
				memory.Collect()
			}
		case <-r.refreshRequested:
		case <-r.cardsGone:
			r.releaseMemory()
		case <-started:
			started = nil
			debug.SetGCPercent(gcPercent)
			r.releaseMemory()
		case <-time.After(time.Until(next)):
		}
	}
}

// startedAfter is when memory needed only for the start is released.
const startedAfter = 5 * time.Second

// releaseMemory returns memory used by calls or the start to the system.
func (r *Resident) releaseMemory() {
	if err := memory.Release(); err != nil {
		r.o.Log.Warn("memory is not given back", "why", err)
	}
}

// refresh shows the current state. Concurrent calls are serialised, so that an older state
// never overwrites a newer one.
func (r *Resident) refresh() {
	r.refreshMu.Lock()
	defer r.refreshMu.Unlock()
	now := time.Now()
	report := r.report(now)
	said := r.status(report)
	r.windows.Send(windowapi.KindStatus, said)
	r.sendSources()
	if said.Fault != "" { // the calls window shows it itself
		report.Sentence += " " + said.Fault
	}
	r.tray.Set(tray.Model{State: icons[report.State], Sentence: report.Sentence, Items: r.menu(report, r.facts.lastCalls(r.engine.Snapshot()), now)})
}

// menu returns the current menu, with the last calls; it has
// only what is set up and available.
func (r *Resident) menu(report health.Report, last []engine.LastCall, now time.Time) []tray.Item {
	l, set := r.lang(), r.settings()
	items := []tray.Item{{ID: "status", Title: report.Sentence, Disabled: true}}
	for _, what := range report.Repairable {
		items = append(items, tray.Item{ID: menuRepair + string(what), Title: l.T(text.StartRepair(string(what)))})
	}
	items = append(items, tray.Item{Separator: true})
	add := func(id string, key text.Key) { items = append(items, tray.Item{ID: id, Title: l.T(key)}) }
	line := func() {
		if n := len(items); !items[n-1].Separator {
			items = append(items, tray.Item{Separator: true})
		}
	}
	for i, c := range last {
		id := menuCall + strconv.Itoa(i) + "." + strconv.FormatUint(uint64(c.Card), 10)
		items = append(items, tray.Item{ID: id, Title: callLine(c, l, now)})
	}
	if len(last) == 0 {
		items = append(items, tray.Item{ID: "none", Title: l.T(text.StatusMenuNone), Disabled: true})
	}
	line()
	items = append(items, tray.Item{ID: menuWindow + windowapi.WindowCalls, Title: r.callsTitle()})
	if set.Lookup.Manual {
		add(menuWindow+windowapi.WindowLookup, text.StatusMenuSearch)
	}
	if set.Hub.Intermediary != "" {
		add(menuWindow+windowapi.WindowDelivery, text.StatusMenuMessages)
	}
	if set.Hub.HubURL != "" && r.o.Demo == nil {
		add(menuHub, text.StatusMenuHub)
	}
	line()
	if report.State == health.Paused {
		add(menuResume, text.StatusMenuResume)
	} else if r.o.Demo == nil {
		add(menuHour, text.StatusMenuPauseHour)
		add(menuDay, text.StatusMenuPauseDay)
	}
	if canHideFromCapture && set.Card.HideFromCapture {
		add(menuVisible, text.StatusMenuVisible)
	}
	line()
	if r.o.Demo != nil {
		add(menuWindow+windowapi.WindowDemo, text.StatusMenuDemo)
	} else { // the demo's port and tokens end with it
		add(menuWindow+windowapi.WindowTest, text.StatusMenuTest)
		add(menuWindow+windowapi.WindowRecipes, text.RecipesMenu)
		add(menuWindow+windowapi.WindowSettings, text.StatusMenuSettings)
		add(menuWindow+windowapi.WindowDoctor, text.DoctorWindowMenu)
		add(menuWindow+windowapi.WindowHelp, text.StatusMenuHelp)
	}
	add(menuQuit, text.StatusMenuQuit)
	return items
}

// callLine returns the menu's line for a call: time and number, never a name.
func callLine(c engine.LastCall, l text.Language, now time.Time) string {
	n := c.Number.Display()
	switch c.Number.Kind {
	case phone.Withheld:
		n = l.T(text.StatusMenuLastWithheld)
	case phone.NoNumber, phone.Placeholder: // the first is a name given by the phone
		n = l.T(text.StatusMenuLastNone)
	}
	return l.InWeek(c.At, now) + " · " + n
}

// status returns the state for windows.
func (r *Resident) status(h health.Report) windowapi.Status {
	k := r.facts.read()
	return windowapi.Status{OK: h.State == health.Ready, Sentence: h.Sentence, Hotkeys: k.HotkeyReasons(), Fault: r.historyFault(), Notice: r.historyNotice()}
}

func (r *Resident) performMenuEntry(id string) {
	if window, ok := strings.CutPrefix(id, menuWindow); ok {
		r.windows.Show(window)
		return
	}
	if n, ok := strings.CutPrefix(id, menuCall); ok {
		_, card, _ := strings.Cut(n, ".")
		if id, err := strconv.ParseUint(card, 10, 64); err == nil && id != 0 { // calls from before this start have no card
			r.engine.Do(engine.Action{Kind: engine.ActionShow, Card: engine.CardID(id)})
		} else {
			r.windows.Show(windowapi.WindowCalls)
		}
		return
	}
	if what, ok := strings.CutPrefix(id, menuRepair); ok {
		r.repair(health.Registration(what))
		return
	}
	now := time.Now()
	switch id {
	case menuHub:
		r.openHub(context.Background())
	case menuHour:
		r.pause(now.Add(time.Hour))
	case menuDay:
		r.pause(time.Date(now.Year(), now.Month(), now.Day()+1, resumeHour, 0, 0, 0, now.Location()))
	case menuResume:
		r.pause(time.Time{})
	case menuVisible:
		r.allowCapture()
	case menuQuit:
		// An explicit quit: calls start nothing until the next log-on.
		if err := instance.MarkQuit(r.inst); err != nil {
			r.o.Log.Warn("quit was not noted", "why", err)
		}
		r.stop()
	}
}
