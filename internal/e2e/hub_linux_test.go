package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

// hubProcess is "wiebelt hub" as an administrator runs it.
type hubProcess struct {
	cmd     *exec.Cmd
	baseURL string
	rest    chan string // what stood on standard output after the ready line
}

func startHubProcess(t testing.TB, arg ...string) *hubProcess {
	t.Helper()
	bin := must.Get(binary())(t)
	h := &hubProcess{cmd: exec.CommandContext(t.Context(), bin, append([]string{"hub", "--listen", "127.0.0.1:0"}, arg...)...), rest: make(chan string, 1)}
	h.cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	h.cmd.Cancel = func() error { return h.cmd.Process.Signal(syscall.SIGTERM) }
	var said bytes.Buffer
	h.cmd.Stderr = &said
	out := must.Get(h.cmd.StdoutPipe())(t)
	must.Do(t, h.cmd.Start())
	t.Cleanup(func() { h.stop() })
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if err != nil {
		_ = h.cmd.Wait()
		t.Fatalf("no ready line: %v: %s", err, said.String())
	}
	var ready struct {
		Ready   bool   `json:"ready"`
		BaseURL string `json:"base_url"`
		HubURL  string `json:"hub_url"`
		Admin   string `json:"admin_url"`
	}
	if err := json.Unmarshal([]byte(line), &ready); err != nil || !ready.Ready || ready.BaseURL == "" || ready.HubURL == "" || ready.Admin == "" {
		t.Fatalf("ready line %q: %v", line, err)
	}
	h.baseURL = ready.BaseURL
	go func() {
		b, _ := io.ReadAll(r) // ends with the process
		h.rest <- string(b)
	}()
	return h
}

// stop ends the hub and gives its error. Later calls do nothing.
func (h *hubProcess) stop() error {
	if h.cmd.ProcessState != nil {
		return nil
	}
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	return h.cmd.Wait()
}

// command runs wiebelt and gives its standard output.
func command(t testing.TB, in string, arg ...string) (out, errOut string, code int) {
	t.Helper()
	bin := must.Get(binary())(t)
	cmd := exec.CommandContext(t.Context(), bin, arg...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader(in)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// succeeds is command that succeeds.
func succeeds(t testing.TB, in string, arg ...string) string {
	t.Helper()
	out, errOut, code := command(t, in, arg...)
	if code != 0 {
		t.Fatalf("wiebelt %s: %d %s", strings.Join(arg, " "), code, errOut)
	}
	return out
}

func tokenOf(t testing.TB, c *http.Client, base, id, secret string) (token string, status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", base+"/identity/token",
		strings.NewReader("scopes=Basic%20P0boxadministrator%20orgCode%3A90210&grant_type=client_credentials"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(id, secret)
	resp := must.Get(c.Do(r))(t)
	defer resp.Body.Close()
	var a struct {
		AccessToken string `json:"access_token"`
	}
	_ = json.NewDecoder(resp.Body).Decode(&a)
	return a.AccessToken, resp.StatusCode
}

// A new PC is pointed at the local hub: every command that an administrator
// needs, with the program as it is shipped.
func TestHubFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	secret := strings.TrimSpace(succeeds(t, "", "hub", "client", "add", "--data", dir, "--organisation-code", "90210", "office"))
	if len(secret) < 40 || strings.ContainsAny(secret, " \n") {
		t.Fatalf("the secret is not alone on standard output: %d characters", len(secret))
	}
	if _, _, code := command(t, "", "hub", "client", "add", "--data", dir, "office"); code != 1 {
		t.Error("a client was made twice")
	}
	succeeds(t, "een-goed-wachtwoord\r\n", "hub", "user", "add", "--data", dir, "--admin", "--password-stdin", "Beheer")
	h := startHubProcess(t, "--data", dir)
	c := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	t.Cleanup(c.CloseIdleConnections)
	tok, _ := tokenOf(t, c, h.baseURL, "office", secret)
	if tok == "" {
		t.Fatal("no token")
	}

	z := messagetest.ZIP(t, "bericht.xml", "<Contractdocument/>")
	body := messagetest.Request(z)
	r, _ := http.NewRequestWithContext(t.Context(), "POST", h.baseURL+"/transaction/intermediary", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+tok)
	r.Header.Set("Content-Type", "application/json")
	resp := must.Get(c.Do(r))(t)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("delivery: %d", resp.StatusCode)
	}

	// While it runs:
	var m struct{ ID, SHA256, Sender, Intermediary string }
	if err := json.Unmarshal([]byte(succeeds(t, "", "hub", "messages", "list", "--data", dir, "--json")), &m); err != nil || m.Sender != "office" {
		t.Fatalf("%+v %v", m, err)
	}
	for _, out := range []string{succeeds(t, "", "hub", "messages", "list", "--data", dir), succeeds(t, "", "hub", "messages", "show", "--data", dir, m.ID)} {
		if !strings.Contains(out, m.ID) || !strings.Contains(out, "intermediary") || !strings.Contains(out, "office") {
			t.Errorf("messages: %s", out)
		}
	}
	to := t.TempDir()
	name := strings.TrimSpace(succeeds(t, "", "hub", "messages", "export", "--data", dir, "--to", to, m.ID))
	if b, err := os.ReadFile(name); err != nil || !bytes.Equal(b, z) || name != filepath.Join(to, m.ID+".zip") {
		t.Errorf("export: %v", err)
	}
	if _, _, code := command(t, "", "hub", "messages", "export", "--data", dir, "--to", to, "--all"); code != 1 {
		t.Error("an exported file was replaced")
	}
	for want, arg := range map[int][]string{
		3: {"hub", "messages", "show", "--data", dir, "nobody"},
		2: {"hub", "messages", "export", "--data", dir, "--to", to},
	} {
		if _, errOut, code := command(t, "", arg...); code != want || errOut == "" {
			t.Errorf("%v: %d %s", arg, code, errOut)
		}
	}
	if _, errOut, code := command(t, "", "hub", "client", "list", "--data", filepath.Join(dir, "typo")); code != 1 || !strings.Contains(errOut, "holds no hub") {
		t.Errorf("a mistyped folder: %d %s", code, errOut)
	}

	if out := succeeds(t, "", "hub", "client", "list", "--data", dir); !strings.Contains(out, "office") || strings.Contains(out, secret) {
		t.Errorf("clients: %s", out)
	}
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(succeeds(t, "", "hub", "client", "list", "--data", dir, "--json")), &list); err != nil || len(list) != 1 || list[0].ID != "office" {
		t.Errorf("%v %v", list, err)
	}
	fresh := strings.TrimSpace(succeeds(t, "", "hub", "client", "rotate", "--data", dir, "office"))
	if _, status := tokenOf(t, c, h.baseURL, "office", secret); status != http.StatusUnauthorized {
		t.Errorf("the old secret: %d", status)
	}
	if tok, _ = tokenOf(t, c, h.baseURL, "office", fresh); tok == "" {
		t.Error("the new secret is not taken")
	}
	succeeds(t, "", "hub", "client", "remove", "--data", dir, "office")
	if status := lookupStatus(t, c, h.baseURL, tok, "0612345678"); status != http.StatusUnauthorized {
		t.Errorf("a removed client's token: %d", status)
	}
	if _, _, code := command(t, "", "hub", "client", "remove", "--data", dir, "office"); code != 3 {
		t.Error("removed twice")
	}
	if out := succeeds(t, "", "hub", "user", "list", "--data", dir); !strings.Contains(out, "beheer") || !strings.Contains(out, "yes") {
		t.Errorf("users: %s", out)
	}
	succeeds(t, "", "hub", "user", "remove", "--data", dir, "beheer")
	if b, err := os.ReadFile(filepath.Join(dir, "hub.db")); err != nil || bytes.Contains(b, []byte(secret)) || bytes.Contains(b, []byte(fresh)) || bytes.Contains(b, []byte("een-goed-wachtwoord")) {
		t.Error("a secret stands in the database")
	}
	if err := h.stop(); err != nil {
		t.Errorf("the hub ended with %v", err)
	}
	if rest := <-h.rest; rest != "" {
		t.Errorf("more than the ready line: %q", rest)
	}
}

func lookupStatus(t testing.TB, c *http.Client, base, token, number string) int {
	r, err := http.NewRequestWithContext(t.Context(), "GET", base+"/contact/contacts/telephony?q="+url.QueryEscape(number), nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}
