package chosencontacts

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"wiebelt/internal/config/secret"
)

// TestAgainstAModel compares a Store with a plain map through every kind of event.
func TestAgainstAModel(t *testing.T) {
	type step struct {
		Do   string
		N, C int
		Wait time.Duration
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom([]string{"chose", "chose", "chose", "not", "forget", "older", "restart", "lock", "unlock", "all"}).Draw(t, "do"),
			rapid.IntRange(0, 4).Draw(t, "n"), rapid.IntRange(0, 2).Draw(t, "c"),
			time.Duration(rapid.IntRange(0, 1000).Draw(t, "h")) * time.Hour,
		}
	}), 1, 40)
	rapid.Check(t, func(rt *rapid.T) {
		story := steps.Draw(rt, "story")
		var said string
		in(t, func(t *testing.T, r *fixture) {
			type made struct {
				contact string
				at      time.Time
				disk    bool // it is or will be in the file: the store has been open since
			}
			model := map[string]made{}
			locked := false
			r.start()
			r.rest()
			for i, s := range story {
				n, c := fmt.Sprint("+3120000000", s.N), fmt.Sprint("c", s.C)
				switch s.Do {
				case "chose":
					r.SetChoice(n, c)
					model[n] = made{c, time.Now(), false}
				case "not":
					r.ForgetChoice(n, c)
					if model[n].contact == c {
						delete(model, n)
					}
				case "forget":
					if err := r.Forget(t.Context(), n); err == nil {
						delete(model, n)
					} else if !locked {
						said = fmt.Sprintf("step %d: %v", i, err)
						return
					}
				case "older":
					limit := time.Now().Add(-s.Wait)
					if err := r.ForgetOlder(t.Context(), limit); err != nil {
						said = fmt.Sprintf("step %d: %v", i, err)
						return
					}
					for n, m := range model {
						if m.at.Before(limit) {
							delete(model, n)
						}
					}
				case "all":
					if err := r.ForgetAll(t.Context()); err != nil && !locked {
						said = fmt.Sprintf("step %d: %v", i, err)
						return
					}
					clear(model)
				case "lock":
					locked = true
					r.vault.be(secret.ErrLocked)
				case "unlock", "restart":
					if s.Do == "restart" && !locked {
						r.again()
					}
					locked = false
					r.vault.be(nil)
					time.Sleep(keyRetry)
				}
				r.rest()
				time.Sleep(s.Wait)
				synctest.Wait()
				for i := range 5 {
					n := fmt.Sprint("+3120000000", i)
					m := model[n]
					want := m.contact
					if time.Since(m.at) >= KeepFor {
						want = ""
					}
					if got, _ := r.LastChoice(n); got != want {
						said = fmt.Sprintf("step %d %+v: %s is %q, want %q", i, s, n, got, want)
						return
					}
				}
			}
		})
		if said != "" {
			rt.Fatal(said)
		}
	})
}
