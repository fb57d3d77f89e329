package engine

import (
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/contact"
)

// applyContacts puts the hub's answer on a card: sorted, the earlier choice first, without
// those the user removed.
func (e *Engine) applyContacts(c *card, found []contact.Contact) {
	denied := c.denied[c.Number.Key()]
	c.found = found
	c.Contacts = slices.DeleteFunc(contact.Sorted(found), func(k contact.Contact) bool {
		return slices.ContainsFunc(denied, func(d contact.Contact) bool { return sameContact(k, d) })
	})
	if c.Removed = len(found) - len(c.Contacts); c.Removed > 0 {
		c.LastRemoved = denied[len(denied)-1]
	} else {
		c.LastRemoved = contact.Contact{}
	}
	c.Many = len(found) > ManyContacts
	c.Opened, c.OpenError = -1, false
	e.earlierFirst(c)
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

// earlierFirst moves the contact chosen earlier to the front.
func (e *Engine) earlierFirst(c *card) {
	c.Earlier = -1
	if e.p.Choices == nil || c.Many || len(c.Contacts) < 2 {
		return
	}
	if id, ok := e.p.Choices.Earlier(c.Number.Key()); ok && contact.ToFront(c.Contacts, id) {
		c.Earlier = 0
	}
}

// rememberChoice remembers a click on one of several contacts.
func (e *Engine) rememberChoice(c *card, i int) {
	if k := c.Contacts[i]; e.p.Choices != nil && len(c.found) > 1 && !c.Many && k.ID != "" && c.LinkOK[i] {
		e.p.Choices.Chose(c.Number.Key(), k.ID)
	}
}

// undoFor is how long a removal can be undone.
const undoFor = 10 * time.Second

// undo holds what is needed to undo "Niet deze relatie".
type undo struct {
	until      time.Time
	name       string // from the phone system
	opened     *contact.Contact
	remembered bool // it was the number's remembered choice
}

// notThis removes a contact from the card for the rest of the call, from the history, and
// from the remembered choice.
func (e *Engine) notThis(c *card, i int, now time.Time) {
	k, n := c.Contacts[i], c.Number.Key()
	if c.denied == nil {
		c.denied = map[string][]contact.Contact{}
	}
	u := undo{until: now.Add(undoFor), name: c.PhoneName, opened: c.openedContact()}
	c.denied[n] = append(c.denied[n], k)
	if e.p.Choices != nil {
		id, ok := e.p.Choices.Earlier(n)
		u.remembered = ok && id == k.ID
		e.p.Choices.NotThis(n, k.ID)
	}
	if isNameOf(c.PhoneName, k) {
		c.PhoneName = ""
	}
	e.reapply(c, u.opened)
	c.undo, c.Undo = u, true
	e.record(c)
}

// undoNotThis undoes the last notThis while there is time.
func (e *Engine) undoNotThis(c *card, now time.Time) {
	n, u := c.Number.Key(), c.undo
	if !c.Undo || !now.Before(u.until) {
		return
	}
	last := len(c.denied[n]) - 1
	k := c.denied[n][last]
	c.denied[n] = c.denied[n][:last]
	if u.remembered && e.p.Choices != nil {
		e.p.Choices.Chose(n, k.ID)
	}
	c.PhoneName = u.name
	e.reapply(c, u.opened)
	c.undo, c.Undo = undo{}, false
	e.record(c)
}

// reapply puts the hub's answer on a card again; opened remains the opened contact
// if it is still there.
func (e *Engine) reapply(c *card, opened *contact.Contact) {
	e.applyContacts(c, c.found)
	if opened != nil {
		c.Opened = slices.IndexFunc(c.Contacts, func(o contact.Contact) bool { return sameContact(o, *opened) })
	}
}

// openedContact returns the contact whose file was opened, or nil.
func (c *card) openedContact() *contact.Contact {
	if c.Opened < 0 {
		return nil
	}
	return &c.Contacts[c.Opened]
}

// sameContact reports whether two records are of the same contact.
func sameContact(a, b contact.Contact) bool {
	if a.ID != "" || b.ID != "" {
		return a.ID == b.ID
	}
	return a == b
}

// isNameOf reports whether a name from the phone is a contact's.
func isNameOf(name string, k contact.Contact) bool {
	return k.FamilyName != "" && strings.Contains(strings.ToLower(name), strings.ToLower(k.FamilyName))
}
