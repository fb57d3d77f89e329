package localhub

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wiebelt/internal/text"
)

// jsonFile reads records of the Contact API: in {"data":{"items":[…]}}, in an array, or in
// sequence. The errors of jsontext may quote the file and are dropped.
type jsonFile struct {
	*importer
	d *jsontext.Decoder

	known   bool     // the current record has a known name
	unknown []string // its unknown names
}

func (m *importer) readJSON() error {
	j := &jsonFile{importer: m, d: jsontext.NewDecoder(m.in)}
	var err error
	for err == nil {
		if j.d.PeekKind() == '[' {
			err = eachItem(j.d, func() error { return j.readRecord(false) })
		} else {
			err = j.readRecord(true)
		}
	}
	var broken *jsontext.SyntacticError
	switch {
	case err == io.EOF:
		return nil
	case errors.As(err, &broken), errors.Is(err, io.ErrUnexpectedEOF):
		m.beginRow(j.rows + 1)
		m.rejectRow("", text.Errorf(text.LocalhubImportJSON, j.d.InputOffset()))
		return nil
	}
	return m.unreadable(j.rows+1, err)
}

// readRecord reads a record. One that stands alone may be an
// answer of the Contact API: an object that starts with data.
func (j *jsonFile) readRecord(alone bool) error {
	j.beginRow(j.rows + 1)
	j.known, j.unknown = false, j.unknown[:0]
	if j.d.PeekKind() != '{' {
		if err := j.d.SkipValue(); err != nil {
			return err
		}
		j.rejectRow("", text.Errorf(text.LocalhubImportNoObject))
		return j.finish()
	}
	answer := false
	err := eachMember(j.d, func(name string) error {
		inside := name == "data" && j.d.PeekKind() == '{'
		answer = answer || alone && inside
		switch alone = false; {
		case answer && inside:
			return eachMember(j.d, j.readAnswer)
		case answer:
			return j.d.SkipValue()
		}
		return j.readField("", name)
	})
	if err != nil || answer {
		return err
	}
	return j.finish()
}

func (j *jsonFile) readAnswer(name string) error {
	if name == "items" && j.d.PeekKind() == '[' {
		return eachItem(j.d, func() error { return j.readRecord(false) })
	}
	return j.d.SkipValue()
}

func (j *jsonFile) finish() error {
	if len(j.unknown) > 0 {
		j.rejectRow("", unknownNames(j.unknown, j.known))
	}
	return j.endRow()
}

// readField reads the value of a field of a record, or of an object inside it; inside is that
// object's name with a dot.
func (j *jsonFile) readField(inside, name string) error {
	name = inside + name
	c, ok := columnOf(name)
	switch kind := j.d.PeekKind(); {
	case kind == '{' && inside == "" && hasFields(name):
		return eachMember(j.d, func(inner string) error { return j.readField(name+".", inner) })
	case kind == 'n' && plainName(name) == "woonadres":
		return j.d.SkipValue()
	case !ok:
		if len(j.unknown) <= 5 {
			j.unknown = append(j.unknown, name)
		}
		return j.d.SkipValue()
	case c == ignoredColumn:
		return j.d.SkipValue()
	}
	j.known = true
	if j.d.PeekKind() == '[' && (c == phoneColumn || c == emailColumn) {
		return eachItem(j.d, func() error { return j.readScalar(c, name) })
	}
	return j.readScalar(c, name)
}

func hasFields(name string) bool {
	name = plainName(name)
	return name == "woonadres" || name == "producent" || name == "laatstgewijzigddoor"
}

// readScalar reads a text, or a number used as one.
func (j *jsonFile) readScalar(c column, name string) error {
	switch j.d.PeekKind() {
	case '[', '{', 't', 'f':
		j.rejectRow(name, text.Errorf(text.LocalhubImportNoText))
		return j.d.SkipValue()
	case 'n':
		return j.d.SkipValue()
	}
	t, err := j.d.ReadToken()
	if err != nil {
		return err
	}
	s := t.String()
	if t.Kind() == '0' && strings.Trim(s, "0123456789") != "" {
		j.rejectRow(name, text.Errorf(text.LocalhubImportNoWhole))
		return nil
	}
	j.setValue(c, name, s)
	return nil
}

// eachItem reads an array or an object; next reads each of its items in turn.
func eachItem(d *jsontext.Decoder, next func() error) error {
	_, err := d.ReadToken()
	for err == nil {
		if k := d.PeekKind(); k == ']' || k == '}' {
			_, err = d.ReadToken()
			return err
		}
		err = next()
	}
	return err
}

// eachMember reads an object; next reads each member's value, given its name.
func eachMember(d *jsontext.Decoder, next func(name string) error) error {
	return eachItem(d, func() error {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		return next(t.String())
	})
}
