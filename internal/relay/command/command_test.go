package command

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/commandline"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
	"wiebelt/internal/testutil/nettest"
)

// typing runs a command that reads in.
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

func (o *office) command(args ...string) (code int, out, errOut string) {
	o.t.Helper()
	return o.typing("", args...)
}

// typing is like command, for one that reads in.
func (o *office) typing(in string, args ...string) (code int, out, errOut string) {
	o.t.Helper()
	return typing(o.t, in, append(args, "--data", o.dir, "--language", "en")...)
}

func (o *office) must(args ...string) string {
	o.t.Helper()
	code, out, errOut := o.command(args...)
	if code != 0 || errOut != "" {
		o.t.Fatalf("%q: exit %d, %s%s", args, code, out, errOut)
	}
	return out
}

// ends checks a command's exit code and output, in which no secret with "canary" is.
func (o *office) ends(code int, args []string, says ...string) {
	o.t.Helper()
	o.takes("", code, args, says...)
}

// takes is like ends, for a command that reads in.
func (o *office) takes(in string, code int, args []string, says ...string) {
	o.t.Helper()
	got, out, errOut := o.typing(in, args...)
	all := out + errOut
	if lacks := func(s string) bool { return !strings.Contains(all, s) }; got != code || slices.ContainsFunc(says, lacks) || !lacks("canary") {
		o.t.Errorf("%q: exit %d: %s; want %d, %q", args, got, all, code, says)
	}
}

// setHub are the arguments that set the hub, whose secret is read.
func setHub(address string) []string {
	return []string{"secret", "hub", "--base-url", address, "--client-id", "office", "--organisation-code", "1234"}
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
	o.ends(exitDone, []string{"user", "code", "user7"}, "wiebelt join "+rows[1][1])
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

// TestBecomesOneOfThree: until it is restarted, the first of three relays gets users as before.
func TestBecomesOneOfThree(t *testing.T) {
	o := newOffice(t)
	o.run()
	o.must("cluster", "make", filepath.Join(t.TempDir(), "site.relay"), "r1=127.0.0.1", "r2=127.0.0.2", "r3=127.0.0.3")
	o.must("user", "add", "anna")
	o.ends(exitDone, []string{"user", "list"}, "Users: 1")
	o.ends(exitDone, []string{"secret", "reports", "--renew"}, "/in/", "copy "+filepath.Join(o.dir, "reports.json"))
	if _, _, errOut := o.command("secret", "reports"); errOut != "" {
		t.Errorf("nothing was renewed: %s", errOut)
	}
}

// TestFault: a relay that cannot work ends status with exit code 1, for programs too, and
// what its storage refuses is said in the user's language.
func TestFault(t *testing.T) {
	o := newOffice(t)
	admin := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(server.Status{Site: "kantoor", Fault: "quorum"})
	})}
	l := must.Get(net.Listen("tcp", must.Get(setup.Load(o.dir))(t).Settings.Admin))(t)
	defer admin.Close()
	go func() { _ = admin.Serve(l) }()
	o.ends(exitFailed, []string{"status"}, "reaches neither")
	o.ends(exitFailed, []string{"status", "--json"}, `"lacks":"quorum"`)
	for _, why := range []error{&jetstream.APIError{Code: 503, ErrorCode: 10008}, nats.ErrConnectionClosed} {
		var said bytes.Buffer
		e := &env{err: &said, language: "nl"}
		code := e.finish(&commandline.Output{}, fmt.Errorf("the buckets of users: %w", why))
		if code != exitFailed || !strings.Contains(said.String(), "wiebelt-relay status zegt waarom") {
			t.Errorf("exit %d: %s", code, said.String())
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
		{exitUsage, "van --nats-keys", "of --nats-keys", []string{"init", "other", "--reached", "a", "--nats-url", "tls://nats.example:4222"}},
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
			code, out, errOut := typing(t, "", append([]string{"--data", o.dir, "--language", l}, c.args...)...)
			if code != c.code || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
				t.Errorf("%q: exit %d: %s%s", c.args, code, out, errOut)
			}
		}
	}
	if code, _, errOut := typing(t, "", "status", "--language", "nl", "--data", t.TempDir()); code != exitFailed || !strings.Contains(errOut, "wiebelt-relay init") {
		t.Errorf("no folder: exit %d: %s", code, errOut)
	}
	o.ends(exitDone, []string{"user", "list"}, "Users: 0")
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

// TestPublishers: a program has its own key, which is not a user's and is valid until
// it is replaced or removed. Its name is nobody else's meanwhile.
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
	table := filepath.Join(t.TempDir(), "users.csv")
	must.Do(t, os.WriteFile(table, []byte("user\nkamailio\n"), 0o600))
	o.ends(exitFailed, []string{"user", "import", table}, "kamailio: A user and a publisher")
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
	o.must("user", "add", "kamailio")
	o.ends(exitFailed, []string{"publisher", "add", "kamailio"}, "A user and a publisher")
	o.must("user", "remove", "kamailio")
	o.must("publisher", "add", "kamailio")
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
