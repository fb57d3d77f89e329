package localhub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/bcrypt"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) {
	hashCost = bcrypt.MinCost
	goleak.VerifyTestMain(m)
}

const (
	clientID = "wiebelt-test"
	secret   = "p@ss+/=%"
	org      = "90210"
	body     = "scopes=Basic%20P0boxadministrator%20orgCode%3A90210&grant_type=client_credentials"
)

func newClock() *clocktest.Clock { return clocktest.New(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)) }

// start runs a hub with a client and, unless it is a demo, the user "anna".
func start(t testing.TB, cfg Config) *Hub {
	t.Helper()
	h := must.Get(Start(t.Context(), cfg))(t)
	t.Cleanup(func() {
		must.Do(t, h.Close())
	})
	if u, err := url.Parse(h.BaseURL()); err == nil {
		hubs.Store(u.Host, h)
		t.Cleanup(func() { hubs.CompareAndDelete(u.Host, h) })
	}
	must.Do(t, h.SetClientSecret(t.Context(), clientID, org, secret))
	return h
}

// notStarted returns the error that keeps a hub with these settings from starting.
func notStarted(t testing.TB, cfg Config) error {
	t.Helper()
	h, err := Start(t.Context(), cfg)
	if err == nil {
		t.Errorf("a hub with %+v", cfg)
		return h.Close()
	}
	return err
}

// newClient returns a client with its own connections, closed when the test ends. Its
// requests and their answers are checked against the hub's description.
func newClient(t testing.TB) *http.Client { return clientBy(t, &http.Transport{}) }

func clientBy(t testing.TB, tr *http.Transport) *http.Client {
	t.Cleanup(tr.CloseIdleConnections)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: &checked{tr, t.Errorf}, Timeout: 20 * time.Second, CheckRedirect: stay}
}

func exec(h *Hub, statement string, args ...any) error {
	_, err := h.writeDB.Exec(statement, args...)
	return err
}

func single[T any](t testing.TB, d *Data, query string) (v T) {
	t.Helper()
	must.Do(t, d.readDB.QueryRowContext(t.Context(), query).Scan(&v))
	return v
}

func held(t testing.TB, d *Data, id string) Record {
	t.Helper()
	r, _, found, err := d.byID(t.Context(), id)
	if must.Do(t, err); !found {
		t.Fatalf("no contact %s", id)
	}
	return r
}

type answer struct {
	status int
	header http.Header
	body   string
}

// is checks an answer's status.
func (a answer) is(t testing.TB, want int, what ...any) {
	t.Helper()
	if a.status != want {
		t.Errorf("%s: %d, want %d: %s", fmt.Sprint(what...), a.status, want, a.body)
	}
}

func do(t testing.TB, c *http.Client, method, url, body string, header ...string) answer {
	t.Helper()
	return must.Get(try(t, c, method, url, body, header...))(t)
}

func try(t testing.TB, c *http.Client, method, url, body string, header ...string) (answer, error) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b)}, err
}

const form = "application/x-www-form-urlencoded"

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func askToken(t testing.TB, h *Hub) answer {
	t.Helper()
	return do(t, newClient(t), "POST", h.BaseURL()+"/identity/token", body, "Content-Type", form, "Authorization", basic(clientID, secret))
}

func token(t testing.TB, h *Hub) string {
	t.Helper()
	return tokenOf(t, h, clientID, org)
}

// tokenOf returns a token for any client.
func tokenOf(t testing.TB, h *Hub, id, org string) string {
	t.Helper()
	a := do(t, newClient(t), "POST", h.BaseURL()+"/identity/token", "scopes=Basic%20P0boxadministrator%20orgCode%3A"+url.QueryEscape(org)+"&grant_type=client_credentials",
		"Content-Type", form, "Authorization", basic(id, secret))
	var v struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != 200 {
		t.Fatalf("no token: %d %v", a.status, err)
	}
	return v.AccessToken
}

type item struct {
	ID       string  `json:"id"`
	Relation *string `json:"backofficerelatienummer"`
	Family   string  `json:"achternaam"`
	Link     string  `json:"link"`
}

func lookup(t testing.TB, h *Hub, token, q string) answer {
	t.Helper()
	return do(t, newClient(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q="+url.QueryEscape(q), "", "Authorization", "Bearer "+token)
}

func items(t testing.TB, a answer) []item {
	t.Helper()
	var v struct {
		Data *struct{ Items []item }
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != 200 || v.Data == nil || v.Data.Items == nil {
		t.Fatalf("no items: %d %v %s", a.status, err, a.body)
	}
	return v.Data.Items
}

func person(family string, numbers ...string) Record {
	return Record{Contact: contact.Contact{FamilyName: family, Initials: "A.", RelationNumber: "1"}, Numbers: numbers}
}

// TestTemporaryFolderGoes checks that a hub without a folder leaves nothing behind, whether it
// was closed or could not start, and that the next one removes that of one that was killed.
func TestTemporaryFolderGoes(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	left := func() int { return len(must.Get(os.ReadDir(temp))(t)) }
	killed, before := filepath.Join(temp, "wiebelt-hub-killed"), time.Now().Add(-time.Hour)
	must.Do(t, os.Mkdir(killed, 0o700), os.Chtimes(killed, before, before))
	h := start(t, Config{Synthetic: 5})
	receipts(t, deliver(t, h, token(t, h), messagetest.Request(numbered(t, 1))))
	if n := left(); n != 1 {
		t.Errorf("%d folders while it runs", n)
	}
	must.Do(t, os.Chtimes(h.dir, before, before))
	_ = notStarted(t, Config{Listen: strings.TrimPrefix(h.BaseURL(), "http://")})
	if n := left(); n != 1 {
		t.Errorf("%d folders while it runs, after another hub", n)
	}
	if must.Do(t, h.Close()); left() != 0 {
		t.Errorf("%d folders are left behind", left())
	}
}

func TestFolderKeepsEverything(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a #b%41", "hub")
	h := start(t, Config{Dir: dir, Synthetic: 50})
	must.Get(h.AddInvented(t.Context(), person("Blijver", "0611112222")))(t)
	tok := token(t, h)
	must.Do(t, h.AddUser(t.Context(), "anna", "een-wachtwoord", false))
	must.Do(t, h.Close())
	h = must.Get(Start(t.Context(), Config{Dir: dir, Synthetic: 50}))(t) // populated only once
	defer h.Close()
	if n, err := h.Count(t.Context()); err != nil || n != 51 {
		t.Errorf("%d contacts, %v", n, err)
	}
	if got := items(t, lookup(t, h, tok, "0611112222")); len(got) != 1 { // the key was kept too
		t.Errorf("%d found", len(got))
	}
	if runtime.GOOS != "windows" {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "hub", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files", err)
		}
		for _, f := range append(files, dir) {
			if i, err := os.Stat(f); err != nil || i.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v %v", f, i.Mode(), err)
			}
		}
	}
}

// TestRefusesAnothersFolder checks that a folder or database that others own
// or can access is refused: they could have added their own users to it.
func TestRefusesAnothersFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	for name, plant := range map[string]func(dir, db string) error{
		"a folder for all":      func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"one that all can read": func(_, db string) error { return os.Chmod(db, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data := must.Get(OpenData(t.Context(), dir))(t)
			must.Do(t, errors.Join(data.Close(), plant(dir, filepath.Join(dir, "hub.db"))))
			if data, err := OpenData(t.Context(), dir); !errors.Is(err, filetrust.ErrUntrusted) {
				t.Errorf("%v, %v", data, err)
			}
		})
	}
}

func TestRefusesANewerDatabase(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	must.Do(t, exec(h, "PRAGMA user_version = 99"))
	must.Do(t, h.Close())
	if err := notStarted(t, Config{Dir: dir}); !strings.Contains(fmt.Sprint(err), "newer") {
		t.Error(err)
	}
}

// TestNoSecretIsStoredOrLogged searches the hub's files and log for everything
// secret or personal that passed through it.
func TestNoSecretIsStoredOrLogged(t *testing.T) {
	dir := t.TempDir()
	var log logtest.Buffer
	h := start(t, Config{Dir: dir, Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	made, err := h.AddClient(t.Context(), "made", org)
	if err != nil || len(made) < 40 {
		t.Fatal(err)
	}
	must.Do(t, h.AddUser(t.Context(), "anna", "een-wachtwoord", false))
	ids := must.Get(h.AddInvented(t.Context(), person("Geheimhouder", "0698765432")))(t)
	tok := token(t, h)
	items(t, lookup(t, h, tok, "0698765432"))
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", "/contacts/viewcontact/"+ids[0])
	session := b.session()
	if session == "" {
		t.Fatal("not logged in")
	}
	must.Do(t, h.Close())
	stored := must.Get(os.ReadFile(filepath.Join(dir, "hub.db")))(t)
	for _, s := range []string{made, secret, "een-wachtwoord", tok, session} {
		if bytes.Contains(stored, []byte(s)) {
			t.Error("a secret stands in the database")
		}
		if strings.Contains(log.String(), s) {
			t.Error("a secret stands in the log")
		}
	}
	for _, s := range []string{"98765432", "Geheimhouder", ids[0], "anna", "viewcontact/" + ids[0]} {
		if strings.Contains(log.String(), s) {
			t.Errorf("%q stands in the log", s)
		}
	}
	if !strings.Contains(log.String(), `"part":"/contact/contacts/telephony"`) {
		t.Error("the lookup is not in the log at all")
	}
}
