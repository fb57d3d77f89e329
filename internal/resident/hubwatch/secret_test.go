package hubwatch

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

// TestAnotherSecretIsTried checks that a new secret is tried once, and only while the hub
// refuses the current one, and that the recovery is reported.
func TestAnotherSecretIsTried(t *testing.T) {
	dirs := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, dirs.Make())
	of := settings.Defaults().Hub
	of.BaseURL, of.ClientID, of.SecretStore = "https://hub.example/rpc", "office", secret.KindFile
	store := secret.Open(of.SecretStore, dirs)
	ref := must.Get(secret.HubRef(of.BaseURL, of.ClientID))(t)
	synctest.Test(t, func(t *testing.T) {
		var refused, addressed atomic.Bool
		news := 0
		w := NewHub(HubParams{Changed: func() { news++ }}, &HubState{})
		s := SecretWatcher{Dirs: dirs, Hub: w, HubSettings: func() settings.Hub {
			if !addressed.Load() {
				return settings.Hub{SecretStore: of.SecretStore}
			}
			return of
		}, Failure: func() contact.Failure {
			if refused.Load() {
				return contact.CredentialsRefused
			}
			return ""
		}}
		must.Run(t, s.Run)
		looks := func() int { // since the last time
			time.Sleep(3 * secretEvery)
			synctest.Wait()
			n := len(w.wake)
			for range n {
				<-w.wake
			}
			return n
		}
		set := func(value string) {
			must.Do(t, store.Set(t.Context(), ref, value))
		}
		set("first")
		if n := looks(); n != 0 {
			t.Errorf("%d looks without trouble", n)
		}
		refused.Store(true)
		looks() // no address is set yet
		addressed.Store(true)
		if n := looks(); n != 1 { // whatever is there is tried once
			t.Errorf("%d looks at the first secret", n)
		}
		if n := looks(); n != 0 {
			t.Errorf("%d looks at the same secret", n)
		}
		set("second")
		if n := looks(); n != 1 {
			t.Errorf("%d looks at another secret", n)
		}
		for _, mode := range []os.FileMode{0o644, 0o600} { // readable by others, then no longer
			files, _ := filepath.Glob(filepath.Join(dirs.Config, "secrets", "*"))
			for _, f := range files {
				must.Do(t, os.Chmod(f, mode))
			}
			if n := looks(); runtime.GOOS != "windows" && n != 1 {
				t.Errorf("%d looks at a secret with mode %o of %d files", n, mode, len(files))
			}
		}
		refused.Store(false)
		if looks(); news != 1 {
			t.Errorf("the end of the trouble was told %d times", news)
		}
	})
}
