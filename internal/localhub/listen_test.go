package localhub

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

func TestListensOnLoopbackAddressesOnly(t *testing.T) {
	h := start(t, Config{Listen: "127.0.0.2:0"})
	if runtime.GOOS == "linux" && !strings.HasPrefix(h.BaseURL(), "http://127.0.0.2:") {
		t.Errorf("base URL %s", h.BaseURL())
	}
	// By default a hub has an address of its own that nothing else listens
	// on, since browsers send its cookies to every port of that address.
	seen := map[string]bool{}
	for range 5 {
		u, err := url.Parse(start(t, Config{}).BaseURL())
		if err != nil || !strings.HasPrefix(u.Hostname(), "127.") {
			t.Fatalf("%v %v", u, err)
		}
		seen[u.Hostname()] = true
	}
	if runtime.GOOS == "linux" && (len(seen) < 4 || seen["127.0.0.1"]) {
		t.Errorf("%v", seen)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := must.Get(Start(ctx, Config{}))(t)
	cancel()
	must.Do(t, h.Close()) // waits for the close the context began
	if _, err := try(t, newClient(t), "GET", h.BaseURL()+"/login", ""); err == nil {
		t.Error("still answers")
	}
	must.Do(t, h.Close())
}

func pair(t testing.TB, change func(*x509.Certificate)) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub.example"}, DNSNames: []string{"hub.example", "other.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	if change != nil {
		change(c)
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))(t)
	keyDER := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(os.WriteFile(certFile, certPEM, 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)); err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, roots
}

func overTLS(t testing.TB, h *Hub, c *tls.Config) *http.Client {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(h.BaseURL(), "https://"))
	must.Do(t, err)
	return clientBy(t, &http.Transport{TLSClientConfig: c, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}})
}

func TestTLS(t *testing.T) {
	cert, key, roots := pair(t, nil)
	h := start(t, Config{TLSCert: cert, TLSKey: key, Synthetic: 5})
	if !strings.HasPrefix(h.BaseURL(), "https://hub.example:") || h.HubURL() != h.BaseURL() || !h.secure() {
		t.Fatalf("%s, secure %v", h.BaseURL(), h.secure())
	}
	port := h.BaseURL()[len("https://hub.example:"):]
	for version, want := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c := overTLS(t, h, &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version})
		a, err := try(t, c, "GET", h.BaseURL()+"/login", "")
		if (err == nil) != want || want && a.status != 200 || !want && !strings.Contains(err.Error(), "protocol version") {
			t.Errorf("%s: %d, %v", tls.VersionName(version), a.status, err)
		}
	}
	c := overTLS(t, h, &tls.Config{RootCAs: roots})
	for host, want := range map[string]int{
		"hub.example:" + port: 200, "HUB.example:" + port: 200, "127.0.0.1:" + port: 200, "localhost:" + port: 200,
		"other.example:" + port: 421, "hub.example": 421, "hub.example:1": 421, "hub.example.evil.example:" + port: 421,
	} {
		do(t, c, "GET", h.BaseURL()+"/login", "", "Host", host).is(t, want, host)
	}
	do(t, newClient(t), "GET", "http://127.0.0.1:"+port+"/login", "").is(t, 400, "plain http")
	a := do(t, c, "POST", h.BaseURL()+"/identity/token", body, "Content-Type", form, "Authorization", basic(clientID, secret))
	if a.status != 200 {
		t.Errorf("token: %d", a.status)
	}
	// Faults affect the connection here as well.
	h.Faults().Set(EndpointPages, Fault{Drop: true}) // not once: the client retries
	if _, err := try(t, c, "GET", h.BaseURL()+"/login", ""); !errors.Is(err, io.EOF) {
		t.Errorf("drop: %v", err)
	}
	h.Faults().Clear(EndpointPages)
	must.Do(t, h.Faults().SetGone(true))
	must.Do(t, h.Faults().SetGone(false))
	do(t, c, "GET", h.BaseURL()+"/login", "").is(t, 200, "back again")
}

// placeOf returns where a hub with these settings would be reached if it listened on that address.
func placeOf(c Config, given string) (origin, error) {
	c = c.withDefaults()
	p, err := c.origin()
	if err == nil {
		err = p.loadCertificate(c)
	}
	if err == nil {
		p.setPort(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(given)))
	}
	return p, err
}

func TestCertificatesAreChecked(t *testing.T) {
	good, goodKey, _ := pair(t, nil)
	_, otherKey, _ := pair(t, nil)
	old, oldKey, _ := pair(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	early, earlyKey, _ := pair(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(30 * time.Minute) })
	wild, wildKey, _ := pair(t, func(c *x509.Certificate) { c.DNSNames = []string{"*.hub.example"} })
	address, addressKey, _ := pair(t, func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, []net.IP{net.ParseIP("2001:db8::5")} })
	none, noneKey, _ := pair(t, func(c *x509.Certificate) { c.DNSNames = nil })
	for name, c := range map[string]struct {
		cert, key, host string
		url, refused    string
	}{
		"first name":            {good, goodKey, "", "https://hub.example:8443", ""},
		"another of its names":  {good, goodKey, "Other.example", "https://other.example:8443", ""},
		"a wildcard's name":     {wild, wildKey, "a.hub.example", "https://a.hub.example:8443", ""},
		"an address":            {address, addressKey, "", "https://[2001:db8::5]:8443", ""},
		"no key":                {good, "", "", "", "go together"},
		"no such file":          {good + "x", goodKey, "", "", "does not exist"},
		"another's key":         {good, otherKey, "", "", "no certificate with its key"},
		"expired":               {old, oldKey, "", "", "expired on"},
		"of the future":         {early, earlyKey, "", "", "valid from"},
		"a wildcard":            {wild, wildKey, "", "", "give the public host"},
		"no name":               {none, noneKey, "", "", "give the public host"},
		"another host":          {good, goodKey, "third.example", "", "not for the public host"},
		"no host":               {good, goodKey, "hub_example/", "", "without a port"},
		"a host that is no one": {good, goodKey, "0.0.0.0", "", "without a port"},
	} {
		p, err := placeOf(Config{Listen: "0.0.0.0:0", TLSCert: c.cert, TLSKey: c.key, PublicHost: c.host}, "0.0.0.0:8443")
		switch {
		case c.refused == "" && (err != nil || p.url != c.url):
			t.Errorf("%s: %s, %v", name, p.url, err)
		case c.refused != "" && (err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %s, %v", name, p.url, err)
		}
	}
}

func TestWhoMayReachTheHub(t *testing.T) {
	cert, key, _ := pair(t, nil)
	for name, c := range map[string]struct {
		cfg     Config
		given   string
		url     string
		takes   []string
		not     []string
		refused string // "loopback": ErrNotLoopback
	}{
		"network without a certificate": {cfg: Config{Listen: "192.0.2.1:80"}, refused: "loopback"},
		"every address":                 {cfg: Config{Listen: "0.0.0.0:80"}, refused: "loopback"},
		"a demo, allowed":               {cfg: Config{Listen: "192.0.2.1:80", Demo: true, AllowNetwork: true}, refused: "demo"},
		"allowed, no name":              {cfg: Config{Listen: "0.0.0.0:80", AllowNetwork: true}, refused: "public host"},
		"a name on loopback":            {cfg: Config{PublicHost: "hub.example"}, refused: "others can reach"},
		"a name":                        {cfg: Config{Listen: "localhost:0"}, refused: "literal"},
		"a zone":                        {cfg: Config{Listen: "[fe80::1%eth0]:80", AllowNetwork: true}, refused: "literal"},
		"allowed": {cfg: Config{Listen: "192.0.2.1:0", AllowNetwork: true}, given: "192.0.2.1:4000", url: "http://192.0.2.1:4000",
			takes: []string{"192.0.2.1:4000"}, not: []string{"192.0.2.1", "localhost:4000", "127.0.0.1:4000"}},
		"allowed, named": {cfg: Config{Listen: "0.0.0.0:0", AllowNetwork: true, PublicHost: "hub.example"}, given: "0.0.0.0:4000",
			url: "http://hub.example:4000", takes: []string{"hub.example:4000"}, not: []string{"0.0.0.0:4000", "hub.example", "localhost:4000"}},
		"https on its usual port": {cfg: Config{Listen: "[::]:443", TLSCert: cert, TLSKey: key}, given: "[::]:443",
			url: "https://hub.example:443", takes: []string{"hub.example:443", "hub.example"}, not: []string{"[::]:443", "other.example"}},
		"IPv6": {cfg: Config{Listen: "[::1]:0"}, given: "[::1]:4000", url: "http://[::1]:4000",
			takes: []string{"[::1]:4000", "localhost:4000"}, not: []string{"::1:4000", "[::1]", "[::2]:4000"}},
	} {
		p, err := placeOf(c.cfg, cmp.Or(c.given, "127.0.0.1:1"))
		switch {
		case c.refused == "loopback":
			if !errors.Is(err, ErrNotLoopback) {
				t.Errorf("%s: %s, %v", name, p.url, err)
			}
			continue
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %s, %v", name, p.url, err)
			}
			continue
		case err != nil || p.url != c.url:
			t.Errorf("%s: %s, %v", name, p.url, err)
			continue
		}
		for _, host := range c.takes {
			if !p.allowsHost(host) {
				t.Errorf("%s: refuses %s", name, host)
			}
		}
		for _, host := range append(c.not, "", "evil.example", c.given+".evil.example") {
			if p.allowsHost(host) {
				t.Errorf("%s: takes %q", name, host)
			}
		}
	}
	// A reachable address is accepted, and fails only because nobody has this one (RFC 5737).
	if err := notStarted(t, Config{Listen: "192.0.2.1:0", AllowNetwork: true}); errors.Is(err, ErrNotLoopback) {
		t.Error(err)
	}
}

func TestPortInUse(t *testing.T) {
	first := start(t, Config{})
	addr := strings.TrimPrefix(first.BaseURL(), "http://")
	if err := notStarted(t, Config{Listen: addr, Dir: t.TempDir()}); !strings.Contains(fmt.Sprint(err), "another program listens on "+addr) {
		t.Error(err)
	}
	must.Do(t, first.Faults().SetGone(true))
	l := must.Get(net.Listen("tcp", addr))(t)
	if err := first.Faults().SetGone(false); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("come back to a taken port: %v", err)
	}
	_ = l.Close()
	must.Do(t, first.Faults().SetGone(false))
}

// half is a delivery whose first half has arrived.
type half struct {
	conn net.Conn
	rest string
}

func startDelivery(t *testing.T, h *Hub, body string) half {
	t.Helper()
	tok := token(t, h)
	before := h.Stats().Messages
	conn := wire(t, h, fmt.Sprintf("POST /transaction/intermediary HTTP/1.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		tok, len(body), body[:len(body)/2]))
	for h.Stats().Messages == before {
		runtime.Gosched()
	}
	return half{conn, body[len(body)/2:]}
}

func (d half) finish(t *testing.T) int {
	t.Helper()
	_, _ = io.WriteString(d.conn, d.rest)
	resp := must.Get(http.ReadResponse(bufio.NewReader(d.conn), nil))(t)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// closeHub begins to close h and waits until the port is closed.
func closeHub(t *testing.T, h *Hub) <-chan error {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- h.Close() }()
	for {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.BaseURL(), "http://"))
		if err != nil {
			return closed
		}
		_ = c.Close()
	}
}

func TestStopLetsADeliveryFinish(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir, Admin: true})
	h.grace, h.drainTimeout = 10*time.Second, time.Millisecond
	large := messagetest.ZIP(t, "scan.txt", strings.Repeat("large ", 1<<18)) // read in pieces, so its request must not be canceled
	d := startDelivery(t, h, messagetest.Request(numbered(t, 1), large))
	closed := closeHub(t, h)
	select {
	case err := <-closed:
		t.Fatal("closed while a delivery is under way: ", err)
	case <-time.After(100 * time.Millisecond): // a hundred times as long as h.lastAnswerTime
	}
	if status := d.finish(t); status != 200 {
		t.Errorf("status %d", status)
	}
	must.Do(t, <-closed)
	data := openFolder(t, dir)
	if all := box(t, data); len(all) != 2 {
		t.Errorf("%d messages", len(all))
	}
}

func TestStopCutsADeliveryThatStands(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	h.grace, h.drainTimeout = 200*time.Millisecond, time.Millisecond
	d := startDelivery(t, h, messagetest.Request(numbered(t, 1)))
	began := time.Now()
	must.Do(t, <-closeHub(t, h))
	if took := time.Since(began); took < h.grace {
		t.Errorf("took %v", took)
	}
	must.Within(t, began, 5*time.Second)
	if b, err := io.ReadAll(d.conn); len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
	data := openFolder(t, dir)
	if all, left := box(t, data), files(t, dir); len(all) != 0 || len(left) != 0 {
		t.Errorf("%d messages, files %v", len(all), left)
	}
}

func TestStopDoesNotWaitForSilentConnections(t *testing.T) {
	h := start(t, Config{})
	for range 3 {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(h.BaseURL(), "http://")))(t)
		defer c.Close()
	}
	began := time.Now()
	must.Do(t, h.Close())
	must.Within(t, began, 5*time.Second) // half of a request's time limit
}

// TestDemoUserDoesNotStay checks that the demo's user is removed when its folder is served
// as a regular hub: everybody knows the password.
func TestDemoUserDoesNotStay(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, start(t, Config{Dir: dir, Demo: true, Synthetic: 5}).Close())
	h := start(t, Config{Dir: dir, Synthetic: 5})
	if all, err := h.Users(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
	newBrowser(t, h).login(DemoUser, demoPassword, "/").is(t, 401, "login")
	must.Do(t, h.AddUser(t.Context(), DemoUser, "een-eigen-wachtwoord", false))
	must.Do(t, h.Close())
	h = start(t, Config{Dir: dir})
	newBrowser(t, h).login(DemoUser, "een-eigen-wachtwoord", "/").is(t, 303, "a user of that name")
}

func TestSettingsAreChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"too many people":      {Synthetic: 5_000_001},
		"token for no time":    {TokenLifetime: time.Millisecond},
		"token for ever":       {TokenLifetime: 25 * time.Hour},
		"intermediary":         {Intermediaries: []string{"good", "a/b"}},
		"dots":                 {Intermediaries: []string{".."}},
		"field of ours":        {RelationField: "achternaam"},
		"field of two lines":   {RelationField: "a\nb"},
		"script":               {BackOfficeURL: "javascript:alert({relation})"},
		"script in capitals":   {BackOfficeURL: "JavaScript:alert({relation})"},
		"data":                 {BackOfficeURL: "data:text/html,{relation}"},
		"relation nowhere":     {BackOfficeURL: "https://backoffice.example/"},
		"relation as a scheme": {BackOfficeURL: "{relation}:x"},
		"path only":            {BackOfficeURL: "/{relation}"},
		"long":                 {BackOfficeURL: "https://backoffice.example/{relation}" + strings.Repeat("a", 2000)},
	} {
		if c.withDefaults().check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if err := notStarted(t, Config{Synthetic: -1}); !errors.As(err, new(SettingError)) {
		t.Error(err)
	}
}
