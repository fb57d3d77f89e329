package resident

import (
	"context"
	"maps"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/relaylink"
)

// sources are the sources that run on their own: the listener and the links to softphones.
// Each is restarted when its settings change, and otherwise left alone.
type sources struct {
	r    *Resident
	ctx  context.Context
	work *sync.WaitGroup

	mu       sync.Mutex // guards the following fields
	tokens   secret.Tokens
	listener *source
	listens  settings.Listener
	refused  bool // the listener could not start, and that was logged
	links    map[settings.Softphone]*source
	store    string // store of the links' secrets
}

type source struct {
	cancel context.CancelFunc
	done   chan struct{}
	wake   chan struct{} // makes a link retry or reconnect at once
}

func newSources(ctx context.Context, r *Resident, work *sync.WaitGroup) *sources {
	return &sources{r: r, ctx: ctx, work: work, links: map[settings.Softphone]*source{}}
}

// apply brings the sources in line with the settings and the listener's tokens.
func (ss *sources) apply(s *settings.Settings) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.readTokens() || ss.listener == nil || !reflect.DeepEqual(ss.listens, s.Listener) {
		ss.restart(s)
	}
	wanted, named := map[settings.Softphone]bool{}, map[string]bool{}
	for _, p := range s.Softphones {
		wanted[p], named[linkName(p)] = true, true
	}
	ss.r.facts.change(func(k *knownState) {
		maps.DeleteFunc(k.links, func(name string, _ linkState) bool { return !named[name] })
	})
	moved := ss.store != s.Hub.SecretStore
	ss.store = s.Hub.SecretStore
	for p, running := range ss.links {
		if !wanted[p] || moved && registry.Of(p.Kind).Requires(registry.NeedsSecret) {
			running.stop()
			delete(ss.links, p)
		}
	}
	for _, p := range s.Softphones {
		if ss.links[p] == nil {
			if started := ss.dial(s, p); started != nil {
				ss.links[p] = started
			}
		}
	}
}

// restart stops the listener and starts it again if there should be one.
func (ss *sources) restart(s *settings.Settings) {
	ss.listener.stop()
	ss.listener, ss.listens, ss.refused = nil, s.Listener, false
	if ss.listening(s) {
		ss.listener = ss.listen(s)
	} else {
		ss.r.facts.change(func(k *knownState) { k.port, k.TakenPort = 0, 0 })
	}
	ss.r.facts.change(func(k *knownState) { k.NoTokens = s.Listener.Enabled && !ss.listening(s) })
}

func (ss *sources) listening(s *settings.Settings) bool {
	return s.Listener.Enabled && ss.tokens != (secret.Tokens{})
}

// retry starts a listener that could not start: another program may have released its
// port. It reports whether it has started.
func (ss *sources) retry(s *settings.Settings) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.listener != nil || !ss.listening(s) {
		return false
	}
	ss.listener = ss.listen(s)
	return ss.listener != nil
}

// stop ends a source and waits for it.
func (s *source) stop() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}

// wake makes links retry or reconnect at once; connected ones only if all is set.
func (ss *sources) wake(all bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	now := ss.r.facts.read().links
	for p, l := range ss.links {
		if all || !now[linkName(p)].Phase.IsConnected() {
			wake.Up(l.wake)
		}
	}
}

// access returns the listener's port, 0 if it is not running, and its tokens.
func (ss *sources) access() (int, secret.Tokens) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.r.facts.read().port, ss.tokens
}

func (ss *sources) dial(s *settings.Settings, phone settings.Softphone) *source {
	r, name := ss.r, linkName(phone)
	p, err := fromsettings.Softphone(r.o.Dirs, s.Hub.SecretStore, phone)
	if err != nil {
		r.o.Log.Error("softphone link", "name", name, "why", err)
		r.facts.setLink(phone.Kind, name, health.Incomplete, link.State{Cause: missingCause(phone)})
		return nil
	}
	if l, ok := p.(engine.Lookup); ok {
		r.relay.link.Store(&l)
	}
	if l, ok := p.(interface{ SaveMissed(relaylink.MissedSaver) }); ok {
		l.SaveMissed(r.saveMissed)
	}
	r.facts.setLink(phone.Kind, name, health.Unwatched, link.State{})
	ctx, end := context.WithCancel(ss.ctx)
	l := &source{cancel: end, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	ss.work.Go(func() {
		defer close(l.done)
		link.Run(ctx, link.Config{Name: name, Receive: r.eventReceiver(name), SourceGone: r.engine.SourceGone, Wake: l.wake, Log: r.o.Log,
			StateChanged: func(st link.State) {
				if st.Cause == link.CauseHub && r.current().client != nil {
					st.Cause = link.NoCause // with a hub client of our own, its state counts
				}
				if ctx.Err() == nil && r.facts.setLink(phone.Kind, name, phaseOf(st), st) {
					r.refresh()
				}
			}}, p)
	})
	return l
}

func (ss *sources) listen(s *settings.Settings) *source {
	r := ss.r
	cfg := listener.Config{Port: s.Listener.Port, Tries: 1, SocketToken: ss.tokens.Socket, PathToken: ss.tokens.Path,
		AllowedOrigins: s.Listener.AllowedOrigins, HTTP: s.Listener.HTTP, Receive: r.eventReceiver(""), SourceGone: r.engine.SourceGone, Log: r.o.Log}
	switch {
	case r.o.Demo != nil:
		cfg.Port = 0
	case s.Source("listener.port") == settings.Default && !s.Unsure("listener.port"):
		cfg.Tries = 16 // the first start chooses; recipes then contain the port, if it is lasting
	}
	ctx, end := context.WithCancel(ss.ctx)
	l, err := listener.Start(ctx, cfg)
	if err != nil {
		end()
		r.facts.change(func(k *knownState) { k.port, k.TakenPort = 0, s.Listener.Port })
		if !ss.refused {
			r.o.Log.Error("the listener does not run", "why", err)
		}
		ss.refused = true
		return nil
	}
	ss.refused = false
	running := &source{cancel: end, done: make(chan struct{})}
	ss.work.Go(func() {
		defer close(running.done)
		<-ctx.Done()
		l.Close()
	})
	r.facts.change(func(k *knownState) { k.port, k.TakenPort = l.Port(), 0 })
	if cfg.Tries > 1 && l.HasStablePort() {
		if err := settings.Set(r.o.Dirs, map[string]any{"listener.port": l.Port()}); err != nil {
			r.o.Log.Warn("the port was not kept", "why", err)
		} else {
			ss.listens.Port = l.Port() // the value just written is no change
		}
	}
	if err := l.Announce(filepath.Join(r.o.Dirs.Run, listener.AnnouncementName)); err != nil {
		r.o.Log.Warn("listener.json was not written", "why", err)
	}
	return running
}

// readTokens reads the current tokens, and reports whether they have changed. If they
// cannot be read, the previous ones stay in effect: phones have them.
func (ss *sources) readTokens() (news bool) {
	t, err := secret.EnsureTokens(ss.r.o.Dirs)
	if err != nil {
		ss.r.o.Log.Error("the listener's tokens", "why", err)
		return false
	}
	news = t != ss.tokens
	ss.tokens = t
	return news
}

// eventReceiver returns the function that receives a source's reports. link is its name in the
// settings, "" if it is not a link.
func (r *Resident) eventReceiver(link string) func(call.Event) error {
	return func(e call.Event) error {
		err := r.engine.Receive(e)
		if err == nil { // the call is already on its way to the screen
			r.activity.Note(link, e, time.Now())
			if r.windows.IsOpen() {
				r.requestRefresh()
			}
		}
		return err
	}
}

// sendSources sends the state of the sources to open windows, if it has changed.
// Only refresh calls it.
func (r *Resident) sendSources() {
	if !r.windows.IsOpen() {
		return
	}
	if now := r.sourcesNow(); !reflect.DeepEqual(now, r.sent) {
		r.sent = now
		r.windows.Send(windowapi.KindSources, now)
	}
}

// linkPhases maps the phases of links for windows and doctor.
var linkPhases = map[health.Phase]string{health.Unwatched: windowapi.LinkUnknown, health.Up: windowapi.LinkUp, health.Down: windowapi.LinkDown,
	health.Kicked: windowapi.LinkKicked, health.Refused: windowapi.LinkRefused, health.Incomplete: windowapi.LinkIncomplete,
	health.NoStorage: windowapi.LinkBackendFault, health.NoExchange: windowapi.LinkBackendFault, health.NoHub: windowapi.LinkBackendFault}

// sourcesNow returns the state of every configured source: first those that contact
// us, then the links in the order of the settings. Only links have a heartbeat; of the
// others only the state of the listener's port, whether links are opened and the time
// of the last call are known.
func (r *Resident) sourcesNow() windowapi.Sources {
	s, now := r.settings(), r.facts.read()
	all := windowapi.Sources{Sources: []windowapi.SourceState{}}
	off := map[string]bool{call.KindWebSocket: !s.Listener.Enabled, call.KindHTTP: !s.Listener.Enabled || !s.Listener.HTTP}
	for _, name := range registry.Sources() {
		if off[name] {
			continue
		}
		one := windowapi.SourceState{Kind: name, Phase: windowapi.SourceListens, LastCallAt: r.activity.LastCallAt(name, "")}
		if registry.Of(name).Reach == registry.ByListener {
			one.Port = s.Listener.Port // until it is running
			switch {
			case now.TakenPort > 0:
				one.Port, one.Phase = now.TakenPort, windowapi.SourcePortTaken
			case now.NoTokens:
				one.Phase = windowapi.SourceNoTokens
			case now.port > 0:
				one.Port = now.port
			}
		}
		if name == call.KindURL && now.schemeNotDefault {
			one.Phase = windowapi.SourceNotDefault
		}
		all.Sources = append(all.Sources, one)
	}
	for _, p := range s.Softphones {
		name := linkName(p)
		l := now.links[name]
		all.Sources = append(all.Sources, windowapi.SourceState{Kind: p.Kind, Name: p.Name, Phase: linkPhases[l.Phase], Why: string(l.cause),
			Since: l.since, LastCallAt: r.activity.LastCallAt(p.Kind, name)})
	}
	return all
}
