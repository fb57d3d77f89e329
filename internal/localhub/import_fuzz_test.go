package localhub

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/testutil/must"
)

// fuzzImport reads a hostile file without a database and checks every row
// that would be stored, and every error.
func fuzzImport(t *testing.T, format Format, file []byte) {
	m := &importer{ctx: t.Context(), errs: ImportError{Format: format}}
	m.stageRow = func() error {
		r := &m.row
		for c := range phoneColumn {
			if v := *columnTable[c].field(&r.Record); len(v) > maxImportField || !utf8.ValidString(v) || strings.ContainsFunc(v, isUnusual) || v != strings.TrimSpace(v) {
				t.Errorf("%s: %q", columnTable[c].name, v)
			}
		}
		if r.ID != "" && !validID(r.ID) || r.FamilyName+r.Initials == "" {
			t.Errorf("%+v", r)
		}
		if len(r.Numbers) > maxImportTerms || len(r.Emails) > maxImportTerms {
			t.Errorf("%d numbers, %d addresses", len(r.Numbers), len(r.Emails))
		}
		for _, written := range slices.Concat(r.Numbers, r.Emails) {
			if len(written) > maxImportField || strings.ContainsFunc(written, isUnusual) {
				t.Errorf("term %q", written)
			}
		}
		return nil
	}
	if err := m.read(bytes.NewReader(file)); err != nil {
		t.Fatalf("not the file's: %v", err)
	}
	if len(m.errs.Rows) > maxRowErrors {
		t.Errorf("%d errors kept", len(m.errs.Rows))
	}
	var wrong *ImportError
	if errors.As(m.errs.orNil(), &wrong) {
		for i, said := range wrong.Lines() {
			line := said.Error()
			if len(line) > 2000 || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("error %d: %q", i, line)
			}
		}
	}
	if m.in.bytes != int64(len(file)) && len(m.errs.Rows) == 0 {
		t.Errorf("%d of %d bytes read", m.in.bytes, len(file))
	}
}

func seeds(f *testing.F, name string, more ...string) {
	b := must.Get(os.ReadFile("testdata/" + name))(f)
	f.Add(b)
	for _, s := range more {
		f.Add([]byte(s))
	}
}

func FuzzImportCSV(f *testing.F) {
	seeds(f, "contacts.csv", "sep=,\r\nachternaam,telefoon\r\nBerg,\"0612345678;020\r\n1234567\"\r\n", "\xff\xfea\x00c\x00h\x00",
		"achternaam\ttelefoon\n\xc9\t06\n\xc3\xa9\t\xff\n", "naam;telefoon\n", "achternaam;\"\n", "achternaam\na\"b\n\"c\" d\ne\n", "achternaam;\nx;y\n;;;\n")
	f.Fuzz(func(t *testing.T, file []byte) { fuzzImport(t, CSV, file) })
}

func FuzzImportJSON(f *testing.F) {
	seeds(f, "contacts.json", `[{"achternaam":"Berg","telefoon":"06-1"},null,1,{}]`, "{\"achternaam\":\"A\"}\n{\"achternaam\":\"B\",\"email\":[\"a@b\",[1]]}",
		`{"data":{"x":[1,2],"items":[{"woonadres":null,"producent":{"code":7}}]},"y":1}`, `{"a":1,"a":2}`, `[{"achternaam":"A"`, "\ufeff[]", `{"data":1}`)
	f.Fuzz(func(t *testing.T, file []byte) { fuzzImport(t, JSON, file) })
}
