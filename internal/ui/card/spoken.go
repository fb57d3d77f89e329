package card

import (
	"slices"
	"strings"

	"wiebelt/internal/core/displaytext"
)

// announce has a screen reader speak s, as far as it may be shown, and returns it.
func (p *painter) announce(s string) string {
	p.v.spokenCaller = append(p.v.spokenCaller, s)
	return s
}

// spoken returns what a screen reader says about a card. about is the part whose
// changes are announced: that a call was answered is no news to whoever answered it.
func (v *view) spoken(as Speech) (all, about string) {
	if as == SpeechShort {
		about = joined(v.spokenCaller[:min(1, len(v.spokenCaller))], "")
		return about, about
	}
	about = joined(v.spokenCaller, ", ")
	return joined(v.spokenState, " ") + ": " + about, about
}

func joined(parts []string, between string) string {
	none := func(s string) bool { return s == "" }
	return unmarked(strings.Join(slices.DeleteFunc(slices.Clone(parts), none), between))
}

// unmarked removes hidden characters, and the dots that separate words on a
// card: readers speak them.
func unmarked(s string) string {
	return displaytext.StripHidden(strings.ReplaceAll(s, " · ", ", "))
}

// Speech is how much of a card a screen reader speaks.
type Speech string

// The values of the setting card.speech; "" is SpeechFull.
const (
	SpeechFull  Speech = "full"
	SpeechShort Speech = "short" // the name, or the number while there is none
)

type speechState struct {
	announced string
	sentence  string // the full text
	times     int    // number of announcements
}

// speak announces a card that has appeared, or another person on it. A card folded to
// a strip is not announced.
func (cs *Cards) speak(s *slot) {
	if s.form.fold != asCard {
		return
	}
	all, about := s.view.spoken(cs.c.Speech)
	if about == s.announced {
		return
	}
	s.announced, s.sentence, s.times = about, all, s.times+1
}
