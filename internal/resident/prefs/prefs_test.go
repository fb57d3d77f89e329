package prefs

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/contact"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/localhub"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/setup"
	"wiebelt/internal/trial"
)

// TestMain: what is said here is Dutch, whatever language the computer has.
func TestMain(m *testing.M) {
	_ = os.Setenv("LC_ALL", "nl_NL.UTF-8")
	goleak.VerifyTestMain(m)
}

// panel is a profile with files of its own, asked by a settings window.
type panel struct {
	*Prefs
	t       *testing.T
	dirs    profile.Dirs
	applied chan bool
	mu      sync.Mutex
	got     []reply
}

type reply struct {
	kind string
	msg  any
}

func newPanel(t *testing.T, src string) *panel {
	t.Helper()
	dirs, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	p := &panel{t: t, dirs: dirs, applied: make(chan bool, 10)}
	p.Prefs = New(Params{Dirs: dirs, Log: slog.New(slog.DiscardHandler), Applied: func(secrets bool) { p.applied <- secrets },
		Links: func() map[string]Link { return nil }, Monitors: func() []string { return nil }, Hotkey: func() health.Hotkey { return health.HotkeyWorks }})
	p.write(src)
	t.Cleanup(p.trials.stop)
	return p
}

func (p *panel) write(src string) {
	p.t.Helper()
	if err := os.WriteFile(settings.Path(p.dirs), []byte(src), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *panel) file() string {
	p.t.Helper()
	b, err := os.ReadFile(settings.Path(p.dirs))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// ask asks as the window does and waits for the answers.
func (p *panel) ask(kind string, m any) []reply {
	p.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.got = nil
	p.mu.Unlock()
	p.Answer(ask.Request{Ctx: p.t.Context(), Kind: kind, Raw: raw, Reply: func(kind string, msg any) {
		b, err := json.Marshal(msg)
		if err != nil || len(b) > 60<<10 {
			p.t.Errorf("%s: %d bytes, %v", kind, len(b), err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.got = append(p.got, reply{kind, msg})
	}})
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

// last is the last answer of a type.
func last[T any](t *testing.T, all []reply) T {
	t.Helper()
	for _, m := range slices.Backward(all) {
		if v, ok := m.msg.(T); ok {
			return v
		}
	}
	var none T
	t.Fatalf("no %T among %v", none, all)
	return none
}

func (p *panel) keep(base, client, value string) {
	p.t.Helper()
	ref, err := secret.Hub(base, client)
	if err != nil {
		p.t.Fatal(err)
	}
	store, err := secret.Open(secret.KindFile, p.dirs)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := store.Set(p.t.Context(), ref, value); err != nil {
		p.t.Fatal(err)
	}
}

func testHub(t *testing.T) (h *localhub.Hub, value string) {
	t.Helper()
	h, err := localhub.Start(context.Background(), localhub.Config{Synthetic: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if _, err := h.AddInvented(t.Context(), localhub.Record{Numbers: []string{"06-98760011"}, Contact: contact.Contact{ID: "c-vries", RelationNumber: "100200", FamilyName: "Vries"}}); err != nil {
		t.Fatal(err)
	}
	if value, err = h.AddClient(t.Context(), "office", "1234"); err != nil {
		t.Fatal(err)
	}
	return h, value
}

func hubText(base string) string {
	return fmt.Sprintf("# kept by hand\n[hub]\nbase_url = %q\nhub_url = %q\nclient_id = \"office\"\norganisation_code = \"1234\"\nsecret_store = \"file\"\n", base, base)
}

// How each step ended, in order.
func stepsOf(all []reply) (s string) {
	for _, m := range all {
		if st, ok := m.msg.(deskapi.SettingsStep); ok && st.State != trial.StateRunning {
			s += st.Step + " " + st.State + ", "
		}
	}
	return strings.TrimSuffix(s, ", ")
}

// TestSettingsTrial: the test runs over what stands in the window, saved or not,
// with a typed secret or the one that is kept, and changes nothing.
func TestSettingsTrial(t *testing.T) {
	h, value := testHub(t)
	p := newPanel(t, "[hub]\nsecret_store = \"file\"\n")
	typed := []deskapi.SettingsChange{{Key: "hub.base_url", Text: h.BaseURL()}, {Key: "hub.client_id", Text: "office"}, {Key: "hub.organisation_code", Text: "1234"}}
	before := p.file()

	got := p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 7, Changes: typed[1:], Secret: value})
	if end := last[deskapi.SettingsTested](t, got); end.OK || !strings.Contains(end.Why, "Adres van de koppelvlakken") {
		t.Errorf("without an address: %+v", end)
	}
	got = p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 7, Changes: typed})
	if end := last[deskapi.SettingsTested](t, got); end.OK || !strings.Contains(end.Why, "nog geen geheim") {
		t.Errorf("without a secret: %+v", end)
	}
	got = p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 8, Changes: typed, Secret: value + "\r\n", Number: "06 98 76 00 11"})
	if end := last[deskapi.SettingsTested](t, got); !end.OK || end.Seq != 8 || len(end.Better) > 0 {
		t.Errorf("%+v", end)
	}
	if s := stepsOf(got); s != "name ok, tls off, token ok, scopes ok, lookup ok" {
		t.Error(s)
	}
	if st := got[len(got)-2].msg.(deskapi.SettingsStep); !strings.HasPrefix(st.Sentence, "1 relatie gevonden, in ") {
		t.Errorf("%+v", st)
	}
	got = p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 9, Changes: typed, Secret: "verkeerd", Number: "06 98 76 00 11"})
	failed := got[len(got)-2].msg.(deskapi.SettingsStep)
	if s := stepsOf(got); s != "name ok, tls off, token failed" || failed.Said == "" || failed.Do == "" || strings.Contains(fmt.Sprint(failed), "verkeerd") {
		t.Errorf("%s: %+v", s, failed)
	}
	got = p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 9, Changes: typed, Secret: value, Number: "101"})
	if s := stepsOf(got); !strings.HasSuffix(s, "lookup failed") {
		t.Error(s)
	}
	p.keep(h.BaseURL(), "office", value)
	if end := last[deskapi.SettingsTested](t, p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 1, Changes: typed})); !end.OK {
		t.Errorf("with the kept secret: %+v", end)
	}
	if p.file() != before {
		t.Error("a test has changed the settings")
	}
}

// TestSettingsTrialKeepsTheSecret: where the address in the window is another one,
// not a byte goes there without a secret that was typed for it.
func TestSettingsTrialKeepsTheSecret(t *testing.T) {
	h, value := testHub(t)
	p := newPanel(t, hubText(h.BaseURL()))
	p.keep(h.BaseURL(), "office", value)
	var mu sync.Mutex
	var heard bytes.Buffer
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = r.Write(&heard)
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	defer other.Close()
	for _, c := range []deskapi.SettingsChange{{Key: "hub.base_url", Text: other.URL}, {Key: "hub.client_id", Text: "another"}} {
		end := last[deskapi.SettingsTested](t, p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 1, Changes: []deskapi.SettingsChange{c}}))
		if end.OK || !strings.Contains(end.Why, "nog geen geheim") {
			t.Errorf("%s: %+v", c.Key, end)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if heard.Len() > 0 {
		t.Errorf("the other address heard %q", heard.String())
	}
}

// picky is a hub that takes credentials in one way only.
func picky(t *testing.T, id, value, encoding, parameter, scopes, field string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/identity/token":
			body, _ := io.ReadAll(r.Body)
			form, _ := url.ParseQuery(string(body))
			wantID, wantValue := id, value
			if encoding == "rfc6749" {
				wantID, wantValue = url.QueryEscape(id), url.QueryEscape(value)
			}
			switch {
			case r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(wantID+":"+wantValue)):
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"Onbekende client"}`)
			case form.Get(parameter) != scopes:
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":"invalid_scope"}`)
			default:
				_, _ = io.WriteString(w, `{"access_token":"t","expires_in":300}`)
			}
		case "/contact/contacts/telephony":
			_, _ = io.WriteString(w, `{"data":{"items":[{"id":"c","`+field+`":"100200","achternaam":"Vries"}]}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestSettingsTrialFinds: what the hub wants otherwise than it is set is found and
// offered, each by itself and together, and never tried where the policy has it.
func TestSettingsTrialFinds(t *testing.T) {
	const usual = "Basic P0boxadministrator orgCode:1234"
	for name, c := range map[string]struct {
		encoding, parameter, scopes, field string
		set                                string
		better                             string
	}{
		"as documented":     {"plain", "scopes", usual, "xrelatienummer", "", ""},
		"encoded":           {"rfc6749", "scopes", usual, "xrelatienummer", "", "hub.basic_auth_encoding=rfc6749"},
		"the standard name": {"plain", "scope", usual, "xrelatienummer", "", "hub.scope_parameter=scope"},
		"both":              {"rfc6749", "scope", usual, "xrelatienummer", "", "hub.basic_auth_encoding=rfc6749 hub.scope_parameter=scope"},
		"back to plain":     {"plain", "scopes", usual, "xrelatienummer", "basic_auth_encoding = \"rfc6749\"\n", "hub.basic_auth_encoding=plain"},
		"the usual scopes":  {"plain", "scopes", usual, "xrelatienummer", "contact_scopes = \"Basic orgCode:<code>\"\n", "hub.contact_scopes=Basic P0boxadministrator orgCode:<code>"},
		"another field":     {"plain", "scopes", usual, "xrelatienummer", "relation_number_field = \"nummer\"\n", "hub.relation_number_field="},
	} {
		t.Run(name, func(t *testing.T) {
			h := picky(t, "office", "a+b/c d%", c.encoding, c.parameter, c.scopes, c.field)
			p := newPanel(t, hubText(h.URL)+c.set)
			end := last[deskapi.SettingsTested](t, p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 1, Secret: "a+b/c d%", Number: "0612345678"}))
			var got []string
			for _, b := range end.Better {
				got = append(got, b.Key+"="+b.Text)
			}
			if !end.OK || strings.Join(got, " ") != c.better {
				t.Errorf("%+v, want %q", end, c.better)
			}
			// Taken over, the same test passes by itself.
			changes := end.Better
			again := last[deskapi.SettingsTested](t, p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 2, Changes: changes, Secret: "a+b/c d%", Number: "0612345678"}))
			if !again.OK || len(again.Better) != 0 {
				t.Errorf("taken over: %+v", again)
			}
		})
	}
	// A hub that takes none of it: what is said is of the settings as they are.
	h := picky(t, "somebody", "else", "plain", "scopes", usual, "")
	p := newPanel(t, hubText(h.URL))
	got := p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 1, Secret: "a+b"})
	failed := got[len(got)-2].msg.(deskapi.SettingsStep)
	if failed.Said != "Onbekende client · invalid_client" || last[deskapi.SettingsTested](t, got).OK {
		t.Errorf("%+v", failed)
	}
}

// TestSettingsSave: all or nothing, comments stay, what is wrong or locked is
// named, and a secret goes to its store and nowhere else.
func TestSettingsSave(t *testing.T) {
	p := newPanel(t, hubText("https://hub.example"))
	before := p.file()
	got := p.ask(deskapi.KindSettingsSave, deskapi.SettingsSave{Seq: 1, Changes: []deskapi.SettingsChange{
		{Key: "card.corner", Text: "top-left"}, {Key: "history.days", Text: "4000"}, {Key: "no.such", Text: "x"}}})
	if a := last[deskapi.SettingsSaved](t, got); a.OK || strings.Join(a.Bad, " ") != "history.days no.such" || p.file() != before {
		t.Errorf("%+v, %s", a, p.file())
	}
	for _, phones := range [][]deskapi.SettingsPhone{{{Kind: "skype", Name: "x"}}, {{Kind: "bria", Name: "x"}, {Kind: "bria", Name: "x"}}} {
		if a := last[deskapi.SettingsSaved](t, p.ask(deskapi.KindSettingsSave, deskapi.SettingsSave{Seq: 1, Phones: &phones})); a.OK || p.file() != before {
			t.Errorf("%+v: %+v", phones, a)
		}
	}
	if a := last[deskapi.SettingsSaved](t, p.ask(deskapi.KindSettingsSave, deskapi.SettingsSave{Seq: 1, Secret: "\x00"})); a.OK || a.Sentence == "" {
		t.Errorf("%+v", a)
	}
	phones := []deskapi.SettingsPhone{{Kind: "ari", Name: "centrale", Address: "https://pbx.example", Extension: "101", User: "w"}}
	lines := []deskapi.SettingsLine{{Number: "0201234567", Name: "Schade"}}
	got = p.ask(deskapi.KindSettingsSave, deskapi.SettingsSave{Seq: 2, Secret: "kanarie-een", Phones: &phones, Lines: &lines,
		Secrets: []deskapi.PhoneSecret{{Name: "centrale", Secret: "kanarie-twee"}, {Name: "niemand", Secret: "x"}},
		Changes: []deskapi.SettingsChange{{Key: "card.corner", Text: "top-left"}, {Key: "hub.hub_url", Reset: true}, {Key: "card.fields", Text: "address"}}})
	if a := last[deskapi.SettingsSaved](t, got); !a.OK || a.Seq != 2 {
		t.Fatalf("%+v", a)
	}
	now := p.file()
	if !strings.Contains(now, "# kept by hand") || !strings.Contains(now, "top-left") || strings.Contains(now, "hub_url") || strings.Contains(now, "kanarie") {
		t.Error(now)
	}
	select {
	case secrets := <-p.applied:
		if !secrets {
			t.Error("nobody is told that there is a new secret")
		}
	default:
		t.Error("nothing takes effect before somebody looks")
	}
	kept := last[deskapi.SettingsSecret](t, got)
	if kept.State != "set" || kept.On == "" || kept.Phones["centrale"] != "set" {
		t.Errorf("%+v", kept)
	}
	if b, err := json.Marshal(got); err != nil || bytes.Contains(b, []byte("kanarie")) {
		t.Error("a secret came back to the window")
	}
	// A further secret waits beside the old one until it has worked.
	got = p.ask(deskapi.KindSettingsSave, deskapi.SettingsSave{Seq: 3, Secret: "kanarie-drie"})
	if k := last[deskapi.SettingsSecret](t, got); k.State != "waiting" {
		t.Errorf("%+v", k)
	}
	// A file that is no TOML is never written over.
	p.write("[hub\n")
	if a := last[deskapi.SettingsSaved](t, p.ask(deskapi.KindSettingsSave, deskapi.SettingsSave{Seq: 4,
		Changes: []deskapi.SettingsChange{{Key: "card.corner", Text: "top-left"}}})); a.OK || a.Sentence == "" || p.file() != "[hub\n" {
		t.Errorf("%+v", a)
	}
}

// TestSettingsStateFits: settings of any size fit into a message, and what does
// not is told by its length.
func TestSettingsStateFits(t *testing.T) {
	var b strings.Builder
	b.WriteString("[phone]\nnever_lookup = [")
	for i := range 500 {
		fmt.Fprintf(&b, "\"020%s%03d\",\n", strings.Repeat("1", 100), i)
	}
	b.WriteString("]\n[listener]\nallowed_origins = [")
	for i := range 500 {
		fmt.Fprintf(&b, "\"https://%s%03d.example\",\n", strings.Repeat("a", 50), i)
	}
	b.WriteString("]\n")
	for i := range 500 {
		fmt.Fprintf(&b, "[[line]]\nnumber = \"0201234%03d\"\nname = %q\n[[softphone]]\nkind = \"bria\"\nname = \"n%d\"\naddress = %q\n", i, strings.Repeat("é", 100), i, strings.Repeat("x", 200))
	}
	p := newPanel(t, b.String())
	st := last[deskapi.SettingsState](t, p.ask(deskapi.KindSettingsAsk, nil))
	for key, n := range map[string]int{"phone.never_lookup": 500, "listener.allowed_origins": 500, "line": 500, "softphone": 500} {
		if st.More[key] != n {
			t.Errorf("%s: %d, want %d", key, st.More[key], n)
		}
	}
	if len(st.Values) != len(settings.Keys()) || len(st.Lines) != 0 {
		t.Errorf("%d values", len(st.Values))
	}
	p = newPanel(t, hubText("https://hub.example")+"[card]\ncorner = 5\n[nonsense]\nx = \"kanarie\"\n")
	st = last[deskapi.SettingsState](t, p.ask(deskapi.KindSettingsAsk, nil))
	if len(st.Problems) != 2 || strings.Contains(strings.Join(st.Problems, ""), "kanarie") || !strings.Contains(st.Problems[0], "card.corner") {
		t.Errorf("%q", st.Problems)
	}
}

// Set-up files of these tests cost little work.
func init() { setup.Work = 10 }

func (p *panel) setupFile(src, value string) (path, phrase string) {
	p.t.Helper()
	s, problems := settings.Parse(src)
	if len(problems) > 0 {
		p.t.Fatal(problems)
	}
	var b bytes.Buffer
	phrase, err := setup.Write(&b, s, value)
	if err != nil {
		p.t.Fatal(err)
	}
	path = filepath.Join(p.t.TempDir(), "kantoor.wiebelt")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path, phrase
}

// TestSettingsSetupFile: a set-up file shows old and new and changes nothing until
// it is taken over; a wrong passphrase, a cut file, a test that fails and a file
// that was changed meanwhile change nothing either.
func TestSettingsSetupFile(t *testing.T) {
	h, value := testHub(t)
	p := newPanel(t, hubText("https://old.example"))
	p.keep("https://old.example", "office", "old")
	before := p.file()
	good, phrase := p.setupFile(hubText(h.BaseURL()), value)
	open := func(path, passphrase string) deskapi.SettingsOffice {
		return last[deskapi.SettingsOffice](t, p.ask(deskapi.KindSettingsFile, deskapi.SettingsFile{Seq: 5, Path: path, Passphrase: passphrase}))
	}
	take := func(seq int) deskapi.SettingsTaken {
		return last[deskapi.SettingsTaken](t, p.ask(deskapi.KindSettingsTake, deskapi.SettingsTake{Seq: seq, Number: "06 98 76 00 11"}))
	}
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	cutFile := filepath.Join(t.TempDir(), "cut.wiebelt")
	if err := os.WriteFile(cutFile, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]deskapi.SettingsOffice{"wrong passphrase": open(good, "vier andere woordjes hier"), "cut": open(cutFile, phrase),
		"nowhere": open("/nowhere/x.wiebelt", phrase), "relative": open("x.wiebelt", phrase)} {
		if o.Why == "" || len(o.Rows) > 0 || p.file() != before {
			t.Errorf("%s: %+v", name, o)
		}
		if a := take(5); a.OK {
			t.Errorf("%s: taken over", name)
		}
	}
	bad, other := p.setupFile(hubText(h.BaseURL()), "not the secret")
	if o := open(bad, other); o.Why != "" {
		t.Fatalf("%+v", o)
	}
	if a := take(5); a.OK || a.Why == "" || p.file() != before {
		t.Errorf("a failed test: %+v", a)
	}
	o := open(good, phrase)
	if o.Why != "" || !o.Moved || p.file() != before {
		t.Fatalf("%+v", o)
	}
	var shown string
	for _, r := range o.Rows {
		if r.Key == "hub.base_url" {
			shown = r.Now + " " + r.New
		}
	}
	if shown != "https://old.example "+h.BaseURL() || strings.Contains(fmt.Sprint(o), value) {
		t.Errorf("%+v", o)
	}
	if err := os.WriteFile(good, []byte("another file by now"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := take(4); a.OK {
		t.Error("another file than the one shown was taken over")
	}
	if a := take(5); !a.OK {
		t.Fatalf("%+v", a)
	}
	s, _ := settings.Load(p.dirs)
	if s.Hub.BaseURL != h.BaseURL() || s.Hub.SecretStore != "file" || !strings.Contains(p.file(), "# kept by hand") {
		t.Error(p.file())
	}
	if a := take(5); a.OK {
		t.Error("taken over twice")
	}
	if end := last[deskapi.SettingsTested](t, p.ask(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: 1, Number: "06 98 76 00 11"})); !end.OK {
		t.Errorf("what was taken over does not work: %+v", end)
	}
	// Forgotten when the window closes.
	open(p.setupFile(hubText(h.BaseURL()), value))
	p.ask(deskapi.KindSettingsStop, nil)
	if a := take(5); a.OK {
		t.Error("a file that was put away was taken over")
	}
}
