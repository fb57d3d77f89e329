// Package certificates creates a site's authority and its relays' certificates, for offices
// that have none of their own. Desks trust the authority by its fingerprint, which comes
// with the code or the set-up file, never by whoever answers first.
//
// The package has no state and no goroutines.
package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Lifetimes of certificates. A relay renews its own long before it expires.
const (
	authorityLife = 20 * 365 * 24 * time.Hour
	relayLife     = 398 * 24 * time.Hour
	renewBefore   = 60 * 24 * time.Hour
	clockSkew     = 24 * time.Hour
)

var (
	errAuthority = errors.New("not the certificate and key of an authority")
	// ErrFingerprint reports that the authority is not the expected one.
	ErrFingerprint = errors.New("the relay's certificate is not the one that was expected")
)

// Authority signs the certificates of a site's relays. It is immutable.
type Authority struct {
	Certificate *x509.Certificate
	key         crypto.Signer
}

// New creates an authority.
func New(name string, now time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Wiebelt relay " + name}, NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	key, der, err := sign(template, nil)
	if err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(der)
	return &Authority{c, key}, err
}

// sign creates a key and a certificate for it; a nil by makes it self-signed.
func sign(template *x509.Certificate, by *Authority) (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	parent, signer := template, crypto.Signer(key)
	if by != nil {
		parent, signer = by.Certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	return key, der, err
}

// Parse reads the output of Encode.
func Parse(b []byte) (*Authority, error) {
	certificate, rest := pem.Decode(b)
	if certificate == nil {
		return nil, errAuthority
	}
	secret, _ := pem.Decode(rest)
	c, err := x509.ParseCertificate(certificate.Bytes)
	if err != nil || !c.IsCA || secret == nil {
		return nil, errAuthority
	}
	key, _ := x509.ParsePKCS8PrivateKey(secret.Bytes)
	signer, is := key.(crypto.Signer)
	if !is || !same(signer.Public(), c.PublicKey) {
		return nil, errAuthority
	}
	return &Authority{c, signer}, nil
}

func same(a, b crypto.PublicKey) bool {
	k, is := a.(interface{ Equal(crypto.PublicKey) bool })
	return is && k.Equal(b)
}

// Encode returns certificate and key as PEM, for a file that only the relay may read.
func (a *Authority) Encode() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, err
	}
	return append(a.Public(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), nil
}

// Public returns the certificate alone, as PEM.
func (a *Authority) Public() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate.Raw})
}

// Roots returns a pool that trusts this authority alone.
func (a *Authority) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate)
	return roots
}

// Fingerprint identifies the authority to people and in set-up files:
// SHA-256, in hexadecimal.
func (a *Authority) Fingerprint() string { return fingerprint(a.Certificate) }

func fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// Issue creates a relay's certificate for the names and addresses at which it is reached.
func (a *Authority) Issue(hosts []string, now time.Time) (tls.Certificate, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Wiebelt relay"}, NotBefore: now.Add(-clockSkew), NotAfter: now.Add(relayLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	key, der, err := sign(template, a)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der, a.Certificate.Raw}, PrivateKey: key, Leaf: leaf}, err
}

// ServerTLS returns a relay's configuration for serving at these names and addresses. It
// renews the certificate long before it expires.
func (a *Authority) ServerTLS(hosts []string) *tls.Config {
	var mu sync.Mutex
	var held *tls.Certificate
	return &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if held == nil || stale(held.Leaf, time.Now()) {
			c, err := a.Issue(hosts, time.Now())
			if err != nil {
				return nil, err
			}
			held = &c
		}
		return held, nil
	}}
}

// stale reports whether a certificate must be replaced: it expires soon, or is not yet
// valid because a clock that ran ahead created it.
func stale(c *x509.Certificate, now time.Time) bool {
	return c.NotAfter.Sub(now) < renewBefore || now.Before(c.NotBefore)
}

// ClusterTLS returns the configuration between a site's relays: both sides need a certificate
// of the authority, which certifies relays only.
func (a *Authority) ClusterTLS(hosts []string) *tls.Config {
	c := a.ServerTLS(hosts)
	c.RootCAs = a.Roots()
	c.ClientCAs, c.ClientAuth = c.RootCAs, tls.RequireAndVerifyClientCert
	mine := c.GetCertificate
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return mine(nil) }
	return c
}

// LoadTLS returns a relay's configuration for a certificate provided by the office as PEM
// files; the certificate file includes the intermediates. Later changes to the files take
// effect once both match; until then the previous certificate is served.
func LoadTLS(certificate, key string) (*tls.Config, error) {
	var mu sync.Mutex
	var held *tls.Certificate
	var seen time.Time
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		info, err := os.Stat(certificate)
		if err == nil && info.ModTime().Equal(seen) {
			return held, nil
		}
		var c tls.Certificate
		if err == nil {
			c, err = tls.LoadX509KeyPair(certificate, key)
		}
		if err == nil {
			held, seen = &c, info.ModTime()
		} else if held == nil {
			return nil, err
		}
		return held, nil
	}
	_, err := load(nil)
	return &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: load}, err
}

// PinnedTLS returns a desk's configuration before it has the site's certificate. It accepts
// only a relay whose chain ends in the authority with that fingerprint and that is
// certified for host, a name or an address.
func PinnedTLS(want, host string) *tls.Config {
	want = strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(want))
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection checks the fingerprint instead
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, c := range s.PeerCertificates {
				if fingerprint(c) == want {
					roots := x509.NewCertPool()
					roots.AddCert(c)
					_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host}) // host: s.ServerName is empty for an address
					return err
				}
			}
			return ErrFingerprint
		},
	}
}

// Pool returns a pool for a desk that has the site's certificate, as written by Public.
func Pool(public []byte) (*x509.CertPool, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(public) {
		return nil, errAuthority
	}
	return roots, nil
}
