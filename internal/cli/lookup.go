package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/address"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/text"
)

type lookupCmd struct {
	JSON   bool   `name:"json"`
	Number string `arg:""`
}

type lookupAnswer struct {
	Number   string          `json:"number"`
	Outcome  string          `json:"outcome"`
	Possible bool            `json:"possible"`
	Contacts []lookupContact `json:"contacts"`
	Error    *lookupFault    `json:"error,omitempty"`
}

type lookupFault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type lookupCoded struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

type lookupAddress struct {
	Street     string `json:"straat"`
	Number     string `json:"huisnummer"`
	Addition   string `json:"toevoeging"`
	PostalCode string `json:"postcode"`
	City       string `json:"plaats"`
	Country    string `json:"landIso"`
}

type lookupContact struct {
	ID                      string        `json:"id"`
	BackofficeRelatienummer string        `json:"backofficerelatienummer"`
	Voorletters             string        `json:"voorletters"`
	Achternaam              string        `json:"achternaam"`
	Voorvoegsel             string        `json:"voorvoegsel"`
	Woonadres               lookupAddress `json:"woonadres"`
	Producent               lookupCoded   `json:"producent"`
	LaatstGewijzigdDoor     lookupCoded   `json:"laatstGewijzigdDoor"`
	Link                    string        `json:"link"`
	LinkOK                  bool          `json:"link_ok"`
}

func (c *lookupCmd) Run(e *env, d profile.Dirs) error {
	s := e.load(d)
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		return err
	}
	if err := c.findNumber(rules); err != nil {
		return err
	}
	n := rules.Parse(c.Number, "")
	if address.Validate(c.Number) != nil && n.Kind != phone.External {
		return usageError(text.OutputNoNumber)
	}
	a := lookupAnswer{Number: cmp.Or(n.E164, n.Digits), Possible: n.Foreign, Contacts: []lookupContact{}}
	switch {
	case n.Kind == phone.Withheld:
		a.Outcome = "withheld"
	case n.Kind == phone.OwnLine:
		a.Outcome = "own"
	case !n.CanLookUp():
		a.Outcome = "short"
	default:
		e.lookUp(&a, d, s, n)
	}
	if err := c.print(e, a); err != nil {
		return err
	}
	switch a.Outcome {
	case "found":
		return nil
	case "failed", "not_set_up":
		if c.JSON {
			return &failure{code: exitFailed}
		}
		return &failure{exitFailed, errors.New(a.Error.Message)} // in the language of the run
	}
	return &failure{code: exitNotFound}
}

func (c *lookupCmd) findNumber(rules *phone.Rules) error {
	all := rules.Find(c.Number)
	if len(all) > 1 {
		var shown []string
		for _, n := range all {
			shown = append(shown, n.Display())
		}
		return usageError(text.LookupWhich, strings.Join(shown, ", "))
	}
	c.Number = cmp.Or(all[0].E164, all[0].Digits, c.Number)
	return nil
}

func (c *lookupCmd) print(e *env, a lookupAnswer) error {
	if c.JSON {
		return e.printJSON(a)
	}
	if a.Possible && len(a.Contacts) > 0 {
		e.printText(text.OutputLookupPossible)
	}
	for _, k := range a.Contacts {
		fmt.Fprintln(e.out, k.line())
	}
	if key, said := map[string]text.Key{"none": text.OutputLookupNone, "short": text.OutputLookupShort, "own": text.OutputLookupOwn,
		"withheld": text.OutputLookupWithheld}[a.Outcome]; said {
		fmt.Fprintln(e.err, e.T(key))
	}
	return nil
}

// line is a contact on one line: relation number, name, address and the link that would be
// opened, as far as present.
func (k lookupContact) line() string {
	w, link := k.Woonadres, ""
	if k.LinkOK { // any other may contain anything from the hub, including terminal escapes
		link = k.Link
	}
	var parts []string
	for _, words := range [][]string{{k.BackofficeRelatienummer}, {k.Voorletters, k.Voorvoegsel, k.Achternaam},
		{w.Street, w.Number, w.Addition}, {w.PostalCode, w.City}, {link}} {
		if s := strings.Join(strings.Fields(strings.Join(words, " ")), " "); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

func contactJSON(k contact.Contact, links *hub.LinkChecker) lookupContact {
	_, err := links.Check(k.Link)
	return lookupContact{
		ID: k.ID, BackofficeRelatienummer: k.RelationNumber,
		Voorletters: k.Initials, Achternaam: k.FamilyName, Voorvoegsel: k.Prefix,
		Woonadres: lookupAddress(k.Address),
		Producent: lookupCoded(k.Producer), LaatstGewijzigdDoor: lookupCoded(k.LastModifiedBy),
		Link: k.Link, LinkOK: err == nil,
	}
}
