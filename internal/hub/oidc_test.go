package hub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/npmtest"
)

// A strict third-party OAuth server: oidc-provider, which follows RFC 6749 where the hub's
// documentation is silent.

type oauthClient struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
	Scope  string `json:"scope"`
}

// oauthServer runs the server with these clients until the test ends, and returns
// its address.
func oauthServer(t *testing.T, clients []oauthClient) string {
	t.Helper()
	modules := filepath.Join(npmtest.Install(t, "testdata/oidc"), "node_modules")
	program := must.Get(os.ReadFile("testdata/oidc/server.mjs"))(t)
	dir := t.TempDir()
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(dir, "server.mjs"), program, 0o600), os.Symlink(modules, filepath.Join(dir, "node_modules"))))
	settings := must.Get(json.Marshal(map[string]any{"life": 600, "clients": clients}))(t)
	server := exec.Command(npmtest.Node(t), "server.mjs")
	server.Dir = dir
	var said bytes.Buffer
	server.Stderr = &said
	in, err1 := server.StdinPipe()
	out, err2 := server.StdoutPipe()
	must.Do(t, errors.Join(err1, err2, server.Start()))
	stuck := time.AfterFunc(2*time.Minute, func() { _ = server.Process.Kill() })
	t.Cleanup(func() {
		_ = in.Close() // it exits at the end of its input
		_ = server.Wait()
		stuck.Stop()
		if t.Failed() {
			t.Logf("the server said: %s", said.String())
		}
	})
	must.Get(in.Write(append(settings, '\n')))(t)
	var ready struct{ Base string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err = errors.Join(err, json.Unmarshal(line, &ready)); err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	return ready.Base
}

const hubScopes = "Basic P0boxadministrator orgCode:1234"

func strictClient(t *testing.T, base, id, secret string, change func(*Config)) *Client {
	return newClient(t, base, func(cfg *Config) {
		cfg.ClientID, cfg.ScopeParameter = id, "scope"
		cfg.Secret = func(context.Context) (string, error) { return secret, nil }
		if change != nil {
			change(cfg)
		}
	})
}

// TestStrictServer tries to get a token and do a lookup with each of twelve secrets
// in both encodings, and then tries scopes. A strict server decodes id and secret
// as a form (RFC 6749, 2.3.1): "+" is a space and "%" begins two hex digits.
func TestStrictServer(t *testing.T) {
	const (
		ok      = contact.Failure("")
		refused = contact.CredentialsRefused // it read another secret: 401 invalid_client
		garbled = contact.HubError           // it could not read it: 400 invalid_request
	)
	table := []struct {
		name, secret   string
		plain, rfc6749 contact.Failure
	}{
		// Unreserved characters are the same in both encodings.
		{"letters and digits", "simple123", ok, ok},
		{"long", strings.Repeat("aB3-._~xyz", 20), ok, ok},
		// A space is kept; encoded it is "+".
		{"space", "two words", ok, ok},
		// Sent plainly, "+" is read as a space. Encoded it is %2B.
		{"plus", "a+b/c==", refused, ok},
		// Sent plainly, "%pc" is an invalid escape. Encoded it is %25pc.
		{"per cent", "100%pct", garbled, ok},
		// Sent plainly, %41 is read as "A". Encoded it is %2541.
		{"literal escape", "p%41q", refused, ok},
		// Only the first colon separates, and client ids contain none.
		{"colons", "a:b::c:", ok, ok},
		// Neither "+" nor "%": a form decoder leaves them alone, and encoding
		// them is harmless.
		{"slash", "/a/b//", ok, ok},
		{"equals", "=a==b=", ok, ok},
		{"quotes", `"it's"&<x>\`, ok, ok},
		// A secret is ASCII (RFC 6749, appendix A.2): the server refuses anything else
		// before comparing, in either encoding.
		{"accents", "crème brûlée", garbled, garbled},
		{"emoji", "sleutel🔑", garbled, garbled},
	}
	var clients []oauthClient
	for n, c := range table {
		secret := c.secret
		if c.plain == garbled && c.rfc6749 == garbled {
			secret = "cannot be registered"
		}
		clients = append(clients, oauthClient{fmt.Sprintf("client %d/+%%", n), secret, hubScopes})
	}
	// The client id is encoded too; if secrets are sent plainly, it must be plain.
	for n := range table {
		clients = append(clients, oauthClient{fmt.Sprintf("client-%d", n), clients[n].Secret, hubScopes})
	}
	clients = append(clients, oauthClient{"all", "s1", hubScopes}, oauthClient{"few", "s2", "Basic"})
	base := oauthServer(t, clients)
	outcomes := 0
	for n, c := range table {
		for _, e := range []struct {
			encoding string
			want     contact.Failure
		}{{"plain", c.plain}, {"rfc6749", c.rfc6749}} {
			id := clients[n].ID
			if e.encoding == "plain" {
				id = clients[len(table)+n].ID
			}
			cl := strictClient(t, base, id, c.secret, func(cfg *Config) { cfg.BasicAuthEncoding = e.encoding })
			found, err := cl.Lookup(t.Context(), number)
			if contact.FailureOf(err) != e.want || (err == nil) != (len(found) == 1) {
				t.Errorf("%s, %s: %d contacts, %v; want %q", c.name, e.encoding, len(found), err, e.want)
			}
			if err != nil && strings.Contains(err.Error(), c.secret) {
				t.Errorf("%s: the secret came out", c.name)
			}
			outcomes++
		}
	}
	if outcomes != 24 {
		t.Errorf("%d outcomes", outcomes)
	}
	// The token endpoint refuses scopes that a client may not have;
	// the interface refuses requests that lack the scopes they need.
	for _, c := range []struct {
		name, id, secret string
		change           func(*Config)
		want             contact.Failure
	}{
		{"all", "all", "s1", nil, ""},
		{"another order", "all", "s1", func(c *Config) { c.Scopes = "orgCode:<code> P0boxadministrator Basic" }, ""},
		// The server answers 400 invalid_scope.
		{"not allowed", "few", "s2", nil, contact.ScopeRefused},
		{"another organisation", "all", "s1", func(c *Config) { c.OrganisationCode = "9999" }, contact.ScopeRefused},
		// "scopes" is the documentation's parameter, unknown to this server: it issues a
		// token without scopes, and the interface answers 403.
		{"the document's word", "all", "s1", func(c *Config) { c.ScopeParameter = "scopes" }, contact.ScopeRefused},
		{"wrong secret", "all", "s2", nil, contact.CredentialsRefused},
		{"unknown client", "nobody", "s1", nil, contact.CredentialsRefused},
	} {
		_, err := strictClient(t, base, c.id, c.secret, c.change).Lookup(t.Context(), number)
		if contact.FailureOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
