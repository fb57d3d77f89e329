package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
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
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

const contract = `<?xml version="1.0" encoding="UTF-8"?>
<Contractdocument><UN><UN_ZENDER>%v</UN_ZENDER><UN_ONTVAN>Ons Kantoor</UN_ONTVAN></UN></Contractdocument>`

// zipOf is a ZIP file as a provider sends it.
func zipOf(t testing.TB, who any) []byte {
	t.Helper()
	return messagetest.ZIP(t, "bericht.xml", fmt.Sprintf(contract, who))
}

func put(t testing.TB, path string, content []byte) string {
	t.Helper()
	must.Do(t, os.WriteFile(path, content, 0o600))
	return path
}

// setUpDelivery is setUp with a message box.
func setUpDelivery(t *testing.T) (profile string, h *localhub.Hub) {
	t.Helper()
	t.Setenv("LC_ALL", "nl_NL.UTF-8")
	profile, h = setUp(t)
	if code, _, errOut := run(t, "", "provision", "--profile", profile, "--intermediary", "intermediary"); code != 0 {
		t.Fatalf("provision: exit %d: %s", code, errOut)
	}
	f, err := os.OpenFile(filepath.Join(profile, "settings.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\n[delivery]\nsettle = \"1s\"\n")
	}
	must.Do(t, errors.Join(err, f.Close()))
	return profile, h
}

// reportOf reads the report that a run wrote, in both forms.
func reportOf(t *testing.T, profile string) deliverReport {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(profile, "outbox", "reports", "report-*.json"))
	if err != nil || len(all) == 0 {
		t.Fatal("no report")
	}
	slices.Sort(all)
	raw, err := os.ReadFile(all[len(all)-1])
	must.Do(t, err)
	var r deliverReport
	must.Do(t, json.Unmarshal(raw, &r))
	table, err := os.ReadFile(strings.TrimSuffix(all[len(all)-1], ".json") + ".csv")
	must.Do(t, err)
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

// TestDeliverExitCodes: each code, with its line and its report.
func TestDeliverExitCodes(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	n := 0
	fresh := func() string {
		n++
		return put(t, filepath.Join(in, fmt.Sprintf("b%02d.zip", n)), zipOf(t, n))
	}
	bad := put(t, filepath.Join(in, "slecht.zip"), []byte("geen zip"))
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
		{"one absent", localhub.Fault{}, []string{filepath.Join(in, "weg.zip"), fresh()}, 1, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht · 1 niet aangenomen\n", "kan niet worden gelezen"},
		{"refused by the hub", localhub.Fault{Status: 422, Times: 1}, []string{fresh(), fresh()}, 5, "1 aangeleverd · 1 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "antwoordcode 422"},
		{"no answer", localhub.Fault{Body: localhub.BodyEmpty, Times: 1}, []string{fresh(), fresh()}, 6, "1 aangeleverd · 0 geweigerd · 1 mogelijk aangeleverd · 0 in de wacht\n", "mogelijk aangeleverd: "},
		{"captive portal, again", localhub.Fault{Body: localhub.BodyHTML, Times: 1}, []string{"--uncertain", "retry", fresh()}, 0, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", ""},
		{"later", localhub.Fault{Status: 503, Times: 1}, []string{fresh()}, 0, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "later terug te komen; wordt opnieuw geprobeerd"},
		{"token refused once", localhub.Fault{Expired: true, Times: 1}, []string{fresh(), fresh(), fresh()}, 0, "3 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", ""},
		{"forbidden", localhub.Fault{Status: 403}, []string{fresh(), fresh()}, 7, "0 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 2 in de wacht\n", "De wachtrij staat stil: de koppeling mag niet aanleveren. Meld dit bij"},
		{"given up", localhub.Fault{Status: 500}, []string{"--max-age", "1ms", fresh()}, 5, "0 aangeleverd · 1 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "het lukte te lang niet"},
		{"what waited", localhub.Fault{}, []string{filepath.Join(in, "b15.zip")}, 0, "1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht\n", "staat al in de wacht sinds "},
		{"again, and a copy of a new one", localhub.Fault{}, []string{filepath.Join(in, "b01.zip"), fresh(), put(t, filepath.Join(in, "copy.zip"), zipOf(t, n))}, 0,
			"1 aangeleverd · 0 geweigerd · 0 mogelijk aangeleverd · 0 in de wacht · 2 al eerder aangeleverd\n", "b01.zip: al aangeleverd op "},
	} {
		if c.fault != (localhub.Fault{}) {
			h.Faults().Set(localhub.AtTransaction, c.fault)
		}
		code, out, errOut := run(t, "", append([]string{"deliver", "--profile", profile}, c.args...)...)
		h.Faults().Clear(localhub.AtTransaction)
		if code != c.code || out != c.line || !strings.Contains(errOut, c.err) {
			t.Errorf("%s: exit %d, %q, %q", c.name, code, out, errOut)
		}
		r := reportOf(t, profile)
		if got := r.Summary.line(text.Dutch) + "\n"; got != c.line || r.Exit != c.code {
			t.Errorf("%s: the report says %d, %s", c.name, r.Exit, got)
		}
	}
	for args, want := range map[string]int{"": 2, "--watch " + in + " x.zip": 2, "--max-age -4h x.zip": 2, filepath.Join(in, "*.xyz"): 1, "@" + filepath.Join(in, "no.txt"): 1,
		"--intermediary .. x.zip": 2, "--intermediary a/b x.zip": 2, "drain --for -1h": 2} {
		if code, out, errOut := run(t, "", append([]string{"deliver", "--profile", profile}, strings.Fields(args)...)...); code != want || errOut == "" || out != "" {
			t.Errorf("%q: exit %d, %q, %q", args, code, out, errOut)
		}
	}
	t.Setenv("HOME", "")
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "APPDATA", "LOCALAPPDATA"} {
		t.Setenv(name, "")
	}
	if code, _, errOut := run(t, "", "deliver", "x.zip"); code != 2 || !strings.Contains(errOut, "--profile") {
		t.Errorf("without a home: exit %d, %q", code, errOut)
	}
	if code, _, errOut := run(t, "", "deliver", "--profile", t.TempDir(), "x.zip"); code != 1 || !strings.Contains(errOut, "--intermediary NAAM") {
		t.Errorf("not set up: exit %d, %q", code, errOut)
	}
}

// TestDeliverHold: refused credentials burn nothing; afterwards all goes out.
func TestDeliverHold(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	for i := range 5 {
		put(t, filepath.Join(in, fmt.Sprint(i, ".zip")), zipOf(t, i))
	}
	h.Faults().RefuseCredentials(true)
	code, out, errOut := run(t, "", "deliver", "--profile", profile, "--json", in)
	var r deliverReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 7 || r.Exit != 7 || r.Hold != "credentials" || r.Summary.Waiting != 5 || !strings.Contains(errOut, "weigert de koppeling") {
		t.Errorf("exit %d, %v, %+v, %s", code, err, r, errOut)
	}
	for _, f := range r.Files {
		if f.Attempts != 0 || f.Outcome != "waiting" {
			t.Errorf("%+v", f)
		}
	}
	if n := h.Stats().Messages; n != 0 {
		t.Errorf("%d deliveries", n)
	}
	code, out, _ = run(t, "", "deliver", "list", "--profile", profile, "--json")
	var list struct {
		Hold    string
		Working bool
		Counts  map[string]int
		Items   []deliverListed
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || list.Hold != "credentials" || list.Working || list.Counts["waiting"] != 5 || len(list.Items) != 5 {
		t.Errorf("exit %d, %v, %s", code, err, out)
	}
	h.Faults().RefuseCredentials(false)
	if code, out, errOut = run(t, "", "deliver", "--profile", profile, filepath.Join(in, "*.zip")); code != 0 || !strings.HasPrefix(out, "5 aangeleverd") {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
}

// TestDeliverNoWait: ids, and whether anybody delivers.
func TestDeliverNoWait(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	one, two := put(t, filepath.Join(in, "1.zip"), zipOf(t, 1)), put(t, filepath.Join(in, "2.zip"), zipOf(t, 2))
	code, out, errOut := run(t, "", "deliver", "--profile", profile, "--no-wait", one)
	if code != 6 || !strings.Contains(errOut, "niemand levert nu aan") || !regexp.MustCompile(`^[0-9a-f-]{36}  .*1\.zip\n$`).MatchString(out) {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
	if n := h.Stats().Messages; n != 0 {
		t.Errorf("%d deliveries", n)
	}
	b, err := outbox.Open(t.Context(), outbox.Options{Dir: filepath.Join(profile, "outbox"), Tick: 10 * time.Millisecond, Hub: func(string) (outbox.Deliverer, error) {
		return nil, errors.New("not reached")
	}})
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- b.Work(ctx, nil) }()
	if err := b.Watch(ctx, func(s *outbox.Snapshot) {
		if s.Working {
			if code, out, errOut := run(t, "", "deliver", "--profile", profile, "--no-wait", "--json", two); code != 0 || !strings.Contains(out, `"outcome":"waiting"`) {
				t.Errorf("exit %d, %q, %q", code, out, errOut)
			}
			cancel()
		}
	}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(<-worked, b.Close()); err != nil {
		t.Error(err)
	}
	// A file that is refused says so at once.
	if code, _, _ := run(t, "", "deliver", "--profile", profile, "--no-wait", put(t, filepath.Join(in, "x.zip"), []byte("x"))); code != 5 {
		t.Errorf("exit %d", code)
	}
}

// TestDeliverDrain: what waits goes out, without a file or a watch; within a limit
// that a hub makes pass, it still waits.
func TestDeliverDrain(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	for i := range 3 {
		put(t, filepath.Join(in, fmt.Sprint(i, ".zip")), zipOf(t, i))
	}
	if code, _, _ := run(t, "", "deliver", "--profile", profile, "--no-wait", in); code != 6 {
		t.Fatalf("exit %d", code)
	}
	must.Do(t, h.Faults().SetGone(true))
	if code, out, _ := run(t, "", "deliver", "drain", "--profile", profile, "--for", "300ms"); code != 6 || !strings.HasSuffix(out, " 3 in de wacht\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	must.Do(t, h.Faults().SetGone(false))
	if code, out, errOut := run(t, "", "deliver", "drain", "--profile", profile); code != 0 || !strings.HasPrefix(out, "3 aangeleverd") || !strings.Contains(errOut, "Verslag: ") || h.Stats().Messages != 3 {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
	if code, out, errOut := run(t, "", "deliver", "drain", "--profile", profile); code != 0 || !strings.HasPrefix(out, "0 aangeleverd") || errOut != "" {
		t.Errorf("nothing to do: exit %d, %s%s", code, out, errOut)
	}
}

// TestDeliverDryRun: the verdicts of a run, and nothing kept or sent.
func TestDeliverDryRun(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	good := put(t, filepath.Join(in, "goed.zip"), zipOf(t, 1))
	put(t, filepath.Join(in, "leeg.zip"), nil)
	put(t, filepath.Join(in, "slecht.zip"), []byte("geen zip"))
	code, out, errOut := run(t, "", "deliver", "--profile", profile, "--dry-run", in)
	if code != 5 || !strings.Contains(out, "goed.zip: zou worden aangeleverd") || !strings.Contains(out, "leeg.zip: geweigerd: het bestand is leeg") || !strings.Contains(out, "slecht.zip: geweigerd: Dit is geen ZIP-bestand.") {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
	if code, _, _ := run(t, "", "deliver", "--profile", profile, "--dry-run", good); code != 0 {
		t.Errorf("exit %d", code)
	}
	code, out, _ = run(t, "", "deliver", "--profile", profile, "--dry-run", "--json", in)
	var r struct{ Files []deliverFile }
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 5 || len(r.Files) != 3 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	if _, err := os.Stat(filepath.Join(profile, "outbox")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was kept: %v", err)
	}
	if n := h.Stats().Messages + h.Stats().Tokens; n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestDeliverTellsWhatIsOdd: a message that departs from the shape is sent all the
// same, and whoever sends it hears of it: on the screen, in the report, in JSON.
func TestDeliverTellsWhatIsOdd(t *testing.T) {
	profile, _ := setUpDelivery(t)
	in := t.TempDir()
	odd := put(t, filepath.Join(in, "datum.zip"), messagetest.ZIP(t, "bericht.xml", "<Contractdocument><PP><VP><VP_GEBDAT>20230230</VP_GEBDAT></VP></PP></Contractdocument>"))
	put(t, filepath.Join(in, "goed.zip"), zipOf(t, 1))
	const said = "datum.zip: let op: Een datum bestaat niet. (PP[1]/VP[1]/VP_GEBDAT)\n"
	code, out, _ := run(t, "", "deliver", "--profile", profile, "--dry-run", in)
	if code != 0 || !strings.Contains(out, "datum.zip: zou worden aangeleverd; let op: Een datum bestaat niet. (PP[1]/VP[1]/VP_GEBDAT)\n") || !strings.Contains(out, "goed.zip: zou worden aangeleverd\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	code, _, errOut := run(t, "", "deliver", "--profile", profile, in)
	if code != 0 || !strings.Contains(errOut, said) || strings.Contains(errOut, "goed.zip") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	for _, f := range reportOf(t, profile).Files {
		if has := slices.ContainsFunc(f.Findings, func(x message.Finding) bool {
			return x.Code == message.NoSuchDate && x.Severity == message.Warning && x.Element == "PP[1]/VP[1]/VP_GEBDAT"
		}); has != (f.File == odd) || f.Findings == nil {
			t.Errorf("%s: %v", f.File, f.Findings)
		}
	}
	if code, _, errOut := run(t, "", "deliver", "--profile", profile, "--strict", odd); code != 5 || !strings.Contains(errOut, "datum.zip: geweigerd: Een datum bestaat niet.") {
		t.Errorf("exit %d, %s", code, errOut)
	}
}

// TestDeliverListOfMany: what does not fit the list is counted, and retried with
// the rest.
func TestDeliverListOfMany(t *testing.T) {
	profile, _ := setUpDelivery(t)
	run(t, "", "deliver", "--profile", profile, "--no-wait", put(t, filepath.Join(t.TempDir(), "a.zip"), zipOf(t, 1)))
	const more = 3 // than the list holds: one row becomes so many
	db, err := sqlitefile.Open(filepath.Join(profile, "outbox", outbox.DatabaseName), "")
	if err == nil {
		_, err = db.Exec(fmt.Sprintf("CREATE TEMP TABLE one AS SELECT * FROM items; CREATE TEMP TRIGGER each AFTER UPDATE ON one BEGIN INSERT INTO items SELECT * FROM one; END;"+
			" CREATE TEMP TABLE n AS WITH RECURSIVE c(x) AS (VALUES(2) UNION ALL SELECT x+1 FROM c WHERE x < %d) SELECT x FROM c;"+
			" CREATE TEMP TRIGGER next AFTER DELETE ON n BEGIN UPDATE one SET id = printf('%%036d', OLD.x); END; DELETE FROM n", outbox.MaxItems+more))
		err = errors.Join(err, db.Close())
	}
	must.Do(t, err)
	code, out, errOut := run(t, "", "deliver", "list", "--profile", profile)
	if code != 0 || strings.Count(out, "\n") != outbox.MaxItems || !strings.Contains(errOut, "3 oudere berichten") {
		t.Errorf("exit %d, %d lines, %s", code, strings.Count(out, "\n"), errOut)
	}
	code, out, _ = run(t, "", "deliver", "list", "--profile", profile, "--json")
	var x struct {
		More  int
		Items []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil || code != 0 || x.More != more || len(x.Items) != outbox.MaxItems {
		t.Errorf("exit %d, %v: %d items, %d more", code, err, len(x.Items), x.More)
	}
	if code, out, _ = run(t, "", "deliver", "retry", "--profile", profile, "--all"); code != 6 || strings.Count(out, "\n") != outbox.MaxItems+more {
		t.Errorf("exit %d, %d retried", code, strings.Count(out, "\n"))
	}
}

// TestDeliverBuild: one message of a document and its attachments.
func TestDeliverBuild(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	xml := put(t, filepath.Join(in, "polis.xml"), []byte(fmt.Sprintf(contract, 1)))
	pdf := put(t, filepath.Join(in, "bijlage é.pdf"), []byte("%PDF-1.4"))
	code, out, errOut := run(t, "", "deliver", "--profile", profile, "--build", xml, pdf)
	if code != 0 || !strings.HasPrefix(out, "1 aangeleverd") {
		t.Fatalf("exit %d, %s%s", code, out, errOut)
	}
	all, err := h.Messages(t.Context(), "", 10)
	if err != nil || len(all) != 1 || all[0].Files != 2 {
		t.Fatalf("%+v %v", all, err)
	}
	if r := reportOf(t, profile); filepath.Base(r.Files[0].File) != "polis.zip" || r.Files[0].SHA256 != all[0].SHA256 {
		t.Errorf("%+v", r.Files[0])
	}
	if code, _, errOut := run(t, "", "deliver", "--profile", profile, "--build", pdf, xml); code != 5 || !strings.Contains(errOut, "geweigerd: ") {
		t.Errorf("without a document: exit %d, %s", code, errOut)
	}
	if code, _, errOut := run(t, "", "deliver", "--profile", profile, "--build", xml, filepath.Join(in, "weg.pdf")); code != 1 || errOut == "" {
		t.Errorf("exit %d, %s", code, errOut)
	}
}

// TestExpand: files, folders, patterns and lists, each file once.
func TestExpand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a.zip", "b.ZIP", "c.txt", ".hidden.zip", "@odd.zip", "[1].zip"} {
		put(t, filepath.Join(dir, name), []byte("x"))
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "sub", "deep.zip"), 0o700))
	put(t, filepath.Join(dir, "sub", "d.zip"), []byte("x"))
	must.Do(t, os.Symlink(filepath.Join(dir, "a.zip"), filepath.Join(dir, "sub", "link.zip")))
	put(t, filepath.Join(dir, "list.txt"), []byte("\ufeffa.zip\r\n\r\n# of today\r\n  sub  \r\n*.ZIP\nc.txt"))
	put(t, filepath.Join(dir, "latin.txt"), []byte("a\xe9.zip\n"))
	put(t, filepath.Join(dir, "long.txt"), []byte(strings.Repeat("x", 10_000)))
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"a.zip", "./a.zip", filepath.Join(dir, "a.zip")}, []string{"a.zip"}},
		{[]string{"."}, []string{"@odd.zip", "[1].zip", "a.zip", "b.ZIP"}},
		{[]string{"*.zip"}, []string{".hidden.zip", "@odd.zip", "[1].zip", "a.zip"}},
		{[]string{"@list.txt"}, []string{"a.zip", "sub/d.zip", "b.ZIP", "c.txt"}},
		{[]string{"@odd.zip"}, []string{"@odd.zip"}},
		{[]string{"[1].zip"}, []string{"[1].zip"}},
		{[]string{"sub"}, []string{"sub/d.zip"}}, // no link, that may lead anywhere
		{[]string{"sub/[d]*"}, []string{"sub/d.zip"}},
		{[]string{"*.none"}, nil},
		{[]string{"absent.zip"}, []string{"absent.zip"}},
		{[]string{"@latin.txt"}, []string{"error"}},
		{[]string{"@long.txt"}, []string{"error"}},
		{[]string{"@absent.txt"}, []string{"error"}},
		{[]string{"[a"}, []string{"error"}},
	} {
		got, err := expand(c.args)
		if err != nil {
			got = []string{"error"}
		}
		for i, p := range got {
			if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsAbs(p) {
				got[i] = filepath.ToSlash(rel)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}

// TestNoFormulas: no cell of a table is calculated, whatever a file is called.
func TestNoFormulas(t *testing.T) {
	files := []deliverFile{}
	names := []string{"=1+1.zip", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "＝1", "|cmd", "%0", "plain.zip", `quo"te,comma`, "a\nb", "\ufeff=1"}
	for _, n := range names {
		files = append(files, deliverFile{File: n, Reason: n, ID: n})
	}
	rows, err := csv.NewReader(bytes.NewReader(reportCSV(files))).ReadAll()
	if err != nil || len(rows) != len(names)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if len(row) != len(rows[0]) {
			t.Errorf("%q: %d cells", names[i], len(row))
		}
		for _, cell := range row {
			if s := strings.TrimLeft(cell, " \u00a0\ufeff"); s != "" && strings.ContainsAny(s[:1], "=+-@|%\t\r") || strings.HasPrefix(s, "＝") {
				t.Errorf("%q is a formula: %q", names[i], cell)
			}
			if strings.ContainsAny(cell, "\t\r\n") {
				t.Errorf("%q: %q", names[i], cell)
			}
		}
	}
}

func FuzzFormula(f *testing.F) {
	for _, s := range []string{"=1", " =1", "'=1", "a", "\u200b=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := noFormula(s)
		if got != "" && strings.ContainsAny(got[:1], "=+-@\t\r\n") {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// TestDeliverCommands: list, receipt, retry, resolve and forget.
func TestDeliverCommands(t *testing.T) {
	profile, h := setUpDelivery(t)
	in := t.TempDir()
	h.Faults().Set(localhub.AtTransaction, localhub.Fault{Body: localhub.BodyEmpty, Times: 1})
	maybe := put(t, filepath.Join(in, "misschien.zip"), zipOf(t, 1))
	if code, _, _ := run(t, "", "deliver", "--profile", profile, maybe); code != 6 {
		t.Fatalf("exit %d", code)
	}
	h.Faults().Set(localhub.AtTransaction, localhub.Fault{Status: 422, Times: 1})
	refused := put(t, filepath.Join(in, "geweigerd.zip"), zipOf(t, 2))
	if code, _, _ := run(t, "", "deliver", "--profile", profile, refused); code != 5 {
		t.Fatalf("exit %d", code)
	}
	r := func(args ...string) (int, string, string) {
		return run(t, "", append([]string{"deliver", args[0], "--profile", profile}, args[1:]...)...)
	}
	_, out, _ := r("list")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(out, "mogelijk aangeleverd") || !strings.Contains(out, "geweigerd") || !strings.Contains(out, "antwoordcode 422") {
		t.Fatalf("%s", out)
	}
	id := map[string]string{}
	for _, l := range lines {
		f := strings.Fields(l)
		for _, name := range []string{"misschien.zip", "geweigerd.zip"} {
			if strings.Contains(l, name) {
				id[name] = f[0]
			}
		}
	}
	code, out, _ := r("receipt", "--json", id["geweigerd.zip"])
	var x struct {
		ID, SHA256, Outcome string
		Receipts            []struct {
			Status int
			Class  string
			Body   string
			SHA256 string
		}
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil || code != 0 || len(x.Receipts) != 1 || x.Receipts[0].Status != 422 || x.Receipts[0].Class != "permanent" ||
		!strings.Contains(x.Receipts[0].Body, "broken on purpose") || x.Receipts[0].SHA256 != x.SHA256 || x.Outcome != "refused" {
		t.Errorf("exit %d, %v, %s", code, err, out)
	}
	if code, out, _ := r("receipt", id["misschien.zip"]); code != 0 || !strings.Contains(out, "mogelijk aangeleverd") || !strings.Contains(out, "misschien.zip") {
		t.Errorf("exit %d, %s", code, out)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{1, []string{"retry", id["misschien.zip"]}},
		{3, []string{"retry", "nobody"}},
		{3, []string{"receipt", "nobody"}},
		{3, []string{"forget", "nobody"}},
		{3, []string{"resolve", "nobody", "--delivered", "--note", "x"}},
		{2, []string{"forget"}},
		{2, []string{"resolve", id["misschien.zip"], "--delivered"}},
		{2, []string{"resolve", id["misschien.zip"], "--note", "x"}},
		{2, []string{"resolve", id["misschien.zip"], "--delivered", "--again", "--note", "x"}},
		{1, []string{"resolve", id["geweigerd.zip"], "--delivered", "--note", "x"}},
		{1, []string{"forget", id["misschien.zip"]}},
		{0, []string{"resolve", id["misschien.zip"], "--delivered", "--note", "gebeld"}},
		{6, []string{"retry", id["geweigerd.zip"]}}, // nobody delivers
		{1, []string{"forget", id["geweigerd.zip"]}},
	} {
		if code, out, errOut := r(c.args...); code != c.code || code != 0 && errOut == "" {
			t.Errorf("%v: exit %d, want %d: %s%s", c.args, code, c.code, out, errOut)
		}
	}
	if code, _, _ := run(t, "", "deliver", "--profile", profile, refused); code != 0 { // it is the one that waits
		t.Errorf("exit %d", code)
	}
	if _, out, _ := r("list"); out != "" {
		t.Errorf("still %s", out)
	}
	if _, out, _ := r("list", "--all"); strings.Count(out, "\n") != 2 {
		t.Errorf("%s", out)
	}
	if code, out, _ := r("forget", id["misschien.zip"]); code != 0 || out != "1\n" {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, _ := r("forget", "--delivered"); code != 0 || out != "1\n" {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, _ := r("retry", "--all"); code != 0 || out != "" {
		t.Errorf("exit %d, %s", code, out)
	}
	// What was forgotten is known all the same.
	before := h.Stats().Messages
	code, out, _ = run(t, "", "deliver", "--profile", profile, refused, maybe)
	if code != 0 || !strings.HasPrefix(out, "0 aangeleverd") || !strings.HasSuffix(out, "2 al eerder aangeleverd\n") || h.Stats().Messages != before {
		t.Errorf("exit %d, %s", code, out)
	}
}

func sumOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// eventually waits for a condition that files show.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("not seen: " + what)
		}
	}
}

// TestDeliverWatch: files that are put into a folder are delivered once complete,
// and moved; also those that were there when the last watcher was ended.
func TestDeliverWatch(t *testing.T) {
	profile, h := setUpDelivery(t)
	dir := t.TempDir()
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	}
	var out, errOut logtest.Buffer
	start := func(args ...string) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		e := &env{ctx: ctx, in: strings.NewReader(""), out: &out, err: &errOut, profileDir: profile}
		done := make(chan error, 1)
		go func() { done <- (&deliverSendCmd{Wait: true, Watch: dir, JSON: len(args) > 0}).Run(e) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	growing := filepath.Join(dir, "groeit.zip")
	whole := zipOf(t, "groeit")
	put(t, growing, whole[:100])
	put(t, filepath.Join(dir, "a.zip"), zipOf(t, "a"))
	put(t, filepath.Join(dir, "slecht.zip"), []byte("geen zip"))
	put(t, filepath.Join(dir, "lees.txt"), []byte("not for us"))
	stop := start()
	for n := 110; n < len(whole); n += 40 { // grows for longer than it takes to count as complete
		now := time.Now()
		eventually(t, "time", func() bool { return time.Since(now) > 500*time.Millisecond })
		put(t, growing, whole[:n])
		if there("sent/groeit.zip") || there("refused/groeit.zip") {
			t.Fatal("taken while it grew")
		}
	}
	put(t, growing, whole)
	eventually(t, "a.zip sent", func() bool { return there("sent/a.zip") })
	eventually(t, "slecht.zip refused", func() bool { return there("refused/slecht.zip") && there("refused/slecht.zip.txt") })
	eventually(t, "groeit.zip sent", func() bool { return there("sent/groeit.zip") })
	if b, err := os.ReadFile(filepath.Join(dir, "refused", "slecht.zip.txt")); err != nil || len(b) < 10 {
		t.Errorf("%q %v", b, err)
	}
	if !there("lees.txt") || there("a.zip") || there("slecht.zip") {
		t.Error("the folder is not as it should be")
	}
	// The same contents again: known, and put with the others.
	put(t, filepath.Join(dir, "a.zip"), zipOf(t, "a"))
	eventually(t, "a-2.zip sent", func() bool { return there("sent/a-2.zip") && there("sent/a-2.zip.txt") })
	// A hub that refuses: the reason stands beside the file.
	h.Faults().Set(localhub.AtTransaction, localhub.Fault{Status: 422, Times: 1})
	put(t, filepath.Join(dir, "b.zip"), zipOf(t, "b"))
	eventually(t, "b.zip refused", func() bool { return there("refused/b.zip") })
	if b, err := os.ReadFile(filepath.Join(dir, "refused", "b.zip.txt")); err != nil || !strings.Contains(string(b), "antwoordcode 422") || !strings.Contains(string(b), "broken on purpose") {
		t.Errorf("%q %v", b, err)
	}
	// Ended while the hub is gone; the next one goes on, and delivers once.
	must.Do(t, h.Faults().SetGone(true))
	put(t, filepath.Join(dir, "c.zip"), zipOf(t, "c"))
	eventually(t, "c.zip taken", func() bool {
		_, out, _ := run(t, "", "deliver", "list", "--profile", profile)
		return strings.Contains(out, "c.zip")
	})
	stop()
	if !there("c.zip") {
		t.Error("c.zip was moved")
	}
	must.Do(t, h.Faults().SetGone(false))
	before := h.Stats().Messages
	stop = start("json")
	eventually(t, "c.zip sent", func() bool { return there("sent/c.zip") })
	stop()
	if n := h.Stats().Messages - before; n != 1 {
		t.Errorf("c.zip was delivered %d times", n)
	}
	log, _, _ := strings.Cut(out.String(), "{")
	for _, line := range []string{`(?m)^[0-9a-f-]{36} ` + sumOf(zipOf(t, "a")) + `: aangeleverd: antwoordcode 200$`, `(?m)^- ` + sumOf([]byte("geen zip")) + `: geweigerd: `} {
		if !regexp.MustCompile(line).MatchString(log) {
			t.Errorf("no line %s in %s", line, log)
		}
	}
	if strings.Contains(log, "a.zip") || !strings.Contains(out.String(), `"outcome":"delivered"`) {
		t.Errorf("said %s", out.String())
	}
	if s := errOut.String(); strings.Contains(s, "slecht") || strings.Contains(s, "a.zip") {
		t.Errorf("names in the log: %s", s)
	}
}

// TestDeliverWatchFolderRemoved: a service whose outbox is removed ends, so that
// whoever runs it starts it again; then what lies in the folder is delivered.
func TestDeliverWatchFolderRemoved(t *testing.T) {
	profile, h := setUpDelivery(t)
	dir := t.TempDir()
	run := func(ctx context.Context, err io.Writer) chan error {
		e := &env{ctx: ctx, in: strings.NewReader(""), out: io.Discard, err: err, profileDir: profile}
		done := make(chan error, 1)
		go func() { done <- (&deliverSendCmd{Wait: true, Watch: dir}).Run(e) }()
		return done
	}
	must.Do(t, h.Faults().SetGone(true))
	put(t, filepath.Join(dir, "a.zip"), zipOf(t, "a"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := run(ctx, io.Discard)
	at := filepath.Join(profile, "outbox")
	eventually(t, "a.zip taken", func() bool {
		taken, _ := filepath.Glob(filepath.Join(at, "spool", "*.zip"))
		return len(taken) == 1
	})
	must.Do(t, os.RemoveAll(at))
	var failed *failure
	if err := <-done; !errors.As(err, &failed) || failed.code != exitFailed || !strings.Contains(text.Dutch.Error(failed.error), "opnieuw") {
		t.Fatalf("%v", err)
	}
	must.Do(t, h.Faults().SetGone(false))
	done = run(ctx, io.Discard)
	eventually(t, "a.zip sent", func() bool {
		_, err := os.Stat(filepath.Join(dir, "sent", "a.zip"))
		return err == nil
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
