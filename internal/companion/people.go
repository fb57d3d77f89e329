package companion

import (
	"slices"
	"strings"

	"wiebelt/internal/contact"
)

// put puts an answer of the hub on a card: sorted, the one chosen earlier first,
// without those whom the user took off.
func (e *Engine) put(c *card, found []contact.Contact) {
	denied := c.denied[c.Number.Key()]
	c.found = found
	c.Contacts = slices.DeleteFunc(sorted(found), func(k contact.Contact) bool {
		return slices.ContainsFunc(denied, func(d contact.Contact) bool { return same(k, d) })
	})
	c.NotThis = len(found) - len(c.Contacts)
	c.Many = len(found) > ManyContacts
	c.Opened, c.OpenError = -1, false
	e.putEarlier(c)
	c.LinkOK = make([]bool, len(c.Contacts))
	for i, k := range c.Contacts {
		if e.p.CheckLink != nil {
			_, err := e.p.CheckLink(k.Link)
			c.LinkOK[i] = err == nil
		}
	}
	switch len(c.Contacts) {
	case 0:
		c.Outcome = Nobody
	case 1:
		c.Outcome = Found
	default:
		c.Outcome = Several
	}
	c.Edition++
	e.s.dirty = true
}

// putEarlier puts the contact that was chosen earlier first.
func (e *Engine) putEarlier(c *card) {
	c.Earlier = -1
	if e.p.Choices == nil || c.Many || len(c.Contacts) < 2 {
		return
	}
	id, ok := e.p.Choices.Earlier(c.Number.Key())
	if !ok || id == "" {
		return
	}
	i := slices.IndexFunc(c.Contacts, func(k contact.Contact) bool { return k.ID == id })
	if i < 0 {
		return
	}
	k := c.Contacts[i]
	copy(c.Contacts[1:i+1], c.Contacts[:i])
	c.Contacts[0], c.Earlier = k, 0
}

// chose remembers a click on one contact of several.
func (e *Engine) chose(c *card, i int) {
	if k := c.Contacts[i]; e.p.Choices != nil && len(c.found) > 1 && !c.Many && k.ID != "" && c.LinkOK[i] {
		e.p.Choices.Chose(c.Number.Key(), k.ID)
	}
}

// notThis takes a contact off the card for the rest of the call, off the history,
// and off the choice that is remembered.
func (e *Engine) notThis(c *card, i int) {
	k, n := c.Contacts[i], c.Number.Key()
	if c.denied == nil {
		c.denied = map[string][]contact.Contact{}
	}
	c.denied[n] = append(c.denied[n], k)
	if e.p.Choices != nil {
		e.p.Choices.NotThis(n, k.ID)
	}
	if named(c.PhoneName, k) {
		c.PhoneName = ""
	}
	before, opened := c.Contacts, c.Opened
	e.put(c, c.found)
	if opened >= 0 {
		c.Opened = slices.IndexFunc(c.Contacts, func(o contact.Contact) bool { return same(o, before[opened]) })
	}
	e.record(c)
}

// same reports whether two records are of one contact.
func same(a, b contact.Contact) bool {
	if a.ID != "" || b.ID != "" {
		return a.ID == b.ID
	}
	return a == b
}

// named reports whether a name that the phone gives is that of a contact.
func named(name string, k contact.Contact) bool {
	return k.FamilyName != "" && strings.Contains(strings.ToLower(name), strings.ToLower(k.FamilyName))
}

// sorted orders contacts by family name without prefix. The order says nothing
// about who calls.
func sorted(found []contact.Contact) []contact.Contact {
	if len(found) < 2 {
		return slices.Clone(found)
	}
	keys := make([]string, len(found))
	order := make([]int, len(found))
	for i, k := range found {
		keys[i], order[i] = k.SortKey(), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	out := make([]contact.Contact, len(found))
	for i, from := range order {
		out[i] = found[from]
	}
	return out
}
