package companion

import (
	"cmp"
	"slices"
)

// A flood on one way in takes nothing from another (corrections.md 13): where
// there is no room for all, the way with the most calls pays.

// crowd counts cards by the kind of their way.
func crowd(cards []*card) map[string]int {
	count := map[string]int{}
	for _, c := range cards {
		count[c.way.Kind]++
	}
	return count
}

// least is the card that makes room for a new one: the oldest of the way with the
// most. What is on screen stays as long as it is held.
func least(cards []*card, held bool) int {
	count := crowd(cards)
	at := -1
	for i, c := range cards {
		if held && c.shown {
			continue
		}
		if at < 0 || count[c.way.Kind] > count[cards[at].way.Kind] {
			at = i
		}
	}
	return max(at, 0)
}

// seen picks the cards that are shown, in their order, and counts the others: all
// if there is room, else what is on screen while it is held, then what the user
// asked for, then those of the quietest ways, the oldest of each.
func seen(cards []*card, held bool) (shown []*card, more int) {
	open := slices.DeleteFunc(slices.Clone(cards), func(c *card) bool { return c.closed })
	if len(open) <= MaxCards {
		return open, 0
	}
	count := crowd(open)
	rank := func(c *card) int {
		switch {
		case held && c.shown:
			return -2
		case !c.asked.IsZero():
			return -1
		}
		return count[c.way.Kind]
	}
	ranked := slices.Clone(open)
	slices.SortStableFunc(ranked, func(a, b *card) int { return cmp.Compare(rank(a), rank(b)) })
	ranked = ranked[:MaxCards]
	more = len(open) - MaxCards
	return slices.DeleteFunc(open, func(c *card) bool { return !slices.Contains(ranked, c) }), more
}
