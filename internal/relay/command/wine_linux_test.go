package command

import (
	"encoding/json"
	"strings"
	"testing"

	"wiebelt/internal/relay/server"
	"wiebelt/internal/testutil/winetest"
)

// TestWindows: on Windows, the program creates a relay, runs it, talks to it and
// makes it a service. Whether the service manager starts it is not tested:
// golang.org/x/sys does not recognise wine's.
func TestWindows(t *testing.T) {
	t.Parallel()
	exe := winetest.Build(t, "wiebelt/app/wiebelt-relay")
	p := winetest.New(t)
	port := freePorts(t)
	with := func(args ...string) []string { return append(args, "--data", `C:\relay`, "--language", "en") }
	must := func(args ...string) string {
		t.Helper()
		out, code := p.Run(exe, with(args...)...)
		if code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, out)
		}
		return out
	}
	must("init", "office", "--reached", "127.0.0.1", "--host", "127.0.0.1", "--nats-port", port[0], "--web-port", port[1], "--admin", "127.0.0.1:"+port[2])
	must("service", "install")
	must("service", "remove")
	p.Start(exe, with("run")...).Wait(`{"ready":true`)
	var s server.Status
	if err := json.Unmarshal([]byte(must("status", "--json")), &s); err != nil || s.Site != "office" || s.Fault != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if out := must("user", "add", "anna"); !strings.Contains(out, "wiebelt join https://127.0.0.1:"+port[1]) {
		t.Errorf("%s", out)
	}
}
