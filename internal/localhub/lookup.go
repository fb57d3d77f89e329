package localhub

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"wiebelt/internal/core/contact"
)

// lookUp answers GET /contact/contacts/telephony.
func (h *Hub) lookUp(_ http.ResponseWriter, r *http.Request, _ client) (any, error) {
	h.stats.lookups.Add(1)
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(q["q"]) != 1 || strings.TrimSpace(q.Get("q")) == "" || len(q.Get("q")) > maxTerm {
		return nil, refuse(http.StatusBadRequest, "invalid_request", "q holds one search term of at most 256 bytes")
	}
	var found []contact.Contact
	if term, ok := termOf(q.Get("q")); ok {
		if found, err = h.byTerm(r.Context(), term); err != nil {
			return nil, err
		}
	}
	items := []contactJSON{}
	for _, c := range found {
		items = append(items, h.contactJSON(c))
	}
	return rename(encode(itemsOf(items)), h.cfg.RelationField), nil
}

type contactJSON struct {
	ID             string      `json:"id"`
	Relation       string      `json:"backofficerelatienummer"`
	Initials       string      `json:"voorletters"`
	FamilyName     string      `json:"achternaam"`
	Prefix         string      `json:"voorvoegsel"`
	Address        addressJSON `json:"woonadres"`
	Producer       codedJSON   `json:"producent"`
	LastModifiedBy codedJSON   `json:"laatstGewijzigdDoor"`
	Link           string      `json:"link"`
}

type addressJSON struct {
	Street     string  `json:"straat"`
	Number     string  `json:"huisnummer"`
	Addition   *string `json:"toevoeging"`
	PostalCode string  `json:"postcode"`
	City       string  `json:"plaats"`
	Country    *string `json:"landIso"`
}

type codedJSON struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

func (h *Hub) contactJSON(c contact.Contact) contactJSON {
	a := c.Address
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return contactJSON{
		c.ID, c.RelationNumber, c.Initials, c.FamilyName, c.Prefix,
		addressJSON{a.Street, a.Number, orNull(a.Addition), a.PostalCode, a.City, orNull(a.Country)},
		codedJSON(c.Producer), codedJSON(c.LastModifiedBy), h.fileURL(c.ID),
	}
}

// rename gives the relation number its configured name. In JSON only
// a member's name can look like this, as it includes the colon.
func rename(b []byte, relation string) []byte {
	if relation == DefaultRelationField {
		return b
	}
	return bytes.ReplaceAll(b, []byte(`"`+DefaultRelationField+`":`), append(appendString(nil, relation), ':'))
}

// fileURL returns the deep link to a contact's file.
func (h *Hub) fileURL(id string) string { return h.HubURL() + filePath + id }
