package resident

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/sleepwatch"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
)

// lookEvery is how often everything is looked at that does not tell of its changes:
// nothing else wakes a resident that nobody calls. A policy must be obeyed within
// 15 seconds.
const lookEvery = 12 * time.Second

// writtenIn is how long whoever changes the settings' file may take.
const writtenIn = 50 * time.Millisecond

// effective is what holds at one moment. Never changed once it was published.
type effective struct {
	settings *settings.Settings
	lang     text.Language
	client   *hub.Client // nil while nothing is set up
	links    *hub.Links
}

func (r *Resident) current() *effective { return r.effective.Load() }

// settings are those that hold now.
func (r *Resident) settings() *settings.Settings { return r.current().settings }

// lang is the language that holds now.
func (r *Resident) lang() text.Language { return r.current().lang }

// followSettings keeps what runs in line with the settings, those of the policy
// included, and notices that the computer has slept, until ctx ends. It is the only
// one that changes what holds.
func (r *Resident) followSettings(ctx context.Context) {
	tick := time.Tick(lookEvery)
	clock, jumped := sleepwatch.NewClock(), sleepwatch.Jumps(ctx)
	touched := make(chan struct{}, 1)
	file, err := fsnotify.NewWatcher()
	if err != nil { // it is looked at all the same, a little later
		r.o.Log.Warn("the settings' file is not watched", "why", err)
	} else {
		// Windows' watcher does nothing else, such as adding a file, until all that it
		// tells has been read.
		var reading sync.WaitGroup
		reading.Go(func() {
			for range file.Events {
				wake.Up(touched)
			}
		})
		reading.Go(func() {
			for range file.Errors { // there is the clock
			}
		})
		defer reading.Wait()
		defer file.Close()
	}
	var written <-chan time.Time
	for {
		if file != nil { // the file is another one when a program has replaced it
			_ = file.Add(settings.Path(r.o.Dirs))
		}
		select {
		case <-ctx.Done():
			return
		case <-touched:
			written = time.After(writtenIn)
			continue
		case <-written:
		case <-jumped:
		case <-tick:
			if r.deliveries != nil {
				r.deliveries.Look()
			}
		case <-r.reread:
		}
		if slept := clock.Look(lookEvery); slept != 0 {
			r.woke(slept)
		}
		if print := settings.Fingerprint(r.o.Dirs, r.settings().Hub.ExtraCAFile); print != r.fingerprint {
			next, _ := settings.Load(r.o.Dirs)
			r.fingerprint = print
			r.apply(ctx, next)
		} else if r.sources.retry(r.settings()) {
			r.refresh()
		}
	}
}

// publish makes settings and a hub hold.
func (r *Resident) publish(s *settings.Settings, client *hub.Client, links *hub.Links) *effective {
	now := &effective{settings: s, lang: fromsettings.Language(s), client: client, links: links}
	r.effective.Store(now)
	r.facts.change(func(k *known) { k.SetUp = client != nil || s.Relayed() })
	return now
}

// apply makes next hold. Only what differs is touched: a phone's link stays up
// when the card's corner changes.
func (r *Resident) apply(ctx context.Context, next *settings.Settings) {
	was := r.current()
	old, client, links := was.settings, was.client, was.links
	same := reflect.DeepEqual(old, next) // once more: there is a new secret, perhaps
	if otherHub(old, next, same) && r.o.Hub == nil {
		client, links = r.hub(next)
	}
	now := r.publish(next, client, links)
	if r.o.LogLevel != nil {
		r.o.LogLevel(next.Log.Level)
	}
	r.engine.Reconfigure(func(p *engine.Params) {
		p.Rules = r.rules(next)
		r.params(p, now)
	})
	if was.client != nil && was.client != client {
		was.client.Close() // after the engine knows the new one: what it waits for is asked again
	}
	if same || was.client != client {
		r.hubWatch.SettingsChanged()
	}
	if same {
		r.sources.wake(false)
	}
	if old.History != next.History {
		if err := r.store.Configure(ctx, history.Keep(next.History.Keep), next.History.Days); err != nil {
			r.o.Log.Error("the history does not follow its settings", "why", err)
		}
	}
	r.chosenBefore.Configure(next.History.Choices)
	r.deliveries.SettingsChanged(next)
	r.cards.Set(r.cardConfig())
	r.sources.apply(next)
	r.o.Log.Info("settings are in effect", "problems", len(next.Problems()))
	r.refresh()
	r.windows.Send(windowapi.KindWelcome, r.welcome(""))
}

// otherHub tells whether the hub needs another client: its settings differ or, where
// nothing does, the certificates in a file that they name may.
func otherHub(old, next *settings.Settings, same bool) bool {
	return !reflect.DeepEqual(old.Hub, next.Hub) || same && next.Hub.ExtraCAFile != ""
}

// settingsChanged has what was just written take effect at once. Where a secret
// was set, the hub is asked anew although the address is the same.
func (r *Resident) settingsChanged(secrets bool) {
	wake.Up(r.reread)
	if secrets {
		r.hubWatch.SettingsChanged()
	}
}

// params puts into p what follows from the settings.
func (r *Resident) params(p *engine.Params, e *effective) {
	c := e.settings.Card
	p.FullFor, p.AfterCall = c.FullFor, c.AfterCall
	p.SchemeLookup = engine.SchemeLookup(e.settings.Scheme.Lookup)
	p.Outgoing = engine.Outgoing(c.Outgoing)
	p.AutoOpen = r.autoOpen()
	p.CheckLink = e.links.Check
	p.Lookup = r.lookup(e)
}

// lookup is who is asked for numbers: the hub or, where none is set up on this
// computer, the office's relay; nil for nobody.
func (r *Resident) lookup(e *effective) engine.Lookup {
	switch {
	case e.client != nil:
		return r.audit.Lookups(e.client)
	case e.settings.Relayed():
		return r.audit.Lookups(&r.relay)
	}
	return nil // not a nil *hub.Client, which would be something
}

// relayed asks the link to the relay that there is now. The zero value asks nobody.
type relayed struct{ link atomic.Pointer[engine.Lookup] }

// Lookup implements engine.Lookup.
func (r *relayed) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	if l := r.link.Load(); l != nil {
		return (*l).Lookup(ctx, number)
	}
	return nil, &contact.LookupError{Failure: contact.NotSetUp}
}

// rules are the number rules of the settings, or the usual ones.
func (r *Resident) rules(s *settings.Settings) *phone.Rules {
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		r.o.Log.Error("number rules", "why", err)
		rules, _ = phone.NewRules(phone.Config{InternalDigits: 4}) // cannot fail
	}
	return rules
}

// hub makes the hub's client, nil while nothing is set up, and the check of deep
// links.
func (r *Resident) hub(s *settings.Settings) (*hub.Client, *hub.Links) {
	cfg, err := fromsettings.Hub(r.o.Dirs, s.Hub)
	hubURL := s.Hub.HubURL
	if o := r.o.Hub; o != nil {
		cfg.BaseURL, cfg.ClientID, cfg.OrganisationCode, hubURL, err = o.BaseURL, o.ClientID, o.OrganisationCode, o.HubURL, nil
		cfg.Scopes = ""
		cfg.Secret, cfg.SecretAnswered = func(context.Context) (string, error) { return o.Secret, nil }, nil
	}
	links, lerr := hub.NewLinks(hubURL)
	if lerr != nil {
		r.o.Log.Error("no customer file can be opened", "why", lerr)
	}
	if err != nil {
		if !s.Relayed() {
			r.o.Log.Warn("not set up", "why", err)
		}
		return nil, links
	}
	client, err := hub.New(cfg)
	if err != nil {
		r.o.Log.Error("not set up", "why", err)
		return nil, links
	}
	client.Warm()
	return client, links
}
