package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/localhub"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/voipgrid"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/text"
)

// TestSecret: the webhook secret is printed in its address, and a renewed one is different.
func TestSecret(t *testing.T) {
	o := newOffice(t)
	first := o.must("secret", "reports")
	if !strings.Contains(first, "/in/") || o.must("secret", "reports") != first || o.must("secret", "reports", "--renew") == first {
		t.Errorf("%s", first)
	}
	o.ends(exitDone, []string{"service", "systemd"}, "run --data "+o.dir+"\n")
}

// TestHub: the relay uses the hub with a secret that only its folder
// contains, and prints it nowhere.
func TestHub(t *testing.T) {
	h := must.Get(localhub.Start(context.Background(), localhub.Config{Demo: true}))(t)
	defer h.Close()
	const canary = "p@ss+/=% canary"
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", canary))
	o := newOffice(t)
	for in, address := range map[string]string{"": h.BaseURL(), "x": "ftp://hub.example"} {
		if code, out, errOut := o.typing(in, setHub(address)...); code == 0 || out != "" || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q, %s: exit %d: %s%s", in, address, code, out, errOut)
		}
	}
	o.takes(canary+"\n", exitDone, setHub(h.BaseURL()))
	o.run()
	o.until(func(s server.Status) bool { return s.Hub == "untried" })
	if h.Stats().Tokens == 0 {
		o.until(func(server.Status) bool { return h.Stats().Tokens == 1 })
	}
	o.ends(exitDone, []string{"status"}, "has not been asked yet")
}

// TestHubKept: while another setting is wrong, the relay keeps its hub, and the client
// stays open; with another secret it gets another client, which no earlier refusal delays.
func TestHubKept(t *testing.T) {
	o := newOffice(t)
	f := &follower{env: &env{ctx: t.Context(), data: o.dir, log: slog.New(slog.DiscardHandler)}, dirs: must.Get(profile.Find(o.dir))(t), site: "kantoor", secrets: map[string][sha256.Size]byte{}}
	defer func() { f.client.Close() }()
	set := func(port int, value string) {
		t.Helper()
		o.takes(value, exitDone, setHub(fmt.Sprintf("http://127.0.0.1:%d", port)))
	}
	set(1, "secret")
	f.read(t.Context())
	first := f.client
	set(2, "secret")
	bad := filepath.Join(o.dir, mappingsDir, "bad.toml")
	must.Do(t, os.MkdirAll(filepath.Dir(bad), 0o700), os.WriteFile(bad, []byte("?"), 0o600))
	if now, old := f.read(t.Context()); first == nil || f.client != first || old != nil || len(now.InvalidKeys) != 1 {
		t.Errorf("%p, %p in its place, %v is wrong", old, f.client, now.InvalidKeys)
	}
	must.Do(t, os.Remove(bad))
	if now, old := f.read(t.Context()); f.client == first || old != first || now.Hub != f.client {
		t.Error("the hub that is set now is not asked")
	}
	first.Close()
	second, stamp := f.client, f.stamp(t.Context())
	set(2, "another")
	if _, old := f.read(t.Context()); old != second || f.stamp(t.Context()) == stamp {
		t.Error("with another secret the client of before is asked")
	}
	second.Close()
}

// TestStoreKept: without --secret-store, secrets stay where those of the other links are.
func TestStoreKept(t *testing.T) {
	dirs := must.Get(profile.Find(t.TempDir()))(t)
	for _, c := range []struct {
		set, given string
		want       any
	}{{"", "", "file"}, {"", "machine", "machine"}, {"machine", "", nil}, {"machine", "file", "file"}} {
		if c.set != "" {
			must.Do(t, os.WriteFile(settings.Path(dirs), fmt.Appendf(nil, "[hub]\nsecret_store = %q\n", c.set), 0o600))
		}
		now, _ := settings.Load(dirs)
		if got := changesTo(now, c.given)["hub.secret_store"]; got != c.want {
			t.Errorf("%q, given %q: %v", c.set, c.given, got)
		}
	}
}

// TestPolicyIsNamed: a change that the policy of the relay's computer prevents is reported
// with the setting and the policy's file.
func TestPolicyIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.toml")
	must.Do(t, os.WriteFile(file, []byte("[hub]\nbase_url = \"https://hub.example\"\n"), 0o600))
	now, _ := settings.CheckPolicy(file)
	dirs := must.Get(profile.Find(t.TempDir()))(t)
	err := (&env{ctx: t.Context()}).saveSettings(dirs, now, hubtrial.SaveRequest{Changes: map[string]any{"hub.client_id": "office"}})
	if says := text.English.Error(err); !strings.Contains(says, "hub.client_id (policy.toml)") {
		t.Errorf("%s", says)
	}
}

// TestExchange: a running relay follows its settings: a new exchange and its secret, its
// removal, and the hub. Unusable settings change nothing, and the status reports them.
func TestExchange(t *testing.T) {
	t.Parallel()
	a := must.Get(simulate.StartARI(t.Context(), "", simulate.Account{User: "wiebelt", Secret: "canary-1"}))(t)
	defer func() { _ = a.Close() }()
	o := newOffice(t)
	o.run()
	add := func(secret string) {
		t.Helper()
		o.takes(secret, exitDone, []string{"exchange", "add", "ari", "--address", a.Address().Address, "--user", "wiebelt"})
	}
	is := func(state string) {
		t.Helper()
		o.until(func(s server.Status) bool { return len(s.Links) == 1 && s.Links[0].State == state })
	}
	add("canary-2")
	is("refused")
	o.ends(exitFailed, []string{"doctor"}, "fail  exchange     Exchange ari (Asterisk (ARI)): refused since")
	add("canary-1")
	is("connected")
	linktest.AtAsterisk(a, "1.1", "109", "0698760011", call.Ringing)
	o.until(func(s server.Status) bool { return len(s.UnknownExtensions) == 1 && s.UnknownExtensions[0] == "109" })
	o.ends(exitDone, []string{"status"}, "Exchange ari (Asterisk (ARI)): connected since ", "last call: not yet.", "belong to nobody: 109")
	dirs := must.Get(profile.Find(o.dir))(t)
	good, err := os.ReadFile(settings.Path(dirs))
	if err != nil || bytes.Contains(good, []byte("canary")) {
		t.Fatalf("%s, %v", good, err)
	}
	write := func(b []byte) {
		must.Do(t, os.WriteFile(settings.Path(dirs), b, 0o600))
	}
	write(append([]byte("[hub]\nbase_url = 7\n"), bytes.ReplaceAll(good, []byte("[hub]"), nil)...))
	o.until(func(s server.Status) bool {
		return len(s.InvalidSettings) == 1 && s.InvalidSettings[0] == "hub.base_url"
	})
	is("connected")
	write(good)
	o.until(func(s server.Status) bool { return len(s.InvalidSettings) == 0 })
	o.ends(exitDone, []string{"exchange", "list"}, a.Address().Address)
	o.must("exchange", "remove", "ari")
	o.until(func(s server.Status) bool { return len(s.Links) == 0 })
	o.takes("x", exitDone, setHub("http://127.0.0.1:1"))
	o.until(func(s server.Status) bool { return s.Hub == "untried" })
	o.ends(exitFailed, []string{"doctor"}, "fail  hub")
}

// TestWebhook: a running relay loads a mapping, and reports invalid ones; a stored message
// can be mapped without sending it, and its sender is known.
func TestWebhook(t *testing.T) {
	o := newOffice(t)
	at := o.run()
	o.must("user", "add", "anna", "--extension", "101", "--email", "anna@kantoor.example")
	o.must("user", "add", "anna", "--label", "Anna", "--email=") // keeps her extension
	o.ends(exitDone, []string{"user", "list", "--json"}, `"name":"Anna","extensions":["101"],"computers"`)
	write := func(path, s string) string {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(s), 0o600))
		return path
	}
	mapping := filepath.Join(o.dir, mappingsDir, "ringdesk.toml")
	message := write(filepath.Join(t.TempDir(), "message"), "https://relay.example/in/x/ringdesk?uuid=7&from=0698760011&to=101&event=start\n")
	write(mapping, "id = \"uuid\"\n")
	o.until(func(s server.Status) bool {
		return len(s.InvalidSettings) == 1 && s.InvalidSettings[0] == mappingsDir+"/ringdesk.toml"
	})
	o.ends(exitUsage, []string{"exchange", "try", "ringdesk", message}, "ringdesk.toml: Say at least where id and number are.")
	write(mapping, "id = \"uuid\"\nnumber = \"from\"\nextension = \"to\"\n")
	o.until(func(s server.Status) bool { return len(s.InvalidSettings) == 0 })
	if out := o.must("exchange", "try", "ringdesk", message); out != `{"id":"7","state":"ringing","direction":"incoming","number":"0698760011","extensions":["101"],"users":["anna"]}`+"\n" {
		t.Errorf("%s", out)
	}
	for _, c := range []struct {
		said string
		code int
		want string
	}{
		{`{"call_id":"1","status":"created"}`, exitDone, "reports no call"},
		{`{"call_id":"1"}`, exitFailed, "not a message about a call"},
		{`{"call_id":"1","status":"ended","reason":"no-answer"}`, exitDone,
			`"state":"ended","direction":"incoming","number":"","reason":"missed"`},
	} {
		o.ends(c.code, []string{"exchange", "try", "voipgrid", write(message, c.said)}, c.want)
	}
	o.ends(exitNotFound, []string{"exchange", "try", "fax", message}, "no exchange fax")
	address := at.Web + "/in/" + must.Get(setup.LoadWebhookSecrets(o.dir))(t).Current
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint // another test verifies it
	defer client.CloseIdleConnections()
	taken := func(a *http.Response, err error) {
		t.Helper()
		if err != nil || a.StatusCode != http.StatusNoContent {
			t.Fatalf("%v, %v", a, err)
		}
		_ = a.Body.Close()
	}
	taken(client.Get(address + "/ringdesk?uuid=7&from=0698760011&to=101"))
	o.until(func(s server.Status) bool { return len(s.Links) == 1 && s.Reports == 1 })
	o.ends(exitDone, []string{"status"}, "Exchange ringdesk (own mapping): reporting by itself since ")
	taken(client.Get(address + "/ringdesk?uuid=8&from=0698760011&to=101"))
	taken(client.Get(address + "/ringdesk?uuid=8&from=0698760011&to=109"))
	o.until(func(s server.Status) bool { return s.Unmatched == 1 })
	o.ends(exitDone, []string{"doctor"}, "ok    exchange     Exchange ringdesk (own mapping): reporting by itself since ",
		"last message: 20", "warn  extensions", "109")
	taken(client.Post(address+"/voipgrid", "application/json", strings.NewReader(`{"version":"v3","calls":[]}`)))
	o.ends(exitFailed, []string{"doctor"}, "fail  exchange", "perhaps of another version")
}

// TestRegisterByProxy: a provider's portal is reached by the office's proxy, like an exchange.
func TestRegisterByProxy(t *testing.T) {
	o := newOffice(t)
	proxy := nettest.StartProxy(t, nettest.Listen(t), "", nettest.Connect("HTTP/1.1 407 x\r\n\r\n"))
	dirs := must.Get(profile.Find(o.dir))(t)
	must.Do(t, os.WriteFile(settings.Path(dirs), []byte("[hub]\nproxy = \"http://"+proxy.Address+"\"\n"), 0o600))
	const portal, user = "https://portal.example", "beheer@kantoor.example"
	login := text.LinkTrouble(text.English, string(link.CauseProxyLogin))
	o.takes("canary-1", exitFailed, []string{"exchange", "register", "--portal", portal, "--user", user}, login)
	must.Do(t, registration{o.dir}.Save(voipgrid.Registration{Portal: portal, User: user, Token: "canary-1", ID: "1"}))
	o.ends(exitFailed, []string{"exchange", "unregister"}, login)
	o.run()
	o.until(func(s server.Status) bool {
		return len(s.Links) == 1 && s.Links[0].Cause == string(link.CauseProxyLogin)
	})
}

// TestRegister: the relay registers its address with a provider, notices and reports when
// another program has replaced it, follows its own secret, and removes the registration.
func TestRegister(t *testing.T) {
	p := linktest.StartPortal(t, simulate.Account{User: "beheer@kantoor.example", Secret: "canary-1"})
	o := newOffice(t)
	register := []string{"exchange", "register", "--portal", p.URL, "--user", "beheer@kantoor.example"}
	o.takes("canary-2", exitFailed, register, "may not follow")
	at := func() (is []string) {
		p.With(func() { is = slices.Sorted(maps.Values(p.Targets)) })
		return is
	}
	registered := func() {
		t.Helper()
		o.takes("canary-1", exitDone, register)
		own := regexp.MustCompile(`https://\S+`).FindString(o.must("secret", "reports")) + "/voipgrid"
		if !slices.Equal(at(), []string{own}) {
			t.Errorf("%q, want %q", at(), own)
		}
	}
	registered()
	p.With(func() { clear(p.Targets); p.Targets["9"] = "https://crm.example/calls" })
	o.run()
	state := func(want string) {
		t.Helper()
		o.until(func(s server.Status) bool { return len(s.Links) == 1 && s.Links[0].State == want })
	}
	state("kicked")
	o.ends(exitFailed, []string{"doctor"}, "taken over by another program", "Give that program a registration of its own")
	p.With(func() { clear(p.Targets) })
	registered()
	state("connected")
	o.must("secret", "reports", "--renew")
	registered()
	o.must("exchange", "unregister")
	o.until(func(s server.Status) bool { return len(s.Links) == 0 })
	if o.ends(exitNotFound, []string{"exchange", "unregister"}, "Nothing is registered"); len(at()) > 0 {
		t.Errorf("%q", at())
	}
}
