// Package text holds every word that a person reads, in Dutch and English. The
// catalogue lies in assets/text, both languages side by side; the first word of a
// key names its file. This package gives it typed keys, plurals and a language.
// Safe for concurrent use.
package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"wiebelt/assets"
)

// Language is one of the two languages.
type Language string

// The languages.
const (
	Dutch   Language = "nl"
	English Language = "en"
)

// Key names a text. The constants stand in keys_*.go, a file an area; a test
// holds them against the catalogue.
type Key string

type entry struct {
	NL forms `json:"nl"`
	EN forms `json:"en"`
}

// forms is a text, or one for a single thing and one for any other number.
type forms struct{ one, other string }

// UnmarshalJSON accepts "text", ["line", "line"] or {"one": "text", "other": "text"}.
func (f *forms) UnmarshalJSON(b []byte) (err error) {
	switch b[0] { // valid JSON, without blanks around it
	case '[':
		var lines []string
		err = json.Unmarshal(b, &lines)
		f.other = strings.Join(lines, "\n")
		f.one = f.other
	case '{':
		var p struct{ One, Other string }
		err = json.Unmarshal(b, &p)
		*f = forms{p.One, p.Other}
	default:
		if bytes.IndexByte(b, '\\') < 0 { // nearly all, and a start needs hundreds
			f.other = string(b[1 : len(b)-1])
		} else {
			err = json.Unmarshal(b, &f.other)
		}
		f.one = f.other
	}
	return err
}

var areas sync.Map // of func() map[Key]entry, by area

// area is the file of the texts whose keys begin with a word. It is read when the
// first of them is needed: a run needs few.
func area(name string) map[Key]entry {
	f, ok := areas.Load(name)
	if !ok {
		f, _ = areas.LoadOrStore(name, sync.OnceValue(func() map[Key]entry { return read(name) }))
	}
	return f.(func() map[Key]entry)()
}

func read(name string) (all map[Key]entry) {
	b, err := assets.Text.ReadFile("text/" + name + ".json")
	if err != nil {
		return nil // no key begins so
	}
	if err := json.Unmarshal(b, &all); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // embedded: only a broken build gets here
	}
	return all
}

// T gives the text of key in language l, with args filled in as fmt.Sprintf
// does. A key without a text gives the key itself, so that nothing is ever
// blank.
func (l Language) T(key Key, args ...any) string { return fill(l.forms(key).other, args) }

// N is T for a number of things: it picks the singular for one, and puts n in
// front of args.
func (l Language) N(key Key, n int, args ...any) string {
	f := l.forms(key)
	s := f.other
	if n == 1 {
		s = f.one
	}
	return fill(s, append([]any{n}, args...))
}

func (l Language) forms(key Key) forms {
	word, _, _ := strings.Cut(string(key), ".")
	e, ok := area(word)[key]
	if !ok {
		return forms{string(key), string(key)}
	}
	if l == English {
		return e.EN
	}
	return e.NL
}

func fill(s string, args []any) string {
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

// Support is whom to tell, the administrator where the office names nobody
// (support.contact).
func (l Language) Support(contact string) string { return cmp.Or(contact, l.T(CardAdmin)) }

// OpenFile is the name of the button that opens a customer file, which an office calls
// by a word of its own (ui.file_word).
func (l Language) OpenFile(word string) string {
	key := CardWordRelatie
	switch word {
	case "klantkaart":
		key = CardWordKlantkaart
	case "dossier":
		key = CardWordDossier
	}
	return Capital(l.T(CardButtonOpen, l.T(key)))
}

// Capital is s with a capital at its beginning.
func Capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}
