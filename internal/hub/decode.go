package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
)

// Limits on an answer besides maxAnswer. The hub documents none.
const (
	maxContacts = 10_000
	maxText     = 512 // bytes per text after cleaning
)

// decode reads the answer to a lookup in one pass. It accepts the following:
//
//   - Unknown fields are ignored, whatever they hold; null is the same as missing.
//   - Names are compared without regard to ASCII letter case.
//   - A number instead of a text is taken as its digits, as written.
//   - Of duplicate names the last value that is not null counts; for objects, this
//     applies to each field inside.
//   - Invalid UTF-8 and halves of surrogate pairs are removed from texts.
//
// Everything else is contact.NotUnderstood, an error in place of contacts included: a wrong
// type is reported by its field, without its content. Texts are cleaned for display, the link is left as it is. The relation
// number is the field called relationField or, if that is "", the one whose name ends in
// "relatienummer"; of several, the alphabetically first that is not null.
func decode(body []byte, relationField string) ([]contact.Contact, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.relationField = relationField
	d.reset(body)
	found, err := d.answer()
	var f fieldError
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &f):
		return nil, failed(contact.NotUnderstood, string(f))
	case errors.Is(err, errReported):
		return nil, failed(contact.HubError, "lookup: an error in a successful answer")
	}
	return nil, failed(contact.NotUnderstood, "lookup: broken JSON")
}

var (
	errTrailing = errors.New("more than one value")
	errReported = errors.New("an error in place of contacts")
)

// fieldError says what is wrong with a field, such as its type. Only this error
// is passed on, since those of jsontext may quote the answer.
type fieldError string

func (f fieldError) Error() string { return string(f) }

var decoders = sync.Pool{New: func() any { return new(decoder) }}

type decoder struct {
	jsontext.Decoder
	src           bytes.Buffer
	relationField string
	relationName  string // the field that the contact's number came from
	name, lower   []byte // of the current field, as received and in lower case
}

func (d *decoder) reset(body []byte) {
	d.src = *bytes.NewBuffer(body)
	d.Reset(&d.src, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// release returns the decoder to the pool, without the answer.
func (d *decoder) release() {
	d.reset(nil)
	if cap(d.name) > maxText {
		d.name, d.lower = nil, nil
	}
	decoders.Put(d)
}

func (d *decoder) answer() (found []contact.Contact, err error) {
	reported := false
	err = d.object("", func() error {
		switch string(d.lower) {
		case "data":
		case "error", "errors":
			value, err := d.ReadValue()
			var said any
			reported = reported || json.Unmarshal(value, &said) != nil || !saysNothing(said)
			return err
		default:
			return d.SkipValue()
		}
		return d.object("data", func() error {
			if string(d.lower) != "items" {
				return d.SkipValue()
			}
			return d.items(&found)
		})
	})
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errTrailing
	}
	if reported && len(found) == 0 {
		return nil, errReported
	}
	return found, nil
}

func (d *decoder) items(found *[]contact.Contact) error {
	if there, err := d.open('[', "data.items"); !there {
		return err
	}
	*found = nil
	for {
		t, err := d.ReadToken()
		switch {
		case err != nil || t.Kind() == ']':
			return err
		case t.Kind() == 'n':
			continue
		case t.Kind() != '{':
			return typeError("data.items", t.Kind())
		case len(*found) == maxContacts:
			return fieldError("lookup: too many contacts")
		}
		var k contact.Contact
		if err := d.contact(&k); err != nil {
			return err
		}
		*found = append(*found, k)
	}
}

func (d *decoder) contact(k *contact.Contact) error {
	d.relationName = ""
	return d.members(func() error {
		if d.isRelation() {
			return d.relation(k)
		}
		return d.field(k)
	})
}

func (d *decoder) field(k *contact.Contact) error {
	switch string(d.lower) {
	case "id":
		return d.text("id", &k.ID)
	case "voorletters":
		return d.text("voorletters", &k.Initials)
	case "achternaam":
		return d.text("achternaam", &k.FamilyName)
	case "voorvoegsel":
		return d.text("voorvoegsel", &k.Prefix)
	case "woonadres":
		return d.object("woonadres", func() error { return d.address(&k.Address) })
	case "producent":
		return d.object("producent", func() error { return d.coded("producent.code", "producent.description", &k.Producer) })
	case "laatstgewijzigddoor":
		return d.object("laatstGewijzigdDoor", func() error {
			return d.coded("laatstGewijzigdDoor.code", "laatstGewijzigdDoor.description", &k.LastModifiedBy)
		})
	case "link":
		return d.link(&k.Link)
	}
	return d.SkipValue()
}

func (d *decoder) address(a *contact.Address) error {
	switch string(d.lower) {
	case "straat":
		return d.text("woonadres.straat", &a.Street)
	case "huisnummer":
		return d.text("woonadres.huisnummer", &a.Number)
	case "toevoeging":
		return d.text("woonadres.toevoeging", &a.Addition)
	case "postcode":
		return d.text("woonadres.postcode", &a.PostalCode)
	case "plaats":
		return d.text("woonadres.plaats", &a.City)
	case "landiso":
		return d.text("woonadres.landIso", &a.Country)
	}
	return d.SkipValue()
}

func (d *decoder) coded(code, description string, c *contact.CodedValue) error {
	switch string(d.lower) {
	case "code":
		return d.text(code, &c.Code)
	case "description":
		return d.text(description, &c.Description)
	}
	return d.SkipValue()
}

// isRelation reports whether the current field holds the
// relation number. Its real name contains the name of a system.
func (d *decoder) isRelation() bool {
	if d.relationField != "" {
		return string(d.name) == d.relationField
	}
	return bytes.HasSuffix(d.lower, []byte("relatienummer"))
}

func (d *decoder) relation(k *contact.Contact) error {
	t, err := d.ReadToken()
	switch kind := t.Kind(); {
	case err != nil || kind == 'n':
		return err
	case kind != '"' && kind != '0':
		return fieldError("lookup: the relation number is no text")
	}
	number := call.CleanText(t.String(), maxText)
	if string(d.lower) == "id" {
		k.ID = number
	}
	if d.relationName == "" || string(d.name) <= d.relationName {
		k.RelationNumber, d.relationName = number, string(d.name)
	}
	return nil
}

// text reads a text, or the digits of a number; null leaves to unchanged.
func (d *decoder) text(field string, to *string) error {
	t, err := d.ReadToken()
	switch kind := t.Kind(); {
	case err != nil || kind == 'n':
		return err
	case kind != '"' && kind != '0':
		return typeError(field, kind)
	}
	*to = call.CleanText(t.String(), maxText)
	return nil
}

// link reads the deep link as sent by the hub; LinkChecker.Check verifies
// it. A link that is too long for Check is cut, but remains too long.
func (d *decoder) link(to *string) error {
	t, err := d.ReadToken()
	switch kind := t.Kind(); {
	case err != nil || kind == 'n':
		return err
	case kind != '"':
		return typeError("link", kind)
	}
	s := t.String()
	*to = s[:min(len(s), maxLink+1)]
	return nil
}

// object calls value for each value of an object, with its name in d.name and d.lower.
func (d *decoder) object(field string, value func() error) error {
	if there, err := d.open('{', field); !there {
		return err
	}
	return d.members(value)
}

// members is object after the opening brace.
func (d *decoder) members(value func() error) error {
	for {
		t, err := d.ReadToken()
		if err != nil || t.Kind() == '}' {
			return err
		}
		d.name = append(d.name[:0], t.String()...)
		d.lower = append(d.lower[:0], d.name...)
		for i, c := range d.lower {
			if c >= 'A' && c <= 'Z' {
				d.lower[i] = c + 'a' - 'A'
			}
		}
		if err := value(); err != nil {
			return err
		}
	}
}

// open reads the start of an object or array; null counts as missing.
func (d *decoder) open(want jsontext.Kind, field string) (there bool, err error) {
	t, err := d.ReadToken()
	switch kind := t.Kind(); {
	case err != nil || kind == 'n':
		return false, err
	case kind != want:
		return false, typeError(field, kind)
	}
	return true, nil
}

// typeError reports the type of a value, never the value itself.
func typeError(field string, kind jsontext.Kind) error {
	word := "bool"
	switch kind {
	case '{':
		word = "object"
	case '[':
		word = "array"
	case '0':
		word = "number"
	case '"':
		word = "text"
	}
	return fieldError("lookup: field " + strconv.Quote(field) + " is of type " + word)
}
