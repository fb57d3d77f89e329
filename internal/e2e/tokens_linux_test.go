package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

var callAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/v1/call/[\w-]{43}`)

// TestTokensAreRenewed checks that new tokens are valid within seconds while Wiebelt runs,
// and the old ones no longer are. Damaging the file while it runs has no effect; if the
// tokens are damaged at its start, this is reported and they are replaced without a restart.
func TestTokensAreRenewed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	address := func(args ...string) string {
		t.Helper()
		out, err := o.wiebelt(append([]string{"settings"}, args...)...).CombinedOutput()
		a := callAddress.FindString(string(out))
		if err != nil || a == "" {
			t.Fatalf("%v: %v", args, err)
		}
		return a
	}
	ring := func(address string) int {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address+"?number=0698760011&state=ended", nil))(t)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0 // the listener is just restarting
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	old := address("--ways-in")
	if got := ring(old); got != http.StatusNoContent {
		t.Fatalf("the first token: %d", got)
	}
	pid, socket := o.at().PID, o.at().Token
	fresh := address("--renew-tokens")
	if fresh == old {
		t.Fatal("the same token")
	}
	o.Until("the new token holds", func() bool { return ring(fresh) == http.StatusNoContent })
	if got := ring(old); got != http.StatusUnauthorized {
		t.Errorf("the old token: %d", got)
	}
	o.Until("listener.json tells the new one", func() bool {
		b, _ := os.ReadFile(o.announced())
		return len(b) > 0 && !strings.Contains(string(b), socket)
	})
	if o.at().PID != pid {
		t.Error("another program")
	}

	// Damaged while it runs: the tokens that phones have keep working.
	path := filepath.Join(o.profile, "tokens.json")
	must.Do(t, os.WriteFile(path, []byte("{}"), 0o600))
	o.Until("it is noticed", func() bool { return strings.Contains(o.log.String(), "the listener's tokens") })
	if got := ring(fresh); got != http.StatusNoContent {
		t.Errorf("with a damaged file: %d", got)
	}

	// Damaged at the start.
	o.stop()
	o.resident = o.wiebelt("run", "--background")
	o.resident.Stdout, o.resident.Stderr = o.log, o.log
	if err := o.resident.Start(); err != nil { // ended by the cleanup of the first one
		t.Fatal(err)
	}
	o.Until("the doctor tells of it", func() bool {
		r, _ := o.doctor()
		return states(r, "listener") == "fail"
	})
	mended := address("--renew-tokens")
	o.Until("the listener runs again", func() bool { return ring(mended) == http.StatusNoContent })
}
