package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
)

// The property test plays stories: anything that phones, hub, user and computer
// may do, in any order. Beside the engine it tracks the truth about every call,
// and compares each snapshot, each opened file and the history with it.

// play is one step of a story. The meaning of the numbers
// depends on Do; they are taken modulo the number of choices.
type play struct {
	Do      string
	A, B, C int
}

func (p play) String() string { return fmt.Sprintf("%s %d %d %d", p.Do, p.A, p.B, p.C) }

var steps = []string{
	"ring", "ring", "ring", "ring", "ring", "ring", "ring", "again", "also", "also", "answer", "answer", "answer", "end", "end", "end",
	"pass", "pass", "pass", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "wait", "wait", "wait",
	"hover", "leave", "keyboard", "keyboard gone", "close", "close", "unfold", "open", "open", "open late", "open late", "open late", "not this", "not this", "undo", "retry", "show", "show", "hotkey", "hotkey",
	"sleep", "gone", "old", "outgoing", "launch",
}

// randomStory returns the story of a seed.
func randomStory(seed uint64) []play {
	r := rand.New(rand.NewPCG(seed, 14))
	story := make([]play, 12+r.IntN(40))
	for i := range story {
		story[i] = play{steps[r.IntN(len(steps))], r.IntN(120), r.IntN(120), r.IntN(120)}
	}
	return story
}

// callers are the numbers of the stories and how many contacts each has.
var callers = []struct {
	number   string
	contacts int
}{
	{"+31612345601", 1}, {"+31612345602", 1}, {"+31612345603", 2}, {"+31612345604", 3}, {"+31612345605", 0}, {"+31612345606", 1},
	{"+31201234507", ManyContacts + 1}, {"+493090182008", 1}, {"101", 0}, {"102", 0}, {"", 0},
}

func nameOf(number string) string {
	if number == "" {
		return ""
	}
	return "Naam " + number
}

func peopleOf(number string) (found []contact.Contact) {
	for i, c := range callers {
		if c.number == number {
			for k := range callers[i].contacts {
				found = append(found, contact.Contact{ID: fmt.Sprintf("%s#%d", number, k), FamilyName: fmt.Sprintf("F%02d", (k*7)%40), Link: fmt.Sprintf("ok:%s#%d", number, k)})
			}
		}
	}
	return found
}

func pick[T any](all []T, i int) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[i%len(all)], true
}

func (w *world) do(p play) {
	now := time.Now()
	number := callers[p.B%len(callers)].number
	live := w.live()
	t, some := pick(live, p.A)
	cards := w.e.Snapshot().Cards
	if p.Do == "open" || p.Do == "not this" {
		cards = slices.DeleteFunc(slices.Clone(cards), func(c Card) bool { return len(c.Contacts) == 0 })
	}
	if p.Do == "undo" {
		cards = slices.DeleteFunc(slices.Clone(cards), func(c Card) bool { return !c.CanUndo })
	}
	c, any := pick(cards, p.A)
	act := func(do ActionKind, index int, edition uint64) {
		w.e.Do(Action{Card: c.ID, Kind: do, Index: index, Edition: edition})
		synctest.Wait()
	}
	switch p.Do {
	case "ring":
		source := []call.Source{wireAll, wireBare, wireRing}[p.A%3]
		if !w.busy(number) {
			w.begin(source, number, call.Ringing, false)
		}
	case "launch":
		if number != "" && !w.busy(number) {
			w.begin(wireURL, number, []call.State{call.Ringing, call.Answered}[p.A%2], false)
		}
	case "outgoing":
		if number != "" && !w.busy(number) {
			w.begin(wireAll, number, call.Ringing, true)
		}
	case "again":
		if some && !t.outgoing && !t.url && t.answered.IsZero() && now.Sub(t.rang) < 14*time.Second {
			w.tell(t, call.Ringing, nil)
		}
	case "also": // a second source reports the same call
		source := []call.Source{wireAll, wireBare, wireRing}[p.B%3]
		if some && !t.outgoing && t.answered.IsZero() && len(t.sources) == 1 && t.sources[0] != source && now.Sub(t.rang) <= call.MergeWithin && now.Equal(t.rang) && t.lost.IsZero() &&
			!slices.ContainsFunc(w.e.s.cards, func(c *card) bool { return c.call != t.id && c.Number.Key() == keyOf(t.number) }) {
			t.sources, t.ids = append(t.sources, source), append(t.ids, w.freeID(source))
			w.saw["two sources"]++
			if t.url {
				t.url, t.confirmed = false, true
			}
			w.send(source, t.ids[1], t.number, call.Ringing, nil)
			if c := w.e.cardOf(t.id); c != nil && c.source == source { // it reports more, so it owns the call
				slices.Reverse(t.sources)
				slices.Reverse(t.ids)
			}
		}
	case "answer":
		if some && t.answered.IsZero() && t.sources[0].Kind != call.KindURL {
			t.answered = now
			w.tell(t, call.Answered, func(e *call.Event) {
				if p.B%2 == 0 && (e.ID != "" || len(live) == 1) {
					e.Number, e.Name = "", ""
				}
			})
		}
	case "end":
		if some && t.sources[0].Kind != call.KindURL {
			r := call.ReasonUnknown
			if t.answered.IsZero() {
				r = call.Reason(p.B % 5)
				if r == call.Completed {
					r = call.Missed
				}
			}
			w.overBy(t, r)
			w.tell(t, call.Ended, func(e *call.Event) { e.Reason = r })
		}
	case "pass": // transfers: blind, after talking, and taken back
		if some && !t.outgoing && t.ids[0] != "" && !w.busy(number) {
			t.number, t.person = number, now
			t.closed = false
			s := call.Ringing
			if !t.answered.IsZero() && number != "" { // without a number, it identifies no caller
				s = call.Answered
			}
			w.tell(t, s, nil)
		}
	case "hub":
		if len(w.asked) > 0 {
			i := p.A % len(w.asked)
			q := w.asked[i]
			w.asked = slices.Delete(w.asked, i, i+1)
			var err error
			switch p.B % 5 {
			case 0:
				err = &contact.LookupError{Failure: contact.ConnectionRefused}
			case 1:
				err = errors.New("not understood")
			}
			q.reply <- err
			synctest.Wait()
		}
	case "wait":
		d := []time.Duration{10 * time.Millisecond, 400 * time.Millisecond, 900 * time.Millisecond, 3 * time.Second, 7 * time.Second, 21 * time.Second, 61 * time.Second, 11 * time.Minute}[p.A%8]
		w.e.Reconfigure(func(*Params) {}) // it may change again what this goroutine has read
		time.Sleep(d)
		synctest.Wait()
	case "hover", "keyboard":
		if any && !w.held {
			act(map[string]ActionKind{"hover": ActionHover, "keyboard": ActionKeyboard}[p.Do], 0, 0)
			w.held, w.heldCard = true, c.ID
		}
	case "leave", "keyboard gone":
		if w.held {
			w.leftAt = now
			w.e.Do(Action{Card: w.heldCard, Kind: ActionLeave})
			w.e.Do(Action{Card: w.heldCard, Kind: ActionKeyboardGone})
			synctest.Wait()
			w.held = false
		}
	case "close":
		if any {
			w.mayMove = true
			if t := w.callOf(c.ID); t != nil {
				t.closed = true
			}
			if w.held && w.heldCard == c.ID {
				w.held, w.leftAt = false, now
			}
			act(ActionClose, 0, 0)
		}
	case "unfold":
		if any {
			w.mayMove, w.touched, w.unfolded[c.ID] = true, now, true
			act(ActionUnfold, 0, 0)
		}
	case "open":
		if any {
			i := p.B % len(c.Contacts)
			w.expected[c.Contacts[i].Link]++
			act(ActionOpen, i, c.Edition)
			if w.expected[c.Contacts[i].Link] > 0 {
				w.fail("clicked, and not opened")
			}
		}
	case "open late": // the click was meant for the previous content
		for _, old := range w.seen[max(0, len(w.seen)-40):] {
			for _, o := range old.Cards {
				i := slices.IndexFunc(cards, func(c Card) bool { return c.ID == o.ID && c.Edition != o.Edition && len(c.Contacts) > 0 })
				if i >= 0 && len(o.Contacts) > 0 {
					w.saw["late click"]++
					c = cards[i]
					act(ActionOpen, 0, o.Edition)
					return
				}
			}
		}
	case "not this":
		if any {
			i := p.B % len(c.Contacts)
			if t := w.callOf(c.ID); t != nil {
				t.off, t.undoUntil = c.Contacts[i].ID, now.Add(undoFor)
				t.denied[t.off] = true
			}
			act(ActionRemoveContact, i, c.Edition)
		}
	case "undo":
		if any {
			if t := w.callOf(c.ID); t != nil && c.CanUndo && t.off == c.LastRemoved.ID {
				delete(t.denied, t.off)
				w.saw["taken back"]++
			}
			act(ActionUndo, 0, 0)
		}
	case "hotkey": // and Enter
		s := w.e.Snapshot()
		if s.HotkeyCard() != 0 && s.HotkeyCard() == s.ClosedCard {
			w.saw["back by hotkey"]++
			w.show(s.HotkeyCard())
			return
		}
		i := slices.IndexFunc(s.Cards, func(c Card) bool { return c.ID == s.HotkeyCard() })
		if i < 0 {
			return
		}
		if c = s.Cards[i]; c.Outcome != OutcomeFound || c.Dimmed {
			return
		}
		if t := w.callOf(c.ID); t != nil && t.over && slices.ContainsFunc(w.live(), func(o *truth) bool {
			return !o.outgoing && !o.url && o.lost.IsZero() && o.sources[0].ReportLevel == call.AllStates
		}) {
			w.fail("Enter opens the file of %s, whose call is over while another lives", c.Number.Key())
		}
		w.saw["Enter"]++
		w.expected[c.Contacts[0].Link]++
		act(ActionOpen, 0, c.Edition)
	case "show":
		if c, ok := pick(w.e.s.recent, p.A); ok {
			w.show(c.ID)
		}
	case "retry":
		if any {
			if t := w.callOf(c.ID); t != nil && c.Outcome == OutcomeOffered {
				t.confirmed = true
			}
			act(ActionRetry, 0, 0)
		}
	case "sleep":
		w.mayMove, w.held = true, false
		w.leftAt = time.Time{}
		for _, t := range w.live() {
			w.overBy(t, call.ReasonUnknown)
			t.ended, t.slept = now.Add(8*time.Hour), true
		}
		for _, c := range w.e.s.cards {
			if t := w.truthOf(c.call); t != nil {
				t.slept = true // no one waits for lookups from before the sleep
			}
		}
		w.e.Reconfigure(func(*Params) { time.Sleep(8 * time.Hour) })
		time.Sleep(8 * time.Hour)
		w.e.Resumed(8 * time.Hour)
		synctest.Wait()
	case "gone":
		source := []call.Source{wireAll, wireBare}[p.A%2]
		for _, t := range live {
			if t.sources[0] == source {
				t.lost = now
			}
		}
		w.e.SourceGone(source)
		synctest.Wait()
	case "old": // reports that were delayed by two minutes
		w.nextID++
		w.old++
		id := fmt.Sprint("old", w.nextID)
		for _, s := range []call.State{call.Ringing, call.Answered, call.Ended}[:1+p.B%3] {
			w.send(wireAll, id, callers[0].number, s, func(e *call.Event) { e.At = now.Add(-2 * time.Minute) })
		}
	}
	w.mayMove = false
}

// show brings a card back.
func (w *world) show(id CardID) {
	w.mayMove, w.touched = true, time.Now()
	w.e.Do(Action{Card: id, Kind: ActionShow})
	synctest.Wait()
	for _, c := range w.e.s.cards {
		if t := w.truthOf(c.call); t != nil && !c.closed {
			t.closed = false
		}
	}
	w.mayMove = false
}

func playStory(t *testing.T, auto bool, story []play) (wrong string, saw map[string]int) {
	synctest.Test(t, func(t *testing.T) {
		rules := phone.DefaultRules()
		w := &world{auto: auto, entries: map[call.ID]Entry{},
			choices: choices{}, expected: map[string]int{}, unfolded: map[CardID]bool{}, saw: map[string]int{}}
		w.choices["+31612345603"], w.choices["+31612345604"], w.choices["+31612345601"] = "+31612345603#1", "+31612345604#0", "somebody else"
		p := Params{Rules: rules, Lookup: w, Choices: w.choices, Log: slog.New(slog.DiscardHandler),
			FullFor: 60 * time.Second, AfterCall: 20 * time.Second, SchemeLookup: SchemeAsk, Outgoing: OutgoingStrip,
			CheckLink: func(l string) (string, error) { return l, nil }, Browse: w.browse, Record: w.record}
		if auto {
			p.AutoOpen = AutoOpenAnswered
		}
		w.e = New(p)
		w.e.published = w.published
		stop := must.Run(t, w.e.Run)
		for i, p := range story {
			w.do(p)
			w.settled()
			if w.wrong != "" {
				w.wrong = fmt.Sprintf("step %d, %v: %s", i, p, w.wrong)
				break
			}
		}
		if w.wrong == "" {
			w.finish()
		}
		for _, q := range w.asked {
			q.reply <- nil
		}
		stop()
		wrong, saw = w.wrong, w.saw
	})
	return wrong, saw
}

// TestStories plays random stories, half of them with files that open when a call is
// answered, and reduces one that fails to its shortest form.
func TestStories(t *testing.T) {
	stories := 4_000
	if os.Getenv("SOAK") != "" {
		stories = 100_000
	}
	var mu sync.Mutex
	saw := map[string]int{}
	workers := runtime.GOMAXPROCS(0)
	t.Run("stories", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				for seed := w; seed < stories; seed += workers {
					story, auto := randomStory(uint64(seed)), seed%2 == 0
					wrong, s := playStory(t, auto, story)
					if wrong != "" {
						story, wrong = shorter(t, auto, story, wrong)
						t.Fatalf("story %d, %v: %s", seed, story, wrong)
					}
					mu.Lock()
					for k, n := range s {
						if k == "calls at once" {
							saw[k] = max(saw[k], n)
						} else {
							saw[k] += n
						}
					}
					mu.Unlock()
				}
			})
		}
	})
	for _, k := range []string{"clicked", "taken off", "general number", "again", "earlier choice", "two sources", "held", "aside", "lines",
		"taken back", "late click", "opened by itself", "Enter", "back by hotkey"} {
		if saw[k] < stories/100 {
			t.Errorf("%d times in %d stories: %s", saw[k], stories, k)
		}
	}
	if saw["calls at once"] < MaxShown {
		t.Errorf("never more than %d calls at once", saw["calls at once"])
	}
}

// shorter removes every step without which a story still fails.
func shorter(t *testing.T, auto bool, story []play, wrong string) ([]play, string) {
	for i := len(story) - 1; i >= 0; i-- {
		less := slices.Delete(slices.Clone(story), i, i+1)
		if still, _ := playStory(t, auto, less); still != "" {
			story, wrong = less, still
		}
	}
	return story, wrong
}
