package cli

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/localhub"
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
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// exported is a set-up file of a profile that works, and its hub.
func exported(t *testing.T) (file, phrase string, h *localhub.Hub) {
	t.Helper()
	dir, h := setUp(t)
	f, err := os.OpenFile(filepath.Join(dir, "settings.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\n[support]\ncontact = \"Jan (IT), toestel 140\"\n[phone]\ncall_back = \"dial {number}\"\n[[line]]\nnumber = \"0201234567\"\nname = \"Schade\"\n[[softphone]]\nkind = \"baresip\"\n[[softphone]]\nkind = \"ari\"\nname = \"centrale\"\naddress = \"https://pbx.example\"\nuser = \"u\"\nextension = \"101\"\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
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

// TestImportChangesNothing where something is wrong, in whichever step.
func TestImportChangesNothing(t *testing.T) {
	file, phrase, h := exported(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other, err := localhub.Start(context.Background(), localhub.Config{Synthetic: 5, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	const old = "old-canary"
	if err := other.SetClientSecret(t.Context(), "office", "1234", old); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if code, _, errOut := run(t, old+"\n", "provision", "--base-url", other.BaseURL(), "--client-id", "office", "--organisation-code", "1234",
		"--secret-store", "file", "--secret-stdin", "--profile", dir); code != 0 {
		t.Fatal(errOut)
	}
	before := snapshot(t, dir)
	const awkward = "p@ss+/=% canary"
	client := func(organisation string) func() {
		return func() {
			if err := h.SetClientSecret(t.Context(), "office", organisation, awkward); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct {
		name, phrase string
		file         []byte
		extra        []string
		spoil, mend  func()
		want         string
	}{
		{name: "wrong passphrase", phrase: phrase + "x", file: whole, want: "passphrase"},
		{name: "cut", phrase: phrase, file: whole[:len(whole)-7], want: "cut off"},
		{name: "empty", phrase: phrase, want: "cut off"},
		{name: "credentials", phrase: phrase, file: whole, spoil: func() { h.Faults().RefuseCredentials(true) }, mend: func() { h.Faults().RefuseCredentials(false) }, want: "test failed"},
		{name: "hub gone", phrase: phrase, file: whole, spoil: func() { _ = h.Faults().SetGone(true) }, mend: func() { _ = h.Faults().SetGone(false) }, want: "test failed"},
		{name: "scopes", phrase: phrase, file: whole, spoil: client("9999"), mend: client("1234"), want: "test failed"},
		{name: "lookup", phrase: phrase, file: whole, extra: []string{"--test-number", "0698760011"},
			spoil: func() { h.Faults().Set(localhub.AtLookup, localhub.Fault{Status: 500}) }, mend: func() { h.Faults().Clear(localhub.AtLookup) }, want: "test failed"},
		{name: "a store that refuses", phrase: phrase, file: whole, extra: []string{"--secret-store", "machine", "--secret-group", "no-such-group"}, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(file, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				c.spoil()
				defer c.mend()
			}
			code, out, errOut := run(t, c.phrase+"\n", append([]string{"provision", "--import", file, "--passphrase-stdin", "--profile", dir}, c.extra...)...)
			if code != 1 || !strings.Contains(english(errOut), c.want) || strings.Contains(out+errOut, "canary") {
				t.Errorf("exit %d: %s%s", code, out, errOut)
			}
			for path, b := range snapshot(t, dir) {
				if before[path] != b {
					t.Errorf("%s has changed", filepath.Base(path))
				}
			}
			if n := len(snapshot(t, dir)); n != len(before) {
				t.Errorf("%d files, not %d", n, len(before))
			}
		})
	}
	// And with everything in order it is taken over, and shown beside the old one.
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := run(t, phrase+"\n", "provision", "--import", file, "--passphrase-stdin", "--profile", dir)
	if code != 0 || !strings.Contains(out, other.BaseURL()) || !strings.Contains(out, h.BaseURL()) {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
}

// english: tests run in whatever language the computer has.
func english(s string) string {
	return strings.NewReplacer("wachtwoordzin", "passphrase", "afgekapt", "cut off", "De proef is mislukt", "The test failed").Replace(s)
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
