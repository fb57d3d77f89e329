// Package prefs answers the settings window: it tells what is set and by whom,
// keeps what is changed – all of it or nothing –, tries a hub before it is kept,
// and opens and takes over a set-up file.
//
// It owns the one test that runs and the one set-up file that is open, with its
// secret, for a quarter of an hour at most. It runs on the goroutines of requests.
// It reads and writes the settings' files itself and stands on trial, configure
// and ask; what takes effect in the resident, and what is known of links and
// screen, are functions that it is made with.
package prefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/configure"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/templates"
	"wiebelt/internal/text"
	"wiebelt/internal/trial"
)

// storeIn is how long the secret store is waited for on behalf of the settings
// window; it says within two seconds that it is locked.
const storeIn = 6 * time.Second

// What a message to the settings window may hold; it has 64 KiB.
const (
	maxSetting  = 6 << 10 // of one value
	maxSettings = 24 << 10
	maxArray    = 10 << 10 // of the lines, and of the links
)

// Params is what the settings window's answers are made with. The functions may be
// called from any goroutine.
type Params struct {
	Dirs     profile.Dirs
	Applied  func(secrets bool)     // has what was written take effect; secrets: one was set
	Links    func() map[string]Link // by their names
	Monitors func() []string        // names
	Hotkey   func() health.Hotkey   // whether card.hotkey works
	Log      *slog.Logger
}

// Link is how a link is doing.
type Link struct {
	Phase string // deskapi.LinkUp, …
	Why   string // it does not stand (link.Cause), if that is known
}

// Prefs answers the settings window. Its methods may be called from any goroutine.
type Prefs struct {
	p      Params
	trials trials
}

// New answers for a profile.
func New(p Params) *Prefs { return &Prefs{p: p} }

// Offer keeps a set-up file for the window to show when it asks next.
func (r *Prefs) Offer(path string) { r.trials.offer(path) }

// Answer does what the settings window asks for.
func (r *Prefs) Answer(q ask.Request) {
	switch q.Kind {
	case deskapi.KindSettingsAsk:
		s, _ := settings.Load(r.p.Dirs)
		q.Reply(deskapi.KindSettingsState, r.settingsState(s))
		q.Reply(deskapi.KindSettingsKept, r.secretsKept(q.Ctx, s))
	case deskapi.KindSettingsSecret:
		var m deskapi.SettingsSecretAsk
		if q.Decode(&m) {
			q.Reply(deskapi.KindSettingsKept, r.secretKept(q.Ctx, m.BaseURL, m.Client, m.Store))
		}
	case deskapi.KindSettingsSave:
		var m deskapi.SettingsSave
		if !q.Decode(&m) {
			return
		}
		saved := r.saveSettings(q.Ctx, m)
		q.Reply(deskapi.KindSettingsSaved, saved)
		if saved.OK {
			r.p.Applied(m.Secret != "" || len(m.Secrets) > 0)
			s, _ := settings.Load(r.p.Dirs)
			q.Reply(deskapi.KindSettingsState, r.settingsState(s))
			q.Reply(deskapi.KindSettingsKept, r.secretsKept(q.Ctx, s))
		}
	case deskapi.KindSettingsTest:
		var m deskapi.SettingsTest
		if q.Decode(&m) {
			r.testSettings(q, m)
		}
	case deskapi.KindSettingsFile:
		var m deskapi.SettingsFile
		if q.Decode(&m) {
			q.Reply(deskapi.KindSettingsOffice, r.openSetup(q.Ctx, m))
		}
	case deskapi.KindSettingsTake:
		var m deskapi.SettingsTake
		if q.Decode(&m) {
			r.takeSetup(q, m)
		}
	case deskapi.KindSettingsStop:
		r.trials.stop()
	}
}

// settingsState is what the window shows, as it stands in the files now.
func (r *Prefs) settingsState(s *settings.Settings) deskapi.SettingsState {
	l := configure.Language(s)
	st := deskapi.SettingsState{More: map[string]int{}, LinesBy: s.LockedBy("line"), PhonesBy: s.LockedBy("softphone"),
		Support: s.Support.Contact, Path: settings.Path(r.p.Dirs), File: r.trials.offered()}
	size := 0
	for _, v := range s.Values() {
		if !slices.ContainsFunc(settings.Keys(), func(e settings.Entry) bool { return e.Key == v.Key }) {
			continue
		}
		one := deskapi.SettingsValue{Key: v.Key, Text: v.Value, Source: v.Source.String(), By: s.LockedBy(v.Key)}
		if size += len(v.Value); len(v.Value) > maxSetting || size > maxSettings {
			one.Text = ""
			n := 1
			if list, ok := s.Get(v.Key).([]string); ok {
				n = len(list)
			}
			st.More[v.Key] = n
		}
		st.Values = append(st.Values, one)
	}
	size = 0
	for _, n := range s.Lines {
		size += len(n.Number) + len(n.Name) + 30
		st.Lines = append(st.Lines, deskapi.SettingsLine{Number: n.Number, Name: n.Name})
	}
	if size > maxArray {
		st.Lines, st.More["line"] = nil, len(s.Lines)
	}
	links := r.p.Links()
	size = 0
	for _, p := range s.Softphones {
		now := links[cmp.Or(p.Name, p.Address)]
		one := deskapi.SettingsPhone{Kind: p.Kind, Name: p.Name, Address: p.Address, Extension: p.Extension, User: p.User, Phase: now.Phase, Why: now.Why}
		size += len(fmt.Sprint(one)) + 80
		st.Phones = append(st.Phones, one)
	}
	if size > maxArray {
		st.Phones, st.More["softphone"] = nil, len(s.Softphones)
	}
	switch stage, days := health.Expiry(time.Now(), s.Hub.SecretExpires); stage {
	case health.ExpirySoon:
		st.Expiry = l.N(text.SecretExpires, days)
	case health.ExpiryPast:
		st.Expiry, st.Expired = l.T(text.SecretExpired), true
	}
	for _, p := range s.Problems()[:min(len(s.Problems()), 10)] {
		st.Problems = append(st.Problems, templates.Say(l, p))
	}
	for _, name := range r.p.Monitors() {
		if name != "" && len(st.Monitors) < 16 {
			st.Monitors = append(st.Monitors, ask.Cut(name))
		}
	}
	if r.p.Hotkey() != health.HotkeyWorks && s.Card.Hotkey != "off" {
		st.Hotkey = l.T(text.PrefsHotkeyOff)
	}
	return st
}

// secretsKept tells how the secrets that the settings need are kept.
func (r *Prefs) secretsKept(ctx context.Context, s *settings.Settings) deskapi.SettingsSecret {
	k := r.secretKept(ctx, s.Hub.BaseURL, s.Hub.ClientID, s.Hub.SecretStore)
	k.Phones = map[string]string{}
	store, err := secret.Open(s.Hub.SecretStore, r.p.Dirs)
	if err != nil {
		return k
	}
	ctx, cancel := context.WithTimeout(ctx, storeIn)
	defer cancel()
	for _, p := range s.Softphones {
		if !slices.Contains(settings.SoftphoneNeeds(p.Kind), settings.NeedsSecret) || len(k.Phones) > 50 {
			continue
		}
		k.Phones[p.Name] = string(secret.NotSet)
		if ref, err := secret.Softphone(p.Name, p.Address); err == nil {
			k.Phones[p.Name] = string(secret.Look(ctx, store, ref))
		}
	}
	return k
}

// secretKept tells how the secret of an address and client is kept.
func (r *Prefs) secretKept(ctx context.Context, base, client, kind string) deskapi.SettingsSecret {
	k := deskapi.SettingsSecret{BaseURL: base, Client: client, State: string(secret.NotSet)}
	ref, err := secret.Hub(base, client)
	if err != nil {
		return k
	}
	store, err := secret.Open(kind, r.p.Dirs)
	if err != nil {
		k.State = string(secret.StateOf(err))
		return k
	}
	ctx, cancel := context.WithTimeout(ctx, storeIn)
	defer cancel()
	k.State = string(secret.Look(ctx, store, ref))
	if on := secret.SetOn(r.p.Dirs, ref); !on.IsZero() {
		k.On = on.Format(time.DateOnly)
	}
	return k
}

// changesOf reads what the window wants to change. bad are the keys that are
// wrong, or not to be changed here.
func changesOf(s *settings.Settings, all []deskapi.SettingsChange) (changes map[string]any, bad []string) {
	changes = map[string]any{}
	for _, c := range all {
		v, err := settings.ParseText(c.Key, c.Text)
		switch {
		case s.Locked(c.Key):
			bad = append(bad, ask.Cut(c.Key))
		case c.Reset:
			changes[c.Key] = nil
		case err != nil:
			bad = append(bad, ask.Cut(c.Key))
		default:
			changes[c.Key] = v
		}
	}
	return changes, bad
}

// saveSettings keeps what the window asks to keep: all of it, or nothing.
func (r *Prefs) saveSettings(ctx context.Context, m deskapi.SettingsSave) deskapi.SettingsSaved {
	a := deskapi.SettingsSaved{Seq: m.Seq}
	s, _ := settings.Load(r.p.Dirs)
	l := configure.Language(s)
	changes, bad := changesOf(s, m.Changes)
	array := func(key string, v any) {
		if s.Locked(key) {
			bad = append(bad, key)
		}
		changes[key] = v
	}
	if m.Lines != nil {
		lines := []settings.Line{}
		for _, n := range *m.Lines {
			lines = append(lines, settings.Line{Number: strings.TrimSpace(n.Number), Name: strings.TrimSpace(n.Name)})
		}
		array("line", lines)
	}
	if m.Phones != nil {
		phones := []settings.Softphone{}
		for _, p := range *m.Phones {
			phones = append(phones, settings.Softphone{Kind: p.Kind, Name: p.Name, Address: p.Address, Extension: p.Extension, User: p.User})
		}
		array("softphone", phones)
	}
	if len(bad) > 0 {
		a.Bad = bad
		return a
	}
	if err := settings.Check(r.p.Dirs, changes); err != nil {
		return r.notSaved(a, l, err)
	}
	next, err := s.With(changes)
	if err != nil {
		return r.notSaved(a, l, err)
	}
	// The secrets first: an address without its secret would be a set-up that
	// fails, the other way round nothing has changed.
	if err := keepSecrets(ctx, r.p.Dirs, next, m); err != nil {
		a.Sentence = secretSentence(l, err)
		return a
	}
	if err := settings.Set(r.p.Dirs, changes); err != nil {
		return r.notSaved(a, l, err)
	}
	a.OK = true
	return a
}

// notSaved says why settings were not written.
func (r *Prefs) notSaved(a deskapi.SettingsSaved, l text.Language, err error) deskapi.SettingsSaved {
	var wrong *settings.Error
	switch {
	case errors.As(err, &wrong) && wrong.Problem.Key != "":
		a.Bad = []string{wrong.Problem.Key}
	case errors.As(err, &wrong):
		a.Sentence = l.T(text.PrefsNotWritable, settings.FileName)
	case errors.Is(err, settings.ErrByHand):
		a.Sentence = l.T(text.PrefsByHand, settings.FileName)
	default:
		r.p.Log.Warn("settings were not saved", "why", err)
		a.Sentence = l.T(text.PrefsNotSaved)
	}
	return a
}

// errWithoutAddress: a secret belongs to an address and a client.
var errWithoutAddress = errors.New("a secret without an address and a client")

// keepSecrets keeps the secrets of what the settings will be.
func keepSecrets(ctx context.Context, dirs profile.Dirs, next *settings.Settings, m deskapi.SettingsSave) error {
	if m.Secret == "" && len(m.Secrets) == 0 {
		return nil
	}
	if err := dirs.Make(); err != nil {
		return err
	}
	store, err := secret.Open(next.Hub.SecretStore, dirs)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeIn+5*time.Second) // an old secret may be tried
	defer cancel()
	if m.Secret != "" {
		value, err := secret.ReadSecret(strings.NewReader(m.Secret))
		if err != nil {
			return err
		}
		ref, err := secret.Hub(next.Hub.BaseURL, next.Hub.ClientID)
		if err != nil {
			return errWithoutAddress
		}
		_, err = secret.Renew(ctx, store, ref, value, func(ctx context.Context, before string) bool { return trial.SecretWorks(ctx, dirs, next.Hub, before) })
		if err != nil {
			return err
		}
		_ = secret.NoteSet(dirs, ref, time.Now())
	}
	for _, k := range m.Secrets[:min(len(m.Secrets), 100)] {
		for _, p := range next.Softphones {
			if p.Name != k.Name || k.Secret == "" {
				continue
			}
			value, err := secret.ReadSecret(strings.NewReader(k.Secret))
			if err != nil {
				return err
			}
			ref, err := secret.Softphone(p.Name, p.Address)
			if err != nil {
				return errWithoutAddress
			}
			if err := store.Set(ctx, ref, value); err != nil {
				return err
			}
			_ = secret.NoteSet(dirs, ref, time.Now())
		}
	}
	return nil
}

// secretSentence says what a secret store, or a secret itself, has against it.
func secretSentence(l text.Language, err error) string {
	switch {
	case errors.Is(err, errWithoutAddress):
		return l.T(text.PrefsSecretNoAddress)
	case errors.Is(err, secret.ErrNoStore):
		return l.T(text.PrefsSecretNoStore)
	}
	return l.T(text.SecretState(string(secret.StateOf(err))))
}
