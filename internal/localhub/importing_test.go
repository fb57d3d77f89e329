package localhub_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"wiebelt/internal/contact"
	"wiebelt/internal/localhub"
)

func openData(t testing.TB, dir string) *localhub.Data {
	t.Helper()
	d, err := localhub.OpenData(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// importText imports a text and gives what went wrong as lines.
func importText(t testing.TB, d *localhub.Data, f localhub.Format, text string, opt localhub.ImportOptions) (n int, lines []string) {
	t.Helper()
	n, err := d.Import(t.Context(), strings.NewReader(text), f, opt)
	var wrong *localhub.ImportError
	switch {
	case errors.As(err, &wrong):
		lines = wrong.Lines()
	case err != nil:
		lines = []string{err.Error()}
	}
	if err != nil && n != 0 {
		t.Errorf("%d taken with %v", n, err)
	}
	return n, lines
}

func count(t testing.TB, d *localhub.Data) int {
	t.Helper()
	n, err := d.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// samplePeople are those of testdata/contacts.csv and contacts.json.
var samplePeople = []localhub.Record{
	{Contact: contact.Contact{ID: "c-1", RelationNumber: "100203", Initials: "J.M.", Prefix: "van der", FamilyName: "Berg",
		Address:  contact.Address{Street: "Lindelaan", Number: "12", Addition: "A", PostalCode: "1234AB", City: "Ons Dorp", Country: "NL"},
		Producer: contact.Coded{Code: "P001", Description: "Kantoor Ons Dorp"}, LastModifiedBy: contact.Coded{Code: "MJO", Description: "M. de Jong"}},
		Numbers: []string{"020 123 4567", "06-12345678"}, Emails: []string{"jm.berg@example.org"}},
	{Contact: contact.Contact{ID: "c-2", RelationNumber: "0100206", Initials: "É.", FamilyName: "Özdemir-'t Hart",
		Address:  contact.Address{Street: "Laan van de Zeven Zwanen", Number: "1", PostalCode: "1590 AB", City: "Zaanwijk"},
		Producer: contact.Coded{Code: "P002", Description: "Kantoor Zaanwijk"}, LastModifiedBy: contact.Coded{Code: "KBA", Description: "K. Bakhuis"}},
		Numbers: []string{"020/123.4567", "+31 (0)6 1234 0001"}, Emails: []string{"e.ozdemir@example.org", "info@example.org"}},
	{Contact: contact.Contact{ID: "c-3", RelationNumber: "100209", FamilyName: "De Oude Polis; verzekeringen",
		Address:  contact.Address{Street: "Kerkpad achterom", Number: "7", Addition: "bis", PostalCode: "48531", City: "Bad Moorwiese", Country: "DE"},
		Producer: contact.Coded{Code: "P020", Description: `De "Oude" Polis`}},
		Numbers: []string{"0881230001", "112"}},
	{Contact: contact.Contact{ID: "c-4", RelationNumber: "100212", Initials: "A.", Prefix: "in 't", FamilyName: "Veld"}},
}

func TestImportSamples(t *testing.T) {
	utf8, err := os.ReadFile("testdata/contacts.csv")
	if err != nil {
		t.Fatal(err)
	}
	bare := bytes.TrimPrefix(utf8, []byte("\ufeff"))
	if len(bare) == len(utf8) {
		t.Error("the sample has no mark, as spreadsheets write it")
	}
	answer, err := os.ReadFile("testdata/contacts.json")
	if err != nil {
		t.Fatal(err)
	}
	var records struct {
		Data struct{ Items []json.RawMessage }
	}
	if err := json.Unmarshal(answer, &records); err != nil {
		t.Fatal(err)
	}
	encode := func(e interface{ Bytes([]byte) ([]byte, error) }, s []byte) string {
		b, err := e.Bytes(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	resep := func(sep rune, head string) string {
		r := csv.NewReader(bytes.NewReader(bare))
		r.Comma = ';'
		all, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString(head)
		w := csv.NewWriter(&b)
		w.Comma = sep
		if err := w.WriteAll(all); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	array, err := json.Marshal(records.Data.Items)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, r := range records.Data.Items {
		if err := json.Compact(&lines, r); err != nil {
			t.Fatal(err)
		}
		lines.WriteString("\r\n")
	}
	for name, c := range map[string]struct {
		format localhub.Format
		text   string
	}{
		"utf-8 with mark":       {localhub.CSV, string(utf8)},
		"utf-8":                 {localhub.CSV, string(bare)},
		"windows-1252":          {localhub.CSV, encode(charmap.Windows1252.NewEncoder(), bare)},
		"utf-16 le":             {localhub.CSV, encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(), bare)},
		"utf-16 be":             {localhub.CSV, encode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(), bare)},
		"comma":                 {localhub.CSV, resep(',', "")},
		"tab":                   {localhub.CSV, resep('\t', "")},
		"says its separator":    {localhub.CSV, resep(',', "sep=,\r\n")},
		"names of the API":      {localhub.CSV, strings.NewReplacer(";straat;", ";Woonadres.Straat;", "producent_code;producent;", "Producent.Code;producent.DESCRIPTION;", "backofficerelatienummer", "Eigen Relatie-Nummer", "telefoon2", "Telefoon 2", "email", "E-mail").Replace(string(bare))},
		"answer":                {localhub.JSON, string(answer)},
		"answer with a mark":    {localhub.JSON, "\ufeff" + string(answer)},
		"two answers":           {localhub.JSON, `{"data":{"total":4,"items":[]},"meta":[1,{"a":2}]}` + string(answer)},
		"array":                 {localhub.JSON, string(array)},
		"one after the other":   {localhub.JSON, lines.String()},
		"another number's name": {localhub.JSON, strings.ReplaceAll(string(answer), "backofficerelatienummer", "eigenrelatienummer")},
		"numbers unquoted":      {localhub.JSON, strings.NewReplacer(`"100203"`, "100203", `"12"`, "12", `"112"`, "112").Replace(string(answer))},
	} {
		t.Run(name, func(t *testing.T) {
			d := openData(t, t.TempDir())
			var warned []localhub.RowError
			n, wrong := importText(t, d, c.format, c.text, localhub.ImportOptions{Warn: func(w localhub.RowError) { warned = append(warned, w) }})
			if n != len(samplePeople) || len(wrong) > 0 {
				t.Fatalf("%d taken: %q", n, wrong)
			}
			for _, want := range samplePeople {
				got, found, err := d.Contact(t.Context(), want.ID)
				if err != nil || !found {
					t.Fatal(found, err)
				}
				if !sameRecord(got, want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			}
			if len(warned) != 2 || warned[0].Problem != localhub.WarnShort || warned[1].Problem != localhub.WarnNoNumber {
				t.Errorf("warned of %+v", warned)
			}
			if real, err := d.Number(t.Context(), "SELECT count(*) FROM contacts WHERE invented = 0"); err != nil || real != n {
				t.Errorf("%d of them real, %v", real, err)
			}
		})
	}
}

// sameRecord compares all but the order of numbers and addresses.
func sameRecord(a, b localhub.Record) bool {
	set := func(r localhub.Record) map[string]bool {
		m := map[string]bool{}
		for _, s := range append(append([]string{}, r.Numbers...), r.Emails...) {
			m[s] = true
		}
		return m
	}
	return a.Contact == b.Contact && reflect.DeepEqual(set(a), set(b)) && len(a.Numbers) == len(b.Numbers) && len(a.Emails) == len(b.Emails)
}

func TestImportRefusesRows(t *testing.T) {
	long := strings.Repeat("x", 513)
	many := strings.Repeat("0612345678|", 21)
	const names = "; the names are id, backofficerelatienummer, voorletters, voorvoegsel, achternaam, straat, huisnummer, toevoeging, postcode, plaats, landIso, producent_code, producent, gewijzigd_code, gewijzigd, telefoon, email"
	for name, c := range map[string]struct {
		format localhub.Format
		text   string
		want   []string
	}{
		"quoted newlines": {localhub.CSV, "achternaam;telefoon;email\r\n\r\n\"A\r\nB\";\"06\n12345678\";\r\nC;;x\r\n\"D\n\n\nE\";;\nF;;\"y\nz\"\nG;;\n;;;\n\"H\nI\";\"1\n\";x\n;1;\n",
			[]string{"line 6: email: is no e-mail address", "line 11: email: is no e-mail address", "line 15: email: is no e-mail address", "line 18: neither achternaam nor voorletters"}},
		"the first line says it": {localhub.CSV, "sep=;\r\nachternaam;landIso\r\nA;Nederland\r\n", []string{"line 3: landIso: is no country code such as NL"}},
		"several in a row": {localhub.CSV, "achternaam,id,relatienummer,telefoon\n" + long + ",a/b,R1,\"0612345678 / 0201234567\"\n", []string{
			"line 2: achternaam: is longer than 512 bytes", "line 2: id: is not 1 to 200 of the characters A-Z a-z 0-9 - . _ ~, or is one or two dots alone",
			"line 2: relatienummer: holds something other than digits", "line 2: telefoon: holds too many digits for one number; put ; or | between several"}},
		"numbers": {localhub.CSV, "achternaam,telefoon,telefoon2\nA,\"3,16123E+10\",\nB,6.1E+08,\nC," + many + ",1\nD," + many[:20*11] + ",\nE," + strings.Repeat("x", 257) + ",\n", []string{
			"line 2: telefoon: was shortened by a spreadsheet (6,1E+08); make the column text there",
			"line 3: telefoon: was shortened by a spreadsheet (6,1E+08); make the column text there",
			"line 4: telefoon: more than 20 numbers", "line 4: telefoon2: more than 20 numbers", "line 6: telefoon: is longer than the 256 bytes of a number"}},
		"addresses":            {localhub.CSV, "achternaam,email\nA,\"" + strings.Repeat("a@b;", 21) + "\"\n", []string{"line 2: email: more than 20 addresses"}},
		"fields":               {localhub.CSV, "achternaam,plaats,\nA,B\nA,B,\nA,B,,\nA,B,C\nA,B,,C\n", []string{"line 2: has 2 fields, the header row 3", "line 5: field 3 has no name in the header row", "line 6: field 4 has no name in the header row"}},
		"control":              {localhub.CSV, "achternaam\nA\x00B\n", []string{"line 2: achternaam: holds a control character"}},
		"broken utf-8":         {localhub.CSV, "achternaam\né\n\xff\n", []string{"line 3: achternaam: holds a character that cannot be read; save the file as UTF-8"}},
		"hole in windows-1252": {localhub.CSV, "achternaam\n\xe9\n\x81\n", []string{"line 3: achternaam: holds a character that cannot be read; save the file as UTF-8"}},
		"bare quote":           {localhub.CSV, "achternaam\nA\nB \"C\" D\n\"E\"\nF;\"\n", []string{"line 3: a quotation mark inside a field that has none around it", "line 5: a quotation mark is missing or one too many; nothing behind it was read"}},
		"open quote":           {localhub.CSV, "achternaam\nA\n\"B\nC\nD\n", []string{"line 3: a quotation mark is missing or one too many; nothing behind it was read"}},
		"twice":                {localhub.CSV, "id,achternaam\na,A\nb,B\na,C\n,D\n,E\nb,\na,F\n", []string{"line 4: id: the same as in line 2", "line 7: neither achternaam nor voorletters", "line 8: id: the same as in line 2"}},
		"unknown name":         {localhub.CSV, "achternaam,telfoon,Mobiel 2\nA,1,2\n", []string{`line 1: unknown "telfoon", "Mobiel 2"` + names}},
		"no header":            {localhub.CSV, "Geheimhouder,0698765432\nBerg,1\n", []string{"line 1: no known name" + names}},
		"a name twice":         {localhub.CSV, "straat,woonadres.straat,achternaam\nA,B,C\n", []string{"line 1: straat: a column for this comes twice"}},
		"nothing":              {localhub.CSV, "", []string{"local hub: import: the file holds no contacts"}},
		"header only":          {localhub.CSV, "\ufeffachternaam\r\n\r\n", []string{"local hub: import: the file holds no contacts"}},
		"too long a row":       {localhub.CSV, "achternaam\nA\n\"" + strings.Repeat("b\n", 1<<20) + "\"\n", []string{"line 2: here or next is more than 1048576 bytes; a quotation mark or bracket may be missing"}},

		"records": {localhub.JSON, `[{"achternaam":"A"},{"voorletters":""},7,{"achternaam":"B","email":["x",{}]},{"achternaam":true},{"achternaam":"C","telefoon":1.5},{"telfoon":"1","achternaam":"A"},{"x":"Geheimhouder"},null]`, []string{
			"record 2: neither achternaam nor voorletters", "record 3: is no object", "record 4: email: is no e-mail address", "record 4: email: is no text",
			"record 5: achternaam: is no text", "record 6: telefoon: is no whole number; write it as text", `record 7: unknown "telfoon"` + names, "record 8: no known name" + names, "record 9: is no object"}},
		"inside":           {localhub.JSON, `{"data":{"items":[{"achternaam":"A","woonadres":{"straat":["B"],"hoogte":1},"producent":{"code":"` + long + `"},"laatstGewijzigdDoor":null}]}}`, []string{"record 1: woonadres.straat: is no text", "record 1: producent.code: is longer than 512 bytes", `record 1: unknown "woonadres.hoogte"` + names}},
		"a field twice":    {localhub.JSON, `{"achternaam":"A","Achternaam":"B"}`, []string{"record 1: Achternaam: comes twice"}},
		"cut":              {localhub.JSON, `[{"achternaam":"A"},{"achternaam":"B`, []string{"record 2: is not valid JSON, or has a name twice, near byte 33; nothing behind it was read"}},
		"not JSON":         {localhub.JSON, "achternaam;Geheimhouder", []string{"record 1: is not valid JSON, or has a name twice, near byte 0; nothing behind it was read"}},
		"name twice":       {localhub.JSON, `{"achternaam":"A","achternaam":"B"}`, []string{"record 1: is not valid JSON, or has a name twice, near byte 17; nothing behind it was read"}},
		"ids twice":        {localhub.JSON, `{"achternaam":"A","id":"a"} {"achternaam":"B","id":"a"}`, []string{"record 2: id: the same as in record 1"}},
		"no items":         {localhub.JSON, `{"data":{"items":[]}}`, []string{"local hub: import: the file holds no contacts"}},
		"too long a text":  {localhub.JSON, `[{"achternaam":"A"},{"achternaam":"` + strings.Repeat("b", 2<<20), []string{"record 2: here or next is more than 1048576 bytes; a quotation mark or bracket may be missing"}},
		"too deep a thing": {localhub.JSON, `[{"achternaam":"A"},{"link":` + strings.Repeat("[", 20000), []string{"record 2: is not valid JSON, or has a name twice, near byte 10026; nothing behind it was read"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := openData(t, t.TempDir())
			for _, check := range []bool{true, false} {
				_, got := importText(t, d, c.format, c.text, localhub.ImportOptions{Check: check})
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
				}
			}
			if n := count(t, d); n != 0 {
				t.Errorf("%d stored", n)
			}
		})
	}
}

// TestImportCountsFurtherErrors: twenty are named, in the order of the file.
func TestImportCountsFurtherErrors(t *testing.T) {
	d := openData(t, t.TempDir())
	_, lines := importText(t, d, localhub.CSV, "achternaam,id\nA,x\nB,x\n"+strings.Repeat(",y\n", 50), localhub.ImportOptions{})
	if len(lines) != 21 || lines[0] != "line 4: neither achternaam nor voorletters" || lines[20] != "and 31 more" {
		t.Errorf("%q", lines)
	}
}

func TestImportCleansText(t *testing.T) {
	d := openData(t, t.TempDir())
	n, lines := importText(t, d, localhub.CSV, "id;achternaam;telefoon;telefoon 2\na;\"  van\t\r\n Dam \";\u202a06\u201112345678\u202c; 06\u00a012345678 ;\n", localhub.ImportOptions{})
	if n != 1 || len(lines) > 0 {
		t.Fatal(n, lines)
	}
	r, _, err := d.Contact(t.Context(), "a")
	if err != nil || r.FamilyName != "van Dam" || len(r.Numbers) != 1 || r.Numbers[0] != "06\u201112345678" {
		t.Errorf("%+v %v", r, err)
	}
	// Windows-1252 is more than Latin-1: \x91, and \x80 far behind.
	text := "id;achternaam\nb;\x91t Hart\n" + strings.Repeat("\n", 200_000) + "c;\x80\n"
	if n, lines := importText(t, d, localhub.CSV, text, localhub.ImportOptions{}); n != 2 {
		t.Fatal(n, lines)
	}
	for id, want := range map[string]string{"b": "‘t Hart", "c": "€"} {
		if r, _, err := d.Contact(t.Context(), id); err != nil || r.FamilyName != want {
			t.Errorf("%+v %v", r, err)
		}
	}
}

func TestImportReplaceAndCheck(t *testing.T) {
	d := openData(t, t.TempDir())
	const one = "id,achternaam,telefoon\na,Een,0611111111\nb,Twee,0622222222\n"
	step := func(text string, opt localhub.ImportOptions, want int, holds int, wrong ...string) {
		t.Helper()
		n, lines := importText(t, d, localhub.CSV, text, opt)
		if n != want || fmt.Sprint(lines) != fmt.Sprint(wrong) || count(t, d) != holds {
			t.Errorf("%d taken, %d there: %q", n, count(t, d), lines)
		}
	}
	step(one, localhub.ImportOptions{Check: true}, 2, 0)
	step(one, localhub.ImportOptions{}, 2, 2)
	const there = ": id: the hub has a contact with this id already"
	step(one, localhub.ImportOptions{}, 0, 2, "line 2"+there, "line 3"+there)
	step(one, localhub.ImportOptions{Check: true}, 0, 2, "line 2"+there, "line 3"+there)
	step(one, localhub.ImportOptions{Check: true, Replace: true}, 2, 2)
	step("achternaam\nDrie\nVier\n", localhub.ImportOptions{}, 2, 4) // behind the others
	step("id,achternaam,telefoon\nb,Vijf,0655555555\n", localhub.ImportOptions{Replace: true}, 1, 1)
	step("achternaam\n\n", localhub.ImportOptions{Replace: true}, 0, 1, "local hub: import: the file holds no contacts")
	if r, found, err := d.Contact(t.Context(), "b"); err != nil || !found || r.FamilyName != "Vijf" || fmt.Sprint(r.Numbers) != "[0655555555]" {
		t.Errorf("%+v %v", r, err)
	}
	if n, err := d.Number(t.Context(), "SELECT count(*) FROM terms"); err != nil || n != 1 {
		t.Errorf("%d numbers left, %v", n, err)
	}
	if ok, err := d.Intact(t.Context()); !ok || err != nil {
		t.Error(ok, err)
	}
}

// TestImportAndDemo: invented and real people never stand in one hub, and no
// hub that shows its password has real ones.
func TestImportAndDemo(t *testing.T) {
	const file = "achternaam,telefoon\nEcht,0611111111\n"
	dir := t.TempDir()
	demo, err := localhub.Start(t.Context(), localhub.Config{Dir: dir, Synthetic: 20, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	defer demo.Close()
	refused := func(d *localhub.Data, opt localhub.ImportOptions, want string) {
		t.Helper()
		if _, lines := importText(t, d, localhub.CSV, file, opt); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%+v: %q, want %q", opt, lines, want)
		}
		if n := count(t, d); n != 20 {
			t.Errorf("%d contacts", n)
		}
	}
	refused(demo.Data, localhub.ImportOptions{Replace: true}, "the demo takes invented contacts only")
	d := openData(t, dir)
	refused(d, localhub.ImportOptions{}, "have to replace them")
	refused(d, localhub.ImportOptions{Replace: true}, "end it first")
	refused(d, localhub.ImportOptions{Replace: true, Check: true}, "end it first")
	if err := demo.Close(); err != nil {
		t.Fatal(err)
	}
	refused(d, localhub.ImportOptions{}, "have to replace them")
	began := false
	other := openData(t, t.TempDir())
	_, err = other.Import(t.Context(), strings.NewReader(file), localhub.CSV, localhub.ImportOptions{Progress: func(int, int64) {
		again := openData(t, other.Dir())
		if _, err := again.AddInvented(t.Context(), person("Verzonnen", "0622222222")); err != nil {
			t.Error(err)
		}
	}})
	if n := count(t, other); err == nil || !strings.Contains(err.Error(), "meanwhile") || n != 1 {
		t.Error(n, err)
	}
	_, err = d.Import(t.Context(), strings.NewReader(file), localhub.CSV, localhub.ImportOptions{Replace: true, Progress: func(int, int64) {
		began = true
		if h, err := localhub.Start(t.Context(), localhub.Config{Dir: dir, Demo: true}); err == nil {
			_ = h.Close()
			t.Error("a demo started during the import")
		}
	}})
	if n := count(t, d); err != nil || n != 1 || !began {
		t.Fatal(n, err, began)
	}
	if h, err := localhub.Start(t.Context(), localhub.Config{Dir: dir, Synthetic: 20, Demo: true}); err == nil {
		_ = h.Close()
		t.Error("a demo started on real contacts")
	}
	h := start(t, localhub.Config{Dir: dir}) // the lock was given back
	if got := items(t, lookup(t, h, token(t, h), "0611111111")); len(got) != 1 || got[0].Family != "Echt" {
		t.Errorf("%+v", got)
	}
}

// TestImportIntoMemory: the one connection survives, whatever happens.
func TestImportIntoMemory(t *testing.T) {
	h := start(t, localhub.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	file := &people{n: 5000, format: localhub.CSV}
	if _, err := h.Import(ctx, file, localhub.CSV, localhub.ImportOptions{Progress: func(int, int64) { cancel() }}); !errors.Is(err, context.Canceled) || file.made >= file.n {
		t.Error(file.made, err)
	}
	if n, lines := importText(t, h.Data, localhub.CSV, "achternaam,telefoon\nEcht,0611111111\n", localhub.ImportOptions{}); n != 1 || count(t, h.Data) != 1 {
		t.Error(n, lines)
	}
	if got := items(t, lookup(t, h, token(t, h), "0611111111")); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// people is a file of any size that takes no memory.
type people struct {
	n      int
	format localhub.Format
	last   string // a row behind the others

	made int
	b    bytes.Buffer
}

func (p *people) Read(to []byte) (int, error) {
	for p.b.Len() == 0 {
		switch {
		case p.format == localhub.CSV && p.made == 0:
			p.b.WriteString("id;backofficerelatienummer;voorletters;voorvoegsel;achternaam;straat;huisnummer;toevoeging;postcode;plaats;landIso;producent_code;producent;telefoon;telefoon2;email\r\n")
		case p.made > p.n:
			return 0, io.EOF
		case p.made == p.n && p.last != "":
			p.b.WriteString(p.last)
		case p.made == p.n:
			p.made++
			return 0, io.EOF
		}
		if p.made < p.n {
			p.write(p.made)
		}
		p.made++
	}
	return p.b.Read(to)
}

func (p *people) write(i int) {
	if p.format == localhub.CSV {
		fmt.Fprintf(&p.b, "person-%d;%d;J.M.;van der;Naam-%c;Lindelaan;%d;A;1234AB;Ons Dorp;NL;P001;Kantoor Ons Dorp;06-%08d;020 %07d;p%d@example.org\r\n",
			i*7919%p.n, 100000+i, 'A'+i%26, i%200+1, i, i/3, i)
		return
	}
	fmt.Fprintf(&p.b, `{"id":"person-%d","backofficerelatienummer":"%d","voorletters":"J.M.","achternaam":"Naam-%c","voorvoegsel":"van der","woonadres":{"straat":"Lindelaan","huisnummer":"%d","toevoeging":"A","postcode":"1234AB","plaats":"Ons Dorp","landIso":"NL"},"producent":{"code":"P001","description":"Kantoor Ons Dorp"},"laatstGewijzigdDoor":{"code":"","description":""},"link":"https://hub.example/","telefoon":["06-%08d","020 %07d"],"email":["p%d@example.org"]}`+"\n",
		i*7919%p.n, 100000+i, 'A'+i%26, i%200+1, i, i/3, i)
}

func large() int {
	if raced {
		return 3_000
	}
	return 100_000
}

// TestImportIsFastAndSmall: a hundred thousand contacts in time, and in no more
// memory than ten thousand.
func TestImportIsFastAndSmall(t *testing.T) {
	for name, f := range map[string]localhub.Format{"CSV": localhub.CSV, "JSON": localhub.JSON} {
		var peaks []uint64
		for _, n := range []int{large() / 10, large()} {
			d := openData(t, t.TempDir())
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			idle, peak := m.HeapAlloc, uint64(0)
			began := time.Now()
			got, err := d.Import(t.Context(), &people{n: n, format: f}, f, localhub.ImportOptions{Progress: func(int, int64) {
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}})
			took := time.Since(began)
			if err != nil || got != n || count(t, d) != n {
				t.Fatal(got, err)
			}
			grown := peak - min(idle, peak)
			peaks = append(peaks, grown)
			t.Logf("%s: %d contacts in %v, %.1f MB above idle", name, n, took.Round(time.Millisecond), float64(grown)/1e6)
			if took > 10*time.Second && !raced {
				t.Errorf("%s: %d contacts took %v", name, n, took)
			}
			if grown > 20e6 {
				t.Errorf("%s: %d contacts took %d bytes", name, n, grown)
			}
		}
		if peaks[1] > peaks[0]+10e6 {
			t.Errorf("%s: memory grows with the file: %v", name, peaks)
		}
	}
}

// TestImportAllOrNone: a bad last row, and an end in the middle.
func TestImportAllOrNone(t *testing.T) {
	for name, f := range map[string]localhub.Format{"CSV": localhub.CSV, "JSON": localhub.JSON} {
		d := openData(t, t.TempDir())
		if n, lines := importText(t, d, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{}); n != 1 {
			t.Fatal(lines)
		}
		unchanged := func(what string) {
			t.Helper()
			_, found, err := d.Contact(t.Context(), "van-eerder")
			if n := count(t, d); n != 1 || !found || err != nil {
				t.Fatalf("%s: %s: %d contacts, %v", name, what, n, err)
			}
		}
		n := large() / 20
		if raced {
			n = 1000
		}
		last, where := ";;;;;;;;;;;;;;;\"\"\r\nvan-eerder;;;;X;;;;;;;;;;;geen adres\r\n", fmt.Sprint("line ", n+3)
		if f == localhub.JSON {
			last, where = `{"achternaam":"X","email":"geen adres"}`, fmt.Sprint("record ", n+1)
		}
		for _, replace := range []bool{false, true} {
			_, err := d.Import(t.Context(), &people{n: n, format: f, last: last}, f, localhub.ImportOptions{Replace: replace})
			var wrong *localhub.ImportError
			if !errors.As(err, &wrong) || fmt.Sprint(wrong.Lines()) != "["+where+": email: is no e-mail address]" {
				t.Errorf("%s: %v", name, err)
			}
			unchanged("a bad last row")
			for _, after := range []int{1000, n} { // while reading, and before storing
				ctx, cancel := context.WithCancel(t.Context())
				_, err := d.Import(ctx, &people{n: n, format: f}, f, localhub.ImportOptions{Replace: replace, Progress: func(rows int, _ int64) {
					if rows >= after {
						cancel()
					}
				}})
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
				unchanged("an end in the middle")
			}
			_, err = d.Import(t.Context(), io.MultiReader(&people{n: n, format: f}, broken{}), f, localhub.ImportOptions{Replace: replace})
			if !errors.Is(err, errBroken) {
				t.Errorf("%s: %v", name, err)
			}
			unchanged("a file that cannot be read on")
		}
		if got, err := d.Import(t.Context(), &people{n: n, format: f}, f, localhub.ImportOptions{}); got != n || err != nil || count(t, d) != n+1 {
			t.Errorf("%s: then: %d, %v", name, got, err)
		}
	}
}

var errBroken = errors.New("broken disk")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// TestImportWhileServing: a running hub goes on answering, sees all of an import
// or nothing, and its own writing waits for its turn.
func TestImportWhileServing(t *testing.T) {
	n := large() / 2
	dir := t.TempDir()
	h := start(t, localhub.Config{Dir: dir})
	if _, err := h.AddContact(t.Context(), person("Eerder", "0699999999")); err != nil {
		t.Fatal(err)
	}
	tok, c := token(t, h), client(t)
	ask := func(number string) int {
		return len(items(t, do(t, c, "GET", h.BaseURL()+"/contact/contacts/telephony?q="+number, "", "Authorization", "Bearer "+tok)))
	}
	d := openData(t, dir)
	done := make(chan error, 1)
	reading := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := d.Import(t.Context(), &people{n: n, format: localhub.CSV}, localhub.CSV, localhub.ImportOptions{Progress: func(int, int64) {
			once.Do(func() {
				// The import waits for this: nothing is locked while it reads.
				if err := h.SetClientSecret(t.Context(), "meanwhile", org, secret); err != nil {
					t.Error(err)
				}
				close(reading)
			})
		}})
		done <- err
	}()
	<-reading
	var slowest, longest time.Duration
	lookups, writes := 0, 0
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		began := time.Now()
		first := ask("0600000001")
		last := ask(fmt.Sprintf("06%08d", n-1))
		if ask("0699999999") != 1 {
			t.Fatal("who was there is not found")
		}
		slowest = max(slowest, time.Since(began)/3)
		lookups += 3
		if first > last || ended && last != 1 {
			t.Fatalf("the first is found %d times, the last %d", first, last)
		}
		began = time.Now()
		if err := h.SetClientSecret(t.Context(), "another", org, secret); err != nil {
			t.Fatalf("the hub cannot write: %v", err)
		}
		longest = max(longest, time.Since(began))
		writes++
	}
	t.Logf("%d contacts: %d lookups meanwhile, the slowest three %v each; %d writes, the longest wait %v", n, lookups, slowest.Round(time.Millisecond), writes, longest.Round(time.Millisecond))
	if slowest > 2*time.Second {
		t.Errorf("a lookup took %v", slowest)
	}
}

// TestImportProcess is the import that TestImportIsKilled ends; on its own it
// does nothing.
func TestImportProcess(t *testing.T) {
	dir := os.Getenv("IMPORT_PROCESS_DIR")
	if dir == "" {
		return
	}
	d := openData(t, dir)
	fmt.Println("begin")
	if _, err := d.Import(t.Context(), &people{n: large() / 2, format: localhub.CSV}, localhub.CSV, localhub.ImportOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("stored")
}

// TestImportIsKilled: after kill -9 the hub has what it had, or everything.
func TestImportIsKilled(t *testing.T) {
	rounds := 5
	if os.Getenv("SOAK") != "" {
		rounds = 50
	}
	dir := t.TempDir()
	d := openData(t, dir)
	if n, lines := importText(t, d, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{}); n != 1 {
		t.Fatal(lines)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	storing := 0 // rounds that ended in the middle of storing
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestImportProcess$", "-test.timeout=5m")
		cmd.Env = append(os.Environ(), "IMPORT_PROCESS_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "begin" {
			t.Fatal("the import did not start")
		}
		ended := make(chan bool, 1)
		go func() { ended <- lines.Scan() && lines.Text() == "stored" }() // ends with the process
		// The log grows while the contacts are stored; it is all but empty before.
		enough := random.Int64N(2 << 20)
		if round == 0 {
			enough = -1 // at once, while the file is read
		}
		stored, gone := false, false
		tick := time.NewTicker(time.Millisecond)
		for !gone {
			select {
			case stored = <-ended:
				gone = true
			case <-tick.C:
				if i, err := os.Stat(filepath.Join(dir, "hub.db-wal")); err == nil && i.Size() > enough+64<<10 || enough < 0 {
					gone = true
				}
			}
		}
		tick.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		after := openData(t, dir)
		if ok, err := after.Intact(t.Context()); !ok || err != nil {
			t.Fatalf("round %d (seed %d): the database is broken: %v", round, seed, err)
		}
		_, found, err := after.Contact(t.Context(), "van-eerder")
		switch n := count(t, after); {
		case err != nil:
			t.Fatal(err)
		case found && n == 1 && !stored:
			if enough >= 0 {
				storing++
			}
		case !found && n == large()/2: // it was quicker than we were: back to the beginning
			if n, lines := importText(t, after, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{Replace: true}); n != 1 {
				t.Fatal(lines)
			}
		default:
			t.Fatalf("round %d (seed %d): %d contacts", round, seed, n)
		}
	}
	t.Logf("%d rounds, %d of them ended in the middle of storing", rounds, storing)
	if storing == 0 {
		t.Errorf("no round of %d was ended while it stored (seed %d)", rounds, seed)
	}
}
