package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"wiebelt/internal/contact"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/configure"
	"wiebelt/internal/resident/trial"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/setup"
	"wiebelt/internal/text"
)

// exportOffice writes the set-up file.
func (c *provisionCmd) exportOffice(e *env, d profile.Dirs, s *settings.Settings) error {
	l := e.lang()
	fail := func(key text.Key, args ...any) error { return &exitError{exitFailed, l.T(key, args...)} }
	if missing := s.Hub.Missing(); len(missing) > 0 {
		return fmt.Errorf("%w: %s is missing", configure.ErrNotSetUp, missing[0])
	}
	if _, err := os.Lstat(c.Export); err == nil {
		return fail(text.SetupFileIsThere)
	}
	ref, err := secret.Hub(s.Hub.BaseURL, s.Hub.ClientID)
	if err != nil {
		return err
	}
	store, err := secret.Open(s.Hub.SecretStore, d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, storeTime)
	defer cancel()
	value, next, err := secret.Pair(ctx, store, ref)
	switch {
	case errors.Is(err, secret.ErrNotSet):
		return fail(text.SetupNoSecret)
	case err != nil:
		return secretError(l, err)
	case next == "":
	case value == "" || trial.SecretWorks(ctx, d, s.Hub, next):
		value = next
	default: // nobody could take the file over with one that the hub does not take yet
		fmt.Fprintln(e.out, l.T(text.SetupOldSecret))
	}
	phrase, err := c.passphrase(e, l, true)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = setup.Write(&b, phrase, s, value)
	switch {
	case errors.Is(err, setup.ErrShort):
		return fail(text.SetupShort, setup.MinPassphrase)
	case err != nil:
		return err
	}
	err = profile.CreateFile(c.Export, b.Bytes(), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fail(text.SetupFileIsThere)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out, l.T(text.SetupWritten))
	return nil
}

// importOffice takes a set-up file over: nothing is changed before it was
// understood, allowed, shown, agreed to and tested.
func (c *provisionCmd) importOffice(e *env, d profile.Dirs, before *settings.Settings) error {
	l := e.lang()
	fail := func(key text.Key, args ...any) error { return &exitError{exitFailed, l.T(key, args...)} }
	b, err := trial.ReadSetup(c.Import)
	if err != nil {
		return err
	}
	phrase, err := c.passphrase(e, l, false)
	if err != nil {
		return err
	}
	office, err := setup.Read(bytes.NewReader(b), phrase)
	var key *setup.KeyError
	switch {
	case errors.Is(err, setup.ErrPassphrase):
		return fail(text.SetupWrong)
	case errors.As(err, &key):
		return fail(text.SetupBadSetting, key.Problem)
	case err != nil:
		return fail(text.SetupDamaged)
	}
	changes := office.Changes()
	next, refused := trial.AfterSetup(before, office, changes)
	if c.SecretStore != "" && c.SecretStore != next.SecretStore {
		if before.Locked("hub.secret_store") {
			refused = append(refused, "hub.secret_store")
		}
		next.SecretStore, changes["hub.secret_store"] = c.SecretStore, c.SecretStore
	}
	if len(refused) > 0 {
		return fail(text.SetupPolicy, strings.Join(refused, ", "))
	}
	if err := compare(e.out, l, before, office, changes); err != nil {
		return err
	}
	if before.Hub.BaseURL != "" && before.Hub.BaseURL != next.BaseURL {
		fmt.Fprintln(e.out, l.T(text.SetupMoved))
	}
	if !c.PassphraseStdin {
		fmt.Fprint(e.out, l.T(text.SetupConfirm))
		if !e.agreed(e.in) {
			return fail(text.SetupCancelled)
		}
	}
	encoding, ok := c.test(e, d, l, before, next, office.Secret)
	if !ok {
		return fail(text.SetupTestFailed)
	}
	if encoding != next.BasicAuthEncoding {
		if before.Locked("hub.basic_auth_encoding") {
			return fail(text.SetupTestFailed)
		}
		next.BasicAuthEncoding = encoding
		changes["hub.basic_auth_encoding"] = encoding
		fmt.Fprintln(e.out, l.T(text.SetupEncoding))
	}
	if err := c.take(e, d, before, next, office.Secret, changes); err != nil {
		return err
	}
	fmt.Fprintln(e.out, l.T(text.SetupTaken))
	c.sayLinks(e, d, l)
	return nil
}

// sayLinks names the links that lack their secret: a set-up file carries the hub's
// only, since those of an exchange are one for each extension.
func (c *provisionCmd) sayLinks(e *env, d profile.Dirs, l text.Language) {
	s, _ := settings.Load(d) // what is wrong in it was said before
	store, err := c.open(d, s.Hub.SecretStore)
	if err != nil {
		return // it was just written to
	}
	ctx, cancel := context.WithTimeout(e.ctx, storeTime)
	defer cancel()
	for _, p := range s.Softphones {
		if !slices.Contains(settings.SoftphoneNeeds(p.Kind), settings.NeedsSecret) {
			continue
		}
		ref, err := secret.Softphone(p.Name, p.Address)
		if err == nil {
			_, err = store.Get(ctx, ref)
		}
		if errors.Is(err, secret.ErrNotSet) {
			fmt.Fprintln(e.out, l.T(text.SetupLinkSecret, oneLine(cmp.Or(p.Name, p.Address))))
		}
	}
}

// compare shows side by side what is and what would be. Addresses and client are
// always shown, of the rest what differs.
func compare(w io.Writer, l text.Language, before *settings.Settings, office setup.Office, changes map[string]any) error {
	always := []string{"hub.base_url", "hub.hub_url", "hub.client_id"}
	shown := func(s *settings.Settings, key string) string {
		var parts []string
		for _, v := range s.Values() {
			if v.Key == key || strings.HasPrefix(v.Key, key+"[") {
				parts = append(parts, v.Value)
			}
		}
		if len(strings.Join(parts, "")) == 0 {
			return l.T(text.SetupNothing)
		}
		return oneLine(strings.Join(parts, ", "))
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "%s\t%s\t%s\n", l.T(text.SetupSetting), l.T(text.SetupNow), l.T(text.SetupNew))
	for _, key := range setup.Keys() {
		was, is := shown(before, key), shown(office.Settings, key)
		_, changed := changes[key]
		if slices.Contains(always, key) || changed && was != is {
			fmt.Fprintf(t, "%s\t%s\t%s\n", key, was, is)
		}
	}
	return t.Flush()
}

// test runs through what a look-up needs, in its order, and says how each step
// ended. encoding is the one that the hub took.
func (c *provisionCmd) test(e *env, d profile.Dirs, l text.Language, s *settings.Settings, h settings.Hub, value string) (encoding string, ok bool) {
	t := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	defer t.Flush()
	try := trial.Trial{Dirs: d, Settings: s, Hub: h, Secret: value, Number: c.TestNumber, Others: []string{"hub.basic_auth_encoding"}}
	better, ok := try.Run(e.ctx, func(st trial.Step) {
		why := ""
		switch {
		case st.State == trial.StateRunning:
			return
		case errors.Is(st.Err, trial.ErrNumber):
			why = "--test-number"
		case st.Err != nil && contact.FailureOf(st.Err) == contact.HubError && detail(st.Err) == "":
			why = st.Err.Error() // nothing was sent
		case st.Err != nil:
			why = l.T(text.Failure(string(contact.FailureOf(st.Err)))) + detail(st.Err)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", l.T(text.SetupStep(st.Name)), l.T(text.SetupState(st.State)), oneLine(why))
	})
	return cmp.Or(better["hub.basic_auth_encoding"], h.BasicAuthEncoding), ok
}

// take puts a tested set-up in place.
func (c *provisionCmd) take(e *env, d profile.Dirs, before *settings.Settings, h settings.Hub, value string, changes map[string]any) error {
	store, err := c.open(d, h.SecretStore)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, storeTime)
	defer cancel()
	err = trial.TakeSetup(ctx, d, store, h, value, changes)
	var kept *trial.StoreError
	if errors.As(err, &kept) {
		return secretError(configure.Language(before), kept.Err)
	}
	return err
}

// passphrase reads the passphrase, twice for a new file if somebody types it.
func (c *provisionCmd) passphrase(e *env, l text.Language, twice bool) (string, error) {
	if c.PassphraseStdin {
		return e.secret(l, text.SetupPassphrase)
	}
	if e.terminal() == nil {
		return "", &exitError{exitUsage, "no terminal to ask for the passphrase on; give it on standard input with --passphrase-stdin"}
	}
	s, err := e.secret(l, text.SetupPassphrase)
	if err != nil || !twice {
		return s, err
	}
	again, err := e.secret(l, text.SetupAgain)
	if err == nil && again != s {
		err = &exitError{exitFailed, l.T(text.SetupDiffers)}
	}
	return s, err
}
