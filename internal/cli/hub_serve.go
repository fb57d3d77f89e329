package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"wiebelt/internal/localhub"
	"wiebelt/internal/text"
)

// hubServeCmd is "wiebelt hub" without a word behind it.
type hubServeCmd struct {
	Listen     string `help:"Literal address and port; else a free port of a random loopback address (with a certificate 127.0.0.1). Other than loopback needs a certificate." placeholder:"ADDRESS"`
	TLSCert    string `name:"tls-cert" help:"Certificate with its chain (PEM): the hub is https, TLS 1.2 or newer. Read at start only." placeholder:"FILE"`
	TLSKey     string `name:"tls-key" help:"Key of the certificate (PEM)." placeholder:"FILE"`
	PublicHost string `name:"public-host" help:"Name in the hub's addresses; without it the certificate's first one." placeholder:"NAME"`
	Insecure   bool   `name:"insecure-http-on-network" help:"Plain http on an address that others can reach: they can read secrets and customers."`

	Data      string `help:"Keep the database in DIR; without it everything is gone at the end." placeholder:"DIR"`
	Synthetic int    `help:"Number of invented contacts in a database that has none. On loopback without a certificate this makes a demo: the login page shows its user." placeholder:"N"`
	Seed      uint64 `help:"Which invented contacts: the same number, the same people." default:"1" placeholder:"N"`
	Client    string `help:"Make this OAuth client, unless it is there, and show its secret once, on standard error." placeholder:"ID"`
	Code      string `name:"organisation-code" help:"Organisation code of that client." default:"0000"`

	Intermediary  []string      `sep:"none" help:"Message box that may be delivered to; may be repeated." placeholder:"NAME"`
	RelationField string        `name:"relation-field" help:"JSON name of the relation number." placeholder:"NAME"`
	BackOfficeURL string        `name:"back-office-url" help:"Where the relation number in a customer file leads, with {relation} in it." placeholder:"URL"`
	TokenLifetime time.Duration `name:"token-lifetime" help:"How long a token lives." default:"1h"`

	Fault    []string `sep:"none" help:"Break something on purpose, such as lookup:delay=2s,status=503,times=3; may be repeated." placeholder:"FAULT"`
	LogLevel string   `name:"log-level" help:"What is logged on standard error: error, warn, info or debug." enum:"error,warn,info,debug" default:"warn"`
}

// Help is what stands below the flags' list.
func (*hubServeCmd) Help() string {
	return `When it is ready the hub prints one line on standard output and then nothing:
{"ready":true,"base_url":"…","hub_url":"…","admin_url":"…"}

Demo: with --synthetic, on a loopback address and without a certificate, the login page shows a user and password that all know, and the hub refuses contacts that are not invented. With a certificate, or with --insecure-http-on-network, it never is a demo: invented contacts are there, but users are made with "wiebelt hub user add".

Faults: ENDPOINT:PART[,PART…] with the endpoints token, lookup, transaction and pages, and the parts delay=2s, drop, status=503, retry-after=30s, expired, body=html|truncated|cut|empty|wrong|large, size=1000000, content-type=text/plain, slow=10/1s (bytes/pause) and times=3. They can be changed while the hub runs: GET on admin_url says how. That address holds a secret.

Stop: on SIGTERM or Ctrl-C the hub takes nothing new; deliveries under way get ten seconds, other requests two.

The certificate is read at start: start the hub again after renewing it.`
}

func (c *hubServeCmd) config() (localhub.Config, error) {
	cfg := localhub.Config{
		Listen: c.Listen, TLSCert: c.TLSCert, TLSKey: c.TLSKey, PublicHost: c.PublicHost, AllowNetwork: c.Insecure, Admin: true,
		Dir: c.Data, Synthetic: c.Synthetic, Seed: c.Seed, Demo: c.Synthetic > 0 && c.TLSCert == "" && !c.Insecure,
		Intermediaries: c.Intermediary, RelationField: c.RelationField, BackOfficeURL: c.BackOfficeURL, TokenLifetime: c.TokenLifetime,
		Faults: &localhub.Faults{},
	}
	if c.Insecure && (c.TLSCert != "" || c.TLSKey != "") {
		return cfg, wrong(text.SayHubInsecure)
	}
	if c.TokenLifetime <= 0 {
		return cfg, wrong(text.SayHubLifetime)
	}
	broken := map[localhub.Endpoint]bool{}
	for _, s := range c.Fault {
		e, x, err := localhub.ParseFault(s)
		if err != nil {
			return cfg, wrong(text.SayHubFault, err)
		}
		if broken[e] {
			return cfg, wrong(text.SayHubFaultTwice, e)
		}
		broken[e] = true
		cfg.Faults.Set(e, x)
	}
	return cfg, nil
}

func (c *hubServeCmd) Run(e *env) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	cfg.Log = e.logger(c.LogLevel)
	h, err := localhub.Start(e.ctx, cfg)
	if errors.Is(err, localhub.ErrNotLoopback) {
		return wrong(text.SayHubReachable, c.Listen)
	}
	if errors.Is(err, localhub.ErrSetting) {
		return &failure{exitUsage, err}
	}
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Insecure {
		e.note(text.SayHubPlain)
	}
	if c.Client != "" {
		if err := c.client(e, h); err != nil {
			return err
		}
	}
	err = json.NewEncoder(e.out).Encode(struct {
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

// client makes the client that was asked for. One that there is keeps its secret:
// others have it, and a hub is started again now and then.
func (c *hubServeCmd) client(e *env, h *localhub.Hub) error {
	all, err := h.Clients(e.ctx)
	if err != nil {
		return err
	}
	for _, have := range all {
		if have.ID == c.Client {
			fmt.Fprintln(e.err, e.T(text.SayHubClientKept, have.ID, have.OrganisationCode))
			return nil
		}
	}
	value, err := h.AddClient(e.ctx, c.Client, c.Code)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.err, e.T(text.SayHubClientMade, c.Client, c.Code, value))
	return nil
}
