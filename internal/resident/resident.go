package resident

import (
	"context"
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
	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/notify"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/session"
	"wiebelt/internal/native/sleepwatch"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/native/window"
	"wiebelt/internal/resident/activity"
	"wiebelt/internal/resident/audit"
	"wiebelt/internal/resident/cardcorners"
	"wiebelt/internal/resident/hubwatch"
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

// Options is what a resident is started with.
type Options struct {
	Dirs            profile.Dirs
	ProfileDir      string // as given on the command line, for the programs we start
	Exe             string // our program, in a second process of which the windows run
	Settings        *settings.Settings
	Version, Commit string
	Log             *slog.Logger
	LogLevel        func(level string) // changes how much is logged; may be nil
	// ShowCalls opens the calls window once everything runs, where there is no
	// tray to reach it from.
	ShowCalls bool
	// AnyPort has the listener take any free port: for the demo, which must not
	// stand in the way of the real one.
	AnyPort bool
	// Hub replaces the configured hub, for the demo.
	Hub *HubOverride
	// Demo plays the demo's calls for its window; nil outside the demo.
	Demo Demo
	// Painted is told of every card that came on screen.
	Painted func(card.Painted)
	// DemoWindow opens the demo's window once everything runs.
	DemoWindow bool
	// Ready is called once calls are taken, on a goroutine of its own, with the
	// listener's port and tokens; hubMended has the hub asked anew, whatever it
	// said before.
	Ready func(ctx context.Context, port int, tokens secret.Tokens, hubMended func())
}

// HubOverride is a hub with its credentials.
type HubOverride struct{ BaseURL, HubURL, ClientID, OrganisationCode, Secret string }

// Demo is what the demo's window needs.
type Demo interface {
	Calls(text.Language) []windowapi.DemoCall
	Play(ctx context.Context, id string, l text.Language) windowapi.Played
}

// Resident is a running resident.
type Resident struct {
	o            Options
	effective    atomic.Pointer[effective]
	print        string        // of the settings' files, as last seen by follow
	reread       chan struct{} // look at the settings' files now
	engine       *engine.Engine
	cards        cards
	corners      *cardcorners.Corners
	reader       *screenreader.Announcer
	shown        shown
	store        *history.Store
	display      window.Display
	tray         *tray.Tray
	desks        *windowlauncher.Desks
	sources      *sources
	facts        facts
	audit        *audit.Audit // nil in the demo
	saying       sync.Mutex   // held while the state is looked at and shown
	chosenBefore *chosencontacts.Store
	program      *programfile.Program
	hubWatch     *hubwatch.Hub
	deliveries   *outboxworker.Deliveries // nil in the demo
	testCalls    activity.TestCalls
	seen         atomic.Pointer[session.State] // of the user's session; nil if nobody tells
	helped       atomic.Int64                  // until when cards can be seen by remote help, in Unix seconds
	retell       chan struct{}                 // show the state anew
	rested       chan struct{}                 // no card has been up for a while
	heard        *activity.Heard
	exhibit      *exhibit
	toldSources  toldSources
	usual        *hubwatch.Usual
	registers    *registrations.Watch
	replaced     atomic.Bool
	inst         instance.Config
	stop         context.CancelFunc
	ready        chan struct{}
}

// memory is how eagerly unused memory is given back: pictures of cards are
// large and short-lived, and nothing here is in a hurry between calls.
const memory = 40

// Run runs the resident until ctx ends or the user quits. It must be called on
// the main goroutine. instance.ErrRunning comes back when another one runs,
// ErrReplaced when it has made room for another version.
func Run(ctx context.Context, o Options) error {
	debug.SetGCPercent(-1) // nothing of what a start makes is garbage for long
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
	r := &Resident{o: o, inst: cfg, stop: stop, ready: make(chan struct{}), reread: make(chan struct{}, 1), retell: make(chan struct{}, 1), rested: make(chan struct{}, 1), print: settings.Fingerprint(o.Dirs)}
	r.effective.Store(&effective{settings: o.Settings, lang: fromsettings.Language(o.Settings)})
	r.facts.opened = time.Now()
	r.facts.paused = pausedBefore(o.Dirs, r.facts.opened)
	r.program = programfile.New()
	r.heard = activity.New()
	r.hubWatch = hubwatch.NewHub(r.hubParams(), &r.facts.hubSeen)
	if err := r.run(ctx, one); err != nil {
		return err
	}
	if r.replaced.Load() {
		return ErrReplaced
	}
	return nil
}

func (r *Resident) run(ctx context.Context, one *instance.Instance) error {
	if err := r.openDisplay(); err != nil {
		return err
	}
	defer r.display.Close()

	client, links := r.hub(r.o.Settings)
	if client != nil {
		client.Warm()
	}
	defer func() { // the one that holds at the end
		if c := r.current().client; c != nil {
			c.Close()
		}
	}()
	now := &effective{settings: r.o.Settings, lang: fromsettings.Language(r.o.Settings), client: client, links: links}
	r.effective.Store(now)
	r.facts.hub(client != nil)

	r.desks = windowlauncher.New(ctx, r.deskParams())
	first := r.firstStart()
	rec := r.history()
	if rec != nil {
		defer r.store.Close() // after the last entry was written
	}

	if r.o.Demo == nil {
		r.audit = audit.New(r.set, r.o.Log)
		defer r.audit.Close()
	}
	if r.o.Demo == nil && r.o.Hub == nil {
		r.deliveries = outboxworker.New(r.deliveryParams())
		defer r.deliveries.Close() // after nobody delivers any more
	}
	var work sync.WaitGroup
	defer work.Wait()
	defer r.stop() // before work.Wait, whichever way run ends

	p := engine.Params{
		Rules: r.rules(r.o.Settings), Clock: systemClock{}, Log: r.o.Log,
		Browse: func(ctx context.Context, a string) error {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			return browser.Open(ctx, a)
		},
	}
	choices := r.choices()
	p.Choices = choices
	r.params(&p, now)
	if rec != nil {
		p.Record = rec.Take
		work.Go(func() { rec.Run(ctx) })
	}
	r.engine = engine.New(p)
	r.tray = tray.New(tray.Params{Icons: assets.Icons, Chosen: r.chosen, Open: func() { r.desks.Show(windowapi.WindowCalls) }, Log: r.o.Log})
	r.corners, r.reader = cardcorners.Open(r.o.Dirs, r.o.Log), screenreader.New()
	r.exhibit = &exhibit{Engine: r.engine, poke: func() { r.cards.Set(r.cardConfig()) }}
	if err := r.makeCards(); err != nil {
		return err
	}
	work.Go(func() { r.corners.Run(ctx.Done()) })
	work.Go(func() { r.reader.Run(ctx) })
	work.Go(func() { choices.Run(ctx) })
	work.Go(func() { r.engine.Run(ctx) })
	work.Go(func() { r.cards.Run(ctx) })
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
	if r.o.Ready != nil {
		work.Go(func() { r.o.Ready(ctx, r.sources.port(), r.sources.keys(), r.hubMended) })
	}
	work.Go(func() { r.follow(ctx) })
	if r.o.Demo == nil {
		work.Go(func() { r.audit.Run(ctx) })
	}
	if r.deliveries != nil {
		work.Go(func() { r.deliveries.Run(ctx) })
	}
	work.Go(func() { r.presence(ctx) })
	work.Go(func() { r.hubWatch.Run(ctx) })
	if r.o.Hub == nil { // the demo's hub is its own business
		work.Go(func() { r.secretWatch().Run(ctx) })
	}
	if r.o.Demo == nil {
		work.Go(func() { r.makeRoom(ctx) })
		r.watchStart(ctx, &work)
	}
	work.Go(func() { sleepwatch.Watch(ctx, r.woke) })
	work.Go(func() { _ = one.Serve(ctx, r) })
	work.Go(func() { r.tell(ctx) })
	debug.SetGCPercent(memory)
	close(r.ready)
	r.o.Log.Info("ready", "version", r.o.Version)
	if r.o.DemoWindow {
		r.desks.Show(windowapi.WindowDemo)
	} else {
		work.Go(func() { r.offerWayIn(ctx, first) })
	}
	r.tray.Run(ctx)
	return nil
}

// hubMended has the hub asked anew, whatever it said before.
func (r *Resident) hubMended() {
	if c := r.current().client; c != nil {
		c.Woke()
	}
	r.hubWatch.Look(0)
}

// woke is called when the computer has slept.
func (r *Resident) woke(slept time.Duration) {
	r.o.Log.Info("the clock has jumped", "by", slept.Round(time.Second))
	r.engine.Woke(slept)
	if c := r.current().client; c != nil {
		c.Woke()
	}
	r.hubWatch.Woke()
	r.sources.woke()
	if r.usual != nil {
		r.usual.Woke()
	}
	r.look() // what was to end meanwhile is over
}

// hostIn is how long a panel may take at log-on.
const hostIn = time.Minute

// offerWayIn is for desktops whose panel shows no icon. Who started us by hand
// gets the calls window at once; at log-on we wait for the panel, and then say
// once how to get there.
func (r *Resident) offerWayIn(ctx context.Context, first bool) {
	if first {
		if !r.o.ShowCalls { // at log-on: once the desktop is there
			tray.WaitHost(ctx, hostIn)
		}
		if r.showStart(ctx) {
			return
		}
	}
	if r.o.ShowCalls {
		if !tray.HasHost(ctx) {
			r.desks.Show(windowapi.WindowCalls)
		}
		return
	}
	if tray.WaitHost(ctx, hostIn) || ctx.Err() != nil {
		return
	}
	r.o.Log.Info("no panel shows our icon")
	n, err := notify.Open(ctx, func(string, string) { r.desks.Show(windowapi.WindowCalls) })
	if err != nil {
		return // nobody shows notifications here either
	}
	defer n.Close()
	note := notify.Notice{Summary: "Wiebelt", Body: r.lang().T(text.StatusNoHost), Actions: []notify.Action{{Key: notify.Default, Label: r.lang().T(text.StatusMenuCalls)}}}
	if err := n.Show("host", note); err == nil {
		<-ctx.Done() // as long as the notification can be clicked
	}
}

// history opens the history and makes its writer; nil if nothing is kept or it
// cannot be.
func (r *Resident) history() *recorder.Recorder {
	h := r.o.Settings.History
	store, err := history.Open(fromsettings.HistoryFile(r.o.Dirs), history.Keep(h.Keep), h.Days, time.Now)
	if err != nil {
		r.o.Log.Error("the history is not kept for now", "why", err)
	}
	if store == nil {
		return nil
	}
	r.store = store
	return recorder.New(store, r.historyChanged, r.o.Log)
}

// choices remembers whom the user chose among several; without a secret store
// only as long as this program runs.
func (r *Resident) choices() *chosencontacts.Store {
	p := callactions.ChoiceParams(r.o.Dirs, r.o.Settings)
	p.Log = r.o.Log
	if r.o.Demo != nil {
		p.Secrets = nil
	}
	r.chosenBefore = chosencontacts.New(p)
	return r.chosenBefore
}

// hub makes the hub's client, nil while nothing is set up, and the check of deep
// links.
func (r *Resident) hub(s *settings.Settings) (*hub.Client, *hub.Links) {
	h := s.Hub
	cfg, hubURL, err := fromsettings.Hub(r.o.Dirs, h, r.o.Log)
	if o := r.o.Hub; o != nil {
		cfg.BaseURL, cfg.ClientID, cfg.OrganisationCode, hubURL, err = o.BaseURL, o.ClientID, o.OrganisationCode, o.HubURL, nil
		cfg.Scopes = ""
		cfg.Secret, cfg.SecretAnswered = func(context.Context) (string, error) { return o.Secret, nil }, nil
	}
	links, lerr := hub.NewLinks(hubURL)
	if lerr != nil {
		r.o.Log.Error("no customer file can be opened", "why", lerr)
		links, _ = hub.NewLinks("")
	}
	if err != nil {
		r.o.Log.Warn("not set up", "why", err)
		return nil, links
	}
	client, err := hub.New(cfg)
	if err != nil {
		r.o.Log.Error("not set up", "why", err)
		return nil, links
	}
	return client, links
}

// cardConfig is how cards look and where they stand at this moment.
func (r *Resident) cardConfig() card.Config {
	s, now := r.set(), time.Now()
	c := card.Config{
		Language: r.lang(), Appearance: card.Appearance(s.UI.Theme), FileWord: s.UI.FileWord, Support: s.Support.Contact,
		Fields: s.Card.Fields, Privacy: card.Privacy(s.Card.Privacy),
		HideFromCapture: s.Card.HideFromCapture && r.helped.Load() < now.Unix(),
		Corner:          card.Corner(s.Card.Corner), Monitor: s.Card.Monitor,
		Corners: r.corners.Of(s), Moved: func(monitor string, to card.Corner) { r.corners.Moved(r.set(), monitor, to) },
		Hotkey: s.Card.Hotkey, HotkeyResult: r.hotkey,
		Say:             r.reader.Say,
		UnderFullScreen: !s.Card.OverFullscreen, Held: r.held,
		Rested: r.rest, Log: r.o.Log, Painted: r.o.Painted,
	}
	switch r.hiding() {
	case health.HidingLocked:
		c.Hidden = true
	case health.HidingQuiet, health.HidingPresenting:
		c.Quiet = card.QuietHide
	case health.NumberQuiet, health.NumberPresenting:
		c.Quiet = card.QuietNumber
	}
	if !r.facts.pausedUntil(now).IsZero() {
		c.Hidden = true
	}
	return c
}

// Ring takes a call that another program handed over.
func (r *Resident) Ring(e call.Event) error {
	err := r.taker("")(e)
	r.program.Look() // after the call: it is on its way to the screen already
	return err
}

// Peer serves windows and commands.
func (r *Resident) Peer(ctx context.Context, hello instance.Hello, c *instance.Conn) {
	switch hello.Role {
	case instance.RoleDesk:
		<-r.ready
		r.desks.Serve(ctx, c)
	case instance.RoleCommand:
		<-r.ready
		switch kind, raw, _ := c.Receive(); kind {
		case windowapi.KindForget:
			_ = c.Send(kind, r.forget(ctx, raw))
		case windowapi.KindShow:
			r.show(raw)
			_ = c.Send(kind, nil)
		case windowapi.KindFacts:
			_ = c.Send(kind, r.doctorFacts(time.Now()))
		case windowapi.KindQuit:
			_ = c.Send(kind, nil)
			r.stop()
		}
	}
}

type systemClock struct{}

func (systemClock) Now() time.Time                  { return time.Now() }
func (systemClock) At(t time.Time) <-chan time.Time { return time.After(time.Until(t)) }
