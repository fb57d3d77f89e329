package localhub

import (
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
	Producer, Changed codedView
	Others            []otherView
	BackOffice        template.URL // checked when it is made
}

// codedView is a description with its code beside it, or the one that is there.
type codedView struct{ Text, Code string }

func codedOf(c contact.Coded) codedView {
	if c.Code == "" || c.Description == "" {
		return codedView{Text: legible(c.Text())}
	}
	return codedView{legible(c.Text()), legible(c.Code)}
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
	v := h.view(r, text.LocalhubFile, who)
	v.File = fileView{
		Name: legible(rec.Name()), Relation: legible(contact.GroupDigits(rec.RelationNumber)), Address: addressLines(rec.Address),
		Producer: codedOf(rec.Producer), Changed: codedOf(rec.LastModifiedBy), BackOffice: h.backOffice(rec.RelationNumber),
	}
	v.Title = orElse(v.File.Name, v.Title)
	if rules, err := phone.NewRules(phone.Config{}); err == nil {
		for _, n := range rec.Numbers {
			v.File.Phones = append(v.File.Phones, legible(orElse(rules.Parse(n, "").Display(), n)))
		}
	}
	for _, e := range rec.Emails {
		v.File.Emails = append(v.File.Emails, legible(e))
	}
	for _, o := range others {
		v.File.Others = append(v.File.Others, otherView{o.ID, orElse(legible(o.Name()), v.Lang.T(text.LocalhubFileNoName)), legible(o.Address.ShortLine())})
	}
	return h.show(w, http.StatusOK, "file", v)
}

// showBackOffice stands where the back-office client would open: there is none
// beside this hub.
func (h *Hub) showBackOffice(w http.ResponseWriter, r *http.Request, who visitor) error {
	h.message(w, r, http.StatusOK, who, text.LocalhubBackOffice, text.LocalhubBackOfficeBody)
	return nil
}

// backOffice is where the click-through to the back-office client leads.
func (h *Hub) backOffice(relation string) template.URL {
	if h.cfg.BackOfficeURL == "" {
		return template.URL("/backoffice/" + url.PathEscape(orElse(relation, "-")))
	}
	return template.URL(strings.ReplaceAll(h.cfg.BackOfficeURL, "{relation}", url.QueryEscape(relation)))
}

// addressLines is an address as on an envelope.
func addressLines(a contact.Address) []string {
	var lines []string
	if s := a.StreetLine(); s != "" {
		lines = append(lines, legible(s))
	}
	place := contact.Address{PostalCode: a.PostalCode, City: a.City}.Line()
	if place != "" {
		lines = append(lines, legible(place))
	}
	if a.Country != "" && a.Country != "NL" {
		lines = append(lines, legible(a.Country))
	}
	return lines
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
