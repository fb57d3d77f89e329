package prefs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/configure"
	"wiebelt/internal/contact"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/setup"
	"wiebelt/internal/text"
	"wiebelt/internal/trial"
)

// setupKept is how long a set-up file that was opened, its secret included, is
// held for somebody to take over.
const setupKept = 15 * time.Minute

// trials is what the settings window has under way: one test at a time, and one
// set-up file that was opened. Safe for concurrent use; the zero value is empty.
type trials struct {
	mu     sync.Mutex
	end    context.CancelFunc // of the test that runs
	number int                // of that test
	file   string             // a set-up file that somebody opened and no window has shown
	opened *openedSetup
	forget *time.Timer
}

// openedSetup is a set-up file as it was shown: what is taken over is this, not
// what stands in the file by then.
type openedSetup struct {
	seq     int
	office  setup.Office
	changes map[string]any
	hub     settings.Hub
}

// begin ends the test that runs and begins another one. done has to be called.
func (t *trials) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
	}
	t.number++
	t.end = cancel
	mine := t.number
	return ctx, func() {
		cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.number == mine {
			t.end = nil
		}
	}
}

// stop ends the test that runs and forgets the file that was opened.
func (t *trials) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
	}
	t.drop()
}

// drop forgets the file. t.mu is held.
func (t *trials) drop() {
	t.opened = nil
	if t.forget != nil {
		t.forget.Stop()
		t.forget = nil
	}
}

func (t *trials) hold(o *openedSetup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
	t.opened = o
	t.forget = time.AfterFunc(setupKept, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.opened == o {
			t.opened = nil
		}
	})
}

func (t *trials) held(seq int) *openedSetup {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.opened == nil || t.opened.seq != seq {
		return nil
	}
	return t.opened
}

// offer keeps a file for the window to show; offered gives it out once.
func (t *trials) offer(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.file = path
}

func (t *trials) offered() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	path := t.file
	t.file = ""
	return path
}

// testSettings tries the hub as it stands in the window, saved or not.
func (r *Prefs) testSettings(q ask.Request, m deskapi.SettingsTest) {
	end := deskapi.SettingsTested{Seq: m.Seq}
	s, _ := settings.Load(r.p.Dirs)
	l := configure.Language(s)
	changes, bad := changesOf(s, m.Changes)
	next, err := s.With(changes)
	if len(bad) > 0 || err != nil {
		end.Why = l.T(text.PrefsTestBad)
		q.Reply(deskapi.KindSettingsTested, end)
		return
	}
	if missing := next.Hub.Missing(); len(missing) > 0 {
		end.Why = l.T(text.PrefsTestMissing, l.T(text.SettingTitle(missing[0])))
		q.Reply(deskapi.KindSettingsTested, end)
		return
	}
	ctx, done := r.trials.begin(q.Ctx)
	defer done()
	value, why := r.secretToTry(ctx, l, next.Hub, m.Secret)
	if why != "" {
		end.Why = why
		q.Reply(deskapi.KindSettingsTested, end)
		return
	}
	var others []string
	for _, key := range []string{"hub.basic_auth_encoding", "hub.scope_parameter", "hub.contact_scopes", "hub.relation_number_field"} {
		if !s.Locked(key) {
			others = append(others, key)
		}
	}
	t := trial.Trial{Dirs: r.p.Dirs, Settings: next, Hub: next.Hub, Secret: value, Number: m.Number, Others: others}
	better, ok := t.Run(ctx, r.telling(ctx, q, l, m.Seq, next.Support.Contact))
	if ctx.Err() != nil {
		return // nobody waits for it any more
	}
	end.OK = ok
	for _, key := range others {
		if v, there := better[key]; there {
			end.Better = append(end.Better, deskapi.SettingsChange{Key: key, Text: v, Reset: v == ""})
		}
	}
	q.Reply(deskapi.KindSettingsTested, end)
}

// secretToTry is the secret that was typed, or else the one that is kept for
// exactly this address and client.
func (r *Prefs) secretToTry(ctx context.Context, l text.Language, h settings.Hub, typed string) (value, why string) {
	if typed != "" {
		value, err := secret.ReadSecret(strings.NewReader(typed))
		if err != nil {
			return "", secretSentence(l, err)
		}
		return value, ""
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return "", l.T(text.PrefsSecretNoAddress)
	}
	store, err := secret.Open(h.SecretStore, r.p.Dirs)
	if err != nil {
		return "", secretSentence(l, err)
	}
	ctx, cancel := context.WithTimeout(ctx, storeIn)
	defer cancel()
	value, err = store.Get(ctx, ref)
	if errors.Is(err, secret.ErrNotSet) {
		return "", l.T(text.PrefsSecretMissing)
	}
	if err != nil {
		return "", secretSentence(l, err)
	}
	return value, ""
}

// telling passes the steps of a test on to a window, in words.
func (r *Prefs) telling(ctx context.Context, q ask.Request, l text.Language, seq int, support string) func(trial.Step) {
	return func(st trial.Step) {
		if ctx.Err() == nil {
			step := stepInWords(l, st, support)
			step.Seq = seq
			q.Reply(deskapi.KindSettingsStep, step)
		}
	}
}

// stepInWords says how a step went, what to do and who does it.
func stepInWords(l text.Language, st trial.Step, support string) deskapi.SettingsStep {
	s := deskapi.SettingsStep{Step: st.Name, State: st.State}
	switch st.State {
	case trial.StateRunning:
	case trial.StateOff:
		s.Sentence = l.T(text.PrefsStepNoNumber)
		if st.TestHub {
			s.Sentence = l.T(text.PrefsStepTestHub)
		}
	case trial.StateOK:
		s.Sentence = l.T(text.PrefsStepOK(st.Name))
		if st.Name == trial.StepLookup && st.Found > 0 {
			s.Sentence = l.N(text.PrefsStepFound, st.Found, max(1, st.Took.Milliseconds()))
		}
	case trial.StateFailed:
		s.Said = st.Said
		if errors.Is(st.Err, trial.ErrNumber) {
			s.Sentence = l.T(text.PrefsStepBadNumber)
			return s
		}
		var known *contact.LookupError
		if !errors.As(st.Err, &known) { // nothing was sent
			s.Sentence = l.T(text.PrefsTestBad)
			s.Detail = ask.Cut(st.Err.Error())
			return s
		}
		s.Sentence, s.Detail = upper(l.T(text.Failure(string(known.Failure)))), ask.Cut(known.Detail)
		s.Do = l.T(text.FailureDo(string(known.Failure)))
		if known.Failure.NeedsAdmin() && support != "" {
			s.Do += " " + l.T(text.PrefsAsk, ask.Cut(support))
		}
	}
	return s
}

// upper begins a sentence.
func upper(s string) string {
	r := []rune(s)
	if len(r) > 0 {
		r[0] = []rune(strings.ToUpper(string(r[0])))[0]
	}
	return string(r)
}

// openSetup decrypts a set-up file and shows what it would change. It changes
// nothing.
func (r *Prefs) openSetup(ctx context.Context, m deskapi.SettingsFile) deskapi.SettingsOffice {
	a := deskapi.SettingsOffice{Seq: m.Seq}
	before, _ := settings.Load(r.p.Dirs)
	l := configure.Language(before)
	if !filepath.IsAbs(m.Path) {
		a.Why = l.T(text.PrefsFileGone)
		return a
	}
	b, err := trial.ReadSetup(m.Path)
	if err != nil {
		a.Why = l.T(text.PrefsFileGone)
		return a
	}
	office, err := setup.Read(bytes.NewReader(b), m.Passphrase)
	debug.FreeOSMemory() // one try takes 256 MB, and we run for weeks
	if ctx.Err() != nil {
		return a
	}
	var key *setup.KeyError
	switch {
	case errors.Is(err, setup.ErrPassphrase):
		a.Why = l.T(text.SetupWrong)
		return a
	case errors.As(err, &key):
		a.Why = l.T(text.SetupBadSetting, ask.Cut(key.Problem))
		return a
	case err != nil:
		a.Why = l.T(text.SetupDamaged)
		return a
	}
	changes := office.Changes()
	next, _, err := trial.After(before, changes)
	switch {
	case errors.Is(err, trial.ErrOtherHub):
		a.Why = l.T(text.SetupPolicy)
		return a
	case err != nil:
		a.Why = l.T(text.SetupDamaged)
		return a
	}
	a.Rows = setupRows(before, office, changes)
	a.Moved = before.Hub.BaseURL != "" && before.Hub.BaseURL != next.BaseURL
	r.trials.hold(&openedSetup{m.Seq, office, changes, next})
	return a
}

// setupRows shows side by side what is and what would be: addresses and client
// always, of the rest what differs.
func setupRows(before *settings.Settings, office setup.Office, changes map[string]any) (rows []deskapi.SettingsRow) {
	shown := func(s *settings.Settings, key string) string {
		var parts []string
		for _, v := range s.Values() {
			if (v.Key == key || strings.HasPrefix(v.Key, key+"[")) && v.Value != "" {
				parts = append(parts, v.Value)
			}
		}
		return ask.Cut(strings.Join(parts, ", "))
	}
	for _, key := range setup.Keys() {
		was, is := shown(before, key), shown(office.Settings, key)
		_, changed := changes[key]
		if slices.Contains([]string{"hub.base_url", "hub.hub_url", "hub.client_id"}, key) || changed && was != is {
			rows = append(rows, deskapi.SettingsRow{Key: key, Now: was, New: is})
		}
	}
	return rows
}

// takeSetup tests the set-up that is shown and takes it over if that went well.
func (r *Prefs) takeSetup(q ask.Request, m deskapi.SettingsTake) {
	a := deskapi.SettingsTaken{Seq: m.Seq}
	before, _ := settings.Load(r.p.Dirs)
	l := configure.Language(before)
	answer := func(why string) {
		a.Why, a.OK = why, why == ""
		q.Reply(deskapi.KindSettingsTaken, a)
	}
	o := r.trials.held(m.Seq)
	if o == nil {
		answer(l.T(text.PrefsFileAgain))
		return
	}
	ctx, done := r.trials.begin(q.Ctx)
	defer done()
	t := trial.Trial{Dirs: r.p.Dirs, Settings: before, Hub: o.hub, Secret: o.office.Secret, Number: m.Number}
	if !before.Locked("hub.basic_auth_encoding") {
		t.Others = []string{"hub.basic_auth_encoding"}
	}
	better, ok := t.Run(ctx, r.telling(ctx, q, l, m.Seq, cmp.Or(o.office.Settings.Support.Contact, before.Support.Contact)))
	switch {
	case ctx.Err() != nil:
		return
	case !ok:
		answer(l.T(text.SetupTestFailed))
		return
	}
	// The policy may have changed since the file was shown.
	if now, _, err := trial.After(before, o.changes); err != nil || now != o.hub {
		answer(l.T(text.PrefsFileAgain))
		return
	}
	changes, h := map[string]any{}, o.hub
	for k, v := range o.changes {
		changes[k] = v
	}
	if e := better["hub.basic_auth_encoding"]; e != "" {
		changes["hub.basic_auth_encoding"], h.BasicAuthEncoding = e, e
	}
	store, err := secret.Open(h.SecretStore, r.p.Dirs)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, storeIn)
		defer cancel()
		err = trial.TakeSetup(ctx, r.p.Dirs, store, h, o.office.Secret, changes)
	}
	var kept *trial.StoreError
	switch {
	case errors.As(err, &kept):
		answer(secretSentence(l, kept.Err))
	case err != nil:
		r.p.Log.Warn("a set-up file was not taken over", "why", err)
		answer(l.T(text.PrefsNotSaved))
	default:
		r.trials.stop()
		answer("")
		r.p.Applied(true)
		s, _ := settings.Load(r.p.Dirs)
		q.Reply(deskapi.KindSettingsState, r.settingsState(s))
		q.Reply(deskapi.KindSettingsKept, r.secretsKept(q.Ctx, s))
	}
}
