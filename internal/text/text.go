// Package text holds every word that a person reads, in Dutch and English. The
// catalogue lies in assets/text, one file an area, both languages side by side;
// this package gives it typed keys, plurals and a language. Safe for concurrent
// use.
package text

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"

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
		err = json.Unmarshal(b, &f.other)
		f.one = f.other
	}
	return err
}

var catalogue = sync.OnceValue(func() map[Key]entry {
	all := map[Key]entry{}
	files, _ := fs.Glob(assets.Text, "text/*.json")
	for _, f := range files {
		b, err := assets.Text.ReadFile(f)
		if err != nil {
			panic(err) // embedded: only a broken build gets here
		}
		part := map[Key]entry{}
		if err := json.Unmarshal(b, &part); err != nil {
			panic(fmt.Sprintf("%s: %v", f, err))
		}
		for k, e := range part {
			if _, twice := all[k]; twice {
				panic(fmt.Sprintf("%s: key %q stands in two files", f, k))
			}
			all[k] = e
		}
	}
	return all
})

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
	e, ok := catalogue()[key]
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
