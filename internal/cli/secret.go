package cli

import (
	"cmp"
	"context"
	"errors"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/store/chosencontacts"
	"wiebelt/internal/text"
)

type secretCmd struct {
	Remove secretRemoveCmd `cmd:""`
}

type secretRemoveCmd struct {
	Which       string `arg:"" enum:"hub,link,choices,tokens,all"`
	Name        string `arg:"" optional:""`
	BaseURL     string `name:"base-url" placeholder:"URL"`
	ClientID    string `name:"client-id" placeholder:"ID"`
	SecretStore string `name:"secret-store" enum:"os,file,machine," default:""`
}

// Run removes a secret from its store. A hub's secret may belong to an address or client
// that is no longer configured.
func (c *secretRemoveCmd) Run(e *env, d profile.Dirs) (err error) {
	if (c.Name != "") != (c.Which == "link") || c.Which != "hub" && c.BaseURL+c.ClientID != "" {
		return usageError(text.AdminSecretWhich)
	}
	s, done := e.load(d), text.AdminSecretRemoved
	switch c.Which {
	case "hub":
		var ref secret.Ref
		if ref, err = secret.HubRef(cmp.Or(c.BaseURL, s.Hub.BaseURL), cmp.Or(c.ClientID, s.Hub.ClientID)); err != nil {
			return usageError(text.AdminNeedsAddress)
		}
		err = c.remove(e, d, s, ref)
	case "link":
		var ref secret.Ref
		if ref, err = linkRef(s, c.Name); err == nil {
			err = c.remove(e, d, s, ref)
		}
	case "choices":
		err = c.remove(e, d, s, chosencontacts.KeyRef())
	case "tokens":
		err = secret.RemoveTokens(d)
	default:
		if s.Hub.SecretStore == secret.KindMachine {
			done = text.AdminSecretOwn
		}
		err = c.removeAll(e, d, s)
	}
	if err != nil {
		return err
	}
	e.notifyResident(d)
	e.printText(done)
	return nil
}

func (c *secretRemoveCmd) kind(s *settings.Settings) string {
	return cmp.Or(c.SecretStore, s.Hub.SecretStore)
}

// remove deletes one secret, and says so if there is none.
func (c *secretRemoveCmd) remove(e *env, d profile.Dirs, s *settings.Settings, ref secret.Ref) error {
	store := secret.Open(c.kind(s), d)
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	if secret.Inspect(ctx, store, ref) == secret.NotSet {
		return exitError(exitNotFound, text.AdminSecretNone)
	}
	if err := store.Delete(ctx, ref); err != nil {
		return secret.Explain(err)
	}
	return nil
}

// removeAll removes every secret of this profile from all of its own stores. The one of the whole
// computer is for everybody and stays.
func (c *secretRemoveCmd) removeAll(e *env, d profile.Dirs, s *settings.Settings) error {
	kinds := []string{secret.KindOS, secret.KindFile}
	switch c.SecretStore {
	case "":
	case secret.KindMachine:
		return usageError(text.AdminSecretAll)
	default:
		kinds = []string{c.SecretStore}
	}
	err := secret.RemoveTokens(d)
	for _, kind := range kinds {
		ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
		e2 := secret.Open(kind, d).Clear(ctx)
		cancel()
		switch {
		case errors.Is(e2, secret.ErrNoStore) && kind != c.kind(s): // it was never used here
		case errors.Is(e2, secret.ErrNoStore):
			err = errors.Join(err, text.Errorf(text.AdminVault, vaultHint(secret.VaultName(d))))
		case e2 != nil:
			err = errors.Join(err, secret.Explain(e2))
		}
	}
	return err
}
