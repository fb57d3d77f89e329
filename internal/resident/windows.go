package resident

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/health"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/window"
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/resident/windowlauncher"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/text"
)

func (r *Resident) windowParams() windowlauncher.Params {
	return windowlauncher.Params{Exe: r.o.Exe, ProfileDir: r.o.ProfileDir, Welcome: r.welcome, Answer: r.answerWindow, Language: r.lang, Log: r.o.Log,
		Copy:       func(s string) error { return r.display.Copy(s) },
		LetForward: window.LetForward,
		WorkArea:   r.workArea,
		Ended: func() {
			r.recount(context.Background()) // it may have ended before reporting what it wrote
			if d := r.o.Demo; d != nil && d.ShowWindow {
				r.stop()
			}
		}}
}

// welcome returns the windows process's first message, also sent whenever it changes.
func (r *Resident) welcome(window string) windowapi.Welcome {
	s := r.settings()
	w := windowapi.Welcome{Language: string(r.lang()), Theme: s.UI.Theme, FileWord: s.UI.FileWord, Window: window,
		Status: r.status(r.report(time.Now())), WorkArea: r.workArea()}
	if w.Theme == "system" { // the cards' theme, so that windows and cards never differ
		w.Theme = "light"
		if r.display.Appearance().Dark {
			w.Theme = "dark"
		}
	}
	if s.History.Keep != "off" {
		w.History = fromsettings.HistoryFile(r.o.Dirs)
	}
	if d := r.o.Demo; d != nil {
		w.HubURL, w.Demo = d.HubURL, d.Calls(r.lang())
	}
	return w
}

// workArea returns the work area of the first monitor, where windows open.
func (r *Resident) workArea() windowapi.WorkArea {
	if r.display == nil || r.display == (notifications.Display{}) {
		return windowapi.WorkArea{}
	}
	all := r.display.Monitors()
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	m := all[0]
	return windowapi.WorkArea{Monitors: names, X: m.Work.Min.X, Y: m.Work.Min.Y, Width: m.Work.Dx(), Height: m.Work.Dy(), Scale: m.Scale}
}

// Peer serves windows and commands.
func (r *Resident) Peer(ctx context.Context, hello instance.Hello, c *instance.Conn) {
	switch hello.Role {
	case instance.RoleWindows:
		<-r.ready
		r.windows.Serve(ctx, c)
	case instance.RoleCommand:
		<-r.ready
		switch kind, raw, _ := c.Receive(); kind {
		case windowapi.KindForget:
			_ = c.Send(kind, r.forget(ctx, raw))
		case windowapi.KindShow:
			var m windowapi.Show
			if (len(raw) == 0 || json.Unmarshal(raw, &m) == nil) && len(m.Place) <= 4096 {
				r.windows.ShowAt(windowapi.Show{Window: cmp.Or(m.Window, windowapi.WindowCalls), Place: m.Place})
			}
			_ = c.Send(kind, nil)
		case windowapi.KindFacts:
			_ = c.Send(kind, r.doctorFacts(time.Now()))
		case windowapi.KindQuit:
			_ = c.Send(kind, nil)
			r.stop()
		}
	}
}

// ShowCalls makes the running resident show its calls window.
func ShowCalls(ctx context.Context, cfg instance.Config) error {
	return show(ctx, cfg, windowapi.Show{Window: windowapi.WindowCalls})
}

// OpenFile makes the running resident show a set-up file, given by its absolute path, in
// the settings window. It returns instance.ErrNotRunning if none is running.
func OpenFile(ctx context.Context, cfg instance.Config, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return show(ctx, cfg, windowapi.Show{Window: windowapi.WindowSettings, Place: path})
}

func show(ctx context.Context, cfg instance.Config, m windowapi.Show) error {
	window.LetForward()
	_, _, err := instance.Ask(ctx, cfg, windowapi.KindShow, m)
	return err
}

// doctorFacts returns what the doctor cannot see from outside.
func (r *Resident) doctorFacts(now time.Time) windowapi.DoctorFacts {
	k, f := r.facts.read(), r.facts.assemble(r.engine.Snapshot())
	d := windowapi.DoctorFacts{
		SetUp: f.SetUp && !f.SecretMissing, Failure: string(f.Lookup.Failure),
		Paused:    f.PausedUntil.After(now),
		TooQuiet:  health.Assess(f, r.lang(), "", now).TooQuiet,
		Port:      k.port,
		PortTaken: f.TakenPort > 0,
		Cards:     string(f.Cards), Hotkeys: f.HotkeyReasons(),
	}
	for _, p := range r.settings().Softphones {
		l := k.links[linkName(p)]
		d.Links = append(d.Links, windowapi.DoctorLink{Kind: p.Kind, Name: linkName(p), Phase: linkPhases[l.Phase], Why: string(l.cause)})
	}
	return d
}

// forget deletes stored data on callers: from the history, the remembered
// choices, and the menu.
func (r *Resident) forget(ctx context.Context, raw json.RawMessage) windowapi.ForgetResult {
	var m windowapi.Forget
	if json.Unmarshal(raw, &m) != nil || (m.All && m.Number != "") || ((m.All || m.Number != "") == (m.Days != nil)) || m.Days != nil && *m.Days < 0 {
		return windowapi.ForgetResult{Error: "not understood"}
	}
	rules := r.rules(r.settings())
	r.forgetRecent(callactions.ForgetFilter(rules, m, time.Now()), rules.Parse(m.Number, ""))
	err := callactions.Delete(ctx, r.store, r.choices, rules, m)
	r.windows.Send(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedErased})
	r.requestRefresh()
	if err != nil {
		return windowapi.ForgetResult{Error: err.Error()} // holds no number and no name
	}
	return windowapi.ForgetResult{}
}

// answerWindow performs a window's request, on its own goroutine.
func (r *Resident) answerWindow(q request.Request) {
	switch q.Kind {
	case windowapi.KindChanged:
		var m windowapi.Changed
		if q.Decode(&m) {
			r.applyChange(q.Ctx, m)
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
			r.recordChoice(m)
		}
	case windowapi.KindQuit:
		r.performMenuEntry(menuQuit)
	case windowapi.KindTest:
		r.answerTest(q)
	case windowapi.KindSources:
		r.registers.Reread() // a command may have registered us
		q.Reply(windowapi.KindSources, r.sourcesNow())
	case windowapi.KindPlay:
		var m windowapi.Play
		if r.o.Demo != nil && q.Decode(&m) {
			q.Reply(windowapi.KindPlay, r.o.Demo.Play(q.Ctx, m.ID, r.lang()))
		}
	}
}

func (r *Resident) applyChange(ctx context.Context, m windowapi.Changed) {
	switch m.What {
	case windowapi.ChangedHistory:
		if len(m.Removed) > 0 {
			r.forgetRecent(func(c engine.LastCall) bool {
				return slices.ContainsFunc(m.Removed, c.At.Truncate(time.Microsecond).Equal)
			}, phone.Number{})
		}
		r.recount(ctx)
	case windowapi.ChangedNoticeRead:
		r.store.Dismiss()
		r.requestRefresh()
	case windowapi.ChangedSettings, windowapi.ChangedSecret:
		r.registers.Reread() // a phone may have been connected
		r.settingsChanged(m.What == windowapi.ChangedSecret)
	}
}

// recount processes what the windows have written to the history.
func (r *Resident) recount(ctx context.Context) {
	if err := r.store.Recount(ctx); err != nil {
		r.o.Log.Warn("the missed calls are not counted", "why", err)
	}
	r.requestRefresh()
}

// answerTest performs the windows' requests about test calls, on the request's goroutine,
// which ends with its window.
func (r *Resident) answerTest(q request.Request) {
	var m windowapi.Test
	if r.o.Demo != nil || !q.Decode(&m) {
		return
	}
	switch m.Action {
	case windowapi.TestStop:
		r.activity.StopTest()
	case windowapi.TestCard:
		r.testCard.show(q.Ctx, r.newTestCard(r.lang()))
	case windowapi.TestBegin:
		r.activity.RunTest(q.Ctx, func(seen *windowapi.TestSeen) {
			q.Reply(windowapi.KindTest, windowapi.Test{Window: m.Window, Seq: m.Seq, Seen: seen})
		})
	}
}

// startShownFile is the file in the state folder that records that the first
// start's window was shown.
const startShownFile = "start-asked"

// firstStart reports whether the first start's window should open automatically: at the
// very first start of a profile, if neither settings nor policy have answered any of its
// questions, and whenever there is a relay to join.
func (r *Resident) firstStart() bool {
	switch {
	case r.o.Demo != nil:
		return false
	case r.o.Settings.NeedsJoin(): // a code is requested until there was one
		return true
	}
	for _, used := range []string{filepath.Join(r.o.Dirs.State, startShownFile), fromsettings.HistoryFile(r.o.Dirs)} {
		if _, err := os.Lstat(used); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return unanswered(r.o.Settings)
}

// unanswered reports whether none of the questions has been answered.
func unanswered(s *settings.Settings) bool {
	return !slices.ContainsFunc([]string{"card.corner", "ui.language", "softphone"}, func(key string) bool { return s.Source(key) != settings.Default }) &&
		len(s.Softphones) == 0
}

// showStart shows the first start's window and records that. If a call has already come,
// it leaves that to the next start.
func (r *Resident) showStart(ctx context.Context) bool {
	if ctx.Err() != nil || !r.o.ShowCalls && r.engine.Snapshot().LastCall != nil {
		return false
	}
	if err := profile.WriteFile(filepath.Join(r.o.Dirs.State, startShownFile), []byte("1\n"), 0o600); err != nil {
		r.o.Log.Warn("the first start's window is not shown", "why", err)
		return false // otherwise it would open every time
	}
	r.windows.Show(windowapi.WindowStart)
	return true
}

// repair restores a lost registration and reports if that fails.
func (r *Resident) repair(what health.Registration) {
	if r.registers == nil {
		return
	}
	r.registers.Repair(what, func(err error) {
		switch {
		case errors.Is(err, registrations.ErrPhoneRuns):
			r.windows.ShowMessage(text.StartRepairRuns)
		case err != nil:
			r.windows.ShowMessage(text.StartRepairFailed)
		}
	})
}
