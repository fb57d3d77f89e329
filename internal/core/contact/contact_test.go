package contact

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestOrder: lists sort by family name without its prefix, then by the rest.
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
	got = Sorted(got)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %s, want %s", i, got[i].Name(), want[i].Name())
		}
	}
}

// TestNames checks that names are written as in Dutch letters.
func TestNames(t *testing.T) {
	for _, c := range []struct{ initials, prefix, family, want string }{
		{"B.M.", "van den", "Heuvel", "B.M. van den Heuvel"},
		{"JP", "", "Vries", "J.P. Vries"}, {" J P ", "de", "Vries", "J.P. de Vries"}, {"ÉÖ", "", "Vries", "É.Ö. Vries"},
		{"ABCDEF", "", "Vries", "A.B.C.D.E.F. Vries"}, {"ABCDEFG", "", "Vries", "ABCDEFG Vries"}, {"JP.", "", "Vries", "JP. Vries"},
		{"Jan", "de", "Vries", "Jan de Vries"},
		{"", "van der", "Berg", "Van der Berg"}, {"", "ö", "Berg", "Ö Berg"}, {"", "", "Vries", "Vries"},
		{"J", "", "", "J."}, {"", "", " ", ""},
	} {
		if got := (Contact{Initials: c.initials, Prefix: c.prefix, FamilyName: c.family}).Name(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestAddresses checks that addresses are written as on an envelope, without missing parts.
func TestAddresses(t *testing.T) {
	for want, a := range map[string]Address{
		"Kade 12 A, 1011 AB Amsterdam | Kade 12 A, Amsterdam": {"Kade", "12", "A", "1011ab", "Amsterdam", "nl"},
		"Kade 12, 1011 AB Amsterdam | Kade 12, Amsterdam":     {"Kade", "12", " ", "1011 AB", "Amsterdam", ""},
		"Kaai 1, 2000 Antwerpen, BE | Kaai 1, Antwerpen":      {"Kaai", "1", "", "2000", "Antwerpen", "BE"},
		"Weg, 1011A9 Stad | Weg, Stad":                        {"Weg", "", "", "1011A9", "Stad", ""},
		"10111B, RU | ":                                       {"", "", "", "10111B", "", "RU"},
		"0111AB | ":                                           {"", "", "", "0111AB", "", ""},
		" | ":                                                 {},
	} {
		if got := a.Line() + " | " + a.ShortLine(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRelationNumbers(t *testing.T) {
	for in, want := range map[string]string{"": "", "123": "123", "1234": "1 234", "100200": "100 200", "1234567": "1 234 567", "12A456": "12A456", "12/456": "12/456", "12:456": "12:456"} {
		if got := GroupDigits(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if (CodedValue{"7", "Jansen"}).Text() != "Jansen" || (CodedValue{Code: "7"}).Text() != "7" {
		t.Error("a code stands before its description, or nothing where there is none")
	}
}

// TestFailures: any error is a failure, and every failure identifies itself.
func TestFailures(t *testing.T) {
	slow := &LookupError{Failure: HubSlow, Detail: "token"}
	if slow.Error() != "lookup: hub_slow: token" || (&LookupError{Failure: HubSlow}).Error() != "lookup: hub_slow" {
		t.Error(slow)
	}
	for want, err := range map[Failure]error{"": nil, HubError: errors.New("x"), HubSlow: fmt.Errorf("wrapped: %w", slow)} {
		if got := FailureOf(err); got != want {
			t.Errorf("%v is %q", err, got)
		}
	}
}
