package hubwatch

import (
	"context"
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
)

// TestAnotherSecretIsTried: once, and only while the hub refuses the one there was;
// the end of the trouble is told.
func TestAnotherSecretIsTried(t *testing.T) {
	dirs, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	of := settings.Defaults().Hub
	of.BaseURL, of.ClientID, of.SecretStore = "https://hub.example/rpc", "office", secret.KindFile
	store, err := secret.Open(of.SecretStore, dirs)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := secret.Hub(of.BaseURL, of.ClientID)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Bool
		news := 0
		w := NewHub(HubParams{Changed: func() { news++ }}, &HubSeen{})
		s := Secret{Dirs: dirs, Hub: w, Of: func() settings.Hub { return of }, Failure: func() contact.Failure {
			if refused.Load() {
				return contact.CredentialsRefused
			}
			return ""
		}}
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); s.Run(ctx) }()
		defer func() { cancel(); <-over }()
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
			if err := store.Set(t.Context(), ref, value); err != nil {
				t.Fatal(err)
			}
		}
		set("first")
		if n := looks(); n != 0 {
			t.Errorf("%d looks without trouble", n)
		}
		refused.Store(true)
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
		for _, mode := range []os.FileMode{0o644, 0o600} { // others may read it, and no longer
			files, _ := filepath.Glob(filepath.Join(dirs.Config, "secrets", "*"))
			for _, f := range files {
				if err := os.Chmod(f, mode); err != nil {
					t.Fatal(err)
				}
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
