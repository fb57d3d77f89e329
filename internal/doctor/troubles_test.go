package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/text"
)

// office is one where all is well until something is done to it: a hub
// with TLS, a secret, a resident that answers, folders of its own.
type office struct {
	*exam
	t        *testing.T
	hub      *aHub
	toml     string
	say      http.HandlerFunc
	from, to time.Time // of the hub's certificate
	name     string    // in it
}

// certified gives the hub a certificate, which the settings know.
func (p *office) certified() {
	p.t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(p.t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub"}, NotBefore: p.from, NotAfter: p.to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, DNSNames: []string{"other.example"}}
	if p.name == "" {
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))(p.t)
	p.hub.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	p.hub.StartTLS()
	p.t.Cleanup(p.hub.Close)
	file := filepath.Join(p.t.TempDir(), "ca.pem")
	write(p.t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	p.toml = strings.ReplaceAll(p.toml, "https://hub.example", p.hub.URL)
	p.toml = strings.ReplaceAll(p.toml, "CA.PEM", file)
}

// examineOffice makes an office, does what before and after do, and examines it.
func examineOffice(t *testing.T, before, after func(*office)) Report {
	t.Helper()
	now := time.Now()
	p := &office{t: t, hub: startHub(t), toml: setUp + "secret_store = \"file\"\nextra_ca_file = 'CA.PEM'\n", from: now.Add(-time.Hour), to: now.AddDate(1, 0, 0)}
	p.exam = &exam{sys: calm(), now: now}
	p.sys.folder, p.sys.installed = folderFault, filetrust.Program
	if before != nil {
		before(p)
	}
	if p.say != nil {
		p.hub.Config.Handler = p.say
	}
	p.certified()
	p.Config = configured(t, p.toml)
	p.Exe = filepath.Join(t.TempDir(), "wiebelt")
	write(t, p.Exe, "")
	for _, dir := range []string{p.Dirs.State, p.Dirs.Run, filepath.Dir(p.Exe)} {
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.Chmod(dir, 0o700))
	}
	keepSecret(t, p.Dirs, p.hub.URL, "office", "canary-secret")
	residentOf(t, p.Dirs, "1.2.0", "abc", answering{facts: &windowapi.DoctorFacts{SetUp: true, Port: 27471}})
	announces(`{"version":1,"port":27471,"token":"x"}`, 0o600)(t, p.exam)
	if after != nil {
		after(p)
	}
	return run(t.Context(), p.Config, p.sys, quietly)
}

// change puts something else into the settings.
func change(old, other string) func(*office) {
	return func(p *office) { p.toml = strings.Replace(p.toml, old, other, 1) }
}

// token has the hub answer every request for a token so.
func token(status int, body string) func(*office) {
	return func(p *office) {
		usual := p.hub.Config.Handler
		p.say = func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/identity/token") {
				usual.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
}

// behind has the hub reached through a proxy.
func behind(p *office, proxy string) {
	p.toml = strings.Replace(p.toml, "https://hub.example", "https://hub.invalid", 1) + "proxy = \"" + proxy + "\"\n"
}

// secretFile does something to the file with the secret.
func secretFile(do func(path string) error) func(*office) {
	return func(p *office) {
		files, _ := filepath.Glob(filepath.Join(p.Dirs.State, "secrets", "*.json"))
		if len(files) != 1 {
			p.t.Fatalf("%d files with secrets", len(files))
		}
		must.Do(p.t, do(files[0]))
	}
}

func mode(which func(*office) string, m fs.FileMode) func(*office) {
	return func(p *office) {
		must.Do(p.t, os.Chmod(which(p), m))
	}
}

// troubles are provoked on a real hub, file or folder, where a stand-in could be
// wrong: before is done before hub and resident start, after when all is well.
var troubles = map[string]struct{ before, after func(*office) }{
	"secret.absent": {before: func(p *office) {
		p.t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(p.t.TempDir(), "none"))
		p.toml = strings.Replace(p.toml, `secret_store = "file"`, `secret_store = "os"`, 1)
	}},
	"secret.exposed": {after: secretFile(func(path string) error { return os.Chmod(path, 0o644) })},
	"secret.damaged": {after: secretFile(func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) })},

	"failure.name_not_resolved":  {before: change("https://hub.example", "https://hub.invalid")},
	"failure.connection_refused": {before: func(p *office) { p.toml = strings.Replace(p.toml, "hub.example", nettest.Nobody(p.t), 1) }},
	"failure.proxy_failed":       {before: func(p *office) { behind(p, "http://"+nettest.Nobody(p.t)) }},
	"failure.proxy_login":        {before: func(p *office) { behind(p, plainly(p.t, http.StatusProxyAuthRequired)) }},
	"failure.tls_failed": {before: func(p *office) {
		change("https://hub.example", "https"+strings.TrimPrefix(plainly(p.t, 200), "http"))(p)
	}},
	"failure.certificate_unknown":   {before: change("extra_ca_file", "#")},
	"failure.certificate_expired":   {before: func(p *office) { p.to = time.Now().Add(-time.Minute) }},
	"failure.certificate_name":      {before: func(p *office) { p.name = "other" }},
	"failure.clock_wrong":           {before: func(p *office) { p.from = time.Now().Add(time.Hour) }},
	"failure.credentials_refused":   {before: func(p *office) { p.hub.refuse.Store(true) }},
	"failure.scope_refused":         {before: token(400, `{"error":"invalid_scope"}`)},
	"failure.hub_error":             {before: token(503, "")},
	"failure.answer_not_understood": {before: token(200, "<html>log in</html>")},
	"hub.certificate.soon":          {before: func(p *office) { p.to = time.Now().AddDate(0, 0, 9) }},
	"hub.clock.ahead":               {before: func(p *office) { p.hub.ahead = -time.Hour }},
	"hub.clock.behind":              {before: func(p *office) { p.hub.ahead = time.Hour }},

	"browser.none": {after: func(p *office) {
		p.t.Setenv("PATH", p.t.TempDir())
		p.sys.browser = browser.Available
	}},
	"folders.owner": {after: func(p *office) {
		must.Do(p.t, os.Chown(p.Dirs.State, 65534, 65534))
	}},
	"program.write": {after: mode(func(p *office) string { return filepath.Dir(p.Exe) }, 0o777)},
}

// policyFiles are what an administrator's file can have wrong; they are read by
// a process that has an /etc of its own.
var policyFiles = map[string]struct {
	content string
	mode    fs.FileMode
}{
	"policy.untrusted":  {"[hub]\nproxy = \"none\"\n", 0o666},
	"policy.unreadable": {"\xff\xfe", 0o644},
	"policy.syntax":     {"what is this\n", 0o644},
	"policy.closed":     {"[history]\nkeep = \"nummers\"\n", 0o644},
	"policy.key":        {"[hub]\nproxy = \"ftp://x\"\n", 0o644},
}

// plainly is a server without TLS that answers everything with a status.
func plainly(t *testing.T, status int) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(s.Close)
	return s.URL
}

// TestRealTroubles: each makes monitoring speak up and is told with the guide's
// own sentence and what helps.
func TestRealTroubles(t *testing.T) {
	if r := examineOffice(t, nil, nil); !r.OK {
		t.Fatalf("not well to begin with: %s", r.Print(Text, text.English))
	}
	judge := func(t *testing.T, found string, r Report) {
		if r.OK || r.Exit(Text) != 1 || r.Exit(Nagios) == 0 {
			t.Errorf("silent: %s", r.Print(Text, text.Dutch))
		}
		if !says(r, text.Dutch, found) {
			t.Errorf("not told: %s", r.Print(Text, text.Dutch))
		}
	}
	for found, how := range troubles {
		t.Run(found, func(t *testing.T) { judge(t, found, examineOffice(t, how.before, how.after)) })
	}
	for found, file := range policyFiles {
		t.Run(found, func(t *testing.T) { judge(t, found, underPolicy(t, file.content, file.mode)) })
	}
}

// says reports whether a report has the guide's sentences for a trouble.
func says(r Report, l text.Language, found string) bool {
	message, do := l.Trouble(found)
	var parts []string
	for _, p := range strings.Split(strings.TrimSuffix(message, "."), "…") {
		parts = append(parts, regexp.QuoteMeta(plain(p)))
	}
	like := regexp.MustCompile(`(?i)` + strings.Join(parts, ".*"))
	return slices.ContainsFunc(r.Checks, func(c Check) bool {
		return (c.State == Warn || c.State == Fail) && c.Hint == plain(do) &&
			(like.MatchString(c.Message) || c.Message == l.N(text.Doctor(found), 1))
	})
}

// underPolicy is a report of a process on a computer with this policy.
func underPolicy(t *testing.T, content string, mode fs.FileMode) Report {
	t.Helper()
	etc, out := t.TempDir(), filepath.Join(t.TempDir(), "report.json")
	for _, dir := range []string{etc, filepath.Join(etc, "wiebelt")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
		must.Do(t, os.Chmod(dir, 0o755))
	}
	file := filepath.Join(etc, "wiebelt", settings.PolicyFile)
	write(t, file, content)
	must.Do(t, os.Chmod(file, mode))
	cmd := exec.CommandContext(t.Context(), "unshare", "-Urm", "sh", "-c", `mount --bind "$0" /etc && exec "$@"`, etc, os.Args[0], "-test.run=^TestUnderPolicy$")
	cmd.Env = append(os.Environ(), "WIEBELT_TEST_REPORT="+out)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	b := must.Get(os.ReadFile(out))(t)
	var r Report
	must.Do(t, json.Unmarshal(b, &r))
	return r
}

// TestUnderPolicy is the process of underPolicy.
func TestUnderPolicy(t *testing.T) {
	out := os.Getenv("WIEBELT_TEST_REPORT")
	if out == "" {
		return
	}
	write(t, out, examineOffice(t, nil, nil).Print(JSON, text.Dutch))
}
