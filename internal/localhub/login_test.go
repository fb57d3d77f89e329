package localhub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestGuardLocksNobodyElseOut checks that a network has five tries for a name, from all
// of its addresses and at one time, while others and other names have theirs; and that
// whoever has to wait is not forgotten for those who tried since.
func TestGuardLocksNobodyElseOut(t *testing.T) {
	g, now := guard{all: map[guesser]guesses{}}, time.Now()
	from := func(name, remote string, i int) guesser {
		return guesser{name, network(fmt.Sprintf(remote, i))}
	}
	networks := []string{"192.0.2.%d:40000", "[2001:db8::%x]:40000", "[::ffff:198.51.100.%d]:40000"}
	for _, remote := range networks {
		var taken atomic.Int32
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if g.try(from("anna", remote, i), now) == 0 {
					taken.Add(1)
				}
			})
		}
		if all.Wait(); taken.Load() != freeGuesses {
			t.Errorf("%s: %d tries", remote, taken.Load())
		}
	}
	for i := range 3 * maxGuessers {
		if wait := g.try(from(fmt.Sprint("name", i), networks[0], 1), now); wait > 0 || len(g.all) > maxGuessers {
			t.Fatalf("name %d waits %v, %d kept", i, wait, len(g.all))
		}
	}
	if g.try(from("anna", networks[0], 200), now) == 0 {
		t.Error("who has to wait was forgotten")
	}
}

// TestGuardForgets checks that the guard keeps a bounded number of guessers, however many
// have to wait, and that the last one still has to.
func TestGuardForgets(t *testing.T) {
	g, now := guard{all: map[guesser]guesses{}}, time.Now()
	for i := range 3 * maxGuessers {
		who := guesser{name: fmt.Sprint("name", i)}
		for range freeGuesses {
			g.try(who, now)
		}
		if g.try(who, now) == 0 || len(g.all) > maxGuessers {
			t.Fatalf("name %d need not wait, or %d are kept", i, len(g.all))
		}
	}
}

// TestOnlyCheckedPasswordsCount checks that a login that is given up before its password
// is checked uses up no try.
func TestOnlyCheckedPasswordsCount(t *testing.T) {
	h, _ := hubWithContact(t, newClock())
	const password, from = "een-wachtwoord", "192.0.2.1:1"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	givesUp := func() {
		t.Helper()
		r := (&http.Request{RemoteAddr: from}).WithContext(ctx)
		if ok, wait, err := h.tryPassword(r, "anna", "fout"); ok || wait > 0 || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, waits %v, %v", ok, wait, err)
		}
	}
	for range 2 * freeGuesses {
		givesUp()
	}
	if n := len(h.guard.all); n != 0 {
		t.Errorf("%d kept", n)
	}
	for i := range freeGuesses {
		if i == freeGuesses-1 { // the last try before the first wait
			givesUp()
		}
		attempt(h, map[string]string{}, from, "fout").is(t, http.StatusUnauthorized, "attempt ", i)
	}
	attempt(h, map[string]string{}, from, password).is(t, http.StatusTooManyRequests, "after all tries")
}

// attempt logs in through the handler alone, as if from remote.
func attempt(h *Hub, jar map[string]string, remote, password string) answer {
	r := httptest.NewRequest("POST", h.BaseURL()+"/login", strings.NewReader(url.Values{"user": {"anna"}, "password": {password}}.Encode()))
	r.RemoteAddr = remote
	r.Header.Set("Content-Type", form)
	for name, value := range jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	a := w.Result()
	if a.StatusCode == http.StatusSeeOther {
		for _, c := range a.Cookies() {
			jar[c.Name] = c.Value
		}
		delete(jar, h.cookieName("session"))
	}
	return answer{status: a.StatusCode, header: a.Header}
}

// TestRightPasswordGetsIn checks that however many wrong passwords are tried, a user with the
// right one gets in at once: with a new browser from elsewhere, and with one they have used
// before even from the attackers' network.
func TestRightPasswordGetsIn(t *testing.T) {
	h, _ := hubWithContact(t, newClock())
	const password, attackers = "een-wachtwoord", "127.0.0.1:1"
	known := map[string]string{}
	for i, want := range []int{401, 401, 303, 401, 401, 401, 401, 401, 429} {
		jar, with := map[string]string{}, "fout"
		if want == http.StatusSeeOther {
			jar, with = known, password
		}
		attempt(h, jar, attackers, with).is(t, want, "attempt ", i)
	}
	for range maxHashing + maxHashWaiting { // as if wrong ones were checked for ever
		h.waiting <- struct{}{}
	}
	for i := range 2 * freeGuesses { // refused at once, and not counted
		a := attempt(h, map[string]string{}, "192.0.2.1:1", "fout")
		a.is(t, http.StatusServiceUnavailable, "busy attempt ", i)
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("busy attempt %d: %v", i, a.header)
		}
	}
	attempt(h, map[string]string{}, "192.0.2.1:1", password).is(t, http.StatusSeeOther, "from elsewhere")
	attempt(h, known, attackers, password).is(t, http.StatusSeeOther, "with the user's browser")
	attempt(h, map[string]string{}, attackers, password).is(t, http.StatusTooManyRequests, "with another")
}

// TestSharedBrowserLocksNobodyOut checks that a colleague who guesses in a browser where the
// user has logged in leaves that user the tries of every network.
func TestSharedBrowserLocksNobodyOut(t *testing.T) {
	h, _ := hubWithContact(t, newClock())
	const password, office, home = "een-wachtwoord", "192.0.2.1:1", "198.51.100.1:1"
	known := map[string]string{}
	attempt(h, known, home, password).is(t, http.StatusSeeOther, "login")
	for i := range 2 * freeGuesses {
		attempt(h, known, office, "fout").is(t, http.StatusUnauthorized, "attempt ", i)
	}
	attempt(h, known, office, password).is(t, http.StatusTooManyRequests, "after all tries")
	attempt(h, known, home, password).is(t, http.StatusSeeOther, "from elsewhere")
}
