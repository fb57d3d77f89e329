package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
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

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/logfile"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/register"
	"wiebelt/internal/text"
)

// patient is an office where all is well until something is done to it: a hub
// with TLS, a secret, a resident that answers, folders of its own.
type patient struct {
	*exam
	t        *testing.T
	hub      *aHub
	toml     string
	secret   string // for which address; "" for none
	resident *answering
	version  string // of the resident
	say      http.HandlerFunc
	from, to time.Time // of the hub's certificate
	name     string    // in it
}

// certified gives the hub a certificate, which the settings know.
func (p *patient) certified() {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub"}, NotBefore: p.from, NotAfter: p.to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, DNSNames: []string{"other.example"}}
	if p.name == "" {
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		p.t.Fatal(err)
	}
	p.hub.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	p.hub.StartTLS()
	p.t.Cleanup(p.hub.Close)
	file := filepath.Join(p.t.TempDir(), "ca.pem")
	write(p.t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	p.toml = strings.ReplaceAll(p.toml, "https://hub.example", p.hub.URL)
	p.toml = strings.ReplaceAll(p.toml, "CA.PEM", file)
}

// visit makes the patient, does what before and after do, and has it examined.
func visit(t *testing.T, before, after func(*patient)) Report {
	t.Helper()
	now := time.Now()
	p := &patient{t: t, hub: startHub(t), toml: setUp + "secret_store = \"file\"\nextra_ca_file = 'CA.PEM'\n", version: "1.2.0", from: now.Add(-time.Hour), to: now.AddDate(1, 0, 0),
		resident: &answering{facts: &windowapi.DoctorFacts{SetUp: true, Port: 27471}}}
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
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if p.secret != "none" {
		keepSecret(t, p.Dirs, p.hub.URL, "office", "canary-secret")
	}
	if p.resident != nil {
		residentOf(t, p.Dirs, p.version, "abc", *p.resident)
	}
	announces(`{"version":1,"port":27471,"token":"x"}`, 0o600)(t, p.exam)
	if after != nil {
		after(p)
	}
	return run(t.Context(), p.Config, p.sys, quietly)
}

// change puts something else into the settings.
func change(old, other string) func(*patient) {
	return func(p *patient) { p.toml = strings.Replace(p.toml, old, other, 1) }
}

// adds puts something below the settings.
func adds(s string) func(*patient) { return func(p *patient) { p.toml += s } }

// facts has the resident tell something else.
func facts(f func(*windowapi.DoctorFacts)) func(*patient) {
	return func(p *patient) { f(p.resident.facts) }
}

// linked has the one link of the settings be so.
func linked(phase string) func(*patient) {
	return func(p *patient) {
		p.toml += "[[softphone]]\nkind = \"ari\"\nname = \"ari\"\naddress = \"https://pbx.example\"\nextension = \"101\"\nuser = \"wiebelt\"\n"
		p.resident.facts.Links = []windowapi.DoctorLink{{Kind: "ari", Name: "ari", Phase: phase}}
	}
}

// token has the hub answer every request for a token so.
func token(status int, body string) func(*patient) {
	return func(p *patient) {
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
func behind(p *patient, proxy string) {
	p.toml = strings.Replace(p.toml, "https://hub.example", "https://hub.invalid", 1) + "proxy = \"" + proxy + "\"\n"
}

// closedPort is an address where nothing listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// storeSays is a store of secrets that fails.
type storeSays struct {
	secret.Store
	err error
}

func (s storeSays) Get(context.Context, secret.Ref) (string, error) { return "", s.err }

func stored(err error) func(*patient) {
	return func(p *patient) {
		p.sys.store = func(string, profile.Dirs) (secret.Store, error) { return storeSays{err: err}, nil }
	}
}

// secretFile does something to the file with the secret.
func secretFile(do func(path string) error) func(*patient) {
	return func(p *patient) {
		files, _ := filepath.Glob(filepath.Join(p.Dirs.State, "secrets", "*.json"))
		if len(files) != 1 {
			p.t.Fatalf("%d files with secrets", len(files))
		}
		if err := do(files[0]); err != nil {
			p.t.Fatal(err)
		}
	}
}

func mode(which func(*patient) string, m fs.FileMode) func(*patient) {
	return func(p *patient) {
		if err := os.Chmod(which(p), m); err != nil {
			p.t.Fatal(err)
		}
	}
}

func state(p *patient) string { return p.Dirs.State }

// fault is what the rows of the table of checks do to an exam.
func fault(f func(*testing.T, *exam)) func(*patient) { return func(p *patient) { f(p.t, p.exam) } }

func days(n int) string { return time.Now().AddDate(0, 0, n).Format(time.DateOnly) }

// troubles has, for each trouble that the guide lists, how it comes about: before
// is done before hub and resident start, after when all is well.
var troubles = map[string]struct{ before, after func(*patient) }{
	"settings.file":    {before: func(p *patient) { p.toml = "\xff\xfe" }},
	"settings.syntax":  {before: adds("what is this\n")},
	"settings.unknown": {before: adds("base_ulr = \"x\"\n")},
	"settings.type":    {before: adds("[listener]\nport = \"x\"\n")},
	"settings.value":   {before: adds("[listener]\nport = 1\n")},
	"setup.missing":    {before: change("client_id", "#")},
	"setup.hub":        {before: change("hub_url", "#")},
	"setup.wrong":      {before: change("CA.PEM", "/none/ca.pem")},
	"secret.unset":     {before: func(p *patient) { p.secret = "none" }},
	"secret.elsewhere": {before: func(p *patient) { p.secret = "none" }, after: func(p *patient) { keepSecret(p.t, p.Dirs, "https://old.example", "office", "s") }},
	"secret.absent": {before: func(p *patient) {
		p.t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(p.t.TempDir(), "none"))
		p.toml = strings.Replace(p.toml, `secret_store = "file"`, `secret_store = "os"`, 1)
	}},
	"secret.locked":     {after: stored(secret.ErrLocked)},
	"secret.unanswered": {after: stored(secret.ErrUnanswered)},
	"secret.full":       {after: stored(secret.ErrFull)},
	"secret.kind":       {after: stored(secret.ErrBadKind)},
	"secret.no_right":   {after: stored(secret.ErrNoRight)},
	"secret.exposed":    {after: secretFile(func(path string) error { return os.Chmod(path, 0o644) })},
	"secret.damaged":    {after: secretFile(func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) })},
	"secret.failed":     {after: stored(errors.New("odd"))},
	"expiry.soon":       {before: adds("secret_expires = \"" + days(9) + "\"\n")},
	"expiry.past":       {before: adds("secret_expires = \"" + days(-9) + "\"\n")},

	"failure.no_network":         {before: facts(func(f *windowapi.DoctorFacts) { f.Failure = "no_network" })},
	"failure.hub_slow":           {before: facts(func(f *windowapi.DoctorFacts) { f.Failure = "hub_slow" })},
	"failure.name_not_resolved":  {before: change("https://hub.example", "https://hub.invalid")},
	"failure.connection_refused": {before: func(p *patient) { p.toml = strings.Replace(p.toml, "hub.example", closedPort(p.t), 1) }},
	"failure.proxy_failed":       {before: func(p *patient) { behind(p, "http://"+closedPort(p.t)) }},
	"failure.proxy_login":        {before: func(p *patient) { behind(p, plainly(p.t, http.StatusProxyAuthRequired)) }},
	"failure.tls_failed": {before: func(p *patient) {
		change("https://hub.example", "https"+strings.TrimPrefix(plainly(p.t, 200), "http"))(p)
	}},
	"failure.certificate_unknown":   {before: change("extra_ca_file", "#")},
	"failure.certificate_expired":   {before: func(p *patient) { p.to = time.Now().Add(-time.Minute) }},
	"failure.certificate_name":      {before: func(p *patient) { p.name = "other" }},
	"failure.clock_wrong":           {before: func(p *patient) { p.from = time.Now().Add(time.Hour) }},
	"failure.credentials_refused":   {before: func(p *patient) { p.hub.refuse.Store(true) }},
	"failure.scope_refused":         {before: token(400, `{"error":"invalid_scope"}`)},
	"failure.hub_error":             {before: token(503, "")},
	"failure.answer_not_understood": {before: token(200, "<html>log in</html>")},
	"hub.certificate.soon":          {before: func(p *patient) { p.to = time.Now().AddDate(0, 0, 9) }},
	"hub.clock.ahead":               {before: func(p *patient) { p.hub.ahead = -time.Hour }},
	"hub.clock.behind":              {before: func(p *patient) { p.hub.ahead = time.Hour }},

	"resident.off":        {before: func(p *patient) { p.resident = nil }},
	"resident.hangs":      {before: func(p *patient) { p.resident.mute = true }},
	"resident.silent":     {before: func(p *patient) { p.resident, p.version = &answering{}, "1.1.0" }},
	"resident.setup":      {before: facts(func(f *windowapi.DoctorFacts) { f.SetUp = false })},
	"resident.doubt":      {before: facts(func(f *windowapi.DoctorFacts) { f.Doubt = true })},
	"listener.taken":      {before: facts(func(f *windowapi.DoctorFacts) { f.Port, f.PortTaken = 0, true })},
	"listener.silent":     {before: facts(func(f *windowapi.DoctorFacts) { f.Port = 0 })},
	"listener.tokens":     {after: fault(tokens(0o644))},
	"listener.file":       {after: fault(announces(`{"version":1,"port":27471}`, 0o644))},
	"link.down":           {before: linked(windowapi.LinkDown)},
	"link.kicked":         {before: linked(windowapi.LinkKicked)},
	"link.refused":        {before: linked(windowapi.LinkRefused)},
	"link.incomplete":     {before: linked(windowapi.LinkIncomplete)},
	"link.unknown":        {before: linked(windowapi.LinkUnknown)},
	"scheme.other":        {after: fault(registered(register.Status{Scheme: "/opt/other", Autostart: true}, nil))},
	"microsip.part":       {after: fault(sip(`cmdCallRing="EXE" ring --state ringing --`))},
	"microsip.gone":       {after: fault(sip(`cmdCallRing=/none/wiebelt.exe ring --`))},
	"microsip.unreadable": {after: fault(sip("cmd\x00"))},

	"cards.notices":     {before: facts(func(f *windowapi.DoctorFacts) { f.Cards = "notices" })},
	"cards.none":        {before: facts(func(f *windowapi.DoctorFacts) { f.Cards = "none" })},
	"cards.taken":       {before: facts(func(f *windowapi.DoctorFacts) { f.Hotkey = "taken" })},
	"cards.unsupported": {before: facts(func(f *windowapi.DoctorFacts) { f.Hotkey = "unsupported" })},
	"cards.wrong":       {before: facts(func(f *windowapi.DoctorFacts) { f.Hotkey = "wrong" })},
	"browser.none": {after: func(p *patient) {
		p.t.Setenv("PATH", p.t.TempDir())
		p.sys.browser = browser.There
	}},

	"disk.low":      {after: fault(room(499<<20, nil))},
	"disk.full":     {after: fault(room(49<<20, nil))},
	"folders.write": {after: mode(state, 0o777)},
	"folders.read":  {after: mode(func(p *patient) string { return p.Dirs.Run }, 0o755)},
	"folders.owner": {after: func(p *patient) {
		if err := os.Chown(p.Dirs.State, 65534, 65534); err != nil {
			p.t.Fatal(err)
		}
	}},
	"folders.own": {after: fault(folderIs(fs.ErrPermission))},
	"folders.home": {after: func(p *patient) {
		p.Dirs.Run = "/none/run"
		p.sys.writable = func(path string) bool { return path != "/" }
	}},
	"program.write":   {after: mode(func(p *patient) string { return filepath.Dir(p.Exe) }, 0o777)},
	"log.write":       {after: func(p *patient) { write(p.t, filepath.Join(p.Dirs.Log(), logfile.Name, "x"), "") }},
	"crash.today":     {after: fault(aged(0))},
	"history.newer":   {after: fault(func(t *testing.T, e *exam) { calls(func(path string) { schema(t, path, 99) })(t, e) })},
	"history.damaged": {after: fault(calls(func(path string) { _ = os.WriteFile(path, []byte(strings.Repeat("not a database ", 999)), 0o600) }))},
	"history.aside":   {after: fault(calls(func(path string) { _ = os.WriteFile(path+".damaged", nil, 0o600) }))},
	"audit.none": {before: func(p *patient) { p.toml = "audit = \"eventlog\"\n" + p.toml }, after: func(p *patient) {
		p.sys.audit = func() error { return errors.New("none") }
	}},
	"late": {after: func(p *patient) { p.Late = true }},

	"delivery.held":      {after: fault(box(sent(hub.Receipt{Status: 401})))},
	"delivery.uncertain": {after: fault(box(sent(hub.Receipt{Status: 409})))},
	"delivery.refused":   {after: fault(box(sent(hub.Receipt{Status: 422})))},
	"delivery.idle":      {after: fault(box(func(t *testing.T, _ string, b *outbox.Outbox) { put(t, b, 2) }))},
	"delivery.write":     {after: fault(both(box(nil), spoolIs(fs.ErrPermission)))},
	"delivery.spool": {after: fault(box(func(t *testing.T, dir string, b *outbox.Outbox) {
		put(t, b, 1)
		_ = os.RemoveAll(filepath.Join(dir, "spool"))
	}))},
	"delivery.aside": {after: fault(box(func(t *testing.T, dir string, _ *outbox.Outbox) {
		write(t, filepath.Join(dir, outbox.DatabaseName+".damaged"), "x")
	}))},
	"delivery.newer": {after: fault(both(box(nil), func(t *testing.T, e *exam) {
		schema(t, filepath.Join(e.Dirs.State, OutboxName, outbox.DatabaseName), 99)
	}))},
	"delivery.damaged": {after: fault(func(t *testing.T, e *exam) {
		write(t, filepath.Join(e.Dirs.State, OutboxName, outbox.DatabaseName), strings.Repeat("not a database ", 999))
	})},
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

// TestEveryTroubleIsTold: each trouble that the guide lists is provoked, one by
// one, where all else is well. Each makes monitoring speak up and is told with
// the guide's own sentence and what helps, in both languages; none is silent.
func TestEveryTroubleIsTold(t *testing.T) {
	if r := visit(t, nil, nil); !r.OK {
		t.Fatalf("not well to begin with: %s", r.Print(Text, text.English))
	}
	listed := 0
	for _, g := range text.DoctorTroubles {
		for _, found := range g.Found {
			listed++
			how, known := troubles[found]
			file, ofPolicy := policyFiles[found]
			if !known && !ofPolicy {
				t.Errorf("%s stands in the guide and is not provoked", found)
				continue
			}
			t.Run(found, func(t *testing.T) {
				var r Report
				if ofPolicy {
					r = underPolicy(t, file.content, file.mode)
				} else {
					r = visit(t, how.before, how.after)
				}
				if r.OK || r.Exit(Text) != 1 || r.Exit(Nagios) == 0 {
					t.Errorf("silent: %s", r.Print(Text, text.Dutch))
				}
				if !says(r, text.Dutch, found) {
					t.Errorf("not told: %s", r.Print(Text, text.Dutch))
				}
			})
		}
	}
	if provoked := len(troubles) + len(policyFiles); provoked != listed || listed < 40 {
		t.Errorf("%d are provoked, %d stand in the guide", provoked, listed)
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
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(etc, "wiebelt", settings.PolicyFile)
	write(t, file, content)
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "-Urm", "sh", "-c", `mount --bind "$0" /etc && exec "$@"`, etc, os.Args[0], "-test.run=^TestUnderPolicy$")
	cmd.Env = append(os.Environ(), "WIEBELT_TEST_REPORT="+out)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnderPolicy is the process of underPolicy.
func TestUnderPolicy(t *testing.T) {
	out := os.Getenv("WIEBELT_TEST_REPORT")
	if out == "" {
		return
	}
	write(t, out, visit(t, nil, nil).Print(JSON, text.Dutch))
}
