package resident

import (
	"context"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/sleepwatch"
	"wiebelt/internal/text"
)

// lookEvery is how often everything without change notifications is checked: nothing else
// wakes an idle resident. A policy must take effect within 15 seconds.
const lookEvery = 12 * time.Second

// replaceTime is how long a program may take to replace the user's file or the policy, during
// which there is none.
const replaceTime = time.Second

// settleTime is how long a program may take to write the settings file.
const settleTime = 50 * time.Millisecond

// effective is what is in effect at one moment. Immutable once published.
type effective struct {
	settings *settings.Settings
	lang     text.Language
	client   *hub.Client // nil if not set up
	links    *hub.LinkChecker
}

func (r *Resident) current() *effective { return r.effective.Load() }

func (r *Resident) settings() *settings.Settings { return r.current().settings }

func (r *Resident) lang() text.Language { return r.current().lang }

// followSettings keeps everything in line with the settings, including the
// policy's, and with what jump, a sleepwatch.Clock's Check, says, until ctx ends.
// Nothing else changes what is in effect.
func (r *Resident) followSettings(ctx context.Context, jump func() (slept, set time.Duration)) {
	tick, jumped := time.Tick(lookEvery), sleepwatch.Jumps(ctx)
	touched := make(chan struct{}, 1)
	file, err := fsnotify.NewWatcher()
	if err != nil { // it is still polled, a little later
		r.o.Log.Warn("the settings' file is not watched", "why", err)
	} else {
		// Windows' watcher does nothing else, such as adding a file, until all its
		// events have been read.
		var reading sync.WaitGroup
		reading.Go(func() {
			for range file.Events {
				wake.Up(touched)
			}
		})
		reading.Go(func() {
			for range file.Errors { // polling still works
			}
		})
		defer reading.Wait()
		defer file.Close()
	}
	var written, replacing <-chan time.Time
	for {
		if file != nil { // replacing the file makes it another one
			_ = file.Add(settings.Path(r.o.Dirs))
		}
		select {
		case <-ctx.Done():
			return
		case <-touched:
			written = time.After(settleTime)
			continue
		case <-written:
		case <-jumped:
		case <-tick:
			if r.deliveries != nil {
				r.deliveries.TriggerCheck()
			}
		case <-r.reread:
		case <-replacing:
			replacing = nil
			r.reload(ctx, true)
			continue
		}
		if slept, set := jump(); slept != 0 || set != 0 {
			r.resumed(slept, set)
		}
		switch absent := r.reload(ctx, false); {
		case !absent:
			replacing = nil
		case replacing == nil:
			replacing = time.After(replaceTime)
		}
	}
}

// reload applies the files if they differ, or if something in them could not be read before.
// gone and absent are those of Settings.Reload.
func (r *Resident) reload(ctx context.Context, gone bool) (absent bool) {
	was, print := r.settings(), fingerprint(r.o.Dirs, r.settings())
	if print != r.fingerprint || gone || was.Unreadable() {
		next, absent := was.Reload(r.o.Dirs, gone)
		if absent {
			return true
		}
		if print != r.fingerprint || !reflect.DeepEqual(was, next) {
			r.fingerprint = print
			r.apply(ctx, next)
			return false
		}
	}
	if r.sources.retry(was) {
		r.refresh()
	}
	return false
}

// fingerprint changes with every file that followSettings follows.
func fingerprint(d profile.Dirs, s *settings.Settings) string {
	return settings.Fingerprint(d, s.Hub.ExtraCAFile, filepath.Join(d.State, secret.TokensName))
}

func (r *Resident) publish(s *settings.Settings, client *hub.Client, links *hub.LinkChecker) *effective {
	now := &effective{settings: s, lang: fromsettings.Language(s), client: client, links: links}
	r.effective.Store(now)
	r.facts.change(func(k *knownState) { k.SetUp = client != nil || s.HasRelayLink() })
	return now
}

// apply puts next into effect. Only differences are applied: a phone's link stays up when
// the card's corner changes. If none differs, there may be a new secret, or renewed tokens:
// what an administrator may have mended is tried again.
func (r *Resident) apply(ctx context.Context, next *settings.Settings) {
	was := r.current()
	old, client, links := was.settings, was.client, was.links
	same := reflect.DeepEqual(old, next) // perhaps there is a new secret or token
	if needsNewClient(old, next, same) && r.o.Demo == nil {
		client, links = r.newHub(next)
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
		was.client.Close() // after the engine has the new one: pending lookups are repeated
	}
	if same || was.client != client {
		r.hubWatch.SettingsChanged()
	}
	if same {
		r.sources.wake(false)
	}
	r.applyRetention(ctx, old, next)
	r.deliveries.SettingsChanged(next)
	r.cards.ConfigChanged()
	r.sources.apply(next)
	r.o.Log.Info("settings are in effect", "problems", len(next.Problems()))
	r.refresh()
	r.windows.Send(windowapi.KindWelcome, r.welcome(""))
}

func (r *Resident) applyRetention(ctx context.Context, old, next *settings.Settings) {
	wasKeep, wasDays := fromsettings.HistoryKeep(old)
	if keep, days := fromsettings.HistoryKeep(next); keep != wasKeep || days != wasDays {
		if err := r.store.Configure(ctx, keep, days); err != nil {
			r.o.Log.Error("the history does not follow its settings", "why", err)
		}
	}
	if fromsettings.ChoicesPaused(next) {
		r.choices.Pause()
	} else {
		r.choices.Configure(next.History.Choices)
	}
}

// needsNewClient reports whether the hub needs another client: its settings differ or, if no
// setting at all does, the contents of its certificate file may.
func needsNewClient(old, next *settings.Settings, same bool) bool {
	return !reflect.DeepEqual(old.Hub, next.Hub) || same && next.Hub.ExtraCAFile != ""
}

// settingsChanged makes what was just written take effect at once. If a secret was set, the
// hub is checked again even if its address is the same.
func (r *Resident) settingsChanged(secrets bool) {
	wake.Up(r.reread)
	if secrets {
		r.hubWatch.SettingsChanged()
	}
}

func (r *Resident) params(p *engine.Params, e *effective) {
	c := e.settings.Card
	p.FullFor, p.AfterCall = c.FullFor, c.AfterCall
	p.SchemeLookup = engine.SchemeLookup(e.settings.Scheme.Lookup)
	p.Outgoing = engine.OutgoingDisplay(c.Outgoing)
	p.AutoOpen = r.autoOpen()
	p.CheckLink = e.links.Check
	p.Lookup = r.lookup(e)
}

// lookup returns the source for lookups: the hub or, if none is set up on this computer,
// the office's relay; nil for none.
func (r *Resident) lookup(e *effective) engine.Lookup {
	switch {
	case e.client != nil:
		return r.audit.WrapLookup(e.client)
	case e.settings.HasRelayLink():
		return r.audit.WrapLookup(&r.relay)
	}
	return nil // not a nil *hub.Client, which would not compare equal to nil
}

// relayLookup looks up numbers through the current link to the relay. The zero value has none.
type relayLookup struct{ link atomic.Pointer[engine.Lookup] }

// Lookup implements engine.Lookup.
func (r *relayLookup) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	if l := r.link.Load(); l != nil {
		return (*l).Lookup(ctx, number)
	}
	return nil, &contact.LookupError{Failure: contact.NotSetUp}
}

// rules returns the number rules of the settings, or the default ones.
func (r *Resident) rules(s *settings.Settings) *phone.Rules {
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		r.o.Log.Error("number rules", "why", err)
		rules = phone.DefaultRules()
	}
	return rules
}

// newHub creates the hub's client, nil if not set up, and the check of deep links.
func (r *Resident) newHub(s *settings.Settings) (*hub.Client, *hub.LinkChecker) {
	cfg, err := fromsettings.HubConfig(r.o.Dirs, s.Hub)
	hubURL := s.Hub.HubURL
	if d := r.o.Demo; d != nil {
		cfg, hubURL, err = d.Hub, d.HubURL, nil
	}
	links, lerr := hub.NewLinkChecker(hubURL)
	if lerr != nil {
		r.o.Log.Error("no customer file can be opened", "why", lerr)
	}
	if err != nil {
		if !s.HasRelayLink() {
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
