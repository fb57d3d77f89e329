package localhub

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"wiebelt/internal/core/contact"
)

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
	return renameRelation(encode(wrapItems(items)), h.cfg.RelationField), nil
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

// renameRelation gives the relation number its configured name. In JSON only
// a member's name can look like this, as it includes the colon.
func renameRelation(b []byte, relation string) []byte {
	return bytes.ReplaceAll(b, []byte(`"`+DefaultRelationField+`":`), append(appendString(nil, relation), ':'))
}

func (h *Hub) fileURL(id string) string { return h.HubURL() + filePath + id }

const comparedDigits = 9

// maxTerm is the longest text that is read as a number or an e-mail address.
const maxTerm = 256

// lastNine returns the last nine digits of a telephone number in any notation. It ignores spaces,
// dashes, dots and brackets, leaves out leading words and trailing remarks, and uses only the
// number of an address such as sip:0612345678@pbx;user=phone. With fewer digits ok is false.
func lastNine(s string) (nine string, ok bool) {
	d := digitsOf(s)
	if len(d) < comparedDigits {
		return "", false
	}
	return d[len(d)-comparedDigits:], true
}

// digitsOf returns all digits of the number at the start of s.
func digitsOf(s string) string {
	if len(s) > maxTerm {
		s = s[:maxTerm]
	}
	if _, in, found := strings.Cut(s, "<"); found {
		s, _, _ = strings.Cut(in, ">")
	}
	s, _, _ = strings.Cut(s, "@")
	s, _, _ = strings.Cut(s, ";")
	var d []byte
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			d = append(d, byte(r))
		case unicode.IsLetter(r):
			if len(d) > 0 {
				return string(d) // a remark or extension follows
			}
		case len(d) >= comparedDigits && strings.ContainsRune("(/,#", r): // a remark or another number, too
			return string(d)
		}
	}
	return string(d)
}

// emailTerm reports whether s is an e-mail address rather than a number, and returns it in the
// form used for comparison.
func emailTerm(s string) (term string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, host, found := strings.Cut(s, "@")
	if !found || local == "" || host == "" || len(s) > maxTerm || strings.ContainsAny(s, " \t\r\n:<>;,") {
		return "", false
	}
	if strings.ContainsFunc(local, unicode.IsLetter) {
		return s, true
	}
	_, number := lastNine(local)
	return s, !number
}

// termOf returns the term used for storing and searching: the last nine digits, or the
// e-mail address. ok is false if nothing can be found with it.
func termOf(s string) (term string, ok bool) {
	if term, ok := emailTerm(s); ok {
		return term, true
	}
	return lastNine(s)
}
