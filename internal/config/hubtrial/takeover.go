package hubtrial

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/text"
)

// ReadSetup reads a set-up file, at most a little more than such a file can be.
func ReadSetup(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("the set-up file is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 2<<20))
}

// OpenSetup decrypts a set-up file that ReadSetup has read; the error says what is
// wrong with it or the passphrase.
func OpenSetup(b []byte, passphrase string) (setupfile.Office, error) {
	office, err := setupfile.Read(bytes.NewReader(b), passphrase)
	var key *setupfile.KeyError
	switch {
	case errors.Is(err, setupfile.ErrPassphrase):
		err = text.Errorf(text.SetupWrong)
	case errors.As(err, &key):
		err = text.Errorf(text.SetupBadSetting, key.Problem)
	case err != nil:
		err = text.Errorf(text.SetupDamaged)
	}
	return office, err
}

// Row is a setting as it is and as it would be, as text; of a list every value.
type Row struct{ Key, Now, New string }

// Rows are what a set-up file would change, side by side: addresses and client
// always, of the rest what differs.
func Rows(before *settings.Settings, office setupfile.Office, changes map[string]any) (rows []Row) {
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
			rows = append(rows, r)
		}
	}
	return rows
}

// ErrOtherHub: the policy decides which hub this computer asks, and the secret is
// for another one. It is sent nowhere and kept nowhere.
var ErrOtherHub = errors.New("the policy sets another hub")

// After is the hub as it would be with changes that come with a secret for the
// address and client in them. What the policy locks is taken out of changes and
// stays; left names what of it was to be otherwise. ErrOtherHub comes back where
// that is the address or the client.
func After(before *settings.Settings, changes map[string]any) (h settings.Hub, left []string, err error) {
	left = before.Unlocked(changes)
	if slices.Contains(left, "hub.base_url") || slices.Contains(left, "hub.client_id") {
		return before.Hub, left, ErrOtherHub
	}
	next, err := before.With(changes)
	if err != nil {
		return before.Hub, left, err
	}
	return next.Hub, left, nil
}
