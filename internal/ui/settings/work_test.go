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
func tries(t *testing.T, d profile.Dirs, changes map[string]any, typed, number string) (end outcome, all []hubtrial.Step, ended string) {
	t.Helper()
	var running string
	end = runTrial(t.Context(), d, text.Dutch, changes, typed, number, func(s hubtrial.Step) {
		if s.State == hubtrial.StateRunning {
			running = s.Name
			return
		}
		if s.Name != running {
			t.Errorf("%s ends, %s ran", s.Name, running)
		}
		all = append(all, s)
		ended += s.Name + " " + s.State + ", "
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
	if !end.ok || len(end.better) > 0 || how != "name ok, tls off, token ok, scopes ok, lookup ok" || all[4].Found != 1 {
		t.Errorf("%+v, %s: %+v", end, how, all)
	}
	typed["phone.never_lookup"] = []string{"0612345678"}
	for number, want := range map[string]string{" ": "lookup off", "101": "lookup failed", "0612345678": "lookup failed"} {
		end, all, how := tries(t, d, typed, value, number)
		if failed := all[4].Err != nil; !strings.HasSuffix(how, want) || end.ok == failed || failed && !errors.Is(all[4].Err, hubtrial.ErrNumber) {
			t.Errorf("%q: %+v, %s: %v", number, end, how, all[4].Err)
		}
	}
	_, all, how = tries(t, d, typed, "verkeerd", "06 98 76 00 11")
	if failed := all[len(all)-1]; how != "name ok, tls off, token failed" || failed.HubMessage == "" ||
		contact.FailureOf(failed.Err) != contact.CredentialsRefused || strings.Contains(fmt.Sprintf("%+v", failed), "verkeerd") {
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
