package contact

import (
	"slices"
	"strings"
	"testing"
)

// TestOrder: lists go by family name without its prefix, then by the rest.
func TestOrder(t *testing.T) {
	want := []Contact{
		{FamilyName: "Aalst", Prefix: "van", Initials: "Z"},
		{FamilyName: "aalst", Prefix: "zum", Initials: "Z"},
		{FamilyName: "Berg", Initials: "A", Prefix: "van den"},
		{FamilyName: "Berg", Initials: "B"},
		{FamilyName: "Berg", Initials: "B", RelationNumber: "2"},
		{FamilyName: "Bergen", Initials: "A"},
		{FamilyName: "Hart", Prefix: "'t"},
		{FamilyName: "Oud"},
		{FamilyName: "Özdemir"},
		{FamilyName: "Pieters"},
		{FamilyName: "Vries", Prefix: "de"},
		{FamilyName: "Zwart"},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b Contact) int { return strings.Compare(a.SortKey(), b.SortKey()) })
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %s, want %s", i, got[i].Name(), want[i].Name())
		}
	}
}
