package hub

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

// TestCertificatesAreCheckedEverywhere: our code never disables verification, except for
// servers on this computer whose certificate proves nothing, and for the relay trusted by
// its fingerprint; their own tests show that it is limited to those.
func TestCertificatesAreCheckedEverywhere(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file being replaced
		}
		files++
		switch filepath.ToSlash(path) {
		case "../../internal/softphone/bria/bria.go", // on this computer alone
			"../../internal/simulate/simulate.go",               // so is the relay that gets a simulated call
			"../../internal/relay/certificates/certificates.go": // by the fingerprint of the authority
			return err
		}
		if strings.Contains(string(b), "InsecureSkip"+"Verify") {
			t.Errorf("%s", path)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

// elsewhere is a connection whose remote end is not this computer.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}
}

// TestPlainHTTPStaysHere checks that, although the address is
// literal, a connection that really leads elsewhere is refused too.
func TestPlainHTTPStaysHere(t *testing.T) {
	f := newFake(t)
	c := newClient(t, f.URL, nil)
	o := c.transport
	inner := o.connect
	o.connect = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := inner(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return elsewhere{conn}, nil
	}
	lookupFails(t.Context(), t, c, number, contact.HubError)
	if n := f.tokens.Load() + f.lookups.Load(); n != 0 {
		t.Errorf("%d requests went out", n)
	}
}

// TestAddresses checks that ParseAddress accepts https, and http only
// to a literal address of this computer in common notation.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"https://hub.example": true, "https://hub.example/sub/": true, "ftp://hub.example": false, "": false, "hub.example": false,
		"https://hub.example#": false, "https:hub.example": false, `https://hub.example\evil`: false, "https://hüb.example": false,
		"https://hub.example:": false, "http://[::1%lo]/": false, "http://127.0.0.1.evil.example": false,
		"https://u:p@hub.example": false, "https://hub.example?x=1": false, "https://hub.example#x": false, "http://hub.example": false,
		"http://127.0.0.1": true, "http://127.0.0.1:8080": true, "http://127.255.255.254": true, "http://[::1]": true, "http://[::1]:8080": true, "http://[0:0:0:0:0:0:0:1]": true,
		"http://localhost": false, "http://LOCALHOST:80": false, "http://127.1": false, "http://2130706433": false, "http://0x7f.0.0.1": false, "http://0177.0.0.1": false, "http://127.0.0.1.": false,
		"http://127.0.0.1.nip.example": false, "http://[::ffff:127.0.0.1]": false, "http://[::1%25lo]": false, "http://[::]": false, "http://0.0.0.0": false, "http://0": false, "http://128.0.0.1": false,
		"http://192.168.1.1": false, "http://10.0.0.1:8080": false, "http://[fe80::1]": false, "http://127.0.0.1@hub.example": false, "http://hub.example#127.0.0.1": false,
	} {
		if _, err := ParseAddress("hub.base_url", address); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, change := range []func(*Config){func(c *Config) { c.BaseURL = "http://hub.example" }, func(c *Config) { c.ClientID = "a:b" }, func(c *Config) { c.ClientID = "" },
		func(c *Config) { c.Secret = nil }, func(c *Config) { c.Intermediary = ".." }} {
		cfg := Config{BaseURL: "https://hub.example", ClientID: "c", Secret: func(context.Context) (string, error) { return "s", nil }}
		if change(&cfg); func() error { _, err := New(cfg); return err }() == nil {
			t.Errorf("%+v was taken", cfg.BaseURL+" "+cfg.ClientID+" "+cfg.Intermediary)
		}
	}
}

// TestOnlyToTheHub: code with access to the client cannot send its requests elsewhere.
func TestOnlyToTheHub(t *testing.T) {
	other := newCounter(t)
	f := newFake(t)
	c := newClient(t, f.URL, nil)
	for _, address := range []string{"http://" + other.addr.String() + "/", "https://" + f.Listener.Addr().String() + "/", strings.Replace(f.URL, "127.0.0.1", "localhost", 1)} {
		body, sent := io.Pipe()
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address, body))(t)
		resp, err := c.transport.RoundTrip(r)
		if _, err := sent.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: its body is not closed: %v", address, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, errWrongHost) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if n := other.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}
