package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// TestMain makes the key derivation of these tests' set-up files cheap.
func TestMain(m *testing.M) {
	setupfile.WorkFactor = 10
	os.Exit(m.Run())
}

// profiled returns a profile with these settings.
func profiled(t *testing.T, src string) profile.Dirs {
	t.Helper()
	d := uitest.Dirs(t)
	must.Do(t, os.WriteFile(settings.Path(d), []byte(src), 0o600))
	return d
}

func fileOf(t *testing.T, d profile.Dirs) string {
	t.Helper()
	return string(must.Get(os.ReadFile(settings.Path(d)))(t))
}

func keepSecret(t *testing.T, d profile.Dirs, base, client, value string) {
	t.Helper()
	ref := must.Get(secret.HubRef(base, client))(t)
	store := secret.Open(secret.KindFile, d)
	must.Do(t, store.Set(t.Context(), ref, value))
}

func testHub(t *testing.T) (h *localhub.Hub, value string) {
	t.Helper()
	h, err := localhub.Start(context.Background(), localhub.Config{Synthetic: 20})
	must.Do(t, err)
	t.Cleanup(func() { _ = h.Close() })
	must.Get(h.AddInvented(t.Context(), localhub.Record{Numbers: []string{"06-98760011"}, Contact: contact.Contact{ID: "c-vries", RelationNumber: "100200", FamilyName: "Vries"}}))(t)
	if value, err = h.AddClient(t.Context(), "office", "1234"); err != nil {
		t.Fatal(err)
	}
	return h, value
}

func hubText(base string) string {
	return fmt.Sprintf("# kept by hand\n[hub]\nbase_url = %q\nhub_url = %q\nclient_id = \"office\"\norganisation_code = \"1234\"\nsecret_store = \"file\"\n", base, base)
}

// tries runs a trial and also returns the steps that completed, with their results.
func tries(t *testing.T, d profile.Dirs, changes map[string]any, typed, number string) (end outcome, all []step, ended string) {
	t.Helper()
	end = runTrial(t.Context(), d, text.Dutch, changes, typed, number, func(s step) {
		if s.state != hubtrial.StateRunning {
			all = append(all, s)
			ended += s.name + " " + s.state + ", "
		}
	})
	return end, all, strings.TrimSuffix(ended, ", ")
}

// TestTry: the test uses the values in the window, saved or not, with a typed secret or the
// stored one, and changes nothing.
func TestTry(t *testing.T) {
	h, value := testHub(t)
	d := profiled(t, nothing)
	typed := map[string]any{"hub.base_url": h.BaseURL(), "hub.client_id": "office", "hub.organisation_code": "1234"}
	before := fileOf(t, d)
	if end, _, _ := tries(t, d, map[string]any{"hub.client_id": "office"}, value, ""); end.ok || !strings.Contains(end.why, "Adres van de koppelvlakken") {
		t.Errorf("without an address: %+v", end)
	}
	if end, _, _ := tries(t, d, typed, "", ""); end.ok || !strings.Contains(end.why, "nog geen geheim") {
		t.Errorf("without a secret: %+v", end)
	}
	end, all, how := tries(t, d, typed, value+"\r\n", "06 98 76 00 11")
	if !end.ok || len(end.better) > 0 || how != "name ok, tls off, token ok, scopes ok, lookup ok" || !strings.HasPrefix(all[4].sentence, "1 relatie gevonden, in ") {
		t.Errorf("%+v, %s: %+v", end, how, all)
	}
	_, all, how = tries(t, d, typed, "verkeerd", "06 98 76 00 11")
	if failed := all[len(all)-1]; how != "name ok, tls off, token failed" || failed.hubMessage == "" || failed.advice == "" || strings.Contains(fmt.Sprint(failed), "verkeerd") {
		t.Errorf("%s: %+v", how, failed)
	}
	keepSecret(t, d, h.BaseURL(), "office", value)
	if end, _, _ := tries(t, d, typed, "", ""); !end.ok {
		t.Errorf("with the kept secret: %+v", end)
	}
	if fileOf(t, d) != before {
		t.Error("a test has changed the settings")
	}
}

// TestTryKeepsTheSecret: with another address or client in the
// window, nothing is sent unless a secret was typed for it.
func TestTryKeepsTheSecret(t *testing.T) {
	h, value := testHub(t)
	d := profiled(t, hubText(h.BaseURL()))
	keepSecret(t, d, h.BaseURL(), "office", value)
	heard := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard <- r.URL.Path
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	defer other.Close()
	for _, c := range []map[string]any{{"hub.base_url": other.URL}, {"hub.client_id": "another"}} {
		if end, _, _ := tries(t, d, c, "", ""); end.ok || !strings.Contains(end.why, "nog geen geheim") {
			t.Errorf("%v: %+v", c, end)
		}
	}
	if len(heard) > 0 {
		t.Errorf("the other address heard %q", <-heard)
	}
}

// TestInOrder: what the test has found is offered in the order in which it is asked for.
func TestInOrder(t *testing.T) {
	got := inOrder([]string{"one", "two", "three"}, map[string]string{"three": "3", "one": ""})
	if want := []value{{"one", ""}, {"three", "3"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func setupFile(t *testing.T, src, value string) (path, phrase string) {
	t.Helper()
	s, problems := settings.Parse(src)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var b bytes.Buffer
	phrase = must.Get(setupfile.Write(&b, setupfile.Office{Settings: s, Secret: value}))(t)
	path = filepath.Join(t.TempDir(), "kantoor.wiebelt")
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path, phrase
}

// TestTakeOver: a set-up file changes nothing until it is applied; a wrong passphrase, a
// truncated file, a failed test and a file modified meanwhile change nothing either.
func TestTakeOver(t *testing.T) {
	h, value := testHub(t)
	d := profiled(t, hubText("https://old.example"))
	keepSecret(t, d, "https://old.example", "office", "old")
	before := fileOf(t, d)
	good, phrase := setupFile(t, hubText(h.BaseURL()), value)
	whole := must.Get(os.ReadFile(good))(t)
	cutFile := filepath.Join(t.TempDir(), "cut.wiebelt")
	must.Do(t, os.WriteFile(cutFile, whole[:len(whole)-9], 0o600))
	for name, c := range map[string][2]string{"wrong passphrase": {good, "vier andere woordjes hier"}, "cut": {cutFile, phrase},
		"nowhere": {"/nowhere/x.wiebelt", phrase}, "relative": {"x.wiebelt", phrase}, "a folder": {t.TempDir(), phrase}} {
		if o, why := openSetup(d, text.Dutch, c[0], c[1]); o != nil || why == "" || fileOf(t, d) != before {
			t.Errorf("%s: %+v, %q", name, o, why)
		}
	}
	open := func(path, phrase string) *hubtrial.SetupFile {
		t.Helper()
		o, why := openSetup(d, text.Dutch, path, phrase)
		if o == nil || fileOf(t, d) != before {
			t.Fatal(why)
		}
		return o
	}
	quietly := func(hubtrial.Step) {}
	if _, err := open(setupFile(t, hubText(h.BaseURL()), "not the secret")).Apply(t.Context(), d, "", nil, quietly); !errors.Is(err, hubtrial.ErrNotPassed) || fileOf(t, d) != before {
		t.Errorf("a failed test: %v", err)
	}
	o := open(good, phrase)
	if !o.HubMoved || !slices.Contains(o.Rows, hubtrial.Row{Key: "hub.base_url", Current: "https://old.example", New: h.BaseURL()}) || strings.Contains(fmt.Sprint(o.Rows), value) {
		t.Errorf("%+v", o.Rows)
	}
	must.Do(t, os.WriteFile(good, []byte("another file by now"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the window was closed
	if _, err := o.Apply(ctx, d, "", nil, quietly); err == nil || fileOf(t, d) != before {
		t.Errorf("nobody waits: %v", err)
	}
	decided := *o // the policy has changed meanwhile
	decided.Hub.Intermediary = "another"
	if _, err := decided.Apply(t.Context(), d, "", nil, quietly); !errors.Is(err, hubtrial.ErrPolicyChanged) || fileOf(t, d) != before {
		t.Errorf("another hub than was shown: %v", err)
	}
	must.Get(o.Apply(t.Context(), d, "06 98 76 00 11", nil, quietly))(t)
	if s, _ := settings.Load(d); s.Hub.BaseURL != h.BaseURL() || s.Hub.SecretStore != "file" || !strings.Contains(fileOf(t, d), "# kept by hand") {
		t.Error(fileOf(t, d))
	}
	if end, _, _ := tries(t, d, nil, "", "06 98 76 00 11"); !end.ok {
		t.Errorf("what was taken over does not work: %+v", end)
	}
}
