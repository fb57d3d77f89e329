package numbering

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"

	"wiebelt/internal/testutil/must"
)

var write = flag.Bool("write", false, "write plans.txt from the library")

// TestPlansAreThoseOfTheLibrary checks the plans; with -write it writes them.
func TestPlansAreThoseOfTheLibrary(t *testing.T) {
	want := fromLibrary(t)
	if *write {
		must.Do(t, os.WriteFile("plans.txt", []byte(want), 0o644))
		return
	}
	if plans != want {
		t.Error("plans.txt is of another version of the library: run go test ./internal/core/numbering -run Plans -write")
	}
}

func fromLibrary(t *testing.T) string {
	all := must.Get(phonenumbers.MetadataCollection())(t)
	position := func(m *phonenumbers.PhoneMetadata) int {
		return slices.Index(phonenumbers.GetRegionCodesForCountryCode(int(m.GetCountryCode())), m.GetId())
	}
	metadata := slices.Clone(all.GetMetadata())
	slices.SortFunc(metadata, func(a, b *phonenumbers.PhoneMetadata) int {
		return cmp.Or(cmp.Compare(a.GetCountryCode(), b.GetCountryCode()), cmp.Compare(position(a), position(b)))
	})
	var paragraphs []string
	for _, m := range metadata {
		var b strings.Builder
		line := func(fields ...string) {
			s := strings.Join(fields, "\t")
			if strings.Count(s, "\t") != len(fields)-1 || strings.Contains(s, "\n") {
				t.Fatalf("%s: %q cannot be written", m.GetId(), fields)
			}
			b.WriteString("\n" + s)
		}
		fmt.Fprintf(&b, "%s %d", m.GetId(), m.GetCountryCode())
		if p := m.GetInternationalPrefix(); p != "" {
			line("i", p)
		}
		if p := cmp.Or(m.GetPreferredInternationalPrefix(), m.GetInternationalPrefix()); oneWay.MatchString(p) {
			line("d", p)
		}
		if m.GetNationalPrefixForParsing() != "" {
			line("n", m.GetNationalPrefixForParsing(), m.GetNationalPrefixTransformRule())
		}
		g := m.GetGeneralDesc()
		line("g", joined(g.GetPossibleLengthLocalOnly()), joined(g.GetPossibleLength()), g.GetNationalNumberPattern())
		for _, k := range []*phonenumbers.PhoneNumberDesc{m.GetFixedLine(), m.GetMobile(), m.GetVoip(), m.GetUan(), m.GetTollFree(),
			m.GetPremiumRate(), m.GetSharedCost(), m.GetPersonalNumber(), m.GetPager(), m.GetVoicemail()} {
			if p := k.GetNationalNumberPattern(); p != "" && p != "NA" {
				line("k", joined(k.GetPossibleLength()), k.GetNationalNumberPattern())
			}
		}
		format := func(kind string, f *phonenumbers.NumberFormat) {
			leading, domestic := "", ""
			if l := f.GetLeadingDigitsPattern(); len(l) > 0 {
				leading = l[len(l)-1] // the most detailed
			}
			if rule := f.GetNationalPrefixFormattingRule(); rule != "" {
				domestic = replaceFirst(firstGroup, f.GetFormat(), rule)
			}
			line(kind, leading, f.GetPattern(), f.GetFormat(), domestic)
		}
		for _, f := range m.GetNumberFormat() {
			format("f", f)
		}
		for _, f := range m.GetIntlNumberFormat() {
			format("a", f)
		}
		paragraphs = append(paragraphs, b.String())
	}
	return strings.Join(paragraphs, "\n\n")
}

var (
	firstGroup = regexp.MustCompile(`\$\d`)
	oneWay     = regexp.MustCompile(`^\d+(?:~\d+)?$`)
)

func replaceFirst(what *regexp.Regexp, in, by string) string {
	at := what.FindStringIndex(in)
	return in[:at[0]] + by + in[at[1]:]
}

func joined(numbers []int32) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// TestAsTheLibrary compares reading and writing with the library: the examples of all
// regions, dialled in several ways from several places, and random digits.
func TestAsTheLibrary(t *testing.T) {
	regions := slices.Sorted(maps.Keys(phonenumbers.GetSupportedRegions()))
	if len(regions) < 240 {
		t.Fatalf("%d regions", len(regions))
	}
	for _, region := range regions {
		if Code(region) != phonenumbers.GetCountryCodeForRegion(region) {
			t.Errorf("%s has code %d", region, Code(region))
		}
		for kind := phonenumbers.FIXED_LINE; kind <= phonenumbers.VOICEMAIL; kind++ {
			example := phonenumbers.GetExampleNumberForType(region, kind)
			if example == nil {
				continue
			}
			national, e164 := phonenumbers.GetNationalSignificantNumber(example), phonenumbers.Format(example, phonenumbers.E164)
			for _, dialled := range []string{national, "0" + national, national[1:], e164[1:], onlyDigits(phonenumbers.Format(example, phonenumbers.NATIONAL))} {
				same(t, dialled, region)
			}
			same(t, e164, "US")
			same(t, e164[1:], "US")
			same(t, "00"+e164[1:], "NL")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		dialled := rapid.StringMatching(`\+{0,2}(00?)?(31|32|49|44|1|7|39|800|[0-9]{1,3})?0?[0-9]{0,14}`).Draw(t, "dialled")
		same(t, dialled, rapid.SampledFrom(append(slices.Repeat([]string{"NL"}, len(regions)), regions...)).Draw(t, "from"))
	})
	same(t, strings.Repeat("1", maxInput+1), "NL")
	if Code("nl") != 0 || Code(world) != 0 || Code("") != 0 {
		t.Error("there is a region too many")
	}
}

type tester interface {
	Helper()
	Errorf(string, ...any)
}

func same(t tester, dialled, from string) {
	t.Helper()
	n, ok := Parse(dialled, from)
	p, err := phonenumbers.Parse(dialled, from)
	if possible := err == nil && phonenumbers.IsPossibleNumber(p); ok != possible {
		t.Errorf("%s from %s: is a number: %v, in the library: %v (%v)", dialled, from, ok, possible, err)
		return
	}
	if !ok {
		return
	}
	if v := phonenumbers.IsValidNumber(p); n.Valid() != v {
		t.Errorf("%s from %s: given out: %v, in the library: %v", dialled, from, n.Valid(), v)
	}
	for _, c := range [][3]string{
		{"E.164", n.E164(), phonenumbers.Format(p, phonenumbers.E164)},
		{"domestic", n.Domestic(), phonenumbers.Format(p, phonenumbers.NATIONAL)},
		{"international", n.International(), phonenumbers.Format(p, phonenumbers.INTERNATIONAL)},
	} {
		if c[1] != c[2] {
			t.Errorf("%s from %s: %s is %q, in the library %q", dialled, from, c[0], c[1], c[2])
		}
	}
	// Where there are several ways to dial abroad, the library writes their pattern.
	if n.Code != Code(from) && planOf(from).internationalPrefix != "" {
		if want := phonenumbers.FormatOutOfCountryCallingNumber(p, from); n.DialledFrom(from) != want {
			t.Errorf("%s from %s: is dialled %q, in the library %q", dialled, from, n.DialledFrom(from), want)
		}
	}
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// TestAllPlansAreUsable checks that every expression of the data compiles.
func TestAllPlansAreUsable(t *testing.T) {
	for code := range index().codes {
		for _, p := range plansOf(code) {
			if len(p.general.lengths) == 0 || p.general.lengths[0] < minNational || len(p.kinds) == 0 {
				t.Errorf("%d has no numbers", code)
			}
			all := []expression{p.internationalPrefixes, p.trunkPrefix, p.general.digits}
			for _, k := range p.kinds {
				all = append(all, k.digits)
			}
			for _, f := range slices.Concat(p.formats, p.international) {
				all = append(all, f.leading, f.pattern)
			}
			for _, e := range all {
				if e != nil {
					e()
				}
			}
		}
	}
}
