package localhub

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"wiebelt/internal/text"
)

// ErrNotLoopback reports an address that others can reach, without a decision
// on how: with a certificate, or unencrypted with Config.AllowNetwork.
var ErrNotLoopback = errors.New("local hub: not a loopback address")

// origin is where a hub listens, and the names under which it is reached.
type origin struct {
	tls      *tls.Config // nil: plain http
	host     string      // in {base_url}, without port; "" is the address it listens on
	loopback bool

	url   string   // {base_url}; known once it listens
	hosts []string // allowed Host values of requests, in lower case
}

// origin evaluates Listen and PublicHost. Listen is a literal address: a hosts file
// can redirect "localhost".
func (c Config) origin() (origin, error) {
	a, err := netip.ParseAddrPort(c.Listen)
	if err != nil || a.Addr().Zone() != "" {
		return origin{}, text.Errorf(text.LocalhubBadListen)
	}
	p := origin{loopback: a.Addr().IsLoopback(), host: c.PublicHost}
	if p.host != "" && !isHostName(p.host) {
		return origin{}, text.Errorf(text.LocalhubBadPublic)
	}
	switch secure := c.TLSCert != "" || c.TLSKey != ""; {
	case !p.loopback && !secure && !c.AllowNetwork:
		return origin{}, ErrNotLoopback
	case c.Demo && !p.loopback:
		return origin{}, text.Errorf(text.LocalhubBadDemoLoopback)
	case secure: // its name may come from the certificate
	case p.loopback && p.host != "":
		return origin{}, text.Errorf(text.LocalhubBadPublicOther)
	case p.host == "" && a.Addr().IsUnspecified():
		return origin{}, text.Errorf(text.LocalhubBadPublicNeeded)
	}
	return p, nil
}

// randomLoopback returns a random loopback address with a free port. A browser
// sends cookies to every port of an address, so on 127.0.0.1, programs of the
// computer's other users would receive the hub's. The address can be found in
// the system's socket table; only a certificate reliably keeps others out.
func randomLoopback() string {
	return fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}

// loadCertificate reads the certificate and its key, if there is one, and takes the hub's name from it.
func (p *origin) loadCertificate(c Config) error {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil
	case c.TLSCert == "" || c.TLSKey == "":
		return text.Errorf(text.LocalhubBadPair)
	}
	cert, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return text.Errorf(text.LocalhubBadCertificate, err)
	} else if err != nil {
		return text.Errorf(text.LocalhubBadPEM)
	}
	now, leaf := c.Now(), cert.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return text.Errorf(text.LocalhubBadExpired, leaf.NotAfter.Format(time.DateOnly))
	case now.Before(leaf.NotBefore):
		return text.Errorf(text.LocalhubBadNotYet, leaf.NotBefore.Format(time.DateOnly))
	case p.host != "" && leaf.VerifyHostname(p.host) != nil:
		return text.Errorf(text.LocalhubBadForeign)
	case p.host != "":
	case len(leaf.DNSNames) > 0:
		p.host = leaf.DNSNames[0]
	case len(leaf.IPAddresses) > 0:
		p.host = leaf.IPAddresses[0].String()
	}
	if !isHostName(p.host) {
		return text.Errorf(text.LocalhubBadFirstName)
	}
	p.tls = &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}, // faults apply to connections, but HTTP/2 shares one
	}
	return nil
}

// isHostName reports whether s is a DNS name, or an address that others can use.
func isHostName(s string) bool {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Zone() == "" && !a.IsUnspecified()
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.Trim(label, alphanumeric+"-") != "" {
			return false
		}
	}
	return len(s) <= 253
}

// setPort sets the names and the address once the port is known.
func (p *origin) setPort(at net.Addr) {
	addr := at.String()
	host, port, _ := net.SplitHostPort(addr)
	if a, err := netip.ParseAddr(host); err == nil && !a.IsUnspecified() {
		p.hosts = append(p.hosts, addr)
	}
	if host == "127.0.0.1" || host == "::1" {
		p.hosts = append(p.hosts, "localhost:"+port)
	}
	scheme, usual := "http", "80"
	if p.tls != nil {
		scheme, usual = "https", "443"
	}
	if p.host != "" {
		addr = net.JoinHostPort(strings.ToLower(p.host), port)
		p.hosts = append(p.hosts, addr)
	}
	p.url = scheme + "://" + addr
	if port == usual { // browsers omit it
		for _, h := range p.hosts {
			p.hosts = append(p.hosts, strings.TrimSuffix(h, ":"+port))
		}
	}
}

func (p *origin) allowsHost(host string) bool {
	return slices.ContainsFunc(p.hosts, func(h string) bool { return strings.EqualFold(host, h) })
}

// guardHost rejects requests under a foreign name, which come from
// a page elsewhere whose name was made to resolve to this computer.
func (h *Hub) guardHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.origin.allowsHost(r.Host) {
			next.ServeHTTP(w, r)
			return
		}
		refuse(http.StatusMisdirectedRequest, "invalid_host", "this hub is reached by its address only").write(w)
	})
}

// addressInUse is Windows' error number, which package syscall does not name. No other
// system has an error of that number.
const addressInUse = syscall.Errno(10048)

func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, addressInUse):
		return nil, text.Errorf(text.LocalhubBadPortTaken, addr)
	case err != nil:
		return nil, fmt.Errorf("local hub: %w", err)
	}
	return l, nil
}
