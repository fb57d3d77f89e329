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

	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
)

// Set-up files of these tests cost little work.
func init() { setupfile.Work = 10 }

// snapshot is every file of a profile with its contents.
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

// exported is a set-up file of a profile that works, and its hub.
func exported(t *testing.T) (file, phrase string, h *localhub.Hub) {
	t.Helper()
	dir, h := setUp(t)
	f := must.Get(os.OpenFile(filepath.Join(dir, "settings.toml"), os.O_APPEND|os.O_WRONLY, 0o600))(t)
	must.Get(f.WriteString("\n[support]\ncontact = \"Jan (IT), toestel 140\"\n[phone]\ncall_back = \"dial {number}\"\n[[line]]\nnumber = \"0201234567\"\nname = \"Schade\"\n[[softphone]]\nkind = \"baresip\"\n[[softphone]]\nkind = \"ari\"\nname = \"centrale\"\naddress = \"https://pbx.example\"\nuser = \"u\"\nextension = \"101\"\n"))(t)
	must.Do(t, f.Close())
	file = filepath.Join(t.TempDir(), "office.wiebelt")
	code, out, errOut := run(t, "", "provision", "--export", file, "--profile", dir)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	phrase = strings.TrimSuffix(out, "\n")
	if len(phrase) < 20 || strings.ContainsAny(phrase, " \n") || !strings.Contains(errOut, "phone.call_back") {
		t.Errorf("it shows %q, and says %q", out, errOut)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	if b, _ := os.ReadFile(file); bytes.Contains(b, []byte("canary")) || bytes.Contains(b, []byte("127.0.0.1")) {
		t.Error("the file is not encrypted")
	}
	if code, _, _ := run(t, "", "provision", "--export", file, "--profile", dir); code != 1 {
		t.Errorf("written over: exit %d", code)
	}
	if code, _, _ := run(t, "", "provision", "--export", file+"2", "--secret-store", "file", "--profile", dir); code != 2 {
		t.Errorf("a store, which no file names: exit %d", code)
	}
	return file, phrase, h
}

func TestImport(t *testing.T) {
	file, phrase, _ := exported(t)
	dir := t.TempDir()
	args := []string{"provision", "--import", file, "--passphrase-stdin", "--secret-store", "file", "--test-number", "0698760011", "--profile", dir}
	code, out, errOut := run(t, phrase+"\r\n", args...)
	if code != 0 || !strings.Contains(out, "hub.base_url") || !strings.Contains(out, "http://127.") || strings.Contains(out+errOut, "canary") {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	if !strings.Contains(out, "provision --softphone centrale --secret-stdin") || strings.Contains(out, "softphone baresip") {
		t.Errorf("of the links it says: %s", out)
	}
	code, stdout, errOut := run(t, "", "lookup", "--profile", dir, "0698760011")
	if code != 0 || !strings.Contains(stdout, "Vries") {
		t.Errorf("exit %d: %s%s", code, stdout, errOut)
	}
	_, all, _ := run(t, "", "settings", "--profile", dir)
	if !strings.Contains(all, "Schade") || !strings.Contains(all, "Jan (IT)") || strings.Contains(all, "dial {number}") || !strings.Contains(all, "baresip") {
		t.Errorf("%s", all)
	}
	if code, _, errOut := run(t, "a secret\n", "provision", "--softphone", "centrale", "--secret-stdin", "--profile", dir); code != 0 {
		t.Errorf("exit %d: %s", code, errOut)
	}
	before := snapshot(t, dir)
	if code, out, errOut := run(t, phrase+"\n", args...); code != 0 || strings.Contains(out, "--softphone") {
		t.Errorf("again: exit %d: %s%s", code, out, errOut)
	}
	if after := snapshot(t, dir); len(after) != len(before) {
		t.Errorf("again: %d files, not %d", len(after), len(before))
	}
}

// TestImportChangesNothing where something is wrong with the file, or the hub does
// not take what is in it.
func TestImportChangesNothing(t *testing.T) {
	file, phrase, h := exported(t)
	other := must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 5, Demo: true}))(t)
	defer other.Close()
	const old = "old-canary"
	must.Do(t, other.SetClientSecret(t.Context(), "office", "1234", old))
	dir := t.TempDir()
	if code, _, errOut := run(t, old+"\n", "provision", "--base-url", other.BaseURL(), "--client-id", "office", "--organisation-code", "1234",
		"--secret-store", "file", "--secret-stdin", "--profile", dir); code != 0 {
		t.Fatal(errOut)
	}
	before := snapshot(t, dir)
	for _, c := range []struct {
		phrase string
		gone   bool // the hub
		want   string
		extra  []string
	}{
		{phrase: phrase + "x", want: "passphrase"},
		{phrase: phrase, gone: true, want: "test failed"},
		{phrase: phrase, extra: []string{"--secret-store", "machine", "--secret-group", "no-such-group"}},
	} {
		must.Do(t, h.Faults().SetGone(c.gone))
		code, out, errOut := run(t, c.phrase+"\n", append([]string{"provision", "--import", file, "--passphrase-stdin", "--profile", dir}, c.extra...)...)
		if code != 1 || !strings.Contains(english(errOut), c.want) || strings.Contains(out+errOut, "canary") {
			t.Errorf("exit %d: %s%s", code, out, errOut)
		}
		if !maps.Equal(snapshot(t, dir), before) {
			t.Errorf("%+v: the profile has changed", c)
		}
	}
	must.Do(t, h.Faults().SetGone(false))
	// And with everything in order it is taken over, and shown beside the old one.
	code, out, errOut := run(t, phrase+"\n", "provision", "--import", file, "--passphrase-stdin", "--profile", dir)
	if code != 0 || !strings.Contains(out, other.BaseURL()) || !strings.Contains(out, h.BaseURL()) {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
}

// english: tests run in whatever language the computer has.
func english(s string) string {
	return strings.NewReplacer("wachtwoordzin", "passphrase", "De proef is mislukt", "The test failed").Replace(s)
}

func TestImportUsage(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--export", "a", "--import", "b"}, {"--import", "a", "--secret-stdin"}, {"--import", "a", "--base-url", "https://a.example"},
		{"--passphrase-stdin"}, {"--test-number", "1"}, {"--import", "a", "--softphone", "x"},
		{"--export", "a", "--passphrase-stdin"}, {"--import", "a", "--test"}, {"--softphone", "x", "--secret-stdin", "--test"},
	} {
		if code, _, _ := run(t, "", append([]string{"provision", "--profile", dir}, args...)...); code != 2 {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	if code, _, _ := run(t, "x", "provision", "--profile", dir, "--import", dir, "--passphrase-stdin"); code != 1 {
		t.Errorf("a folder: exit %d", code)
	}
	if code, _, errOut := run(t, "", "provision", "--profile", dir, "--export", filepath.Join(dir, "x")); code != 1 || errOut == "" {
		t.Errorf("nothing set up: exit %d: %s", code, errOut)
	}
}
