package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/configure"
	"wiebelt/internal/resident/trial"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

type provisionCmd struct {
	BaseURL          string `name:"base-url" help:"Address of the hub's interfaces." placeholder:"URL"`
	HubURL           string `name:"hub-url" help:"Address of the practice hub, for customer files." placeholder:"URL"`
	ClientID         string `name:"client-id" help:"The OAuth client." placeholder:"ID"`
	OrganisationCode string `name:"organisation-code" help:"Goes into the scope orgCode." placeholder:"CODE"`
	Intermediary     string `help:"Message box to deliver to: the last part of its address. Delivery shows nowhere without it." placeholder:"NAME"`
	SecretStore      string `name:"secret-store" help:"os (default): the user's vault; file: a file only this user may read; machine: one secret for everybody on this computer, set by an administrator." enum:"os,file,machine," default:""`
	SecretGroup      string `name:"secret-group" help:"With --secret-store machine on Linux: the group that may read it (wiebelt unless given)." placeholder:"GROUP"`
	Softphone        string `help:"The secret is that of this softphone link in the settings, not the hub's." placeholder:"NAME"`
	SecretStdin      bool   `name:"secret-stdin" help:"Ask for the client's secret, or read it from a pipe; it is never an argument. A secret that is there already stays until the new one has worked."`

	Export          string `help:"Write one encrypted set-up file with addresses, client, secret, scopes, own numbers, support contact and phones." placeholder:"FILE"`
	Import          string `help:"Take a set-up file over, after testing it. Shows old and new; where the policy sets the hub, that stays." placeholder:"FILE"`
	PassphraseStdin bool   `name:"passphrase-stdin" help:"Read the set-up file's passphrase from standard input, and ask nothing."`
	TestNumber      string `name:"test-number" help:"With --import: a number to look up as part of the test." placeholder:"NUMBER"`
}

func (c *provisionCmd) Run(e *env) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	before := e.load(d)
	changes := c.changes()
	switch {
	case c.Export != "" || c.Import != "":
		delete(changes, "hub.secret_store")
		if c.Export != "" && c.Import != "" || len(changes) > 0 || c.SecretStdin || c.Softphone != "" {
			return &exitError{exitUsage, "a set-up file goes with --passphrase-stdin, --secret-store and --test-number only"}
		}
		if c.Export != "" {
			return c.exportOffice(e, d, before)
		}
		return c.importOffice(e, d, before)
	case c.PassphraseStdin || c.TestNumber != "":
		return &exitError{exitUsage, "--passphrase-stdin and --test-number go with a set-up file"}
	case c.Softphone != "":
		return c.softphone(e, d, before)
	case len(changes) == 0 && !c.SecretStdin:
		return &exitError{exitUsage, "nothing to set; see wiebelt provision --help"}
	}
	if key := managedKey(before, changes); key != "" {
		return fmt.Errorf("%s is set by the policy on this computer; nothing was changed", key)
	}
	if err := settings.Check(d, changes); err != nil {
		var wrong *settings.Error
		if errors.As(err, &wrong) && wrong.Problem.Kind == settings.NotAllowed {
			return &exitError{exitUsage, err.Error()}
		}
		return err
	}
	// The secret first: an address without its secret would be a set-up that
	// fails, the other way round nothing has changed.
	waiting := false
	if c.SecretStdin {
		if waiting, err = c.keepSecret(e, d, before); err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		if err := d.Make(); err != nil {
			return err
		}
		if err := settings.Set(d, changes); err != nil {
			return err
		}
	}
	if c.SecretStdin {
		e.noticed(d)
	}
	if c.SecretStdin && cmp.Or(c.SecretStore, before.Hub.SecretStore) == secret.KindMachine && before.Source("hub.secret_store") != settings.Policy {
		fmt.Fprintln(e.out, "Others on this computer use it where the policy says hub.secret_store = \"machine\", with the same address and client.")
	}
	if waiting {
		fmt.Fprintln(e.out, "Set. The old secret stays until the new one has worked once.")
		return nil
	}
	fmt.Fprintln(e.out, "Set. Try it with: wiebelt lookup NUMBER")
	return nil
}

// changes are the settings that the flags ask for.
func (c *provisionCmd) changes() map[string]any {
	changes := map[string]any{}
	for key, v := range map[string]string{"hub.base_url": c.BaseURL, "hub.hub_url": c.HubURL, "hub.client_id": c.ClientID,
		"hub.organisation_code": c.OrganisationCode, "hub.intermediary": c.Intermediary, "hub.secret_store": c.SecretStore} {
		if v != "" {
			changes[key] = v
		}
	}
	return changes
}

// managedKey is a key that the policy sets to something else than asked for; ""
// if there is none.
func managedKey(s *settings.Settings, changes map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if s.Source(key) == settings.Policy && s.Get(key) != changes[key] {
			return key
		}
	}
	return ""
}

// softphone keeps the secret of a link that stands in the settings.
func (c *provisionCmd) softphone(e *env, d profile.Dirs, s *settings.Settings) error {
	if !c.SecretStdin || c.BaseURL+c.HubURL+c.ClientID+c.OrganisationCode+c.Intermediary != "" {
		return &exitError{exitUsage, "--softphone goes with --secret-stdin and nothing about the hub"}
	}
	for _, l := range s.Softphones {
		if l.Name != c.Softphone {
			continue
		}
		ref, err := secret.Softphone(l.Name, l.Address)
		if err != nil {
			return err
		}
		value, err := e.secret(configure.Language(s), text.SecretAskLink)
		if err != nil {
			return err
		}
		store, err := c.open(d, s.Hub.SecretStore)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(e.ctx, storeTime)
		defer cancel()
		if err := store.Set(ctx, ref, value); err != nil {
			return secretError(configure.Language(s), err)
		}
		_ = secret.NoteSet(d, ref, time.Now())
		e.noticed(d)
		fmt.Fprintln(e.out, "Set. A running Wiebelt connects with it within seconds.")
		return nil
	}
	return &exitError{exitUsage, "no [[softphone]] of that name stands in the settings"}
}

// noticed has a running Wiebelt look again: it does not see the store, but that
// the settings were written.
func (*env) noticed(d profile.Dirs) { _ = os.Chtimes(settings.Path(d), time.Now(), time.Now()) }

// storeTime is more than all calls of a store together take; each says within
// two seconds that it is locked.
const storeTime = 10 * time.Second

// open opens the store of a kind, with the group that the flags name.
func (c *provisionCmd) open(d profile.Dirs, kind string) (secret.Store, error) {
	if kind == secret.KindMachine {
		_ = eventlog.Install() // what an administrator sets up, an administrator reads about there
		return secret.OpenMachine(c.SecretGroup, d), nil
	}
	if c.SecretGroup != "" {
		return nil, &exitError{exitUsage, "--secret-group goes with --secret-store machine"}
	}
	if err := d.Make(); err != nil {
		return nil, err
	}
	store, err := secret.Open(kind, d)
	if err != nil {
		return nil, fmt.Errorf("secret store %q: %w", kind, err)
	}
	return store, nil
}

// keepSecret reads the secret and keeps it for the address and client that will
// hold.
func (c *provisionCmd) keepSecret(e *env, d profile.Dirs, s *settings.Settings) (waiting bool, err error) {
	next := s.Hub
	next.ClientID, next.SecretStore = cmp.Or(c.ClientID, next.ClientID), cmp.Or(c.SecretStore, next.SecretStore)
	next.OrganisationCode = cmp.Or(c.OrganisationCode, next.OrganisationCode)
	base, ok := settings.CheckHubURL(cmp.Or(c.BaseURL, next.BaseURL))
	if !ok || next.ClientID == "" {
		return false, &exitError{exitUsage, "the secret belongs to an address and a client: give --base-url (https, or http to 127.0.0.1) and --client-id"}
	}
	next.BaseURL = base
	value, err := e.secret(configure.Language(s), text.SecretAsk)
	if err != nil {
		return false, err
	}
	ref, err := secret.Hub(next.BaseURL, next.ClientID)
	if err != nil {
		return false, err
	}
	store, err := c.open(d, next.SecretStore)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(e.ctx, storeTime)
	defer cancel()
	waiting, err = secret.Renew(ctx, store, ref, value, func(ctx context.Context, before string) bool { return trial.SecretWorks(ctx, d, next, before) })
	if err != nil {
		return false, secretError(configure.Language(s), err)
	}
	_ = secret.NoteSet(d, ref, time.Now()) // for the settings window only
	return waiting, nil
}

// secretError says what a secret store said, or what is wrong with a secret.
func secretError(l text.Language, err error) error {
	state := secret.StateOf(err)
	words := l.T(text.SecretState(string(state)))
	if state == secret.Failed || errors.Is(err, context.DeadlineExceeded) {
		words = strings.TrimSuffix(words, ".") + ": " + err.Error()
	}
	return &exitError{exitFailed, words}
}
