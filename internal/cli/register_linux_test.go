package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// desktop is a user's folder that is empty, with the desktop's variables set.
func desktop(t *testing.T) (home, profile string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "share"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_DATA_DIRS", filepath.Join(home, "system"))
	return home, filepath.Join(home, "profile")
}

// TestPrintPlist: what a macOS package needs, on whatever computer it is made,
// and nothing is changed or asked for.
func TestPrintPlist(t *testing.T) {
	home, profile := desktop(t)
	code, out, errOut := run(t, "", "register", "--print-plist", "--profile", profile)
	if code != 0 || errOut != "" {
		t.Fatalf("code %d: %s", code, errOut)
	}
	d := xml.NewDecoder(strings.NewReader(out))
	var texts []string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			if s := strings.TrimSpace(string(c)); s != "" {
				texts = append(texts, s)
			}
		}
	}
	all := strings.Join(texts, "|")
	if !strings.Contains(all, "CFBundleURLTypes|") || !strings.Contains(all, "|CFBundleURLSchemes|wiebelt") || strings.Contains(all, "tel") {
		t.Errorf("%s", all)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRegisterRepair: what was registered and is gone comes back, what never was
// stays away, and tel: is nobody's business.
func TestRegisterRepair(t *testing.T) {
	home, profile := desktop(t)
	start, list := filepath.Join(home, "config", "autostart", "wiebelt.desktop"), filepath.Join(home, "config", "mimeapps.list")
	repair := func(want string) {
		t.Helper()
		code, out, errOut := run(t, "", "register", "--repair", "--profile", profile)
		if code != 0 || out != want {
			t.Errorf("code %d, %q, %q; want %q", code, out, errOut, want)
		}
	}
	repair("nothing that was registered before is lost\n")
	if _, err := os.Stat(list); err == nil {
		t.Fatal("repairing nothing registered something")
	}
	if code, _, errOut := run(t, "", "register", "--profile", profile); code != 0 {
		t.Fatalf("code %d: %s", code, errOut)
	}
	repair("nothing that was registered before is lost\n")
	if err := os.WriteFile(list, []byte("[Default Applications]\nx-scheme-handler/wiebelt=other.desktop;\nx-scheme-handler/tel=phone.desktop;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(home, "share", "applications")); err != nil {
		t.Fatal(err)
	}
	repair("registered again: scheme\n")
	if b, _ := os.ReadFile(list); !strings.Contains(string(b), "x-scheme-handler/wiebelt=wiebelt-link.desktop") || !strings.Contains(string(b), "x-scheme-handler/tel=phone.desktop;\n") {
		t.Errorf("%s", b)
	}
	if err := os.Remove(start); err != nil {
		t.Fatal(err)
	}
	repair("registered again: autostart\n")
	// Taken back on purpose, nothing of it is lost.
	if code, _, errOut := run(t, "", "unregister", "--profile", profile); code != 0 {
		t.Fatalf("code %d: %s", code, errOut)
	}
	repair("nothing that was registered before is lost\n")
	if _, err := os.Stat(start); err == nil {
		t.Error("what was taken back came back")
	}
	if code, _, errOut := run(t, "", "register", "--repair", "--all-users", "--profile", profile); code != exitUsage || errOut == "" {
		t.Errorf("code %d: %s", code, errOut)
	}
}
