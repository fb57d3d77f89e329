package e2e

import (
	"image"
	"testing"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/history"
	"wiebelt/internal/phone"
	"wiebelt/internal/softphone/phonetest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// callersCard is what the card of a call that came in on line should look like;
// c holds what is special to it.
func callersCard(t *testing.T, c companion.Card, number, line string) *image.RGBA {
	t.Helper()
	fonts.Lock()
	defer fonts.Unlock()
	rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4})
	if err != nil {
		t.Fatal(err)
	}
	c.Number, c.Opened, c.Tells, c.Rang = rules.Parse(number, ""), -1, call.TellsAll, time.Now()
	c.LineText, c.LineName = rules.Line(line)
	return card.Picture(c, card.Look{Language: text.Dutch}, 1)
}

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
	known := func(times int) companion.Card {
		return companion.Card{Outcome: companion.Found, Contacts: []contact.Contact{vries.Contact}, LinkOK: []bool{true}, Times: times}
	}
	entry := func(result string) history.Entry {
		return history.Entry{Number: "+31698760011", Name: vries.Contact.Name(), ContactID: "c-vries", Outcome: history.OutcomeFound, Result: result}
	}
	const long = 6 * time.Second // for the card to be seen, on a busy machine
	for n, c := range []struct {
		name     string
		scenario phonetest.Scenario
		card     companion.Card
		want     history.Entry
	}{
		{"given up", phonetest.Scenario{Number: "+31698760011", Ring: long}, known(1), entry(history.ResultNotHere)},
		{"answered", phonetest.Scenario{Number: "0698760011", Name: "Iemand Anders", Answer: true, Talk: time.Second}, known(2), entry(history.ResultAnswered)},
		{"refused", phonetest.Scenario{Number: "+31698760011", Reject: true}, known(3), entry(history.ResultRejected)},
		{"withheld", phonetest.Scenario{Number: "+31698760011", Name: "J. de Vries", Withheld: true, Ring: long},
			companion.Card{Outcome: companion.Withheld, Times: 1}, history.Entry{Outcome: history.OutcomeWithheld, Result: history.ResultNotHere}},
		{"a name to trip over", phonetest.Scenario{Number: stranger, Name: name, Ring: long},
			companion.Card{Outcome: companion.Nobody, PhoneName: name, Times: 1}, history.Entry{Number: stranger, Name: name, Outcome: history.OutcomeNobody, Result: history.ResultNotHere}},
	} {
		placed := twinkle.Place(t, c.scenario)
		number := c.scenario.Number
		if c.scenario.Withheld {
			number = "anonymous"
		}
		o.shows("the card: "+c.name, callersCard(t, c.card, number, "103"))
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
