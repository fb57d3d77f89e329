package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

func newClock() *clocktest.Clock { return clocktest.New(time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)) }

// issuer is a hub with tokens of a given lifetime, by a test clock. "not before" is the
// serial number of the first token that it still accepts.
type issuer struct {
	*fake
	clock     *clocktest.Clock
	life      time.Duration
	notBefore atomic.Int64
}

func newIssuer(t testing.TB, life time.Duration) *issuer {
	i := &issuer{fake: newFake(t), clock: newClock(), life: life}
	i.token = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"access_token":"%d.%d","expires_in":%d}`, i.tokens.Load(), i.clock.Now().Add(i.life).UnixNano(), int(i.life.Seconds()))
	}
	answer := i.lookup
	i.lookup = func(w http.ResponseWriter, r *http.Request) {
		var serial, expiry int64
		_, _ = fmt.Sscanf(r.Header.Get("Authorization"), "Bearer %d.%d", &serial, &expiry)
		if serial < max(i.notBefore.Load(), 1) || i.clock.Now().UnixNano() >= expiry {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(w, r)
	}
	return i
}

func (i *issuer) client(t testing.TB, change func(*Config)) *Client {
	return newClient(t, i.URL, func(cfg *Config) {
		cfg.Now = i.clock.Now
		if change != nil {
			change(cfg)
		}
	})
}

// requested checks how many tokens have been requested.
func (i *issuer) requested(t *testing.T, want int64) {
	t.Helper()
	if n := i.tokens.Load(); n != want {
		t.Errorf("%d token requests, want %d", n, want)
	}
}

// lookupFails does a lookup and checks how it fails.
func lookupFails(ctx context.Context, t *testing.T, c *Client, number string, want contact.Failure) {
	t.Helper()
	if _, err := c.Lookup(ctx, number); contact.FailureOf(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// asked counts the numbers that calls has looked up: each of its lookups uses a new one.
var asked atomic.Int64

func calls(t *testing.T, c *Client, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := c.Lookup(t.Context(), fmt.Sprintf("+3120%07d", asked.Add(1))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestFiftyCallsWithAnExpiredTokenAskOnce(t *testing.T) {
	i := newIssuer(t, time.Hour)
	c := i.client(t, nil)
	calls(t, c, 1)
	i.clock.Forward(time.Hour)
	calls(t, c, 50)
	i.requested(t, 2) // one at first, one for fifty calls
	if n := i.lookups.Load(); n != 51 {
		t.Errorf("%d lookups: some went out with the old token", n)
	}
}

// TestFiftyRefusalsRefreshOnce checks that the token is renewed once if the
// hub invalidates it (a restart, a changed clock) while fifty calls use it.
func TestFiftyRefusalsRefreshOnce(t *testing.T) {
	i := newIssuer(t, time.Hour)
	c := i.client(t, nil)
	for round := int64(1); round <= 3; round++ {
		calls(t, c, 1)
		i.notBefore.Store(round + 1)
		before := i.lookups.Load()
		calls(t, c, 50)
		i.requested(t, round+1)
		if n := i.lookups.Load() - before; n > 100 {
			t.Errorf("round %d: %d requests for fifty calls", round, n)
		}
	}
}

// TestEarlyRefreshKeepsNobodyWaiting checks that a token about to expire
// is renewed in the background, by one request, while calls still use it.
func TestEarlyRefreshKeepsNobodyWaiting(t *testing.T) {
	i := newIssuer(t, time.Hour)
	c := i.client(t, nil)
	calls(t, c, 1)
	give := i.token
	begun, gate := make(chan struct{}), make(chan struct{})
	i.token = func(w http.ResponseWriter, r *http.Request) { close(begun); <-gate; give(w, r) }
	i.clock.Forward(time.Hour - 90*time.Second)
	calls(t, c, 50) // all answered while the token endpoint hangs
	if n := i.lookups.Load(); n != 51 {
		t.Errorf("%d lookups", n)
	}
	<-begun
	renewed := c.lookupTokens.start() // joins the request in progress
	close(gate)
	if r := <-renewed; i.tokens.Load() != 2 || r.Err != nil {
		t.Errorf("%d token requests, %v", i.tokens.Load(), r.Err)
	}
	i.clock.Forward(2 * time.Minute) // the old one has expired
	calls(t, c, 50)
	i.requested(t, 2) // the new token is used
}

// TestSleepIsSeen checks that expiry, of answers too, is noticed although the monotonic
// clock stands still while the computer sleeps and the wall clock may be set back.
func TestSleepIsSeen(t *testing.T) {
	now := time.Now()
	expiry := now.Add(time.Hour)
	later := now.Add(2 * time.Hour)
	asleep, setBack := clocktest.Slept(now, 2*time.Hour), clocktest.Slept(later, -2*time.Hour)
	for _, c := range []struct {
		at   time.Time
		want bool
	}{{now, false}, {expiry, true}, {later, true}, {asleep, true}, {setBack, true}} {
		if timeReached(c.at, expiry) != c.want {
			t.Errorf("%v: %v", c.at, !c.want)
		}
	}
	if kept := (answer{at: now}); !kept.fresh(now) || kept.fresh(asleep) {
		t.Error("an answer from before a sleep is still given, or a new one is not")
	}
}

// TestCallersDeadlineHolds: the token request hangs, and every caller returns at its own
// deadline, not when the token endpoint answers.
func TestCallersDeadlineHolds(t *testing.T) {
	i := newIssuer(t, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	gate := make(chan struct{})
	defer close(gate)
	i.token = func(http.ResponseWriter, *http.Request) { cancel(); <-gate }
	c := i.client(t, nil)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			lookupFails(ctx, t, c, fmt.Sprintf("+3120123%04d", n%10), contact.HubSlow)
		})
	}
	all.Wait() // though nobody has answered
	i.requested(t, 1)
}

// renewing reports whether the token of lookups will be requested in the background.
func renewing(c *Client) bool {
	c.lookupTokens.mu.Lock()
	defer c.lookupTokens.mu.Unlock()
	return c.lookupTokens.timer != nil
}

// TestOnlyWhatIsWarmIsRenewed checks that a token which nobody uses any more, such as that of the
// last delivery, is not renewed for ever, and one that a call may need at any moment is.
func TestOnlyWhatIsWarmIsRenewed(t *testing.T) {
	i := newIssuer(t, time.Hour)
	c := i.client(t, nil)
	calls(t, c, 1)
	if renewing(c) {
		t.Error("renewed although nobody asks")
	}
	c.Warm()
	if !renewing(c) {
		t.Error("not renewed in advance")
	}
	i.requested(t, 1)
}

// TestNoSecret: a secret that cannot be had is not the hub's fault.
func TestNoSecret(t *testing.T) {
	for _, f := range []struct {
		err  error
		want string
	}{
		{nil, "not_set_up: no secret"}, {errors.New("canary"), "not_set_up: no secret"},
		{&contact.LookupError{Failure: contact.SecretNotForUser, Detail: "d"}, "secret_no_right: d"},
	} {
		i := newIssuer(t, time.Hour)
		c := i.client(t, func(cfg *Config) { cfg.Secret = func(context.Context) (string, error) { return "", f.err } })
		_, err := c.Lookup(t.Context(), number)
		check(t, err, f.want)
		i.requested(t, 0)
	}
}

// TestForbiddenWithATokenThatWorked checks that the token stays: its rights were enough before.
func TestForbiddenWithATokenThatWorked(t *testing.T) {
	i := newIssuer(t, time.Hour)
	c := i.client(t, nil)
	calls(t, c, 1)
	i.lookup = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	for n := range 3 {
		lookupFails(t.Context(), t, c, fmt.Sprintf("+3120123%04d", n), contact.ScopeRefused)
	}
	i.requested(t, 1)
}

// TestRefusedCredentialsRest checks that what an administrator must fix is retried
// at most every half minute, by any caller, and that a new client tries at once.
func TestRefusedCredentialsRest(t *testing.T) {
	for _, code := range []string{"invalid_client", "unauthorized_client", "invalid_scope"} {
		i := newIssuer(t, time.Hour)
		good := i.token
		i.token = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":%q}`, code)
		}
		want := contact.CredentialsRefused
		if code == "invalid_scope" {
			want = contact.ScopeRefused
		}
		c := i.client(t, nil)
		c.Warm()
		fails := func() {
			t.Helper()
			for n := range 20 {
				lookupFails(t.Context(), t, c, fmt.Sprintf("+3120123%04d", n), want)
			}
		}
		fails()
		if renewing(c) {
			t.Errorf("%s: requested again although nobody asks", code)
		}
		i.clock.Forward(refuseFor - time.Second)
		fails()
		i.requested(t, 1)
		i.clock.Forward(time.Second)
		fails()
		i.requested(t, 2)
		i.token = good // the administrator changed the secret, so there is a new client
		calls(t, i.client(t, nil), 1)
		i.requested(t, 3)
		i.clock.Forward(refuseFor)
		calls(t, c, 1) // the old one recovers too
	}
}

// TestFailuresBackOff checks that other failures are retried soon, then
// less and less often, and as often as the hub asks for, within limits.
func TestFailuresBackOff(t *testing.T) {
	i := newIssuer(t, time.Hour)
	good := i.token
	header := ""
	i.token = func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	c := i.client(t, nil)
	fails := func() {
		t.Helper()
		lookupFails(t.Context(), t, c, number, contact.HubError)
	}
	var pauses []time.Duration
	for n := int64(1); n <= 8; n++ {
		fails()
		fails() // during the back-off: no request
		i.requested(t, n)
		pauses = append(pauses, c.lookupTokens.pause)
		if most := min(firstPause<<(n-1), longestPause); c.lookupTokens.pause > most || c.lookupTokens.pause < most/4 {
			t.Errorf("failure %d: a pause of %v, want up to %v", n, c.lookupTokens.pause, most)
		}
		i.clock.Forward(c.lookupTokens.pause)
	}
	if renewing(c) {
		t.Error("requested again although nobody asks")
	}
	header = "20"
	c.lookupTokens.warm() // what was asked for in advance is requested again in the background
	fails()
	if !renewing(c) {
		t.Error("not requested again")
	}
	if c.lookupTokens.pause != 20*time.Second {
		t.Errorf("Retry-After: 20: a pause of %v", c.lookupTokens.pause)
	}
	i.clock.Forward(20 * time.Second)
	header = "86400"
	fails()
	if c.lookupTokens.pause != longestWait {
		t.Errorf("Retry-After: 86400: a pause of %v", c.lookupTokens.pause)
	}
	i.token = good
	i.clock.Forward(longestWait)
	calls(t, c, 1)
	if c.lookupTokens.failures != 0 || c.lookupTokens.err != nil {
		t.Errorf("after success: %d failures, %v; pauses were %v", c.lookupTokens.failures, c.lookupTokens.err, pauses)
	}
}

// TestRetryAfter: only a time that lies ahead and can be counted is waited for.
func TestRetryAfter(t *testing.T) {
	now := newClock().Now()
	for s, want := range map[string]time.Duration{
		"20": 20 * time.Second, "-20": 0, "soon": 0, "18446744073709551615": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(s, now); got != want {
			t.Errorf("%s: %v, want %v", s, got, want)
		}
	}
}

// TestAnInterfaceThatRefusesEveryToken checks that we do not request
// token after token, and that we soon have a valid one once the
// interface accepts newer ones, for instance after a right was granted.
func TestAnInterfaceThatRefusesEveryToken(t *testing.T) {
	for status, failure := range map[int]contact.Failure{http.StatusUnauthorized: contact.CredentialsRefused, http.StatusForbidden: contact.ScopeRefused} {
		i := newIssuer(t, time.Hour)
		good, refused := i.lookup, "Bearer 1. Bearer 2."
		i.lookup = func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.RawQuery, "0003") { // the hub is restarted
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			if token, _, _ := strings.Cut(r.Header.Get("Authorization"), "."); strings.Contains(refused, token+".") {
				w.WriteHeader(status)
				return
			}
			good(w, r)
		}
		c := i.client(t, nil)
		for n := range 50 {
			want := failure
			if n == 3 {
				want = contact.HubError
			}
			lookupFails(t.Context(), t, c, fmt.Sprintf("+3120123%04d", n), want)
		}
		i.requested(t, 2)
		i.clock.Forward(refuseFor)
		calls(t, c, 1)
	}
}

func TestEqualScopeSetsShareOneToken(t *testing.T) {
	for _, c := range []struct {
		scopes, delivery string
		want             int64
	}{
		{"", "", 1},
		{"a b c", "", 1},
		{"a b c", "c  a b a", 1},
		{"Basic orgCode:<code>", "orgCode:1234 Basic", 1},
		{"a b c", "a b", 2},
		{"a b", "A b", 2},
	} {
		i := newIssuer(t, time.Hour)
		cl := i.client(t, func(cfg *Config) { cfg.Scopes, cfg.DeliveryScopes = c.scopes, c.delivery })
		for range 3 {
			for _, k := range []*tokens{cl.lookupTokens, cl.deliveryTokens} {
				must.Get(k.get(t.Context()))(t)
			}
		}
		if n := i.tokens.Load(); n != c.want {
			t.Errorf("%q and %q: %d tokens, want %d", c.scopes, c.delivery, n, c.want)
		}
	}
}

// TestCloseEndsWaiting: calls that wait for a token, or for an answer, end when the client
// is closed; later ones fail.
func TestCloseEndsWaiting(t *testing.T) {
	for _, at := range []string{"token", "lookup"} {
		i := newIssuer(t, time.Hour)
		reached := make(chan struct{}, 10)
		hang := func(_ http.ResponseWriter, r *http.Request) {
			reached <- struct{}{}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}
		if at == "token" {
			i.token = hang
		} else {
			i.lookup = hang
		}
		c := i.client(t, func(cfg *Config) { cfg.LookupTimeout = time.Minute })
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				lookupFails(context.Background(), t, c, number, contact.HubError)
			})
		}
		<-reached
		c.Close()
		all.Wait()
		lookupFails(context.Background(), t, c, number, contact.HubError)
		c.Warm()
		c.Close()
	}
}

// TestSomebodyElseGoesOn checks that when the caller that started a request gives up, the
// request ends, and another one that waits for the same number is still answered.
func TestSomebodyElseGoesOn(t *testing.T) {
	for range 50 { // it is random whether the second joins before the first leaves
		i := newIssuer(t, time.Hour)
		answer := i.lookup
		first := make(chan struct{})
		i.lookup = func(w http.ResponseWriter, r *http.Request) {
			if i.lookups.Load() == 1 {
				close(first)
				<-r.Context().Done()
				return
			}
			answer(w, r)
		}
		c := i.client(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			lookupFails(ctx, t, c, number, contact.HubSlow)
		})
		<-first
		all.Go(func() {
			if found, err := c.Lookup(t.Context(), number); err != nil || len(found) != 1 {
				t.Errorf("who waited: %v", err)
			}
		})
		all.Go(cancel)
		all.Wait()
	}
}

// TestAnswersAreForgotten: no answer is cached for much longer than its minute, and
// never more than maxKept.
func TestAnswersAreForgotten(t *testing.T) {
	clock := newClock()
	f := newFlights(clock.Now)
	defer f.forget()
	found := []contact.Contact{{ID: "c1"}}
	f.mu.Lock()
	for n := range 3 * maxKept {
		f.store(fmt.Sprint(n), found)
		if len(f.cached) > maxKept || f.cached[fmt.Sprint(n)].found == nil || f.sweep == nil {
			t.Fatalf("%d answers, or not the newest, or they will never go", len(f.cached))
		}
	}
	f.store("many", make([]contact.Contact, maxKeptContacts+1))
	if f.cached["many"].found != nil {
		t.Error("an answer of any size is kept")
	}
	f.mu.Unlock()
	f.clean() // like the timer
	if len(f.cached) != maxKept || f.sweep == nil {
		t.Error("fresh answers are gone, or will never go")
	}
	clock.Forward(cacheFor)
	f.clean()
	if len(f.cached) != 0 || f.sweep != nil {
		t.Errorf("%d answers after a minute", len(f.cached))
	}
}

// FuzzToken checks that any answer of a token endpoint yields a
// usable token for at most a day, or a failure of the right kind.
func FuzzToken(f *testing.F) {
	for _, s := range []string{goodToken, `{"error":"invalid_client"}`, `{"access_token":"e30.eyJpYXQiOjEsImV4cCI6OTAwfQ.x"}`,
		`{"access_token":"a","expires_in":"1e9"}`, `{"access_token":"a","expires_in":[]}`, "<html>", "null"} {
		f.Add(200, []byte(s))
	}
	f.Add(401, []byte("{}"))
	now := newClock().Now()
	f.Fuzz(func(t *testing.T, status int, raw []byte) {
		token, err := readToken(status, raw, now)
		if err != nil {
			var l *contact.LookupError
			if !errors.As(err, &l) || token != nil || strings.ContainsFunc(l.Detail, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("%v", err)
			}
			return
		}
		life := token.Expiry.Sub(now)
		if life < time.Second || life > maxLife || life != time.Duration(token.ExpiresIn)*time.Second {
			t.Fatalf("a life of %v", life)
		}
		if token.AccessToken == "" || strings.ContainsFunc(token.AccessToken, notToken) || !json.Valid(raw) {
			t.Fatal("a token that cannot be sent")
		}
	})
}
