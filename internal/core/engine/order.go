package engine

import (
	"cmp"
	"slices"
	"time"
)

// Rank is a call's place in the one order of calls, lowest first. It decides which calls have
// their own card, which fold, where the hotkey puts the keyboard and what may be bright.
type Rank uint8

// Ranks, first to last.
const (
	RankInCall Rank = iota
	RankRinging
	RankLaunched // an unconfirmed launch from a link, which any page can start
	RankEnded    // over, or of a phone that will not say so
)

// IsLive reports whether somebody is on the line or waiting on it.
func (r Rank) IsLive() bool { return r < RankLaunched }

// hotkeyOrder is the order in which the hotkey selects
// calls: those already talking can wait for those ringing.
func (r Rank) hotkeyOrder() int {
	return [...]int{RankInCall: 1, RankRinging: 0, RankLaunched: 2, RankEnded: 3}[r]
}

// Rank returns the rank of the card's call.
func (c Card) Rank() Rank {
	switch {
	case c.Phase == PhaseOver || c.Phase == PhaseReported:
		return RankEnded
	case c.Launched:
		return RankLaunched
	case c.Phase == PhaseAnswered:
		return RankInCall
	}
	return RankRinging
}

// HotkeyCard returns the card for the hotkey: one that rings, else one in a call, else,
// if no call is live, the newest. It may be a closed one (Snapshot.ClosedCard); 0 means none.
func (s *Snapshot) HotkeyCard() CardID {
	var first *Card
	rank := func(c *Card) int {
		at := 2 * c.Rank().hotkeyOrder()
		if c.SingleLine {
			at++
		}
		return at
	}
	for i := range s.Cards {
		if c := &s.Cards[i]; first == nil || rank(c) <= rank(first) {
			first = c
		}
	}
	switch {
	case first == nil, s.ClosedCard != 0 && !first.Rank().IsLive():
		return s.ClosedCard
	}
	return first.ID
}

// updateDimming dims the cards of ended calls while another call is live, and has newly
// dimmed ones fold. It also updates Launched.
func (e *Engine) updateDimming() {
	for _, c := range e.s.cards {
		if launched := e.unconfirmed(c); launched != c.Launched {
			c.Launched, e.s.dirty = launched, true
		}
	}
	live := e.anyLive()
	for _, c := range e.s.cards {
		dimmed := live && c.Rank() == RankEnded
		if dimmed == c.Dimmed {
			continue
		}
		c.Dimmed, c.mustFold, e.s.dirty = dimmed, dimmed, true
		if dimmed {
			c.Raised = time.Time{}
		}
	}
}

// anyLive reports whether a call is live, its card on screen or not.
func (e *Engine) anyLive() bool {
	return slices.ContainsFunc(e.s.cards, func(c *card) bool { return !c.recordOnly && c.ongoing && c.Rank().IsLive() })
}

// raise turns whatever represents a call into a card, because the user wants it.
func (e *Engine) raise(c *card, now time.Time) {
	c.closed, c.superseded, c.mustUnfold, c.mustFold, c.Strip, c.SingleLine = false, false, false, false, false, false
	c.Raised = now
	c.Dimmed = c.Rank() == RankEnded && e.anyLive()
}

func countBySource(cards []*card) map[string]int {
	count := map[string]int{}
	for _, c := range cards {
		count[c.source.Kind]++
	}
	return count
}

// evictionCandidate returns the card to drop for a new one: of the source with the most cards,
// the last in the order of calls and the oldest of those. Cards on screen stay while held.
func evictionCandidate(cards []*card, held bool) int {
	count := countBySource(cards)
	at := -1
	for i, c := range cards {
		if held && c.shown {
			continue
		}
		if at < 0 || cmp.Or(cmp.Compare(count[c.source.Kind], count[cards[at].source.Kind]), cmp.Compare(c.Rank(), cards[at].Rank())) > 0 {
			at = i
		}
	}
	return at
}

// selectShown selects what is shown, in order of arrival, sets whether each is a card or a
// line, and counts the rest. While held, nothing changes its form; but if there are too
// many, whatever is not in use makes room for a call in progress, ended calls make room for
// live ones, and a line of a flooding source makes room for a call of another. A live call
// keeps its card. Otherwise the order of calls decides. A flood on one source takes nothing
// from another: the first two of each source come before all the rest.
func selectShown(cards []*card, held bool) (shown []*card, more int) {
	shown = make([]*card, 0, len(cards))
	for _, c := range cards {
		if !c.closed {
			shown = append(shown, c)
		}
	}
	if len(shown) <= MaxCards {
		for _, c := range shown {
			c.SingleLine = held && c.shown && c.SingleLine
		}
		return shown, 0
	}
	count := countBySource(shown)
	ranked := slices.Clone(shown)
	slices.SortStableFunc(ranked, func(a, b *card) int { return cmp.Compare(a.Rank(), b.Rank()) })
	nth := map[*card]int{}
	of := map[string]int{}
	for _, c := range ranked {
		nth[c] = of[c.source.Kind]
		of[c.source.Kind]++
	}
	slices.SortStableFunc(ranked, func(a, b *card) int {
		return cmp.Or(cmp.Compare(a.priority(held, nth[a]), b.priority(held, nth[b])), cmp.Compare(a.Rank(), b.Rank()), cmp.Compare(count[a.source.Kind], count[b.source.Kind]))
	})
	ranked = ranked[:min(MaxShown, len(ranked))]
	setLines(ranked, held, nth)
	more = len(shown) - len(ranked)
	if more == 0 {
		return shown, 0
	}
	return slices.DeleteFunc(shown, func(c *card) bool { return !slices.Contains(ranked, c) }), more
}

// priority is a card's claim to be shown, 0 being the highest; nth counts the calls of
// its source that precede it.
func (c *card) priority(held bool, nth int) int {
	notEnded := c.Rank() < RankEnded
	switch {
	case c.attention != attention{}, c.Rank() == RankInCall && nth < 2:
		return 0
	case held && c.shown && notEnded && (!c.SingleLine || nth < 2):
		return 1
	case !c.Raised.IsZero():
		return 2
	case notEnded && nth < 2:
		return 3
	case held && c.shown && notEnded:
		return 4
	case notEnded:
		return 5
	case held && c.shown:
		return 6
	}
	return 7
}

// setLines sets for each of the ranked whether it is a card or a line: settled ones stay,
// the others are cards as long as there is room.
func setLines(ranked []*card, held bool, nth map[*card]int) {
	whole := 0
	settled := make([]bool, len(ranked))
	for i, c := range ranked {
		live := c.Rank().IsLive()
		line := held && c.shown && c.SingleLine
		settled[i] = held && c.shown || !c.Raised.IsZero() || live && (c.shown && !c.SingleLine || nth[c] == 0 || nth[c] == 1 && c.Rank() == RankInCall)
		if settled[i] && !line {
			whole++
		}
		if settled[i] {
			c.SingleLine = line
		}
	}
	for i, c := range ranked {
		if settled[i] {
			continue
		}
		if c.SingleLine = whole >= MaxCards; !c.SingleLine {
			whole++
		}
	}
}

// closedForHotkey returns the live call among the closed cards that the hotkey
// brings back, 0 for none.
func closedForHotkey(cards []*card) (id CardID) {
	var first *card
	for _, c := range cards {
		if c.closed && !c.recordOnly && c.ongoing && c.Rank().IsLive() && (first == nil || c.Rank().hotkeyOrder() <= first.Rank().hotkeyOrder()) {
			first, id = c, c.ID
		}
	}
	return id
}
