package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// TestExportWhileASecretWaits: a set-up file holds a secret that the hub takes,
// the new one as soon as it does and the old one until then.
func TestExportWhileASecretWaits(t *testing.T) {
	dir, h := setUp(t)
	const fresh = "fresh-canary-secret"
	code, out, errOut := run(t, fresh+"\n", "provision", "--secret-stdin", "--profile", dir)
	if code != 0 || !strings.Contains(out, "The old secret stays") {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	carry := func(when string, old bool) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "office.wiebelt")
		code, out, errOut := run(t, "", "provision", "--export", file, "--profile", dir)
		if code != 0 || (strings.Contains(errOut, text.Dutch.T(text.SetupOldSecret)) || strings.Contains(errOut, text.English.T(text.SetupOldSecret))) != old || strings.Contains(out+errOut, "canary") {
			t.Fatalf("%s: export: exit %d: %s%s", when, code, out, errOut)
		}
		if code, out, errOut := run(t, out, "provision", "--import", file, "--passphrase-stdin", "--secret-store", "file", "--profile", t.TempDir()); code != 0 {
			t.Errorf("%s: import: exit %d: %s%s", when, code, out, errOut)
		}
	}
	carry("before the hub knows the new one", true)
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", fresh))
	carry("when the hub knows the new one", false)
}
