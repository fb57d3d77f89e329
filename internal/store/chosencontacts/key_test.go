package chosencontacts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/testutil/must"
)

func TestWithoutAStoreInMemoryOnly(t *testing.T) {
	for name, refuse := range map[string]func(*fixture){
		"none at all":  func(r *fixture) { r.vault = nil },
		"not here":     func(r *fixture) { r.vault.be(secret.ErrNoStore) },
		"stays locked": func(r *fixture) { r.vault.be(secret.ErrLocked) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, r *fixture) {
				refuse(r)
				r.start()
				r.SetChoice(anna, "c-1")
				r.rest()
				r.is(anna, "c-1")
				r.ForgetChoice(anna, "c-1")
				r.is(anna, "")
				r.SetChoice(anna, "c-2")
				must.Do(t, r.Forget(t.Context(), anna))
				r.is(anna, "")
				r.SetChoice(anna, "c-3")
				r.Configure(false)
				r.is(anna, "")
				r.Configure(true)
				r.SetChoice(anna, "c-4")
				r.again()
				r.rest()
				r.is(anna, "")
				if _, err := os.Stat(filepath.Dir(r.path)); !errors.Is(err, fs.ErrNotExist) {
					t.Error("something was written")
				}
			})
		})
	}
}

// TestUnlockedLater checks that choices made while the secret store was
// locked are kept, and that earlier ones in the file become known again.
func TestUnlockedLater(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice("+31612300001", "c-4")
		time.Sleep(48 * time.Hour)
		r.SetChoice(anna, "c-1")
		r.SetChoice(piet, "c-2")
		r.SetChoice("+31612300000", "c-3")
		r.rest()
		r.end()
		r.vault.be(secret.ErrLocked)
		r.start()
		r.rest()
		r.is(anna, "") // not known yet
		r.SetChoice(anna, "c-9")
		r.ForgetChoice(piet, "c-2")
		r.is(anna, "c-9")
		if err := r.Forget(t.Context(), anna); !errors.Is(err, secret.ErrLocked) {
			t.Errorf("%v, without the key", err)
		}
		must.Do(t, r.ForgetOlder(t.Context(), time.Now().Add(-24*time.Hour)))
		before := r.vault.asked
		r.SetChoice(anna, "c-9")
		r.rest()
		if r.vault.asked > before {
			t.Errorf("a locked store was asked %d times more within its ten minutes", r.vault.asked-before)
		}
		r.vault.be(nil)
		time.Sleep(keyRetry)
		r.rest()
		r.is(anna, "c-9")
		r.is(piet, "")
		r.is("+31612300000", "c-3")
		r.again()
		r.rest()
		r.is(anna, "c-9")
		r.is(piet, "")
		r.is("+31612300000", "c-3")
	})
}

func TestKeyIsGone(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice(anna, "c-1")
		r.rest()
		r.end()
		there := r.vault
		r.vault = nil
		r.start()
		if err := r.Forget(t.Context(), anna); !errors.Is(err, secret.ErrNoStore) {
			t.Errorf("%v, without a store", err)
		}
		r.end()
		r.vault = there
		r.vault.keys[KeyRef()] = "bm8ga2V5"
		r.start()
		r.rest()
		r.is(anna, "")
		if strings.Contains(r.file(), "c-1") {
			t.Error("what nobody can read any more is still there")
		}
		r.SetChoice(anna, "c-2")
		r.again()
		r.rest()
		r.is(anna, "c-2")
	})
}
