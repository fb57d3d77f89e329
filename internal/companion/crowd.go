package companion

import "slices"

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
// most.
func least(cards []*card) int {
	count := crowd(cards)
	at := 0
	for i, c := range cards {
		if count[c.way.Kind] > count[cards[at].way.Kind] {
			at = i
		}
	}
	return at
}

// seen picks the cards that are shown, in their order, and counts the others: all
// if there is room, else those of the quietest ways first, the oldest of each.
func seen(cards []*card) (shown []*card, more int) {
	open := slices.DeleteFunc(slices.Clone(cards), func(c *card) bool { return c.closed })
	if len(open) <= MaxCards {
		return open, 0
	}
	count := crowd(open)
	ranked := slices.Clone(open)
	slices.SortStableFunc(ranked, func(a, b *card) int { return count[a.way.Kind] - count[b.way.Kind] })
	ranked = ranked[:MaxCards]
	more = len(open) - MaxCards
	return slices.DeleteFunc(open, func(c *card) bool { return !slices.Contains(ranked, c) }), more
}
