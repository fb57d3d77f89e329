package command

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/voipgrid"
	"wiebelt/internal/text"
)

// registration is the file with the registration at a provider. Like the files beside
// it, it holds a secret.
type registration struct{ dir string }

const (
	registrationFile = "voipgrid.json"
	registrationLink = registry.VoIPGRID + " registration"
	maxRegistration  = 16 << 10
)

func (f registration) path() string { return filepath.Join(f.dir, registrationFile) }

// Load implements voipgrid.Store. It returns fs.ErrNotExist if there is no registration.
func (f registration) Load() (r voipgrid.Registration, err error) {
	b, err := filetrust.ReadFile(f.path(), maxRegistration, filetrust.Private)
	if err == nil && json.Unmarshal(b, &r) != nil {
		err = text.Errorf(text.RelayFile, registrationFile, text.RelayFileDamaged)
	}
	return r, err
}

// Save implements voipgrid.Store.
func (f registration) Save(r voipgrid.Registration) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return profile.WriteFile(f.path(), b, 0o600)
}

// Target implements voipgrid.Store.
func (f registration) Target(r voipgrid.Registration) (string, error) {
	secrets, err := setup.LoadWebhookSecrets(f.dir)
	return r.Relay + "/in/" + secrets.Current + "/" + registry.VoIPGRID, err
}

// portalNetwork returns how a provider's portal is reached: by the office's proxy, as
// exchanges are.
func portalNetwork(dirs profile.Dirs, portal string) exchangelink.Options {
	return exchangelink.Options{Proxy: fromsettings.ExchangeProxy(dirs, portal)}
}

// link maintains the registration; nil if there is none.
func (f registration) link(dirs profile.Dirs) []links.Link {
	r, err := f.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	open := func(func(string) bool) (link.Phone, error) {
		return voipgrid.New(f, portalNetwork(dirs, r.Portal))
	}
	return []links.Link{{Name: registrationLink, Kind: registry.VoIPGRID, Identity: r, Open: open}}
}

type exchangeRegisterCmd struct {
	Portal string `required:"" placeholder:"URL"`
	User   string `required:"" placeholder:"EMAIL"`
	Relay  string `placeholder:"URL"`
}

// Run registers the relay's address at a provider on VoIPGRID, replacing its earlier
// registration. The token is read from standard input.
func (c *exchangeRegisterCmd) Run(e *env) error {
	f, err := e.folder()
	if err != nil {
		return err
	}
	token, err := e.secret(text.RelayRegisterToken)
	if err != nil {
		return err
	}
	dirs, err := profile.Find(e.data)
	if err != nil {
		return err
	}
	if c.Relay == "" {
		c.Relay = address(f.Settings)
	}
	ctx, cancel := context.WithTimeout(e.ctx, requestTimeout)
	defer cancel()
	file := registration{e.data}
	before, none := file.Load()
	r := voipgrid.Registration{Portal: c.Portal, User: c.User, Token: token, Relay: c.Relay}
	target, err := file.Target(r)
	if err == nil {
		r, err = r.Register(ctx, portalNetwork(dirs, r.Portal), target)
	}
	if err == nil {
		err = file.Save(r)
	}
	if err != nil {
		return e.linkErrorText(err)
	}
	if none == nil && before.ID != r.ID {
		_ = before.Remove(ctx, portalNetwork(dirs, before.Portal)) // may be at another portal, or gone
	}
	e.printText(text.RelayRegistered, c.Relay)
	return nil
}

type exchangeUnregisterCmd struct{}

// Run removes the registration.
func (exchangeUnregisterCmd) Run(e *env) error {
	if _, err := e.folder(); err != nil {
		return err
	}
	dirs, err := profile.Find(e.data)
	if err != nil {
		return err
	}
	file := registration{e.data}
	r, err := file.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitNotFound, text.RelayRegisterNone)
	} else if err != nil {
		return err
	}
	if err := os.Remove(file.path()); err != nil { // first, or a running relay would register again
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, requestTimeout)
	defer cancel()
	if err := r.Remove(ctx, portalNetwork(dirs, r.Portal)); err != nil {
		return errors.Join(e.linkErrorText(err), file.Save(r))
	}
	e.printText(text.RelayUnregistered)
	return nil
}

// linkErrorText replaces a link's error with its text, if it has one.
func (e *env) linkErrorText(err error) error {
	if says := text.LinkTrouble(e.lang(), string(link.CauseOf(err))); says != "" {
		return errors.New(says)
	}
	return err
}
