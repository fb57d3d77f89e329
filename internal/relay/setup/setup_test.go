package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

func keys(t *testing.T, site wire.Site) *credentials.Authority {
	return must.Get(credentials.New(site))(t)
}

func create(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "relay")
	s := Defaults()
	s.PublicHosts = []string{"relay.kantoor.example", "192.0.2.7"}
	must.Do(t, Create(dir, keys(t, "kantoor"), s))
	return dir
}

// TestCreate: a folder is read back as it was created, and is accessible to
// its own user only; a second attempt changes nothing, except that it
// completes what a crash left undone.
func TestCreate(t *testing.T) {
	dir := create(t)
	first := must.Get(Load(dir))(t)
	if err := Create(dir, keys(t, "other"), first.Settings); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	again, err := Load(dir)
	if err != nil || again.Keys.Site != "kantoor" || again.Authority.Fingerprint() != first.Authority.Fingerprint() || !slices.Equal(again.Settings.PublicHosts, first.Settings.PublicHosts) {
		t.Errorf("%+v, %v", again, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	must.Do(t, os.Remove(filepath.Join(dir, settingsFile)))
	if err := Create(dir, keys(t, "kantoor"), first.Settings); err != nil {
		t.Errorf("after a crash: %v", err)
	}
	must.Get(Load(dir))(t)
}

// TestSite: a file for other relays is only accepted with everything that they need.
func TestSite(t *testing.T) {
	f := must.Get(Load(create(t)))(t)
	whole := must.Get(f.ExportSite(f.Settings))(t)
	must.Get(ParseSite(whole))(t)
	for _, part := range []string{"settings", "keys", "authority", "{"} {
		if _, err := ParseSite(bytes.Replace(whole, []byte(part), []byte("-"), 1)); err == nil {
			t.Errorf("it is read without %s", part)
		}
	}
}

// TestSilent: what a file does not set has the value it has in a new folder.
func TestSilent(t *testing.T) {
	dir := create(t)
	for says, manual := range map[string]bool{"": true, "[lookup]\n": true, "[lookup]\nmanual = false\n": false} {
		must.Do(t, os.WriteFile(filepath.Join(dir, settingsFile), []byte("name = \"r1\"\nreached = [\"a\"]\n"+says), 0o600))
		if f, err := Load(dir); err != nil || f.Settings.Lookup.Manual != manual || f.Settings.Journal.Days != 2 {
			t.Errorf("%q: %+v, %v", says, f, err)
		}
	}
}

// TestBroken: a file that was modified, or that others could have read
// or written, is refused.
func TestBroken(t *testing.T) {
	for name, spoil := range map[string]func(path func(string) string) error{
		"open":       func(p func(string) string) error { return os.Chmod(p(keysFile), 0o644) },
		"writable":   func(p func(string) string) error { return os.Chmod(p(settingsFile), 0o666) },
		"no keys":    func(p func(string) string) error { return os.Remove(p(keysFile)) },
		"cut":        func(p func(string) string) error { return os.Truncate(p(keysFile), 40) },
		"other pair": func(p func(string) string) error { return os.Truncate(p(authorityFile), 100) },
		"misspelt": func(p func(string) string) error {
			return os.WriteFile(p(settingsFile), []byte("nats_prot = 1\nname = \"r1\"\nreached = [\"a\"]"), 0o600)
		},
		"wrong": func(p func(string) string) error {
			return os.WriteFile(p(settingsFile), []byte("name = \"r1\""), 0o600)
		},
		"no TOML": func(p func(string) string) error { return os.WriteFile(p(settingsFile), []byte("port: 1"), 0o600) },
	} {
		dir := create(t)
		must.Do(t, spoil(func(f string) string { return filepath.Join(dir, f) }))
		if _, err := Load(dir); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func TestSettings(t *testing.T) {
	good := Defaults()
	good.PublicHosts, good.Host = []string{"relay.kantoor.example", "2001:db8::7"}, "192.0.2.7"
	must.Do(t, good.Check())
	three := good
	three.Cluster = map[string]string{"r1": "a", "r2": "b", "r3": "192.0.2.9"}
	if got := three.Hosts(); three.Check() != nil || !slices.Equal(got, []string{"relay.kantoor.example", "2001:db8::7", "b", "192.0.2.9"}) {
		t.Errorf("three relays: %v, %v", got, three.Check())
	}
	if got := three.CertifiedHosts(); !slices.Equal(got, []string{"192.0.2.7", "relay.kantoor.example", "2001:db8::7", "a"}) {
		t.Errorf("the certificate is for %v", got)
	}
	for address, want := range map[string]bool{"tls://nats.kantoor.example:4222": true, "nats://nats.kantoor.example:4222": false, "tls://nats.kantoor.example": false,
		"tls://a:b@nats.kantoor.example:4222": false, "tls://*.kantoor.example:4222": false, "tls://%zz:4222": false} {
		s := good
		s.NATS.URLs = []string{address}
		if err := s.Check(); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	for name, change := range map[string]func(*Settings){
		"name":            func(s *Settings) { s.Name = "R 1" },
		"port":            func(s *Settings) { s.WebPort = 70000 },
		"negative":        func(s *Settings) { s.NATSPort = -1 },
		"fewer than none": func(s *Settings) { s.NATS.Replicas = -1 },
		"six places":      func(s *Settings) { s.NATS.Replicas = 6 },
		"no day":          func(s *Settings) { s.Journal.Days = -1 },
		"too many days":   func(s *Settings) { s.Journal.Days = maxDays + 1 },
		"two sorts": func(s *Settings) {
			s.NATS.URLs, s.Cluster = []string{"tls://a:1"}, map[string]string{"r1": "a", "r2": "b", "r3": "c"}
		},
		"half a pair":     func(s *Settings) { s.TLS.Cert = "relay.pem" },
		"host":            func(s *Settings) { s.Host = "everywhere" },
		"admin":           func(s *Settings) { s.Admin = "0.0.0.0:8222" },
		"admin by name":   func(s *Settings) { s.Admin = "localhost:8222" },
		"nothing reached": func(s *Settings) { s.PublicHosts = nil },
		"an address":      func(s *Settings) { s.PublicHosts = []string{"https://relay.kantoor.example"} },
		"a star":          func(s *Settings) { s.PublicHosts = []string{"*.kantoor.example"} },
		"empty":           func(s *Settings) { s.PublicHosts = []string{""} },
		"two relays":      func(s *Settings) { s.Cluster = map[string]string{"r1": "a", "r2": "b"} },
		"not this one":    func(s *Settings) { s.Cluster = map[string]string{"r2": "a", "r3": "b", "r4": "c"} },
		"one place":       func(s *Settings) { s.Cluster = map[string]string{"r1": "a", "r2": "b", "r3": "b"} },
		"one twice":       func(s *Settings) { s.Cluster = map[string]string{"r1": "a", "r2": "b", "r3": "c", "r4": "c"} },
		"no place":        func(s *Settings) { s.Cluster = map[string]string{"r1": "a", "r2": "b", "r3": "c:1"} },
		"any port":        func(s *Settings) { s.NATSPort, s.Cluster = 0, map[string]string{"r1": "a", "r2": "b", "r3": "c"} },
	} {
		s := good
		change(&s)
		if s.Check() == nil {
			t.Errorf("%s: %+v is fine", name, s)
		}
	}
	for host, want := range map[string]string{"": "127.0.0.1:1", "0.0.0.0": "127.0.0.1:1", "::": "127.0.0.1:1", "192.0.2.7": "192.0.2.7:1"} {
		if got := (Settings{Host: host}).Local(1); got != want {
			t.Errorf("%q: %s", host, got)
		}
	}
}

// TestWebhookSecrets: a new secret is valid at once, the previous one for another day, and
// older ones no longer.
func TestWebhookSecrets(t *testing.T) {
	dir, now := create(t), time.Now()
	first := must.Get(LoadWebhookSecrets(dir))(t)
	if len(first.Current) != 64 || strings.Trim(first.Current, "0123456789abcdef") != "" || !first.Valid(first.Current, now) || first.Valid("", now) || (WebhookSecrets{}).Valid("", now) {
		t.Fatalf("%+v", first)
	}
	must.Do(t, RenewWebhookSecret(dir))
	both := must.Get(LoadWebhookSecrets(dir))(t)
	for _, c := range []struct {
		secret string
		after  time.Duration
		want   bool
	}{{both.Current, 0, true}, {both.Current, 2 * overlap, true}, {first.Current, overlap - time.Minute, true}, {first.Current, overlap + time.Minute, false}, {"", 0, false}, {both.Current[1:], 0, false}} {
		if both.Valid(c.secret, now.Add(c.after)) != c.want {
			t.Errorf("%+v: want %v", both, c)
		}
	}
	must.Do(t, RenewWebhookSecret(dir))
	if must.Get(LoadWebhookSecrets(dir))(t).Valid(first.Current, now) {
		t.Error("three are valid")
	}
	for _, spoilt := range []string{"{", `{"now":"short"}`} { // not replaced: exchanges may still use it
		must.Do(t, os.WriteFile(filepath.Join(dir, webhookSecretsFile), []byte(spoilt), 0o600))
		_, err := LoadWebhookSecrets(dir)
		if renewed := RenewWebhookSecret(dir); err == nil || renewed == nil {
			t.Errorf("%s: %v, %v", spoilt, err, renewed)
		}
	}
}
