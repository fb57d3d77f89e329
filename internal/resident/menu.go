package resident

import (
	"context"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/instance"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/text"
)

// Entries of the tray's menu.
const (
	menuCalls   = "calls"
	menuDemo    = "demo"
	menuRecipes = "recipes"
	menuQuit    = "quit"
)

var icons = map[health.State]tray.State{
	health.Ready: tray.Ready, health.Doubt: tray.Doubt, health.HubGone: tray.HubGone, health.LinkLost: tray.LinkLost,
	health.CredentialsRefused: tray.CredentialsRefused, health.NotSetUp: tray.NotSetUp, health.Paused: tray.Paused,
}

// tell keeps tray and windows up to date with the engine. It works only when
// something has changed, and once after midnight.
func (r *Resident) tell(ctx context.Context) {
	watch := r.engine.Watch()
	for {
		r.changed()
		now := time.Now()
		midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 1, 0, now.Location())
		t := time.NewTimer(time.Until(midnight))
		select {
		case <-ctx.Done():
			t.Stop()
			r.desks.end()
			return
		case _, more := <-watch:
			if !more {
				watch = nil
			}
		case <-t.C:
		}
		t.Stop()
	}
}

// changed shows the state as it is now.
func (r *Resident) changed() {
	s := r.engine.Snapshot()
	now := r.facts.assess(s, r.lang(), r.set().Support.Contact, time.Now())
	m := tray.Model{State: icons[now.State], Sentence: now.Sentence, Items: []tray.Item{
		{ID: "status", Title: now.Sentence, Disabled: true},
		{ID: "last", Title: lastCall(s, r.lang()), Disabled: true},
		{Separator: true},
	}}
	if r.desks.path() != "" {
		m.Items = append(m.Items, tray.Item{ID: menuCalls, Title: r.lang().T(text.StatusMenuCalls)})
		if r.o.Demo != nil {
			m.Items = append(m.Items, tray.Item{ID: menuDemo, Title: r.lang().T(text.StatusMenuDemo)})
		} else { // the demo's port and tokens are gone with it
			m.Items = append(m.Items, tray.Item{ID: menuRecipes, Title: r.lang().T(text.RecipesMenu)})
		}
	}
	m.Items = append(m.Items, tray.Item{ID: menuQuit, Title: r.lang().T(text.StatusMenuQuit)})
	r.tray.Set(m)
	r.desks.send(deskapi.KindStatus, status(now))
}

func (r *Resident) status() deskapi.Status {
	return status(r.facts.assess(r.engine.Snapshot(), r.lang(), r.set().Support.Contact, time.Now()))
}

func status(h health.Report) deskapi.Status {
	return deskapi.Status{OK: h.State == health.Ready, Sentence: h.Sentence}
}

func (r *Resident) chosen(id string) {
	switch id {
	case menuCalls:
		r.desks.show(deskapi.WindowCalls)
	case menuDemo:
		r.desks.show(deskapi.WindowDemo)
	case menuRecipes:
		r.desks.show(deskapi.WindowRecipes)
	case menuQuit:
		// Whoever quits means it: calls start nothing until the next log-on.
		if err := instance.MarkQuit(r.inst); err != nil {
			r.o.Log.Warn("quit was not noted", "why", err)
		}
		r.stop()
	}
}
