package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
)

// markers are values that occur nowhere else. Those of people are numbers, names and
// relation numbers; those of offices are in settings.
type markers struct{ secrets, people, offices []string }

// makeMarkers creates them for a number of callers known to the hub.
func makeMarkers(t *testing.T, h *localhub.Hub, callers int) (c markers) {
	t.Helper()
	for n := range callers {
		number, name, relation := markedNumber(n), markedName(n), fmt.Sprintf("7741%05d", n)
		must.Get(h.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: contact.Contact{
			ID: fmt.Sprintf("marked-id-%04d", n), RelationNumber: relation, Initials: "K.", FamilyName: name,
			Address: contact.Address{Street: fmt.Sprintf("Kanariestraatje%03d", n), Number: "1", PostalCode: "1234AB", City: "Ons Dorp"}}}))(t)
		c.people = append(c.people, number[1:], name, relation, fmt.Sprintf("Kanariestraatje%03d", n), fmt.Sprintf("marked-id-%04d", n), markedPhoneName(n))
	}
	return c
}

func markedNumber(n int) string    { return fmt.Sprintf("06987%05d", 70000+n) }
func markedName(n int) string      { return fmt.Sprintf("Kanarie%cq%03dx", 'A'+n%26, n) }
func markedPhoneName(n int) string { return fmt.Sprintf("Toestelnaam%03dz", n) }

// forms returns the encodings in which a value may occur.
func forms(v string) []string {
	all := []string{v, url.QueryEscape(v), url.PathEscape(v)}
	for _, prefix := range []string{"office:", ""} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			all = append(all, strings.TrimRight(enc.EncodeToString([]byte(prefix+v)), "="))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hits returns the markers found in a text.
func hits(text string, values []string) (found []string) {
	for _, v := range values {
		for _, f := range forms(v) {
			if strings.Contains(text, f) {
				found = append(found, v)
				break
			}
		}
	}
	return found
}

// processes repeatedly reads the command line and environment of every process,
// and keeps those of ours.
type processes struct {
	mu   sync.Mutex
	seen map[string]bool // command line and environment
	stop context.CancelFunc
	done chan struct{}
}

func watchProcesses(t *testing.T, bin string) *processes {
	ctx, cancel := context.WithCancel(context.Background())
	p := &processes{seen: map[string]bool{}, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for again := time.Tick(10 * time.Millisecond); ctx.Err() == nil; <-again {
			p.look(bin)
		}
	}()
	t.Cleanup(func() { cancel(); <-p.done })
	return p
}

func (p *processes) look(bin string) {
	all, _ := os.ReadDir("/proc")
	for _, e := range all {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		cmd, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil || len(cmd) == 0 {
			continue
		}
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if !bytes.Contains(cmd, []byte(bin)) && !bytes.Contains(env, []byte(bin)) && !bytes.Contains(cmd, []byte("wiebelt")) {
			continue
		}
		p.mu.Lock()
		p.seen[string(cmd)+"\n"+string(env)] = true
		p.mu.Unlock()
	}
}

// TestPersonalDataStaysInside sends more than 500 personal or secret values through every
// flow, and checks that none of them appears where it must not. The resident connects to
// each kind of phone with what "wiebelt simulate" prints for it, and keeps its call.
func TestPersonalDataStaysInside(t *testing.T) {
	t.Parallel()
	const callers = 100
	h, value := startHub(t)
	marked := makeMarkers(t, h, callers)
	old, next, silent := "Geheim+Kanarie/oud=%1", "Geheim+Kanarie/nieuw=%2", "Geheim/Kanarie+centrale"
	marked.secrets = []string{old, next, value, silent}
	marked.offices = []string{"Beheerkanarie Janssen", "Lijnkanarie", "0207654399", "0207654398"}
	g := newHubProxy(t, h.BaseURL(), value, old)
	o := prepareAt(t, h, g.URL, old, fmt.Sprintf("[support]\ncontact = %q\n[[line]]\nnumber = %q\nname = %q\n[phone]\nnever_lookup = [%q]\n[log]\nlevel = \"debug\"\n[[softphone]]\nkind = \"ari\"\nname = \"stil\"\naddress = \"http://127.0.0.1:9\"\nextension = \"101\"\nuser = \"u\"\n",
		marked.offices[0], marked.offices[2], marked.offices[1], marked.offices[3]))
	o.set("hub.intermediary", "intermediary")
	var outputs strings.Builder // of commands that must reveal nothing about people
	watched := watchProcesses(t, o.bin)
	run := func(stdin string, keep bool, args ...string) (code int, out string) {
		t.Helper()
		cmd := o.wiebelt(args...)
		cmd.Stdin = strings.NewReader(stdin)
		b, _ := cmd.CombinedOutput() // exit codes are checked where they matter
		if keep {
			outputs.WriteString(strings.Join(args[:1], " ") + ": " + string(b) + "\n")
		}
		return cmd.ProcessState.ExitCode(), string(b)
	}
	succeeds := func(stdin string, keep bool, args ...string) string {
		t.Helper()
		code, out := run(stdin, keep, args...)
		if code != 0 {
			t.Fatalf("wiebelt %s: exit %d: %s", args[0], code, out)
		}
		return out
	}

	succeeds(silent+"\n", true, "provision", "--softphone", "stil", "--secret-stdin")

	// Phones elsewhere, each with a secret if it has one.
	var phones []*simulated
	overs := registry.Links()
	for n, over := range overs {
		s := startSimulated(t, o, over, fmt.Sprintf("0 ring a number=%q line=%q name=%q\n+3600 end a\n", markedNumber(n), marked.offices[2], markedPhoneName(n)))
		s.setUp(o)
		phones = append(phones, s)
	}
	dirs := must.Get(profile.Find(o.profile))(t)
	tokens := must.Get(secret.EnsureTokens(dirs))(t)
	marked.secrets = append(marked.secrets, tokens.Socket, tokens.Path)
	notes := o.opener()
	trace := filepath.Join(o.Dir, "trace")
	tmp := t.TempDir() // where every user of the machine can write
	o.start("env", "TMPDIR="+tmp, "strace", "-f", "-qq", "-v", "-s", "65536", "-e", "trace=execve,openat,open,creat,mkdirat,mkdir,unlinkat,renameat", "-e", "signal=none", "-o", trace)

	// Every source of calls, and every kind of history.
	seen := func(what string, n int) {
		t.Helper()
		o.Until(what, func() bool { return len(callsOf(t, o)) >= n }, func() []any { return []any{len(callsOf(t, o))} })
	}
	is := func(what string, ok func(n int, e history.Entry) bool) {
		t.Helper()
		var all []history.Entry
		o.Until(what, func() bool {
			all = callsOf(t, o)
			return len(all) == len(overs) && !slices.ContainsFunc(all, func(e history.Entry) bool { return !ok(slices.Index(overs, e.Kind), e) })
		}, func() []any { return []any{fmt.Sprintf("%+v", all)} })
	}
	is("the call of every phone, with its contact", func(n int, e history.Entry) bool {
		return e.Number == "+31"+markedNumber(n)[1:] && e.ContactID == fmt.Sprintf("marked-id-%04d", n) && e.Ended.IsZero()
	})
	for _, s := range phones {
		s.hangUp(t)
	}
	is("the end of every call", func(_ int, e history.Entry) bool { return e.Result != "" && !e.Ended.IsZero() && e.Answered.IsZero() })
	phone := dial(o)
	ws := func(from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			c := simulate.Call{ID: "c" + strconv.Itoa(n), Number: markedNumber(n), Name: markedPhoneName(n), Line: marked.offices[2], Via: markedPhoneName(n + 1)}
			must.Do(t, phone.Ring(t.Context(), c))
			if n%2 == 0 {
				must.Do(t, phone.Answer(t.Context(), c))
			}
			must.Do(t, phone.End(t.Context(), c, "completed"))
		}
	}
	ws(10, 30)
	seen("calls by WebSocket", len(overs)+20)
	for n := 30; n < 40; n++ {
		for _, state := range []string{"ringing", "ended"} {
			resp := must.Get(http.Get(fmt.Sprintf("http://127.0.0.1:%d/v1/call/%s?number=%s&id=h%d&state=%s&name=%s", o.at().Port, tokens.Path, markedNumber(n), n, state, markedPhoneName(n))))(t)
			_ = resp.Body.Close()
			if resp.StatusCode >= 300 {
				t.Fatal(resp.Status)
			}
		}
	}
	for n := 40; n < 46; n++ {
		for _, state := range []string{"ringing", "ended"} {
			succeeds("", true, "ring", "--id", "r"+strconv.Itoa(n), "--state", state, "--name", markedPhoneName(n), "--via", markedPhoneName(n+1), "--", markedNumber(n))
		}
	}
	succeeds("", true, "open-url", "--", "wiebelt:call?number="+markedNumber(46))
	for _, over := range []string{"twinkle", "http", "url"} {
		succeeds(fmt.Sprintf("0 ring a number=%q name=%q\n+1 end a\n", markedNumber(47), markedPhoneName(47)), false, "simulate", "--over", over, "--scenario", "-", "--speed", "20")
	}
	seen("calls by the other ways", len(overs)+36)
	for i, keep := range []string{"numbers", "off", "full"} {
		o.set("history.keep", keep)
		before := strings.Count(o.log.String(), "settings are in effect")
		o.Until("history."+keep, func() bool { return strings.Count(o.log.String(), "settings are in effect") > before })
		ws(50+10*i, 60+10*i)
	}

	// Not all of these quick calls are looked up: this one rings until it is.
	named := simulate.Call{ID: "named", Number: markedNumber(70), Name: markedPhoneName(70)}
	must.Do(t, phone.Ring(t.Context(), named))
	var known history.Entry
	o.Until("a name in the history", func() bool {
		all := callsOf(t, o)
		i := slices.IndexFunc(all, func(e history.Entry) bool { return e.Link != "" && len(hits(e.Name, marked.people)) > 0 })
		if i >= 0 {
			known = all[i]
		}
		return i >= 0
	})
	must.Do(t, phone.End(t.Context(), named, "completed"))
	d := &callsWindow{office: o, t: t, cfg: o.instance()}
	d.ask()
	window := o.FindWindow("^Oproepen|^Calls")
	d.activate(window)
	o.Key("ctrl+f")
	o.Type(strings.TrimPrefix(known.Number, "+"), 5)
	o.Until("a file is opened", func() bool {
		o.Key("Down", "Return")
		return len(opened(notes)) > 0
	})

	// Commands, while the secret is rotated, the hub fails with our own words, and a source
	// sends what it should not.
	succeeds(next+"\n", true, "provision", "--secret-stdin")
	g.takes(old, next)
	run("", false, "lookup", markedNumber(80))
	run("", false, "lookup", "--json", markedNumber(81))
	g.failsWith(strings.Join([]string{next, markedNumber(82), markedName(82)}, " "))
	run("", true, "lookup", markedNumber(83)) // the number's own words stand on its output
	outputs.Reset()
	ws(84, 88)
	_ = phone.Send(t.Context(), []byte(`{"event":"call","id":"x","state":"`+markedName(88)+`","number":"`+markedNumber(88)+`"}`)) // it is refused
	run("", true, "doctor")
	g.failsWith("")
	file := filepath.Join(o.Dir, "office.wiebelt")
	exported := strings.TrimSpace(succeeds("", false, "provision", "--export", file))
	passphrase := exported[strings.LastIndexByte(exported, '\n')+1:] // shown once
	marked.secrets = append(marked.secrets, passphrase)
	succeeds(passphrase+"\n", false, "provision", "--import", file, "--passphrase-stdin", "--secret-store", "file", "--profile", t.TempDir()) // prints what it imports
	if code, _ := run("not the passphrase\n", true, "provision", "--import", file, "--passphrase-stdin"); code != 1 {
		t.Errorf("a wrong passphrase: exit %d", code)
	}
	zipped := filepath.Join(o.Dir, markedName(89)+".zip")
	must.Do(t, os.WriteFile(zipped, contractZIP(t, 1), 0o600))
	if code, out := run("", false, "deliver", zipped); code != 0 {
		t.Errorf("deliver: exit %d: %s", code, out)
	}
	var settingsOut strings.Builder
	for _, args := range [][]string{{"settings"}, {"settings", "--json"}} {
		_, out := run("", false, args...)
		settingsOut.WriteString(out)
	}
	run("", true, "doctor", "--json", "--number", markedNumber(90))

	// After forgetting everything, no file contains anything about people;
	// delivered messages stay.
	o.run("forget", "--all")
	must.Do(t, filepath.WalkDir(o.profile, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "outbox" {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() {
			return nil // removed meanwhile, or a socket
		}
		b, _ := os.ReadFile(path)
		if found := hits(string(b), marked.people); len(found) > 0 {
			t.Errorf("%s still holds %d values: %q", filepath.Base(path), len(found), found[:min(len(found), 4)])
		}
		return nil
	}))

	// It crashes with all that in its memory.
	pid := o.at().PID
	must.Do(t, syscall.Kill(pid, syscall.SIGABRT))
	o.Until("it is gone", func() bool { return syscall.Kill(pid, 0) != nil })
	crash, err := os.ReadFile(filepath.Join(dirs.Log(), "crash.txt"))
	if err != nil || !bytes.Contains(crash, []byte("SIGABRT")) {
		t.Fatalf("no report of the crash: %v", err)
	}

	marked.secrets = append(marked.secrets, g.tokens()...)
	everything := slices.Concat(marked.secrets, marked.people, marked.offices)
	look := func(where, text string, values []string) {
		t.Helper()
		found := hits(text, values)
		if len(found) > 0 || len(text) == 0 {
			t.Errorf("%s: %d hits: %q", where, len(found), found[:min(len(found), 8)])
			for _, line := range strings.Split(text, "\n") {
				if len(found) > 0 && strings.Contains(line, found[0]) {
					t.Logf("  %.300s", line)
					break
				}
			}
		}
	}
	var logs strings.Builder
	logged, _ := filepath.Glob(filepath.Join(dirs.Log(), "*"))
	for _, f := range logged {
		b := must.Get(os.ReadFile(f))(t)
		logs.Write(b)
	}
	look("log and crash", logs.String(), everything)
	look("standard error", o.log.String(), everything)
	look("output of commands", outputs.String(), everything)
	look("settings", settingsOut.String(), slices.Concat(marked.secrets, marked.people))
	watched.stop()
	<-watched.done
	var lines strings.Builder
	for s := range watched.seen {
		lines.WriteString(s + "\n")
	}
	// A number and a name are in the command line written by a phone, and only there.
	look("processes", lines.String(), marked.secrets)
	var execs strings.Builder
	for l := range strings.Lines(string(must.Get(os.ReadFile(trace))(t))) {
		if strings.Contains(l, "execve(") {
			execs.WriteString(l)
		} else if strings.Contains(l, `"`+tmp) || strings.Contains(l, `"/tmp/fyne`) {
			t.Errorf("in the folder of everybody: %s", strings.TrimSpace(l))
		}
	}
	if !strings.Contains(execs.String(), "xdg-open") {
		t.Error("no program was traced")
	}
	// The contact's page on the hub is opened by its id, which may therefore appear.
	handed := slices.DeleteFunc(slices.Clone(everything), func(s string) bool { return strings.HasPrefix(s, "marked-id-") })
	look("programs it started", execs.String(), handed)
}
