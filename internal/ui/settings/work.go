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
	secretTimeout = 6 * time.Second  // for a secret store, which reports within two that it is locked
	saveTimeout   = 15 * time.Second // includes trying an old secret
)

// backgroundWork holds the cancel functions of work running off the window's thread.
type backgroundWork struct{ load, secrets, save, test, file context.CancelFunc }

func newBackgroundWork() *backgroundWork {
	none := func() {}
	return &backgroundWork{none, none, none, none, none}
}

func (u *backgroundWork) cancelAll() {
	for _, end := range []context.CancelFunc{u.load, u.secrets, u.save, u.test, u.file} {
		end()
	}
}

// current returns the window that stands in this one's place: it may have been rebuilt, in
// another language.
func (w *window) current() *window {
	for w.successor != nil {
		w = w.successor
	}
	return w
}

// runInBackground does something off the UI thread. Results go to the current window.
func (w *window) runInBackground(do func(ctx context.Context, post func(func(*window)))) (end context.CancelFunc) {
	return w.host.Work(func(ctx context.Context, post func(func())) {
		do(ctx, func(f func(*window)) {
			post(func() { f(w.current()) })
		})
	})
}

type state struct {
	set      *settings.Settings
	values   map[string]settings.Value
	problems []string // in the files, one line each
	expiry   string   // a sentence for administrators, "" if there is nothing to say
}

const maxProblems = 10

func stateOf(l text.Language, s *settings.Settings, now time.Time) state {
	st := state{set: s, values: map[string]settings.Value{}}
	for _, v := range s.Values() {
		st.values[v.Key] = v
	}
	for _, p := range s.Problems()[:min(len(s.Problems()), maxProblems)] {
		st.problems = append(st.problems, templates.DescribeProblem(l, p))
	}
	switch stage, days := health.Expiry(now, s.Hub.SecretExpires); stage {
	case health.ExpirySoon:
		st.expiry = l.N(text.SecretExpires, days)
	case health.ExpiryPast:
		st.expiry = l.T(text.SecretExpired)
	}
	return st
}

// keptSecrets is how secrets are stored, never their values.
type keptSecrets struct {
	base, client string
	state        secret.State            // of the hub's secret, for that address and client
	storedAt     time.Time               // when it was set, zero if unknown
	links        map[string]secret.State // by name
}

// load reads the effective settings, and if they have changed, how secrets are stored.
func (w *window) load() {
	w.background.load()
	host, l := w.host, w.host.Lang
	w.background.load = w.runInBackground(func(_ context.Context, post func(func(*window))) {
		st := stateOf(l, host.Settings(), host.Now())
		post(func(w *window) {
			if w.setState(st) {
				w.loadSecrets()
			}
		})
	})
}

// loadSecrets looks up the secret of the window's address and client, and those of the links.
func (w *window) loadSecrets() {
	w.background.secrets()
	s, dirs := *w.state.set, w.host.Dirs
	s.Hub.BaseURL, s.Hub.ClientID, s.Hub.SecretStore = w.currentText("hub.base_url"), w.currentText("hub.client_id"),
		w.currentText("hub.secret_store")
	w.background.secrets = w.runInBackground(func(ctx context.Context, post func(func(*window))) {
		ctx, cancel := context.WithTimeout(ctx, secretTimeout)
		defer cancel()
		k := keptSecrets{base: s.Hub.BaseURL, client: s.Hub.ClientID}
		k.state, k.links = hubtrial.SecretStates(ctx, dirs, &s)
		if ref, err := secret.HubRef(k.base, k.client); err == nil {
			k.storedAt = secret.StoredDate(dirs, ref)
		} else {
			k.state = secret.NotSet
		}
		post(func(w *window) { w.setSecrets(k) })
	})
}

// notSaved returns why nothing was saved, and which keys are the cause.
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
	case errors.Is(err, settings.ErrNotEditable):
		return nil, l.T(text.SettingsWindowByHand, settings.FileName)
	case errors.As(err, &store), errors.Is(err, hubtrial.ErrNoAddress):
		return nil, secretSentence(l, err)
	}
	w.host.Log.Warn("settings were not saved", "why", err)
	return nil, l.T(text.SettingsWindowNotSaved)
}

// secretSentence describes an error of a secret store, or of a secret itself.
func secretSentence(l text.Language, err error) string {
	switch {
	case errors.Is(err, hubtrial.ErrNoAddress):
		return l.T(text.SettingsWindowSecretNoAddress)
	case errors.Is(err, secret.ErrNoStore):
		return l.T(text.SettingsWindowSecretNoStore)
	}
	return l.T(text.SecretState(string(secret.StateOf(err))))
}

func shortened(s string) string {
	return displaytext.Truncate(s, 300)
}
