package certificates

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/testutil/must"
)

// answers attempts a TLS connection to a relay with a certificate.
func answers(t *testing.T, server tls.Certificate, name string, client *tls.Config) error {
	t.Helper()
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := tls.Server(far, &tls.Config{Certificates: []tls.Certificate{server}})
		_ = s.HandshakeContext(t.Context())
		_ = far.Close()
	}()
	client = client.Clone()
	client.ServerName = name
	c := tls.Client(near, client)
	err := c.HandshakeContext(t.Context())
	_ = near.Close()
	<-done
	return err
}

// TestPinnedTLS: a desk only connects to a relay of the authority with the known fingerprint,
// under the name it asked for, while the certificate is valid.
func TestPinnedTLS(t *testing.T) {
	now := time.Now()
	ours := must.Get(New("kantoor", now))(t)
	ours = must.Get(Parse(must.Get(ours.Encode())(t)))(t) // a stored one works too
	theirs := must.Get(New("kantoor", now))(t)
	issue := func(a *Authority, at time.Time, hosts ...string) tls.Certificate {
		t.Helper()
		return must.Get(a.Issue(hosts, at))(t)
	}
	ahead := must.Get(New("kantoor", now.Add(12*time.Hour)))(t) // relay's clock ahead, or computer's behind
	good := issue(ours, now, "relay.kantoor.example", "127.0.0.1")
	withOurs := issue(theirs, now, "relay.kantoor.example")
	withOurs.Certificate = append(withOurs.Certificate, ours.Certificate.Raw) // shows ours, and is not of it
	pool := must.Get(Pool(ours.Public()))(t)
	print := ours.Fingerprint()
	for name, tt := range map[string]struct {
		server tls.Certificate
		asked  string
		ok     bool
	}{
		"by name":               {good, "relay.kantoor.example", true},
		"by address":            {good, "127.0.0.1", true},
		"another name":          {good, "other.example", false},
		"another authority":     {issue(theirs, now, "relay.kantoor.example"), "relay.kantoor.example", false},
		"another address":       {issue(ours, now, "relay.kantoor.example"), "127.0.0.1", false},
		"shows our certificate": {withOurs, "relay.kantoor.example", false},
		"expired":               {issue(ours, now.Add(-2*relayLife), "relay.kantoor.example"), "relay.kantoor.example", false},
		"not valid yet":         {issue(ours, now.Add(relayLife), "relay.kantoor.example"), "relay.kantoor.example", false},
	} {
		for how, c := range map[string]*tls.Config{"fingerprint": PinnedTLS(print, tt.asked), "typed": PinnedTLS(strings.ToUpper(print[:2]+":"+print[2:]+" "), tt.asked), "pool": {RootCAs: pool, MinVersion: tls.VersionTLS13}} {
			if err := answers(t, tt.server, tt.asked, c); (err == nil) != tt.ok {
				t.Errorf("%s, by %s: %v", name, how, err)
			}
		}
	}
	if err := answers(t, issue(ahead, now.Add(12*time.Hour), "127.0.0.1"), "127.0.0.1", PinnedTLS(ahead.Fingerprint(),
		"127.0.0.1")); err != nil {
		t.Errorf("a clock half a day behind: %v", err)
	}
	for _, wrong := range []string{"", print[:62], theirs.Fingerprint()} {
		if err := answers(t, good, "127.0.0.1", PinnedTLS(wrong, "127.0.0.1")); err == nil {
			t.Errorf("fingerprint %q is good enough", wrong)
		}
	}
}

// TestServer: a relay keeps its certificate, and replaces it in time, or if it is not valid yet
// because the clock was ahead.
func TestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must.Get(New("kantoor", time.Now()))(t).ServerTLS([]string{"relay.kantoor.example"})
		serial := func(after time.Duration) string {
			t.Helper()
			time.Sleep(after)
			got, err := c.GetCertificate(nil)
			if err != nil || got.Leaf.NotAfter.Before(time.Now()) {
				t.Fatal(got, err)
			}
			return got.Leaf.SerialNumber.String()
		}
		first := serial(0)
		if serial(relayLife-renewBefore-time.Hour) != first || serial(2*time.Hour) == first {
			t.Error("another one at the wrong moment")
		}
	})
	now := time.Now()
	ahead := must.Get(must.Get(New("kantoor", now))(t).Issue(nil, now.Add(2*clockSkew)))(t)
	if !stale(ahead.Leaf, now) {
		t.Error("one that is not valid yet stays")
	}
}

func TestBadAuthorities(t *testing.T) {
	a := must.Get(New("kantoor", time.Now()))(t)
	other := must.Get(New("kantoor", time.Now()))(t)
	whole := must.Get(other.Encode())(t)
	mixed := append(a.Public(), whole[len(other.Public()):]...)
	garbled := append(a.Public(), "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"...)
	for name, b := range map[string][]byte{"nothing": nil, "garbled key": garbled, "no key": a.Public(), "another's key": mixed, "text": []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")} {
		if _, err := Parse(b); err == nil {
			t.Errorf("%s is an authority", name)
		}
	}
	if _, err := Pool([]byte("nothing")); err == nil {
		t.Error("nothing can be trusted")
	}
}

// TestCluster: a relay only admits those with a certificate of the same site.
func TestCluster(t *testing.T) {
	now := time.Now()
	ours, theirs := must.Get(New("kantoor", now))(t), must.Get(New("kantoor", now))(t)
	issued := func(by *Authority) []tls.Certificate {
		return []tls.Certificate{must.Get(by.Issue([]string{"127.0.0.1"}, now))(t)}
	}
	for name, c := range map[string]struct {
		with []tls.Certificate
		in   bool
	}{"without one": {nil, false}, "with ours": {issued(ours), true}, "with another site's": {issued(theirs), false}} {
		near, far := net.Pipe()
		client := tls.Client(near, &tls.Config{RootCAs: ours.Roots(), ServerName: "127.0.0.1", Certificates: c.with})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = client.Read(make([]byte, 1)) // completes the handshake, with its error
		}()
		if err := tls.Server(far, ours.ClusterTLS([]string{"127.0.0.1"})).HandshakeContext(t.Context()); (err == nil) != c.in {
			t.Errorf("%s: %v", name, err)
		}
		_ = far.Close()
		<-ended
		_ = near.Close()
	}
}
