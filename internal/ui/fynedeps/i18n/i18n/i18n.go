// Package i18n takes the place of the library with which Fyne translates its own words. At each
// start of the program that one would read all of Fyne's translations, none of which is Dutch.
// This one reads only those of the program, which has one language at a time.
package i18n

import (
	"strings"

	"golang.org/x/text/language"
)

// Bundle holds the words in the program's language.
type Bundle struct {
	unmarshal UnmarshalFunc
	words     map[string]string
}

// UnmarshalFunc reads a translation file.
type UnmarshalFunc func(data []byte, v any) error

// MessageFile is a translation file.
type MessageFile struct{ Tag language.Tag }

// NewBundle returns an empty bundle.
func NewBundle(language.Tag) *Bundle { return &Bundle{} }

// RegisterUnmarshalFunc sets how translation files are read.
func (b *Bundle) RegisterUnmarshalFunc(_ string, read UnmarshalFunc) { b.unmarshal = read }

// ParseMessageFileBytes replaces the words by those of a translation file, unless it is one of
// Fyne's own.
func (b *Bundle) ParseMessageFileBytes(data []byte, path string) (*MessageFile, error) {
	if strings.HasPrefix(path, "base.") {
		return &MessageFile{}, nil
	}
	words := map[string]string{}
	if err := b.unmarshal(data, &words); err != nil {
		return nil, err
	}
	b.words = words
	return &MessageFile{}, nil
}

// Message is a text and its default.
type Message struct{ ID, Other string }

// LocalizeConfig is a text to be translated. Only DefaultMessage is used.
type LocalizeConfig struct {
	DefaultMessage            *Message
	PluralCount, TemplateData any
}

// Localizer translates.
type Localizer struct{ bundle *Bundle }

// NewLocalizer returns a localizer of the bundle's language.
func NewLocalizer(b *Bundle, _ ...string) *Localizer { return &Localizer{b} }

// Localize returns a text in the program's language or, if that has none, its default.
func (l *Localizer) Localize(c *LocalizeConfig) (string, error) {
	if s, ok := l.bundle.words[c.DefaultMessage.ID]; ok {
		return s, nil
	}
	return c.DefaultMessage.Other, nil
}
