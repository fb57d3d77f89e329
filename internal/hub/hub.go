// Package hub is the client of the hub: the token (hub-api.md 4.1, 5), contacts
// by telephone number (4.3) and the check of deep links (2.3). Its wire format
// follows the document to the byte; where the document is silent it accepts
// every sensible answer and assumes none.
//
// A Client is safe for concurrent use. It runs a goroutine per token request and
// lookup under way, all of which Close ends. Nothing it logs or returns carries
// a number, name, token, secret or body.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/contact"
)

// DefaultScopes are the scopes that hub-api.md 5.4 recommends; the organisation
// code follows in place of <code>.
const DefaultScopes = "Basic P0boxadministrator orgCode:<code>"

// Config is what a Client needs. Secret is called for every token request and
// should be quick or obey its context.
type Config struct {
	BaseURL             string // {base_url}
	ClientID            string
	OrganisationCode    string
	Scopes              string // "" is DefaultScopes
	BasicAuthEncoding   string // "plain" (default) or "rfc6749"
	ScopeParameter      string // "scopes" (default) or "scope"
	RelationNumberField string // "" is any field whose name ends in "relatienummer"
	Proxy               string // "system" (default), "none" or an address
	ExtraCAFile         string
	LookupTimeout       time.Duration // of one attempt, token included; 0 is 5 s
	Secret              func(context.Context) (string, error)
	Log                 *slog.Logger
	Now                 func() time.Time
}

// Limits of answers and times.
const (
	maxToken   = 1 << 20
	maxAnswer  = 8 << 20
	dialTime   = 5 * time.Second
	headerTime = 10 * time.Second
	cacheFor   = 60 * time.Second
)

// Client speaks to one hub with one set of credentials.
type Client struct {
	cfg    Config
	base   *url.URL
	http   *http.Client
	token  *tokens
	life   context.Context
	end    context.CancelFunc
	work   sync.WaitGroup
	flight flights
}

// New checks the configuration and makes a client. Nothing is sent yet.
func New(cfg Config) (*Client, error) {
	base, err := checkAddress("hub.base_url", cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.ClientID == "" || strings.ContainsFunc(cfg.ClientID, func(r rune) bool { return r == ':' || r < 0x20 || r == 0x7f }) {
		return nil, errors.New("hub.client_id: missing, or with a colon or control character")
	}
	if cfg.Secret == nil {
		return nil, errors.New("hub: no secret")
	}
	if cfg.Scopes == "" {
		cfg.Scopes = DefaultScopes
	}
	cfg.Scopes = strings.ReplaceAll(cfg.Scopes, "<code>", cfg.OrganisationCode)
	if cfg.LookupTimeout == 0 {
		cfg.LookupTimeout = 5 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	transport, err := newTransport(cfg, base)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, base: base, http: &http.Client{
		Transport: transport,
		// A redirect could carry the token or the secret to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.life, c.end = context.WithCancel(context.Background())
	c.token = newTokens(c)
	c.flight.set(cfg.Now)
	return c, nil
}

// Close ends every request and gives the connections up.
func (c *Client) Close() {
	c.end()
	c.token.stop()
	c.work.Wait()
	c.http.CloseIdleConnections()
}

// Warm fetches a token before the first call needs one and keeps doing so in the
// background, which also keeps a connection open. It returns at once.
func (c *Client) Warm() { c.token.warm() }

// failed is a LookupError with a detail that holds nothing personal.
func failed(f contact.Failure, detail string) error {
	return &contact.LookupError{Failure: f, Detail: detail}
}
