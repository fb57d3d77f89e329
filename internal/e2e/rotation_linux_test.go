package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
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
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// hubProxy is a proxy for a hub that lets a client have several secrets at once, each with
// its own tokens, which expire with it.
type hubProxy struct {
	*httptest.Server
	mu      sync.Mutex
	valid   map[string]bool
	issued  map[string]string // token → secret
	failure string            // what errors say, and lookups answer with; "" for a hub in good health
}

func newHubProxy(t *testing.T, hub, real string, valid ...string) *hubProxy {
	t.Helper()
	to := must.Get(url.Parse(hub))(t)
	g := &hubProxy{valid: map[string]bool{}, issued: map[string]string{}}
	for _, v := range valid {
		g.valid[v] = true
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ModifyResponse: func(r *http.Response) error {
			secret := r.Request.Header.Get("X-Secret")
			if secret == "" || r.StatusCode != http.StatusOK {
				return nil
			}
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			r.Body = io.NopCloser(bytes.NewReader(b))
			var answer struct {
				Token string `json:"access_token"`
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			err = json.Unmarshal(b, &answer)
			g.issued[answer.Token] = secret
			return err
		},
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		allowed := true
		if client, secret, ok := r.BasicAuth(); ok {
			if allowed = g.valid[secret]; allowed {
				r.SetBasicAuth(client, real)
				r.Header.Set("X-Secret", secret)
			}
		} else if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			allowed = g.valid[g.issued[token]]
		}
		failure := g.failure
		g.mu.Unlock()
		if failure != "" {
			w.Header().Set("Location", "/"+url.PathEscape(failure))
			w.Header().Set("WWW-Authenticate", failure)
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":"`+failure+`","error_description":"`+failure+`"}`)
			return
		}
		if !allowed {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// takes sets which secrets the hub accepts from now on.
func (g *hubProxy) takes(secrets ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.valid = map[string]bool{}
	for _, s := range secrets {
		g.valid[s] = true
	}
}

func (g *hubProxy) failsWith(s string) { g.mu.Lock(); g.failure = s; g.mu.Unlock() }

// tokens returns all tokens issued and still remembered.
func (g *hubProxy) tokens() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.issued))
}

// callerNumber is an invented number.
func callerNumber(n int) string { return fmt.Sprintf("06987601%02d", n) }

// journalOf receives the system log of a machine.
func journalOf(t *testing.T, s *machine) *net.UnixConn {
	t.Helper()
	dir := filepath.Join(s.run, "systemd", "journal")
	must.Do(t, os.MkdirAll(dir, 0o755))
	c := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "socket"), Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestRotation: a client of the hub gets a new secret while calls come in, which replaces the
// old one once that is withdrawn, and every call has its name; both are withdrawn, which cards
// and tray report, once; a third one brings the names back. Administrators were warned ten days
// before, users never.
func TestRotation(t *testing.T) {
	t.Parallel()
	const old, next, third, support = "old-secret-marker", "next-secret-marker", "third-secret-marker", "Jan (IT), toestel 140"
	h, value := startHub(t)
	many := vries // every call from another number: answers are cached for a minute
	many.Contact.ID, many.Numbers = "c-many", nil
	for n := range 60 {
		many.Numbers = append(many.Numbers, callerNumber(n))
	}
	must.Get(h.AddInvented(t.Context(), many))(t)
	g := newHubProxy(t, h.BaseURL(), value, old)
	s := newMachine(t)
	journal := journalOf(t, s)
	o := prepareAt(t, h, g.URL, old, "[support]\ncontact = \""+support+"\"\n[card]\nafter_call = \"1s\"")
	expires := time.Now().AddDate(0, 0, 10).Format(time.DateOnly)
	s.policy("audit = \"eventlog\"\n[hub]\nsecret_expires = \"" + expires + "\"\n")
	i := onBus(t, o)
	o.start(s.before()...)
	// recorded waits for the next record in the journal.
	recorded := func(want ...string) {
		t.Helper()
		b := make([]byte, 4096)
		_ = journal.SetReadDeadline(time.Now().Add(must.Patience))
		n, err := journal.Read(b)
		for _, w := range append(want, "") {
			if got := string(b[:n]); err != nil || !strings.Contains(got, w) || strings.Contains(got, "marker") || strings.Contains(got, "69876") || strings.Contains(got, "Vries") {
				t.Errorf("the journal: %v: %q, want %q", err, got, w)
			}
		}
	}
	recorded("MESSAGE_ID=41d7a0c3e85f4b6c9b02f7de6c1a9834\n", "WIEBELT_DAYS=10\n")
	tray := func() string { return strings.Join(i.titles(), "\n") }

	calls := 0
	// call rings, waits for the newest entry of the history, and hangs up.
	call := func(phase string, named bool) {
		t.Helper()
		calls++
		id := strconv.Itoa(calls)
		ring := func(state string) {
			o.run("ring", "--id", id, "--state", state, "--", callerNumber(calls))
		}
		ring("ringing")
		if named {
			o.Until(phase+": a call with its name", func() bool { c := callsOf(t, o); return len(c) == calls && c[0].Name != "" })
		} else {
			o.Until(phase+": a call", func() bool { return len(callsOf(t, o)) == calls })
		}
		ring("ended")
	}
	provision := func(secret, says string) {
		t.Helper()
		cmd := o.wiebelt("provision", "--secret-stdin")
		cmd.Stdin = strings.NewReader(secret + "\n")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), says) {
			t.Fatalf("provision: %v: %s", err, out)
		}
	}
	// examine checks what monitoring reports about secret and token.
	examine := func(token string) {
		t.Helper()
		r, code := o.doctor(s.before()...)
		got := states(r, "secret") + ", " + states(r, "hub.token") + ", " + states(r, "expiry")
		if got != "ok, "+token+", warn" || code != 1 || r.OK {
			t.Errorf("the doctor says %s with exit %d: %+v", got, code, r.Checks)
		}
	}
	call("one secret", true)
	recorded("WIEBELT_OUTCOME=found\n", "MESSAGE_ID=9f1c52a07be94d3fae6d10c8b3a47e51\n")
	args := append(s.before(), o.bin, "lookup", "--profile", o.profile, "0655550000")
	_ = o.Command(args[0], args[1:]...).Run() // no contact has this number
	recorded("WIEBELT_OUTCOME=none\n")
	_ = journal.SetReadDeadline(time.Time{})
	go func() { _, _ = io.Copy(io.Discard, journal) }() // until it is closed

	provision(next, "oude geheim blijft")
	call("new one not valid yet", true)
	examine("ok ok")

	// The new secret comes into use when the old one is withdrawn, in the middle of a day.
	g.takes(next)
	call("old one withdrawn", true)
	o.Until("the new one has taken the old one's place", func() bool {
		r, _ := o.doctor(s.before()...)
		return states(r, "hub.token") == "ok"
	})
	if sentence := tray(); strings.Contains(sentence, "geheim") || strings.Contains(sentence, "verloopt") {
		t.Errorf("users are told of the secret: %s", sentence)
	}

	// Withdrawn while calls come in.
	g.takes()
	refused := text.Dutch.T(text.StatusRefused, support)
	if !strings.HasSuffix(refused, support+".") {
		t.Fatal(refused)
	}
	calls++
	o.run("ring", "--id", "card", "--", callerNumber(calls))
	o.shows("the card says why", failedCard(t, callerNumber(calls), contact.CredentialsRefused, support))
	i.has(refused)
	o.run("ring", "--id", "card", "--state", "ended", "--", callerNumber(calls))
	call("withdrawn", false)
	if c := callsOf(t, o)[0]; c.Name != "" {
		t.Error("a name without a valid secret")
	}
	if n := strings.Count(o.log.String(), "the hub gives no token"); n > 1 {
		t.Errorf("logged %d times", n)
	}
	examine("fail")

	// A third secret brings the names back.
	g.takes(third)
	provision(third, "Ingesteld")
	o.Until("the tray is content", func() bool { all := tray(); return all != "" && !strings.Contains(all, refused) })
	call("back again", true)
	examine("ok")
	for _, word := range []string{"marker", "69876", "Vries"} {
		if strings.Contains(o.log.String(), word) {
			t.Errorf("%s is in the log", word)
		}
	}
}
