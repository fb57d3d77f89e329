package server

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// public is an authority trusted by this test program, like systems trust public ones.
var public *certificates.Authority

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "wiebelt-roots-")
	if err == nil {
		public, err = certificates.New("the world", time.Now())
	}
	roots := filepath.Join(dir, "roots.pem")
	if err == nil {
		err = os.WriteFile(roots, public.Public(), 0o600)
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", roots)
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// TestOwnCertificate: with a certificate that computers already trust, they join without a
// fingerprint; a new one takes effect once written, and a partial one breaks nothing.
func TestOwnCertificate(t *testing.T) {
	write := func(dir, host string, at time.Time, key bool) {
		t.Helper()
		c := must.Get(public.Issue([]string{host}, at))(t)
		private := must.Get(x509.MarshalPKCS8PrivateKey(c.PrivateKey))(t)
		chain := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[1]})...)
		must.Do(t, os.WriteFile(filepath.Join(dir, "relay.pem"), chain, 0o600))
		if key {
			must.Do(t, os.WriteFile(filepath.Join(dir, "relay.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
		}
		must.Do(t, os.Chtimes(filepath.Join(dir, "relay.pem"), at, at))
	}
	var dir string
	o := start(t, func(c *Config) {
		dir = c.Dir
		c.Settings.TLS = setup.TLS{Cert: "relay.pem", Key: filepath.Join(c.Dir, "relay.key")}
		write(dir, "127.0.0.1", time.Now(), true)
	})
	join := func(u users.Entry) (err error) {
		t.Helper()
		o.stored[u.User], err = relaylink.Join(t.Context(), o.at.Web, o.invite(u), o.Fingerprint())
		return err
	}
	must.Do(t, join(users.Entry{User: "anna", Extensions: []string{"101"}}))
	o.link("anna").Connected()
	o.barred("anna")
	o.link("anna").Connected()
	write(dir, "127.0.0.1", time.Now().AddDate(-3, 0, 0), false)
	if err := join(users.Entry{User: "bob"}); err != nil {
		t.Errorf("half of a pair: %v", err)
	}
	for _, tt := range []struct {
		host string
		at   time.Time
		want text.Key
	}{
		{"127.0.0.1", time.Now().AddDate(-3, 0, 0), text.RelayJoinExpired},
		{"relay.kantoor.example", time.Now().Add(-time.Hour), text.RelayJoinName},
		{"127.0.0.1", time.Now().Add(-time.Minute), ""},
	} {
		write(dir, tt.host, tt.at, true)
		err := join(users.Entry{User: "carla"})
		if said, _ := errors.AsType[*text.Error](err); (err == nil) != (tt.want == "") || said != nil && said.Key != tt.want {
			t.Errorf("%s at %v: %v", tt.host, tt.at, err)
		}
	}
}
