package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// exportOffice writes the set-up file and prints only its passphrase to standard output.
func (c *provisionCmd) exportOffice(e *env, d profile.Dirs, s *settings.Settings) error {
	office := setupfile.Office{Settings: s, Code: c.JoinCode}
	if c.JoinCode != "" && s.Relay.URL == "" {
		return exitError(exitFailed, text.AdminIncomplete, "relay.url")
	}
	if missing := s.Hub.Missing(); len(missing) > 0 && !setupfile.WithoutHub(s) {
		return exitError(exitFailed, text.AdminIncomplete, missing[0])
	}
	if _, err := os.Lstat(c.Export); err == nil {
		return exitError(exitFailed, text.SetupFileIsThere)
	}
	var err error
	if !setupfile.WithoutHub(s) {
		if office.Secret, err = c.workingSecret(e, d, s.Hub); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	phrase, err := setupfile.Write(&b, office)
	if err != nil {
		return err
	}
	err = profile.CreateFile(c.Export, b.Bytes(), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return exitError(exitFailed, text.SetupFileIsThere)
	}
	if err != nil {
		return err
	}
	if left := setupfile.OmittedKeys(s); len(left) > 0 {
		e.printNotice(text.AdminLeft, strings.Join(left, ", "))
	}
	e.printNotice(text.AdminPhrase)
	_, err = fmt.Fprintln(e.out, phrase)
	return err
}

// workingSecret returns the hub's secret that has worked, or a new one that works.
func (c *provisionCmd) workingSecret(e *env, d profile.Dirs, h settings.Hub) (string, error) {
	ref, err := secret.HubRef(h.BaseURL, h.ClientID)
	if err != nil {
		return "", exitError(exitFailed, text.AdminNeedsAddress)
	}
	store, err := c.open(d, h.SecretStore)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	value, next, err := secret.Pair(ctx, store, ref)
	switch {
	case errors.Is(err, secret.ErrNotSet):
		return "", exitError(exitFailed, text.SetupNoSecret)
	case err != nil:
		return "", secret.Explain(err)
	case next == "":
		return value, nil
	case value == "" || hubtrial.SecretWorks(ctx, d, h, next):
		return next, nil
	}
	e.printNotice(text.SetupOldSecret) // a secret that the hub does not accept yet would be useless
	return value, nil
}

// importOffice imports a set-up file: it changes nothing before the file was read, allowed,
// shown, confirmed and tested.
func (c *provisionCmd) importOffice(e *env, d profile.Dirs, before *settings.Settings) error {
	b, err := hubtrial.ReadSetup(c.Import)
	if err != nil {
		return err
	}
	phrase, err := c.passphrase(e)
	if err != nil {
		return err
	}
	f, err := hubtrial.OpenSetup(b, phrase, c.SecretStore, before)
	if err != nil {
		return &failure{exitFailed, err}
	}
	if len(f.LockedKeys) > 0 {
		e.printText(text.AdminPolicyKeeps, strings.Join(f.LockedKeys, ", "))
	}
	if err := e.printComparison(f.Rows); err != nil {
		return err
	}
	if f.HubMoved {
		e.printText(text.SetupMoved)
	}
	if !c.PassphraseStdin {
		fmt.Fprint(e.out, e.T(text.SetupConfirm))
		if !e.confirm() {
			return exitError(exitFailed, text.SetupCancelled)
		}
	}
	say, done := e.stepPrinter()
	encoding, err := f.Apply(e.ctx, d, c.TestNumber, func(kind string) (secret.Store, error) { return c.openToSave(d, kind) }, say)
	done()
	switch {
	case err != nil:
		return err
	case encoding != "":
		e.printText(text.SetupEncoding, encoding)
	}
	e.printText(text.SetupTaken)
	e.printMissingSecrets(d)
	return nil
}

// hubAfter returns the hub as it would be with changes. Where the policy decides, it prevails,
// and this is reported. A secret for another hub or store than the policy's is useless here.
func (c *provisionCmd) hubAfter(e *env, before *settings.Settings, changes map[string]any, withSecret bool) (settings.Hub, error) {
	next, left, err := hubtrial.ResultingHub(before, changes)
	if _, refused := errors.AsType[*text.Error](err); refused {
		if withSecret {
			return next, err
		}
		err = nil
	}
	if len(left) > 0 && err == nil {
		e.printText(text.AdminPolicyKeeps, strings.Join(left, ", "))
	}
	return next, err
}

// testHub returns the hub after a successful trial with a secret: it goes through the steps
// of a lookup, and reports each result. If the hub only accepted the other encoding of the
// credentials, that is added to changes.
func (c *provisionCmd) testHub(e *env, d profile.Dirs, before *settings.Settings, h settings.Hub, value string, changes map[string]any) (settings.Hub, error) {
	const key = "hub.basic_auth_encoding"
	try := hubtrial.Trial{Dirs: d, Settings: before, Hub: h, Secret: value, Number: c.TestNumber}
	if len(changes) > 0 && !before.Locked(key) {
		try.KeysToVary = []string{key}
	}
	say, done := e.stepPrinter()
	better, ok := try.Run(e.ctx, say)
	done()
	if !ok {
		return h, exitError(exitFailed, text.SetupTestFailed)
	}
	if encoding := cmp.Or(better[key], h.BasicAuthEncoding); encoding != h.BasicAuthEncoding {
		h.BasicAuthEncoding, changes[key] = encoding, encoding
		e.printText(text.SetupEncoding, encoding)
	}
	return h, nil
}

// printMissingSecrets names the links that lack their secret: a set-up file only contains the hub's,
// since an exchange has one per extension, and another store has none of them.
func (e *env) printMissingSecrets(d profile.Dirs) {
	s, _ := settings.Load(d) // its problems were reported before
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	_, links := hubtrial.SecretStates(ctx, d, s)
	for _, p := range s.Softphones {
		switch {
		case links[p.Name] != secret.NotSet:
		case p.Kind == registry.Relay:
			e.printText(text.DoctorDo("setup.unjoined"))
		default:
			e.printText(text.SetupLinkSecret, cmp.Or(p.Name, p.Address))
		}
	}
}

func (e *env) printComparison(rows []hubtrial.Row) error {
	t := e.table()
	fmt.Fprintf(t, "%s\t%s\t%s\n", e.T(text.SetupSetting), e.T(text.SetupNow), e.T(text.SetupNew))
	shown := func(s string) string { return cmp.Or(oneLine(s), e.T(text.SetupNothing)) }
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Key, shown(r.Current), shown(r.New))
	}
	return t.Flush()
}

// stepPrinter prints the results of a trial's steps; done ends the table.
func (e *env) stepPrinter() (say func(hubtrial.Step), done func()) {
	l := e.lang()
	t := e.table()
	return func(st hubtrial.Step) {
		why, known := "", lookupDetail(st.Err)
		switch {
		case st.State == hubtrial.StateRunning:
			return
		case errors.Is(st.Err, hubtrial.ErrNumber):
			why = "--test-number"
		case st.Err != nil && contact.FailureOf(st.Err) == contact.HubError && known == "":
			why = st.Err.Error() // nothing was sent
		case st.Err != nil:
			why = l.T(text.Failure(string(contact.FailureOf(st.Err))))
			if known != "" {
				why += " (" + known + ")"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", l.T(text.SetupStep(st.Name)), l.T(text.SetupState(st.State)), oneLine(why))
	}, func() { _ = t.Flush() } // the exit code reports it as well
}

func (c *provisionCmd) passphrase(e *env) (string, error) {
	if !c.PassphraseStdin && !isTerminal(e.in) {
		return "", usageError(text.AdminNoTerminal)
	}
	return e.secret(text.SetupPassphrase)
}
