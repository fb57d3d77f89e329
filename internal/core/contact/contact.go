// Package contact defines what the hub knows about the people behind a telephone number, in
// our own terms, and formats names and addresses the Dutch way. Values are immutable.
package contact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/displaytext"
)

// CodedValue is a code with its description (producer, last modified by).
type CodedValue struct {
	Code        string
	Description string
}

// Text returns the description, or the code if there is none.
func (c CodedValue) Text() string { return cmp.Or(c.Description, c.Code) }

// Address is a home address; every part may be empty.
type Address struct {
	Street     string
	Number     string
	Addition   string
	PostalCode string
	City       string
	Country    string // ISO code
}

// Contact is one contact record of the hub, with texts already cleaned for display.
// Every field may be empty.
type Contact struct {
	ID             string
	RelationNumber string // digits, of the back-office system
	Initials       string
	Prefix         string // "van der"
	FamilyName     string
	Address        Address
	Producer       CodedValue
	LastModifiedBy CodedValue
	Link           string // deep link from the hub, not yet checked
}

// Name formats initials, prefix and family name the Dutch way ("B.M. van den Heuvel").
// Without any of them it is empty.
func (c Contact) Name() string {
	prefix := c.Prefix
	if c.Initials == "" && prefix != "" {
		prefix = upperFirst(prefix) // without initials before it: "Van der Berg"
	}
	return join(" ", dotInitials(c.Initials), prefix, c.FamilyName)
}

// SortKey orders contacts by family name without its prefix, as Dutch lists do, ignoring
// case and accents: "Özdemir" comes between "Oud" and "Pieters".
func (c Contact) SortKey() string {
	return displaytext.Fold(c.FamilyName + "\x00" + c.Initials + "\x00" + c.Prefix + "\x00" + c.RelationNumber + "\x00" + c.ID)
}

// Sorted returns a copy ordered by SortKey. The order says nothing about who is calling.
func Sorted(found []Contact) []Contact {
	keys := make([]string, len(found))
	order := make([]int, len(found))
	for i, k := range found {
		keys[i], order[i] = k.SortKey(), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	out := make([]Contact, len(found))
	for i, from := range order {
		out[i] = found[from]
	}
	return out
}

// MoveToFront moves the contact with an id to the front, and reports whether there is one.
func MoveToFront(all []Contact, id string) bool {
	i := slices.IndexFunc(all, func(k Contact) bool { return k.ID == id })
	if i < 0 || id == "" {
		return false
	}
	k := all[i]
	copy(all[1:i+1], all[:i])
	all[0] = k
	return true
}

// StreetLine returns "Kade 12 A", without missing parts.
func (a Address) StreetLine() string { return join(" ", a.Street, a.Number, a.Addition) }

// Line returns the address on one line: "Kade 12 A, 1011 AB Amsterdam". The country follows
// only if it is not the Netherlands.
func (a Address) Line() string {
	country := a.Country
	if strings.EqualFold(country, "NL") {
		country = ""
	}
	return join(", ", a.StreetLine(), join(" ", formatPostalCode(a.PostalCode), a.City), country)
}

// ShortLine returns street and city: "Kade 12 A, Amsterdam".
func (a Address) ShortLine() string { return join(", ", a.StreetLine(), a.City) }

// GroupDigits groups a relation number by threes from the right ("100 200"); other
// text is returned unchanged.
func GroupDigits(s string) string {
	if strings.Trim(s, "0123456789") != "" {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// dotInitials adds full stops to initials: "JP" and "J P" become "J.P."; text that has stops or
// lower-case letters (a first name) is unchanged.
func dotInitials(s string) string {
	compact := strings.ReplaceAll(s, " ", "")
	other := func(r rune) bool { return !unicode.IsUpper(r) }
	if strings.ContainsFunc(compact, other) || utf8.RuneCountInString(compact) > 6 {
		return s
	}
	var b strings.Builder
	for _, r := range compact {
		b.WriteRune(r)
		b.WriteByte('.')
	}
	return b.String()
}

// formatPostalCode adds the space in "1234AB".
func formatPostalCode(s string) string {
	if len(s) == 6 && s[0] >= '1' && s[0] <= '9' && unicode.IsLetter(rune(s[4])) && unicode.IsLetter(rune(s[5])) {
		return s[:4] + " " + strings.ToUpper(s[4:])
	}
	return s
}

func upperFirst(s string) string {
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

func join(sep string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
