package card

import (
	"cmp"
	"slices"

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

// fieldNames returns the fields that settings and privacy allow.
func (p *painter) fieldNames() []string {
	return slices.DeleteFunc(slices.Clone(p.l.Fields), func(f string) bool {
		return p.l.Privacy == PrivacyNumber || p.l.Privacy == PrivacyInitials && f == fieldAddress
	})
}

// fields returns a contact's existing parts in order.
func (p *painter) fields(k contact.Contact) []field {
	var out []field
	for _, name := range p.fieldNames() {
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
