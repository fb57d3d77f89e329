package companion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"wiebelt/internal/call"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
)

// The property test plays stories: what phones, hub, user and computer may do,
// in any order. Beside the engine it keeps what is true about every call, and
// holds each snapshot, each opened file and the history against it.

// play is one step of a story. What the numbers mean depends on Do; they are
// taken modulo what there is.
type play struct {
	Do      string
	A, B, C int
}

func (p play) String() string { return fmt.Sprintf("%s %d %d %d", p.Do, p.A, p.B, p.C) }

var deeds = []string{
	"ring", "ring", "ring", "ring", "again", "also", "also", "answer", "answer", "answer", "end", "end", "end",
	"pass", "pass", "pass", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "hub", "wait", "wait", "wait",
	"hover", "leave", "keyboard", "keyboard gone", "close", "unfold", "open", "open", "open late", "open late", "open late", "not this", "not this", "retry", "last",
	"sleep", "gone", "old", "outgoing", "launch",
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

var stories = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) play {
	n := rapid.SampledFrom(upTo(120)) // evenly, unlike IntRange
	return play{rapid.SampledFrom(deeds).Draw(t, "do"), n.Draw(t, "a"), n.Draw(t, "b"), n.Draw(t, "c")}
}), 20, 80)

// callers are the numbers of the stories, with how many contacts each has.
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

// truth is what really happens to a call.
type truth struct {
	number    string
	ways      []call.Way // that report it; the first is the one it began on
	ids       []string
	id        call.ID
	rang      time.Time
	person    time.Time // of the last caller on it
	answered  time.Time
	over      bool
	ended     time.Time
	reason    call.Reason
	outgoing  bool
	url       bool // known from a launch alone
	confirmed bool
	lost      time.Time
	slept     bool
	closed    bool
	denied    map[string]bool // contact ids
	autoOpens int
}

// world is a story under way.
type world struct {
	e       *Engine
	clock   *clock
	auto    bool
	calls   []*truth
	asked   []*question // of the hub, unanswered
	entries map[call.ID]Entry
	order   []call.ID
	old     int // calls that came too late
	choices map[string]string

	held     bool // pointer or keyboard
	heldCard CardID
	leftAt   time.Time
	touched  time.Time // the user asked for a card at
	mayMove  bool      // the user moves something now
	prev     *Snapshot
	expected map[string]int // links that were clicked, not yet opened
	seen     []*Snapshot
	saw      map[string]int // what came about
	nextID   int
	wrong    string
	mu       sync.Mutex // for what lookups and browsers do at one time
}

type question struct {
	number string
	reply  chan error
}

func (w *world) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	q := &question{number, make(chan error, 1)}
	w.mu.Lock()
	w.asked = append(w.asked, q)
	w.saw["lookups"]++
	w.mu.Unlock()
	select {
	case err := <-q.reply:
		return peopleOf(number), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *world) Earlier(number string) (string, bool) {
	id, ok := w.choices[number]
	return id, ok
}
func (w *world) Chose(number, id string) { w.choices[number] = id }
func (w *world) NotThis(number, id string) {
	if w.choices[number] == id {
		delete(w.choices, number)
	}
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

var (
	wireAll  = call.Way{Kind: call.KindWebSocket, Conn: "1", Tells: call.TellsAll}
	wireBare = call.Way{Kind: call.KindBaresip, Conn: "127.0.0.1:4444", Tells: call.TellsAll}
	wireRing = call.Way{Kind: call.KindCommand, Tells: call.TellsRing}
	wireURL  = call.Way{Kind: call.KindURL, Tells: call.TellsRing}
)

// published holds one snapshot against what must always be so. It runs on the
// engine's goroutine.
func (w *world) published(s *Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saw["snapshots"]++
	now := w.clock.Now()
	if len(s.Cards) > MaxCards || s.More > 0 && len(s.Cards) < MaxCards {
		w.fail("%d cards and %d more", len(s.Cards), s.More)
	}
	byCall := map[call.ID]bool{}
	for _, c := range w.e.s.cards {
		if byCall[c.call] {
			w.fail("two cards for call %d", c.call)
		}
		byCall[c.call] = true
	}
	held := w.isHeld(now)
	for i, c := range s.Cards {
		w.oneCard(c)
		for _, o := range s.Cards[:i] {
			if o.ID == c.ID {
				w.fail("card %d twice", c.ID)
			}
			if o.Number.Key() == c.Number.Key() && isCaller(c.Number) && !held && !w.mayMove && !o.Outgoing && !c.Outgoing && !w.ofURL(o.ID) && !w.ofURL(c.ID) {
				w.fail("two cards of %s", c.Number.Key())
			}
		}
	}
	if held && !w.mayMove && w.prev != nil {
		w.saw["held"]++
		w.nothingMoved(w.prev, s)
	}
	w.prev = s
}

// oneCard checks that number, name and contacts are of one caller.
func (w *world) oneCard(c Card) {
	key := c.Number.Key()
	raw := key
	if c.Number.Kind == phone.Withheld {
		raw = ""
	}
	if c.PhoneName != "" && c.PhoneName != nameOf(raw) {
		w.fail("%s and the name %q on one card", key, c.PhoneName)
	}
	for _, k := range c.Contacts {
		if !strings.HasPrefix(k.ID, key+"#") {
			w.fail("%s on the card of %s", k.ID, key)
		}
	}
	ids := map[string]bool{}
	for _, k := range c.Contacts {
		ids[k.ID] = true
	}
	if len(ids) != len(c.Contacts) || len(ids) > 0 && len(ids)+c.NotThis != len(peopleOf(raw)) {
		w.fail("%d contacts and %d taken off, of %d", len(ids), c.NotThis, len(peopleOf(raw)))
	}
	want := map[bool]Outcome{true: Nobody, false: Several}[len(c.Contacts) == 0]
	if len(c.Contacts) == 1 {
		want = Found
	}
	if (len(c.Contacts) > 0 || c.Outcome == Nobody || c.Outcome == Found || c.Outcome == Several) && c.Outcome != want {
		w.fail("%d contacts, outcome %d", len(c.Contacts), c.Outcome)
	}
	if len(c.LinkOK) != len(c.Contacts) || c.Opened >= len(c.Contacts) || c.Earlier >= len(c.Contacts) || c.Edition == 0 {
		w.fail("card does not fit together: %+v", c)
	}
	sorted := c.Contacts
	if c.NotThis > 0 {
		w.saw["taken off"]++
	}
	if c.Many {
		w.saw["general number"]++
	}
	if c.Times > 1 {
		w.saw["again"]++
	}
	if c.Earlier >= 0 {
		w.saw["earlier choice"]++
		if c.Earlier != 0 || c.Many || len(c.Contacts) < 2 {
			w.fail("the earlier choice is %d of %d", c.Earlier, len(c.Contacts))
		}
		sorted = sorted[1:]
	}
	if !slices.IsSortedFunc(sorted, func(a, b contact.Contact) int { return strings.Compare(a.SortKey(), b.SortKey()) }) {
		w.fail("contacts out of order")
	}
	if c.Many != (len(c.Contacts)+c.NotThis > ManyContacts) {
		w.fail("many is %v with %d contacts", c.Many, len(c.Contacts))
	}
}

// nothingMoved: cards that were there are there, in their order, and none folded
// or unfolded.
func (w *world) nothingMoved(before, after *Snapshot) {
	at := 0
	for _, b := range before.Cards {
		i := slices.IndexFunc(after.Cards[at:], func(c Card) bool { return c.ID == b.ID })
		if i < 0 {
			w.fail("card %d went or moved under the pointer", b.ID)
			return
		}
		at += i
		if after.Cards[at].Strip != b.Strip {
			w.fail("card %d folded or unfolded under the pointer", b.ID)
		}
		at++
	}
}

func (w *world) isHeld(now time.Time) bool {
	return w.held || now.Before(w.leftAt.Add(time.Second))
}

func (w *world) ofURL(id CardID) bool {
	for _, c := range w.e.s.cards {
		if c.ID == id {
			return c.way.Kind == call.KindURL
		}
	}
	return false
}

// browse is the browser: what is opened must have been clicked, or be allowed.
func (w *world) browse(_ context.Context, address string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.expected[address] > 0 {
		w.expected[address]--
		w.saw["clicked"]++
		return nil
	}
	number := strings.TrimPrefix(address, "ok:")
	number = number[:strings.Index(number, "#")]
	for _, t := range w.calls {
		if t.number != number || t.over || t.answered.IsZero() {
			continue
		}
		t.autoOpens++
		w.saw["opened by itself"]++
		switch {
		case !w.auto, t.outgoing, t.url && !t.confirmed, len(t.denied) > 0, t.closed, t.autoOpens > 1,
			len(peopleOf(number)) != 1, strings.HasPrefix(number, "+49"), w.clock.Now().Sub(later(t.answered, t.person)) > autoOpenWithin:
			w.fail("opened by itself: %s", address)
		}
		return nil
	}
	w.fail("opened, and nobody clicked: %s", address)
	return nil
}

func (w *world) record(en Entry) {
	if en.Call == 0 {
		w.fail("an entry of no call")
	}
	if _, known := w.entries[en.Call]; !known {
		w.order = append(w.order, en.Call)
	}
	w.entries[en.Call] = en
}

// settled holds the newest snapshot against what is true, when nothing is under
// way but lookups.
func (w *world) settled() {
	now := w.clock.Now()
	s := w.e.Snapshot()
	if w.held && !slices.ContainsFunc(s.Cards, func(c Card) bool { return c.ID == w.heldCard }) {
		w.held = false // it was closed, or the computer slept
	}
	free := !w.isHeld(now)
	for _, c := range w.e.s.cards {
		if !c.shown {
			continue
		}
		t := w.truthOf(c.call)
		if t == nil {
			w.fail("a card of no call: %s", c.Number.Key())
			continue
		}
		if key := c.Number.Key(); key != t.number && (t.number != "" || key != "withheld") {
			w.fail("the card says %s, the call is of %s", key, t.number)
		}
		for _, k := range c.Contacts {
			if t.denied[k.ID] {
				w.fail("%s came back", k.ID)
			}
		}
		if c.Phase == PhaseAnswered && t.answered.IsZero() || c.Phase == PhaseOver && !t.over && t.lost.IsZero() && c.Tells != call.TellsRing {
			w.fail("phase %d of a call %+v", c.Phase, t)
		}
		if end := w.endOf(t, c); free && !end.IsZero() && now.After(end) {
			w.fail("%s still there %v after its time (over %v, tells %d)", t.number, now.Sub(end), t.over, c.Tells)
		}
	}
	for _, t := range w.live() {
		// Nobody will tell the end of a call whose phone tells the ring only.
		if !slices.ContainsFunc(w.e.s.cards, func(c *card) bool { return c.call == t.id }) &&
			(!t.lost.IsZero() || t.ways[0].Tells == call.TellsRing) {
			t.over = true
		}
	}
	for _, t := range w.calls {
		if t.over || t.closed || t.slept || !t.lost.IsZero() || t.ways[0].Tells != call.TellsAll || s.More > 0 {
			continue
		}
		if !slices.ContainsFunc(w.e.s.cards, func(c *card) bool { return c.call == t.id && c.shown }) {
			w.fail("no card for the call of %s, which is on", t.number)
		}
	}
	w.seen = append(w.seen, s)
}

// endOf is when a card may no longer be there; zero for no end.
func (w *world) endOf(t *truth, c *card) time.Time {
	var end time.Time
	switch {
	case t.over && t.answered.IsZero() && (c.Tells == call.TellsAll || t.reason != call.ReasonUnknown):
		end = t.ended
	case t.over:
		end = t.ended.Add(20 * time.Second)
	case c.Tells == call.TellsRing:
		end = later(later(t.person, t.answered).Add(60*time.Second), t.lost).Add(10 * time.Minute)
	default:
		return end
	}
	return later(later(end, w.touched.Add(60*time.Second)), w.leftAt.Add(time.Second))
}

func (w *world) truthOf(id call.ID) *truth {
	for _, t := range w.calls {
		if t.id == id {
			return t
		}
	}
	return nil
}

// live are the calls that are on, as far as anybody knows.
func (w *world) live() (live []*truth) {
	for _, t := range w.calls {
		if !t.over {
			live = append(live, t)
		}
	}
	return live
}

func (w *world) busy(number string) bool {
	return slices.ContainsFunc(w.live(), func(t *truth) bool { return t.number == number })
}

func (w *world) send(way call.Way, id, number string, s call.State, change func(*call.Event)) {
	ev := call.Event{Way: way, ID: id, Number: number, Name: nameOf(number), State: s, At: w.clock.Now()}
	if change != nil {
		change(&ev)
	}
	if err := w.e.Take(ev); err != nil {
		w.fail("%v", err)
	}
	synctest.Wait()
}

// tell has all ways of a call report.
func (w *world) tell(t *truth, s call.State, change func(*call.Event)) {
	for i, way := range t.ways {
		if i == 0 || way.Tells == call.TellsAll {
			w.send(way, t.ids[i], t.number, s, change)
		}
	}
}

// freeID is a phone's id for a new call; phones use them again.
func (w *world) freeID(way call.Way) string {
	if way.Kind == call.KindCommand || way.Kind == call.KindURL {
		return ""
	}
	for n := 1; ; n++ {
		id := fmt.Sprint(n)
		if !slices.ContainsFunc(w.calls, func(t *truth) bool {
			return (!t.over || t.slept) && slices.ContainsFunc(t.ways, func(o call.Way) bool { return o == way }) && slices.Contains(t.ids, id)
		}) {
			return id
		}
	}
}

// begin makes a call true and reports it.
func (w *world) begin(way call.Way, number string, s call.State, outgoing bool) *truth {
	now := w.clock.Now()
	t := &truth{number: number, ways: []call.Way{way}, ids: []string{w.freeID(way)}, rang: now, person: now, outgoing: outgoing,
		url: way.Kind == call.KindURL, denied: map[string]bool{}}
	if s == call.Answered {
		t.answered = now
	}
	before := map[call.ID]bool{}
	for _, c := range w.e.s.cards {
		before[c.call] = true
	}
	w.calls = append(w.calls, t)
	w.mayMove = false
	w.send(way, t.ids[0], number, s, func(e *call.Event) {
		if outgoing {
			e.Direction = call.Outgoing
		}
	})
	for _, c := range w.e.s.cards {
		if !before[c.call] {
			t.id = c.call
		}
	}
	if t.id == 0 {
		w.calls = w.calls[:len(w.calls)-1] // a launch beyond its limits
		if !t.url {
			w.fail("no call of %s began", number)
		}
		return nil
	}
	return t
}

// overBy ends a call in truth.
func (w *world) overBy(t *truth, r call.Reason) {
	t.over, t.ended, t.reason = true, w.clock.Now(), r
}

func pick[T any](all []T, i int) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[i%len(all)], true
}

func (w *world) do(p play) {
	now := w.clock.Now()
	number := callers[p.B%len(callers)].number
	live := w.live()
	t, some := pick(live, p.A)
	cards := w.e.Snapshot().Cards
	if p.Do == "open" || p.Do == "not this" {
		cards = slices.DeleteFunc(slices.Clone(cards), func(c Card) bool { return len(c.Contacts) == 0 })
	}
	c, any := pick(cards, p.A)
	act := func(do Do, index int, edition uint64) {
		w.e.Do(Action{Card: c.ID, Do: do, Index: index, Edition: edition})
		synctest.Wait()
	}
	switch p.Do {
	case "ring":
		way := []call.Way{wireAll, wireBare, wireRing}[p.A%3]
		if !w.busy(number) {
			w.begin(way, number, call.Ringing, false)
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
	case "also": // a second way sees the same call
		way := []call.Way{wireAll, wireBare, wireRing}[p.B%3]
		if some && !t.outgoing && t.answered.IsZero() && len(t.ways) == 1 && t.ways[0] != way && now.Sub(t.rang) <= call.MergeWithin && now.Equal(t.rang) && t.lost.IsZero() &&
			!slices.ContainsFunc(w.e.s.cards, func(c *card) bool { return c.call != t.id && c.Number.Key() == keyOf(t.number) }) {
			t.ways, t.ids = append(t.ways, way), append(t.ids, w.freeID(way))
			w.saw["two ways"]++
			if t.url {
				t.url, t.confirmed = false, true
			}
			w.send(way, t.ids[1], t.number, call.Ringing, nil)
			if c := w.e.cardOf(t.id); c != nil && c.way == way { // it tells more, so the call is its own now
				slices.Reverse(t.ways)
				slices.Reverse(t.ids)
			}
		}
	case "answer":
		if some && t.answered.IsZero() && t.ways[0].Kind != call.KindURL {
			t.answered = now
			w.tell(t, call.Answered, func(e *call.Event) {
				if p.B%2 == 0 && (e.ID != "" || len(live) == 1) {
					e.Number, e.Name = "", ""
				}
			})
		}
	case "end":
		if some && t.ways[0].Kind != call.KindURL {
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
			if !t.answered.IsZero() && number != "" { // an answer without a number says nothing of the caller
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
		for d > 0 { // clocks do not jump, or only when the computer sleeps
			step := min(d, 500*time.Millisecond)
			w.clock.forward(step)
			synctest.Wait()
			d -= step
		}
	case "hover", "keyboard":
		if any && !w.held {
			act(map[string]Do{"hover": DoHover, "keyboard": DoKeyboard}[p.Do], 0, 0)
			w.held, w.heldCard = true, c.ID
		}
	case "leave", "keyboard gone":
		if w.held {
			w.leftAt = now
			w.e.Do(Action{Card: w.heldCard, Do: DoLeave})
			w.e.Do(Action{Card: w.heldCard, Do: DoKeyboardGone})
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
			act(DoClose, 0, 0)
		}
	case "unfold":
		if any {
			w.mayMove, w.touched = true, now
			act(DoUnfold, 0, 0)
		}
	case "open":
		if any {
			i := p.B % len(c.Contacts)
			w.expected[c.Contacts[i].Link]++
			act(DoOpen, i, c.Edition)
			if w.expected[c.Contacts[i].Link] > 0 {
				w.fail("clicked, and not opened")
			}
		}
	case "open late": // the click was meant for what stood there before
		for _, old := range w.seen[max(0, len(w.seen)-40):] {
			for _, o := range old.Cards {
				i := slices.IndexFunc(cards, func(c Card) bool { return c.ID == o.ID && c.Edition != o.Edition && len(c.Contacts) > 0 })
				if i >= 0 && len(o.Contacts) > 0 {
					w.saw["late click"]++
					c = cards[i]
					act(DoOpen, 0, o.Edition)
					return
				}
			}
		}
	case "not this":
		if any {
			i := p.B % len(c.Contacts)
			if t := w.callOf(c.ID); t != nil {
				t.denied[c.Contacts[i].ID] = true
			}
			act(DoNotThis, i, c.Edition)
		}
	case "retry":
		if any {
			if t := w.callOf(c.ID); t != nil && c.Outcome == Offered {
				t.confirmed = true
			}
			act(DoRetry, 0, 0)
		}
	case "last":
		w.mayMove, w.touched = true, now
		for _, t := range w.calls {
			if !t.over {
				t.closed = false
			}
		}
		w.e.Do(Action{Do: DoShowLast})
		synctest.Wait()
	case "sleep":
		w.mayMove, w.held = true, false
		w.leftAt = time.Time{}
		for _, t := range w.live() {
			w.overBy(t, call.ReasonUnknown)
			t.ended, t.slept = now.Add(8*time.Hour), true
		}
		for _, c := range w.e.s.cards {
			if t := w.truthOf(c.call); t != nil {
				t.slept = true // what was asked then is not waited for
			}
		}
		w.clock.forward(8 * time.Hour)
		w.e.Woke(8 * time.Hour)
		synctest.Wait()
	case "gone":
		way := []call.Way{wireAll, wireBare}[p.A%2]
		for _, t := range live {
			if t.ways[0] == way {
				t.lost = now
			}
		}
		w.e.WayGone(way)
		synctest.Wait()
	case "old": // reports that lay somewhere for two minutes
		w.nextID++
		w.old++
		id := fmt.Sprint("old", w.nextID)
		for _, s := range []call.State{call.Ringing, call.Answered, call.Ended}[:1+p.B%3] {
			w.send(wireAll, id, callers[0].number, s, func(e *call.Event) { e.At = now.Add(-2 * time.Minute) })
		}
	}
	w.mayMove = false
}

func keyOf(number string) string {
	if number == "" {
		return "withheld"
	}
	return number
}

func (w *world) callOf(id CardID) *truth {
	for _, c := range w.e.s.cards {
		if c.ID == id {
			return w.truthOf(c.call)
		}
	}
	return nil
}

// finish lets everything come to its end and looks at the history.
func (w *world) finish() {
	w.do(play{Do: "leave"})
	for _, t := range w.live() {
		if t.ways[0].Kind != call.KindURL {
			w.overBy(t, call.ReasonUnknown)
			w.tell(t, call.Ended, nil)
		}
	}
	for len(w.asked) > 0 {
		w.do(play{Do: "hub", B: 3})
	}
	w.do(play{Do: "wait", A: 7})
	w.do(play{Do: "wait", A: 7})
	for len(w.asked) > 0 { // what was asked again meanwhile
		w.do(play{Do: "hub", B: 3})
	}
	if s := w.e.Snapshot(); len(s.Cards)+s.More != 0 {
		w.fail("%d cards are left", len(s.Cards)+s.More)
	}
	if n := len(w.e.s.leaving); n != 0 {
		w.fail("%d cards wait for answers for ever", n)
	}
	w.history()
}

// history checks that every call is in it once, as it really was.
func (w *world) history() {
	want := w.old
	for _, t := range w.calls {
		en, there := w.entries[t.id]
		if t.url && !t.confirmed {
			if there {
				w.fail("a launch that nobody clicked is in the history")
			}
			continue
		}
		want++
		c := en.Card
		switch {
		case !there:
			w.fail("the call of %s is not in the history", t.number)
		case c.Number.Key() != keyOf(t.number):
			w.fail("the history says %s, the call was of %s", c.Number.Key(), t.number)
		case c.Answered.IsZero() != t.answered.IsZero():
			w.fail("history of %s: answered %v, in truth %v", t.number, c.Answered, t.answered)
		case t.ways[0].Kind != call.KindURL && (!en.Ended.Equal(t.ended) && t.lost.IsZero() && !t.slept || en.Reason != t.reason && !t.slept && t.lost.IsZero()) && !w.forgotten(t):
			w.fail("history of %s: ended %v (%v), in truth %v (%v)", t.number, en.Ended, en.Reason, t.ended, t.reason)
		case c.Outcome == Searching && !t.slept && w.saw["lookups"] < bucketSize: // beyond that one may wait for its turn
			w.fail("history of %s: never looked up", t.number)
		case en.Person >= len(c.Contacts):
			w.fail("history of %s: nobody stands at %d", t.number, en.Person)
		case en.Person >= 0 && (t.denied[c.Contacts[en.Person].ID] || c.Possible || c.Opened != en.Person && (c.NotThis > 0 || len(c.Contacts) > 1)):
			w.fail("history of %s has %s", t.number, c.Contacts[en.Person].ID)
		}
	}
	if len(w.entries) != want {
		w.fail("%d calls in the history, %d in truth", len(w.entries), want)
	}
}

// forgotten: of a phone that was taken to report the ring only, an end that came
// long after is not known to be of that call.
func (w *world) forgotten(t *truth) bool {
	return t.ways[0].Tells == call.TellsRing
}

func playStory(t *testing.T, auto bool, story []play) (wrong string, saw map[string]int) {
	synctest.Test(t, func(t *testing.T) {
		rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{clock: &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, auto: auto, entries: map[call.ID]Entry{},
			choices: map[string]string{}, expected: map[string]int{}, saw: map[string]int{}}
		w.choices["+31612345603"], w.choices["+31612345604"], w.choices["+31612345601"] = "+31612345603#1", "+31612345604#0", "somebody else"
		p := Params{Rules: rules, Lookup: w, Choices: w, Clock: w.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			FullFor: 60 * time.Second, AfterCall: 20 * time.Second, SchemeLookup: SchemeAsk, Outgoing: OutgoingStrip,
			CheckLink: func(l string) (string, error) { return l, nil }, Browse: w.browse, Record: w.record}
		if auto {
			p.AutoOpen = AutoOpenAnswered
		}
		w.e = New(p)
		w.e.published = w.published
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { w.e.Run(ctx); close(done) }()
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
		cancel()
		<-done
		wrong, saw = w.wrong, w.saw
	})
	return wrong, saw
}

// TestStories plays stories until one is wrong: 300 for each setting, or three
// times as many as -rapid.checks says.
func TestStories(t *testing.T) {
	for name, auto := range map[string]bool{"nothing opens by itself": false, "opens when answered": true} {
		t.Run(name, func(t *testing.T) {
			told := 0
			saw := map[string]int{}
			for range 3 {
				rapid.Check(t, func(rt *rapid.T) {
					story := stories.Draw(rt, "story")
					wrong, s := playStory(t, auto, story)
					if wrong != "" {
						rt.Fatal(wrong)
					}
					told++
					for k, n := range s {
						saw[k] += n
					}
				})
			}
			for _, k := range []string{"snapshots", "clicked", "taken off", "general number", "again", "earlier choice", "two ways", "held"} {
				if saw[k] == 0 {
					t.Errorf("no story had: %s", k)
				}
			}
			if (saw["opened by itself"] > 0) != auto {
				t.Errorf("%d opened by itself", saw["opened by itself"])
			}
			t.Logf("%d stories with %v", told, saw)
		})
	}
}
