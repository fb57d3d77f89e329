package hubwatch

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/health"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checked is a hub that gives the answers it is set to.
type checked struct {
	mu     sync.Mutex
	fails  contact.Failure
	at     []time.Time
	during func() // called during a check
}

func (c *checked) Check(context.Context) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Now())
	if c.during != nil {
		c.during()
	}
	if c.fails == "" {
		return time.Hour, nil
	}
	return 0, &contact.LookupError{Failure: c.fails}
}

func (c *checked) answers(f contact.Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = f
}

func (c *checked) times() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Time(nil), c.at...)
}

// watched is a watch over one hub, in synctest time.
type watched struct {
	*Hub
	hub  *checked
	none atomic.Bool // nothing is set up
	news int
	back int // times the hub came back
	log  bytes.Buffer
}

func watching(t *testing.T) *watched {
	w := &watched{hub: &checked{}}
	w.Hub = NewHub(HubParams{Client: func() TokenChecker {
		if w.none.Load() {
			return nil
		}
		return w.hub
	}, Changed: func() { w.news++ }, Recovered: func() { w.back++ }, Log: slog.New(slog.NewJSONHandler(&w.log, nil))}, &HubState{})
	must.Run(t, w.Run)
	return w
}

// state returns what the tray would show.
func (w *watched) state() health.State {
	f := health.Facts{SetUp: true}
	w.seen.AddTo(&f)
	return health.Assess(f, text.English, "", time.Now()).State
}

// TestRefusedBeforeTheFirstCall checks that an overnight change at the hub, or of
// the secret, is known in the morning and reported once.
func TestRefusedBeforeTheFirstCall(t *testing.T) {
	for failure, state := range map[contact.Failure]health.State{contact.CredentialsRefused: health.CredentialsRefused, contact.NotSetUp: health.NotSetUp} {
		synctest.Test(t, func(t *testing.T) {
			w := watching(t)
			synctest.Wait()
			if w.state() != health.Ready || w.news != 0 || len(w.hub.times()) != 1 {
				t.Fatalf("state %d, %d news after %d checks", w.state(), w.news, len(w.hub.times()))
			}
			w.hub.answers(failure)
			time.Sleep(5 * time.Hour) // synctest time
			synctest.Wait()
			if w.state() != state || w.news != 1 {
				t.Errorf("state %d, told %d times", w.state(), w.news)
			}
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			if w.news != 1 || strings.Count(w.log.String(), "gives no token") != 1 {
				t.Errorf("told %d times: %s", w.news, w.log.String())
			}
			w.hub.answers("")
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if w.state() != health.Ready || w.news != 2 {
				t.Errorf("mended: state %d, told %d times", w.state(), w.news)
			}
		})
	}
}

// TestChecksAreSparse: the hub is checked about every four hours while all is well, about
// every hour after it has refused, and soon, then less often, while it is unreachable.
func TestChecksAreSparse(t *testing.T) {
	for _, c := range []struct {
		f           contact.Failure
		least, most int // per week
	}{{"", 37, 49}, {contact.CredentialsRefused, 149, 193}, {contact.NoNetwork, 900, 1200}} {
		synctest.Test(t, func(t *testing.T) {
			w := watching(t)
			w.hub.answers(c.f)
			time.Sleep(7 * 24 * time.Hour)
			synctest.Wait()
			if n := len(w.hub.times()); n < c.least || n > c.most {
				t.Errorf("%q: %d checks in a week, want %d to %d", c.f, n, c.least, c.most)
			}
		})
	}
}

// TestANetworkThatIsLate checks that a network that comes up late is
// not reported, and one that stays down is.
func TestANetworkThatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		synctest.Wait()
		w.hub.answers(contact.NoNetwork)
		for range 2 {
			w.Resumed()
			time.Sleep(afterWaking)
			synctest.Wait()
		}
		if n := len(w.hub.times()); n != 3 || w.news != 0 {
			t.Fatalf("%d checks, %d news", n, w.news)
		}
		w.hub.answers("")
		time.Sleep(2 * retryFirst)
		synctest.Wait()
		if n := len(w.hub.times()); n != 4 || w.news != 0 || w.state() != health.Ready {
			t.Fatalf("%d checks, %d news", n, w.news)
		}
		w.hub.answers(contact.NoNetwork)
		for len(w.hub.times()) == 4 {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if w.news != 0 {
			t.Error("one failure in a row is news")
		}
		w.hub.answers(contact.HubSlow)
		time.Sleep(2 * retryFirst)
		synctest.Wait()
		if w.news != 1 || w.state() != health.HubGone {
			t.Errorf("%d news, state %d", w.news, w.state())
		}
		w.hub.answers("")
		time.Sleep(5 * retryFirst)
		synctest.Wait()
		if w.back != 1 || w.state() != health.Ready {
			t.Errorf("there again %d times, state %d", w.back, w.state())
		}
	})
}

// TestALookupFailed checks that one failed lookup does not show the hub as unreachable for
// hours, and that an unreachable hub shows as such throughout.
func TestALookupFailed(t *testing.T) {
	for _, back := range []time.Duration{0, 20 * time.Second, 3 * time.Minute} { // twenty: one check fails
		synctest.Test(t, func(t *testing.T) {
			w := watching(t)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			at := time.Now()
			state := func() health.State {
				w.NoteLookup(at, contact.HubSlow) // as often as anything changes
				f := health.Facts{SetUp: true}
				f.Lookup.At, f.Lookup.Failure = at, contact.HubSlow
				w.seen.AddTo(&f)
				return health.Assess(f, text.English, "", time.Now()).State
			}
			if back > 0 {
				w.hub.answers(contact.HubSlow)
			}
			if state() != health.HubGone {
				t.Fatalf("a look-up failed: state %d", state())
			}
			for end := time.Now().Add(back); time.Now().Before(end); time.Sleep(time.Second) {
				synctest.Wait()
				if state() != health.HubGone {
					t.Fatalf("gone for %v: state %d", time.Since(at), state())
				}
			}
			news := w.news
			w.hub.answers("")
			time.Sleep(2*back + 2*retryFirst)
			synctest.Wait()
			if state() != health.Ready || w.news == news {
				t.Errorf("back since %v: state %d, told %d times", time.Since(at)-back, state(), w.news-news)
			}
			if n := len(w.hub.times()); n > 12 {
				t.Errorf("%d checks", n)
			}
		})
	}
}

// TestNothingToAsk checks that a lookup triggers no check if it succeeded, if a token says
// nothing about its failure, or if that failure was already reported.
func TestNothingToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		synctest.Wait()
		at := time.Now()
		for want, all := range [][]contact.Failure{1: {"", contact.NotUnderstood}, 2: {contact.HubSlow}, 3: {contact.HubSlow}} {
			for _, f := range all {
				w.NoteLookup(at, f)
			}
			time.Sleep(2 * retryFirst)
			synctest.Wait()
			if n := len(w.hub.times()); n != min(max(want, 1), 2) {
				t.Errorf("%d checks after %q", n, all)
			}
		}
	})
}

// TestOtherSettings checks that new settings discard the results of the old ones, even
// during a check, and that having nothing set up is not a failure.
func TestOtherSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		w.hub.answers(contact.CredentialsRefused)
		w.SettingsChanged()
		synctest.Wait()
		if w.state() != health.CredentialsRefused {
			t.Fatalf("state %d", w.state())
		}
		w.CheckAfter(time.Hour) // requested earlier; delays nothing
		w.none.Store(true)
		w.SettingsChanged()
		synctest.Wait()
		if w.state() != health.Ready {
			t.Errorf("state %d", w.state())
		}
		w.hub.during = func() { w.none.Store(true) }
		w.none.Store(false)
		w.SettingsChanged()
		synctest.Wait()
		if n := len(w.hub.times()); w.state() != health.Ready || n != 3 {
			t.Errorf("state %d after %d checks", w.state(), n)
		}
	})
}

// TestCallsKnowBetter checks that the newest evidence counts, and that a token says
// nothing about what lies behind it.
func TestCallsKnowBetter(t *testing.T) {
	now := time.Date(2026, 10, 1, 10, 0, 0, 0, time.Local)
	for _, c := range []struct {
		name         string
		lookup, seen contact.Failure
		lookupLater  bool
		want         contact.Failure
	}{
		{"refused since the last call", "", contact.CredentialsRefused, false, contact.CredentialsRefused},
		{"a call since then went well", "", contact.CredentialsRefused, true, ""},
		{"a call since then failed", contact.HubError, "", true, contact.HubError},
		{"mended since the last call", contact.CredentialsRefused, "", false, ""},
		{"network back since", contact.NoNetwork, "", false, ""},
		{"lookups fail, tokens do not", contact.HubError, "", false, contact.HubError},
		{"not understood", contact.NotUnderstood, "", false, contact.NotUnderstood},
		{"may not look up", contact.ScopeRefused, "", false, contact.ScopeRefused},
	} {
		var h HubState
		h.note(c.seen, now)
		var f health.Facts
		f.Lookup.Failure, f.Lookup.At = c.lookup, now.Add(-time.Hour)
		if c.lookupLater {
			f.Lookup.At = now.Add(time.Hour)
		}
		h.AddTo(&f)
		if f.Lookup.Failure != c.want {
			t.Errorf("%s: %q, want %q", c.name, f.Lookup.Failure, c.want)
		}
	}
	var f health.Facts
	f.Lookup.Failure = contact.NoNetwork
	new(HubState).AddTo(&f)
	if f.Lookup.Failure != contact.NoNetwork {
		t.Error("who never checked knows nothing")
	}
}
