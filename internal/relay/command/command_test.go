package command

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/localhub"
	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/text"
)

func command(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	return typing(t, "", args...)
}

func typing(t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), Build{Version: "test"}, append([]string{"wiebelt-relay"}, args...), strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

// office is a relay in its own folder.
type office struct {
	t   *testing.T
	dir string
}

// freePorts returns three free ports: the commands only know them from the settings.
func freePorts(t *testing.T) (ports []string) {
	t.Helper()
	for range 3 {
		ports = append(ports, strconv.Itoa(nettest.Port(t)))
	}
	return ports
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t, filepath.Join(t.TempDir(), "relay")}
	ports := freePorts(t)
	out := o.must("init", "kantoor", "--reached", "127.0.0.1", "--host", "127.0.0.1", "--nats-port", ports[0], "--web-port", ports[1], "--admin", "127.0.0.1:"+ports[2])
	if !strings.Contains(out, o.dir) {
		t.Errorf("init says %q", out)
	}
	return o
}

func (o *office) command(args ...string) (int, string, string) {
	o.t.Helper()
	return command(o.t, append(args, "--data", o.dir, "--language", "en")...)
}

func (o *office) must(args ...string) string {
	o.t.Helper()
	code, out, errOut := o.command(args...)
	if code != 0 || errOut != "" {
		o.t.Fatalf("%q: exit %d, %s%s", args, code, out, errOut)
	}
	return out
}

// ends checks a command's exit code and output.
func (o *office) ends(code int, args []string, says ...string) {
	o.t.Helper()
	got, out, errOut := o.command(args...)
	for _, s := range says {
		if got != code || !strings.Contains(out+errOut, s) {
			o.t.Errorf("%q: exit %d: %s%s", args, got, out, errOut)
		}
	}
}

// setHub sets the hub, with a secret.
func (o *office) setHub(secret, address string) (code int, out, errOut string) {
	o.t.Helper()
	return typing(o.t, secret, "secret", "hub", "--base-url", address, "--client-id", "office", "--organisation-code", "1234", "--data", o.dir, "--language", "en")
}

// run runs the relay, and returns where it can be reached.
func (o *office) run() (ready readiness) {
	o.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var errOut bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, Build{}, []string{"wiebelt-relay", "run", "--data", o.dir, "--language", "en"}, nil, w, &errOut)
		_ = w.Close()
	}()
	line, _ := bufio.NewReader(r).ReadBytes('\n')
	o.t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			o.t.Errorf("run: exit %d: %s", code, errOut.String())
		}
	})
	if err := json.Unmarshal(line, &ready); err != nil || !ready.IsReady {
		o.t.Fatalf("%q, %v", line, err)
	}
	return ready
}

// until polls the status, which lags behind the buckets, until ok accepts it.
func (o *office) until(ok func(server.Status) bool) {
	o.t.Helper()
	must.Soon(o.t, func() (bool, any) {
		var s server.Status
		must.Do(o.t, json.Unmarshal([]byte(o.must("status", "--json")), &s))
		return ok(s), s
	})
}

// TestOffice: forty users from a table join with their codes, are listed, counted and
// removed, and the relay reports its status.
func TestOffice(t *testing.T) {
	o := newOffice(t)
	for _, args := range [][]string{{"user", "list"}, {"status"}, {"user", "add", "anna"}} {
		o.ends(exitNotRunning, args, "not running")
	}
	o.ends(exitFailed, []string{"doctor"}, "fail  relay")
	at := o.run()
	o.ends(exitFailed, []string{"run"}, "already")
	table := &strings.Builder{}
	table.WriteString("user;name;extensions\n")
	for i := range 40 {
		fmt.Fprintf(table, "user%d;Invented %d;%d\n", i, i, 100+i)
	}
	file := filepath.Join(t.TempDir(), "users.csv")
	must.Do(t, os.WriteFile(file, []byte(table.String()), 0o600))
	codes := o.must("user", "import", file)
	rows, err := csv.NewReader(strings.NewReader(codes)).ReadAll()
	if err != nil || len(rows) != 41 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows[1:] {
		o.join(at.Web, r)
	}
	o.until(func(s server.Status) bool { return s.Computers == 40 && s.Users == 40 && s.Fault == "" })
	if again := o.must("user", "import", file); strings.Count(again, "\n") != 1 {
		t.Errorf("codes for those who have joined: %s", again)
	}
	if out := o.must("user", "code", "user7"); !strings.Contains(out, "wiebelt join "+rows[1][1]) {
		t.Errorf("%s", out)
	}
	o.must("user", "remove", "user7")
	o.until(func(s server.Status) bool { return s.Computers == 39 && s.Users == 39 })
	if list := o.must("user", "list"); strings.Contains(list, "user7 ") || !strings.Contains(list, "user8 ") || !strings.Contains(list, " 1 computer\n") || !strings.Contains(list, "Users: 39") {
		t.Errorf("%s", list)
	}
	for _, args := range [][]string{{"user", "remove", "user7"}, {"user", "code", "nobody"}} {
		o.ends(exitNotFound, args, "no user")
	}
	if code, out, _ := o.command("doctor"); code != exitDone || strings.Contains(out, "fail") {
		t.Errorf("doctor: exit %d: %s", code, out)
	}
	for path, want := range map[string]string{"/healthz": "", "/metrics": "wiebelt_relay_users 39\n"} {
		a := must.Get(http.Get(at.Admin + path))(t)
		b, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != http.StatusOK || !strings.Contains(string(b), want) {
			t.Errorf("%s: %d %s, %v", path, a.StatusCode, b, err)
		}
	}
}

// TestImportEndsEarly: an import that fails halfway has printed the codes created so far.
func TestImportEndsEarly(t *testing.T) {
	o := newOffice(t)
	o.run()
	file := filepath.Join(t.TempDir(), "users.csv")
	must.Do(t, os.WriteFile(file, []byte("user\nanna\nbob\ncarla\n"), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	var out, errOut bytes.Buffer
	ends := writer(func(b []byte) (int, error) {
		if strings.Contains(string(b), "bob,") {
			stop()
		}
		return out.Write(b)
	})
	code := run(ctx, Build{}, []string{"wiebelt-relay", "user", "import", file, "--data", o.dir}, nil, ends, &errOut)
	if rows, err := csv.NewReader(&out).ReadAll(); code != exitFailed || err != nil || len(rows) != 3 || rows[2][0] != "bob" {
		t.Errorf("exit %d, %q, %v, %s", code, rows, err, errOut.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// join joins like a computer does, with a row of the import's output.
func (o *office) join(web string, row []string) {
	o.t.Helper()
	stored := must.Get(relaylink.Join(o.t.Context(), web, row[2], row[3]))(o.t)
	if !strings.Contains(stored, fmt.Sprintf(`"user":%q`, row[0])) {
		o.t.Errorf("%s joined as somebody else", row[0])
	}
}

// TestWrong: users' mistakes are reported in one line, in their language, with the
// documented exit code, and change nothing.
func TestWrong(t *testing.T) {
	o := newOffice(t)
	o.run()
	bad := filepath.Join(t.TempDir(), "bad.csv")
	must.Do(t, os.WriteFile(bad, []byte("user,name\nanna,Anna\nanna,Anna\n"), 0o600))
	for _, c := range []struct {
		code   int
		nl, en string
		args   []string
	}{
		{exitFailed, "staat al een relay", "a relay in", []string{"init", "other", "--reached", "a"}},
		{exitUsage, "drie relays", "three relays", []string{"cluster", "make", bad + "2", "r1=127.0.0.1", "r2=127.0.0.2"}},
		{exitUsage, "drie relays", "three relays", []string{"cluster", "make", bad + "2", "r2=127.0.0.1", "r3=127.0.0.2", "r4=127.0.0.3"}},
		{exitUsage, "drie relays", "three relays", []string{"cluster", "make", bad + "2", "r1=127.0.0.1", "r2=127.0.0.2", "r3=127.0.0.2"}},
		{exitFailed, "beschadigd", "damaged", []string{"cluster", "join", bad, "--name", "r2"}},
		{exitUsage, "naam van een kantoor", "site's name", []string{"init", "Other Site", "--reached", "a"}},
		{exitUsage, "reached noemt", "reached lists", []string{"init", "other", "--reached", "https://a"}},
		{exitUsage, "admin is een adres", "admin is an address", []string{"init", "other", "--reached", "a", "--admin", "0.0.0.0:1"}},
		{exitUsage, "--reached", "--reached", []string{"init", "other"}},
		{exitUsage, "gebruikersnaam", "user's name", []string{"user", "add", "a b"}},
		{exitFailed, "128", "128", []string{"user", "add", "anna", "--label", strings.Repeat("n", 129)}},
		{exitFailed, "Regel 3: Deze gebruiker", "Line 3: This user", []string{"user", "import", bad}},
		{exitUsage, "Kies een soort centrale: ari, wazo, 3cx", "Choose a kind of exchange: ari, wazo, 3cx", []string{"exchange", "add", "relay", "--address", "https://a", "--user", "u"}},
		{exitUsage, "één toestel", "one extension", []string{"exchange", "add", "wazo", "--address", "https://a", "--user", "u"}},
		{exitNotFound, "geen centrale", "no exchange", []string{"exchange", "remove", "wazo"}},
		{exitNotFound, "geen gebruiker", "no user", []string{"publisher", "remove", "kamailio"}},
		{exitFailed, "bestaat niet", "does not exist", []string{"user", "import", bad + "x"}},
		{exitUsage, "Windows", "Windows", []string{"service", "install"}},
		{exitUsage, "usr", "usr", []string{"usr"}},
		{exitUsage, "--all", "--all", []string{"forget"}},
		{exitUsage, "--all", "--all", []string{"forget", "0612345678", "--all"}},
	} {
		for l, want := range map[string]string{"nl": c.nl, "en": c.en} {
			code, out, errOut := command(t, append([]string{"--data", o.dir, "--language", l}, c.args...)...)
			if code != c.code || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
				t.Errorf("%q: exit %d: %s%s", c.args, code, out, errOut)
			}
		}
	}
	if code, _, errOut := command(t, "status", "--language", "nl", "--data", t.TempDir()); code != exitFailed || !strings.Contains(errOut, "wiebelt-relay init") {
		t.Errorf("no folder: exit %d: %s", code, errOut)
	}
	if list := o.must("user", "list"); !strings.Contains(list, "Users: 0") {
		t.Errorf("%s", list)
	}
}

// TestSecret: the webhook secret is printed in its address, and a renewed one is different.
func TestSecret(t *testing.T) {
	o := newOffice(t)
	first := o.must("secret", "reports")
	if !strings.Contains(first, "/in/") || o.must("secret", "reports") != first || o.must("secret", "reports", "--renew") == first {
		t.Errorf("%s", first)
	}
	if unit := o.must("service", "systemd"); !strings.Contains(unit, "run --data "+o.dir+"\n") {
		t.Errorf("%s", unit)
	}
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
		if code, out, errOut := o.setHub(in, address); code == 0 || out != "" || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q, %s: exit %d: %s%s", in, address, code, out, errOut)
		}
	}
	code, out, errOut := o.setHub(canary+"\n", h.BaseURL())
	if code != 0 || strings.Contains(out+errOut, "canary") {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	o.run()
	o.until(func(s server.Status) bool { return s.Hub == "untried" })
	if h.Stats().Tokens == 0 {
		o.until(func(server.Status) bool { return h.Stats().Tokens == 1 })
	}
	if out := o.must("status"); !strings.Contains(out, "has not been asked yet") || strings.Contains(out, "canary") {
		t.Errorf("%s", out)
	}
}

// TestHubKept: while another setting is wrong, the relay keeps its hub, and the client
// stays open; with another secret it gets another client, which no earlier refusal delays.
func TestHubKept(t *testing.T) {
	o := newOffice(t)
	f := &follower{env: &env{ctx: t.Context(), data: o.dir, log: slog.New(slog.DiscardHandler)}, dirs: must.Get(profile.Find(o.dir))(t), site: "kantoor", secrets: map[string][sha256.Size]byte{}}
	defer func() { f.client.Close() }()
	set := func(port int, value string) {
		t.Helper()
		if code, _, errOut := o.setHub(value, fmt.Sprintf("http://127.0.0.1:%d", port)); code != 0 {
			t.Fatal(errOut)
		}
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
		code, out, errOut := typing(t, secret, "exchange", "add", "ari", "--address", a.Address().Address, "--user", "wiebelt", "--data", o.dir, "--language", "en")
		if code != 0 || strings.Contains(out+errOut, "canary") {
			t.Fatalf("exit %d: %s%s", code, out, errOut)
		}
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
	a.Send(`{"type":"ChannelStateChange","channel":{"id":"1.1","name":"PJSIP/109-00000001","state":"Ringing","connected":{"number":"0698760011"}}}`)
	o.until(func(s server.Status) bool { return len(s.UnknownExtensions) == 1 && s.UnknownExtensions[0] == "109" })
	if out := o.must("status"); !strings.Contains(out, "Exchange ari (Asterisk (ARI)): connected since ") || !strings.Contains(out, "last call: not yet.") || !strings.Contains(out, "belong to nobody: 109") || strings.Contains(out, "canary") {
		t.Errorf("%s", out)
	}
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
	if list := o.must("exchange", "list"); !strings.Contains(list, a.Address().Address) {
		t.Errorf("%s", list)
	}
	o.must("exchange", "remove", "ari")
	o.until(func(s server.Status) bool { return len(s.Links) == 0 })
	if code, out, errOut := o.setHub("x", "http://127.0.0.1:1"); code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	o.until(func(s server.Status) bool { return s.Hub == "untried" })
	o.ends(exitFailed, []string{"doctor"}, "fail  hub")
}

// TestCertificateLasts: the office has to renew its own certificate in time;
// the relay renews its own by itself.
func TestCertificateLasts(t *testing.T) {
	for _, c := range []struct {
		ofOffice bool
		left     time.Duration
		want     string
	}{{true, renewIn - time.Hour, "warn"}, {true, renewIn + time.Hour, "ok"}, {false, time.Hour, "ok"}} {
		if state, _ := certificateState(c.ofOffice, c.left); state != c.want {
			t.Errorf("of the office %v, %v left: %s", c.ofOffice, c.left, state)
		}
	}
}

// TestWebhook: a running relay loads a mapping, and reports invalid ones; a stored message
// can be mapped without sending it, and its sender is known.
func TestWebhook(t *testing.T) {
	o := newOffice(t)
	at := o.run()
	o.must("user", "add", "anna", "--extension", "101", "--email", "anna@kantoor.example")
	o.must("user", "add", "anna", "--label", "Anna", "--email=") // keeps her extension
	if list := o.must("user", "list", "--json"); !strings.Contains(list, `"name":"Anna","extensions":["101"],"computers"`) {
		t.Errorf("%s", list)
	}
	write := func(path, s string) string {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(s), 0o600))
		return path
	}
	mapping := filepath.Join(o.dir, mappingsDir, "ringdesk.toml")
	message := write(filepath.Join(t.TempDir(), "message"), "https://relay.example/in/x/ringdesk?uuid=7&from=0698760011&to=101&event=start\n")
	try := func(name, file string) string {
		_, out, errOut := o.command("exchange", "try", name, file)
		return out + errOut
	}
	write(mapping, "id = \"uuid\"\n")
	o.until(func(s server.Status) bool {
		return len(s.InvalidSettings) == 1 && s.InvalidSettings[0] == mappingsDir+"/ringdesk.toml"
	})
	if out := try("ringdesk", message); !strings.Contains(out, "ringdesk.toml: Say at least where id and number are.") {
		t.Errorf("%s", out)
	}
	write(mapping, "id = \"uuid\"\nnumber = \"from\"\nextension = \"to\"\n")
	o.until(func(s server.Status) bool { return len(s.InvalidSettings) == 0 })
	if out := try("ringdesk", message); out != `{"id":"7","state":"ringing","direction":"incoming","number":"0698760011","extensions":["101"],"users":["anna"]}`+"\n" {
		t.Errorf("%s", out)
	}
	for said, want := range map[string]string{`{"call_id":"1","status":"created"}`: "reports no call", `{"call_id":"1"}`: "not a message about a call",
		`{"call_id":"1","status":"ended","reason":"no-answer"}`: `"state":"ended","direction":"incoming","number":"","reason":"missed"`} {
		if out := try("voipgrid", write(message, said)); !strings.Contains(out, want) {
			t.Errorf("%s: %s", said, out)
		}
	}
	o.ends(exitNotFound, []string{"exchange", "try", "fax", message}, "no exchange fax")
	reports := strings.TrimSpace(o.must("secret", "reports"))
	fields := strings.Fields(reports)
	address := at.Web + "/in/" + fields[len(fields)-1][strings.LastIndexByte(fields[len(fields)-1], '/')+1:]
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint // another test verifies it
	defer client.CloseIdleConnections()
	a, err := client.Get(address + "/ringdesk?uuid=7&from=0698760011&to=101")
	if err != nil || a.StatusCode != http.StatusNoContent {
		t.Fatalf("%v, %v", a, err)
	}
	_ = a.Body.Close()
	o.until(func(s server.Status) bool { return len(s.Links) == 1 && s.Reports == 1 })
	if out := o.must("status"); !strings.Contains(out, "Exchange ringdesk (own mapping): reporting by itself since ") {
		t.Errorf("%s", out)
	}
	for _, to := range []string{"101", "109"} {
		a = must.Get(client.Get(address + "/ringdesk?uuid=8&from=0698760011&to=" + to))(t)
		_ = a.Body.Close()
	}
	o.until(func(s server.Status) bool { return s.Unmatched == 1 })
	if out := o.must("doctor"); !strings.Contains(out, "ok    exchange     Exchange ringdesk (own mapping): reporting by itself since ") || !strings.Contains(out, "last message: 20") || !strings.Contains(out, "warn  extensions") || !strings.Contains(out, "109") {
		t.Errorf("%s", out)
	}
	if a, err = client.Post(address+"/voipgrid", "application/json", strings.NewReader(`{"version":"v3","calls":[]}`)); err != nil || a.StatusCode != http.StatusNoContent {
		t.Fatalf("%v, %v", a, err)
	}
	_ = a.Body.Close()
	o.ends(exitFailed, []string{"doctor"}, "fail  exchange", "perhaps of another version")
}

// TestRegister: the relay registers its address with a provider, notices and reports when
// another program has replaced it, follows its own secret, and removes the registration.
func TestRegister(t *testing.T) {
	p := linktest.StartPortal(t, simulate.Account{User: "beheer@kantoor.example", Secret: "canary-1"})
	o := newOffice(t)
	register := func(token string) (int, string, string) {
		return typing(t, token, "exchange", "register", "--portal", p.URL, "--user", "beheer@kantoor.example", "--data", o.dir, "--language", "en")
	}
	if code, out, errOut := register("canary-2"); code != exitFailed || !strings.Contains(errOut, "may not follow") || strings.Contains(out+errOut, "canary") {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
	at := func() (is []string) {
		p.With(func() { is = slices.Sorted(maps.Values(p.Targets)) })
		return is
	}
	registered := func() {
		t.Helper()
		if code, out, errOut := register("canary-1"); code != 0 || strings.Contains(out+errOut, "canary") {
			t.Fatalf("exit %d: %s%s", code, out, errOut)
		}
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

// TestPublishers: a program has its own key, which is not a user's and is valid until
// it is replaced or removed.
func TestPublishers(t *testing.T) {
	o := newOffice(t)
	at := o.run()
	f := must.Get(setup.Load(o.dir))(t)
	report := func(creds string) error {
		c, err := nats.Connect(at.NATS, nats.UserCredentialBytes([]byte(creds)), nats.Secure(&tls.Config{RootCAs: f.Authority.Roots(), MinVersion: tls.VersionTLS13}), nats.NoReconnect())
		if err != nil {
			return err
		}
		defer c.Close()
		return errors.Join(c.Publish("wiebelt.kantoor.in", []byte(`{"id":"7","extension":"109"}`)), c.Flush())
	}
	first := o.must("publisher", "add", "kamailio")
	must.Do(t, report(first))
	o.until(func(s server.Status) bool {
		return s.Unmatched == 1 && s.Users == 0 && s.Computers == 0 && s.UnknownExtensions[0] == "109"
	})
	if list := o.must("publisher", "list") + o.must("user", "list"); list != "kamailio\nUsers: 0\n" {
		t.Errorf("%q", list)
	}
	for _, args := range [][]string{{"user", "add", "kamailio"}, {"user", "code", "kamailio"}} {
		if code, out, errOut := o.command(args...); code == 0 || out != "" {
			t.Errorf("%q: exit %d: %s%s", args, code, out, errOut)
		}
	}
	for _, do := range []string{"remove", "code"} { // it is not a user
		o.ends(exitNotFound, []string{"user", do, "kamailio"}, "kamailio")
	}
	second := o.must("publisher", "add", "kamailio")
	for report(first) == nil { // until the relay revokes the first key
	}
	must.Do(t, report(second))
	o.must("publisher", "remove", "kamailio")
	for report(second) == nil {
	}
	if list := o.must("publisher", "list"); list != "" {
		t.Errorf("%q", list)
	}
}

// TestForget: forget deletes all calls, or those of a number as the relay parses it, and
// nothing else, whatever is set for the next start.
func TestForget(t *testing.T) {
	o := newOffice(t)
	dirs := must.Get(profile.Find(o.dir))(t)
	must.Do(t, os.WriteFile(settings.Path(dirs), []byte("[phone]\nregion = \"BE\"\n"), 0o600))
	o.run()
	o.must("user", "add", "anna", "--extension", "101")
	o.until(func(s server.Status) bool { return s.Users == 1 })
	conn, f, err := (&env{ctx: t.Context(), data: o.dir}).connect()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	kept := func() int {
		t.Helper()
		a := must.Get(wire.ParseJournalAnswer(must.Get(natstest.Ask(conn, f.Keys.Site.UserSubject(wire.TopicJournal, "anna"), []byte("{}")))(t)))(t)
		return len(a.Calls)
	}
	for i, number := range []string{"0470123451", "0470123452", "0470123452", "0470123453"} {
		for _, state := range []string{"ringing", "ended"} {
			must.Do(t, conn.Publish(f.Keys.Site.ReportSubject(), fmt.Appendf(nil, `{"id":"%d","state":%q,"number":%q,"extension":"101"}`, i, state, number)))
		}
	}
	js := must.Get(jetstream.New(conn))(t)
	must.Soon(t, func() (bool, any) {
		s, err := js.Stream(t.Context(), journal.Name)
		return err == nil && s.CachedInfo().State.Msgs == 4, err
	})
	f.Settings.Journal.Days = 0
	must.Do(t, f.WriteSettings(f.Settings))
	for _, step := range []struct {
		what          string
		forgotten, is int
	}{{"0470123459", 0, 4}, {"+32470123452", 2, 2}, {"--all", 2, 0}, {"--all", 0, 0}} {
		if out := o.must("forget", step.what); !strings.Contains(out, fmt.Sprintf("forgotten: %d", step.forgotten)) || kept() != step.is {
			t.Errorf("%s: %s, and %d are kept", step.what, out, kept())
		}
	}
}
