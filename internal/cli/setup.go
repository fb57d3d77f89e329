package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"wiebelt/internal/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/phone"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/setup"
	"wiebelt/internal/text"
)

// exportOffice writes the set-up file.
func (c *provisionCmd) exportOffice(e *env, d profile.Dirs, s *settings.Settings) error {
	l := resident.Language(s)
	fail := func(key text.Key, args ...any) error { return &exitError{exitFailed, l.T(key, args...)} }
	if missing := s.Hub.Missing(); len(missing) > 0 {
		return fmt.Errorf("%w: %s is missing", resident.ErrNotSetUp, missing[0])
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
	value, err := store.Get(ctx, ref)
	switch {
	case errors.Is(err, secret.ErrNotSet):
		return fail(text.SetupNoSecret)
	case err != nil:
		return secretError(s, err)
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
	l := resident.Language(before)
	fail := func(key text.Key, args ...any) error { return &exitError{exitFailed, l.T(key, args...)} }
	b, err := readSetup(c.Import)
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
	next, refused := after(before, office, changes)
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
		if !strings.EqualFold(strings.TrimSpace(e.line()), l.T(text.SetupConfirmYes)) {
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
	return nil
}

// readSetup reads the file, at most a little more than such a file can be.
func readSetup(path string) ([]byte, error) {
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

// after is the hub as it would be, and what the policy forbids of it. What the
// policy sets is taken out of changes.
func after(before *settings.Settings, office setup.Office, changes map[string]any) (h settings.Hub, refused []string) {
	h = before.Hub
	if before.Managed("hub") {
		for _, key := range setup.Keys() {
			if !strings.HasPrefix(key, "hub.") {
				continue
			}
			delete(changes, key)
			if !reflect.DeepEqual(before.Get(key), office.Settings.Get(key)) {
				refused = append(refused, key)
			}
		}
	} else {
		o := office.Settings.Hub
		o.SecretStore, o.Proxy, o.ExtraCAFile, o.LookupTimeout, o.OpenAtStart = h.SecretStore, h.Proxy, h.ExtraCAFile, h.LookupTimeout, h.OpenAtStart
		h = o
	}
	for key := range changes {
		if before.Source(key) == settings.Policy {
			delete(changes, key)
		}
	}
	return h, refused
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
	say := func(step, state, why string) {
		fmt.Fprintf(t, "%s\t%s\t%s\n", l.T(text.SetupStep(step)), l.T(text.SetupState(state)), oneLine(why))
	}
	failed := func(step string, err error) (string, bool) {
		say(step, "failed", l.T(text.Failure(string(contact.FailureOf(err))))+detail(err))
		return h.BasicAuthEncoding, false
	}
	client, err := testClient(d, h, value)
	if err != nil {
		say("name", "failed", err.Error())
		return h.BasicAuthEncoding, false
	}
	defer func() { client.Close() }()
	ctx, cancel := context.WithTimeout(e.ctx, time.Minute)
	defer cancel()

	reached, err := client.Reach(ctx)
	if err != nil && !reached.Resolved {
		return failed("name", err)
	}
	say("name", "ok", "")
	if err != nil {
		return failed("tls", err)
	}
	say("tls", map[bool]string{true: "off", false: "ok"}[reached.TestHub], "")

	_, err = client.Check(ctx)
	if contact.FailureOf(err) == contact.CredentialsRefused && punctuated(h.ClientID+value) {
		other := h
		other.BasicAuthEncoding = map[string]string{"plain": "rfc6749", "rfc6749": "plain"}[h.BasicAuthEncoding]
		if again, e := testClient(d, other, value); e == nil {
			if _, e := again.Check(ctx); e == nil {
				client.Close()
				client, h, err = again, other, nil
			} else {
				again.Close()
			}
		}
	}
	if err != nil && contact.FailureOf(err) != contact.ScopeRefused {
		return failed("token", err)
	}
	say("token", "ok", "")
	if err == nil {
		_, _, err = client.CheckDelivery(ctx)
		if h.Intermediary == "" && contact.FailureOf(err) == contact.ScopeRefused {
			err = nil // nothing is delivered here
		}
	}
	if err != nil {
		return failed("scopes", err)
	}
	say("scopes", "ok", "")

	if c.TestNumber == "" {
		say("lookup", "off", "")
		return h.BasicAuthEncoding, true
	}
	rules, err := resident.Rules(s)
	if err != nil {
		say("lookup", "failed", err.Error())
		return h.BasicAuthEncoding, false
	}
	n := rules.Parse(c.TestNumber, "")
	if n.Kind != phone.External {
		say("lookup", "failed", "--test-number")
		return h.BasicAuthEncoding, false
	}
	if _, err := client.Lookup(ctx, n.Query()); err != nil {
		return failed("lookup", err)
	}
	say("lookup", "ok", "")
	return h.BasicAuthEncoding, true
}

func testClient(d profile.Dirs, h settings.Hub, value string) (*hub.Client, error) {
	cfg, _, err := resident.HubConfig(d, h, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	cfg.Secret, cfg.SecretAnswered = func(context.Context) (string, error) { return value, nil }, nil
	return hub.New(cfg)
}

// punctuated reports whether the two ways to write credentials differ for s.
func punctuated(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
	})
}

// take puts a tested set-up in place: the secret, which has just worked, and the
// settings. If the settings cannot be written, the secret is put back.
func (c *provisionCmd) take(e *env, d profile.Dirs, before *settings.Settings, h settings.Hub, value string, changes map[string]any) error {
	if err := settings.Check(d, changes); err != nil {
		return err
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return err
	}
	store, err := c.open(d, h.SecretStore)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, storeTime)
	defer cancel()
	old, err := store.Get(ctx, ref)
	if err != nil {
		old = ""
	}
	if old != value {
		if err := store.Set(ctx, ref, value); err != nil {
			return secretError(before, err)
		}
	}
	if err := d.Make(); err != nil {
		return err
	}
	err = settings.Set(d, changes)
	if err == nil || old == value {
		return err
	}
	if old == "" {
		return errors.Join(err, store.Delete(ctx, ref))
	}
	return errors.Join(err, store.Set(ctx, ref, old))
}

// passphrase reads the passphrase: from a terminal without showing it, twice for
// a new file, or the first line of standard input.
func (c *provisionCmd) passphrase(e *env, l text.Language, twice bool) (string, error) {
	if c.PassphraseStdin {
		s, err := secret.ReadSecret(e.in)
		if err != nil {
			return "", fmt.Errorf("the passphrase: %w", err)
		}
		return s, nil
	}
	f, ok := e.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", &exitError{exitUsage, "no terminal to ask for the passphrase on; give it on standard input with --passphrase-stdin"}
	}
	ask := func(key text.Key) (string, error) {
		fmt.Fprint(e.err, l.T(key))
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(e.err)
		return string(b), err
	}
	s, err := ask(text.SetupPassphrase)
	if err != nil || !twice {
		return s, err
	}
	again, err := ask(text.SetupAgain)
	if err == nil && again != s {
		err = &exitError{exitFailed, l.T(text.SetupDiffers)}
	}
	return s, err
}

// line reads one line of standard input, no further.
func (e *env) line() string {
	var b []byte
	for one := make([]byte, 1); len(b) < 1000; {
		n, err := e.in.Read(one)
		if n == 1 && one[0] == '\n' || err != nil {
			break
		}
		b = append(b, one[:n]...)
	}
	return string(b)
}
