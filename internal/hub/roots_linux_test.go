package hub

import (
	"os"
	"os/exec"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/processtest"
)

// TestSystemRootsAndExtraAuthority checks that a configured file adds to the system's roots and
// removes none. It runs a second process, since the system's roots are read once per process.
func TestSystemRootsAndExtraAuthority(t *testing.T) {
	const system, extra = "HUB_TEST_SYSTEM", "HUB_TEST_EXTRA"
	if !processtest.Alone(t, func(cmd *exec.Cmd) {
		a, b := newAuthority(t, "System", nil), newAuthority(t, "Office", nil)
		one, two := newTLSFake(t, a.server(t)).URL, newTLSFake(t, b.server(t)).URL
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+a.file(t), "SSL_CERT_DIR="+t.TempDir(),
			system+"="+one, extra+"="+two, "HUB_TEST_FILE="+b.file(t))
	}) {
		return
	}
	base, file, other := os.Getenv(system), os.Getenv("HUB_TEST_FILE"), os.Getenv(extra)
	for _, c := range []struct {
		base, file string
		want       contact.Failure
	}{{base, "", ""}, {base, file, ""}, {other, file, ""}, {other, "", contact.CertificateUnknown}} {
		_, err := newClient(t, c.base, func(o *Config) { o.ExtraCAFile = c.file }).Lookup(t.Context(), number)
		if got := contact.FailureOf(err); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
