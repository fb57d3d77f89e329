package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
)

// published checks the invariants of one snapshot. It runs on the engine's goroutine.
func (w *world) published(s *Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saw["snapshots"]++
	now := time.Now()
	if len(s.Cards) > MaxShown || s.MoreCount > 0 && len(s.Cards) < MaxShown {
		w.fail("%d cards and %d more", len(s.Cards), s.MoreCount)
	}
	w.inOrder(s)
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
			if o.Number.Key() == c.Number.Key() && identifiesCaller(c.Number) && !held && !w.mayMove && !o.Outgoing && !c.Outgoing && !w.ofURL(o.ID) && !w.ofURL(c.ID) && !w.unfolded[o.ID] && !w.unfolded[c.ID] {
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

// oneCard checks that number, name and contacts belong to one caller.
func (w *world) oneCard(c Card) {
	key := c.Number.Key()
	raw := key
	if c.Number.Kind == phone.Withheld {
		raw = ""
	}
	if c.PhoneName != "" && c.PhoneName != nameOf(raw) {
		w.fail("%s and the name %q on one card", key, c.PhoneName)
	}
	if c.RemovedCount > 0 != (c.LastRemoved.ID != "") || c.LastRemoved.ID != "" && !strings.HasPrefix(c.LastRemoved.ID, key+"#") || c.CanUndo && c.RemovedCount == 0 {
		w.fail("%d taken off the card of %s, the last was %q", c.RemovedCount, key, c.LastRemoved.ID)
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
	if len(ids) != len(c.Contacts) || len(ids) > 0 && len(ids)+c.RemovedCount != len(peopleOf(raw)) {
		w.fail("%d contacts and %d taken off, of %d", len(ids), c.RemovedCount, len(peopleOf(raw)))
	}
	want := map[bool]Outcome{true: OutcomeNobody, false: OutcomeSeveral}[len(c.Contacts) == 0]
	if len(c.Contacts) == 1 {
		want = OutcomeFound
	}
	if (len(c.Contacts) > 0 || c.Outcome == OutcomeNobody || c.Outcome == OutcomeFound || c.Outcome == OutcomeSeveral) && c.Outcome != want {
		w.fail("%d contacts, outcome %d", len(c.Contacts), c.Outcome)
	}
	if len(c.LinkOK) != len(c.Contacts) || c.OpenedIndex >= len(c.Contacts) || c.EarlierChoice >= len(c.Contacts) || c.Edition == 0 {
		w.fail("card does not fit together: %+v", c)
	}
	sorted := c.Contacts
	if c.RemovedCount > 0 {
		w.saw["taken off"]++
	}
	if c.GeneralNumber {
		w.saw["general number"]++
	}
	if c.RingsToday > 1 {
		w.saw["again"]++
	}
	if c.EarlierChoice >= 0 {
		w.saw["earlier choice"]++
		if c.EarlierChoice != 0 || c.GeneralNumber || len(c.Contacts) < 2 {
			w.fail("the earlier choice is %d of %d", c.EarlierChoice, len(c.Contacts))
		}
		sorted = sorted[1:]
	}
	if !slices.IsSortedFunc(sorted, func(a, b contact.Contact) int { return strings.Compare(a.SortKey(), b.SortKey()) }) {
		w.fail("contacts out of order")
	}
	if c.GeneralNumber != (len(c.Contacts)+c.RemovedCount > ManyContacts) {
		w.fail("many is %v with %d contacts", c.GeneralNumber, len(c.Contacts))
	}
}

// inOrder checks a snapshot's order of calls: in call before ringing before ended.
func (w *world) inOrder(s *Snapshot) {
	held := w.isHeld(time.Now()) || w.mayMove
	count := map[Rank]int{}
	for _, c := range w.e.s.cards {
		if c.closed {
			continue
		}
		count[c.Rank()]++
		if !c.shown && s.MoreCount == 0 {
			w.fail("%s is nowhere", c.Number.Key())
		}
	}
	if n := count[RankInCall] + count[RankRinging]; n > 1 {
		w.saw["calls at once"] = max(w.saw["calls at once"], n)
	}
	shown := map[Rank]int{}
	live := w.e.anyLive()
	for _, c := range w.e.s.cards {
		at := c.Rank()
		if !c.shown {
			continue
		}
		shown[at]++
		free := !held && c.Raised.IsZero()
		switch {
		case c.Dimmed != (live && at == RankEnded):
			w.fail("%s, standing %d: aside is %v", c.Number.Key(), at, c.Dimmed)
		case c.Dimmed && free && !c.Strip:
			w.fail("%s has ended and is not folded", c.Number.Key())
		case c.Dimmed && free && !c.SingleLine && slices.ContainsFunc(s.Cards, func(o Card) bool { return o.SingleLine && o.Rank().IsLive() }):
			w.fail("%s has ended and has a card, a living call a line", c.Number.Key())
		case at == RankInCall && c.SingleLine && !held && count[RankInCall] <= 2:
			w.fail("the call with %s is but a line", c.Number.Key())
		case c.SingleLine && free && len(s.Cards) <= MaxCards:
			w.fail("%s is a line beside %d cards", c.Number.Key(), len(s.Cards)-1)
		}
		if c.SingleLine {
			w.saw["lines"]++
		}
		if c.Dimmed {
			w.saw["aside"]++
		}
	}
	if shown[RankInCall] < min(count[RankInCall], 2) {
		w.fail("a call in progress is hidden: %d of %d are shown", shown[RankInCall], count[RankInCall])
	}
	if w.prev != nil {
		for _, b := range w.prev.Cards {
			i := slices.IndexFunc(s.Cards, func(c Card) bool { return c.ID == b.ID })
			if i >= 0 && !b.SingleLine && s.Cards[i].SingleLine && b.Rank().IsLive() && s.Cards[i].Rank().IsLive() {
				w.fail("card %d, whose call lives, became a line", b.ID)
			}
		}
	}
	first := RankEnded
	for _, c := range w.e.s.cards {
		if c.ID == s.HotkeyCard() {
			first = c.Rank()
		}
	}
	switch {
	case shown[RankRinging] > 0 && first != RankRinging, shown[RankRinging] == 0 && shown[RankInCall] > 0 && first != RankInCall,
		live && !first.IsLive():
		w.fail("the hotkey means standing %d of %v", first, shown)
	case s.HotkeyCard() == 0 && (len(s.Cards) > 0 || live):
		w.fail("the hotkey means nobody")
	}
}

// nothingMoved checks that the cards that were there remain, in their order, and that none
// was folded or unfolded.
func (w *world) nothingMoved(before, after *Snapshot) {
	at := 0
	for _, b := range before.Cards {
		i := slices.IndexFunc(after.Cards[at:], func(c Card) bool { return c.ID == b.ID })
		if i < 0 && after.MoreCount > 0 && slices.ContainsFunc(w.e.s.cards, func(c *card) bool {
			return c.ID == b.ID &&
				c.attention == attention{}
		}) {
			continue // it made room for a live call
		}
		if i < 0 {
			w.fail("card %d went or moved under the pointer", b.ID)
			return
		}
		at += i
		if after.Cards[at].Strip != b.Strip || after.Cards[at].SingleLine != b.SingleLine {
			w.fail("card %d folded or unfolded under the pointer", b.ID)
		}
		at++
	}
}

// browse is the browser: it checks that whatever it opens was clicked or may open.
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
			len(peopleOf(number)) != 1, strings.HasPrefix(number, "+49"), time.Since(later(t.answered, t.person)) > autoOpenWithin:
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
	w.entries[en.Call] = en
}

// settled compares the newest snapshot with the truth when nothing but lookups
// is under way.
func (w *world) settled() {
	now := time.Now()
	s := w.e.Snapshot()
	if w.held && !slices.ContainsFunc(s.Cards, func(c Card) bool { return c.ID == w.heldCard }) {
		w.held = false // it was closed, or the computer slept
	}
	free := !w.isHeld(now)
	w.inOrder(s) // time may have passed since it was published
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
		if c.Phase == PhaseAnswered && t.answered.IsZero() || c.Phase == PhaseOver && !t.over && t.lost.IsZero() &&
			c.ReportLevel != call.RingOnly {
			w.fail("phase %d of a call %+v", c.Phase, t)
		}
		if end := w.endOf(t, c); free && !end.IsZero() && now.After(end) {
			w.fail("%s still there %v after its time (over %v, tells %d)", t.number, now.Sub(end), t.over, c.ReportLevel)
		}
	}
	for _, t := range w.live() {
		// No one reports the end of a call whose phone reports rings only.
		if !slices.ContainsFunc(w.e.s.cards, func(c *card) bool { return c.call == t.id }) &&
			(!t.lost.IsZero() || t.sources[0].ReportLevel == call.RingOnly) {
			t.over = true
		}
	}
	for _, t := range w.calls {
		if t.over || t.closed || t.slept || !t.lost.IsZero() || t.sources[0].ReportLevel != call.AllStates || s.MoreCount > 0 {
			continue
		}
		if !slices.ContainsFunc(w.e.s.cards, func(c *card) bool { return c.call == t.id && c.shown }) {
			w.fail("no card for the call of %s, which is on", t.number)
		}
	}
	w.seen = append(w.seen, s)
}

// finish brings everything to its end and checks the history.
func (w *world) finish() {
	w.do(play{Do: "leave"})
	for _, t := range w.live() {
		if t.sources[0].Kind != call.KindURL {
			w.overBy(t, call.ReasonUnknown)
			w.tell(t, call.Ended, nil)
		}
	}
	for len(w.asked) > 0 {
		w.do(play{Do: "hub", B: 3})
	}
	w.do(play{Do: "wait", A: 7})
	w.do(play{Do: "wait", A: 7})
	for len(w.asked) > 0 { // lookups requested again meanwhile
		w.do(play{Do: "hub", B: 3})
	}
	if s := w.e.Snapshot(); len(s.Cards)+s.MoreCount != 0 {
		w.fail("%d cards are left", len(s.Cards)+s.MoreCount)
	}
	if n := len(w.e.s.retired); n != 0 {
		w.fail("%d cards wait for answers for ever", n)
	}
	w.history()
}

// history checks that the history has every call once, as it really happened.
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
		case t.sources[0].Kind != call.KindURL && (!en.Ended.Equal(t.ended) && t.lost.IsZero() && !t.slept || en.Reason != t.reason && !t.slept && t.lost.IsZero()) &&
			t.sources[0].ReportLevel != call.RingOnly: // an end that came long after is not matched to such a call
			w.fail("history of %s: ended %v (%v), in truth %v (%v)", t.number, en.Ended, en.Reason, t.ended, t.reason)
		case c.Outcome == OutcomeSearching && !t.slept && w.saw["lookups"] < bucketSize: // beyond that one may wait for its turn
			w.fail("history of %s: never looked up", t.number)
		case en.ContactIndex >= len(c.Contacts):
			w.fail("history of %s: nobody stands at %d", t.number, en.ContactIndex)
		case en.ContactIndex >= 0 && (t.denied[c.Contacts[en.ContactIndex].ID] || c.Possible || c.OpenedIndex != en.ContactIndex && (c.RemovedCount > 0 || len(c.Contacts) > 1)):
			w.fail("history of %s has %s", t.number, c.Contacts[en.ContactIndex].ID)
		}
	}
	if len(w.entries) != want {
		w.fail("%d calls in the history, %d in truth", len(w.entries), want)
	}
}
