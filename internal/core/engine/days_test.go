package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// days is how many random days of calls are played.
const days = 10_000

// TestDays plays days on which calls overlap, up to eight and more at once, and
// holds every snapshot against the order of calls: as stories, but very many, and
// one that is wrong is not made shorter.
func TestDays(t *testing.T) {
	kinds := append(slices.Clone(deeds), "ring", "ring", "ring", "answer", "hotkey", "hotkey", "close", "unfold")
	var mu sync.Mutex
	saw := map[string]int{}
	workers := runtime.GOMAXPROCS(0)
	t.Run("days", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				for seed := w; seed < days; seed += workers {
					r := rand.New(rand.NewPCG(uint64(seed), 14))
					story := make([]play, 12+r.IntN(28))
					for i := range story {
						story[i] = play{kinds[r.IntN(len(kinds))], r.IntN(120), r.IntN(120), r.IntN(120)}
					}
					wrong, s := playStory(t, seed%2 == 0, story)
					if wrong != "" {
						t.Fatalf("day %d: %s", seed, wrong)
					}
					mu.Lock()
					for k, n := range s {
						if saw[k] += n; k == "calls at once" {
							saw[k] = max(saw[k]-n, n)
						}
					}
					mu.Unlock()
				}
			})
		}
	})
	for _, k := range []string{"aside", "lines", "taken back", "Enter", "back by hotkey", "held", "two ways"} {
		if saw[k] < days/100 {
			t.Errorf("%d times in %d days: %s", saw[k], days, k)
		}
	}
	if saw["calls at once"] < MaxShown {
		t.Errorf("never more than %d calls at once", saw["calls at once"])
	}
	t.Logf("%d days with %v", days, saw)
}
