package winres

import (
	"bytes"
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestPrograms builds the Windows programs and reads them back: what the system
// decides before they run, and whether a console comes with them.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		program, flags string
		subsystem      uint16
	}{
		"wiebelt.exe":       {"wiebelt-console", "-s -w", pe.IMAGE_SUBSYSTEM_WINDOWS_CUI},
		"wiebeltw.exe":      {"wiebelt", "-s -w -H=windowsgui", pe.IMAGE_SUBSYSTEM_WINDOWS_GUI},
		"wiebelt-ringw.exe": {"wiebelt-ring", "-s -w -H=windowsgui", pe.IMAGE_SUBSYSTEM_WINDOWS_GUI},
		"wiebelt-relay.exe": {"wiebelt-relay", "-s -w", pe.IMAGE_SUBSYSTEM_WINDOWS_CUI},
	} {
		exe := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-tags", "migrated_fynedo,no_emoji", "-ldflags", c.flags, "-o", exe, "./app/"+c.program)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f := must.Get(pe.Open(exe))(t)
		defer f.Close()
		h, ok := f.OptionalHeader.(*pe.OptionalHeader64)
		if !ok || h.Subsystem != c.subsystem {
			t.Errorf("%s: subsystem %d, want %d", name, h.Subsystem, c.subsystem)
		}
		s := f.Section(".rsrc")
		if s == nil {
			t.Fatalf("%s has no resources", name)
		}
		b := must.Get(s.Data())(t)
		check(t, name, b)
	}
}

// TestOneVersion checks that the three files with the version have the same one.
func TestOneVersion(t *testing.T) {
	toml, err := os.ReadFile("../../FyneApp.toml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(toml), "\nVersion = \"")
	version, _, _ := strings.Cut(rest, "\"")
	if version == "" {
		t.Fatal("FyneApp.toml has no version")
	}
	for file, want := range map[string]string{
		"versioninfo.json": `"ProductVersion": "` + version + `"`,
		"wiebelt.manifest": `name="nl.wiebelt.companion" version="` + version + `.0"`,
	} {
		b := must.Get(os.ReadFile(file))(t)
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is of another version than %s", file, version)
		}
	}
}

func check(t *testing.T, name string, b []byte) {
	t.Helper()
	for _, want := range []string{"PerMonitorV2", "asInvoker", "<activeCodePage", ">UTF-8<", "8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a"} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s: the manifest lacks %s", name, want)
		}
	}
	if !bytes.Contains(b, []byte("\x89PNG")) {
		t.Errorf("%s has no icon", name)
	}
}
