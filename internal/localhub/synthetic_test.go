package localhub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
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
	if slices.EqualFunc(slices.Collect(Synthetic(1, 10)), slices.Collect(Synthetic(2, 10)), func(a, b Record) bool { return a.Contact == b.Contact }) {
		t.Error("the seed changes nothing")
	}
}

func TestSyntheticHasEveryKind(t *testing.T) {
	const n = 3000
	all := slices.Collect(Synthetic(1, n))
	if len(all) != n {
		t.Fatalf("%d made", len(all))
	}
	on, relations, seen := map[string]int{}, map[string]bool{}, map[string]int{}
	tally := func(what string, yes bool) {
		if yes {
			seen[what]++
		}
	}
	for _, r := range all {
		if r.FamilyName == "" || r.Initials == "" || r.Address.City == "" || r.Producer.Code == "" || len(r.Numbers) == 0 || r.ID != "" {
			t.Fatalf("not whole: %+v", r)
		}
		if relations[r.RelationNumber] || strings.Trim(r.RelationNumber, "0123456789") != "" {
			t.Fatalf("relation number %q", r.RelationNumber)
		}
		relations[r.RelationNumber] = true
		for _, w := range r.Numbers {
			nine, ok := lastNine(w)
			if !ok || nine == unusedNumber {
				t.Fatalf("number %q", w)
			}
			on[nine]++
			tally("mobile", nine[0] == '6')
			tally("088", strings.HasPrefix(nine, "88"))
			tally("landline", nine[0] != '6' && !strings.HasPrefix(nine, "88"))
		}
		tally("no addition", r.Address.Addition == "")
		tally("addition", r.Address.Addition != "")
		tally("no country", r.Address.Country == "")
		tally("abroad", r.Address.Country == "BE" || r.Address.Country == "DE")
		tally("hyphen", strings.Contains(r.FamilyName, "-"))
		tally("no prefix", r.Prefix == "")
		tally(r.Prefix, true)
	}
	for _, c := range on {
		tally(map[bool]string{true: "shared", false: "alone"}[c > 1], true)
		tally("by three", c == 3)
		tally("by many", c > 5)
	}
	for _, what := range []string{"mobile", "088", "landline", "no addition", "addition", "no country", "abroad", "hyphen", "no prefix", "shared", "alone", "by three", "by many", "van der", "de", "van 't", "in 't"} {
		if seen[what] < 5 {
			t.Errorf("%s: only %d", what, seen[what])
		}
	}
	if on[firstNumber[1:]] != 1 || on[familyNumber[1:]] != 3 {
		t.Errorf("samples: %d and %d", on[firstNumber[1:]], on[familyNumber[1:]])
	}
}

// TestSyntheticNumbersAreGivenOnce: a number is shared only within a household
// or company, whatever the size of the set.
func TestSyntheticNumbersAreGivenOnce(t *testing.T) {
	last := map[string]int{}
	for seed := range uint64(3) {
		clear(last)
		i := 0
		for r := range Synthetic(seed+4440, 60_000) {
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
