package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
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
	"wiebelt/internal/core/engine"
	"wiebelt/internal/instance"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/testutil/phonetest"
)

// tap is a relay between Wiebelt and a softphone's own interface that notes when
// the phone tells of an incoming call.
type tap struct {
	*relay
	mu   sync.Mutex // protects rang
	rang []time.Time
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	p := &tap{}
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
func (p *tap) ring(n int) time.Time {
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
	to, err := url.Parse(o.hub.BaseURL())
	if err != nil {
		t.Fatal(err)
	}
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
	value, err := o.hub.AddClient(t.Context(), "counted", "1234")
	if err != nil {
		t.Fatal(err)
	}
	cmd := o.wiebelt("provision", "--base-url", srv.URL, "--client-id", "counted", "--secret-stdin")
	cmd.Stdin = strings.NewReader(value + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("provision: %v: %s", err, out)
	}
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

// at is when a number was asked for; zero if it was not.
func (c *counted) at(number string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[number]
}

// every calls do n times, hertz a second in the long run.
func every(ctx context.Context, n, hertz int, do func(int)) {
	began := time.Now()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for i := range n {
		for time.Since(began) < time.Duration(i)*time.Second/time.Duration(hertz) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		do(i)
	}
}

// poured is what became of a flood.
type poured struct {
	lasted               time.Duration
	sent, taken, refused int64
	lost                 int64           // hand-overs that failed
	took                 []time.Duration // of each hand-over, sorted
	inbox                int             // hand-overs that nobody answered at once
	lookups              map[string]int  // by road
}

// pour reports ten thousand calls of as many numbers in ten seconds, over eight
// WebSockets that come back whenever they are thrown out, over HTTP and by hand-
// over.
func pour(t *testing.T, o *office, asked *counted) poured {
	run := filepath.Join(o.profile, "run")
	tokens, err := secret.Token(profile.Dirs{Config: o.profile, State: o.profile, Run: run})
	if err != nil {
		t.Error(err)
		return poured{}
	}
	port := o.at().Port
	var p poured
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
			if err := instance.HandOver(t.Context(), cfg, e, func() error { p.inbox++; return nil }); err != nil {
				p.lost++
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

// TestFlood: ten thousand calls by all roads at once cost the hub ten lookups
// and three a second for each road, and the screen a handful of cards and lines;
// a call is handed over as ever, and a real one is looked up at once.
func TestFlood(t *testing.T) {
	t.Parallel()
	sip, control := phonetest.StartBaresip(t)
	tap := newTap(t, control)
	o := prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+tap.Addr().String()+"\"")
	asked := countLookups(t, o)
	o.start()
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "warm", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.Until("a first lookup", func() bool { return o.hub.Stats().Lookups == 1 })
	rss := memory(t, o.resident.Process.Pid)
	watch := watchCards(t, o)

	done := make(chan poured)
	go func() { done <- pour(t, o, asked) }()
	var waited []time.Duration
	for n := range 3 {
		number := fmt.Sprintf("%s%05d", realCall, n)
		running := phonetest.Place(t, sip, phonetest.Scenario{Number: number, Ring: 2 * time.Second})
		o.Until("the phone rings", func() bool { return !tap.ring(n).IsZero() })
		o.Until("the hub is asked for a real call", func() bool { return !asked.at(number).IsZero() })
		waited = append(waited, asked.at(number).Sub(tap.ring(n)))
		running.Wait()
	}
	p := <-done
	seen := watch.stop()

	t.Logf("%d calls in %v: %d taken, %d refused", p.sent, p.lasted.Round(time.Millisecond), p.taken, p.refused)
	t.Logf("lookups: %v; real calls were looked up after %v", p.lookups, waited)
	if len(p.took) > 0 {
		t.Logf("hand-over: p50 %v, p99 %v, %d through the inbox", p.took[len(p.took)/2], p.took[len(p.took)*99/100], p.inbox)
	}
	t.Logf("%d windows at most, %d whole cards; %d kB resident before, %d kB after; log %d bytes", seen.most, seen.whole, rss, memory(t, o.resident.Process.Pid), len(o.log.String()))
	if p.sent != 10_000 {
		t.Errorf("%d calls were sent", p.sent)
	}
	may := 10 + int(3*p.lasted.Seconds()) + 1
	for road, n := range p.lookups {
		if n > may || n < 10 {
			t.Errorf("%s: %d lookups, at most %d are allowed", road, n, may)
		}
	}
	for _, d := range waited {
		if d > 3*time.Second { // 1 s where nothing else runs
			t.Errorf("a real call was looked up after %v", d)
		}
	}
	if seen.most != engine.MaxShown+1 { // cards, lines and the one that counts the others
		t.Errorf("%d windows at once", seen.most)
	}
	// A flood on one road has three cards; the first call of each of the three others has one all the same.
	if seen.whole > engine.MaxCards+3 {
		t.Errorf("%d whole cards at once", seen.whole)
	}
	if p.lost > 0 {
		t.Errorf("%d hand-overs failed", p.lost)
	}
	if n := len(p.took); n == 0 || p.took[n/2] > 50*time.Millisecond {
		t.Error("hand-overs took too long")
	}
}

// TestThousandConnections: connections that say nothing, that say it slowly and
// that are not let in cost little memory, keep nobody out, and are gone when
// they are gone.
func TestThousandConnections(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[card]\nafter_call = \"0s\"")
	tokens, err := secret.Token(profile.Dirs{Config: o.profile, State: o.profile, Run: filepath.Join(o.profile, "run")})
	if err != nil {
		t.Fatal(err)
	}
	port, pid := o.at().Port, o.resident.Process.Pid
	ring := func(n int) {
		t.Helper()
		c := simulate.Call{ID: strconv.Itoa(n), Number: fmt.Sprintf("%s%05d", realCall, n)}
		if err := simulate.ReportHTTP(t.Context(), port, tokens.Path, "ringing", "", c); err != nil {
			t.Fatal(err)
		}
		o.Until("a card and a lookup", func() bool { return !o.empty() && o.hub.Stats().Lookups == int64(n)+1 })
		if err := simulate.ReportHTTP(t.Context(), port, tokens.Path, "ended", "", c); err != nil {
			t.Fatal(err)
		}
		o.Until("no card", o.empty)
	}
	ring(0)
	before, open := memory(t, pid), descriptors(t, pid)
	const n = 1000
	at := fmt.Sprintf("127.0.0.1:%d", port)
	head := fmt.Sprintf("GET /v1/events HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: wiebelt.v1\r\n", at)
	let, in := 0, "Authorization: Bearer "+tokens.Socket+"\r\n\r\n"
	var conns []net.Conn
	t.Cleanup(func() {
		for _, c := range conns {
			_ = c.Close()
		}
	})
	for i := range n {
		c, err := net.Dial("tcp4", at)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		switch i % 4 {
		case 0: // says nothing
		case 1: // slowly, below
		case 2:
			_, _ = io.WriteString(c, head+"\r\n")
		case 3:
			_, _ = io.WriteString(c, head+in)
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			b := make([]byte, 12)
			if _, err := io.ReadFull(c, b); err == nil && string(b[9:]) == "101" {
				let++
			}
		}
	}
	peak := before
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for i := range 60 { // 3 s: a byte of the head at each tick
		for j := 1; j < n; j += 4 {
			_, _ = io.WriteString(conns[j], head[i:i+1]) // most are closed by now
		}
		peak = max(peak, memory(t, pid))
		<-pace.C
		if i == 30 {
			ring(1)
		}
	}
	during := descriptors(t, pid)
	for _, c := range conns {
		_ = c.Close()
	}
	o.Until("all descriptors are given back", func() bool { return descriptors(t, pid) <= open })
	ring(2)
	o.Until("the memory is given back", func() bool { return memory(t, pid) < before+8<<10 }, func() []any { return []any{before, "kB before,", memory(t, pid), "kB now"} })
	t.Logf("%d kB resident before, %d kB at most, %d kB after; %d let in; %d descriptors before, %d with the connections", before, peak, memory(t, pid), let, open, during)
	if peak-before > 20<<10 {
		t.Errorf("%d kB more", peak-before)
	}
	if let != listener.MaxConnections {
		t.Errorf("%d WebSockets were let in", let)
	}
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestLinkComesBack: a softphone that was closed and comes back is linked at
// once, and its next call is shown.
func TestLinkComesBack(t *testing.T) {
	t.Parallel()
	b := phonetest.New(t)
	o := newOffice(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+b.Control+"\"")
	ups := func() int { return strings.Count(o.log.String(), "state=connected") }
	o.Until("the link is up", func() bool { return ups() == 1 })
	for n := 1; n <= 3; n++ {
		b.Stop()
		time.Sleep(1500 * time.Millisecond) // how long a person leaves it closed, at least
		o.Until("the link is down", func() bool { return strings.Count(o.log.String(), "state=waiting") == n })
		b.Restart(t)
		back := time.Now()
		o.Until("the link is up again", func() bool { return ups() == n+1 })
		d := time.Since(back)
		t.Logf("back after %v", d.Round(time.Millisecond))
		if d > 3*time.Second { // 2 s where nothing else runs
			t.Errorf("the link came back after %v", d)
		}
	}
	phonetest.Place(t, b.SIP, phonetest.Scenario{Number: "+31698760011", Ring: 30 * time.Second})
	o.shows("the card of the caller", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
}
