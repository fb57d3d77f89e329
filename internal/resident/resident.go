package resident

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/assets"
	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/health"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/notify"
	"wiebelt/internal/native/sleepwatch"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/resident/activity"
	"wiebelt/internal/resident/audit"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/resident/outboxworker"
	"wiebelt/internal/resident/programfile"
	"wiebelt/internal/resident/recorder"
	"wiebelt/internal/resident/windowlauncher"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/chosencontacts"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// Options configure a resident.
type Options struct {
	Dirs            profile.Dirs
	ProfileDir      string // as given on the command line, for programs started by us
	Exe             string // our program, which shows the windows in a second process
	Settings        *settings.Settings
	Version, Commit string
	Log             *slog.Logger
	LogLevel        func(level string) // changes the log level; may be nil
	// ShowCalls opens the calls window once everything runs, if no tray gives access to it.
	ShowCalls bool
	Demo      *Demo // nil outside the demo
}

// Demo is what a resident that only shows the demo's calls does otherwise. Its listener
// takes any free port, so as not to block the real one.
type Demo struct {
	Hub        hub.Config // instead of the settings'
	HubURL     string
	ShowWindow bool                                     // opens its window once everything runs, and ends with it
	Calls      func(text.Language) []windowapi.DemoCall // listed in that window
	Play       func(ctx context.Context, id string, l text.Language) windowapi.PlayResult
	// Painted is called for every card shown on screen.
	Painted func(card.Painted)
	// Ready is called once calls are accepted, on its own goroutine, with the listener's
	// port and tokens; recheckHub triggers a check of the hub, whatever it answered before.
	Ready func(ctx context.Context, port int, tokens secret.Tokens, recheckHub func())
}

// Resident is a running resident.
type Resident struct {
	o         Options
	inst      instance.Config
	stop      context.CancelFunc
	ready     chan struct{}
	effective atomic.Pointer[effective]
	settingsFiles
	engine *engine.Engine
	screen
	store    *history.Store
	choices  *chosencontacts.Store
	tray     *tray.Tray
	windows  *windowlauncher.Launcher
	sources  *sources
	activity *activity.Monitor
	facts    facts
	refresher
	watches
	lookups
	deliveries *outboxworker.Worker // nil in the demo
}

// lookups holds the alternative to the hub for lookups, and their audit.
type lookups struct {
	relay relayLookup
	audit *audit.Audit // nil in the demo
}

type settingsFiles struct {
	fingerprint string        // last seen
	reread      chan struct{} // check now
}

type refresher struct {
	refreshMu        sync.Mutex        // held while reading and showing the state
	sent             windowapi.Sources // to the windows
	refreshRequested chan struct{}     // show the state again
	cardsGone        chan struct{}     // no card has been shown for a while
}

// requestRefresh schedules showing the state. It never blocks.
func (f *refresher) requestRefresh() { wake.Up(f.refreshRequested) }

type watches struct {
	hubWatch  *hubwatch.Hub
	usual     *hubwatch.UsualCalls // nil in the demo
	registers *registrations.Watch // nil in the demo
	program   *programfile.Watcher
	replaced  bool // another version is on disk; watchProgram's until Run ends
}

// Arguments of debug.SetGCPercent. gcPercent trades CPU for memory: images of cards are
// large and short-lived, and nothing here is urgent between calls. During a start little
// becomes garbage, and the first call may be waiting for it to finish: up to 16 MB, four
// times Go's initial value, nothing is collected.
const (
	gcPercent      = 40
	gcPercentStart = 400
)

// Run runs the resident until ctx ends or the user quits. It must be called on the main
// goroutine. It returns instance.ErrRunning if another one is running, ErrReplaced if it
// has made room for another version.
func Run(ctx context.Context, o Options) error {
	debug.SetGCPercent(gcPercentStart)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := o.Dirs.Make(); err != nil {
		return fmt.Errorf("make the folders: %w", err)
	}
	cfg := instance.Config{RunDir: o.Dirs.Run, Version: o.Version, Build: o.Commit, Log: o.Log}
	one, err := instance.Acquire(cfg)
	if err != nil {
		return err
	}
	defer one.Close()
	instance.ClearQuit(cfg)
	_, _ = secret.EnsureTokens(o.Dirs) // created before its fingerprint is taken; errors are reported when it is read
	r := &Resident{o: o, inst: cfg, stop: stop, ready: make(chan struct{}), activity: activity.New(),
		refresher: refresher{refreshRequested: make(chan struct{}, 1), cardsGone: make(chan struct{}, 1)}, settingsFiles: settingsFiles{fingerprint(o.Dirs, o.Settings), make(chan struct{}, 1)}}
	r.program = programfile.New()
	r.facts.known.StartedAt = time.Now()
	r.facts.known.PausedUntil = storedPause(o.Dirs, r.facts.known.StartedAt)
	r.hubWatch = hubwatch.NewHub(r.hubParams(), &r.facts.hubState)
	r.publish(o.Settings, nil, nil)
	if err := r.run(ctx, one); err != nil {
		return err
	}
	if r.replaced {
		return ErrReplaced
	}
	return nil
}

func (r *Resident) run(ctx context.Context, one *instance.Instance) error {
	if err := r.openDisplay(); err != nil {
		return err
	}
	defer r.display.Close()
	var work sync.WaitGroup
	if r.display != (notifications.Display{}) {
		work.Go(card.ReadFonts)
	}

	client, links := r.newHub(r.o.Settings)
	defer func() { // the current one at the end
		if c := r.current().client; c != nil {
			c.Close()
		}
	}()
	now := r.publish(r.o.Settings, client, links)
	r.windows = windowlauncher.New(ctx, r.windowParams())
	first := r.firstStart()
	keep, days := fromsettings.HistoryKeep(r.o.Settings)
	r.store = history.New(fromsettings.HistoryFile(r.o.Dirs), keep, days, time.Now)
	rec := recorder.New(r.store, r.historyChanged, r.o.Log)
	work.Go(func() { r.openHistory(ctx) }) // cards do not wait for the disk
	defer r.closeHistory()                 // after the last entry is written

	if r.o.Demo == nil {
		r.audit = audit.New(r.settings, r.o.Log)
		r.deliveries = outboxworker.New(r.deliveryParams())
		defer r.deliveries.Close() // after all deliveries have ended
	}
	defer work.Wait()
	defer r.stop() // before work.Wait, however run ends

	p := engine.Params{
		Rules: r.rules(r.o.Settings), Log: r.o.Log,
		Browse: browse, Choices: r.openChoices(),
	}
	r.params(&p, now)
	p.Record = rec.Enqueue
	r.engine = engine.New(p)
	r.tray = tray.New(tray.Params{Icons: assets.Icons, Chosen: r.performMenuEntry,
		Open: func() { r.windows.Show(windowapi.WindowCalls) }, Log: r.o.Log})
	if err := r.makeCards(); err != nil {
		return err
	}
	work.Go(func() { r.corners.Run(ctx.Done()) })
	work.Go(func() { runEngine(ctx, r.engine, rec.Run, r.choices.Run) })
	work.Go(func() { r.cards.Run(ctx) })
	work.Go(func() { r.soundCallers(ctx) })
	work.Go(func() {
		select {
		case <-r.display.Done():
			r.o.Log.Error("the desktop has gone")
			r.stop()
		case <-ctx.Done():
		}
	})
	r.sources = newSources(ctx, r, &work)
	r.sources.apply(r.o.Settings)
	if d := r.o.Demo; d != nil {
		work.Go(func() {
			port, tokens := r.sources.access()
			d.Ready(ctx, port, tokens, r.recheckHub)
		})
	} else {
		r.watch(ctx, &work)
	}
	work.Go(func() { r.followSettings(ctx, sleepwatch.NewClock().Check) })
	work.Go(func() { r.followSession(ctx) })
	work.Go(func() { r.hubWatch.Run(ctx) })
	work.Go(func() {
		if err := one.Serve(ctx, r); err != nil {
			r.o.Log.Error("another one runs", "why", err)
			r.stop()
		}
	})
	work.Go(func() { r.refreshLoop(ctx) })
	close(r.ready)
	r.o.Log.Info("ready", "version", r.o.Version)
	if d := r.o.Demo; d != nil && d.ShowWindow {
		r.windows.Show(windowapi.WindowDemo)
	} else {
		work.Go(func() { r.offerWindow(ctx, first) })
	}
	r.tray.Run(ctx)
	return nil
}

// runEngine runs the engine until ctx ends, and then the writers until everything is
// written: a phone's program was told that its call was accepted.
func runEngine(ctx context.Context, e *engine.Engine, writers ...func(context.Context)) {
	writing, end := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	defer work.Wait()
	defer end()
	for _, run := range writers {
		work.Go(func() { run(writing) })
	}
	e.Run(ctx)
}

// recheckHub triggers a check of the hub, whatever it answered before.
func (r *Resident) recheckHub() {
	if c := r.current().client; c != nil {
		c.Resumed()
	}
	r.hubWatch.CheckAfter(0)
}

// resumed handles the end of a sleep, and a clock that was set. That ends no call and no
// connection, but may be what something waits for: a token, a certificate, the next day.
func (r *Resident) resumed(slept, set time.Duration) {
	r.engine.Resumed(slept)
	r.o.Log.Info("the computer has slept, or its clock was set", "slept", slept.Round(time.Second), "set", set.Round(time.Second))
	if c := r.current().client; c != nil {
		c.Resumed()
	}
	r.hubWatch.Resumed()
	r.sources.wake(slept != 0)
	if r.usual != nil {
		r.usual.Resumed()
	}
	r.showChange() // whatever should have ended meanwhile has
}

// trayWait limits the wait for a panel at log-on.
const trayWait = time.Minute

// offerWindow is for desktops whose panel shows no icon. If the user started us, it
// shows the calls window at once; at log-on it waits for the panel, and then explains
// once how to get there.
func (r *Resident) offerWindow(ctx context.Context, first bool) {
	if first {
		if !r.o.ShowCalls { // at log-on: once the desktop is ready
			tray.WaitHost(ctx, trayWait)
		}
		if r.showStart(ctx) {
			return
		}
	}
	if r.o.ShowCalls {
		if !tray.HasHost(ctx) {
			r.windows.Show(windowapi.WindowCalls)
		}
		return
	}
	if tray.WaitHost(ctx, trayWait) || ctx.Err() != nil {
		return
	}
	r.o.Log.Info("no panel shows our icon")
	n, err := notify.Open(ctx, func(string, string) { r.windows.Show(windowapi.WindowCalls) })
	if err != nil {
		return // there is no notification service either
	}
	defer n.Close()
	note := notify.Notice{Summary: "Wiebelt", Body: r.lang().T(text.StatusNoHost), Actions: []notify.Action{{Key: notify.Default, Label: r.lang().T(text.StatusMenuCalls)}}}
	if err := n.Show("host", note); err != nil {
		r.o.Log.Warn("nobody is told", "why", err)
		return
	}
	<-ctx.Done() // as long as the notification can be clicked
}

func (r *Resident) openHistory(ctx context.Context) {
	if err := r.store.Begin(context.WithoutCancel(ctx)); err != nil {
		r.o.Log.Error("the history is not kept for now", "why", err)
	}
	r.historyChanged()
}

func (r *Resident) closeHistory() {
	if err := r.store.Close(); err != nil {
		r.o.Log.Error("the last calls may not be kept", "why", err)
	}
}

// openChoices opens the store of the user's choices among contacts; without a secret store
// they last as long as this program.
func (r *Resident) openChoices() *chosencontacts.Store {
	p := callactions.ChoiceParams(r.o.Dirs, r.o.Settings)
	p.Log = r.o.Log
	p.Secrets = func() secret.Store { return secret.Open(r.settings().Hub.SecretStore, r.o.Dirs) }
	if r.o.Demo != nil {
		p.Secrets = nil
	}
	r.choices = chosencontacts.New(p)
	return r.choices
}

// Ring takes a call handed over by another program.
func (r *Resident) Ring(e call.Event) error {
	err := r.eventReceiver("")(e)
	r.program.TriggerCheck() // after the call, which is already on its way to the screen
	return err
}

// hubParams returns the configuration for watching the current hub.
func (r *Resident) hubParams() hubwatch.HubParams {
	return hubwatch.HubParams{
		Client: func() hubwatch.TokenChecker {
			if c := r.current().client; c != nil {
				return c
			}
			return nil
		},
		Changed:   r.requestRefresh,
		Recovered: func() { r.deliveries.Recheck() },
		Log:       r.o.Log}
}

// secretWatch returns the watch for another secret of the current hub.
func (r *Resident) secretWatch() hubwatch.SecretWatcher {
	return hubwatch.SecretWatcher{Dirs: r.o.Dirs, Hub: r.hubWatch,
		HubSettings: func() settings.Hub { return r.settings().Hub },
		Failure:     func() contact.Failure { return r.facts.assemble(r.engine.Snapshot()).Lookup.Failure }}
}

// watch starts what the demo does without. The goroutines end with ctx.
func (r *Resident) watch(ctx context.Context, work *sync.WaitGroup) {
	told := func(lost []health.Registration, unopened bool) {
		r.facts.change(func(k *knownState) { k.LostRegistrations, k.schemeNotDefault = lost, unopened })
		r.requestRefresh()
	}
	if w, err := registrations.New(r.o.Dirs, r.o.ProfileDir, r.settings, told, r.o.Log); err != nil {
		r.o.Log.Warn("registrations are not read", "why", err)
	} else {
		r.registers = w
		work.Go(func() { w.Run(ctx) })
	}
	r.usual = hubwatch.NewUsualCalls(r.store.CountIncoming, func(n int) { r.changeFacts(func(k *knownState) { k.UsualCalls = n }) }, r.o.Log)
	work.Go(func() { r.usual.Run(ctx) })
	work.Go(func() { r.deliveries.Run(ctx) })
	work.Go(func() { r.secretWatch().Run(ctx) })
	work.Go(func() { r.audit.Run(ctx) })
	work.Go(func() { r.watchProgram(ctx) })
	work.Go(func() { r.readHistory(ctx) })
}

func (r *Resident) deliveryParams() outboxworker.Params {
	return outboxworker.Params{Dirs: r.o.Dirs, Settings: r.settings, Language: r.lang, Send: r.windows.Send, Log: r.o.Log,
		OnState: func(now health.Delivery) { r.changeFacts(func(k *knownState) { k.Delivery = now }) }}
}

// ErrReplaced reports that another version of the program is on disk and the resident has
// ended to make room for it: its caller must start that one.
var ErrReplaced = errors.New("another version of the program has been installed")

// watchProgram ends the resident, while no call is in progress, once another
// version is on disk.
func (r *Resident) watchProgram(ctx context.Context) {
	busy := func() bool {
		s := r.engine.Snapshot()
		return len(s.Cards) > 0 || s.Ongoing > 0 // a call continues after its card is closed
	}
	unusable := func(err error) { r.o.Log.Warn("another version has been installed, but cannot be run", "why", err) }
	if r.program.WaitForUpdate(ctx, r.o.Version, r.o.Commit, busy, unusable) {
		r.o.Log.Info("another version has been installed; making room for it")
		r.replaced = true
		r.stop()
	}
}
