package wire

import (
	"encoding/json"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
)

const (
	maxContacts = 100
	maxAnswer   = 48 << 10 // bytes; NATS accepts 64 KiB
	maxField    = 256      // bytes of one text of a contact
	maxLink     = 2 << 10
	maxFailure  = 64 // bytes of a failure's word
)

// LookupRequest asks who has a number.
type LookupRequest struct {
	Number string `json:"number"`
}

// LookupAnswer holds a number's contacts, or why they are unknown.
type LookupAnswer struct {
	V        int               `json:"v"`
	Contacts []contact.Contact `json:"contacts,omitempty"`
	Failure  contact.Failure   `json:"failure,omitempty"`
}

// Encode returns the message, without contacts that do not fit.
func (a LookupAnswer) Encode() []byte {
	a.V = 1
	a.Contacts = a.Contacts[:min(len(a.Contacts), maxContacts)]
	for {
		if b, err := json.Marshal(a); err == nil && len(b) <= maxAnswer {
			return b
		}
		a.Contacts = a.Contacts[:len(a.Contacts)/2]
	}
}

// ParseLookupAnswer reads an answer; its texts are cleaned.
func ParseLookupAnswer(b []byte) (LookupAnswer, error) {
	var a LookupAnswer
	if len(b) > maxAnswer || json.Unmarshal(b, &a) != nil || a.V < 1 || len(a.Contacts) > maxContacts {
		return LookupAnswer{}, errMessage
	}
	if f := string(a.Failure); len(f) > maxFailure || strings.Trim(f, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return LookupAnswer{}, errMessage // an unknown code would be shown and logged as it is
	}
	for i := range a.Contacts {
		c := &a.Contacts[i]
		for _, s := range []*string{&c.ID, &c.RelationNumber, &c.Initials, &c.Prefix, &c.FamilyName, &c.Address.Street, &c.Address.Number, &c.Address.Addition,
			&c.Address.PostalCode, &c.Address.City, &c.Address.Country, &c.Producer.Code, &c.Producer.Description, &c.LastModifiedBy.Code, &c.LastModifiedBy.Description} {
			*s = call.CleanText(*s, maxField)
		}
		c.Link = call.CleanText(c.Link, maxLink)
	}
	return a, nil
}
