package settings

import (
	"context"
	"errors"
	"time"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/health"
	"wiebelt/internal/text"
)

const (
	lookIn = 6 * time.Second  // for a secret store, which says within two that it is locked
	saveIn = 15 * time.Second // and an old secret may be tried
)

// under is what goes on off the window's thread: ends of each.
type under struct{ load, look, save, test, file context.CancelFunc }

func newUnder() *under {
	none := func() {}
	return &under{none, none, none, none, none}
}

func (u *under) end() {
	for _, end := range []context.CancelFunc{u.load, u.look, u.save, u.test, u.file} {
		end()
	}
}

// work does something off the UI thread. What it finds is for the window as it
// is by then: it may have been built anew, in another language.
func (w *window) work(do func(ctx context.Context, post func(func(*window)))) (end context.CancelFunc) {
	return w.host.Work(func(ctx context.Context, post func(func())) {
		do(ctx, func(f func(*window)) {
			post(func() {
				now := w
				for now.next != nil {
					now = now.next
				}
				f(now)
			})
		})
	})
}

// state is what holds.
type state struct {
	set      *settings.Settings
	values   map[string]settings.Value
	problems []string // of the files, a line each
	expiry   string   // a sentence for administrators, "" if there is nothing to say
}

// maxProblems is how many are shown.
const maxProblems = 10

func stateOf(l text.Language, s *settings.Settings, now time.Time) state {
	st := state{set: s, values: map[string]settings.Value{}}
	for _, v := range s.Values() {
		st.values[v.Key] = v
	}
	for _, p := range s.Problems()[:min(len(s.Problems()), maxProblems)] {
		st.problems = append(st.problems, templates.Say(l, p))
	}
	switch stage, days := health.Expiry(now, s.Hub.SecretExpires); stage {
	case health.ExpirySoon:
		st.expiry = l.N(text.SecretExpires, days)
	case health.ExpiryPast:
		st.expiry = l.T(text.SecretExpired)
	}
	return st
}

// keptSecrets tells how secrets are kept, never what they are.
type keptSecrets struct {
	base, client string
	state        secret.State            // of the hub's, for that address and client
	on           time.Time               // when it was set, zero if that is not known
	links        map[string]secret.State // by name
}

// load reads what holds, and if that is news, how secrets are kept.
func (w *window) load() {
	w.under.load()
	host, l := w.host, w.host.Lang
	w.under.load = w.work(func(_ context.Context, post func(func(*window))) {
		st := stateOf(l, host.Settings(), host.Now())
		post(func(w *window) {
			if w.takeState(st) {
				w.look()
			}
		})
	})
}

// look asks after the secret of the address and client that stand in the window, and
// after those of links.
func (w *window) look() {
	w.under.look()
	s, dirs := *w.state.set, w.host.Dirs
	s.Hub.BaseURL, s.Hub.ClientID, s.Hub.SecretStore = w.now("hub.base_url"), w.now("hub.client_id"), w.now("hub.secret_store")
	w.under.look = w.work(func(ctx context.Context, post func(func(*window))) {
		ctx, cancel := context.WithTimeout(ctx, lookIn)
		defer cancel()
		k := keptSecrets{base: s.Hub.BaseURL, client: s.Hub.ClientID}
		k.state, k.links = hubtrial.Secrets(ctx, dirs, &s)
		if ref, err := secret.Hub(k.base, k.client); err == nil {
			k.on = secret.SetOn(dirs, ref)
		} else {
			k.state = secret.NotSet
		}
		post(func(w *window) { w.takeSecrets(k) })
	})
}

// notSaved says why nothing was saved, and which keys are to blame.
func (w *window) notSaved(err error) (bad []string, why string) {
	l := w.host.Lang
	var wrong settings.Problem
	var locked *hubtrial.LockedError
	var store *hubtrial.StoreError
	switch {
	case errors.As(err, &locked):
		return locked.Keys, l.T(text.SettingsWindowBadValues)
	case errors.As(err, &wrong) && wrong.Key != "":
		return []string{wrong.Key}, l.T(text.SettingsWindowBadValues)
	case errors.As(err, &wrong):
		return nil, l.T(text.SettingsWindowNotWritable, settings.FileName)
	case errors.Is(err, settings.ErrByHand):
		return nil, l.T(text.SettingsWindowByHand, settings.FileName)
	case errors.As(err, &store), errors.Is(err, hubtrial.ErrNoAddress):
		return nil, secretSentence(l, err)
	}
	w.host.Log.Warn("settings were not saved", "why", err)
	return nil, l.T(text.SettingsWindowNotSaved)
}

// secretSentence says what a secret store, or a secret itself, has against it.
func secretSentence(l text.Language, err error) string {
	switch {
	case errors.Is(err, hubtrial.ErrNoAddress):
		return l.T(text.SettingsWindowSecretNoAddress)
	case errors.Is(err, secret.ErrNoStore):
		return l.T(text.SettingsWindowSecretNoStore)
	}
	return l.T(text.SecretState(string(secret.StateOf(err))))
}

// shortened keeps a text from outside to what a row can hold.
func shortened(s string) string {
	return displaytext.Line(s, 300)
}
