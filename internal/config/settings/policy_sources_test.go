package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
)

// withPolicy makes text the machine's policy for the duration of a test.
func withPolicy(t *testing.T, text string, err error) {
	t.Helper()
	path, read := policyPath, readMachine
	t.Cleanup(func() { policyPath, readMachine = path, read })
	policyPath = func() string { return "/policy/" + PolicyFile }
	readMachine = func(string) ([]byte, error) { return []byte(text), err }
}

func TestPolicyOfSomebodyElse(t *testing.T) {
	withPolicy(t, "", &filetrust.Error{Path: "/policy/" + PolicyFile, Fault: filetrust.FaultWrite})
	s, problems := Load(profile.Dirs{Config: t.TempDir()})
	if len(problems) != 1 || problems[0].Kind != Untrusted || s.Locked("hub.base_url") {
		t.Fatal(problems)
	}
	// Where there is none, nothing is ignored.
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o777))
	if _, err := readAdminFile(filepath.Join(dir, PolicyFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if got := problems[0].Error(); got != "policy.toml: is ignored: "+(&filetrust.Error{Path: "/policy/" + PolicyFile, Fault: filetrust.FaultWrite}).Error() {
		t.Error(got)
	}
}

// TestManagedTypes: machine management supports fewer types than TOML.
func TestManagedTypes(t *testing.T) {
	s := Defaults()
	s.apply(managedLayer(map[string]any{
		"audit":     "eventlog",
		"history":   map[string]any{"days": "14", "choices": int64(0), "keep": "numbers"},
		"phone":     map[string]any{"internal_prefixes": "8, 9", "internal_digits": int64(3)},
		"card":      map[string]any{"fields": []any{"address"}, "full_for": "90s", "corner": int64(4), "hide_from_capture": "true"},
		"line":      map[string]any{"10": map[string]any{"number": "0201234568"}, "2": map[string]any{"number": "0201234567", "name": "Schade"}},
		"softphone": map[string]any{"1": map[string]any{"kind": "baresip", "address": "127.0.0.1:4444"}},
		"nonsense":  "x",
	}))
	if s.Audit != "eventlog" || s.History != (History{Keep: "numbers", Days: 14}) || s.Phone.InternalDigits != 3 ||
		!slices.Equal(s.Phone.InternalPrefixes, []string{"8", "9"}) || !slices.Equal(s.Card.Fields, []string{"address"}) || !s.Card.HideFromCapture {
		t.Errorf("%+v", s)
	}
	if s.LockedBy("card.full_for") == "" {
		t.Error("locked by nobody")
	}
	if len(s.Lines) != 2 || s.Lines[0].Name != "Schade" || len(s.Softphones) != 1 {
		t.Errorf("%+v %+v", s.Lines, s.Softphones)
	}
	var keys []string
	for _, p := range s.Problems() {
		keys = append(keys, p.Key)
		if !p.Managed {
			t.Errorf("%s is said to be in a file", p.Key)
		}
	}
	if !slices.Equal(keys, []string{"card.corner", "nonsense"}) {
		t.Error(keys)
	}
}
