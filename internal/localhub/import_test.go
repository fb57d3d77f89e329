package localhub

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	encodings "golang.org/x/text/encoding/unicode"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func openFolder(t testing.TB, dir string) *Data {
	t.Helper()
	d := must.Get(OpenData(t.Context(), dir))(t)
	t.Cleanup(func() {
		must.Do(t, d.Close())
	})
	return d
}

func importText(t testing.TB, d *Data, f Format, text string, opt ImportOptions) (n int, lines []string) {
	t.Helper()
	n, err := d.Import(t.Context(), strings.NewReader(text), f, opt)
	var wrong *ImportError
	switch {
	case errors.As(err, &wrong):
		for _, line := range wrong.Lines() {
			lines = append(lines, line.Error())
		}
	case err != nil:
		lines = []string{err.Error()}
	}
	if err != nil && n != 0 {
		t.Errorf("%d taken with %v", n, err)
	}
	return n, lines
}

func count(t testing.TB, d *Data) int {
	t.Helper()
	return must.Get(d.Count(t.Context()))(t)
}

var samplePeople = []Record{
	{Contact: contact.Contact{ID: "c-1", RelationNumber: "100203", Initials: "J.M.", Prefix: "van der", FamilyName: "Berg",
		Address:  contact.Address{Street: "Lindelaan", Number: "12", Addition: "A", PostalCode: "1234AB", City: "Ons Dorp", Country: "NL"},
		Producer: contact.CodedValue{Code: "P001", Description: "Kantoor Ons Dorp"}, LastModifiedBy: contact.CodedValue{Code: "MJO", Description: "M. de Jong"}},
		Numbers: []string{"020 123 4567", "06-12345678"}, Emails: []string{"jm.berg@example.org"}},
	{Contact: contact.Contact{ID: "c-2", RelationNumber: "0100206", Initials: "É.", FamilyName: "Özdemir-'t Hart",
		Address:  contact.Address{Street: "Laan van de Zeven Zwanen", Number: "1", PostalCode: "1590 AB", City: "Zaanwijk"},
		Producer: contact.CodedValue{Code: "P002", Description: "Kantoor Zaanwijk"}, LastModifiedBy: contact.CodedValue{Code: "KBA", Description: "K. Bakhuis"}},
		Numbers: []string{"020/123.4567", "+31 (0)6 1234 0001"}, Emails: []string{"e.ozdemir@example.org", "info@example.org"}},
	{Contact: contact.Contact{ID: "c-3", RelationNumber: "100209", FamilyName: "De Oude Polis; verzekeringen",
		Address:  contact.Address{Street: "Kerkpad achterom", Number: "7", Addition: "bis", PostalCode: "48531", City: "Bad Moorwiese", Country: "DE"},
		Producer: contact.CodedValue{Code: "P020", Description: `De "Oude" Polis`}},
		Numbers: []string{"0881230001", "112"}},
	{Contact: contact.Contact{ID: "c-4", RelationNumber: "100212", Initials: "A.", Prefix: "in 't", FamilyName: "Veld"}},
}

func TestImportSamples(t *testing.T) {
	utf8 := must.Get(os.ReadFile("testdata/contacts.csv"))(t)
	bare := bytes.TrimPrefix(utf8, []byte("\ufeff"))
	if len(bare) == len(utf8) {
		t.Error("the sample has no mark, as spreadsheets write it")
	}
	answer := must.Get(os.ReadFile("testdata/contacts.json"))(t)
	var records struct {
		Data struct{ Items []json.RawMessage }
	}
	must.Do(t, json.Unmarshal(answer, &records))
	encode := func(e interface{ Bytes([]byte) ([]byte, error) }, s []byte) string {
		b := must.Get(e.Bytes(s))(t)
		return string(b)
	}
	resep := func(sep rune, head string) string {
		r := csv.NewReader(bytes.NewReader(bare))
		r.Comma = ';'
		all := must.Get(r.ReadAll())(t)
		var b strings.Builder
		b.WriteString(head)
		w := csv.NewWriter(&b)
		w.Comma = sep
		must.Do(t, w.WriteAll(all))
		return b.String()
	}
	array := must.Get(json.Marshal(records.Data.Items))(t)
	var lines bytes.Buffer
	for _, r := range records.Data.Items {
		must.Do(t, json.Compact(&lines, r))
		lines.WriteString("\r\n")
	}
	d := openFolder(t, t.TempDir())
	for name, c := range map[string]struct {
		format Format
		text   string
	}{
		"utf-8 with mark":       {CSV, string(utf8)},
		"utf-8":                 {CSV, string(bare)},
		"windows-1252":          {CSV, encode(charmap.Windows1252.NewEncoder(), bare)},
		"utf-16 le":             {CSV, encode(encodings.UTF16(encodings.LittleEndian, encodings.UseBOM).NewEncoder(), bare)},
		"utf-16 be":             {CSV, encode(encodings.UTF16(encodings.BigEndian, encodings.UseBOM).NewEncoder(), bare)},
		"comma":                 {CSV, resep(',', "")},
		"tab":                   {CSV, resep('\t', "")},
		"an old Mac's":          {CSV, strings.ReplaceAll(string(utf8), "\r\n", "\r")},
		"says its separator":    {CSV, resep(',', "sep=,\r\n")},
		"names of the API":      {CSV, strings.NewReplacer(";straat;", ";Woonadres.Straat;", "producent_code;producent;", "Producent.Code;producent.DESCRIPTION;", "backofficerelatienummer", "Eigen Relatie-Nummer", "telefoon2", "Telefoon 2", "email", "E-mail").Replace(string(bare))},
		"answer":                {JSON, string(answer)},
		"answer with a mark":    {JSON, "\ufeff" + string(answer)},
		"two answers":           {JSON, `{"data":{"total":4,"items":[]},"meta":[1,{"a":2}]}` + string(answer)},
		"array":                 {JSON, string(array)},
		"one after the other":   {JSON, lines.String()},
		"another number's name": {JSON, strings.ReplaceAll(string(answer), "backofficerelatienummer", "eigenrelatienummer")},
		"numbers unquoted":      {JSON, strings.NewReplacer(`"100203"`, "100203", `"12"`, "12", `"112"`, "112").Replace(string(answer))},
	} {
		t.Run(name, func(t *testing.T) {
			var warned []RowError
			n, wrong := importText(t, d, c.format, c.text, ImportOptions{Replace: true, Warn: func(w RowError) { warned = append(warned, w) }})
			if n != len(samplePeople) || len(wrong) > 0 {
				t.Fatalf("%d taken: %q", n, wrong)
			}
			for _, want := range samplePeople {
				if got := held(t, d, want.ID); !sameRecord(got, want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			}
			if len(warned) != 2 || warned[0].Problem.Key != text.LocalhubImportShort || warned[1].Problem.Key != text.LocalhubImportNoNumber {
				t.Errorf("warned of %+v", warned)
			}
			if real := single[int](t, d, "SELECT count(*) FROM contacts WHERE invented = 0"); real != n {
				t.Errorf("%d of them real", real)
			}
		})
	}
}

// sameRecord compares everything but the order of numbers and addresses.
func sameRecord(a, b Record) bool {
	same := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return a.Contact == b.Contact && same(a.Numbers, b.Numbers) && same(a.Emails, b.Emails)
}

func TestImportRefusesRows(t *testing.T) {
	long := strings.Repeat("x", 513)
	many := strings.Repeat("0612345678|", 21)
	const names = "; the names are id, backofficerelatienummer, voorletters, voorvoegsel, achternaam, straat, huisnummer, toevoeging, postcode, plaats, landIso, producent_code, producent, gewijzigd_code, gewijzigd, telefoon, email"
	d := openFolder(t, t.TempDir())
	for name, c := range map[string]struct {
		format Format
		text   string
		want   []string
	}{
		"quoted newlines": {CSV, "achternaam;telefoon;email\r\n\r\n\"A\r\nB\";\"06\n12345678\";\r\nC;;x\r\n\"D\n\n\nE\";;\nF;;\"y\nz\"\nG;;\n;;;\n\"H\nI\";\"1\n\";x\n;1;\n",
			[]string{"line 6: email: is no e-mail address", "line 11: email: is no e-mail address", "line 15: email: is no e-mail address", "line 18: neither achternaam nor voorletters"}},
		"the first line says it": {CSV, "sep=;\r\nachternaam;landIso\r\nA;Nederland\r\n", []string{"line 3: landIso: is no country code such as NL"}},
		"in quotation marks":     {CSV, "\"sep=,\"\nachternaam,landIso\nA,Nederland\n", []string{"line 3: landIso: is no country code such as NL"}},
		"in one":                 {CSV, "\"sep=;\nachternaam\nA\n", []string{"line 1: the header row cannot be read: a quotation mark is missing, or there is one too many"}},
		"several in a row": {CSV, "achternaam,id,relatienummer,telefoon\n" + long + ",a/b,R1,\"0612345678 / 0201234567\"\n", []string{
			"line 2: achternaam: is longer than 512 bytes", "line 2: id: is not 1 to 200 of the characters A-Z a-z 0-9 - . _ ~, or is one or two dots alone",
			"line 2: relatienummer: holds something other than digits", "line 2: telefoon: holds too many digits for one number; put ; or | between them"}},
		"numbers": {CSV, "achternaam,telefoon,telefoon2\nA,\"3,16123E+10\",\nB,6.1E+08,\nC," + many + ",1\nD," + many[:20*11] + ",\nE," + strings.Repeat("x", 257) + ",\n", []string{
			"line 2: telefoon: was shortened by a spreadsheet (6,1E+08); make the column text there",
			"line 3: telefoon: was shortened by a spreadsheet (6,1E+08); make the column text there",
			"line 4: telefoon: more than 20 numbers", "line 4: telefoon2: more than 20 numbers", "line 6: telefoon: is longer than the 256 bytes of a number"}},
		"addresses":            {CSV, "achternaam,email\nA,\"" + strings.Repeat("a@b;", 21) + "\"\n", []string{"line 2: email: more than 20 addresses"}},
		"fields":               {CSV, "achternaam,plaats,\nA,B\nA,B,\nA,B,,\nA,B,C\nA,B,,C\n", []string{"line 2: has 2 fields, the header row 3", "line 5: field 3 has no name in the header row", "line 6: field 4 has no name in the header row"}},
		"control":              {CSV, "achternaam\nA\x00B\n", []string{"line 2: achternaam: holds a control character"}},
		"broken utf-8":         {CSV, "achternaam\né\n\xff\n", []string{"line 3: achternaam: holds a character that cannot be read; save the file as UTF-8"}},
		"hole in windows-1252": {CSV, "achternaam\n\xe9\n\x81\n", []string{"line 3: achternaam: holds a character that cannot be read; save the file as UTF-8"}},
		"bare quote":           {CSV, "achternaam\nA\nB \"C\" D\n\"E\"\nF;\"\n", []string{"line 3: a quotation mark inside a field that has none around it", "line 5: a quotation mark is missing, or there is one too many; nothing after it was read"}},
		"open quote":           {CSV, "achternaam\nA\n\"B\nC\nD\n", []string{"line 3: a quotation mark is missing, or there is one too many; nothing after it was read"}},
		"twice":                {CSV, "id,achternaam\na,A\nb,B\na,C\n,D\n,E\nb,\na,F\n", []string{"line 4: id: the same as in line 2", "line 7: neither achternaam nor voorletters", "line 8: id: the same as in line 2"}},
		"unknown name":         {CSV, "achternaam,telfoon,Mobiel 2\nA,1,2\n", []string{`line 1: unknown "telfoon", "Mobiel 2"` + names}},
		"no header":            {CSV, "Geheimhouder,0698765432\nBerg,1\n", []string{"line 1: no known name" + names}},
		"a name twice":         {CSV, "straat,woonadres.straat,achternaam\nA,B,C\n", []string{"line 1: straat: a column for this occurs twice"}},
		"nothing":              {CSV, "", []string{"the file holds no contacts"}},
		"header only":          {CSV, "\ufeffachternaam\r\n\r\n", []string{"the file holds no contacts"}},
		"too long a row":       {CSV, "achternaam\nA\n\"" + strings.Repeat("b\n", 1<<20) + "\"\n", []string{"line 2: this or what follows is more than 1048576 bytes; a quotation mark or bracket may be missing"}},

		"records": {JSON, `[{"achternaam":"A"},{"voorletters":""},7,{"achternaam":"B","email":["x",{}]},{"achternaam":true},{"achternaam":"C","telefoon":1.5},{"telfoon":"1","achternaam":"A"},{"x":"Geheimhouder"},null]`, []string{
			"record 2: neither achternaam nor voorletters", "record 3: is no object", "record 4: email: is no e-mail address", "record 4: email: is no text",
			"record 5: achternaam: is no text", "record 6: telefoon: is no whole number; write it as text", `record 7: unknown "telfoon"` + names, "record 8: no known name" + names, "record 9: is no object"}},
		"inside":           {JSON, `{"data":{"items":[{"achternaam":"A","woonadres":{"straat":["B"],"hoogte":1},"producent":{"code":"` + long + `"},"laatstGewijzigdDoor":null}]}}`, []string{"record 1: woonadres.straat: is no text", "record 1: producent.code: is longer than 512 bytes", `record 1: unknown "woonadres.hoogte"` + names}},
		"a field twice":    {JSON, `{"achternaam":"A","Achternaam":"B"}`, []string{"record 1: Achternaam: occurs twice"}},
		"cut":              {JSON, `[{"achternaam":"A"},{"achternaam":"B`, []string{"record 2: is not valid JSON, or has a name twice, near byte 33; nothing after it was read"}},
		"not JSON":         {JSON, "achternaam;Geheimhouder", []string{"record 1: is not valid JSON, or has a name twice, near byte 0; nothing after it was read"}},
		"name twice":       {JSON, `{"achternaam":"A","achternaam":"B"}`, []string{"record 1: is not valid JSON, or has a name twice, near byte 17; nothing after it was read"}},
		"ids twice":        {JSON, `{"achternaam":"A","id":"a"} {"achternaam":"B","id":"a"}`, []string{"record 2: id: the same as in record 1"}},
		"no items":         {JSON, `{"data":{"items":[]}}`, []string{"the file holds no contacts"}},
		"too long a text":  {JSON, `[{"achternaam":"A"},{"achternaam":"` + strings.Repeat("b", 2<<20), []string{"record 2: this or what follows is more than 1048576 bytes; a quotation mark or bracket may be missing"}},
		"too deep a thing": {JSON, `[{"achternaam":"A"},{"link":` + strings.Repeat("[", 20000), []string{"record 2: is not valid JSON, or has a name twice, near byte 10026; nothing after it was read"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, check := range []bool{true, false} {
				_, got := importText(t, d, c.format, c.text, ImportOptions{Check: check})
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

func TestImportCleansText(t *testing.T) {
	d := openFolder(t, t.TempDir())
	n, lines := importText(t, d, CSV, "id;achternaam;telefoon;telefoon 2\na;\"  van\t\r\n Dam \";\u202a06\u201112345678\u202c; 06\u00a012345678 ;\n", ImportOptions{})
	if n != 1 || len(lines) > 0 {
		t.Fatal(n, lines)
	}
	if r := held(t, d, "a"); r.FamilyName != "van Dam" || len(r.Numbers) != 1 || r.Numbers[0] != "06\u201112345678" {
		t.Errorf("%+v", r)
	}
	// Windows-1252 is more than Latin-1: \x91 at once, and \x80 only much later.
	text := "id;achternaam\nb;\x91t Hart\n" + strings.Repeat("\n", 200_000) + "c;\x80\n"
	if n, lines := importText(t, d, CSV, text, ImportOptions{}); n != 2 {
		t.Fatal(n, lines)
	}
	for id, want := range map[string]string{"b": "‘t Hart", "c": "€"} {
		if r := held(t, d, id); r.FamilyName != want {
			t.Errorf("%+v", r)
		}
	}
}

func TestImportReplaceAndCheck(t *testing.T) {
	d := openFolder(t, t.TempDir())
	const one = "id,achternaam,telefoon\na,Een,0611111111\nb,Twee,0622222222\n"
	step := func(text string, opt ImportOptions, want int, holds int, wrong ...string) {
		t.Helper()
		n, lines := importText(t, d, CSV, text, opt)
		if n != want || fmt.Sprint(lines) != fmt.Sprint(wrong) || count(t, d) != holds {
			t.Errorf("%d taken, %d there: %q", n, count(t, d), lines)
		}
	}
	step(one, ImportOptions{Check: true}, 2, 0)
	step(one, ImportOptions{}, 2, 2)
	const there = ": id: the hub has a contact with this id already"
	step(one, ImportOptions{}, 0, 2, "line 2"+there, "line 3"+there)
	step(one, ImportOptions{Check: true}, 0, 2, "line 2"+there, "line 3"+there)
	step(one, ImportOptions{Check: true, Replace: true}, 2, 2)
	step("achternaam\nDrie\nVier\n", ImportOptions{}, 2, 4) // after the others
	step("id,achternaam,telefoon\nb,Vijf,0655555555\n", ImportOptions{Replace: true}, 1, 1)
	step("achternaam\n\n", ImportOptions{Replace: true}, 0, 1, "the file holds no contacts")
	if r := held(t, d, "b"); r.FamilyName != "Vijf" || fmt.Sprint(r.Numbers) != "[0655555555]" {
		t.Errorf("%+v", r)
	}
	if n := single[int](t, d, "SELECT count(*) FROM terms"); n != 1 {
		t.Errorf("%d numbers left", n)
	}
	if said := single[string](t, d, "PRAGMA integrity_check"); said != "ok" {
		t.Error(said)
	}
}

// TestImportFindsIDsAddedMeanwhile checks that an id that somebody adds after the file was
// checked is reported with its row, like one that was there before.
func TestImportFindsIDsAddedMeanwhile(t *testing.T) {
	const file = "id,achternaam\na,Een\nb,Twee\n"
	d := openFolder(t, t.TempDir())
	m := &importer{Data: d, ctx: t.Context()}
	m.conn = must.Get(d.writeDB.Conn(m.ctx))(t)
	defer m.conn.Close()
	must.Get(m.conn.ExecContext(m.ctx, createStagingSQL))(t)
	must.Do(t, m.tx(nil, func(tx *sql.Tx) error { return m.stage(tx, strings.NewReader(file)) }))
	must.Do(t, m.checkIDs(m.conn))
	importText(t, openFolder(t, d.dir), CSV, "id,achternaam\nb,Eerder\n", ImportOptions{})
	err := m.tx(nil, m.store)
	if wrong, ok := errors.AsType[*ImportError](err); !ok || fmt.Sprint(wrong.Lines()) != "[line 3: id: the hub has a contact with this id already]" {
		t.Error(err)
	}
	if n := count(t, d); n != 1 || held(t, d, "b").FamilyName != "Eerder" {
		t.Errorf("%d contacts", n)
	}
}

// TestImportAndDemo checks that a hub never mixes invented and real
// people, and that one that shows its password has no real ones.
func TestImportAndDemo(t *testing.T) {
	const file = "achternaam,telefoon\nEcht,0611111111\n"
	dir := t.TempDir()
	demo := must.Get(Start(t.Context(), Config{Dir: dir, Synthetic: 20, Demo: true}))(t)
	defer demo.Close()
	refused := func(d *Data, opt ImportOptions, want string) {
		t.Helper()
		if _, lines := importText(t, d, CSV, file, opt); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%+v: %q, want %q", opt, lines, want)
		}
		if n := count(t, d); n != 20 {
			t.Errorf("%d contacts", n)
		}
	}
	refused(demo.Data, ImportOptions{Replace: true}, "the demo takes invented contacts only")
	d := openFolder(t, dir)
	refused(d, ImportOptions{}, "have to replace them")
	refused(d, ImportOptions{Replace: true}, "end it first")
	refused(d, ImportOptions{Replace: true, Check: true}, "end it first")
	must.Do(t, demo.Close())
	refused(d, ImportOptions{}, "have to replace them")
	began := false
	other := openFolder(t, t.TempDir())
	_, err := other.Import(t.Context(), strings.NewReader(file), CSV, ImportOptions{Progress: func(int, int64) {
		again := openFolder(t, other.dir)
		must.Get(again.AddInvented(t.Context(), person("Verzonnen", "0622222222")))(t)
	}})
	if n := count(t, other); err == nil || !strings.Contains(err.Error(), "meanwhile") || n != 1 {
		t.Error(n, err)
	}
	_, err = d.Import(t.Context(), strings.NewReader(file), CSV, ImportOptions{Replace: true, Progress: func(int, int64) {
		began = true
		_ = notStarted(t, Config{Dir: dir, Demo: true})
	}})
	if n := count(t, d); err != nil || n != 1 || !began {
		t.Fatal(n, err, began)
	}
	_ = notStarted(t, Config{Dir: dir, Synthetic: 20, Demo: true})
	h := start(t, Config{Dir: dir}) // the lock was released
	if got := items(t, lookup(t, h, token(t, h), "0611111111")); len(got) != 1 || got[0].Family != "Echt" {
		t.Errorf("%+v", got)
	}
}
