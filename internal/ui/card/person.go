package card

import (
	"cmp"
	"slices"
	"strings"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
)

type field struct{ label, value, copy string }

// The names of setting card.fields.
const (
	fieldRelation = "relation_number"
	fieldAddress  = "address"
	fieldProducer = "producer"
	fieldModified = "last_modified_by"
)

var usualFields = []string{fieldRelation, fieldAddress, fieldProducer, fieldModified}

func (p *painter) allowedFields() []string {
	return slices.DeleteFunc(slices.Clone(p.l.Fields), func(f string) bool {
		return p.l.Privacy == PrivacyNumber || p.l.Privacy == PrivacyInitials && f == fieldAddress
	})
}

// fields returns a contact's existing parts in order.
func (p *painter) fields(k contact.Contact) []field {
	var out []field
	for _, name := range p.allowedFields() {
		var f field
		switch name {
		case fieldRelation:
			f = field{p.lg.T(text.CardFieldRelation), contact.GroupDigits(k.RelationNumber), k.RelationNumber}
		case fieldAddress:
			f = field{p.lg.T(text.CardFieldAddress), isolatedParts(k.Address).Line(), ""}
		case fieldProducer:
			f = field{p.lg.T(text.CardFieldProducer), k.Producer.Text(), ""}
		case fieldModified:
			f.label = p.lg.T(text.CardFieldModified)
			if by := k.LastModifiedBy.Text(); by != "" {
				f.value = p.lg.T(text.CardFieldModifiedBy, isolated(by))
			}
		}
		if f.value != "" {
			out = append(out, f)
		}
	}
	return out
}

// isolatedParts isolates the parts of an address, which keeps their order whatever their script.
func isolatedParts(a contact.Address) contact.Address {
	for _, part := range []*string{&a.Street, &a.Addition, &a.City, &a.Country} {
		*part = isolated(*part)
	}
	return a
}

// nameOf returns a contact's name for the card of its call.
func (p *painter) nameOf(c engine.Card, k contact.Contact) string {
	name := cmp.Or(p.l.Privacy.name(k), p.lg.T(text.CardUnnamed))
	if c.Possible {
		return p.lg.T(text.CardPossible, isolated(name))
	}
	return name
}

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

// summary returns the line for a colleague, sent by chat or note: who, relation number,
// number, time, our line, link to the file; unknown parts are omitted. Numbers are digits
// only, so that they can be pasted and searched. who is the contact, -1 for none.
func summary(c engine.Card, who int, lg text.Language) string {
	var relation, rang, link string
	name := c.PhoneName
	if who >= 0 {
		k := c.Contacts[who]
		if name = k.Name(); name != "" && c.Possible {
			name = lg.T(text.CardPossible, name)
		}
		if k.RelationNumber != "" {
			relation = lg.T(text.CardRelation, k.RelationNumber)
		}
		if c.LinkOK[who] {
			link = k.Link
		}
	}
	if !c.Rang.IsZero() {
		rang = lg.T(text.CardPassTime, c.Rang.Local().Format("15:04"))
	}
	line := cmp.Or(c.LineName, c.LineText)
	if line != "" {
		line = lg.T(text.CardLine, line)
	}
	return dotted(name, relation, c.Number.ClipboardText(), rang, line, link)
}

func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}
