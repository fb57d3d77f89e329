package phone

import (
	"strings"
	"testing"

	"wiebelt/internal/core/address"
	"wiebelt/internal/testutil/must"
)

func rules(t testing.TB) *Rules {
	t.Helper()
	r, err := NewRules(Config{Region: "NL", InternalDigits: 4, InternalPrefixes: []string{"*8", "020777"},
		NeverLookup: []string{"0612340000"}, Lines: []Line{{"020 765 43 21", "Schade"}}})
	must.Do(t, err)
	return r
}

// TestForms reads every form of a number that softphones are known to send.
func TestForms(t *testing.T) {
	r := rules(t)
	for _, c := range []struct {
		raw, name string
		kind      Kind
		query     string
		shown     string
		copied    string
	}{
		{"0612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"+31612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{" 31612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"+31 6 1234 5678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"0031612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"+31 (0)6-12345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"020/1234567", "", External, "+31201234567", "020 123 45 67", "0201234567"},
		{"0475 121212", "", External, "+31475121212", "0475 12 12 12", "0475121212"},
		{"0881234567", "", External, "+31881234567", "088 123 45 67", "0881234567"},
		{"tel:+31-6-1234-5678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"TEL:+31612345678;ext=12", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"tel:0612345678;phone-context=+31", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sip:+31612345678@127.0.0.1:5070;user=phone", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sips:0612345678@pbx", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sip:%2B31612345678@pbx", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sip:+31612345678;ext=12;phone-context=x@pbx;user=phone", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{`"J. de Vries" <sip:+31612345678@127.0.0.1>;tag=x`, "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"callto://0612345678/", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"+49 30 12345678", "", External, "+493012345678", "+49 30 12345678", "00493012345678"},
		{" 4930123456", "", External, "+4930123456", "+49 30 123456", "004930123456"},
		{"tel: 4930123456", "", External, "+4930123456", "+49 30 123456", "004930123456"},
		{" 0612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{" 101", "", Internal, "", "101", "101"},
		{"681721234", "", External, "+31681721234", "06 81 72 12 34", "0681721234"}, // also of Wallis and Futuna
		{" 681721234", "", External, "+681721234", "+681 72 12 34", "00681721234"},
		{"31612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"+31612340000", "", External, "", "06 12 34 00 00", "0612340000"}, // never looked up
		{"4930123456789", "", External, "+4930123456789", "+49 30 123456789", "004930123456789"},
		{"0031(0)612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"tel:1234567;phone-context=+3120", "", External, "+31201234567", "020 123 45 67", "0201234567"},
		{"tel:0201234567;phone-context=+3120", "", External, "+31201234567", "020 123 45 67", "0201234567"},
		{"tel:101;phone-context=+31", "", Internal, "", "101", "101"},
		{"tel:0612345678;isub=1411;postd=pp22", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sip:+31612345678;npdi;rn=+31600000000;cic=1;verstat=TN-Validation-Passed@pbx", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sip:0612345678:password@pbx", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"sip:%2b31612345678%40pbx@gateway", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{`"a \" <+31611111111>" <sip:+31612345678@pbx>;x="<0622222222>"`, "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"\u202a+31 6 12345678\u202c", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"06\u201112345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"0612345678,,123#", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"06-12345678 ext. 12", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"*31*0612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"#31#0612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"tel:+31612345678;phone-context=+32", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"0676012345", "", External, "+31676012345", "0676 01 23 45", "0676012345"},
		{"32470123456", "", External, "+32470123456", "+32 470 12 34 56", "0032470123456"},
		{"callto:+31612345678", "", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"Unknown <sip:0612345678@pbx>", "Onbekend", External, "+31612345678", "06 12 34 56 78", "0612345678"},
		{"101", "", Internal, "", "101", "101"},
		{"sip:101@pbx", "", Internal, "", "101", "101"},
		{"tel:101;phone-context=example.com", "", Internal, "", "101", "101"},
		{"1440@host", "", Internal, "", "1440", "1440"},
		{"*8123", "", Internal, "", "*8123", "*8123"},
		{"0207770101", "", Internal, "", "0207770101", "0207770101"},
		{"+31207770101", "", Internal, "", "0207770101", "0207770101"},
		{"0031 20 777 01 01", "", Internal, "", "0207770101", "0207770101"},
		{"0800 1234", "", Short, "", "0800 12 34", "08001234"},
		{"112", "", Short, "", "112", "112"},
		{"14020", "", Short, "", "14020", "14020"},
		{"012345", "", Short, "", "0123 45", "012345"},
		{"+31 14020", "", Short, "", "14020", "14020"},
		{"0031140297", "", Short, "", "140297", "140297"},
		{"12345678", "", Short, "", "12345678", "12345678"},
		{"+31 800 1234", "", Short, "", "0800 12 34", "08001234"},
		{"+101", "", Short, "", "+101", "101"},
		{"144", "", Short, "", "144", "144"},
		{"0", "", Short, "", "0", "0"},
		{"000", "", Short, "", "000", "000"},
		{"*31*", "", Short, "", "*31*", "*31*"},
		{"*21", "", Short, "", "*21", "*21"},
		{"*21*0612345678#", "", Short, "", "*21*0612345678#", "*21*0612345678#"},
		{"020 765 43 21", "", OwnLine, "", "020 765 43 21", "0207654321"},
		{"+31207654321", "", OwnLine, "", "020 765 43 21", "0207654321"},
		{"", "", Withheld, "", "", ""},
		{"anonymous", "", Withheld, "", "", ""},
		{"sip:anonymous@anonymous.invalid", "Anonymous", Withheld, "", "", ""},
		{"sip:unavailable@unknown.invalid", "+31612345678", Withheld, "", "", ""},
		{"sip:+31612345678@anonymous.invalid", "", Withheld, "", "", ""},
		{"sip:c8oqz84zk7z@privacy.example", "Anonymous", Withheld, "", "", ""},
		{"Onbekend", "", Withheld, "", "", ""},
		{"<unknown>", "", Withheld, "", "", ""},
		{"0000", "", Withheld, "", "", ""},
		{"0000000000", "", Withheld, "", "", ""},
		{`"Anonymous" <sip:c8oqz84zk7z@privacy.example>`, "", Withheld, "", "", ""},
		{`"Anonymous" <sip:+31612345678@pbx>`, "", Withheld, "", "", ""},
		{`"\Ano\nymous" <sip:0612345678@pbx>`, "", Withheld, "", "", ""},
		{"0612345678", "Privénummer", Withheld, "", "", ""},
		{"sip:c8oqz84zk7z@pbx", "Unavailable", Withheld, "", "", ""},
		{"<Anonymous>", "", Withheld, "", "", ""},
		{"RESTRICTED", "", Withheld, "", "", ""},
		{"OUTOFAREA", "", Withheld, "", "", ""},
		{"Presentation Prohibited, Not Screened", "", Withheld, "", "", ""},
		{"sip:@pbx", "", Withheld, "", "", ""},
		{"sip:192.168.1.10", "", Withheld, "", "", ""},
		{"192.168.1.10:5060", "", Withheld, "", "", ""},
		{"sip:[2001:db8::1]", "", Withheld, "", "", ""},
		{"callto://10.0.0.1:1503/mail", "", Withheld, "", "", ""},
		{`"Jan" <>`, "", Withheld, "", "", ""},
		{"sip:receptie@pbx", "Receptie", NoNumber, "", "receptie", ""},
		{"sip:receptie@pbx", "+31612345678", NoNumber, "", "receptie", ""},
		{"sip:rec\u202eeptie@pbx", "", NoNumber, "", "receptie", ""},
		{"1A3F", "", NoNumber, "", "1A3F", ""},
		{"%CallerNumber%", "", Placeholder, "", "", ""},
		{"%%CallerNumber%%", "", Placeholder, "", "", ""},
		{"{phone}", "", Placeholder, "", "", ""},
		{"$caller$", "", Placeholder, "", "", ""},
		{"{{number}}", "", Placeholder, "", "", ""},
		{"<m>", "", Placeholder, "", "", ""},
		{"[number]", "", Placeholder, "", "", ""},
		{"%s", "", Placeholder, "", "", ""},
		{"%CallerNumber%", "Anonymous", Placeholder, "", "", ""},
		{"${CALLERID(num)}", "", Placeholder, "", "", ""},
		{"sip:%CallerNumber%@pbx", "", Placeholder, "", "", ""},
		{"tel:{phone}", "", Placeholder, "", "", ""},
		{"%7Bphone%7D", "", Placeholder, "", "", ""},
	} {
		n := r.Parse(c.raw, c.name)
		if n.Kind != c.kind || n.Query() != c.query {
			t.Errorf("%q: kind %d query %q, want %d %q", c.raw, n.Kind, n.Query(), c.kind, c.query)
		}
		if c.shown != "" && (n.Display() != c.shown || n.ClipboardText() != c.copied) {
			t.Errorf("%q: shown %q copied %q, want %q %q", c.raw, n.Display(), n.ClipboardText(), c.shown, c.copied)
		}
		if n.CanLookUp() != (c.query != "") || n.Foreign != (c.query != "" && !strings.HasPrefix(c.query, "+31")) {
			t.Errorf("%q: looked up %v, foreign %v", c.raw, n.CanLookUp(), n.Foreign)
		}
		if c.query != "" && n.Key() != c.query || n.Kind == Withheld && n.Key() != r.Parse("", "").Key() {
			t.Errorf("%q: another caller: %q", c.raw, n.Key())
		}
		if (c.kind == Internal || c.kind == Short) && strings.TrimPrefix(n.Key(), "+") != c.copied {
			t.Errorf("%q: another caller than %q: %q", c.raw, c.copied, n.Key())
		}
	}
}

// TestLengths: nine dialled digits are looked up, eight are not.
func TestLengths(t *testing.T) {
	r := DefaultRules()
	for raw, kind := range map[string]Kind{
		"02012345": Short, "020123456": External, "0201234567": External, "31201234567": External, "0031201234567": External,
		"12345678": Short, "123456789": External, "+4912345": Short, "+49123456": Short, "+491234567": External, "12345678901234567890": External,
		"1234": Internal, "12345": Short, "0123": Short,
	} {
		if n := r.Parse(raw, ""); n.Kind != kind || (n.Query() != "") != (kind == External) {
			t.Errorf("%s: kind %d, want %d (%+v)", raw, n.Kind, kind, n)
		}
	}
}

func TestLine(t *testing.T) {
	r := rules(t)
	if s, n := r.Line("+31207654321"); s != "020 765 43 21" || n != "Schade" {
		t.Errorf("%q %q", s, n)
	}
	if s, n := r.Line("sip:0201234567@pbx"); s != "020 123 45 67" || n != "" {
		t.Errorf("%q %q", s, n)
	}
	for _, raw := range []string{"", "anonymous", "sip:receptie@pbx", "%CallerNumber%"} {
		if s, n := r.Line(raw); s != "" || n != "" {
			t.Errorf("%q: %q %q", raw, s, n)
		}
	}
}

func TestValidate(t *testing.T) {
	for raw, want := range map[string]error{
		"": nil, "0612345678": nil, "anonymous": nil, "sip:101@pbx": nil, "+31 6 1234": nil,
		"%CallerNumber%": address.ErrPlaceholder, "{phone}": address.ErrPlaceholder,
		"hello": address.ErrBadNumber, "06\x00": address.ErrBadNumber, "06\n1": address.ErrBadNumber, "\xff06": address.ErrBadNumber,
		strings.Repeat("1", 129): address.ErrBadNumber,
	} {
		if got := address.Validate(raw); got != want {
			t.Errorf("%q: %v, want %v", raw, got, want)
		}
	}
}

// TestSwitchedOff checks that settings without a number concern no call.
func TestSwitchedOff(t *testing.T) {
	off, err := NewRules(Config{InternalPrefixes: []string{""}, Lines: []Line{{Number: "anonymous", Name: "x"}}, NeverLookup: []string{""}})
	must.Do(t, err)
	if n := off.Parse("101", ""); n.Kind != Short {
		t.Errorf("without extensions: %+v", n)
	}
	if n := off.Parse("", ""); n.Kind != Withheld || n.NeverLookup {
		t.Errorf("%+v", n)
	}
	if s, name := off.Line("anonymous"); s != "" || name != "" {
		t.Errorf("%q %q", s, name)
	}
}

func TestAnotherRegion(t *testing.T) {
	r := must.Get(NewRules(Config{Region: "be"}))(t)
	if n := r.Parse("02 123 45 67", ""); n.E164 != "+3221234567" || n.Foreign || n.ClipboardText() != "021234567" ||
		n.Display() != "02 123 45 67" {
		t.Errorf("%+v", n)
	}
	if _, err := NewRules(Config{Region: "Q1"}); err == nil {
		t.Error("a region that does not exist was accepted")
	}
	if n := r.Parse("+31201234567", ""); !n.Foreign || n.ClipboardText() != "0031201234567" || n.Display() != "+31 20 123 4567" {
		t.Errorf("%+v", n)
	}
}

// TestHostileSize checks that long input costs no more than short input.
func TestHostileSize(t *testing.T) {
	r := rules(t)
	for _, s := range []string{"<", ";", "%", "9", "\"", "\\", "{", "é", "\xff", "(0)", "0,"} {
		big := strings.Repeat(s, 10<<20/len(s))
		n := r.Parse(big, big)
		if len(n.Text) > address.MaxLength || len(n.Digits) > address.MaxLength || address.Validate(big) != address.ErrBadNumber {
			t.Errorf("%q: %d %d", s, len(n.Text), len(n.Digits))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"+31612345678", `"x" <sip:+316@h;x=y>;tag=1`, "tel:;phone-context=+31", "%", "+", "(0)", "callto:///", "<", "0;phone-context=+"} {
		f.Add(s, "name")
	}
	r := rules(f)
	f.Fuzz(func(t *testing.T, raw, name string) {
		n := r.Parse(raw, name)
		if q := n.Query(); q != "" && (strings.Trim(strings.TrimPrefix(q, "+"), "0123456789") != "" || len(address.OnlyDigits(q)) < 9) {
			t.Fatalf("query %q", q)
		}
		if v := address.Validate(raw); v == address.ErrPlaceholder && n.Kind != Placeholder || v == nil && n.Kind == Placeholder {
			t.Fatalf("%v, but %+v", v, n)
		}
		if address.StripInvisible(n.Text) != n.Text || address.StripInvisible(n.Display()) != n.Display() {
			t.Fatalf("unseen characters in %q", n.Display())
		}
		if strings.Trim(n.ClipboardText(), "0123456789*#") != "" && n.Kind != Internal {
			t.Fatalf("copy %q", n.ClipboardText())
		}
		_, _ = r.Line(raw)
		_ = address.Validate(raw)
		if n.Key() == "" {
			t.Fatal("no key")
		}
	})
}

func TestNameAddr(t *testing.T) {
	for _, c := range []struct{ s, name, addr string }{
		{`"J. de Vries" <sip:1@h>;tag=x`, "J. de Vries", "sip:1@h"},
		{`"Café \"De Hoek\" \\ Zoë" <sip:1@h>`, `Café "De Hoek" \ Zoë`, "sip:1@h"},
		{`"\"" <sip:1@h>`, `"`, "sip:1@h"},
		{`"\<a\>" <sip:1@h>`, "<a>", "sip:1@h"},
		{`"" <sip:1@h>`, "", "sip:1@h"},
		{`Zoë <sip:1@h>`, "Zoë", "sip:1@h"},
		{`a\b <sip:1@h>`, `a\b`, "sip:1@h"}, // not a quoted string
		{`<sip:1@h>`, "", "sip:1@h"},
		{`"open <sip:1@h>`, "", `"open <sip:1@h>`},
		{`"open\`, "", `"open\`},
		{`sip:1@h;tag=x`, "", "sip:1@h;tag=x"},
		{`"a" <sip:1@h`, "a", "sip:1@h"},
		{``, "", ""},
	} {
		if name, addr := address.SplitNameAddr(c.s); name != c.name || addr != c.addr {
			t.Errorf("%s: %q %q, want %q %q", c.s, name, addr, c.name, c.addr)
		}
	}
	for s, want := range map[string]string{``: ``, `a`: `a`, `\`: `\`, `a\`: `a\`, `\\`: `\`, `\"`: `"`, `\ë`: `ë`, `a\bc`: `abc`} {
		if got := address.Unescape(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// FuzzNameAddr checks that a name and an address written in SIP form read back unchanged.
func FuzzNameAddr(f *testing.F) {
	f.Add("J. de Vries", "sip:+31612345678@127.0.0.1:5070", ";tag=1")
	f.Add(`Café "De Hoek" \ Zoë`, "tel:+31-6-1234-5678;ext=12", "")
	f.Add(`\`, "", `"<>\`)
	f.Add("<sip:1@h>", "<", ">")
	f.Fuzz(func(t *testing.T, name, addr, rest string) {
		escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
		if got := address.Unescape(escaped); got != name {
			t.Fatalf("%q became %q", name, got)
		}
		for _, s := range []string{name, addr, rest, name + addr + rest} {
			if got := address.Unescape(s); len(got) > len(s) || !strings.Contains(s, `\`) && got != s {
				t.Fatalf("%q: %q", s, got)
			}
			n, a := address.SplitNameAddr(s)
			if len(n)+len(a) > len(s) || a != "" && !strings.Contains(s, a) {
				t.Fatalf("%q: %q %q", s, n, a)
			}
		}
		if strings.Contains(addr, ">") {
			return
		}
		if n, a := address.SplitNameAddr(`"` + escaped + `" <` + addr + ">" + rest); n != name || a != addr {
			t.Fatalf("%q %q: %q %q", name, addr, n, a)
		}
	})
}
