package localhub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"wiebelt/internal/contact"
	"wiebelt/internal/text"
)

// serveLookup answers GET /contact/contacts/telephony (hub-api.md 4.3).
func (h *Hub) serveLookup(w http.ResponseWriter, r *http.Request) {
	h.stats.lookups.Add(1)
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(q["q"]) != 1 || strings.TrimSpace(q.Get("q")) == "" || len(q.Get("q")) > maxTerm {
		writeError(w, http.StatusBadRequest, "invalid_request", "q holds one search term of at most 256 bytes")
		return
	}
	var found []contact.Contact
	if term, ok := termOf(q.Get("q")); ok {
		if found, err = h.store.byTerm(r.Context(), term); err != nil {
			h.broken(w, "lookup", err)
			return
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	b := []byte(`{"data":{"items":[`)
	for i, c := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = h.appendContact(b, c)
	}
	writeBody(w, http.StatusOK, append(b, "]}}\n"...))
}

// appendContact writes a contact record with the names and in the order of
// hub-api.md 2.3. It is written by hand because one of the names is a setting.
func (h *Hub) appendContact(b []byte, c contact.Contact) []byte {
	o := object{b: append(b, '{')}
	o.text("id", c.ID)
	o.text(h.cfg.RelationField, c.RelationNumber)
	o.text("voorletters", c.Initials)
	o.text("achternaam", c.FamilyName)
	o.text("voorvoegsel", c.Prefix)
	o.open("woonadres")
	o.text("straat", c.Address.Street)
	o.text("huisnummer", c.Address.Number)
	o.orNull("toevoeging", c.Address.Addition)
	o.text("postcode", c.Address.PostalCode)
	o.text("plaats", c.Address.City)
	o.orNull("landIso", c.Address.Country)
	o.close()
	o.coded("producent", c.Producer)
	o.coded("laatstGewijzigdDoor", c.LastModifiedBy)
	o.text("link", h.fileURL(c.ID))
	return append(o.b, '}')
}

// fileURL is the deep link of a contact, of hub-api.md 2.3's shape.
func (h *Hub) fileURL(id string) string { return h.HubURL() + filePath + id }

// AddContact stores contacts from outside, all or none, and returns their ids
// in the same order. A demo hub refuses: it holds invented contacts only.
func (d *Data) AddContact(ctx context.Context, r ...Record) (ids []string, err error) {
	if d.demo {
		return nil, text.Errorf(text.LocalhubImportDemo)
	}
	return d.store.add(ctx, false, slices.Values(r))
}

// AddInvented is AddContact for contacts that the caller knows to be invented,
// in a demo hub too.
func (d *Data) AddInvented(ctx context.Context, r ...Record) (ids []string, err error) {
	return d.store.add(ctx, true, slices.Values(r))
}

// Count is how many contacts the hub holds.
func (d *Data) Count(ctx context.Context) (int, error) { return d.store.count(ctx) }

// Kind is a kind of telephone number, by whose it is.
type Kind uint8

// The kinds.
const (
	OnePerson Kind = iota // exactly one contact has it
	Family                // three contacts share it
	Nobody                // no contact has it
)

// Sample is a number with its contacts.
type Sample struct {
	Number string   // "+31612345678"
	IDs    []string // of the contacts, in the order in which a lookup gives them
}

// Sample gives a number of the kind from a hub with invented contacts, the
// same one for the same contacts.
func (d *Data) Sample(ctx context.Context, k Kind) (Sample, error) {
	want := map[Kind]int{OnePerson: 1, Family: 3}[k]
	if k == Nobody {
		found, err := d.store.byTerm(ctx, nobodys)
		if err == nil && len(found) > 0 {
			err = errors.New("local hub: the number that nobody should have is taken")
		}
		return Sample{Number: "+31" + nobodys}, err
	}
	if want == 0 {
		return Sample{}, fmt.Errorf("local hub: no such kind %d", k)
	}
	term, ids, err := d.store.withContacts(ctx, want)
	return Sample{Number: "+31" + term, IDs: ids}, err
}

// validID is what may stand in the last segment of a deep link without
// escaping.
func validID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= 200 && !strings.ContainsFunc(id, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-._~", r))
	})
}
