package e2e

import (
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/ui/card"
)

// TestRealTwinkle: the real Twinkle runs the command of its recipe for what
// happens to a call, and Wiebelt shows who it is. The phone lives in a network of
// its own; what it runs reaches Wiebelt all the same.
func TestRealTwinkle(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	twinkle := phonetest.StartTwinkle(t, o.bin+" ring --twinkle --profile "+o.profile)
	last := func() history.Entry {
		all := callsOf(t, o)
		if len(all) == 0 {
			return history.Entry{}
		}
		return all[0]
	}
	// Nobody at the hub has this number, and the name is one to trip over (a
	// backslash in it is too much for Twinkle itself).
	const stranger, name = "+31698769999", `Zoë "de Hoek" d'Évora`
	known := func(times int) engine.Card {
		return engine.Card{Outcome: engine.Found, Contacts: []contact.Contact{vries.Contact}, Times: times}
	}
	entry := func(result string) history.Entry {
		return history.Entry{Number: "+31698760011", Name: vries.Contact.Name(), ContactID: "c-vries", Outcome: history.OutcomeFound, Result: result}
	}
	const long = 6 * time.Second // for the card to be seen, on a busy machine
	for n, c := range []struct {
		name     string
		scenario phonetest.Scenario
		card     engine.Card
		want     history.Entry
	}{
		{"given up", phonetest.Scenario{Number: "+31698760011", Ring: long}, known(1), entry(history.ResultNotHere)},
		{"answered", phonetest.Scenario{Number: "0698760011", Name: "Iemand Anders", Answer: true, Talk: time.Second}, known(2), entry(history.ResultAnswered)},
		{"refused", phonetest.Scenario{Number: "+31698760011", Reject: true}, known(3), entry(history.ResultRejected)},
		{"withheld", phonetest.Scenario{Number: "+31698760011", Name: "J. de Vries", Withheld: true, Ring: long},
			engine.Card{Outcome: engine.Withheld, Times: 1}, history.Entry{Outcome: history.OutcomeWithheld, Result: history.ResultNotHere}},
		{"a name to trip over", phonetest.Scenario{Number: stranger, Name: name, Ring: long},
			engine.Card{Outcome: engine.Nobody, PhoneName: name, Times: 1}, history.Entry{Number: stranger, Name: name, Outcome: history.OutcomeNobody, Result: history.ResultNotHere}},
	} {
		if c.card.Times > 1 { // the card says when the time before was
			c.card.Before = last().Rang
		}
		placed := twinkle.Place(t, c.scenario)
		number := c.scenario.Number
		if c.scenario.Withheld {
			number = "anonymous"
		}
		o.shows("the card: "+c.name, callersCard(t, c.card, number, "103", card.Look{}, 1))
		twinkle.Rings(t)
		if c.scenario.Answer {
			twinkle.Press(t, "answer")
		} else if c.scenario.Reject {
			twinkle.Press(t, "reject")
		}
		placed.Wait()
		o.Until("the call is in the history: "+c.name, func() bool { return len(callsOf(t, o)) == n+1 && !last().Ended.IsZero() })
		got := last()
		if got.Number != c.want.Number || got.Name != c.want.Name || got.ContactID != c.want.ContactID || got.Outcome != c.want.Outcome ||
			got.Result != c.want.Result || got.Answered.IsZero() == c.scenario.Answer {
			t.Errorf("%s: %+v", c.name, got)
		}
		o.Until("no card: "+c.name, o.empty)
	}
}
