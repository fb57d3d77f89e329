// Package hub is the client of the hub: tokens, contacts by telephone number, deliveries to
// the message box, and the check of deep links.
//
// It follows the hub's documentation to the byte:
//
//   - POST /identity/token: HTTP Basic with client id and secret, and a form with
//     grant_type=client_credentials and scopes: Basic, P0boxadministrator and
//     orgCode:<organisation_code>, with spaces (%20) between them and the colon
//     as %3A. Both interfaces take the token, a JWT, as a bearer.
//   - GET /contact/contacts/telephony?q=<number>: every contact that has the
//     number, in data.items. The last nine digits are compared. A contact has an
//     id, a relation number whose field name contains the name of another system,
//     names, home address (addition and country may be null), producer, who
//     changed it last, and a link <hub>/contacts/viewcontact/<id>.
//   - POST /transaction/<intermediary>: JSON with data.items[].message, each a
//     ZIP file in base64, sent with Cache-Control: no-cache.
//
// The documentation does not cover the answer with a token and its lifetime, the scopes
// of lookups, errors and limits, the answer to a delivery, and the answer when nobody is
// found. For these, every sensible answer is accepted and none assumed.
//
// A Client is safe for concurrent use. Lookups and deliveries run in their callers'
// goroutines, token requests and the bodies of deliveries in their own; Close ends all of
// them. Nothing it logs, and no error, contains a number, name, token, secret or body.
package hub

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/core/contact"
)

// CodePlaceholder stands for the organisation code in scopes.
const CodePlaceholder = "<code>"

// DefaultScopes are the scopes recommended for the message box.
const DefaultScopes = "Basic P0boxadministrator orgCode:" + CodePlaceholder

// Config configures a Client. Secret is called for every token request and should be
// quick or obey its context.
type Config struct {
	BaseURL             string // {base_url}
	ClientID            string
	OrganisationCode    string
	Scopes              string // of lookups; "" is DefaultScopes
	DeliveryScopes      string // "" is Scopes; equal sets share one token
	Intermediary        string // last path segment of deliveries; "" is none
	BasicAuthEncoding   string // "plain" (default) or "rfc6749"
	ScopeParameter      string // "scopes" (default) or "scope"
	RelationNumberField string // "" is any field whose name ends in "relatienummer"
	Proxy               string // "system" (default), "none" or an address
	ExtraCAFile         string
	LookupTimeout       time.Duration // per attempt, including the token; 0 is 5 s
	Secret              func(context.Context) (string, error)
	OnSecretResult      secretResultFunc // may be nil
	// OnRefusal receives the hub's own explanation of a refusal: bounded text from
	// outside, for whoever is trying the settings, never for a log. May be nil.
	OnRefusal func(words string)
	Now       func() time.Time
}

// Limits on answers and times.
const (
	maxToken   = 1 << 20  // for an answer with a token
	maxBearer  = 16 << 10 // for a token, which goes into a header
	maxAnswer  = 8 << 20
	dialTime   = 5 * time.Second
	headerTime = 10 * time.Second
	cacheFor   = 60 * time.Second
)

// Client talks to one hub with one set of credentials.
type Client struct {
	cfg            Config
	base           *url.URL
	lookupURL      *url.URL   // without its query
	deliveryURL    *url.URL   // nil without an intermediary
	transport      *transport // used directly: no redirects are followed and there are no cookies
	upload         *transport // for deliveries
	timeouts       timeouts
	lookupTokens   *tokens // for lookups
	deliveryTokens *tokens // for deliveries, perhaps the same
	ctx            context.Context
	cancel         context.CancelFunc
	flight         *flights
	mu             sync.Mutex // protects closed and work
	closed         bool
	work           sync.WaitGroup
}

// New checks the configuration and returns a client. Nothing is sent yet.
func New(cfg Config) (*Client, error) {
	base, err := ParseAddress("hub.base_url", cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.ClientID == "" || strings.ContainsFunc(cfg.ClientID, func(r rune) bool { return r == ':' || r < 0x20 || r == 0x7f }) {
		return nil, errors.New("hub.client_id: missing, or with a colon or control character")
	}
	if cfg.Secret == nil {
		return nil, errors.New("hub: no secret")
	}
	cfg.Scopes = cmp.Or(cfg.Scopes, DefaultScopes)
	cfg.DeliveryScopes = cmp.Or(cfg.DeliveryScopes, cfg.Scopes)
	cfg.Scopes = strings.ReplaceAll(cfg.Scopes, CodePlaceholder, cfg.OrganisationCode)
	cfg.DeliveryScopes = strings.ReplaceAll(cfg.DeliveryScopes, CodePlaceholder, cfg.OrganisationCode)
	cfg.LookupTimeout = cmp.Or(cfg.LookupTimeout, 5*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	transport, err := newTransport(cfg, base)
	if err != nil {
		return nil, err
	}
	upload, err := newUpload(cfg, base)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, base: base, transport: transport, upload: upload, timeouts: defaultTimeouts}
	c.lookupURL, _ = url.Parse(base.String() + "/contact/contacts/telephony") // cannot fail: base was parsed
	if c.deliveryURL, err = deliveryAddress(base, cfg.Intermediary); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.lookupTokens = &tokens{c: c, scopes: cfg.Scopes}
	c.deliveryTokens = c.lookupTokens
	if !sameScopes(cfg.Scopes, cfg.DeliveryScopes) {
		c.deliveryTokens = &tokens{c: c, scopes: cfg.DeliveryScopes}
	}
	c.flight = newFlights(cfg.Now)
	return c, nil
}

// Close ends every request and closes the connections.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.lookupTokens.stop()
	c.deliveryTokens.stop()
	c.work.Wait()
	c.flight.forget()
	c.transport.next.CloseIdleConnections()
	c.upload.next.CloseIdleConnections()
}

// begin registers work that Close waits for, unless the client is closed. After true, the
// caller must call c.work.Done.
func (c *Client) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Add(1)
	}
	return !c.closed
}

func errClosed() error { return failed(contact.HubError, "closed") }

// Warm fetches a token before the first call and keeps renewing it in the
// background, which also keeps a connection open. It returns at once.
func (c *Client) Warm() { c.lookupTokens.warm() }

// Resumed handles the end of a sleep, after which connections that look
// alive may be dead and a token may have expired. It returns at once.
func (c *Client) Resumed() {
	c.transport.next.CloseIdleConnections()
	c.lookupTokens.warm()
}

// failed returns a LookupError; detail must not contain personal data.
func failed(f contact.Failure, detail string) error {
	return &contact.LookupError{Failure: f, Detail: detail}
}
