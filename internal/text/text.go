// Package text contains every text for users, in Dutch and English. The catalogue is in
// assets/text, with both languages side by side; a key names its file before the first dot.
// This package adds typed keys, plurals and a language. Safe for concurrent use.
//
// keys.go, which "go generate" writes, has a constant for each text: CardNobodyLeft is
// "card.nobody.left". There is none for a key that a function of computed.go puts together.
package text

//go:generate go run ./generate

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

// Key identifies a text.
type Key string

type entry struct {
	NL forms `json:"nl"`
	EN forms `json:"en"`
}

// forms is a text, or its singular and plural.
type forms struct{ one, other string }

// UnmarshalJSON accepts "text", ["line", "line"] or {"one": "text", "other": "text"}.
func (f *forms) UnmarshalJSON(b []byte) (err error) {
	switch b[0] { // valid JSON, without surrounding white space
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
		if bytes.IndexByte(b, '\\') < 0 { // nearly all of them, and a start needs hundreds
			f.other = string(b[1 : len(b)-1])
		} else {
			err = json.Unmarshal(b, &f.other)
		}
		f.one = f.other
	}
	return err
}

var areas sync.Map // of func() map[Key]entry, by area

// area returns the texts whose keys begin with a word. Their file is read on first
// use: a run needs few.
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
		return nil // no key begins like this
	}
	if err := json.Unmarshal(b, &all); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // embedded: only a broken build gets here
	}
	return all
}

// T returns the text of key in language l, with args filled in as by fmt.Sprintf. A key
// without a text is returned itself, so that nothing is ever blank.
func (l Language) T(key Key, args ...any) string { return fill(l.forms(key).other, args) }

// N is T for n things: it picks singular or plural, and puts n in front of args.
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

// Support says whom to tell: the administrator, unless the office names
// somebody (support.contact).
func (l Language) Support(contact string) string { return cmp.Or(contact, l.T(CardAdmin)) }

// OpenFileLabel is the label of the button that opens a customer file; an office may have its
// own word for that (ui.file_word).
func (l Language) OpenFileLabel(word string) string {
	key := CardWordRelatie
	switch word {
	case "klantkaart":
		key = CardWordKlantkaart
	case "dossier":
		key = CardWordDossier
	}
	return Capital(l.T(CardButtonOpen, l.T(key)))
}

// Capital returns s with its first letter capitalised.
func Capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}
