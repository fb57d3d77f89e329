package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

// ringLog is a relay between Wiebelt and a softphone's own interface that notes when
// the phone tells of an incoming call.
type ringLog struct {
	*relay
	mu   sync.Mutex // protects rang
	rang []time.Time
}

func newRingLog(t *testing.T, to string) *ringLog {
	t.Helper()
	p := &ringLog{}
	p.relay = newRelay(t, to, func() (sent, got func([]byte)) {
		return func([]byte) {}, func(b []byte) {
			if bytes.Contains(b, []byte("CALL_INCOMING")) { // an event is one write
				p.mu.Lock()
				p.rang = append(p.rang, time.Now())
				p.mu.Unlock()
			}
		}
	})
	return p
}

// ring is when the nth call rang; zero if it has not.
func (p *ringLog) ring(n int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n >= len(p.rang) {
		return time.Time{}
	}
	return p.rang[n]
}

// counted stands before the office's hub and notes which numbers it is asked
// for, and when first.
type counted struct {
	mu    sync.Mutex
	asked map[string]time.Time
}

// The numbers of each road in begin with these digits.
const (
	floodWS, floodHTTP, floodCommand = "+316981", "+316982", "+316983"
	realCall                         = "+316987"
)

func countLookups(t *testing.T, o *office) *counted {
	t.Helper()
	c := &counted{asked: map[string]time.Time{}}
	to := must.Get(url.Parse(o.hub.BaseURL()))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query().Get("q"); q != "" {
			c.mu.Lock()
			if c.asked[q].IsZero() {
				c.asked[q] = time.Now()
			}
			c.mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	value := must.Get(o.hub.AddClient(t.Context(), "counted", "1234"))(t)
	o.runWith(value+"\n", "provision", "--base-url", srv.URL, "--client-id", "counted", "--secret-stdin")
	return c
}

// of counts the numbers that begin so.
func (c *counted) of(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for q := range c.asked {
		if strings.HasPrefix(q, prefix) {
			n++
		}
	}
	return n
}

// every calls do n times, hertz a second in the long run.
func every(ctx context.Context, n, hertz int, do func(int)) {
	began := time.Now()
	tick := time.Tick(2 * time.Millisecond)
	for i := range n {
		for time.Since(began) < time.Duration(i)*time.Second/time.Duration(hertz) {
			select {
			case <-tick:
			case <-ctx.Done():
				return
			}
		}
		do(i)
	}
}

// floodResult is what became of a flood.
type floodResult struct {
	lasted               time.Duration
	sent, taken, refused int64
	full                 int64           // hand-overs that were told that the inbox is full
	took                 []time.Duration // of each hand-over, sorted
	inbox                int             // hand-overs that nobody answered at once
	lookups              map[string]int  // by road
}

// flood reports ten thousand calls of as many numbers in ten seconds, over eight
// WebSockets that come back whenever they are thrown out, over HTTP and by hand-
// over.
func flood(t *testing.T, o *office, asked *counted) floodResult {
	run := filepath.Join(o.profile, "run")
	tokens, err := secret.Token(profile.Dirs{Config: o.profile, State: o.profile, Run: run})
	if err != nil {
		t.Error(err)
		return floodResult{}
	}
	port := o.at().Port
	var p floodResult
	var sent, taken, refused atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	const sockets, perSocket, posts, commands = 8, 900, 1800, 1000
	for s := range sockets {
		all.Go(func() {
			var phone *simulate.Phone
			hangUp := func() {
				if phone != nil {
					_ = phone.Close()
				}
				phone = nil
			}
			defer hangUp()
			every(t.Context(), perSocket, perSocket/10, func(i int) {
				sent.Add(1)
				n := s*perSocket + i
				var err error
				if phone == nil {
					phone, err = simulate.Dial(t.Context(), port, tokens.Socket)
				}
				if err == nil {
					err = phone.Ring(t.Context(), simulate.Call{ID: strconv.Itoa(n), Number: fmt.Sprintf("%s%05d", floodWS, n)})
				}
				if err != nil {
					refused.Add(1)
					hangUp()
					return
				}
				taken.Add(1)
			})
		})
	}
	all.Go(func() {
		every(t.Context(), posts, posts/10, func(i int) {
			sent.Add(1)
			c := simulate.Call{ID: strconv.Itoa(i), Number: fmt.Sprintf("%s%05d", floodHTTP, i)}
			if simulate.ReportHTTP(t.Context(), port, tokens.Path, "ringing", "", c) != nil {
				refused.Add(1)
				return
			}
			taken.Add(1)
		})
	})
	all.Go(func() {
		cfg := instance.Config{RunDir: run, Version: "dev"}
		every(t.Context(), commands, commands/10, func(i int) {
			sent.Add(1)
			e := call.Event{Source: call.Source{Kind: call.KindCommand, Reports: call.RingOnly}, State: call.Ringing, ID: strconv.Itoa(i),
				Number: fmt.Sprintf("%s%05d", floodCommand, i), At: time.Now()}
			switch err := instance.HandOver(t.Context(), cfg, e, func() error { p.inbox++; return nil }); {
			case errors.Is(err, instance.ErrInboxFull):
				p.full++
				return
			case err != nil:
				t.Errorf("a call is not handed over: %v", err)
				return
			}
			p.took = append(p.took, time.Since(e.At))
			taken.Add(1)
		})
	})
	all.Wait()
	p.lasted = time.Since(began)
	p.sent, p.taken, p.refused = sent.Load(), taken.Load(), refused.Load()
	p.lookups = map[string]int{"WebSocket": asked.of(floodWS), "HTTP": asked.of(floodHTTP), "command": asked.of(floodCommand)}
	slices.Sort(p.took)
	return p
}

// TestLinkComesBack: a softphone that was closed and comes back, or is started anew
// at once, is linked within seconds, is never taken for one that another program
// uses, and its next call is shown.
func TestLinkComesBack(t *testing.T) {
	t.Parallel()
	b := phonetest.New(t)
	o := newOffice(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+b.Control+"\"")
	ups := func() int { return strings.Count(o.log.String(), "state=connected") }
	o.Until("the link is up", func() bool { return ups() == 1 })
	for _, closed := range []bool{true, false, false} {
		before := ups()
		b.Stop()
		if closed {
			o.Until("the link is down", func() bool { return strings.Contains(o.log.String(), "state=waiting") })
		}
		b.Restart(t)
		back := time.Now()
		o.Until("the link is up again", func() bool { return ups() > before })
		must.Within(t, back, 3*time.Second)
	}
	if strings.Contains(o.log.String(), "state=kicked") {
		t.Error("taken for a phone that another program uses")
	}
	phonetest.Place(t, b.SIP, phonetest.Scenario{Number: "+31698760011", Ring: 30 * time.Second})
	o.shows("the card of the caller", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
}
