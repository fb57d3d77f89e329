package card

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
)

var now = time.Date(2026, 3, 2, 10, 42, 3, 0, time.Local)

func number(t testing.TB, raw string) phone.Number {
	t.Helper()
	r, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4, Lines: []phone.Line{{Number: "0207654321", Name: "Schade"}}, NeverLookup: []string{"0201112233"}})
	must.Do(t, err)
	return r.Parse(raw, "")
}

func person(initials, prefix, family string) contact.Contact {
	return contact.Contact{ID: "c-" + family, RelationNumber: "100200", Initials: initials, Prefix: prefix, FamilyName: family,
		Address:  contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"},
		Producer: contact.CodedValue{Code: "P1", Description: "Producent Een"}, LastModifiedBy: contact.CodedValue{Description: "Medewerker"}, Link: "https://hub.example/contacts/viewcontact/c1"}
}

// people returns n different contacts with one number.
func people(n int) (all []contact.Contact, ok []bool) {
	streets := []string{"Kade", "Laan", "Molenweg", "Singel"}
	for i := range n {
		k := person(string(rune('A'+i%26)), []string{"", "van der", "de"}[i%3], []string{"Bakker", "Berg", "Visser", "Smit", "Jong"}[i%5])
		k.ID, k.RelationNumber = fmt.Sprint("c", i), fmt.Sprint(200002+i)
		k.Address.Street, k.Address.Number, k.Address.City = streets[i%4], fmt.Sprint(i+1), "Amsterdam"
		all, ok = append(all, k), append(ok, true)
	}
	return all, ok
}

// shown is a card and its look.
type shown struct {
	engine.Card
	look func(*Look) // nil for the default look
}

// in returns its look if others look like l.
func (s shown) in(l Look) Look {
	if s.look != nil {
		s.look(&l)
	}
	return l
}

// everyCard returns the gallery and the extras.
func everyCard(t testing.TB) map[string]shown {
	all := extras(t)
	for name, c := range gallery(t) {
		all[name] = shown{c, nil}
	}
	return all
}

// gallery returns one card of every kind in its default look.
func gallery(t testing.TB) map[string]engine.Card {
	base := engine.Card{ID: 1, OpenedIndex: -1, EarlierChoice: -1, RingsToday: 1, ReportLevel: call.AllStates, Number: number(t, "0612345678"), LineName: "Schade", LineText: "020 123 45 67", Rang: now.Add(-3 * time.Second)}
	with := func(f func(*engine.Card)) engine.Card { c := base; f(&c); return c }
	found := func(c *engine.Card) {
		c.Outcome, c.Contacts, c.LinkOK = engine.OutcomeFound, []contact.Contact{person("J", "de", "Vries")}, []bool{true}
	}
	several := func(c *engine.Card) {
		c.Outcome, c.Number, c.LineName = engine.OutcomeSeveral, number(t, "0209876543"), ""
		c.Contacts, c.LinkOK = []contact.Contact{person("A", "", "Bakker"), person("B.M.", "", "Bakker-van den Heuvel"), person("C", "", "Bakker")}, []bool{true, true, true}
		for i := range c.Contacts {
			c.Contacts[i].RelationNumber = fmt.Sprint(200002 + i)
		}
	}
	failed := func(f contact.Failure) engine.Card {
		return with(func(c *engine.Card) {
			c.Outcome, c.Failure, c.Retrying = engine.OutcomeFailed, f, !f.NeedsAdmin()
		})
	}
	return map[string]engine.Card{
		"searching-start": base,
		"searching":       with(func(c *engine.Card) { c.ShowSearching = true }),
		"found":           with(found),
		"answered": with(func(c *engine.Card) {
			found(c)
			c.Phase, c.Answered, c.Via = engine.PhaseAnswered, now.Add(-72*time.Second), "Receptie (101)"
		}),
		"over": with(func(c *engine.Card) {
			found(c)
			c.Phase, c.Answered, c.OpenedIndex = engine.PhaseOver, now.Add(-72*time.Second), 0
		}),
		"again": with(func(c *engine.Card) {
			found(c)
			c.OpenedIndex, c.RingsToday, c.PreviousRing = 0, 2, now.Add(-21*time.Minute)
		}),
		"ringonly": with(func(c *engine.Card) { found(c); c.ReportLevel = call.RingOnly }),
		"outgoing": with(func(c *engine.Card) { found(c); c.Outgoing, c.LineText, c.LineName = true, "", "" }),
		"possible": with(func(c *engine.Card) { found(c); c.Possible, c.Number = true, number(t, "+49 30 12345678") }),
		"nolink":   with(func(c *engine.Card) { found(c); c.LinkOK = []bool{false} }),
		"browser":  with(func(c *engine.Card) { found(c); c.OpenError, c.OpenedIndex = true, 0 }),
		"several":  with(several),
		"earlier":  with(func(c *engine.Card) { several(c); c.EarlierChoice = 0 }),
		"chosen":   with(func(c *engine.Card) { several(c); c.EarlierChoice, c.OpenedIndex = 0, 1 }),
		"family":   with(func(c *engine.Card) { c.Outcome = engine.OutcomeSeveral; c.Contacts, c.LinkOK = people(8) }),
		"crowd":    with(func(c *engine.Card) { c.Outcome = engine.OutcomeSeveral; c.Contacts, c.LinkOK = people(14) }),
		"browser-row": with(func(c *engine.Card) {
			several(c)
			c.OpenError, c.OpenedIndex = true, 1
		}),
		"general": with(func(c *engine.Card) {
			c.Outcome, c.GeneralNumber = engine.OutcomeSeveral, true
			c.Contacts, c.LinkOK = people(64)
		}),
		"nobody": with(func(c *engine.Card) { c.Outcome, c.PhoneName = engine.OutcomeNobody, "P. Jansen" }),
		"nobody-left": with(func(c *engine.Card) {
			c.Outcome, c.RemovedCount, c.LastRemoved, c.CanUndo = engine.OutcomeNobody, 1, person("J", "de", "Vries"), true
		}),
		"failed":   failed(contact.HubSlow),
		"refused":  failed(contact.CredentialsRefused),
		"notsetup": failed(contact.NotSetUp),
		"withheld": with(func(c *engine.Card) { c.Outcome, c.Number = engine.OutcomeWithheld, phone.Number{Kind: phone.Withheld} }),
		"internal": with(func(c *engine.Card) {
			c.Outcome, c.Number, c.PhoneName, c.LineText, c.LineName = engine.OutcomeInternal, number(t, "101"), "Receptie", "", ""
		}),
		"own":      with(func(c *engine.Card) { c.Outcome, c.Number = engine.OutcomeOwnLine, number(t, "0207654321") }),
		"short":    with(func(c *engine.Card) { c.Outcome, c.Number = engine.OutcomeShort, number(t, "0800 1234") }),
		"never":    with(func(c *engine.Card) { c.Outcome, c.Number = engine.OutcomeShort, number(t, "0201112233") }),
		"unfilled": with(func(c *engine.Card) { c.Outcome, c.Number = engine.OutcomePlaceholder, number(t, "%CallerNumber%") }),
		"nonumber": with(func(c *engine.Card) { c.Outcome, c.Number = engine.OutcomeNoNumber, number(t, "sip:jan@huis.example") }),
		"offered":  with(func(c *engine.Card) { c.Outcome, c.ReportLevel = engine.OutcomeOffered, call.RingOnly }),
		"strip": with(func(c *engine.Card) {
			found(c)
			c.Strip, c.Phase, c.Answered = true, engine.PhaseAnswered, now.Add(-134*time.Second)
		}),
		"strip-reported": with(func(c *engine.Card) {
			c.Outcome, c.Strip, c.RingsToday, c.Phase, c.ReportLevel = engine.OutcomeNobody, true, 2, engine.PhaseReported, call.RingOnly
		}),
		"strip-aside": with(func(c *engine.Card) {
			found(c)
			c.Strip, c.Dimmed, c.Phase, c.Answered = true, true, engine.PhaseOver, now.Add(-134*time.Second)
		}),
		"aside": with(func(c *engine.Card) {
			found(c)
			c.Dimmed, c.Phase, c.Answered = true, engine.PhaseOver, now.Add(-134*time.Second)
		}),
		"line": with(func(c *engine.Card) { found(c); c.SingleLine = true }),
		"line-answered": with(func(c *engine.Card) {
			several(c)
			c.SingleLine, c.Phase, c.Answered, c.RingsToday = true, engine.PhaseAnswered, now.Add(-134*time.Second), 8
		}),
		"strip-again": with(func(c *engine.Card) {
			c.Outcome, c.Strip, c.RingsToday, c.Phase, c.Answered = engine.OutcomeNobody, true, 8, engine.PhaseAnswered, now.Add(-10*time.Second)
		}),
		"strip-outgoing": with(func(c *engine.Card) { several(c); c.Strip, c.Outgoing = true, true }),
	}
}

// extras returns cards in looks that settings and users can cause, and with
// unusual names of offices.
func extras(t testing.TB) map[string]shown {
	g := gallery(t)
	called := func(name string, f func(*contact.Contact)) shown {
		c := g["found"]
		k := person("", "", name)
		if f != nil {
			f(&k)
		}
		c.Contacts = []contact.Contact{k}
		return shown{c, nil}
	}
	looks := func(name string, f func(*Look)) shown { return shown{g[name], f} }
	open := func(c engine.Card, i int) Effect { return contactEffect(c, engine.ActionOpen, i) }
	passed := g["answered"]
	passed.Via = "Receptie Hoofdkantoor Amsterdam (1023)"
	row := g["earlier"]
	row.Contacts = slices.Clone(row.Contacts)
	row.Contacts[0] = person("A.B.C.", "van den", "Oudenhoven-van Rijckevorsel")
	all := map[string]shown{
		"passed-long":  {passed, nil},
		"earlier-long": {row, nil},
		"keyboard":     looks("strip", func(l *Look) { l.Keyboard = true }),
		"undo": {func() engine.Card {
			c := g["found"]
			c.RemovedCount, c.LastRemoved, c.CanUndo = 1, person("A", "", "Bakker"), true
			return c
		}(), nil},
		"browser-number": looks("browser-row", func(l *Look) {
			l.Privacy, l.Fields = PrivacyNumber, []string{}
		}),
		"long": called("Oudenhoven-van Rijckevorsel tot Nieuwenkerk", func(k *contact.Contact) {
			k.Initials, k.Prefix = "A.B.C.D.E.F.G.", "van den"
			k.Address.City = "Sint-Jacobiparochie aan de Lange Vechtoo"
			k.Producer.Description = "Coöperatieve Onderlinge Verzekeringsmaatschappij van Noord-Holland en Omstreken"
		}),
		"bare": {engine.Card{ID: 1, Outcome: engine.OutcomeFound, Number: number(t, "0612345678"), OpenedIndex: -1, EarlierChoice: -1, RingsToday: 1, ReportLevel: call.AllStates, Contacts: make([]contact.Contact, 1), LinkOK: []bool{true}, Rang: now}, nil},
		"arabic": called("محمد بن عبد الله", func(k *contact.Contact) {
			k.Address.Street = "شارع (النخيل)"
			k.Producer.Description = "Polis \u200Fمكتب 12\u200F Zuid"
		}),
		"hebrew":        called("שרה כהן-לוי", func(k *contact.Contact) { k.Address.Street = "רחוב הרצל" }),
		"emoji":         called("Bakkerij Zon ☀ 🥐 👩\u200D🍳", nil),
		"vietnamese":    called("Nguyễn Thị Phương Thảo", func(k *contact.Contact) { k.LastModifiedBy.Description = "Şükrü Çağlayan" }),
		"east":          called("Йорданов-Παπαδόπουλος", func(k *contact.Contact) { k.Address.City = "Łódź" }),
		"initials":      looks("found", func(l *Look) { l.Privacy = PrivacyInitials }),
		"number":        looks("found", func(l *Look) { l.Privacy = PrivacyNumber }),
		"rows-initials": looks("earlier", func(l *Look) { l.Privacy = PrivacyInitials }),
		"rows-number":   looks("earlier", func(l *Look) { l.Privacy = PrivacyNumber }),
		"fields":        looks("found", func(l *Look) { l.Fields = []string{fieldAddress, fieldRelation} }),
		"no-fields":     looks("found", func(l *Look) { l.Fields = []string{} }),
		"focus":         looks("found", func(l *Look) { l.Focus, l.Keyboard = open(g["found"], 0), true }),
		"focus-row":     looks("several", func(l *Look) { l.Focus = open(g["several"], 1) }),
		"hover":         looks("found", func(l *Look) { l.Hover = open(g["found"], 0) }),
		"copied": looks("found", func(l *Look) {
			l.Copied = Effect{Copy: "100200", Caller: g["found"].Number, Contact: g["found"].Contacts[0]}
		}),
		"copied-number": looks("found", func(l *Look) { l.Copied = Effect{Copy: "0612345678", Caller: g["found"].Number} }),
		"copy-failed": looks("several", func(l *Look) {
			l.Copied, l.CopyFailed = Effect{Copy: g["several"].Number.ClipboardText(), Caller: g["several"].Number}, true
		}),
		"typing":       looks("crowd", func(l *Look) { l.Typing = true }),
		"filtered":     looks("crowd", func(l *Look) { l.Typing, l.RowsState.Filter = true, "visser"; l.Focus = open(g["crowd"], 7) }),
		"filter-none":  looks("general", func(l *Look) { l.Typing, l.RowsState = true, RowsState{Filter: "zz", Open: true} }),
		"general-open": looks("general", func(l *Look) { l.RowsState = RowsState{Open: true, First: 20} }),
		"high":         looks("found", func(l *Look) { l.HighContrast = true }),
		"high-rows":    looks("earlier", func(l *Look) { l.HighContrast = true; l.Focus = open(g["earlier"], 1) }),
		"low-monitor":  looks("crowd", func(l *Look) { l.Rows = 2 }),
	}
	whole := all["long"]
	whole.look = func(l *Look) { l.Hover = Effect{FullText: whole.Contacts[0].Name()} }
	all["long-whole"] = whole
	return all
}
