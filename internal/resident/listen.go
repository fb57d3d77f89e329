package resident

import (
	"cmp"
	"context"
	"path/filepath"
	"reflect"
	"sync"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/registry"
)

// ways are the ways in that have a life of their own: the listener and the links
// to softphones. Each is ended and begun anew when its settings change, and left
// alone when they do not.
type sources struct {
	r    *Resident
	ctx  context.Context
	work *sync.WaitGroup

	mu       sync.Mutex // for what follows; apply comes from one goroutine, wake from another
	tokens   secret.Tokens
	tokensAt tokenFile
	listener *source
	listens  settings.Listener
	refused  bool // the listener could not start, and the log says so already
	links    map[settings.Softphone]*source
	store    string // where the links' secrets are kept
}

// way is one that runs.
type source struct {
	end  context.CancelFunc
	over chan struct{}
	wake chan struct{}
}

func newSources(ctx context.Context, r *Resident, work *sync.WaitGroup) *sources {
	w := &sources{r: r, ctx: ctx, work: work, links: map[settings.Softphone]*source{}}
	w.readTokens()
	return w
}

// apply brings the ways in line with the settings.
func (w *sources) apply(s *settings.Settings) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener == nil || !reflect.DeepEqual(w.listens, s.Listener) {
		w.stop(w.listener)
		w.listener, w.listens, w.refused = nil, s.Listener, false
		if w.listening(s) {
			w.listener = w.listen(s)
		} else {
			w.r.facts.listens(0)
		}
		w.r.facts.keyless(s.Listener.Enabled && !w.listening(s))
	}
	wanted := map[settings.Softphone]bool{}
	for _, p := range s.Softphones {
		wanted[p] = true
	}
	moved := w.store != s.Hub.SecretStore
	w.store = s.Hub.SecretStore
	for p, running := range w.links {
		if !wanted[p] || moved && registry.Of(p.Kind).Requires(registry.NeedsSecret) {
			w.stop(running)
			delete(w.links, p)
			w.r.facts.unlink(linkName(p))
		}
	}
	for _, p := range s.Softphones {
		if w.links[p] == nil {
			if started := w.dial(s, p); started != nil {
				w.links[p] = started
			}
		}
	}
}

// listening tells whether there should be a listener.
func (w *sources) listening(s *settings.Settings) bool {
	return s.Listener.Enabled && w.tokens != (secret.Tokens{})
}

// retry starts the listener that could not start, and reports whether it runs
// now: another program may have given its port back.
func (w *sources) retry(s *settings.Settings) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener != nil || !w.listening(s) {
		return false
	}
	w.listener = w.listen(s)
	return w.listener != nil
}

// stop ends a way in and waits until it has.
func (w *sources) stop(running *source) {
	if running != nil {
		running.end()
		<-running.over
	}
}

// woke tells every link that the computer has slept.
func (w *sources) woke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		l.nudge()
	}
}

// keys are the listener's tokens.
func (w *sources) keys() secret.Tokens {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens
}

// port is the listener's, 0 if it does not run.
func (w *sources) port() int { return w.r.facts.listened() }

func linkName(s settings.Softphone) string { return cmp.Or(s.Name, s.Address) }

func (w *sources) dial(s *settings.Settings, phone settings.Softphone) *source {
	r, name := w.r, linkName(phone)
	p, err := fromsettings.Softphone(r.o.Dirs, s.Hub.SecretStore, phone)
	if err != nil {
		r.o.Log.Error("softphone link", "name", name, "why", err)
		r.facts.link(phone.Kind, name, health.Incomplete)
		r.facts.because(name, lacks(phone))
		return nil
	}
	r.facts.because(name, link.NoCause)
	r.facts.link(phone.Kind, name, health.Unwatched)
	ctx, end := context.WithCancel(w.ctx)
	l := &source{end: end, over: make(chan struct{}), wake: make(chan struct{}, 1)}
	w.work.Go(func() {
		defer close(l.over)
		link.Run(ctx, link.Config{Name: name, Take: r.taker(name), Gone: r.engine.SourceGone, Wake: l.wake, Log: r.o.Log,
			State: func(st link.State) {
				if ctx.Err() != nil {
					return
				}
				news := r.facts.link(phone.Kind, name, phaseOf(st))
				if r.facts.because(name, st.Cause) || news {
					r.changed()
				}
			}}, p)
	})
	return l
}

func (w *sources) listen(s *settings.Settings) *source {
	r := w.r
	cfg := listener.Config{Port: s.Listener.Port, Tries: 1, SocketToken: w.tokens.Socket, PathToken: w.tokens.Path,
		AllowedOrigins: s.Listener.AllowedOrigins, HTTP: s.Listener.HTTP, Take: r.taker(""), Gone: r.engine.SourceGone, Log: r.o.Log}
	switch {
	case r.o.AnyPort:
		cfg.Port = 0
	case s.Source("listener.port") == settings.Default:
		cfg.Tries = 16 // the first start chooses; recipes hold the port from then on, if it is one to last
	}
	ctx, end := context.WithCancel(w.ctx)
	l, err := listener.Start(ctx, cfg)
	if err != nil {
		end()
		r.facts.listens(-s.Listener.Port)
		if !w.refused {
			r.o.Log.Error("the listener does not run", "why", err)
		}
		w.refused = true
		return nil
	}
	w.refused = false
	running := &source{end: end, over: make(chan struct{})}
	w.work.Go(func() {
		defer close(running.over)
		<-ctx.Done()
		l.Close()
	})
	r.facts.listens(l.Port())
	if cfg.Tries > 1 && l.Lasting() {
		if err := settings.Set(r.o.Dirs, map[string]any{"listener.port": l.Port()}); err != nil {
			r.o.Log.Warn("the port was not kept", "why", err)
		}
		w.listens.Port = l.Port() // what was just written is no change
	}
	if err := l.Announce(filepath.Join(r.o.Dirs.Run, listener.AnnouncementName)); err != nil {
		r.o.Log.Warn("listener.json was not written", "why", err)
	}
	return running
}

// unlink forgets a link that is no longer set.
func (f *facts) unlink(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.links, name)
	delete(f.causes, name)
}

// listened is the listener's port, 0 if it does not run.
func (f *facts) listened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(f.port, 0)
}
