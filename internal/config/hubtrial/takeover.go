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

// ReadSetup reads a set-up file. It reads nothing of one that is far too large.
func ReadSetup(path string) ([]byte, error) {
	b, err := filetrust.ReadPlain(path, 2<<20)
	if errors.Is(err, filetrust.ErrTooLarge) {
		return nil, nil // OpenSetup will report it
	}
	return b, err
}

// SetupFile is a set-up file as shown to the user: this content is applied, even if
// the file changes meanwhile.
type SetupFile struct {
	private.Data
	Rows       []Row        // what it changes
	LockedKeys []string     // keys that the policy overrides
	Hub        settings.Hub // the resulting one
	HubMoved   bool         // the hub's address changes
	Support    string       // the support contact
	WithoutHub bool         // a relay queries the hub: there is nothing to test
	office     setupfile.Office
	changes    map[string]any
}

// OpenSetup decrypts a set-up file read by ReadSetup. store is the store for secrets, ""
// for the one in the settings. The error is a sentence on what is wrong with the file, the
// passphrase or what the policy allows.
func OpenSetup(b []byte, passphrase, store string, before *settings.Settings) (*SetupFile, error) {
	office, err := setupfile.Read(b, passphrase)
	var key *setupfile.KeyError
	switch {
	case errors.Is(err, setupfile.ErrPassphrase):
		return nil, text.Errorf(text.SetupPassphraseWrong)
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
	h, left, err := ResultingHub(before, changes)
	switch _, refused := errors.AsType[*text.Error](err); {
	case refused:
		return nil, err
	case err != nil:
		return nil, text.Errorf(text.SetupDamaged)
	}
	return &SetupFile{Rows: rows(before, office, changes), LockedKeys: left, Hub: h, HubMoved: before.Hub.BaseURL != "" && before.Hub.BaseURL != h.BaseURL,
		Support: cmp.Or(office.Settings.Support.Contact, before.Support.Contact), WithoutHub: office.Secret == "", office: office, changes: changes}, nil
}

// keepRelay adds the link to a relay that this computer has joined to the file's links,
// which have none, unless the office has another relay now.
func keepRelay(office *settings.Settings, links []settings.Softphone) {
	if office.Source("softphone") == settings.Default {
		return // they stay unchanged
	}
	for _, l := range links {
		if l.Kind == registry.Relay && (office.Relay.URL == "" || office.Relay.URL == strings.TrimRight(l.Address, "/")) {
			office.Softphones = append(office.Softphones, l)
		}
	}
}

// ErrNotPassed reports that the hub of a set-up file failed its test, ErrPolicyChanged that
// the policy changed since the file was shown. Nothing was applied.
var ErrNotPassed, ErrPolicyChanged = text.Errorf(text.SetupTestFailed), text.Errorf(text.SettingsWindowFileAgain)

// saveTimeout limits how long the stores may take.
const saveTimeout = 15 * time.Second

// Apply tests the file's hub, joins the relay with its code (if it has them), and
// then saves its settings and secrets; say receives each step of the test. number is
// looked up in it, "" skips that; open opens the store of a kind, nil means secret.Open.
// encoding is the credential encoding that the hub accepted, "" for the file's. Errors are
// ErrNotPassed, ErrPolicyChanged and those of Join.
func (f *SetupFile) Apply(ctx context.Context, d profile.Dirs, number string, open func(kind string) (secret.Store, error), say func(Step)) (encoding string, err error) {
	const key = "hub.basic_auth_encoding"
	before, _ := settings.Load(d)
	var better map[string]string
	if !f.WithoutHub {
		t := Trial{Dirs: d, Settings: before, Hub: f.Hub, Secret: f.office.Secret, Number: number}
		if !before.Locked(key) {
			t.KeysToVary = []string{key}
		}
		var ok bool
		if better, ok = t.Run(ctx, say); !ok {
			return "", ErrNotPassed
		}
	}
	changes := maps.Clone(f.changes)
	if h, _, err := ResultingHub(before, changes); err != nil || h != f.Hub {
		return "", ErrPolicyChanged
	}
	if encoding = better[key]; encoding != "" {
		changes[key] = encoding
	}
	w := SaveRequest{Changes: changes, Secret: f.office.Secret, SecretVerified: true, Open: open}
	if f.office.Code != "" {
		if w, err = w.join(ctx, d, before, Relay{Code: f.office.Code}); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	_, err = Save(ctx, d, before, w)
	return encoding, err
}

// Row is a setting's current and new value, as text; for a list all values.
type Row struct{ Key, Current, New string }

// rows returns what a set-up file would change, side by side: addresses and client
// always, the rest if different.
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
		if slices.Contains([]string{"hub.base_url", "hub.hub_url", "hub.client_id"}, key) || changed && r.Current != r.New {
			all = append(all, r)
		}
	}
	return all
}

// ResultingHub returns the hub that results from changes that come with a secret for their address
// and client. Keys locked by the policy are removed from changes and stay as they are;
// left names those that would have changed. If they include the address, the client or the
// store, the secret must not be sent or stored anywhere: a *text.Error says so.
func ResultingHub(before *settings.Settings, changes map[string]any) (h settings.Hub, left []string, err error) {
	const store = "hub.secret_store"
	left = before.RemoveLocked(changes)
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
