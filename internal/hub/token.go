package hub

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"wiebelt/internal/contact"
)

// Lives of tokens. The hub documents none (hub-api.md 5.5).
const (
	defaultLife = 5 * time.Minute
	minLife     = 60 * time.Second
	maxLife     = 24 * time.Hour
	refuseFor   = 30 * time.Second // refused credentials are not tried more often
)

// tokens holds the one token of a client and fetches a new one, once for however
// many callers, before it expires.
type tokens struct {
	c *Client

	mu      sync.Mutex
	token   *oauth2.Token
	renewAt time.Time
	fetch   *fetch // under way
	timer   *time.Timer
}

// fetch is one token request that any number of callers wait for.
type fetch struct {
	done  chan struct{}
	token *oauth2.Token
	err   error
}

func newTokens(c *Client) *tokens { return &tokens{c: c} }

// get returns a token that is good now, or waits for one as long as ctx allows.
func (t *tokens) get(ctx context.Context) (*oauth2.Token, error) {
	t.mu.Lock()
	now := t.c.cfg.Now()
	if t.token != nil && now.Before(t.token.Expiry) {
		tok := t.token
		if now.After(t.renewAt) {
			t.start() // in the background: this caller does not wait
		}
		t.mu.Unlock()
		return tok, nil
	}
	f := t.start()
	t.mu.Unlock()
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return nil, failed(contact.HubSlow, "token")
	case <-t.c.life.Done():
		return nil, failed(contact.HubError, "closed")
	}
}

// drop forgets a token that an API refused, unless it was replaced meanwhile.
func (t *tokens) drop(bad *oauth2.Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == bad {
		t.token = nil
	}
}

// warm fetches a token if none is there, and whenever one is about to expire.
func (t *tokens) warm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == nil {
		t.start()
	}
}

// start begins a fetch or joins the one under way. t.mu is held.
func (t *tokens) start() *fetch {
	if t.fetch != nil {
		return t.fetch
	}
	f := &fetch{done: make(chan struct{})}
	t.fetch = f
	t.c.work.Go(func() {
		// Its own deadline: the first caller may be gone before it is answered.
		ctx, cancel := context.WithTimeout(t.c.life, 15*time.Second)
		defer cancel()
		tok, life, err := t.c.requestToken(ctx)
		f.token, f.err = tok, err
		t.mu.Lock()
		t.fetch = nil
		if err == nil {
			t.token = tok
			margin := min(time.Minute, life/10)
			t.renewAt = tok.Expiry.Add(-2 * margin)
			t.schedule(life - 2*margin)
		}
		t.mu.Unlock()
		close(f.done)
	})
	return f
}

// stop ends the background renewal.
func (t *tokens) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
}

// schedule renews the token in the background. t.mu is held.
func (t *tokens) schedule(in time.Duration) {
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.c.life.Err() != nil {
		return
	}
	t.timer = time.AfterFunc(in, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.c.life.Err() == nil {
			t.start()
		}
	})
}

// requestToken asks for a token exactly as hub-api.md 4.1 says.
func (c *Client) requestToken(ctx context.Context) (*oauth2.Token, time.Duration, error) {
	secret, err := c.cfg.Secret(ctx)
	if err != nil || secret == "" {
		return nil, 0, failed(contact.NotSetUp, "no secret")
	}
	body := c.scopeParameter() + "=" + escape(c.cfg.Scopes) + "&grant_type=client_credentials"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/identity/token", strings.NewReader(body))
	if err != nil {
		return nil, 0, failed(contact.NotSetUp, "address")
	}
	r.Header.Set("Authorization", c.basic(secret))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxToken+1))
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	return c.readToken(resp, raw)
}

func (c *Client) scopeParameter() string {
	if c.cfg.ScopeParameter == "scope" {
		return "scope"
	}
	return "scopes"
}

// basic makes the Authorization header: unencoded as the document shows it, or
// form-encoded as RFC 6749 2.3.1 wants it.
func (c *Client) basic(secret string) string {
	id := c.cfg.ClientID
	if c.cfg.BasicAuthEncoding == "rfc6749" {
		id, secret = url.QueryEscape(id), url.QueryEscape(secret)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// escape percent-encodes everything but unreserved characters, so that a space
// is %20 and a colon %3A as in hub-api.md 4.1.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// readToken reads a standard OAuth 2.0 answer, success or error.
func (c *Client) readToken(resp *http.Response, raw []byte) (*oauth2.Token, time.Duration, error) {
	if len(raw) > maxToken {
		return nil, 0, failed(contact.NotUnderstood, "token: too long")
	}
	var a struct {
		AccessToken string          `json:"access_token"`
		ExpiresIn   json.RawMessage `json:"expires_in"`
		Error       string          `json:"error"`
	}
	parsed := json.Unmarshal(raw, &a)
	switch a.Error {
	case "invalid_client", "unauthorized_client", "invalid_grant", "access_denied":
		return nil, 0, failed(contact.CredentialsRefused, "token: "+a.Error)
	case "invalid_scope":
		return nil, 0, failed(contact.ScopeRefused, "token: "+a.Error)
	}
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return nil, 0, failed(contact.CredentialsRefused, statusDetail("token", s))
	case s == http.StatusProxyAuthRequired:
		return nil, 0, failed(contact.ProxyLogin, statusDetail("token", s))
	case s != http.StatusOK && s != http.StatusCreated:
		return nil, 0, failed(contact.HubError, statusDetail("token", s))
	case parsed != nil || a.Error != "" || a.AccessToken == "" || strings.ContainsFunc(a.AccessToken, notToken):
		return nil, 0, failed(contact.NotUnderstood, "token: no access token in the answer")
	}
	life := tokenLife(a.ExpiresIn, a.AccessToken)
	return &oauth2.Token{AccessToken: a.AccessToken, TokenType: "Bearer", Expiry: c.cfg.Now().Add(life)}, life, nil
}

func notToken(r rune) bool { return r <= 0x20 || r >= 0x7f }

// tokenLife is how long a token lasts: what the answer says, else what the
// token itself says by the difference of two of its own times (so that a wrong
// clock does no harm), else five minutes.
func tokenLife(expiresIn json.RawMessage, token string) time.Duration {
	if s := strings.Trim(string(expiresIn), `"`); s != "" && s != "null" {
		var n float64
		if json.Unmarshal([]byte(s), &n) == nil && n >= 1 {
			return min(max(time.Duration(min(n, 1e6))*time.Second, 10*time.Second), maxLife)
		}
	}
	if parts := strings.Split(token, "."); len(parts) == 3 {
		var claims struct{ Exp, Iat float64 }
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(raw, &claims) == nil && claims.Exp > 0 && claims.Iat > 0 {
			if life := time.Duration(claims.Exp-claims.Iat) * time.Second; life >= minLife && life <= maxLife {
				return life
			}
		}
	}
	return defaultLife
}

func statusDetail(what string, status int) string { return fmt.Sprintf("%s: status %d", what, status) }
