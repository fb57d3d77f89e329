package hub

import (
	"os"
	"os/exec"
	"testing"

	"wiebelt/internal/core/contact"
)

// TestSystemRootsAndExtraAuthority checks that a configured file adds to the system's roots and
// removes none. It runs a second process, since the system's roots are read once per process.
func TestSystemRootsAndExtraAuthority(t *testing.T) {
	const system, extra = "HUB_TEST_SYSTEM", "HUB_TEST_EXTRA"
	if base := os.Getenv(system); base != "" {
		ask := func(base, file string) contact.Failure {
			_, err := newClient(t, base, func(c *Config) { c.ExtraCAFile = file }).Lookup(t.Context(), number)
			return contact.FailureOf(err)
		}
		file, other := os.Getenv("HUB_TEST_FILE"), os.Getenv(extra)
		for _, c := range []struct {
			base, file string
			want       contact.Failure
		}{{base, "", ""}, {base, file, ""}, {other, file, ""}, {other, "", contact.CertificateUnknown}} {
			if got := ask(c.base, c.file); got != c.want {
				t.Errorf("%+v: %q", c, got)
			}
		}
		return
	}
	a, b := newAuthority(t, "System", nil), newAuthority(t, "Office", nil)
	one, two := newTLSFake(t, a.server(t)).URL, newTLSFake(t, b.server(t)).URL
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSystemRootsAndExtraAuthority$", "-test.v")
	child.Env = append(os.Environ(), "SSL_CERT_FILE="+a.file(t), "SSL_CERT_DIR="+t.TempDir(), system+"="+one, extra+"="+two, "HUB_TEST_FILE="+b.file(t))
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
