package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// TestMain is also the program, for tests that need a process and its signals.
func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"wiebelt": func(_ must.Test, args []string) {
		os.Exit(Main(Build{Version: "1", Commit: "a"}, append([]string{"wiebelt"}, args...), os.Stdin, os.Stdout, os.Stderr))
	}})
	os.Exit(m.Run())
}

func process(t *testing.T, args ...string) *exec.Cmd {
	return processtest.Command(t.Context(), "wiebelt", args...)
}

type serving struct {
	cmd   *exec.Cmd
	p     *processtest.Process
	err   bytes.Buffer
	ready struct {
		Ready    bool   `json:"ready"`
		BaseURL  string `json:"base_url"`
		HubURL   string `json:"hub_url"`
		AdminURL string `json:"admin_url"`
	}
}

func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	s := &serving{cmd: process(t, append([]string{"hub"}, args...)...)}
	s.cmd.Stderr = &s.err
	s.p = processtest.StartCommand(t, s.cmd)
	line := <-s.p.Lines
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&s.ready); err != nil || !s.ready.Ready || s.ready.HubURL != s.ready.BaseURL {
		s.p.Kill()
		t.Fatalf("ready line %q: %v, %v: %s", line, err, s.p.Wait(), &s.err)
	}
	return s
}

// stop asks the process to end and returns its exit code, the rest
// of standard output and standard error.
func (s *serving) stop(t *testing.T) (code int, rest, errOut string) {
	t.Helper()
	if runtime.GOOS == "windows" { // which has no such signal
		s.p.Kill()
	} else {
		must.Do(t, s.cmd.Process.Signal(syscall.SIGTERM))
	}
	for line := range s.p.Lines {
		rest += line + "\n"
	}
	_ = s.p.Wait()
	return s.cmd.ProcessState.ExitCode(), rest, s.err.String()
}

func fetch(t *testing.T, method, url, body string) (status int, answer string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	r.Header.Set("Content-Type", "application/json")
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp := must.Get(c.Do(r))(t)
	defer resp.Body.Close()
	return resp.StatusCode, string(must.Get(io.ReadAll(resp.Body))(t))
}

func TestHubServe(t *testing.T) {
	s := serve(t, "--client", "office", "--organisation-code", "1234", "--synthetic", "20", "--fault", "pages:status=503,times=1",
		"--fault", "lookup:delay=1ms,body=wrong", "--log-level", "debug", "--intermediary", "gateway", "--relation-field", "nummer",
		"--back-office-url", "https://backoffice.example/{relation}", "--token-lifetime", "10m", "--seed", "7")
	if !strings.HasPrefix(s.ready.AdminURL, "http://127.0.0.1:") || len(s.ready.AdminURL)-strings.LastIndex(s.ready.AdminURL, "/") != 44 {
		t.Errorf("admin address of %d characters", len(s.ready.AdminURL))
	}
	if status, _ := fetch(t, "GET", s.ready.HubURL+"/login", ""); status != 503 {
		t.Errorf("the fault of a flag: %d", status)
	}
	if status, page := fetch(t, "GET", s.ready.HubURL+"/login", ""); status != 200 || !strings.Contains(page, localhub.DemoUser) {
		t.Errorf("login: %d", status)
	}
	if status, all := fetch(t, "GET", s.ready.AdminURL+"/faults", ""); status != 200 || all != `{"faults":{"lookup":{"delay":"1ms","body":"wrong"}},"waiting":{}}`+"\n" {
		t.Errorf("faults: %d %s", status, all)
	}
	if status, _ := fetch(t, "PUT", s.ready.AdminURL+"/faults/token", `{"status":503,"retry_after":"5s"}`); status != 200 {
		t.Errorf("break: %d", status)
	}
	if status, _ := fetch(t, "POST", s.ready.BaseURL+"/identity/token", ""); status != 503 {
		t.Errorf("broken token: %d", status)
	}
	code, rest, errOut := s.stop(t)
	if runtime.GOOS != "windows" && code != 0 {
		t.Errorf("exit %d", code)
	}
	if rest != "" {
		t.Errorf("more than the ready line: %q", rest)
	}
	if !strings.Contains(errOut, "client office, organisation code 1234, secret ") || !strings.Contains(errOut, `part="GET /login" status=503`) {
		t.Errorf("%s", errOut)
	}
	if secret := s.ready.AdminURL[strings.LastIndex(s.ready.AdminURL, "/")+1:]; strings.Contains(errOut, secret) {
		t.Error("the admin interface's secret is in the log")
	}
}

// onWrite is called when something is written to it.
type onWrite func()

func (f onWrite) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

// TestHubByHand runs every command an administrator needs while the hub serves the same
// folder in another process, without the hub reporting anything.
func TestHubByHand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hub")
	command := func(code int, in string, args ...string) said {
		t.Helper()
		return exits(t, code, in, append([]string{"hub", args[0], args[1], "--data", dir}, args[2:]...)...)
	}
	secret := strings.TrimSpace(command(0, "", "client", "add", "--organisation-code", "90210", "office").out)
	if len(secret) < 40 || strings.ContainsAny(secret, " \n") {
		t.Fatalf("the secret is not alone on standard output: %d characters", len(secret))
	}
	command(1, "", "client", "add", "office")
	command(0, "een-goed-wachtwoord\r\n", "user", "add", "--admin", "--password-stdin", "Beheer")
	s := serve(t, "--data", dir)
	client := func(secret string) *hub.Client {
		t.Helper()
		c := must.Get(hub.New(hub.Config{BaseURL: s.ready.BaseURL, ClientID: "office", OrganisationCode: "90210", Intermediary: "intermediary",
			Secret: func(context.Context) (string, error) { return secret, nil }}))(t)
		t.Cleanup(c.Close)
		return c
	}
	z := zipOf(t, "Provider")
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(z)), nil }
	if r, err := client(secret).Deliver(t.Context(), []hub.Item{{Open: open, Size: int64(len(z))}}); err != nil || r.Status != http.StatusOK {
		t.Fatalf("delivery: %+v, %v", r, err)
	}

	var m struct{ ID, Sender string }
	if err := json.Unmarshal([]byte(command(0, "", "messages", "list", "--json").out), &m); err != nil || m.Sender != "office" {
		t.Fatalf("%+v %v", m, err)
	}
	command(0, "", "messages", "list").says(m.ID, "intermediary", "office")
	command(0, "", "messages", "show", m.ID).says(m.ID, "intermediary", "office")
	to := t.TempDir()
	name := strings.TrimSpace(command(0, "", "messages", "export", "--to", to, m.ID).out)
	if b, err := os.ReadFile(name); err != nil || !bytes.Equal(b, z) || name != filepath.Join(to, m.ID+".zip") {
		t.Errorf("export: %v", err)
	}
	command(1, "", "messages", "export", "--to", to, "--all") // does not replace a file
	command(2, "", "messages", "export", "--to", to).complains("--all")
	z = zipOf(t, "Another")
	must.Get(client(secret).Deliver(t.Context(), []hub.Item{{Open: open, Size: int64(len(z))}}))(t)
	ctx, interrupt := context.WithCancel(t.Context())
	some := t.TempDir()
	err := (&hubMessagesExportCmd{hubData: hubData{dir}, To: some, All: true}).Run(&env{ctx: ctx, out: onWrite(interrupt)})
	if files, _ := os.ReadDir(some); !errors.Is(err, context.Canceled) || len(files) != 1 {
		t.Errorf("interrupted: %v, %d files", err, len(files))
	}
	exits(t, 1, "", "hub", "client", "list", "--data", filepath.Join(dir, "typo")).complains("There is no hub in")

	command(0, "", "client", "list").says("office", "90210").hides(secret)
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(command(0, "", "client", "list", "--json").out), &list); err != nil || len(list) != 1 || list[0].ID != "office" {
		t.Errorf("%v %v", list, err)
	}
	fresh := strings.TrimSpace(command(0, "", "client", "rotate", "office").out)
	if _, err := client(secret).Check(t.Context()); contact.FailureOf(err) != contact.CredentialsRefused {
		t.Errorf("the old secret: %v", err)
	}
	removed := client(fresh)
	must.Get(removed.Check(t.Context()))(t)
	command(0, "", "client", "remove", "office")
	for _, c := range []*hub.Client{removed, client(fresh)} { // with a token and without one
		if _, err := c.Lookup(t.Context(), "0612345678"); contact.FailureOf(err) != contact.CredentialsRefused {
			t.Errorf("a client that was removed: %v", err)
		}
	}
	command(0, "", "user", "list").says("beheer", "yes")
	command(0, "", "user", "remove", "beheer")
	if code, rest, errOut := s.stop(t); runtime.GOOS != "windows" && code != 0 || rest != "" || errOut != "" {
		t.Errorf("exit %d: %q, %q", code, rest, errOut)
	}
}

func TestHubServeRefuses(t *testing.T) {
	real := filepath.Join(t.TempDir(), "hub")
	data := must.Get(localhub.OpenData(t.Context(), real))(t)
	must.Get(data.Import(t.Context(), strings.NewReader("achternaam\nVries\n"), localhub.CSV, localhub.ImportOptions{}))(t)
	must.Do(t, data.Close())
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for want, c := range map[string]struct {
		args []string
		code int
	}{
		"give --tls-cert and --tls-key, or allow plain http": {[]string{"--listen", "192.0.2.1:0"}, 2},
		"Others can reach 0.0.0.0:0":                         {[]string{"--listen", "0.0.0.0:0", "--synthetic", "5"}, 2},
		"literal address":                                    {[]string{"--listen", "localhost:0"}, 2},
		"does not go with a certificate":                     {[]string{"--insecure-http-on-network", "--tls-cert", missing, "--tls-key", missing}, 2},
		"go together":                                        {[]string{"--tls-cert", missing}, 1},
		"cannot be read: " + missing:                         {[]string{"--tls-cert", missing, "--tls-key", missing}, 1},
		"for invented contacts only, and this folder holds":  {[]string{"--data", real, "--synthetic", "5"}, 1},
		"--fault: an endpoint is":                            {[]string{"--fault", "all:drop"}, 2},
		"token occurs twice":                                 {[]string{"--fault", "token:drop", "--fault", "token:status=500"}, 2},
		"--log-level":                                        {[]string{"--log-level", "loud"}, 2},
		"--token-lifetime":                                   {[]string{"--token-lifetime=-1h"}, 2},
		"at least a second and at most a day":                {[]string{"--token-lifetime", "48h"}, 2},
	} {
		if s := exits(t, c.code, "", append([]string{"hub"}, c.args...)...).complains(want); s.out != "" || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%v: %q, %q", c.args, s.out, s.err)
		}
	}
}

func TestHubServeWarnsOfPlainHTTP(t *testing.T) {
	s := serve(t, "--insecure-http-on-network", "--synthetic", "5", "--log-level", "error")
	if _, page := fetch(t, "GET", s.ready.HubURL+"/login", ""); strings.Contains(page, `value="`+localhub.DemoUser+`"`) {
		t.Error("a demo")
	}
	if _, rest, errOut := s.stop(t); rest != "" || !strings.Contains(errOut, "warning: plain http on the network") || strings.Count(errOut, "\n") != 1 {
		t.Errorf("%q %q", rest, errOut)
	}
}

// TestHubClientStays checks that restarting a hub with the same
// command line keeps its client's secret.
func TestHubClientStays(t *testing.T) {
	dir := t.TempDir()
	said := func(code string) string {
		t.Helper()
		s := serve(t, "--data", dir, "--client", "office", "--organisation-code", code)
		exit, _, errOut := s.stop(t)
		if exit != 0 {
			t.Fatalf("exit %d: %s", exit, errOut)
		}
		return errOut
	}
	if first := said("1234"); !strings.Contains(first, "organisation code 1234, secret ") {
		t.Fatalf("at first: %s", first)
	}
	if again := said("5678"); !strings.Contains(again, "office is there already, with organisation code 1234") || strings.Contains(again, ", secret ") {
		t.Errorf("again: %s", again)
	}
}

// TestHubServeConfig checks that a hub others can reach is not a
// demo, with invented contacts or without.
func TestHubServeConfig(t *testing.T) {
	for _, c := range []struct {
		cmd  hubServeCmd
		demo bool
	}{
		{hubServeCmd{Synthetic: 5}, true},
		{hubServeCmd{Synthetic: 5, Listen: "127.0.0.2:0"}, true},
		{hubServeCmd{}, false},
		{hubServeCmd{Synthetic: 5, TLSCert: "c", TLSKey: "k", PublicHost: "hub.example"}, false},
		{hubServeCmd{Synthetic: 5, Insecure: true}, false},
	} {
		c.cmd.TokenLifetime = time.Hour
		cfg, _, err := c.cmd.config()
		if err != nil || cfg.Demo != c.demo || !cfg.Admin || cfg.TLSCert != c.cmd.TLSCert || cfg.TLSKey != c.cmd.TLSKey || cfg.PublicHost != c.cmd.PublicHost || cfg.AllowNetwork != c.cmd.Insecure {
			t.Errorf("%+v: %+v, %v", c.cmd, cfg, err)
		}
	}
}
