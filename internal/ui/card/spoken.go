package card

import (
	"slices"
	"strings"
	"unicode"
)

// aloud has a screen reader say s, as far as it may be shown, and gives it back.
func (p *painter) aloud(s string) string {
	p.f.news = append(p.f.news, s)
	return s
}

// spoken is what a screen reader says of a card. about is the part that makes it
// news: that a call was answered is none to whoever answered it.
func (f *face) spoken(as Speech) (all, about string) {
	if as == SpeechShort {
		about = joined(f.news[:min(1, len(f.news))], "")
		return about, about
	}
	about = joined(f.news, ", ")
	return joined(f.state, " ") + ": " + about, about
}

func joined(parts []string, between string) string {
	none := func(s string) bool { return s == "" }
	return unmarked(strings.Join(slices.DeleteFunc(slices.Clone(parts), none), between))
}

// unmarked leaves out what only steers how letters stand, and the dots that part
// words on a card: readers name them.
func unmarked(s string) string {
	s = strings.ReplaceAll(s, " · ", ", ")
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// Speech is how much a screen reader says of a card.
type Speech string

// The values of the setting card.speech; "" is SpeechFull.
const (
	SpeechFull  Speech = "full"
	SpeechShort Speech = "short" // the name, or the number as long as there is none
)

// speech is what screen readers were told of a card.
type speech struct {
	said     string
	sentence string // all of it
	times    int    // how often there was something to say
}

// speak tells screen readers of a card that has come on screen, or of another
// person on it. A card that folds to a strip is no news.
func (cs *Cards) speak(s *slot) {
	if s.more > 0 || s.form.fold != asCard {
		return
	}
	all, about := s.face.spoken(cs.c.Speech)
	if about == s.said {
		return
	}
	s.said, s.sentence, s.times = about, all, s.times+1
}
