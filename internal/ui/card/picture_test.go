package card

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
	"wiebelt/internal/text"
)

var now = time.Date(2026, 3, 2, 10, 42, 3, 0, time.UTC)

func number(t testing.TB, raw string) phone.Number {
	t.Helper()
	r, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4, Lines: []phone.Line{{Number: "0207654321", Name: "Schade"}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Parse(raw, "")
}

func person(initials, prefix, family string) contact.Contact {
	return contact.Contact{ID: "c1", RelationNumber: "100200", Initials: initials, Prefix: prefix, FamilyName: family,
		Address:  contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"},
		Producer: contact.Coded{Code: "P1", Description: "Producent Een"}, LastModifiedBy: contact.Coded{Description: "Medewerker"}, Link: "x"}
}

// gallery is one card of every kind.
func gallery(t testing.TB) map[string]companion.Card {
	base := companion.Card{ID: 1, Opened: -1, Times: 1, Tells: call.TellsAll, Number: number(t, "0612345678"), LineName: "Schade", LineText: "020 123 45 67", Rang: now.Add(-3 * time.Second)}
	with := func(f func(*companion.Card)) companion.Card { c := base; f(&c); return c }
	found := func(c *companion.Card) {
		c.Outcome, c.Contacts, c.LinkOK = companion.Found, []contact.Contact{person("J", "de", "Vries")}, []bool{true}
	}
	family := []contact.Contact{person("A", "", "Bakker"), person("B.M.", "", "Bakker-van den Heuvel"), person("C", "", "Bakker")}
	all := map[string]companion.Card{
		"searching-start": base,
		"searching":       with(func(c *companion.Card) { c.Noticed = true }),
		"found":           with(found),
		"answered": with(func(c *companion.Card) {
			found(c)
			c.Phase, c.Answered, c.Via = companion.PhaseAnswered, now.Add(-72*time.Second), "Receptie (101)"
		}),
		"opened":   with(func(c *companion.Card) { found(c); c.Opened = 0; c.Times = 2 }),
		"possible": with(func(c *companion.Card) { found(c); c.Possible, c.Number = true, number(t, "+49 30 12345678") }),
		"nolink":   with(func(c *companion.Card) { found(c); c.LinkOK = []bool{false} }),
		"several": with(func(c *companion.Card) {
			c.Outcome, c.Contacts, c.LinkOK = companion.Several, family, []bool{true, true, true}
		}),
		"many": with(func(c *companion.Card) {
			c.Outcome = companion.Several
			for i := range 14 {
				c.Contacts = append(c.Contacts, person("A", "van der", fmt.Sprintf("Berg-Naam%d", i)))
				c.LinkOK = append(c.LinkOK, true)
			}
		}),
		"nobody":   with(func(c *companion.Card) { c.Outcome, c.PhoneName = companion.Nobody, "P. Jansen" }),
		"failed":   with(func(c *companion.Card) { c.Outcome, c.Failure, c.Retrying = companion.Failed, contact.HubSlow, true }),
		"refused":  with(func(c *companion.Card) { c.Outcome, c.Failure = companion.Failed, contact.CredentialsRefused }),
		"withheld": with(func(c *companion.Card) { c.Outcome, c.Number = companion.Withheld, phone.Number{Kind: phone.Withheld} }),
		"internal": with(func(c *companion.Card) {
			c.Outcome, c.Number, c.PhoneName, c.LineText, c.LineName = companion.Internal, number(t, "101"), "Receptie", "", ""
		}),
		"own":      with(func(c *companion.Card) { c.Outcome, c.Number = companion.Own, number(t, "0207654321") }),
		"short":    with(func(c *companion.Card) { c.Outcome, c.Number = companion.Short, number(t, "0800 1234") }),
		"unfilled": with(func(c *companion.Card) { c.Outcome, c.Number = companion.Unfilled, number(t, "%CallerNumber%") }),
		"offered":  with(func(c *companion.Card) { c.Outcome = companion.Offered }),
		"strip": with(func(c *companion.Card) {
			found(c)
			c.Strip, c.Phase, c.Answered = true, companion.PhaseAnswered, now.Add(-134*time.Second)
		}),
		"strip-nobody": with(func(c *companion.Card) {
			c.Outcome, c.Strip, c.Times, c.Phase = companion.Nobody, true, 2, companion.PhaseReported
		}),
		"long": with(func(c *companion.Card) {
			k := person("A.B.C.D.E.F.G.", "van den", "Oudenhoven-van Rijckevorsel tot Nieuwenkerk")
			k.Address.City = "Sint-Jacobiparochie aan de Lange Vecht Oost"
			k.Producer.Description = "Coöperatieve Onderlinge Verzekeringsmaatschappij van Noord-Holland en Omstreken"
			c.Outcome, c.Contacts, c.LinkOK = companion.Found, []contact.Contact{k}, []bool{true}
			c.LineName = "Schade particulieren en zakelijk binnendienst"
		}),
		"hostile": with(func(c *companion.Card) {
			c.Outcome, c.Contacts, c.LinkOK = companion.Found, []contact.Contact{{FamilyName: "اسم 😀 名前", Link: "x"}}, []bool{true}
		}),
	}
	return all
}

// TestPictures paints every card in every look. With PICTURES=DIR it keeps them.
func TestPictures(t *testing.T) {
	dir := os.Getenv("PICTURES")
	for name, c := range gallery(t) {
		for _, lang := range []text.Language{text.Dutch, text.English} {
			for _, dark := range []bool{false, true} {
				for _, scale := range []float32{1, 1.5, 2} {
					img := Picture(c, Look{Language: lang, Dark: dark, Now: now, Support: "Jan (IT), toestel 140"}, scale)
					if w := int(cardWidth*scale + 0.5); img.Rect.Dx() != w {
						t.Errorf("%s: %d wide, want %d", name, img.Rect.Dx(), w)
					}
					if dir == "" {
						continue
					}
					f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%s-%v-%v.png", name, lang, dark, scale)))
					if err != nil {
						t.Fatal(err)
					}
					if err := png.Encode(f, img); err != nil {
						t.Fatal(err)
					}
					f.Close()
				}
			}
		}
	}
}
