package localhub

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestOneNetworkLocksNobodyOut checks that a network that tries one name after another is
// refused as a whole, from any of its addresses, while others can still log in.
func TestOneNetworkLocksNobodyOut(t *testing.T) {
	for _, remote := range []string{"192.0.2.%d:40000", "[2001:db8::%x]:40000", "[::ffff:192.0.2.%d]:40000"} {
		l, now := new(limiter), time.Now()
		taken := 0
		for i := range 3 * maxCounters {
			from := network(fmt.Sprintf(remote, i%250))
			if _, ok := l.try(now, limitKey{name: fmt.Sprint("name", i), network: from}, limitKey{network: from}); ok {
				taken++
			}
		}
		if taken != limitPerNetwork || len(l.recent) > limitPerNetwork+1 {
			t.Errorf("%d tries, %d kept", taken, len(l.recent))
		}
		other := network("198.51.100.1:40000")
		if wait, ok := l.try(now, limitKey{name: "name1", network: other}, limitKey{network: other}); !ok {
			t.Errorf("another network waits %v", wait)
		}
	}
}

// TestLimiterForgets checks that the number of networks kept is limited,
// and those not seen recently are dropped.
func TestLimiterForgets(t *testing.T) {
	l, now := new(limiter), time.Now()
	key := func(i int) limitKey {
		return limitKey{name: "anna", network: network(fmt.Sprintf("10.%d.%d.1:1", i/250, i%250))}
	}
	for range limitPerUser {
		l.try(now, key(0))
	}
	for i := 1; i < 3*maxCounters; i++ {
		if _, ok := l.try(now, key(i)); !ok || len(l.recent)+len(l.older) > maxCounters {
			t.Fatalf("%d: %v, %d kept", i, ok, len(l.recent)+len(l.older))
		}
		if i%1000 == 0 {
			if _, ok := l.try(now, key(0)); ok { // still active, so not dropped
				t.Fatalf("%d: forgotten", i)
			}
		}
	}
}

// attempt logs in through the handler alone, as if from remote.
func attempt(h *Hub, jar map[string]string, remote, user, password string) int {
	r := httptest.NewRequest("POST", h.BaseURL()+"/login", strings.NewReader(url.Values{"user": {user}, "password": {password}}.Encode()))
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
	return a.StatusCode
}

// TestRightPasswordGetsIn checks that during 6,000 wrong attempts from 6,000 addresses, in separate
// networks or many in one, a user with the right password gets in at once: with a new browser from
// elsewhere, and with a browser they have used before even from the attackers' network.
func TestRightPasswordGetsIn(t *testing.T) {
	defer func(old int) { hashCost = old }(hashCost)
	hashCost = 5
	h := must.Get(Start(t.Context(), Config{}))(t)
	defer h.Close()
	const password = "een-wachtwoord"
	must.Do(t, h.AddUser(t.Context(), "anna", password, false))
	known := map[string]string{}
	for i, c := range []struct {
		password string
		want     int
	}{{"fout", 401}, {"fout", 401}, {password, 303}} {
		if status := attempt(h, known, fmt.Sprintf("127.0.%d.1:1", i), "anna", c.password); status != c.want {
			t.Fatalf("status %d", status)
		}
	}

	address := func(i int) string {
		switch i % 4 {
		case 0:
			return fmt.Sprintf("127.0.0.%d:%d", 1+i%254, 2000+i)
		case 1:
			return fmt.Sprintf("[2001:db8:%x::1]:2000", i)
		}
		return fmt.Sprintf("10.%d.%d.9:2000", i/250, i%250)
	}
	const tries, logins = 6000, 40
	var next atomic.Int64
	var flood sync.WaitGroup
	turn := make(chan struct{}) // gets a value now and then during the flood
	for range 64 {              // many more than are checked at once
		flood.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= tries {
					return
				}
				if i%(tries/logins) == 0 {
					turn <- struct{}{}
				}
				ok, _, err := h.tryPassword(&http.Request{RemoteAddr: address(i)}, "anna", fmt.Sprint("fout ", i))
				if ok || err != nil && err != errTooMany && err != errBusy {
					t.Errorf("a wrong password: %v %v", ok, err)
				}
			}
		})
	}
	go func() { flood.Wait(); close(turn) }()
	login := func(i int) {
		jar, from := known, "127.0.0.1:1"
		if i%2 == 1 {
			jar, from = map[string]string{}, fmt.Sprintf("192.0.2.%d:1", i%250)
		}
		if status := attempt(h, jar, from, "anna", password); status != http.StatusSeeOther {
			t.Errorf("login %d from %s: %d", i, from, status)
		}
	}
	done := 0
	for range turn {
		login(done)
		done++
	}
	if done != logins {
		t.Errorf("%d logins", done)
	}
	for _, q := range []hashQueue{h.knownQueue, h.unknownQueue} { // as if wrong ones were checked for ever
		for range maxHashing {
			q.hashing <- struct{}{}
		}
	}
	login(0)
	login(1)
}
