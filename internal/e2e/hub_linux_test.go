package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

// hubProcess is "wiebelt hub" as run by an administrator.
type hubProcess struct {
	cmd     *exec.Cmd
	baseURL string
}

func startHubProcess(t testing.TB, arg ...string) *hubProcess {
	t.Helper()
	bin := must.Get(binary())(t)
	h := &hubProcess{cmd: exec.CommandContext(t.Context(), bin, append([]string{"hub", "--listen", "127.0.0.1:0"}, arg...)...)}
	h.cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	h.cmd.Cancel = func() error { return h.cmd.Process.Signal(syscall.SIGTERM) }
	var said bytes.Buffer
	h.cmd.Stderr = &said
	out := must.Get(h.cmd.StdoutPipe())(t)
	must.Do(t, h.cmd.Start())
	t.Cleanup(func() { h.stop() })
	line, err := bufio.NewReader(out).ReadString('\n')
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
	return h
}

// stop ends the hub and returns its error. Later calls do nothing.
func (h *hubProcess) stop() error {
	if h.cmd.ProcessState != nil {
		return nil
	}
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	return h.cmd.Wait()
}

// succeeds runs wiebelt and returns its standard output.
func succeeds(t testing.TB, in string, arg ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must.Get(binary())(t), arg...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader(in)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("wiebelt %s: %v: %s", strings.Join(arg, " "), err, errOut.String())
	}
	return string(out)
}

func tokenOf(t testing.TB, c *http.Client, base, id, secret string) string {
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
	return a.AccessToken
}
