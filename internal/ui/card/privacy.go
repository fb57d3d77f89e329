package card

import (
	"strings"

	"wiebelt/internal/core/contact"
)

// Privacy is how much of a person a card shows.
type Privacy string

// The values of the setting card.privacy; "" is PrivacyFull.
const (
	PrivacyFull     Privacy = "full"
	PrivacyInitials Privacy = "initials"
	PrivacyNumber   Privacy = "number"
)

// name returns as much of a contact's name as may be shown: "J. de Vries",
// "J. de V." or nothing.
func (v Privacy) name(k contact.Contact) string {
	switch v {
	case PrivacyNumber:
		return ""
	case PrivacyInitials:
		k.FamilyName = initial(k.FamilyName)
		if first, _, more := strings.Cut(k.Initials, " "); more || len([]rune(first)) > 1 && !strings.Contains(first, ".") && strings.ToUpper(first) != first {
			k.Initials = initials(k.Initials) // first names in the initials field
		}
	}
	return k.Name()
}

// words returns as much of a phone system's name as may be shown.
func (v Privacy) words(s string) string {
	switch v {
	case PrivacyNumber:
		return ""
	case PrivacyInitials:
		return initials(s)
	}
	return s
}

// initials returns the first letter of every word: "P. J.".
func initials(s string) string {
	var out []string
	for _, w := range strings.Fields(s) {
		out = append(out, initial(w))
	}
	return strings.Join(out, " ")
}

func initial(s string) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) == 0 {
		return ""
	}
	n := 1
	for n < len(r) && extendsPrevious(r[n]) {
		n++
	}
	return string(r[:n]) + "."
}
