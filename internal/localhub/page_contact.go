package localhub

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/text"
)

type fileView struct {
	Name, Relation    string
	Address           []string
	Phones, Emails    []string
	Producer, Changed contact.Coded
	Others            []linkView   // contacts with the same numbers and addresses
	BackOffice        template.URL // checked in checkBackOffice
}

func (h *Hub) showFile(w http.ResponseWriter, r *http.Request, who visitor) error {
	rec, others, found, err := h.byID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !found {
		return &pageError{http.StatusNotFound, text.LocalhubNoFile, text.LocalhubNoFileBody}
	}
	h.stats.files.Add(1)
	lang := language(r)
	v := fileView{
		Name: legible(rec.Name()), Relation: legible(contact.GroupDigits(rec.RelationNumber)), Address: addressLines(rec.Address), Emails: rec.Emails, Others: linksOf(lang, others),
		Producer: rec.Producer, Changed: rec.LastModifiedBy, BackOffice: h.backOffice(rec.RelationNumber),
	}
	if rules, err := phone.NewRules(phone.Config{}); err == nil {
		for _, n := range rec.Numbers {
			v.Phones = append(v.Phones, cmp.Or(rules.Parse(n, "").Display(), n))
		}
	}
	return h.show(w, r, http.StatusOK, "file", cmp.Or(v.Name, lang.T(text.LocalhubFile)), who, v)
}

// showBackOffice replaces the back-office client, which this hub does not have.
func (h *Hub) showBackOffice(w http.ResponseWriter, r *http.Request, who visitor) error {
	h.message(w, r, http.StatusOK, who, text.LocalhubBackOffice, text.LocalhubBackOfficeBody)
	return nil
}

// backOffice returns the target of the click-through to the back-office client.
func (h *Hub) backOffice(relation string) template.URL {
	if h.cfg.BackOfficeURL == "" {
		return template.URL("/backoffice/" + url.PathEscape(cmp.Or(relation, "-")))
	}
	return template.URL(strings.ReplaceAll(h.cfg.BackOfficeURL, "{relation}", url.QueryEscape(relation)))
}

// addressLines returns an address as on an envelope.
func addressLines(a contact.Address) (lines []string) {
	country := a.Country
	if country == "NL" {
		country = ""
	}
	for _, line := range []string{a.StreetLine(), contact.Address{PostalCode: a.PostalCode, City: a.City}.Line(), country} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
