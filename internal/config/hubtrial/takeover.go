package hubtrial

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/core/private"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// ReadSetup reads a set-up file, and nothing of one that is far too large to be one.
func ReadSetup(path string) ([]byte, error) {
	b, err := filetrust.ReadPlain(path, 2<<20)
	if errors.Is(err, filetrust.ErrTooLarge) {
		return nil, nil // as OpenSetup will say
	}
	return b, err
}

// SetupFile is a set-up file as somebody is shown it: what is taken over is this, not
// what stands in the file by then.
type SetupFile struct {
	private.Data
	Rows       []Row        // what it changes
	Left       []string     // keys that the policy decides otherwise
	Hub        settings.Hub // as it will be
	Moved      bool         // the hub's address becomes another one
	Support    string       // who helps
	WithoutHub bool         // a relay asks it: there is nothing to test
	office     setupfile.Office
	changes    map[string]any
}

// OpenSetup decrypts a set-up file that ReadSetup has read. store is where secrets are
// to be kept, "" for where the settings say. The error is a sentence on what is wrong
// with the file, the passphrase or what the policy allows.
func OpenSetup(b []byte, passphrase, store string, before *settings.Settings) (*SetupFile, error) {
	office, err := setupfile.Read(b, passphrase)
	var key *setupfile.KeyError
	switch {
	case errors.Is(err, setupfile.ErrPassphrase):
		return nil, text.Errorf(text.SetupWrong)
	case errors.As(err, &key):
		return nil, text.Errorf(text.SetupBadSetting, key.Problem)
	case err != nil:
		return nil, text.Errorf(text.SetupDamaged)
	}
	keepRelay(office.Settings, before.Softphones)
	changes := office.Changes()
	if store != "" {
		changes["hub.secret_store"] = store
	}
	h, left, err := After(before, changes)
	switch _, refused := errors.AsType[*text.Error](err); {
	case refused:
		return nil, err
	case err != nil:
		return nil, text.Errorf(text.SetupDamaged)
	}
	return &SetupFile{Rows: rows(before, office, changes), Left: left, Hub: h, Moved: before.Hub.BaseURL != "" && before.Hub.BaseURL != h.BaseURL,
		Support: cmp.Or(office.Settings.Support.Contact, before.Support.Contact), WithoutHub: office.Secret == "", office: office, changes: changes}, nil
}

// keepRelay puts the link to a relay that this computer has joined beside those of the
// file, which has none, unless the office has another relay now.
func keepRelay(office *settings.Settings, links []settings.Softphone) {
	if office.Source("softphone") == settings.Default {
		return // they stay as they are
	}
	for _, l := range links {
		if l.Kind == registry.Relay && (office.Relay.URL == "" || office.Relay.URL == strings.TrimRight(l.Address, "/")) {
			office.Softphones = append(office.Softphones, l)
		}
	}
}

// ErrNotPassed and ErrPolicyChanged: the hub of a set-up file failed its test, and the
// policy changed since the file was shown. Nothing was taken over.
var ErrNotPassed, ErrPolicyChanged = text.Errorf(text.SetupTestFailed), text.Errorf(text.SettingsWindowFileAgain)

// saveIn is how long the stores may take.
const saveIn = 15 * time.Second

// TakeOver tests the hub of the file, joins the relay with its code, where it has
// them, and then puts its settings and secrets in place; say is told of each step of
// the test. number is looked up in it, "" leaves that out; open opens the store of a
// kind, nil for secret.Open. encoding is the one of the credentials that the hub took,
// "" for that of the file. Errors are ErrNotPassed, ErrPolicyChanged and those of Join.
func (f *SetupFile) TakeOver(ctx context.Context, d profile.Dirs, number string, open func(kind string) (secret.Store, error), say func(Step)) (encoding string, err error) {
	const key = "hub.basic_auth_encoding"
	before, _ := settings.Load(d)
	var better map[string]string
	if !f.WithoutHub {
		t := Trial{Dirs: d, Settings: before, Hub: f.Hub, Secret: f.office.Secret, Number: number}
		if !before.Locked(key) {
			t.Others = []string{key}
		}
		var ok bool
		if better, ok = t.Run(ctx, say); !ok {
			return "", ErrNotPassed
		}
	}
	changes := maps.Clone(f.changes)
	if h, _, err := After(before, changes); err != nil || h != f.Hub {
		return "", ErrPolicyChanged
	}
	if encoding = better[key]; encoding != "" {
		changes[key] = encoding
	}
	w := Wanted{Changes: changes, Secret: f.office.Secret, Works: true, Open: open}
	if f.office.Code != "" {
		if w, err = w.join(ctx, d, before, Relay{Code: f.office.Code}); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, saveIn)
	defer cancel()
	_, err = Save(ctx, d, before, w)
	return encoding, err
}

// Row is a setting as it is and as it would be, as text; of a list every value.
type Row struct{ Key, Now, New string }

// rows are what a set-up file would change, side by side: addresses and client
// always, of the rest what differs.
func rows(before *settings.Settings, office setupfile.Office, changes map[string]any) (all []Row) {
	shown := func(s *settings.Settings, key string) string {
		var parts []string
		for _, v := range s.Values() {
			if (v.Key == key || strings.HasPrefix(v.Key, key+"[")) && v.Value != "" {
				parts = append(parts, v.Value)
			}
		}
		return strings.Join(parts, ", ")
	}
	for _, key := range setupfile.Keys() {
		r := Row{key, shown(before, key), shown(office.Settings, key)}
		_, changed := changes[key]
		if slices.Contains([]string{"hub.base_url", "hub.hub_url", "hub.client_id"}, key) || changed && r.Now != r.New {
			all = append(all, r)
		}
	}
	return all
}

// After is the hub as it would be with changes that come with a secret for the
// address and client in them. What the policy locks is taken out of changes and
// stays; left names what of it was to be otherwise. Where that is the address, the
// client or the store, the secret is sent nowhere and kept nowhere: a *text.Error
// says so.
func After(before *settings.Settings, changes map[string]any) (h settings.Hub, left []string, err error) {
	const store = "hub.secret_store"
	left = before.Unlocked(changes)
	switch {
	case slices.Contains(left, "hub.base_url"), slices.Contains(left, "hub.client_id"):
		return before.Hub, left, text.Errorf(text.SetupPolicy)
	case slices.Contains(left, store):
		return before.Hub, left, text.Errorf(text.AdminLocked, store, before.LockedBy(store))
	}
	next, err := before.With(changes)
	if err != nil {
		return before.Hub, left, err
	}
	return next.Hub, left, nil
}
