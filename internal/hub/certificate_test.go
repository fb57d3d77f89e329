package hub

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

// authority signs certificates for test servers.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	raw  []byte
}

// newAuthority returns an authority signed by parent; nil makes it a root.
func newAuthority(t testing.TB, name string, parent *authority) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	signer, key := template, a.key
	if parent != nil {
		signer, key = parent.cert, parent.key
	}
	var err error
	if a.raw, err = x509.CreateCertificate(rand.Reader, template, signer, &a.key.PublicKey, key); err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(a.raw); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	return must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
}

// issue returns a certificate for 127.0.0.1 and hub.example, followed by chain.
func (a *authority) issue(t testing.TB, change func(*x509.Certificate), chain ...*authority) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "hub"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"hub.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if change != nil {
		change(template)
	}
	signer, signKey := template, key
	if a != nil {
		signer, signKey = a.cert, a.key
	}
	raw := must.Get(x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, signKey))(t)
	c := tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
	for _, a := range chain {
		c.Certificate = append(c.Certificate, a.raw)
	}
	return c
}

// file writes the authority's certificate and returns its path.
func (a *authority) file(t testing.TB) string { return writeFile(t, a.pem()) }

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.raw})
}

func writeFile(t testing.TB, b []byte) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(f, b, 0o600))
	return f
}

// server returns a TLS configuration with a certificate of the authority.
func (a *authority) server(t testing.TB) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{a.issue(t, nil)}}
}

// trusting returns a client that trusts the authority.
func (a *authority) trusting(t testing.TB, base string) *Client {
	return newClient(t, base, func(cfg *Config) { cfg.ExtraCAFile = a.file(t) })
}

// TestBadCertificates checks that every way in which a secure connection
// can fail has its own error, and that no request is sent over it.
func TestBadCertificates(t *testing.T) {
	root, other := newAuthority(t, "Root", nil), newAuthority(t, "Unknown root", nil)
	middle := newAuthority(t, "Intermediate", root)
	serve := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	with := func(c *tls.Config, change func(*tls.Config)) *tls.Config { change(c); return c }
	good := root.issue(t, nil)
	file := root.file(t)
	for _, c := range []struct {
		name   string
		cfg    *tls.Config
		want   contact.Failure
		detail string
	}{
		{"unknown authority", serve(other.issue(t, nil, other)), contact.CertificateUnknown, "signed by an unknown authority"},
		{"self-signed", serve((*authority)(nil).issue(t, nil)), contact.CertificateUnknown, "the certificate is self-signed"},
		{"intermediate missing", serve(middle.issue(t, nil)), contact.CertificateUnknown, "signed by an unknown authority, and the hub sends no intermediate certificate"},
		{"not for servers", serve(root.issue(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })),
			contact.CertificateUnknown, "the certificate is not for servers"},
		{"expired", serve(root.issue(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })),
			contact.CertificateExpired, "the certificate has expired"},
		{"not valid yet", serve(root.issue(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(30 * time.Minute) })),
			contact.ClockWrong, "the certificate is not valid yet"},
		{"wrong name", serve(root.issue(t, func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{"other.example"}, nil })),
			contact.CertificateMismatch, "the certificate is for another name"},
		{"TLS 1.1", with(serve(good), func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }),
			contact.TLSFailed, "the hub's TLS is older than 1.2"},
		{"client certificate", with(serve(good), func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }),
			contact.TLSFailed, "the hub wants a client certificate"},
		{"no common cipher", with(serve(good), func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_RC4_128_SHA}
		}), contact.TLSFailed, "the hub refuses the TLS handshake"},
		{"refused", &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, io.EOF }, Certificates: []tls.Certificate{good}},
			contact.TLSFailed, "the hub refuses the TLS handshake"},
	} {
		f := newTLSFake(t, c.cfg)
		_, err := newClient(t, f.URL, func(cfg *Config) { cfg.ExtraCAFile = file }).Lookup(t.Context(), number)
		check(t, err, string(c.want)+": "+c.detail)
		if n := f.tokens.Load() + f.lookups.Load(); n != 0 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
	plain := newFake(t)
	_, err := newClient(t, strings.Replace(plain.URL, "http://", "https://", 1), nil).Lookup(t.Context(), number)
	check(t, err, "tls_failed: the hub answers without TLS")
}

// TestClientCertificateIsAlwaysNamed checks that the error names the missing client certificate
// whether the alert or the closed connection is seen first, in both versions of TLS.
func TestClientCertificateIsAlwaysNamed(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cfg := root.server(t)
		cfg.ClientAuth, cfg.MinVersion, cfg.MaxVersion = tls.RequireAnyClientCert, version, version
		c := root.trusting(t, newTLSFake(t, cfg).URL)
		for range 30 {
			if _, err := c.Lookup(t.Context(), number); err == nil || err.Error() != "lookup: tls_failed: the hub wants a client certificate" {
				t.Fatalf("%s: %v", tls.VersionName(version), err)
			}
		}
	}
	// A hub that merely requests a certificate accepts us without one,
	// and is not blamed for asking when a connection breaks later.
	cfg := root.server(t)
	cfg.ClientAuth, cfg.MaxVersion = tls.RequestClientCert, tls.VersionTLS12 // the oldest that we accept
	f := newTLSFake(t, cfg)
	f.lookup = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	_, err := root.trusting(t, f.URL).Lookup(t.Context(), number)
	check(t, err, "hub_error: the connection broke")
}

func TestExtraAuthority(t *testing.T) {
	root, other := newAuthority(t, "Root", nil), newAuthority(t, "Other", nil)
	middle := newAuthority(t, "Intermediate", root)
	base := newTLSFake(t, &tls.Config{Certificates: []tls.Certificate{middle.issue(t, nil, middle)}}).URL
	block := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	key, err := x509.MarshalPKCS8PrivateKey(root.key)
	must.Do(t, err)
	for name, f := range map[string][]byte{
		"one": root.pem(), "binary": root.raw, "two": append(other.pem(), root.pem()...), "words around it": append([]byte("# office\r\n"), root.pem()...),
		"with a key": append(block("PRIVATE KEY", key), root.pem()...), "only the intermediate": middle.pem(),
	} {
		if got, err := newClient(t, base, func(cfg *Config) { cfg.ExtraCAFile = writeFile(t, f) }).Lookup(t.Context(), number); err != nil || len(got) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		file string
		want string
	}{
		"missing":  {filepath.Join(t.TempDir(), "none"), "hub.extra_ca_file: "},
		"a folder": {t.TempDir(), "hub.extra_ca_file: "},
		"empty":    {writeFile(t, nil), "hub.extra_ca_file: holds no certificate"},
		"garbage":  {writeFile(t, []byte("garbage")), "hub.extra_ca_file: holds no certificate"},
		"a key":    {writeFile(t, block("PRIVATE KEY", key)), "hub.extra_ca_file: holds no certificate"},
		"broken":   {writeFile(t, append(root.pem(), block("CERTIFICATE", root.raw[:100])...)), "hub.extra_ca_file: its certificate 2 cannot be read"},
		"huge":     {writeFile(t, bytes.Repeat([]byte{'\n'}, maxCAFile+1)), "hub.extra_ca_file: the file is too large"},
	} {
		_, err := New(Config{BaseURL: base, ClientID: "c", ExtraCAFile: c.file, Secret: func(context.Context) (string, error) { return "s", nil }})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
