package localhub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// TestSyntheticIsTheSameEverywhere: the people that a seed stands for are the
// same in every process and on every computer. Only their ids are made by each
// hub.
func TestSyntheticIsTheSameEverywhere(t *testing.T) {
	const n = 100_000
	sum, made := sha256.New(), 0
	w := json.NewEncoder(sum)
	for r := range Synthetic(1, n) {
		made++
		if err := w.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	const want = "3a1e7076a933834bae974161774eb052e4a2a8b660aeb614414ff21d1a09e2ee"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want || made != n {
		t.Errorf("%d contacts with the checksum %s, want %s", made, got, want)
	}
}
