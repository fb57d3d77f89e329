package cli

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func init() { setupfile.WorkFactor = 10 }

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	must.Do(t, err)
	return all
}

func exported(t *testing.T) (file, phrase string, h *localhub.Hub) {
	t.Helper()
	dir, h := setUp(t)
	f := must.Get(os.OpenFile(filepath.Join(dir, "settings.toml"), os.O_APPEND|os.O_WRONLY, 0o600))(t)
	must.Get(f.WriteString("\n[support]\ncontact = \"Jan (IT), toestel 140\"\n[phone]\ncall_back = \"dial {number}\"\n[[line]]\nnumber = \"0201234567\"\nname = \"Schade\"\n[[softphone]]\nkind = \"baresip\"\n[[softphone]]\nkind = \"ari\"\nname = \"centrale\"\naddress = \"https://pbx.example\"\nuser = \"u\"\nextension = \"101\"\n"))(t)
	must.Do(t, f.Close())
	file = filepath.Join(t.TempDir(), "office.wiebelt")
	s := exits(t, 0, "", "provision", "--export", file, "--profile", dir).complains("phone.call_back")
	phrase = strings.TrimSuffix(s.out, "\n")
	if len(phrase) < 20 || strings.ContainsAny(phrase, " \n") {
		t.Errorf("it shows %q", s.out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	if b, _ := os.ReadFile(file); bytes.Contains(b, []byte("canary")) || bytes.Contains(b, []byte("127.0.0.1")) {
		t.Error("the file is not encrypted")
	}
	exits(t, 1, "", "provision", "--export", file, "--profile", dir)
	exits(t, 2, "", "provision", "--export", file+"2", "--secret-store", "file", "--profile", dir)
	return file, phrase, h
}

func TestImport(t *testing.T) {
	file, phrase, _ := exported(t)
	dir := t.TempDir()
	args := []string{"provision", "--import", file, "--passphrase-stdin", "--secret-store", "file", "--test-number", "0698760011", "--profile", dir}
	exits(t, 0, phrase+"\r\n", args...).says("hub.base_url", "http://127.", "provision --softphone centrale --secret-stdin").
		hides("canary", "softphone baresip")
	exits(t, 0, "", "lookup", "--profile", dir, "0698760011").says("Vries")
	exits(t, 0, "", "settings", "--profile", dir).says("Schade", "Jan (IT)", "baresip").hides("dial {number}")
	exits(t, 0, "a secret\n", "provision", "--softphone", "centrale", "--secret-stdin", "--profile", dir)
	before := snapshot(t, dir)
	exits(t, 0, phrase+"\n", args...).hides("--softphone")
	if after := snapshot(t, dir); len(after) != len(before) {
		t.Errorf("again: %d files, not %d", len(after), len(before))
	}
}

// TestImportChangesNothing checks that nothing changes if the file is
// faulty or the hub refuses what it contains.
func TestImportChangesNothing(t *testing.T) {
	file, phrase, h := exported(t)
	other := must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 5, Demo: true}))(t)
	defer other.Close()
	const old = "old-canary"
	must.Do(t, other.SetClientSecret(t.Context(), "office", "1234", old))
	dir := t.TempDir()
	exits(t, 0, old+"\n", "provision", "--base-url", other.BaseURL(), "--client-id", "office", "--organisation-code", "1234",
		"--secret-store", "file", "--secret-stdin", "--profile", dir)
	before := snapshot(t, dir)
	for _, c := range []struct {
		phrase string
		gone   bool // the hub is gone
		want   string
		extra  []string
	}{
		{phrase: phrase + "x", want: "passphrase"},
		{phrase: phrase, gone: true, want: "test failed"},
		{phrase: phrase, extra: []string{"--secret-store", "machine", "--secret-group", "no-such-group"}},
	} {
		must.Do(t, h.Faults().SetGone(c.gone))
		args := append([]string{"provision", "--import", file, "--passphrase-stdin", "--language", "en", "--profile", dir}, c.extra...)
		exits(t, 1, c.phrase+"\n", args...).complains(c.want).hides("canary")
		if !maps.Equal(snapshot(t, dir), before) {
			t.Errorf("%+v: the profile has changed", c)
		}
	}
	must.Do(t, h.Faults().SetGone(false))
	// If everything is in order, it is imported and shown beside the old one.
	exits(t, 0, phrase+"\n", "provision", "--import", file, "--passphrase-stdin", "--profile", dir).says(other.BaseURL(), h.BaseURL())
}

// TestSecretGroup: whether the group that is to read the computer's secret exists matters, and
// who asks for it, even if the secret itself stays the same.
func TestSecretGroup(t *testing.T) {
	_, err := (&provisionCmd{SecretGroup: "no-such-group"}).openToSave(profile.Dirs{}, secret.KindMachine)
	if want := map[bool]secret.State{true: secret.NoGroup, false: secret.NotAdmin}[secret.IsAdministrator()]; secret.StateOf(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestImportUsage(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--export", "a", "--import", "b"}, {"--import", "a", "--secret-stdin"}, {"--import", "a", "--base-url", "https://a.example"},
		{"--passphrase-stdin"}, {"--test-number", "1"}, {"--import", "a", "--softphone", "x"},
		{"--export", "a", "--passphrase-stdin"}, {"--import", "a", "--test"}, {"--softphone", "x", "--secret-stdin", "--test"},
	} {
		exits(t, 2, "", append([]string{"provision", "--profile", dir}, args...)...)
	}
	ready, _ := setUp(t)
	before := snapshot(t, ready)
	exits(t, 2, "the exchange's\n", "provision", "--softphone", "", "--secret-stdin", "--profile", ready) // not the hub's
	if !maps.Equal(snapshot(t, ready), before) {
		t.Error("a secret was kept for nobody")
	}
	exits(t, 1, "x", "provision", "--profile", dir, "--import", dir, "--passphrase-stdin")
	exits(t, 1, "", "provision", "--profile", dir, "--export", filepath.Join(dir, "x")).complains("hub.base_url")
}

// TestExportWhileASecretWaits checks that a setup file contains a secret the hub accepts:
// the new one once accepted, the old one until then.
func TestExportWhileASecretWaits(t *testing.T) {
	dir, h := setUp(t)
	const fresh = "fresh-canary-secret"
	exits(t, 0, fresh+"\n", "provision", "--secret-stdin", "--profile", dir).says("The old secret stays")
	carry := func(when string, old bool) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "office.wiebelt")
		got := exits(t, 0, "", "provision", "--export", file, "--profile", dir).hides("canary")
		if strings.Contains(got.err, text.English.T(text.SetupOldSecret)) != old {
			t.Fatalf("%s: %s", when, got.err)
		}
		exits(t, 0, got.out, "provision", "--import", file, "--passphrase-stdin", "--secret-store", "file", "--profile", t.TempDir())
	}
	carry("before the hub knows the new one", true)
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", fresh))
	carry("when the hub knows the new one", false)
	// One that has passed the test need not wait.
	exits(t, 0, fresh+"\n", "provision", "--secret-stdin", "--test", "--profile", dir).says("wiebelt lookup").hides("The old secret stays")
	exits(t, 0, "", "settings", "--json", "--profile", dir).says(`"store":"file","state":"set"`)
}
