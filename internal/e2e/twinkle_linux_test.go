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

// TestRealTwinkle: the real Twinkle runs the command of its recipe on call events, and Wiebelt
// shows the caller. The phone is in its own network namespace; the command reaches Wiebelt anyway.
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
	// No contact at the hub has this number, and the name is a
	// difficult one (a backslash in it is too much for Twinkle itself).
	const stranger, name = "+31698769999", `Zoë "de Hoek" d'Évora`
	const long = 6 * time.Second // for the card to be noticed, on a busy machine
	for n, c := range []struct {
		name     string
		scenario phonetest.Scenario
		card     engine.Card
		want     history.Entry
	}{
		{"answered", phonetest.Scenario{Number: "0698760011", Name: "Iemand Anders", Answer: true, Talk: time.Second},
			engine.Card{Outcome: engine.OutcomeFound, Contacts: []contact.Contact{vries.Contact}, RingsToday: 1},
			history.Entry{Number: "+31698760011", Name: vries.Contact.Name(), ContactID: "c-vries", Outcome: history.OutcomeFound, Result: history.ResultAnswered}},
		{"a name to trip over", phonetest.Scenario{Number: stranger, Name: name, Ring: long},
			engine.Card{Outcome: engine.OutcomeNobody, PhoneName: name, RingsToday: 1}, history.Entry{Number: stranger, Name: name, Outcome: history.OutcomeNobody, Result: history.ResultNotHere}},
	} {
		placed := twinkle.Place(t, c.scenario)
		o.shows("the card: "+c.name, callersCard(t, c.card, c.scenario.Number, "103", card.Look{}, 1))
		twinkle.Rings(t)
		if c.scenario.Answer {
			twinkle.Press(t, "answer")
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
