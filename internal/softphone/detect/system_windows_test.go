package detect

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
)

// TestBaresipOnWindows: baresip's settings are found where Windows programs keep
// theirs, and its port is not probed, since that would disconnect its client.
func TestBaresipOnWindows(t *testing.T) {
	dir := must.Get(os.MkdirTemp("", ""))(t) // wine cannot remove it the way t.TempDir does
	t.Setenv("APPDATA", dir)
	must.Do(t, os.Mkdir(filepath.Join(dir, ".baresip"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, ".baresip", "config"), []byte("module_app ctrl_tcp.dll\r\n"), 0o600))
	s := ThisSystem()
	s.Processes = func() []Process { return []Process{{"baresip.exe", nil}} }
	s.Listens = func(_ context.Context, at netip.AddrPort) bool {
		if at.Port() == baresipPort {
			t.Error("its port was tried")
		}
		return false
	}
	if got := Find(t.Context(), s); !slices.Contains(got, Phone{Kind: registry.Baresip, Address: "127.0.0.1:4444"}) {
		t.Errorf("%+v", got)
	}
}
