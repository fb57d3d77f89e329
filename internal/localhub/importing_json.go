package localhub

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wiebelt/internal/text"
)

// jsonFile reads records of hub-api.md 2.3: in {"data":{"items":[…]}}, in an
// array, or one after the other. The errors of jsontext may quote the file and
// go nowhere.
type jsonFile struct {
	*importer
	d *jsontext.Decoder

	records int
	known   bool     // the present record has a name that is known
	unknown []string // and these that are not
}

func (m *importer) readJSON() error {
	j := &jsonFile{importer: m, d: jsontext.NewDecoder(m.in)}
	err := j.file()
	var broken *jsontext.SyntacticError
	switch {
	case err == nil || err == io.EOF:
		return nil
	case errors.As(err, &broken), errors.Is(err, io.ErrUnexpectedEOF):
		m.begin(j.records + 1)
		m.problem("", text.Errorf(text.LocalhubImportJSON, j.d.InputOffset()))
		return nil
	case errors.Is(err, errLongRow):
		return m.unreadable(j.records+1, err)
	case m.in.err != nil && errors.Is(err, m.in.err):
		return m.unreadable(j.records+1, m.in.err)
	}
	return err // one of ours
}

// file reads one value after the other.
func (j *jsonFile) file() error {
	for {
		switch j.d.PeekKind() {
		case '[':
			if err := j.items(); err != nil {
				return err
			}
		case '{':
			if err := j.top(); err != nil {
				return err
			}
		case 0:
			_, err := j.d.ReadToken()
			return err
		default:
			if err := j.noRecord(); err != nil {
				return err
			}
		}
	}
}

// top reads an object that stands alone: an answer of the Contact API or a
// record.
func (j *jsonFile) top() error {
	first, answer := true, false
	j.start()
	err := j.object(func(name string) error {
		answer = answer || first && name == "data" && j.d.PeekKind() == '{'
		first = false
		switch {
		case answer && name == "data" && j.d.PeekKind() == '{':
			return j.object(func(name string) error {
				if name == "items" && j.d.PeekKind() == '[' {
					return j.items()
				}
				return j.d.SkipValue()
			})
		case answer:
			return j.d.SkipValue()
		}
		return j.field("", name)
	})
	if err != nil || answer {
		return err
	}
	return j.finish()
}

func (j *jsonFile) items() error {
	if _, err := j.d.ReadToken(); err != nil {
		return err
	}
	for j.d.PeekKind() != ']' {
		if j.d.PeekKind() != '{' {
			if err := j.noRecord(); err != nil {
				return err
			}
			continue
		}
		j.start()
		if err := j.object(func(name string) error { return j.field("", name) }); err != nil {
			return err
		}
		if err := j.finish(); err != nil {
			return err
		}
	}
	_, err := j.d.ReadToken()
	return err
}

func (j *jsonFile) start() {
	j.begin(j.records + 1)
	j.known, j.unknown = false, j.unknown[:0]
}

func (j *jsonFile) finish() error {
	j.records++
	if len(j.unknown) > 0 {
		j.problem("", unknownNames(j.unknown, j.known))
	}
	return j.end()
}

// noRecord skips a value where a record should be.
func (j *jsonFile) noRecord() error {
	j.start()
	if err := j.d.SkipValue(); err != nil {
		return err
	}
	j.problem("", text.Errorf(text.LocalhubImportNoObject))
	return j.finish()
}

// object reads an object; field reads the value behind each name.
func (j *jsonFile) object(field func(name string) error) error {
	if _, err := j.d.ReadToken(); err != nil {
		return err
	}
	for j.d.PeekKind() != '}' {
		name, err := j.d.ReadToken()
		if err != nil {
			return err
		}
		if err := field(name.String()); err != nil {
			return err
		}
	}
	_, err := j.d.ReadToken()
	return err
}

// field reads the value of a field of a record, or of an object in it whose
// name, with a dot, is inside.
func (j *jsonFile) field(inside, name string) error {
	name = inside + name
	c, ok := columnOf(name)
	kind := j.d.PeekKind()
	switch {
	case kind == '{' && inside == "" && hasFields(name):
		return j.object(func(inner string) error { return j.field(name+".", inner) })
	case kind == 'n' && plainName(name) == "woonadres":
		return j.d.SkipValue()
	case !ok:
		if len(j.unknown) <= 5 {
			j.unknown = append(j.unknown, name)
		}
		return j.d.SkipValue()
	case c == colIgnored:
		return j.d.SkipValue()
	}
	j.known = true
	if kind != '[' || c != colPhone && c != colEmail {
		return j.scalar(c, name)
	}
	if _, err := j.d.ReadToken(); err != nil {
		return err
	}
	for j.d.PeekKind() != ']' {
		if err := j.scalar(c, name); err != nil {
			return err
		}
	}
	_, err := j.d.ReadToken()
	return err
}

// hasFields reports whether a field of a record is an object.
func hasFields(name string) bool {
	name = plainName(name)
	return name == "woonadres" || name == "producent" || name == "laatstgewijzigddoor"
}

// scalar reads a text, or a number that is one in all but its quotation marks.
func (j *jsonFile) scalar(c column, name string) error {
	switch j.d.PeekKind() {
	case '[', '{', 't', 'f':
		j.problem(name, text.Errorf(text.LocalhubImportNoText))
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
		j.problem(name, text.Errorf(text.LocalhubImportNoWhole))
		return nil
	}
	j.value(c, name, s)
	return nil
}
