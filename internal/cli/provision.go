package cli

import (
	"context"
	"errors"
	"time"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/text"
)

type provisionCmd struct {
	BaseURL          string `name:"base-url" placeholder:"URL"`
	HubURL           string `name:"hub-url" placeholder:"URL"`
	ClientID         string `name:"client-id" placeholder:"ID"`
	OrganisationCode string `name:"organisation-code" placeholder:"CODE"`
	Intermediary     string `placeholder:"NAME"`
	SecretStore      string `name:"secret-store" enum:"os,file,machine," default:""`
	SecretGroup      string `name:"secret-group" placeholder:"GROUP"`

	Softphone   *string `placeholder:"NAME"` // nil without the flag
	SecretStdin bool    `name:"secret-stdin"`

	Test            bool
	TestNumber      string `name:"test-number" placeholder:"NUMBER"`
	Export          string `placeholder:"FILE"`
	JoinCode        string `name:"join-code" placeholder:"CODE"`
	Import          string `placeholder:"FILE"`
	PassphraseStdin bool   `name:"passphrase-stdin"`
}

func (c *provisionCmd) Run(e *env, d profile.Dirs) error {
	before := e.load(d)
	changes := c.changes()
	switch {
	case c.Export != "" || c.Import != "":
		return c.runSetupFile(e, d, before, changes)
	case c.JoinCode != "":
		return usageError(text.AdminJoinCode)
	case c.PassphraseStdin:
		return usageError(text.AdminPassphrase)
	case c.TestNumber != "" && !c.Test:
		return usageError(text.AdminTestNumber)
	case c.Softphone != nil: // also if empty: what is entered must not become the hub's
		return c.setLinkSecret(e, d, before)
	case len(changes) == 0 && !c.SecretStdin && !c.Test:
		return usageError(text.AdminNothing)
	}
	return c.applyHub(e, d, before, changes)
}

// runSetupFile writes a set-up file, or imports one.
func (c *provisionCmd) runSetupFile(e *env, d profile.Dirs, before *settings.Settings, changes map[string]any) error {
	delete(changes, "hub.secret_store")
	forImport, forExport := c.PassphraseStdin || c.TestNumber != "" || c.SecretStore != "", c.JoinCode != ""
	switch {
	case c.Export != "" && (c.Import != "" || forImport), c.Import != "" && forExport, len(changes) > 0, c.SecretStdin, c.Softphone != nil, c.Test:
		return usageError(text.AdminSetupAlone)
	case c.Export != "":
		return c.exportOffice(e, d, before)
	}
	return c.importOffice(e, d, before)
}

// applyHub applies the requested settings, with the secret if given, after a test if requested.
func (c *provisionCmd) applyHub(e *env, d profile.Dirs, before *settings.Settings, changes map[string]any) error {
	if err := e.checkChanges(d, changes); err != nil {
		return err
	}
	next, err := c.hubAfter(e, before, changes, c.SecretStdin || c.Test)
	if err != nil || len(changes) == 0 && !c.SecretStdin && !c.Test {
		return err
	}
	onlyTest := len(changes) == 0 && !c.SecretStdin
	value, err := c.hubSecret(e, d, next)
	if c.Test && err == nil {
		next, err = c.testHub(e, d, before, next, value, changes)
	}
	if err != nil {
		return err
	}
	w := hubtrial.SaveRequest{Changes: changes, SecretVerified: c.Test}
	if c.SecretStdin {
		w.Secret = value
	}
	waiting, err := c.save(e, d, before, w)
	if err != nil {
		return err
	}
	if c.SecretStdin {
		e.notifyResident(d)
		if next.SecretStore == secret.KindMachine && before.Source("hub.secret_store") != settings.Policy {
			e.printText(text.AdminSetMachine)
		}
	}
	switch {
	case waiting:
		e.printText(text.AdminSetWaiting)
	case onlyTest:
		e.printText(text.AdminTestGood)
	default:
		c.printNextSteps(e, d, before.HasRelayLink() && len(next.Missing()) > 0)
	}
	if next.SecretStore != before.Hub.SecretStore {
		e.printMissingSecrets(d)
	}
	return nil
}

// printNextSteps says what is left to do once the hub is set; relayed means that the
// office's relay does what this computer's own settings do not suffice for.
func (c *provisionCmd) printNextSteps(e *env, d profile.Dirs, relayed bool) {
	switch {
	case e.lacksSecret(d):
		e.printText(text.AdminSetNoSecret)
	case relayed:
		e.printText(text.AdminSetRelayed)
	case c.Test:
		e.printText(text.AdminSet, "wiebelt lookup 0201234567")
	default:
		e.printText(text.AdminSet, "wiebelt provision --test")
	}
}

// checkChanges returns an error if changes must not be written.
func (e *env) checkChanges(d profile.Dirs, changes map[string]any) error {
	err := settings.Check(d, changes)
	if bad, ok := errors.AsType[settings.Problem](err); ok && bad.Kind == settings.NotAllowed {
		return &failure{exitUsage, err}
	}
	return err
}

// hubSecret returns the secret to set or test, "" if neither is requested.
func (c *provisionCmd) hubSecret(e *env, d profile.Dirs, h settings.Hub) (string, error) {
	if !c.SecretStdin && !c.Test {
		return "", nil
	}
	if !c.SecretStdin {
		return c.workingSecret(e, d, h)
	}
	if _, err := secret.HubRef(h.BaseURL, h.ClientID); err != nil {
		return "", usageError(text.AdminNeedsAddress)
	}
	return e.secret(text.SecretAsk)
}

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

func (c *provisionCmd) setLinkSecret(e *env, d profile.Dirs, s *settings.Settings) error {
	elsewhere := c.SecretStore != "" && c.SecretStore != s.Hub.SecretStore // that is where the hub's is looked for, too
	if !c.SecretStdin || c.Test || elsewhere || c.BaseURL+c.HubURL+c.ClientID+c.OrganisationCode+c.Intermediary != "" {
		return usageError(text.AdminLinkAlone)
	}
	if _, err := linkRef(s, *c.Softphone); err != nil {
		return err
	}
	value, err := e.secret(text.SecretAskLink)
	if err != nil {
		return err
	}
	if _, err := c.save(e, d, s, hubtrial.SaveRequest{LinkSecrets: map[string]string{*c.Softphone: value}}); err != nil {
		return err
	}
	e.notifyResident(d)
	e.printText(text.AdminSetLink)
	return nil
}

func linkRef(s *settings.Settings, name string) (secret.Ref, error) {
	for _, l := range s.Softphones {
		if l.Name == name {
			return secret.SoftphoneRef(l.Kind, l.Name, l.Address)
		}
	}
	return secret.Ref{}, usageError(text.AdminNoLink)
}

// notifyResident makes a running Wiebelt reload. The request has been carried out by
// then, so a failure is no error: Wiebelt notices by itself, only later.
func (*env) notifyResident(d profile.Dirs) { _ = settings.Touch(d) }

// storeTimeout exceeds what all calls to a store take together; each reports within two
// seconds that it is locked.
const storeTimeout = 10 * time.Second

// open opens the store of a kind, for the group that the flags name.
func (c *provisionCmd) open(d profile.Dirs, kind string) (secret.Store, error) {
	if kind == secret.KindMachine {
		_ = eventlog.Install() // administrators look there for what they set up
		return secret.OpenMachine(c.SecretGroup, d), nil
	}
	if c.SecretGroup != "" {
		return nil, usageError(text.AdminGroupAlone)
	}
	if err := d.Make(); err != nil {
		return nil, err
	}
	return secret.Open(kind, d), nil
}

// openToSave is open that also lets the group that the flags name read what is there: a
// secret that stays the same is not stored again.
func (c *provisionCmd) openToSave(d profile.Dirs, kind string) (secret.Store, error) {
	store, err := c.open(d, kind)
	if err == nil && c.SecretGroup != "" { // so it is the computer's store
		if err = secret.ShareMachine(c.SecretGroup); err != nil {
			err = secret.Explain(err)
		}
	}
	return store, err
}

func (c *provisionCmd) save(e *env, d profile.Dirs, before *settings.Settings, w hubtrial.SaveRequest) (waiting bool, err error) {
	w.Open = func(kind string) (secret.Store, error) { return c.openToSave(d, kind) }
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	return hubtrial.Save(ctx, d, before, w)
}
