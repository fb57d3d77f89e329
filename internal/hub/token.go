package hub

import (
	"bytes"
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

// Lifetimes of tokens. The hub documents none.
const (
	defaultLife = 5 * time.Minute
	minLife     = 60 * time.Second // least lifetime taken from a token's own times
	maxLife     = 24 * time.Hour
)

// How often a token is requested as long as requests fail.
const (
	refuseFor    = 30 * time.Second // after refused credentials, or a secret that cannot be read
	firstPause   = 250 * time.Millisecond
	longestPause = 4 * time.Second // a phone is ringing
	longestWait  = time.Minute     // the longest a hub may request
	longestRetry = time.Minute     // in the background, with nobody waiting
	leastRenewal = 5 * time.Second
	fetchTime    = 15 * time.Second
)

// tokens holds the one token of a set of scopes and renews it before it expires, once
// for all callers. After a failure, callers get the same error for a while: half a minute
// if credentials or scopes were refused or the secret cannot be read; otherwise a pause that
// grows with each failure up to longestPause, or as long as the hub asks for, at most
// longestWait. A new Client starts afresh.
type tokens struct {
	c       *Client
	scopes  string
	fetches singleflight.Group

	mu         sync.Mutex
	current    *accessToken
	renewAt    time.Time
	timer      *time.Timer
	warmed     bool
	failures   int // consecutive
	err        error
	failedAt   time.Time
	pause      time.Duration
	rejectedAt time.Time // when a token that never worked was last dropped
}

// accessToken is a token and what a lookup sends with it. Only worked changes.
type accessToken struct {
	*oauth2.Token
	bearer []string    // value of the Authorization header
	header http.Header // of a lookup, shared by its requests
	worked atomic.Bool // an interface has accepted it
}

// sameScopes compares two space-separated lists as sets.
func sameScopes(a, b string) bool { return slices.Equal(scopeSet(a), scopeSet(b)) }

func scopeSet(s string) []string {
	set := strings.Fields(s)
	slices.Sort(set)
	return slices.Compact(set)
}

// timeReached compares by both of Go's clocks, since the monotonic one
// stops while the computer sleeps, and the wall clock may be set.
func timeReached(now, at time.Time) bool {
	return !now.Before(at) || !now.Round(0).Before(at.Round(0))
}

// get returns a valid token, or waits for one as long as ctx allows.
func (t *tokens) get(ctx context.Context) (*accessToken, error) {
	t.mu.Lock()
	now := t.c.cfg.Now()
	if g := t.current; g != nil && !timeReached(now, g.Expiry) {
		if timeReached(now, t.renewAt) && !t.backingOff(now) {
			t.start() // in the background, without waiting
		}
		t.mu.Unlock()
		return g, nil
	}
	if t.backingOff(now) {
		defer t.mu.Unlock()
		return nil, t.err
	}
	fetched := t.start() // under the lock, so that a request that has just ended is not repeated
	t.mu.Unlock()
	return t.wait(ctx, fetched)
}

// wait waits for a new token as long as ctx allows.
func (t *tokens) wait(ctx context.Context, fetched <-chan singleflight.Result) (*accessToken, error) {
	select {
	case r := <-fetched:
		g, _ := r.Val.(*accessToken)
		return g, r.Err
	case <-ctx.Done():
	case <-t.c.ctx.Done():
	}
	if t.c.ctx.Err() != nil {
		return nil, errClosed()
	}
	return nil, failed(contact.HubSlow, "token")
}

// backingOff reports whether it is too early to retry. t.mu is held.
func (t *tokens) backingOff(now time.Time) bool {
	since := now.Sub(t.failedAt)
	return t.err != nil && since >= 0 && since < t.pause
}

// recordStatus records the status of a request with the token, 0 without an
// answer, and reports whether it refuses the token. For a token that
// never worked that includes 403: it may predate a right that it lacks.
func (g *accessToken) recordStatus(status int) (refused bool) {
	switch {
	case status == http.StatusUnauthorized:
		return true
	case status == http.StatusForbidden:
		return !g.worked.Load()
	case status >= 200 && status < 300: // others may not have checked the token
		g.worked.Store(true)
	}
	return false
}

// drop forgets a refused token and reports whether retrying may help. A
// token that replaced it meanwhile stays. One that never worked is
// replaced only once in a while, since the token is then not the problem.
func (t *tokens) drop(bad *accessToken) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != bad {
		return true
	}
	if !bad.worked.Load() {
		now := t.c.cfg.Now()
		if since := now.Sub(t.rejectedAt); since >= 0 && since < refuseFor {
			return false
		}
		t.rejectedAt = now
	}
	t.current = nil
	return true
}

// warm fetches a token if there is none, and from then on whenever one is about to expire.
func (t *tokens) warm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warmed = true
	now := t.c.cfg.Now()
	switch {
	case t.current != nil && !timeReached(now, t.renewAt):
		t.schedule(t.renewAt.Sub(now))
	case !t.backingOff(now):
		t.start()
	}
}

// start requests a token, or joins the running request.
func (t *tokens) start() <-chan singleflight.Result {
	return t.fetches.DoChan("", func() (any, error) {
		if !t.c.begin() {
			return nil, errClosed()
		}
		defer t.c.work.Done()
		// It has its own deadline, since the first caller may leave before the answer comes.
		ctx, cancel := context.WithTimeout(t.c.ctx, fetchTime)
		defer cancel()
		token, wait, err := t.request(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		if err != nil {
			return nil, t.noteFailure(err, wait)
		}
		return t.install(token), nil
	})
}

// install installs a new token. t.mu is held.
func (t *tokens) install(token *oauth2.Token) *accessToken {
	bearer := []string{token.Type() + " " + token.AccessToken}
	t.current = &accessToken{Token: token, bearer: bearer, header: http.Header{"Authorization": bearer, "Accept": {"application/json"}}}
	t.failures, t.err = 0, nil
	life := time.Duration(token.ExpiresIn) * time.Second
	margin := 2 * min(time.Minute, life/10)
	t.renewAt = token.Expiry.Add(-margin)
	if t.warmed {
		t.schedule(max(life-margin, leastRenewal))
	}
	return t.current
}

// noteFailure records a failure and how long the hub asks us to wait, and returns the error
// for callers. t.mu is held.
func (t *tokens) noteFailure(err error, wait time.Duration) error {
	t.failures = min(t.failures+1, 20)
	t.err, t.failedAt = err, t.c.cfg.Now()
	switch contact.FailureOf(err) {
	case contact.CredentialsRefused, contact.ScopeRefused:
		t.pause = refuseFor
		return err // only an administrator can fix it: no background retries
	}
	t.pause = max(jitter(min(firstPause<<(t.failures-1), longestPause)), min(wait, longestWait))
	if contact.FailureOf(err) == contact.SecretUnreadable {
		t.pause = refuseFor // a keyring asks the user each time
	}
	if t.warmed {
		t.schedule(max(t.pause, jitter(min(time.Second<<t.failures, longestRetry))))
	}
	return err
}

// jitter returns a random time between a quarter of d and d, so that an office's computers do
// not all return at once.
func jitter(d time.Duration) time.Duration { return d/4 + rand.N(3*d/4) }

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
	if t.c.ctx.Err() != nil {
		return
	}
	t.timer = time.AfterFunc(in, func() { t.start() })
}

// secretResultFunc is told whether the hub accepted a secret from Config.Secret; other
// failures do not count. again requests one more attempt, with what Config.Secret then
// returns: a client may have two secrets while one replaces the other.
type secretResultFunc func(ctx context.Context, secret string, accepted bool) (again bool)

// request requests a token, once more with another secret if OnSecretResult says so. wait
// is how long the hub asks us to hold off.
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
		token, wait, err := t.post(ctx, secret)
		refused := err != nil && contact.FailureOf(err) == contact.CredentialsRefused
		again := false
		if answered := t.c.cfg.OnSecretResult; answered != nil && (err == nil || refused) {
			again = answered(ctx, secret, err == nil)
		}
		if !refused || !again || tries == 2 {
			return token, wait, err
		}
	}
}

// post sends one request, exactly as documented.
func (t *tokens) post(ctx context.Context, secret string) (token *oauth2.Token, wait time.Duration, err error) {
	c := t.c
	body := c.scopeParameter() + "=" + escape(t.scopes) + "&grant_type=client_credentials"
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/identity/token", strings.NewReader(body)) // cannot fail
	r.Header.Set("Authorization", c.basic(secret))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	// Requesting a token twice is harmless. This header, which is not sent, makes the
	// transport do so itself if the server closes the idle connection at that moment.
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

// basic returns the Authorization header: unencoded as documented, or form-encoded as
// RFC 6749 2.3.1 requires.
func (c *Client) basic(secret string) string {
	id := c.cfg.ClientID
	if c.cfg.BasicAuthEncoding == "rfc6749" {
		id, secret = url.QueryEscape(id), url.QueryEscape(secret)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// escape percent-encodes all but unreserved characters, so that a space is %20 and a
// colon %3A, as documented.
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
	parsed := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\ufeff")), &a)
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

// tokenErrors are the other codes of RFC 6749 5.2 that help an administrator. No other
// error code of a hub is passed on.
var tokenErrors = []string{"invalid_request", "unsupported_grant_type", "server_error", "temporarily_unavailable"}

func notToken(r rune) bool { return r <= 0x20 || r >= 0x7f }

// tokenLife returns a token's lifetime in whole seconds: the one in the answer, else the difference
// between two of the token's own times (so that a wrong clock does no harm), else five minutes.
func tokenLife(expiresIn json.RawMessage, token string) time.Duration {
	var n float64
	if json.Unmarshal([]byte(strings.Trim(string(expiresIn), `"`)), &n) == nil && n >= 1 {
		return time.Duration(min(n, maxLife.Seconds())) * time.Second
	}
	if parts := strings.Split(token, "."); len(parts) == 3 {
		var claims struct{ Exp, Iat float64 }
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(raw, &claims) == nil && claims.Iat > 0 {
			if life := claims.Exp - claims.Iat; life >= minLife.Seconds() && life <= maxLife.Seconds() {
				return time.Duration(life) * time.Second
			}
		}
	}
	return defaultLife
}

// retryAfter parses a Retry-After header, seconds or a date; 0 if there is no sensible one.
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
