package message

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"wiebelt/internal/testutil/must"
)

// xmlCase is a crafted document and its correct verdict: every finding about it.
type xmlCase struct {
	name string
	xml  string
	read bool   // as a Contractdocument
	want string // codes, notes included
}

func utf16Of(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func changed(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(example) }

// declared returns the example declaring another encoding in its first line.
func declared(name string, pairs ...string) string {
	return changed(append([]string{`encoding="UTF-8"`, `encoding="` + name + `"`}, pairs...)...)
}

// holey lists the findings for an empty document.
const holey = "missing_group missing_group missing_group"

func xmlCases() []xmlCase {
	le, be := binary.LittleEndian, binary.BigEndian
	var laughs strings.Builder
	laughs.WriteString(`<!DOCTYPE Contractdocument [<!ENTITY a0 "ha">`)
	for range 9 {
		laughs.WriteString(`<!ENTITY a1 "&a0;&a0;&a0;&a0;&a0;&a0;&a0;&a0;&a0;&a0;">`)
	}
	laughs.WriteString(`]><Contractdocument>&a9;</Contractdocument>`)
	root := func(s string) string { return "<Contractdocument>" + s + "</Contractdocument>" }

	return []xmlCase{
		{"the example", example, true, ""},
		{"on one line", strings.NewReplacer("\n", "", "  ", "").Replace(example), true, ""},
		{"line ends of Windows", changed("\n", "\r\n"), true, ""},
		{"a first line without an encoding", changed(` encoding="UTF-8"`, ""), true, ""},
		{"a mark in front", "\xef\xbb\xbf" + example, true, ""},
		{"UTF-16, little end first", "\xff\xfe" + utf16Of(le, declared("UTF-16")), true, ""},
		{"UTF-16, big end first", "\xfe\xff" + utf16Of(be, declared("utf-16")), true, ""},
		{"UTF-16 with a pair", "\xff\xfe" + utf16Of(le, declared("UTF-16", "Testpersoon", "\U0001F600")), true, ""},
		{"UTF-16 that says UTF-8", "\xff\xfe" + utf16Of(le, example), true, "xml_encoding_other"},
		{"UTF-16 without a mark", utf16Of(le, declared("UTF-16")), false, "xml_encoding_damaged"},
		{"half a pair", "\xff\xfe" + utf16Of(le, "<Contractdocument>") + "\x00\xd8x\x00", false, "xml_encoding_damaged"},
		{"half a character", "\xff\xfe" + utf16Of(le, "<Contractdocument/>") + "x", false, "xml_encoding_damaged"},
		{"UTF-8 that says UTF-16", declared("utf-16"), true, "xml_encoding_other"},
		{"a mark of UTF-8 and another word", "\xef\xbb\xbf" + declared("ISO-8859-1"), true, "xml_encoding_other"},
		{"ISO-8859-1", declared("ISO-8859-1", "Testpersoon", "Zo\xebf"), true, "xml_encoding_old"},
		{"Windows-1252", declared("Windows-1252", "Testpersoon", "\x80 Zo\xebf"), true, "xml_encoding_old"},
		{"ISO-8859-15", declared("ISO-8859-15", "Testpersoon", "\xa4 Zo\xebf"), true, "xml_encoding_old"},
		{"Windows-1252 with a hole", declared("windows-1252", "Testpersoon", "\x81"), false, "xml_encoding_old xml_encoding_damaged"},
		{"ASCII", declared("US-ASCII"), true, ""},
		{"ASCII that is not", declared("US-ASCII", "Testpersoon", "Zo\u00ebf"), false, "xml_encoding_damaged"},
		{"UTF-8 with what stands for a lost character", changed("Testpersoon", "\ufffd"), true, ""},
		{"UTF-8 that is not", changed("Testpersoon", "Zo\xebf"), false, "xml_encoding_damaged"},
		{"UTF-32", "\xff\xfe\x00\x00<\x00\x00\x00", false, "xml_encoding_unknown"},
		{"EBCDIC", "\x4c\x6f\xa7\x94\x93", false, "xml_encoding_unknown"},
		{"two kinds of quotation marks", declared("utf-8'x"), false, "xml_encoding_unknown"},
		{"Shift JIS", declared("Shift_JIS"), false, "xml_encoding_unknown"},
		{"UTF-7", declared("UTF-7"), false, "xml_encoding_unknown"},

		{"nothing", "", false, "xml_malformed"},
		{"a text", "geen XML", false, "xml_malformed"},
		{"an element without its end", "<Contractdocument><UN>", false, "xml_malformed"},
		{"elements that cross", root("<UN><AL></UN></AL>"), false, "xml_malformed"},
		{"two roots", root("") + root(""), false, "xml_malformed"},
		{"text behind the root", root("") + "x", false, "xml_malformed"},
		{"half a comment behind the root", root("") + "<!--", false, "xml_malformed"},
		{"a first line further down", "\n" + example, false, "xml_malformed"},
		{"a control character", root("<UN>\x01</UN>"), false, "xml_malformed"},
		{"a control character, escaped", root("<UN>&#1;</UN>"), false, "xml_malformed"},
		{"an attribute without quotes", "<Contractdocument a=b/>", false, "xml_malformed"},
		{"XML 1.1", changed(`version="1.0"`, `version="1.1"`), false, "xml_malformed"},
		{"an entity that nobody declared", root("&bestaatniet;"), false, "xml_malformed"},
		{"HTML", "<html><body>x", false, "other_type"},
		{"another type", "<Anders><X/></Anders>", false, "other_type"},
		{"another type in capitals", "<CONTRACTDOCUMENT/>", false, "other_type"},

		{"a billion laughs", laughs.String(), false, "xml_doctype xml_entity"},
		{"a file that is asked for", `<!DOCTYPE Contractdocument [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + root("&x;"), false, "xml_doctype xml_entity"},
		{"an entity of parameters", `<!DOCTYPE Contractdocument [<!ENTITY % x SYSTEM "http://127.0.0.1/x">%x;]>` + root(""), false, "xml_doctype xml_entity"},
		{"a DTD elsewhere", `<!DOCTYPE Contractdocument SYSTEM "http://127.0.0.1/x.dtd">` + root(""), true, "xml_doctype " + holey},
		{"a DTD inside the root", root("<!DOCTYPE x>"), false, "xml_doctype xml_malformed"},
		{"very deep", root(strings.Repeat("<a>", 100_000)), false, "xml_too_deep"},
		{"very many elements", root(strings.Repeat("<a/>", 200_000)), false, "xml_too_many"},
		{"very many attributes", "<Contractdocument" + strings.Repeat(" a=''", 500_000) + "/>", false, "xml_token_too_long"},
		{"many elements with many attributes", root(strings.Repeat("<a"+strings.Repeat(" a=''", 40_000)+"/>", 10)), false, "xml_too_many"},
		{"a very long text", root("<UN><UN_ZENDER>" + strings.Repeat("x", 1<<20) + "</UN_ZENDER></UN>"), false, "xml_token_too_long"},
		{"a very long comment", root("<!--" + strings.Repeat("<", 1<<20) + "-->"), false, "xml_token_too_long"},
		{"a text in very many pieces", root("<UN><UN_ZENDER>" + strings.Repeat("<![CDATA["+strings.Repeat("x", 100)+"]]>", 60_000) + "</UN_ZENDER></UN>"), false, "xml_too_large"},
		{"very large", root(strings.Repeat("<!--"+strings.Repeat("x", 200_000)+"-->", 30)), false, "xml_too_large"},
		{"very long names", root("<" + strings.Repeat("a", 1<<20) + "/>"), false, "xml_token_too_long"},

		{"an empty document", root(""), true, holey},
		{"an unknown element", changed("<UN>", "<UN><UN_NIEUW>x</UN_NIEUW>"), true, "unknown_element"},
		{"an unknown group", changed("<UN>", "<XX><XX_A>1</XX_A></XX><UN>"), true, "unknown_element"},
		{"a group in the wrong place", changed("<UN>", "<VP/><UN>"), true, "unknown_element"},
		{"an element twice", changed("<UN_ONTVAN>", "<UN_ZENDER>Z</UN_ZENDER><UN_ONTVAN>"), true, "repeated_element"},
		{"a group twice", changed("</PP>", "</PP><PP><PP_VRWRKCD>1</PP_VRWRKCD><PP_NUMMER>2</PP_NUMMER><PP_MYAAND>1</PP_MYAAND></PP>"), true, "repeated_group missing_group"},
		{"an element in an element", changed("AFZENDER", "<b>A</b>"), true, "nested_element missing_element"},
		{"text in a group", changed("<UN>", "<UN>los"), true, "stray_text"},
		{"an attribute", changed("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "", "<UN>", `<UN encoding="x">`), true, "unknown_attribute"},
		{"a namespace", changed("<Contractdocument>", `<c:Contractdocument xmlns:c="urn:x">`, "</Contractdocument>", "</c:Contractdocument>"), true, "namespace"},
		{"another order", root("<PP/><UN/><AL/>"), true, "missing_element missing_element missing_element missing_group other_order missing_element missing_element missing_element missing_element missing_element missing_group"},
		{"an empty element", changed("<UN_ZENDER>AFZENDER</UN_ZENDER>", "<UN_ZENDER/>"), true, "missing_element"},
		{"a text as CDATA", changed("AFZENDER", "<![CDATA[<&>]]>"), true, ""},
		{"a comment", changed("<UN>", "<!-- x --><UN>"), true, ""},
		{"a date of seven digits", changed("19800229", "1980229"), true, "bad_date"},
		{"a date with strokes", changed("19800229", "1980-2-9"), true, "bad_date"},
		{"a day that was not", changed("19800229", "19810229"), true, "no_such_date"},
		{"a month that is none", changed("19800229", "19801301"), true, "no_such_date"},
		{"a date of noughts", changed("19800229", "00000000"), true, "no_such_date"},
		{"digits of another script", changed("19800229", "١٩٨٠٠٢٢٩"), true, "bad_date"},
		{"a number that is none", changed("<BY_VOLGNUM>1<", "<BY_VOLGNUM>1a<"), true, "bad_number"},
		{"a number with a comma", changed("<BY_VOLGNUM>1<", "<BY_VOLGNUM>1,5<"), true, "bad_number"},
		{"a number below nought", changed("<BY_VOLGNUM>1<", "<BY_VOLGNUM> -1 <"), true, ""},
		{"an extension that is none", changed("<BY_EXT>pdf<", "<BY_EXT>p/df<"), true, "bad_extension"},
		{"an extension with a stop", changed("<BY_EXT>pdf<", "<BY_EXT>.PDF<"), true, ""},
		{"a file elsewhere", changed("polis.pdf", "../polis.pdf"), true, "bad_file_name"},
		{"an address for a file", changed("polis.pdf", "http://127.0.0.1/polis.pdf"), true, "bad_file_name"},
	}
}

func TestCraftedXML(t *testing.T) {
	for _, c := range xmlCases() {
		found, isContract, err := read(strings.NewReader(c.xml))
		if got := codes(found, Note); err != nil || got != c.want || isContract != c.read {
			t.Errorf("%s: read %v, %q, %v; want %v, %q", c.name, isContract, got, err, c.read, c.want)
		}
		// The verdict is the same in a ZIP.
		r := inspected(t, crafted{items: []item{{name: "bericht.xml", content: c.xml}, {name: "polis.pdf", content: "x"}}}.bytes())
		for _, f := range found {
			if f.Severity == Refused && r.Sendable(false) {
				t.Errorf("%s: sendable with %v", c.name, f)
			}
		}
	}
}

// TestTexts: text in any encoding is read correctly.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ xml, want string }{
		{declared("ISO-8859-1", "Testpersoon", "Zo\xebf \x80\x99"), "Zoëf €™"},
		{declared("iso-8859-15", "Testpersoon", "\xa4\xbd"), "€œ"},
		{"\xff\xfe" + utf16Of(binary.LittleEndian, declared("UTF-16", "Testpersoon", "Zoëf €\U0001F600")), "Zoëf €\U0001F600"},
		{changed("Testpersoon", " a&lt;b<![CDATA[&amp;]]><!-- x -->&#x20AC; "), " a<b&amp;€ "},
	} {
		in, _, err := newDocumentReader(bufio.NewReader(strings.NewReader(c.xml)), Defaults)
		must.Do(t, err)
		root, err := in.read()
		if err != nil || root.children[2].children[3].children[1].text != c.want {
			t.Errorf("%v %v, want %q", root, err, c.want)
		}
	}
}

// TestWhereThingsAre checks that a finding gives its place and quotes nothing.
func TestWhereThingsAre(t *testing.T) {
	xml := changed("19800229", "geheim", "</PP>", "</PP><PP><VP><VP_GEBDAT>1</VP_GEBDAT><Jansen/></VP></PP>")
	found, _, _ := read(strings.NewReader(xml))
	var lines []string
	for _, f := range found {
		if f.Severity == Warning {
			lines = append(lines, f.String())
		}
	}
	want := "warning bad_date, PP[1]/VP[1]/VP_GEBDAT, line 30|warning bad_date, PP[2]/VP[1]/VP_GEBDAT, line 32|warning unknown_element, PP[2]/VP[1]/?, line 32"
	if got := strings.Join(lines, "|"); got != want {
		t.Error(got)
	}
}

// TestReadersErrors: an error of the reader is not a verdict.
func TestReadersErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int64{0, 3, 100, 700} {
		in := io.MultiReader(io.LimitReader(strings.NewReader(example), n), iotest.ErrReader(broken))
		if found, isContract, err := read(in); isContract || !errors.Is(err, broken) {
			t.Errorf("%d: %v, %v", n, found, err)
		}
	}
}
