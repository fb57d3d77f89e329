package localhub

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/text"
)

// column is where a value of a file goes.
type column uint8

const (
	colID column = iota
	colRelation
	colInitials
	colPrefix
	colFamily
	colStreet
	colHouse
	colAddition
	colPostal
	colCity
	colCountry
	colProducerCode
	colProducer
	colChangedCode
	colChanged
	colPhone // these two may come several times
	colEmail
	colIgnored
)

// columnNames are those of the Contact API, without the objects around them.
var columnNames = [colIgnored]string{
	"id", DefaultRelationField, "voorletters", "voorvoegsel", "achternaam", "straat", "huisnummer", "toevoeging", "postcode",
	"plaats", "landIso", "producent_code", "producent", "gewijzigd_code", "gewijzigd", "telefoon", "email",
}

// ImportColumns are the columns of a file for Import.
func ImportColumns() []string { return columnNames[:] }

// columnsByName has the names as the Contact API and we write them, and as
// plainName makes them.
var columnsByName = func() map[string]column {
	m := map[string]column{}
	add := func(name string, c column) { m[name], m[plainName(name)] = c, c }
	for i, name := range columnNames {
		add(name, column(i))
	}
	for c := colStreet; c <= colCountry; c++ {
		add("woonadres."+columnNames[c], c)
	}
	add("producent.code", colProducerCode)
	add("producent.description", colProducer)
	add("laatstGewijzigdDoor.code", colChangedCode)
	add("laatstGewijzigdDoor.description", colChanged)
	add("laatstGewijzigdDoor", colChanged)
	add("link", colIgnored) // it follows from the hub's address
	return m
}()

// plainName is a name without what people write differently.
func plainName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
}

// columnOf finds the column of a name, such as telefoon2 or Woonadres.Straat.
// The relation number may have any name that ends in "relatienummer".
func columnOf(name string) (c column, ok bool) {
	if c, ok := columnsByName[name]; ok {
		return c, true
	}
	name = plainName(name)
	if c, ok := columnsByName[name]; ok {
		return c, true
	}
	switch strings.TrimRight(name, "0123456789") {
	case "telefoon":
		return colPhone, true
	case "email":
		return colEmail, true
	}
	return colRelation, strings.HasSuffix(name, "relatienummer")
}

// row is a contact on its way in.
type row struct {
	at  int
	bad bool
	set [colPhone]bool
	Record
}

// field is where a value of the row goes.
func (r *row) field(c column) *string {
	return [colPhone]*string{
		&r.ID, &r.RelationNumber, &r.Initials, &r.Prefix, &r.FamilyName, &r.Address.Street, &r.Address.Number, &r.Address.Addition,
		&r.Address.PostalCode, &r.Address.City, &r.Address.Country, &r.Producer.Code, &r.Producer.Description,
		&r.LastModifiedBy.Code, &r.LastModifiedBy.Description,
	}[c]
}

// value takes a value of the present row. name is what the file calls its
// column.
func (m *importer) value(c column, name, v string) {
	if c == colIgnored {
		return
	}
	v, problem := cleanValue(v)
	if problem != nil {
		m.problem(name, problem)
		return
	}
	switch c {
	case colPhone:
		m.phone(name, v)
		return
	case colEmail:
		m.email(name, v)
		return
	}
	r := &m.row
	if r.set[c] {
		m.problem(name, text.Errorf(text.LocalhubImportTwice))
		return
	}
	if r.set[c] = true; c == colCountry {
		v = strings.ToUpper(v)
	}
	*r.field(c) = v
	switch {
	case v == "":
	case c == colID && !validID(v):
		m.problem(name, text.Errorf(text.LocalhubImportID))
	case c == colRelation && strings.Trim(v, "0123456789") != "":
		m.problem(name, text.Errorf(text.LocalhubImportDigits))
	case c == colCountry && (len(v) < 2 || len(v) > 3 || strings.ContainsFunc(v, func(r rune) bool { return r < 'A' || r > 'Z' })):
		m.problem(name, text.Errorf(text.LocalhubImportCountry))
	}
}

// several takes every telephone number or e-mail address out of one value.
func (m *importer) several(c column, name, v string) {
	if c != colPhone && c != colEmail {
		m.value(c, name, v)
		return
	}
	if len(v) > maxImportField {
		m.problem(name, tooLong)
		return
	}
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ';' || r == '|' }) {
		m.value(c, name, part)
	}
}

// mostDigits is more than any number has in any notation, and fewer than two
// numbers have.
const mostDigits = 17

func (m *importer) phone(name, v string) {
	if v == "" {
		return
	}
	switch digits := strings.Map(onlyDigits, v); {
	case len(v) > maxTerm:
		m.problem(name, text.Errorf(text.LocalhubImportLongNumber, maxTerm))
		return
	case !strings.Contains(v, "@") && len(digits) > mostDigits:
		m.problem(name, text.Errorf(text.LocalhubImportManyDigits))
		return
	case rounded(v):
		m.problem(name, text.Errorf(text.LocalhubImportRounded))
		return
	case len(m.row.Numbers) == maxImportTerms:
		m.problem(name, text.Errorf(text.LocalhubImportNumbers, maxImportTerms))
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

// rounded recognises a number as spreadsheets write large ones.
func rounded(v string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToUpper(v), "E+")
	return found && mantissa != "" && exponent != "" &&
		strings.Trim(mantissa, "0123456789.,") == "" && strings.Trim(exponent, "0123456789") == ""
}

func (m *importer) email(name, v string) {
	if v == "" {
		return
	}
	switch _, ok := email(v); {
	case !ok:
		m.problem(name, text.Errorf(text.LocalhubImportNoEmail))
	case len(m.row.Emails) == maxImportTerms:
		m.problem(name, text.Errorf(text.LocalhubImportEmails, maxImportTerms))
	default:
		m.row.Emails = append(m.row.Emails, v)
	}
}

// checkRow looks at a row as a whole.
func (m *importer) checkRow() {
	if m.row.bad {
		return
	}
	if m.row.FamilyName == "" && m.row.Initials == "" {
		m.problem("", text.Errorf(text.LocalhubImportNoName))
		return
	}
	if len(m.row.Numbers) == 0 {
		m.warn("", text.LocalhubImportNoNumber)
	}
}

var tooLong = text.Errorf(text.LocalhubImportLong, maxImportField)

// cleanValue makes a value one line, without the invisible marks that come along
// when text is copied.
func cleanValue(v string) (clean string, problem *text.Error) {
	v = strings.TrimSpace(v)
	switch {
	case len(v) > maxImportField:
		return "", tooLong
	case !strings.ContainsFunc(v, odd):
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

func odd(r rune) bool {
	return r < ' ' || r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError || r == '\ufeff' || r == '\u200b')
}

// shown is a column's name for an error. Names come from the file and are
// quoted only beside others that are known: a file without a header row has a
// person in their place.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) && r != utf8.RuneError {
			return r
		}
		return -1
	}, name)
	if r := []rune(name); len(r) > 40 {
		name = string(r[:40]) + "…"
	}
	return name
}

// unknownNames is the problem of a row or header with names that lead nowhere.
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
		some = append(some, `"`+shown(n)+`"`)
	}
	return text.Errorf(text.LocalhubImportUnknown, strings.Join(some, ", "), strings.Join(ImportColumns(), ", "))
}
