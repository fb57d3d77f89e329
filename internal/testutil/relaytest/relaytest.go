// Package relaytest runs a relay for tests of its clients.
package relaytest

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/testutil/must"
)

// Relay is a relay that runs until the end of its test.
type Relay struct {
	Address     string // where computers join
	Fingerprint string

	t       testing.TB
	reports string
	users   *users.Directory
}

// Start runs a relay with a hub, or without one if hub is nil.
func Start(t testing.TB, hub server.Hub) *Relay {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "relay")
	keys := must.Get(credentials.New("kantoor"))(t)
	must.Do(t, setup.Create(dir, keys, setup.Settings{Name: "r1", Host: "127.0.0.1", PublicHosts: []string{"127.0.0.1"}, Journal: setup.Journal{Days: 2}}))
	f := must.Get(setup.Load(dir))(t)
	secrets := must.Get(setup.LoadWebhookSecrets(dir))(t)
	rules := phone.DefaultRules()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan server.Ready, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{Folder: f, Rules: rules, Office: server.Office{Hub: hub}, Log: slog.New(slog.DiscardHandler)}, func(at server.Ready) { ready <- at })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var at server.Ready
	select {
	case at = <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	conn := must.Get(node.Dial([]string{at.NATS}, f.Authority.Roots(), f.Keys))(t)
	t.Cleanup(conn.Close)
	js := must.Get(jetstream.New(conn))(t)
	directory := must.Get(users.Open(t.Context(), js, 1))(t)
	return &Relay{Address: at.Web, Fingerprint: f.Authority.Fingerprint(), t: t, reports: at.Web + "/in/" + secrets.Current, users: directory}
}

// Invite adds or changes a user, and returns a code.
func (r *Relay) Invite(e users.Entry) (code string) {
	r.t.Helper()
	must.Do(r.t, r.users.Put(r.t.Context(), e))
	code = must.Get(r.users.Invite(r.t.Context(), e.User))(r.t)
	return code
}

// Report reports a call, in JSON, as an exchange does.
func (r *Relay) Report(event string) {
	r.t.Helper()
	c := http.Client{Transport: &http.Transport{TLSClientConfig: certificates.PinnedTLS(r.Fingerprint, "127.0.0.1"), DisableKeepAlives: true}}
	a := must.Get(c.Post(r.reports, "application/json", strings.NewReader(event)))(r.t)
	_ = a.Body.Close()
	if a.StatusCode != http.StatusNoContent {
		r.t.Fatalf("the relay says %d", a.StatusCode)
	}
}
