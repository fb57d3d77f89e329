package localhub

import (
	"net/http"
	"net/url"
	"strings"

	"wiebelt/internal/contact"
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
		if found, err = h.byTerm(r.Context(), term); err != nil {
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
