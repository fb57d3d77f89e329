package localhub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestSyntheticIsTheSameEverywhere checks that a seed gives the same people in every
// process and on every computer. Only their ids differ by hub.
func TestSyntheticIsTheSameEverywhere(t *testing.T) {
	const n = 20_000
	sum, made := sha256.New(), 0
	w := json.NewEncoder(sum)
	for r := range Synthetic(1, n) {
		made++
		must.Do(t, w.Encode(r))
	}
	const want = "dc5327df1187b5e7710284bc4530d03ca21bd35033c87f805305dacad12f0222"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want || made != n {
		t.Errorf("%d contacts with the checksum %s, want %s", made, got, want)
	}
	if slices.EqualFunc(slices.Collect(Synthetic(1, 10)), slices.Collect(Synthetic(2, 10)), func(a, b Record) bool { return a.Contact == b.Contact }) {
		t.Error("the seed changes nothing")
	}
}

// TestSyntheticNumbersAreGivenOnce checks that a number is shared only within a household
// or company, whatever the size of the set.
func TestSyntheticNumbersAreGivenOnce(t *testing.T) {
	last := map[string]int{}
	for seed := range uint64(3) {
		clear(last)
		i := 0
		for r := range Synthetic(seed+4440, 30_000) {
			for _, w := range r.Numbers {
				nine, _ := lastNine(w)
				if at, ok := last[nine]; ok && i-at > 13 {
					t.Fatalf("seed %d: %s of contact %d was given to %d already", seed, nine, i, at)
				}
				last[nine] = i
			}
			i++
		}
	}
}
