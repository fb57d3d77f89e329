package resident

import (
	"context"
	"slices"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/resident/windowlauncher"
)

// deskParams is what the windows' process is shown with.
func (r *Resident) deskParams() windowlauncher.Params {
	return windowlauncher.Params{Exe: r.o.Exe, ProfileDir: r.o.ProfileDir, Welcome: r.welcome, Answer: r.answerWindow, Language: r.lang, Log: r.o.Log,
		Copy: func(s string) error { return r.display.Copy(s) },
		Room: r.room,
		Ended: func() {
			r.recount(context.Background()) // it may have ended before it said what it wrote
			if r.o.DemoWindow {
				r.stop() // the demo is its window
			}
		}}
}

// welcome is what the windows' process is told first, and whenever it changes.
func (r *Resident) welcome(window string) windowapi.Welcome {
	s := r.set()
	report := r.facts.assess(r.engine.Snapshot(), r.tellShown, r.lang(), s.Support.Contact, time.Now())
	w := windowapi.Welcome{Language: string(r.lang()), Theme: r.appearance(), FileWord: s.UI.FileWord, Window: window, Status: r.status(report), Room: r.room()}
	if r.store != nil && s.History.Keep != "off" {
		w.History = fromsettings.HistoryFile(r.o.Dirs)
	}
	if r.o.Hub != nil {
		w.HubURL = r.o.Hub.HubURL
	}
	if r.o.Demo != nil {
		w.Demo = r.o.Demo.Calls(r.lang())
	}
	return w
}

// room is that of the first monitor, where windows open.
func (r *Resident) room() windowapi.Room {
	if r.display == nil || r.display == (notifications.Display{}) {
		return windowapi.Room{}
	}
	all := r.display.Monitors()
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	m := all[0]
	return windowapi.Room{Monitors: names, X: m.Work.Min.X, Y: m.Work.Min.Y, Width: m.Work.Dx(), Height: m.Work.Dy(), Scale: m.Scale}
}

// appearance is that of the cards, so that windows and cards never differ.
func (r *Resident) appearance() string {
	switch t := r.set().UI.Theme; {
	case t != "system":
		return t
	case r.display.Dark():
		return "dark"
	}
	return "light"
}

// answerWindow does what a window asks, on a goroutine of its own.
func (r *Resident) answerWindow(q request.Request) {
	switch q.Kind {
	case windowapi.KindChanged:
		var m windowapi.Changed
		if q.Decode(&m) {
			r.follows(q.Ctx, m)
		}
	case windowapi.KindLookup:
		var m windowapi.Lookup
		if q.Decode(&m) && len(m.Text) <= maxTyped {
			q.Reply(windowapi.KindLookup, r.lookUp(q.Ctx, m))
		}
	case windowapi.KindDelivery:
		r.deliveries.Answer(q)
	case windowapi.KindChoice:
		var m windowapi.Choice
		if q.Decode(&m) {
			r.choice(m)
		}
	case windowapi.KindQuit:
		r.chosen(menuQuit)
	case windowapi.KindTest:
		r.answerTest(q)
	case windowapi.KindSources:
		q.Reply(windowapi.KindSources, r.sourcesNow())
	case windowapi.KindPlay:
		var m windowapi.Play
		if r.o.Demo != nil && q.Decode(&m) {
			q.Reply(windowapi.KindPlay, r.o.Demo.Play(q.Ctx, m.ID, r.lang()))
		}
	}
}

// follows takes in what a window has changed on disk.
func (r *Resident) follows(ctx context.Context, m windowapi.Changed) {
	switch m.What {
	case windowapi.ChangedHistory:
		if len(m.Removed) > 0 {
			r.forgetRecent(func(c engine.LastCall) bool {
				return slices.ContainsFunc(m.Removed, c.At.Truncate(time.Microsecond).Equal)
			})
		}
		r.recount(ctx)
	case windowapi.ChangedRead:
		if r.store != nil {
			r.store.Dismiss()
		}
		r.again()
	case windowapi.ChangedSettings, windowapi.ChangedSecret:
		if r.registers != nil {
			r.registers.Reread() // a phone may have been connected
		}
		r.settingsChanged(m.What == windowapi.ChangedSecret)
	}
}

// recount takes in what the windows have written into the history.
func (r *Resident) recount(ctx context.Context) {
	if r.store != nil {
		if err := r.store.Recount(ctx); err != nil {
			r.o.Log.Warn("the missed calls are not counted", "why", err)
		}
	}
	r.again()
}
