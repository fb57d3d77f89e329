package e2e

import (
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
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
)

// counted is a proxy for the office's hub that records which numbers are
// requested, and when first.
type counted struct {
	mu    sync.Mutex
	asked map[string]time.Time
}

// The numbers from each source begin with these digits.
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

// of counts the numbers with a prefix.
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

// every calls do n times, hertz times per second on average.
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

// floodResult is the result of a flood.
type floodResult struct {
	lasted  time.Duration
	full    int64           // hand-overs refused because the inbox was full
	took    []time.Duration // of each hand-over, sorted
	lookups map[string]int  // by the way the calls came in
}

// flood reports ten thousand calls of as many numbers in ten seconds, over eight WebSockets
// that reconnect whenever they are disconnected, over HTTP and by hand-over.
func flood(t *testing.T, o *office, asked *counted) floodResult {
	run := filepath.Join(o.profile, "run")
	tokens, err := secret.EnsureTokens(profile.Dirs{Config: o.profile, State: o.profile, Run: run})
	if err != nil {
		t.Error(err)
		return floodResult{}
	}
	port := o.at().Port
	var p floodResult
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
				n := s*perSocket + i
				var err error
				if phone == nil {
					phone, err = simulate.Dial(t.Context(), port, tokens.Socket)
				}
				if err == nil {
					err = phone.Ring(t.Context(), simulate.Call{ID: strconv.Itoa(n), Number: fmt.Sprintf("%s%05d", floodWS, n)})
				}
				if err != nil {
					hangUp()
				}
			})
		})
	}
	all.Go(func() {
		every(t.Context(), posts, posts/10, func(i int) {
			c := simulate.Call{ID: strconv.Itoa(i), Number: fmt.Sprintf("%s%05d", floodHTTP, i)}
			_ = simulate.ReportHTTP(t.Context(), port, tokens.Path, "ringing", "", c) // some are refused
		})
	})
	all.Go(func() {
		cfg := instance.Config{RunDir: run, Version: "dev"}
		every(t.Context(), commands, commands/10, func(i int) {
			e := call.Event{Source: call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}, State: call.Ringing, ID: strconv.Itoa(i),
				Number: fmt.Sprintf("%s%05d", floodCommand, i), At: time.Now()}
			switch err := instance.HandOver(t.Context(), cfg, e, func() error { return nil }); {
			case errors.Is(err, instance.ErrInboxFull):
				p.full++
				return
			case err != nil:
				t.Errorf("a call is not handed over: %v", err)
				return
			}
			p.took = append(p.took, time.Since(e.At))
		})
	})
	all.Wait()
	p.lasted = time.Since(began)
	p.lookups = map[string]int{"WebSocket": asked.of(floodWS), "HTTP": asked.of(floodHTTP), "command": asked.of(floodCommand)}
	slices.Sort(p.took)
	return p
}
