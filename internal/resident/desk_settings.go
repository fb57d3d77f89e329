package resident

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
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

// answerSettings does what the settings window asks for.
func answerSettings(r *Resident, q request) {
	if r.o.Demo != nil {
		return // its settings are gone with it
	}
	switch q.kind {
	case deskapi.KindSettingsAsk:
		s, _ := settings.Load(r.o.Dirs)
		q.reply(deskapi.KindSettingsState, r.settingsState(s))
		q.reply(deskapi.KindSettingsKept, r.secretsKept(q.ctx, s))
	case deskapi.KindSettingsSecret:
		var m deskapi.SettingsSecretAsk
		if q.decode(&m) {
			q.reply(deskapi.KindSettingsKept, r.secretKept(q.ctx, m.BaseURL, m.Client, m.Store))
		}
	case deskapi.KindSettingsSave:
		var m deskapi.SettingsSave
		if !q.decode(&m) {
			return
		}
		saved := r.saveSettings(q.ctx, m)
		q.reply(deskapi.KindSettingsSaved, saved)
		if saved.OK {
			r.settingsChanged(m.Secret != "" || len(m.Secrets) > 0)
			s, _ := settings.Load(r.o.Dirs)
			q.reply(deskapi.KindSettingsState, r.settingsState(s))
			q.reply(deskapi.KindSettingsKept, r.secretsKept(q.ctx, s))
		}
	case deskapi.KindSettingsTest:
		var m deskapi.SettingsTest
		if q.decode(&m) {
			r.testSettings(q, m)
		}
	case deskapi.KindSettingsFile:
		var m deskapi.SettingsFile
		if q.decode(&m) {
			q.reply(deskapi.KindSettingsOffice, r.openSetup(q.ctx, m))
		}
	case deskapi.KindSettingsTake:
		var m deskapi.SettingsTake
		if q.decode(&m) {
			r.takeSetup(q, m)
		}
	case deskapi.KindSettingsStop:
		r.trials.stop()
	}
}

// settingsChanged has what was just written take effect at once. Where a secret
// was set, the hub is asked anew although the address is the same.
func (r *Resident) settingsChanged(secrets bool) {
	select {
	case r.reread <- struct{}{}:
	default: // it is about to look anyway
	}
	if secrets && r.hubWatch != nil {
		r.hubWatch.settingsChanged()
	}
}

// settingsState is what the window shows, as it stands in the files now.
func (r *Resident) settingsState(s *settings.Settings) deskapi.SettingsState {
	l := Language(s)
	st := deskapi.SettingsState{More: map[string]int{}, LinesBy: s.LockedBy("line"), PhonesBy: s.LockedBy("softphone"),
		Support: s.Support.Contact, Path: settings.Path(r.o.Dirs), File: r.trials.offered()}
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
	phases := r.linkPhases()
	size = 0
	for _, p := range s.Softphones {
		one := deskapi.SettingsPhone{Kind: p.Kind, Name: p.Name, Address: p.Address, Extension: p.Extension, User: p.User, Phase: phases[linkName(p)], Why: r.facts.why(linkName(p))}
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
		st.Problems = append(st.Problems, problemLine(l, p))
	}
	for _, m := range r.monitors() {
		if m.Name != "" && len(st.Monitors) < 16 {
			st.Monitors = append(st.Monitors, cut(m.Name))
		}
	}
	if _, keys, _ := r.shown.get(); keys != health.HotkeyWorks && s.Card.Hotkey != "off" {
		st.Hotkey = l.T(text.PrefsHotkeyOff)
	}
	return st
}

// problemLine says what is wrong in a file. It never repeats the value.
func problemLine(l text.Language, p settings.Problem) string {
	file := settings.FileName
	if p.Source == settings.Policy {
		file = settings.PolicyFile
	}
	switch {
	case p.Kind == settings.Untrusted:
		return l.T(text.PrefsProblemUntrusted, file)
	case p.Key == "" && p.Line == 0:
		return l.T(text.PrefsProblemFile, file)
	case p.Key == "":
		return l.T(text.PrefsProblemLine, file, p.Line)
	case p.Kind == settings.UnknownKey:
		return l.T(text.PrefsProblemUnknown, file, p.Line, p.Key)
	}
	return l.T(text.PrefsProblemKey, file, p.Line, p.Key)
}

func (r *Resident) linkPhases() map[string]string {
	all := map[string]string{}
	for _, w := range r.WaysIn() {
		if w.Name != "" {
			all[w.Name] = linkPhases[w.Phase]
		}
	}
	return all
}

// secretsKept tells how the secrets that the settings need are kept.
func (r *Resident) secretsKept(ctx context.Context, s *settings.Settings) deskapi.SettingsSecret {
	k := r.secretKept(ctx, s.Hub.BaseURL, s.Hub.ClientID, s.Hub.SecretStore)
	k.Phones = map[string]string{}
	store, err := secret.Open(s.Hub.SecretStore, r.o.Dirs)
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
func (r *Resident) secretKept(ctx context.Context, base, client, kind string) deskapi.SettingsSecret {
	k := deskapi.SettingsSecret{BaseURL: base, Client: client, State: string(secret.NotSet)}
	ref, err := secret.Hub(base, client)
	if err != nil {
		return k
	}
	store, err := secret.Open(kind, r.o.Dirs)
	if err != nil {
		k.State = string(secret.StateOf(err))
		return k
	}
	ctx, cancel := context.WithTimeout(ctx, storeIn)
	defer cancel()
	k.State = string(secret.Look(ctx, store, ref))
	if on := secret.SetOn(r.o.Dirs, ref); !on.IsZero() {
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
			bad = append(bad, cut(c.Key))
		case c.Reset:
			changes[c.Key] = nil
		case err != nil:
			bad = append(bad, cut(c.Key))
		default:
			changes[c.Key] = v
		}
	}
	return changes, bad
}

// saveSettings keeps what the window asks to keep: all of it, or nothing.
func (r *Resident) saveSettings(ctx context.Context, m deskapi.SettingsSave) deskapi.SettingsSaved {
	a := deskapi.SettingsSaved{Seq: m.Seq}
	s, _ := settings.Load(r.o.Dirs)
	l := Language(s)
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
	if err := settings.Check(r.o.Dirs, changes); err != nil {
		return r.notSaved(a, l, err)
	}
	next, err := s.With(changes)
	if err != nil {
		return r.notSaved(a, l, err)
	}
	// The secrets first: an address without its secret would be a set-up that
	// fails, the other way round nothing has changed.
	if err := keepSecrets(ctx, r.o.Dirs, next, m); err != nil {
		a.Sentence = secretSentence(l, err)
		return a
	}
	if err := settings.Set(r.o.Dirs, changes); err != nil {
		return r.notSaved(a, l, err)
	}
	a.OK = true
	return a
}

// notSaved says why settings were not written.
func (r *Resident) notSaved(a deskapi.SettingsSaved, l text.Language, err error) deskapi.SettingsSaved {
	var wrong *settings.Error
	switch {
	case errors.As(err, &wrong) && wrong.Problem.Key != "":
		a.Bad = []string{wrong.Problem.Key}
	case errors.As(err, &wrong):
		a.Sentence = l.T(text.PrefsNotWritable, settings.FileName)
	case errors.Is(err, settings.ErrByHand):
		a.Sentence = l.T(text.PrefsByHand, settings.FileName)
	default:
		r.o.Log.Warn("settings were not saved", "why", err)
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
		_, err = secret.Renew(ctx, store, ref, value, func(ctx context.Context, before string) bool { return SecretWorks(ctx, dirs, next.Hub, before) })
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
	case errors.Is(err, secret.ErrEncoding), errors.Is(err, secret.ErrEmpty):
		return l.T(text.PrefsSecretBad)
	case errors.Is(err, secret.ErrNoStore):
		return l.T(text.PrefsSecretNoStore)
	}
	return l.T(text.SecretState(string(secret.StateOf(err))))
}
