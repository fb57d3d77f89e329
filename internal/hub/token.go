package hub

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"wiebelt/internal/core/contact"
)

// Lives of tokens. The hub documents none.
const (
	defaultLife = 5 * time.Minute
	minLife     = 60 * time.Second // of what a token says of itself
	maxLife     = 24 * time.Hour
)

// How often a token is asked for when there is none to be had.
const (
	refuseFor    = 30 * time.Second // refused credentials are not tried more often
	firstPause   = 250 * time.Millisecond
	longestPause = 4 * time.Second // a telephone is ringing
	longestWait  = time.Minute     // that the hub may ask for
	longestRetry = time.Minute     // in the background, where nobody waits
	leastRenewal = 5 * time.Second
	fetchTime    = 15 * time.Second
)

// tokens holds the one token of a set of scopes and fetches a new one, once for
// however many callers, before it expires. After a failure callers are told the
// same again for a while: half a minute where credentials or scopes were
// refused, otherwise longer from failure to failure, as far as longestPause. A
// new Client knows nothing of that.
type tokens struct {
	c       *Client
	scopes  string
	fetches singleflight.Group

	mu       sync.Mutex
	grant    *grant
	renewAt  time.Time
	timer    *time.Timer
	warmed   bool
	failures int // in a row
	err      error
	failedAt time.Time
	pause    time.Duration
	vainly   time.Time // when a token was last dropped that had never worked
}

// grant is a token and what a lookup sends with it. Nobody changes it.
type grant struct {
	*oauth2.Token
	bearer []string    // the value of Authorization
	header http.Header // of a lookup, shared by its requests
	worked atomic.Bool // some interface took it
}

// sameScopes compares two space-separated lists as sets.
func sameScopes(a, b string) bool { return slices.Equal(scopeSet(a), scopeSet(b)) }

func scopeSet(s string) []string {
	set := strings.Fields(s)
	slices.Sort(set)
	return slices.Compact(set)
}

// reached compares by both of Go's clocks: the monotonic one stands still while
// the computer sleeps, the other may be set.
func reached(now, at time.Time) bool {
	return !now.Before(at) || !now.Round(0).Before(at.Round(0))
}

// get returns a token that is good now, or waits for one as long as ctx allows.
func (t *tokens) get(ctx context.Context) (*grant, error) {
	t.mu.Lock()
	now := t.c.cfg.Now()
	if g := t.grant; g != nil && !reached(now, g.Expiry) {
		if reached(now, t.renewAt) && !t.resting(now) {
			t.start() // in the background: this caller does not wait
		}
		t.mu.Unlock()
		return g, nil
	}
	if t.resting(now) {
		defer t.mu.Unlock()
		return nil, t.err
	}
	fetched := t.start() // under the lock: a request that has just ended is not made again
	t.mu.Unlock()
	return t.wait(ctx, fetched)
}

// wait waits for a new token as long as ctx allows.
func (t *tokens) wait(ctx context.Context, fetched <-chan singleflight.Result) (*grant, error) {
	select {
	case r := <-fetched:
		g, _ := r.Val.(*grant)
		return g, r.Err
	case <-ctx.Done():
	case <-t.c.life.Done():
	}
	if t.c.life.Err() != nil {
		return nil, errClosed()
	}
	return nil, failed(contact.HubSlow, "token")
}

// resting reports whether it is too early to try again. t.mu is held.
func (t *tokens) resting(now time.Time) bool {
	since := now.Sub(t.failedAt)
	return t.err != nil && since >= 0 && since < t.pause
}

// answered notes how a request with the token ended, with status 0 if there was no
// answer, and reports whether that is a no to the token. One that never worked may be
// older than a right that it lacks.
func (g *grant) answered(status int) (refused bool) {
	switch {
	case status == http.StatusUnauthorized:
		return true
	case status == http.StatusForbidden:
		return !g.worked.Load()
	case status >= 200 && status < 300: // of others nobody knows whether it was looked at
		g.worked.Store(true)
	}
	return false
}

// drop forgets a token that an interface refused and reports whether asking
// again may help. Whatever replaced the token meanwhile stays. A token that was
// refused from its first use on is replaced once in a while only: it is not the
// token that is wrong.
func (t *tokens) drop(bad *grant) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.grant != bad {
		return true
	}
	if !bad.worked.Load() {
		now := t.c.cfg.Now()
		if since := now.Sub(t.vainly); since >= 0 && since < refuseFor {
			return false
		}
		t.vainly = now
	}
	t.grant = nil
	return true
}

// warm fetches a token if none is there, and from then on whenever one is about
// to expire.
func (t *tokens) warm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warmed = true
	now := t.c.cfg.Now()
	if (t.grant == nil || reached(now, t.renewAt)) && !t.resting(now) {
		t.start()
	}
}

// start asks for a token, or joins the request that is under way.
func (t *tokens) start() <-chan singleflight.Result {
	return t.fetches.DoChan("", func() (any, error) {
		if !t.c.begin() {
			return nil, errClosed()
		}
		defer t.c.work.Done()
		// Its own deadline: the first caller may be gone before it is answered.
		ctx, cancel := context.WithTimeout(t.c.life, fetchTime)
		defer cancel()
		token, wait, err := t.request(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		if err != nil {
			return nil, t.noteFailure(err, wait)
		}
		return t.took(token), nil
	})
}

// took puts a new token in place. t.mu is held.
func (t *tokens) took(token *oauth2.Token) *grant {
	bearer := []string{token.Type() + " " + token.AccessToken}
	t.grant = &grant{Token: token, bearer: bearer, header: http.Header{"Authorization": bearer, "Accept": {"application/json"}}}
	t.failures, t.err = 0, nil
	life := time.Duration(token.ExpiresIn) * time.Second
	margin := 2 * min(time.Minute, life/10)
	t.renewAt = token.Expiry.Add(-margin)
	t.schedule(max(life-margin, leastRenewal))
	return t.grant
}

// noteFailure remembers a failure, after which the hub asks us to wait, and returns what
// callers are told. t.mu is held.
func (t *tokens) noteFailure(err error, wait time.Duration) error {
	t.failures = min(t.failures+1, 20)
	t.err, t.failedAt = err, t.c.cfg.Now()
	switch contact.FailureOf(err) {
	case contact.CredentialsRefused, contact.ScopeRefused:
		t.pause = refuseFor
		return err // only an administrator can mend it: nothing in the background
	}
	t.pause = max(jitter(min(firstPause<<(t.failures-1), longestPause)), min(wait, longestWait))
	if t.warmed {
		t.schedule(max(t.pause, jitter(min(time.Second<<t.failures, longestRetry))))
	}
	return err
}

// jitter is a random part of d, so that the computers of an office do not all
// come back in the same moment.
func jitter(d time.Duration) time.Duration { return d/4 + rand.N(3*d/4) }

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
	t.timer = time.AfterFunc(in, func() { t.start() })
}

// secretAnswered is told whether the hub took a secret that Config.Secret gave
// out; other failures say nothing of it. again asks for one more try, with what
// Config.Secret gives then: a client may have two secrets while one takes the
// place of the other.
type secretAnswered func(ctx context.Context, secret string, accepted bool) (again bool)

// request asks for a token, once more with another secret where SecretAnswered says so.
// wait is how long the hub asks us not to ask again.
func (t *tokens) request(ctx context.Context) (*oauth2.Token, time.Duration, error) {
	for tries := 1; ; tries++ {
		secret, err := t.c.cfg.Secret(ctx)
		var why *contact.LookupError
		switch {
		case errors.As(err, &why):
			return nil, 0, why
		case err != nil || secret == "":
			return nil, 0, failed(contact.NotSetUp, "no secret")
		}
		token, wait, err := t.ask(ctx, secret)
		refused := err != nil && contact.FailureOf(err) == contact.CredentialsRefused
		again := false
		if answered := t.c.cfg.SecretAnswered; answered != nil && (err == nil || refused) {
			again = answered(ctx, secret, err == nil)
		}
		if !refused || !again || tries == 2 {
			return token, wait, err
		}
	}
}

// ask sends one request, exactly as documented.
func (t *tokens) ask(ctx context.Context, secret string) (token *oauth2.Token, wait time.Duration, err error) {
	c := t.c
	body := c.scopeParameter() + "=" + escape(t.scopes) + "&grant_type=client_credentials"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/identity/token", strings.NewReader(body))
	if err != nil {
		return nil, 0, failed(contact.NotSetUp, "address")
	}
	r.Header.Set("Authorization", c.basic(secret))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	// A token may be asked for twice. With this, which is not sent, the transport does so
	// itself when the server closes the idle connection just then.
	r.Header["Idempotency-Key"] = nil
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxToken+1))
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	if token, err = readToken(resp.StatusCode, raw, c.cfg.Now()); err != nil {
		c.passRefusal(raw, secret, url.QueryEscape(secret), strings.TrimPrefix(c.basic(secret), "Basic "))
	}
	return token, retryAfter(resp.Header.Get("Retry-After"), c.cfg.Now()), err
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
// is %20 and a colon %3A, as documented.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// readToken reads a standard OAuth 2.0 answer, success or error.
func readToken(status int, raw []byte, now time.Time) (*oauth2.Token, error) {
	if len(raw) > maxToken {
		return nil, failed(contact.NotUnderstood, "token: too long")
	}
	var a struct {
		AccessToken string          `json:"access_token"`
		ExpiresIn   json.RawMessage `json:"expires_in"`
		Error       string          `json:"error"`
	}
	parsed := json.Unmarshal(raw, &a)
	switch a.Error {
	case "invalid_client", "unauthorized_client", "invalid_grant", "access_denied":
		return nil, failed(contact.CredentialsRefused, "token: "+a.Error)
	case "invalid_scope":
		return nil, failed(contact.ScopeRefused, "token: "+a.Error)
	}
	switch s := status; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return nil, failed(contact.CredentialsRefused, statusDetail("token", s))
	case s == http.StatusProxyAuthRequired:
		return nil, failed(contact.ProxyLogin, statusDetail("token", s))
	case s != http.StatusOK && s != http.StatusCreated:
		detail := statusDetail("token", s)
		if slices.Contains(tokenErrors, a.Error) {
			detail += " " + a.Error
		}
		return nil, failed(contact.HubError, detail)
	case parsed != nil || a.Error != "" || a.AccessToken == "" || len(a.AccessToken) > maxBearer || strings.ContainsFunc(a.AccessToken, notToken):
		return nil, failed(contact.NotUnderstood, "token: no access token in the answer")
	}
	life := tokenLife(a.ExpiresIn, a.AccessToken)
	return &oauth2.Token{AccessToken: a.AccessToken, TokenType: "Bearer", Expiry: now.Add(life), ExpiresIn: int64(life / time.Second)}, nil
}

// tokenErrors are the other codes of RFC 6749 5.2 that help an administrator.
// Nothing else that a hub calls its error is passed on.
var tokenErrors = []string{"invalid_request", "unsupported_grant_type", "server_error", "temporarily_unavailable"}

func notToken(r rune) bool { return r <= 0x20 || r >= 0x7f }

// tokenLife is how long a token lasts, in whole seconds: what the answer says,
// else what the token itself says by the difference of two of its own times (so
// that a wrong clock does no harm), else five minutes.
func tokenLife(expiresIn json.RawMessage, token string) time.Duration {
	if s := strings.Trim(string(expiresIn), `"`); s != "" && s != "null" {
		var n float64
		if json.Unmarshal([]byte(s), &n) == nil && n >= 1 {
			return time.Duration(min(n, maxLife.Seconds())) * time.Second
		}
	}
	if parts := strings.Split(token, "."); len(parts) == 3 {
		var claims struct{ Exp, Iat float64 }
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(raw, &claims) == nil && claims.Exp > 0 && claims.Iat > 0 {
			if life := claims.Exp - claims.Iat; life >= minLife.Seconds() && life <= maxLife.Seconds() {
				return time.Duration(life) * time.Second
			}
		}
	}
	return defaultLife
}

// retryAfter reads a Retry-After header, seconds or a date; 0 if there is none
// that makes sense.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

func statusDetail(what string, status int) string { return fmt.Sprintf("%s: status %d", what, status) }
