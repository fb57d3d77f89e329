package resident

import (
	"context"
	"reflect"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
)

// lookEvery is how often the settings' files are looked at. A policy must be
// obeyed within 15 seconds.
const lookEvery = 5 * time.Second

// effective is what holds at one moment. Never changed once it was published.
type effective struct {
	settings *settings.Settings
	lang     text.Language
	client   *hub.Client // nil while nothing is set up
	links    *hub.Links
}

func (r *Resident) current() *effective { return r.effective.Load() }

// set are the settings that hold now.
func (r *Resident) set() *settings.Settings { return r.current().settings }

// lang is the language that holds now.
func (r *Resident) lang() text.Language { return r.current().lang }

// follow keeps what runs in line with the settings, those of the policy
// included, until ctx ends. It is the only one that changes what holds.
func (r *Resident) follow(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.reread:
		}
		if print := settings.Fingerprint(r.o.Dirs); print != r.print {
			next, _ := settings.Load(r.o.Dirs)
			r.print = print
			r.apply(ctx, next)
		} else if r.sources.retokened(r.set()) || r.sources.retry(r.set()) {
			r.changed()
		}
	}
}

// apply makes next hold. Only what differs is touched: a phone's link stays up
// when the card's corner changes.
func (r *Resident) apply(ctx context.Context, next *settings.Settings) {
	was := r.current()
	old := was.settings
	now := &effective{settings: next, lang: fromsettings.Language(next), client: was.client, links: was.links}
	if !reflect.DeepEqual(old.Hub, next.Hub) && r.o.Hub == nil {
		now.client, now.links = r.hub(next)
		if now.client != nil {
			now.client.Warm()
		}
	}
	r.effective.Store(now)
	if r.o.LogLevel != nil {
		r.o.LogLevel(next.Log.Level)
	}
	r.facts.hub(now.client != nil)

	rules, err := fromsettings.Rules(next)
	if err != nil {
		r.o.Log.Error("number rules", "why", err)
	}
	r.engine.Reconfigure(func(p *engine.Params) {
		if rules != nil {
			p.Rules = rules
		}
		r.params(p, now)
	})
	if was.client != nil && was.client != now.client {
		was.client.Close() // after the engine knows the new one: what it waits for is asked again
	}
	if was.client != now.client || reflect.DeepEqual(old, next) { // the same once more: there is a new secret, perhaps
		r.hubWatch.SettingsChanged()
	}
	if reflect.DeepEqual(old, next) {
		r.sources.again()
	}
	if r.store != nil && old.History != next.History {
		if err := r.store.Configure(ctx, history.Keep(next.History.Keep), next.History.Days); err != nil {
			r.o.Log.Error("the history does not follow its settings", "why", err)
		}
	}
	r.chosenBefore.Configure(next.History.Choices)
	r.deliveries.SettingsChanged(next)
	r.cards.Set(r.cardConfig())
	r.sources.apply(next)
	r.o.Log.Info("settings are in effect", "problems", len(next.Problems()))
	r.changed()
	r.desks.Send(windowapi.KindWelcome, r.welcome(""))
}

// params puts into p what follows from the settings.
func (r *Resident) params(p *engine.Params, e *effective) {
	c := e.settings.Card
	p.FullFor, p.AfterCall = c.FullFor, c.AfterCall
	p.SchemeLookup = engine.SchemeLookup(e.settings.Scheme.Lookup)
	p.Outgoing = engine.Outgoing(c.Outgoing)
	p.AutoOpen = engine.AutoOpen(c.AutoOpen)
	p.CheckLink = e.links.Check
	p.Lookup = nil // not a nil *hub.Client, which would be something
	if e.client != nil {
		p.Lookup = r.audit.Lookups(e.client)
	}
}

// hub notes whether lookups are possible at all.
func (f *facts) hub(setUp bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setUp = setUp
}

// rules are the number rules of the settings, or the usual ones.
func (r *Resident) rules(s *settings.Settings) *phone.Rules {
	rules, err := fromsettings.Rules(s)
	if err != nil {
		r.o.Log.Error("number rules", "why", err)
		rules, _ = phone.NewRules(phone.Config{InternalDigits: 4}) // cannot fail
	}
	return rules
}
