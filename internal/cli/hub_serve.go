package cli

import (
	"errors"
	"fmt"
	"time"

	"wiebelt/internal/localhub"
	"wiebelt/internal/text"
)

// hubServeCmd is "wiebelt hub" without a subcommand.
type hubServeCmd struct {
	Listen     string `placeholder:"ADDRESS"`
	TLSCert    string `name:"tls-cert" placeholder:"FILE"`
	TLSKey     string `name:"tls-key" placeholder:"FILE"`
	PublicHost string `name:"public-host" placeholder:"NAME"`
	Insecure   bool   `name:"insecure-http-on-network"`

	Data      string `placeholder:"DIR"`
	Synthetic int    `placeholder:"N"`
	Seed      uint64 `default:"1" placeholder:"N"`
	Client    string `placeholder:"ID"`
	Code      string `name:"organisation-code" default:"0000"`

	Intermediary  []string      `sep:"none" placeholder:"NAME"`
	RelationField string        `name:"relation-field" placeholder:"NAME"`
	BackOfficeURL string        `name:"back-office-url" placeholder:"URL"`
	TokenLifetime time.Duration `name:"token-lifetime" default:"1h"`

	Fault    []string `sep:"none" placeholder:"FAULT"`
	LogLevel string   `name:"log-level" enum:"error,warn,info,debug" default:"warn"`
}

func (c *hubServeCmd) config() (cfg localhub.Config, broken map[localhub.Endpoint]localhub.Fault, err error) {
	cfg = localhub.Config{
		Listen: c.Listen, TLSCert: c.TLSCert, TLSKey: c.TLSKey, PublicHost: c.PublicHost, AllowNetwork: c.Insecure, Admin: true,
		Dir: c.Data, Synthetic: c.Synthetic, Seed: c.Seed, Demo: c.Synthetic > 0 && c.TLSCert == "" && !c.Insecure,
		Intermediaries: c.Intermediary, RelationField: c.RelationField, BackOfficeURL: c.BackOfficeURL, TokenLifetime: c.TokenLifetime,
	}
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return cfg, nil, exitError(exitFailed, text.OutputHubPair)
	case c.Insecure && c.TLSCert != "":
		return cfg, nil, usageError(text.OutputHubInsecure)
	case c.TokenLifetime <= 0:
		return cfg, nil, usageError(text.OutputHubLifetime)
	}
	broken = map[localhub.Endpoint]localhub.Fault{}
	for _, s := range c.Fault {
		e, x, err := localhub.ParseFault(s)
		if err != nil {
			return cfg, nil, usageError(text.OutputHubFault, err)
		}
		if _, twice := broken[e]; twice {
			return cfg, nil, usageError(text.OutputHubFaultTwice, e)
		}
		broken[e] = x
	}
	return cfg, broken, nil
}

func (c *hubServeCmd) Run(e *env) error {
	cfg, broken, err := c.config()
	if err != nil {
		return err
	}
	cfg.Log = e.logger(c.LogLevel)
	h, err := localhub.Start(e.ctx, cfg)
	if errors.Is(err, localhub.ErrNotLoopback) {
		return usageError(text.OutputHubReachable, c.Listen)
	}
	if errors.As(err, new(localhub.SettingError)) {
		return &failure{exitUsage, err}
	}
	if err != nil {
		return err
	}
	defer h.Close()
	for at, x := range broken {
		h.Faults().Set(at, x)
	}
	if c.Insecure {
		e.printNotice(text.OutputHubPlain)
	}
	if c.Client != "" {
		if err := c.ensureClient(e, h); err != nil {
			return err
		}
	}
	err = e.printJSON(struct {
		Ready    bool   `json:"ready"`
		BaseURL  string `json:"base_url"`
		HubURL   string `json:"hub_url"`
		AdminURL string `json:"admin_url"`
	}{true, h.BaseURL(), h.HubURL(), h.AdminURL()})
	if err != nil {
		return err
	}
	<-e.ctx.Done()
	return h.Close()
}

// ensureClient creates the requested client. An existing one keeps its secret: others have it,
// and a hub is restarted now and then.
func (c *hubServeCmd) ensureClient(e *env, h *localhub.Hub) error {
	switch have, err := h.Client(e.ctx, c.Client); {
	case err == nil:
		fmt.Fprintln(e.err, e.T(text.OutputHubClientKept, have.ID, have.OrganisationCode))
		return nil
	case !errors.Is(err, localhub.ErrNoClient):
		return err
	}
	value, err := h.AddClient(e.ctx, c.Client, c.Code)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.err, e.T(text.OutputHubClientMade, c.Client, c.Code, value))
	return nil
}
