package secret

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestMachineStore keeps a secret for the whole computer, encrypted by the system. wine
// has no owners, so nothing there counts as an administrator's; this test does not check
// the folder's owner.
func TestMachineStore(t *testing.T) {
	s := &machineStore{}
	owned := readMachine
	t.Cleanup(func() { readMachine = owned })
	readMachine = os.ReadFile
	ref := hub(t, "https://a.example", "c")
	const canary = "canary-for-the-computer"
	must.Do(t, s.Set(t.Context(), ref, canary))
	t.Cleanup(func() { _ = s.Delete(t.Context(), ref) })
	if v, err := s.Get(t.Context(), ref); v != canary || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	b, err := os.ReadFile(s.path(ref))
	if err != nil || bytes.Contains(b, []byte("canary")) {
		t.Errorf("on the disk as it is: %v", err)
	}
	other := hub(t, "https://b.example", "c")
	must.Do(t, os.WriteFile(filepath.Join(machineDir(), other.digest()+".secret"), b, 0o600))
	if v, err := s.Get(t.Context(), other); v != "" || err == nil {
		t.Errorf("another address got %q", v)
	}
}
