package localhub

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/text"
)

// column is the destination of a value: one of columnTable, or ignoredColumn.
type column uint8

// columnTable lists the columns of a file: our name, the database
// column, the Contact API's other names, and the field of a record. The
// last two columns may occur several times, and are stored elsewhere.
var columnTable = [...]struct {
	name   string
	stored string
	others []string
	field  func(*Record) *string
}{
	idColumn:       {"id", "id", nil, func(r *Record) *string { return &r.ID }},
	relationColumn: {DefaultRelationField, "relation", nil, func(r *Record) *string { return &r.RelationNumber }},
	{"voorletters", "initials", nil, func(r *Record) *string { return &r.Initials }},
	{"voorvoegsel", "prefix", nil, func(r *Record) *string { return &r.Prefix }},
	{"achternaam", "family", nil, func(r *Record) *string { return &r.FamilyName }},
	{"straat", "street", []string{"woonadres.straat"}, func(r *Record) *string { return &r.Address.Street }},
	{"huisnummer", "house", []string{"woonadres.huisnummer"}, func(r *Record) *string { return &r.Address.Number }},
	{"toevoeging", "addition", []string{"woonadres.toevoeging"}, func(r *Record) *string { return &r.Address.Addition }},
	{"postcode", "postal", []string{"woonadres.postcode"}, func(r *Record) *string { return &r.Address.PostalCode }},
	{"plaats", "city", []string{"woonadres.plaats"}, func(r *Record) *string { return &r.Address.City }},
	countryColumn: {"landIso", "country", []string{"woonadres.landIso"}, func(r *Record) *string { return &r.Address.Country }},
	{"producent_code", "producer_code", []string{"producent.code"}, func(r *Record) *string { return &r.Producer.Code }},
	{"producent", "producer", []string{"producent.description"}, func(r *Record) *string { return &r.Producer.Description }},
	{"gewijzigd_code", "changed_code", []string{"laatstGewijzigdDoor.code"}, func(r *Record) *string { return &r.LastModifiedBy.Code }},
	{"gewijzigd", "changed", []string{"laatstGewijzigdDoor.description", "laatstGewijzigdDoor"}, func(r *Record) *string { return &r.LastModifiedBy.Description }},
	phoneColumn: {"telefoon", "", nil, nil},
	emailColumn: {"email", "", nil, nil},
}

// Columns with special treatment.
const (
	idColumn       column = 0
	relationColumn column = 1
	countryColumn  column = 10
	phoneColumn    column = 15 // this and the next may occur several times
	emailColumn    column = 16
	ignoredColumn  column = 17
)

// ImportColumns returns the columns of a file for Import.
func ImportColumns() (names []string) {
	for _, c := range columnTable {
		names = append(names, c.name)
	}
	return names
}

// columnsByName maps names, as usually written and as returned by plainName, to columns.
var columnsByName = func() map[string]column {
	m := map[string]column{"link": ignoredColumn} // follows from the hub's address
	for i, c := range columnTable {
		for _, name := range append([]string{c.name}, c.others...) {
			m[name], m[plainName(name)] = column(i), column(i)
		}
	}
	return m
}()

// plainName removes common variations in spelling from a name.
func plainName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
}

// columnOf returns the column for a name, such as telefoon2 or Woonadres.Straat. The
// relation number may have any name that ends in "relatienummer".
func columnOf(name string) (c column, ok bool) {
	if c, ok := columnsByName[name]; ok {
		return c, true
	}
	plain := plainName(name)
	if c, ok := columnsByName[plain]; ok {
		return c, true
	}
	switch strings.TrimRight(plain, "0123456789") {
	case "telefoon":
		return phoneColumn, true
	case "email":
		return emailColumn, true
	}
	return relationColumn, strings.HasSuffix(plain, "relatienummer")
}

type row struct {
	number   int
	rejected bool
	set      [phoneColumn]bool
	Record
}

func (m *importer) setValue(c column, name, v string) {
	if c == ignoredColumn {
		return
	}
	v, problem := cleanValue(v)
	if problem != nil {
		m.rejectRow(name, problem)
		return
	}
	switch c {
	case phoneColumn:
		m.addPhone(name, v)
		return
	case emailColumn:
		m.addEmail(name, v)
		return
	}
	r := &m.row
	if r.set[c] {
		m.rejectRow(name, text.Errorf(text.LocalhubImportTwice))
		return
	}
	if r.set[c] = true; c == countryColumn {
		v = strings.ToUpper(v)
	}
	*columnTable[c].field(&r.Record) = v
	switch {
	case v == "":
	case c == idColumn && !validID(v):
		m.rejectRow(name, text.Errorf(text.LocalhubImportID))
	case c == relationColumn && strings.Trim(v, "0123456789") != "":
		m.rejectRow(name, text.Errorf(text.LocalhubImportDigits))
	case c == countryColumn && (len(v) < 2 || len(v) > 3 || strings.ContainsFunc(v, func(r rune) bool { return r < 'A' || r > 'Z' })):
		m.rejectRow(name, text.Errorf(text.LocalhubImportCountry))
	}
}

// splitValues splits a value into its telephone numbers or e-mail addresses.
func (m *importer) splitValues(c column, name, v string) {
	if c != phoneColumn && c != emailColumn {
		m.setValue(c, name, v)
		return
	}
	if len(v) > maxImportField {
		m.rejectRow(name, tooLong)
		return
	}
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ';' || r == '|' }) {
		m.setValue(c, name, part)
	}
}

// maxDigits is more than any single number has in any notation, and fewer than two have.
const maxDigits = 17

func (m *importer) addPhone(name, v string) {
	if v == "" {
		return
	}
	switch digits := strings.Map(onlyDigits, v); {
	case len(v) > maxTerm:
		m.rejectRow(name, text.Errorf(text.LocalhubImportLongNumber, maxTerm))
		return
	case !strings.Contains(v, "@") && len(digits) > maxDigits:
		m.rejectRow(name, text.Errorf(text.LocalhubImportManyDigits))
		return
	case isRounded(v):
		m.rejectRow(name, text.Errorf(text.LocalhubImportRounded))
		return
	case len(m.row.Numbers) == maxImportTerms:
		m.rejectRow(name, text.Errorf(text.LocalhubImportNumbers, maxImportTerms))
		return
	}
	if _, ok := lastNine(v); !ok {
		m.warn(name, text.LocalhubImportShort)
	}
	m.row.Numbers = append(m.row.Numbers, v)
}

func onlyDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return r
	}
	return -1
}

// isRounded reports whether v is a number in the form in which spreadsheets write large ones.
func isRounded(v string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToUpper(v), "E+")
	return found && mantissa != "" && exponent != "" &&
		strings.Trim(mantissa, "0123456789.,") == "" && strings.Trim(exponent, "0123456789") == ""
}

func (m *importer) addEmail(name, v string) {
	if v == "" {
		return
	}
	switch _, ok := emailTerm(v); {
	case !ok:
		m.rejectRow(name, text.Errorf(text.LocalhubImportNoEmail))
	case len(m.row.Emails) == maxImportTerms:
		m.rejectRow(name, text.Errorf(text.LocalhubImportEmails, maxImportTerms))
	default:
		m.row.Emails = append(m.row.Emails, v)
	}
}

func (m *importer) checkRow() {
	if m.row.rejected {
		return
	}
	if m.row.FamilyName == "" && m.row.Initials == "" {
		m.rejectRow("", text.Errorf(text.LocalhubImportNoName))
		return
	}
	if len(m.row.Numbers) == 0 {
		m.warn("", text.LocalhubImportNoNumber)
	}
}

var tooLong = text.Errorf(text.LocalhubImportLong, maxImportField)

// cleanValue reduces a value to one line, without invisible characters from copied text.
func cleanValue(v string) (clean string, problem *text.Error) {
	v = strings.TrimSpace(v)
	switch {
	case len(v) > maxImportField:
		return "", tooLong
	case !strings.ContainsFunc(v, isUnusual):
		return v, nil
	}
	v = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff' || r == '\u200b':
			return -1
		}
		return r
	}, v)
	switch {
	case strings.ContainsRune(v, utf8.RuneError):
		return "", text.Errorf(text.LocalhubImportUTF8)
	case strings.ContainsFunc(v, unicode.IsControl):
		return "", text.Errorf(text.LocalhubImportControl)
	}
	return strings.Join(strings.Fields(v), " "), nil
}

func isUnusual(r rune) bool {
	return r < ' ' || r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError || r == '\ufeff' || r == '\u200b')
}

// unknownNames returns the problem of a row or header with unknown names. They come from the file
// and are quoted only beside known ones: in a file without a header row, they are a person's data.
func unknownNames(names []string, anyKnown bool) *text.Error {
	if !anyKnown {
		return text.Errorf(text.LocalhubImportNames, strings.Join(ImportColumns(), ", "))
	}
	var some []string
	for _, n := range slices.Compact(names) {
		if len(some) == 5 {
			some = append(some, "…")
			break
		}
		some = append(some, `"`+displaytext.Truncate(n, maxShownName)+`"`)
	}
	return text.Errorf(text.LocalhubImportUnknown, strings.Join(some, ", "), strings.Join(ImportColumns(), ", "))
}
