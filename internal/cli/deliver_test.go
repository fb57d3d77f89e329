package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

const contract = `<?xml version="1.0" encoding="UTF-8"?>
<Contractdocument><UN><UN_ZENDER>%v</UN_ZENDER><UN_ONTVAN>Ons Kantoor</UN_ONTVAN></UN></Contractdocument>`

func zipOf(t testing.TB, who any) []byte {
	t.Helper()
	return messagetest.ZIP(t, "bericht.xml", fmt.Sprintf(contract, who))
}

func put(t testing.TB, path string, content []byte) string {
	t.Helper()
	must.Do(t, os.WriteFile(path, content, 0o600))
	return path
}

// sender is a profile with a message box, its hub, and a folder with files to send.
type sender struct {
	t           *testing.T
	profile, in string
	hub         *localhub.Hub
}

func newSender(t *testing.T) *sender {
	t.Helper()
	t.Setenv("LC_ALL", "nl_NL.UTF-8")
	s := &sender{t: t, in: t.TempDir()}
	s.profile, s.hub = setUp(t)
	exits(t, 0, "", "provision", "--profile", s.profile, "--intermediary", "intermediary")
	f := must.Get(os.OpenFile(filepath.Join(s.profile, "settings.toml"), os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Get(f.WriteString("\n[delivery]\nsettle = \"1s\"\n"))(t)
	must.Do(t, f.Close())
	return s
}

// file creates a file in the folder: a message, or the given content.
func (s *sender) file(name string, content ...string) string {
	s.t.Helper()
	if content == nil {
		content = []string{string(zipOf(s.t, name))}
	}
	return put(s.t, filepath.Join(s.in, name), []byte(content[0]))
}

func (s *sender) exits(want int, args ...string) said {
	s.t.Helper()
	return exits(s.t, want, "", append(append([]string{"deliver"}, args...), "--profile", s.profile)...)
}

// broken sets a fault for the next deliveries.
func (s *sender) broken(f localhub.Fault) { s.hub.Faults().Set(localhub.EndpointTransaction, f) }

func (s *sender) arrived(want int64) {
	s.t.Helper()
	if n := s.hub.Stats().Messages; n != want {
		s.t.Errorf("%d deliveries, want %d", n, want)
	}
}

func (s *sender) report() deliverReport {
	t := s.t
	t.Helper()
	all, err := filepath.Glob(filepath.Join(s.profile, "outbox", "reports", "report-*.json"))
	if err != nil || len(all) == 0 {
		t.Fatal("no report")
	}
	slices.Sort(all)
	raw := must.Get(os.ReadFile(all[len(all)-1]))(t)
	var r deliverReport
	must.Do(t, json.Unmarshal(raw, &r))
	table := must.Get(os.ReadFile(strings.TrimSuffix(all[len(all)-1], ".json") + ".csv"))(t)
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil || len(rows) != len(r.Files)+1 {
		t.Fatalf("%d rows for %d files: %v", len(rows), len(r.Files), err)
	}
	for i, f := range r.Files {
		if got := rows[i+1]; got[0] != f.File || got[1] != f.SHA256 || got[2] != f.Outcome || got[3] != fmt.Sprint(f.Status) || got[8] != f.Decided {
			t.Errorf("row %d: %v, and %+v", i, got, f)
		}
	}
	return r
}

// there waits until the folder contains these files.
func (s *sender) there(names ...string) {
	s.t.Helper()
	for _, name := range names {
		eventually(s.t, name, func() bool { return s.has(name) })
	}
}

func (s *sender) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.in, filepath.FromSlash(name)))
	return err == nil
}

func (s *sender) read(name string) string {
	s.t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(s.in, name)))(s.t))
}

// eventually waits for a condition visible in files.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	must.Soon(t, func() (bool, any) { return ok(), "no " + what })
}

// TestDeliverExitCodes checks each code with its line and its report.
func TestDeliverExitCodes(t *testing.T) {
	s, n := newSender(t), 0
	fresh := func() string {
		n++
		return s.file(fmt.Sprintf("b%02d.zip", n))
	}
	bad := s.file("slecht.zip", "geen zip")
	for _, c := range []struct {
		name  string
		fault localhub.Fault
		args  []string
		code  int
		line  string
		err   string
	}{
		{"delivered", localhub.Fault{}, []string{fresh(), fresh()}, 0, "2 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "Verslag: "},
		{"one refused here", localhub.Fault{}, []string{fresh(), bad, fresh()}, 5, "2 aangeleverd · 1 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "slecht.zip: geweigerd: "},
		{"one absent", localhub.Fault{}, []string{filepath.Join(s.in, "weg.zip"), fresh()}, 1, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht · 1 niet aangenomen\n", "kan niet worden gelezen"},
		{"refused by the hub", localhub.Fault{Status: 422, Times: 1}, []string{fresh(), fresh()}, 5, "1 aangeleverd · 1 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "antwoordcode 422"},
		{"no answer", localhub.Fault{Drop: true, Times: 1}, []string{fresh(), fresh()}, 6, "1 aangeleverd · 0 geweigerd · 1 mogelijk aangeleverd · 0 in de wacht\n", "mogelijk aangeleverd: "},
		{"captive portal, again", localhub.Fault{Body: localhub.BodyHTML, Times: 1}, []string{"--uncertain", "retry", fresh()}, 0, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", ""},
		{"later", localhub.Fault{Status: 503, Times: 1}, []string{fresh()}, 0, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "later terug te komen; wordt opnieuw geprobeerd"},
		{"token refused once", localhub.Fault{Expired: true, Times: 1}, []string{fresh(), fresh(), fresh()}, 0, "3 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", ""},
		{"forbidden", localhub.Fault{Status: 403}, []string{fresh(), fresh()}, 7, "0 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 2 in de wacht\n", "De wachtrij staat stil: de koppeling mag niet aanleveren. Meld dit bij"},
		{"given up", localhub.Fault{Status: 429}, []string{"--max-age", "1ms", fresh()}, 5, "0 aangeleverd · 1 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "het lukte te lang niet"},
		{"what waited", localhub.Fault{}, []string{filepath.Join(s.in, "b15.zip")}, 0, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "staat al in de wacht sinds "},
		{"again, and a copy of a new one", localhub.Fault{}, []string{filepath.Join(s.in, "b01.zip"), fresh(), s.file("copy.zip", string(zipOf(t, fmt.Sprintf("b%02d.zip", n))))}, 0,
			"1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht · 2 al eerder aangeleverd\n", "b01.zip: al aangeleverd op "},
	} {
		if c.fault != (localhub.Fault{}) {
			s.broken(c.fault)
		}
		if out := s.exits(c.code, c.args...).complains(c.err).out; out != c.line {
			t.Errorf("%s: %q", c.name, out)
		}
		s.hub.Faults().Clear(localhub.EndpointTransaction)
		r := s.report()
		if got := r.Summary.line(text.Dutch) + "\n"; got != c.line || r.Exit != c.code {
			t.Errorf("%s: the report says %d, %s", c.name, r.Exit, got)
		}
	}
	for args, want := range map[string]int{"": 2, "--watch " + s.in + " x.zip": 2, "--max-age -4h x.zip": 2, t.TempDir(): 1, "@" + filepath.Join(s.in, "no.txt"): 1,
		"--intermediary .. x.zip": 2, "--intermediary a/b x.zip": 2, "drain --for -1h": 2} {
		if got := s.exits(want, strings.Fields(args)...); got.err == "" || got.out != "" {
			t.Errorf("%q: %q, %q", args, got.out, got.err)
		}
	}
	t.Setenv("HOME", "")
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "APPDATA", "LOCALAPPDATA"} {
		t.Setenv(name, "")
	}
	exits(t, 2, "", "deliver", "x.zip").complains(text.Dutch.T(text.ErrorNoHome))
	exits(t, 1, "", "deliver", "--profile", t.TempDir(), "x.zip").complains("--intermediary NAAM")
}

// TestDeliverHold checks that refused credentials use up no
// attempts and everything goes out afterwards.
func TestDeliverHold(t *testing.T) {
	s := newSender(t)
	for i := range 5 {
		s.file(fmt.Sprint(i, ".zip"))
	}
	s.hub.Faults().RefuseCredentials(true)
	var r deliverReport
	s.exits(7, "--json", s.in).complains("weigert de koppeling").json(&r)
	if r.Exit != 7 || r.Hold != "credentials" || r.Summary.Waiting != 5 {
		t.Errorf("%+v", r)
	}
	for _, f := range r.Files {
		if f.Attempts != 0 || f.Outcome != "waiting" {
			t.Errorf("%+v", f)
		}
	}
	s.arrived(0)
	var list struct {
		Hold    string
		Working bool
		Counts  map[string]int
		Items   []deliverListed
	}
	s.exits(0, "list", "--json").json(&list)
	if list.Hold != "credentials" || list.Working || list.Counts["waiting"] != 5 || len(list.Items) != 5 {
		t.Errorf("%+v", list)
	}
	s.hub.Faults().RefuseCredentials(false)
	s.exits(0, filepath.Join(s.in, "*.zip")).says("5 aangeleverd")
}

// TestDeliverNoWait prints ids, and whether anyone is delivering.
func TestDeliverNoWait(t *testing.T) {
	s := newSender(t)
	out := s.exits(6, "--no-wait", s.file("1.zip")).complains("er wordt nu niet aangeleverd").out
	if !regexp.MustCompile(`^[0-9a-f-]{36}  .*1\.zip\n$`).MatchString(out) {
		t.Errorf("%q", out)
	}
	s.arrived(0)
	b, err := outbox.Open(t.Context(), outbox.Options{Dir: filepath.Join(s.profile, "outbox"), Tick: 10 * time.Millisecond, Hub: func(string) (outbox.Deliverer, error) {
		return nil, errors.New("not reached")
	}})
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- b.Work(ctx, nil) }()
	must.Do(t, b.Watch(ctx, func(now *outbox.Snapshot) {
		if now.Working {
			s.exits(0, "--no-wait", "--json", s.file("2.zip")).says(`"outcome":"waiting"`)
			cancel()
		}
	}))
	must.Do(t, <-worked, b.Close())
	// A refused file is reported at once.
	s.exits(5, "--no-wait", s.file("x.zip", "x"))
}

// TestDeliverDrain delivers what is waiting, without a file or a watch. If the command is stopped,
// or the hub makes it exceed its limit, the rest keeps waiting and this is reported.
func TestDeliverDrain(t *testing.T) {
	s := newSender(t)
	for i := range 3 {
		s.file(fmt.Sprint(i, ".zip"))
	}
	must.Do(t, s.hub.Faults().SetGone(true))
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() {
		done <- (&deliverSendCmd{Wait: true, Files: []string{s.in}}).Run(&env{ctx: ctx, out: &out, err: io.Discard, profileDir: s.profile})
	}()
	eventually(t, "three taken", func() bool { return strings.Count(s.exits(0, "list").out, ".zip") == 3 })
	stop()
	var ended *failure
	if err := <-done; !errors.As(err, &ended) || ended.code != 6 || !strings.Contains(out.String(), " 3 in de wacht\n") {
		t.Errorf("%v: %s", err, out.String())
	}
	s.exits(6, "drain", "--for", "300ms").says(" 3 in de wacht\n")
	must.Do(t, s.hub.Faults().SetGone(false))
	s.exits(0, "drain").says("3 aangeleverd").complains("Verslag: ")
	s.arrived(3)
	if got := s.exits(0, "drain").says("0 aangeleverd"); got.err != "" {
		t.Errorf("nothing to do: %s", got.err)
	}
}

// TestDeliverWithoutWorker does not wait if nothing can be sent from here.
func TestDeliverWithoutWorker(t *testing.T) {
	s := newSender(t)
	s.exits(6, "--no-wait", s.file("1.zip"))
	lock := filepath.Join(s.profile, "outbox", "outbox.lock")
	must.Do(t, os.RemoveAll(lock), os.Mkdir(lock, 0o700))
	const why = "de schijf geeft een fout"
	s.exits(6, s.file("2.zip")).says(" 1 in de wacht\n").complains(why)
	if code, _, errOut := run(t, "", "deliver", "drain", "--profile", s.profile); code == 0 || !strings.Contains(errOut, why) {
		t.Errorf("exit %d: %s", code, errOut)
	}
}

// TestDeliverDryRun reports the verdicts of a run but keeps and sends nothing.
func TestDeliverDryRun(t *testing.T) {
	s := newSender(t)
	good := s.file("goed.zip")
	s.file("leeg.zip", "")
	s.file("slecht.zip", "geen zip")
	s.exits(5, "--dry-run", s.in).says("goed.zip: zou worden aangeleverd", "leeg.zip: geweigerd: het bestand is leeg",
		"slecht.zip: geweigerd: Dit is geen ZIP-bestand.")
	s.exits(0, "--dry-run", good)
	var r struct{ Files []deliverFile }
	if s.exits(5, "--dry-run", "--json", s.in).json(&r); len(r.Files) != 3 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(s.profile, "outbox")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was kept: %v", err)
	}
	if n := s.hub.Stats().Messages + s.hub.Stats().Tokens; n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestDeliverTellsWhatIsOdd sends a message that deviates from the format anyway, and
// reports it on the screen, in the report and in JSON.
func TestDeliverTellsWhatIsOdd(t *testing.T) {
	s := newSender(t)
	odd := s.file("datum.zip", string(messagetest.ZIP(t, "bericht.xml", "<Contractdocument><PP><VP><VP_GEBDAT>20230230</VP_GEBDAT></VP></PP></Contractdocument>")))
	s.file("goed.zip")
	const mind = "let op: Een datum bestaat niet. (PP[1]/VP[1]/VP_GEBDAT)\n"
	s.exits(0, "--dry-run", s.in).says("datum.zip: zou worden aangeleverd; "+mind, "goed.zip: zou worden aangeleverd\n")
	s.exits(0, s.in).complains("datum.zip: " + mind).hides("goed.zip")
	for _, f := range s.report().Files {
		if has := slices.ContainsFunc(f.Findings, func(x message.Finding) bool {
			return x.Code == message.NoSuchDate && x.Severity == message.Warning && x.Element == "PP[1]/VP[1]/VP_GEBDAT"
		}); has != (f.File == odd) || f.Findings == nil {
			t.Errorf("%s: %v", f.File, f.Findings)
		}
	}
	s.exits(5, "--strict", odd).complains("datum.zip: geweigerd: Een datum bestaat niet.")
}

// TestDeliverService prints the files for a server in full, and nothing else.
func TestDeliverService(t *testing.T) {
	exits(t, 0, "", "deliver", "service", "systemd").
		says("[Unit]\n", "[Service]\n", "[Install]\n", "\nExecStart=", " deliver --profile ", " --watch ", "--intermediary")
	task := exits(t, 0, "", "deliver", "service", "task").out
	var root, all string
	for d := xml.NewDecoder(strings.NewReader(task)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = token.Name.Local
			}
		case xml.CharData:
			all += string(token)
		}
	}
	if root != "Task" || !strings.Contains(all, "wiebelt.exe") || !strings.Contains(all, "--watch") {
		t.Errorf("a %s: %s", root, all)
	}
	exits(t, 2, "", "deliver", "service", "cron")
}
