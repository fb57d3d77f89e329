package chosencontacts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/testutil/must"
)

// TestFileGivesNothingAway checks that the file has no number and no key, and only we can read it.
func TestFileGivesNothingAway(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		if r.rest(); r.vault.asked > 0 {
			t.Error("the secret store was asked, though nothing was chosen")
		}
		r.SetChoice(anna, "c-1")
		r.rest()
		text := r.file()
		if !strings.Contains(text, `"contact":"c-1"`) || strings.Contains(text, "612345678") || strings.Contains(text, r.vault.keys[secret.KeyRef(secretName)]) {
			t.Errorf("the file: %s", text)
		}
		if info, err := os.Stat(r.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		// The same number under another key has another hash.
		first := text
		must.Do(t, r.ForgetAll(t.Context()))
		r.SetChoice(anna, "c-1")
		r.rest()
		hash := func(s string) string {
			var c contents
			if err := json.Unmarshal([]byte(s), &c); err != nil || len(c.Choices) != 1 {
				t.Fatalf("%v: %s", err, s)
			}
			return c.Choices[0].Number
		}
		if hash(first) == hash(r.file()) {
			t.Error("the hash does not depend on the key")
		}
	})
}

// TestDamagedFileIsDeleted also checks that the choices start empty again.
func TestDamagedFileIsDeleted(t *testing.T) {
	good := `{"version":1,"key":"AAAAAAAAAAA","choices":[{"number":"` + strings.Repeat("A", 43) + `","contact":"c","used":1}]}`
	for name, text := range map[string]string{
		"empty":        "",
		"cut off":      good[:len(good)/2],
		"not ours":     `[1,2]`,
		"no key":       strings.Replace(good, "AAAAAAAAAAA", "", 1),
		"short hash":   strings.Replace(good, "AAAA\",\"contact", "\",\"contact", 1),
		"no contact":   strings.Replace(good, `"c"`, `""`, 1),
		"long contact": strings.Replace(good, `"c"`, `"`+strings.Repeat("c", 300)+`"`, 1),
		"version 0":    strings.Replace(good, "1", "0", 1),
		"huge":         `{"version":1,"key":"k","choices":[` + strings.Repeat(" ", maxFile) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, r *fixture) {
				must.Do(t, os.MkdirAll(filepath.Dir(r.path), 0o700))
				must.Do(t, os.WriteFile(r.path, []byte(text), 0o600), os.WriteFile(r.path+".damaged", nil, 0o600))
				r.start()
				r.rest()
				if left := must.Get(os.ReadDir(filepath.Dir(r.path)))(t); len(left) > 0 {
					t.Fatalf("left: %v", left)
				}
				r.SetChoice(anna, "c-1")
				r.again()
				r.rest()
				r.is(anna, "c-1")
			})
		})
	}
}

func TestNewerFileIsLeftAlone(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		text := `{"version":2,"other":true}`
		must.Do(t, os.MkdirAll(filepath.Dir(r.path), 0o700))
		must.Do(t, os.WriteFile(r.path, []byte(text), 0o600))
		r.start()
		r.SetChoice(anna, "c-1")
		r.is(anna, "c-1")
		r.rest()
		if r.Forget(t.Context(), piet) == nil || r.ForgetOlder(t.Context(), time.Now()) == nil {
			t.Error("said deleted, and was not")
		}
		r.again()
		if r.file() != text {
			t.Errorf("the file: %s", r.file())
		}
		must.Do(t, r.ForgetAll(t.Context()))
		r.SetChoice(anna, "c-1")
		r.rest()
		r.again()
		r.rest()
		r.is(anna, "c-1")
	})
}
