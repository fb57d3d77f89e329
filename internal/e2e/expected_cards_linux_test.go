package e2e

import (
	"image"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// fonts guards Fyne's application, which exists once per process.
var fonts sync.Mutex

// callersCard returns the expected card of a call on line; c has what differs from a usual card.
func callersCard(t testing.TB, c engine.Card, number, line string, look card.Look, scale float32) *image.RGBA {
	t.Helper()
	fonts.Lock()
	defer fonts.Unlock()
	rules := phone.DefaultRules()
	c.Number, c.OpenedIndex, c.EarlierChoice, c.RingsToday, c.ReportLevel, c.Rang = rules.Parse(number, ""), -1, -1,
		max(c.RingsToday, 1), call.AllStates, time.Now()
	c.LineText, c.LineName = rules.Line(line)
	for range c.Contacts {
		c.LinkOK = append(c.LinkOK, true)
	}
	if look.Language == "" {
		look.Language = text.Dutch
	}
	return card.Picture(c, look, scale)
}

// foundCard returns the expected card of one contact.
func foundCard(t testing.TB, number, line string, k contact.Contact) *image.RGBA {
	t.Helper()
	return foundCardIn(t, card.Look{}, number, line, k)
}

func foundCardIn(t testing.TB, look card.Look, number, line string, k contact.Contact) *image.RGBA {
	t.Helper()
	return callersCard(t, engine.Card{Outcome: engine.OutcomeFound, Contacts: []contact.Contact{k}}, number, line, look, 1)
}

func searchingCard(t testing.TB, number string) *image.RGBA {
	t.Helper()
	return callersCard(t, engine.Card{}, number, "", card.Look{}, 1)
}

// failedCard returns the expected card of a failed lookup.
func failedCard(t testing.TB, number string, why contact.Failure, support string) *image.RGBA {
	t.Helper()
	return callersCard(t, engine.Card{Outcome: engine.OutcomeFailed, Failure: why}, number, "", card.Look{Support: support}, 1)
}
