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
	denied := c.removedContacts[c.Number.Key()]
	c.found = found
	c.Contacts = slices.DeleteFunc(contact.Sorted(found), func(k contact.Contact) bool {
		return slices.ContainsFunc(denied, func(d contact.Contact) bool { return sameContact(k, d) })
	})
	if c.RemovedCount = len(found) - len(c.Contacts); c.RemovedCount > 0 {
		c.LastRemoved = denied[len(denied)-1]
	} else {
		c.LastRemoved = contact.Contact{}
	}
	c.GeneralNumber = len(found) > ManyContacts
	c.OpenedIndex, c.OpenError = -1, false
	e.moveChosenFirst(c)
	c.LinkOK = make([]bool, len(c.Contacts))
	for i, k := range c.Contacts {
		if e.p.CheckLink != nil {
			_, err := e.p.CheckLink(k.Link)
			c.LinkOK[i] = err == nil
		}
	}
	switch len(c.Contacts) {
	case 0:
		c.Outcome = OutcomeNobody
	case 1:
		c.Outcome = OutcomeFound
	default:
		c.Outcome = OutcomeSeveral
	}
	c.Edition++
	e.s.dirty = true
}

func (e *Engine) moveChosenFirst(c *card) {
	c.EarlierChoice = -1
	if e.p.Choices == nil || c.GeneralNumber || len(c.Contacts) < 2 {
		return
	}
	if id, ok := e.p.Choices.LastChoice(c.Number.Key()); ok && contact.MoveToFront(c.Contacts, id) {
		c.EarlierChoice = 0
	}
}

func (e *Engine) rememberChoice(c *card, i int) {
	if k := c.Contacts[i]; e.p.Choices != nil && len(c.found) > 1 && !c.GeneralNumber && k.ID != "" && c.LinkOK[i] {
		e.p.Choices.SetChoice(c.Number.Key(), k.ID)
	}
}

// undoFor is how long a removal can be undone.
const undoFor = 10 * time.Second

type undo struct {
	until      time.Time
	name       string // from the phone system
	opened     *contact.Contact
	remembered bool // it was the number's remembered choice
}

// removeContact removes a contact from the card for the rest of the call, from the history, and
// from the remembered choice.
func (e *Engine) removeContact(c *card, i int, now time.Time) {
	k, n := c.Contacts[i], c.Number.Key()
	if c.removedContacts == nil {
		c.removedContacts = map[string][]contact.Contact{}
	}
	u := undo{until: now.Add(undoFor), name: c.PhoneName, opened: c.openedContact()}
	c.removedContacts[n] = append(c.removedContacts[n], k)
	if e.p.Choices != nil {
		id, ok := e.p.Choices.LastChoice(n)
		u.remembered = ok && id == k.ID
		e.p.Choices.ForgetChoice(n, k.ID)
	}
	if isNameOf(c.PhoneName, k) {
		c.PhoneName = ""
	}
	e.reapply(c, u.opened)
	c.undo, c.CanUndo = u, true
	e.record(c)
}

// undoRemoval undoes the last removeContact while there is time.
func (e *Engine) undoRemoval(c *card, now time.Time) {
	n, u := c.Number.Key(), c.undo
	if !now.Before(u.until) {
		return
	}
	last := len(c.removedContacts[n]) - 1
	k := c.removedContacts[n][last]
	c.removedContacts[n] = c.removedContacts[n][:last]
	if u.remembered {
		e.p.Choices.SetChoice(n, k.ID)
	}
	c.PhoneName = u.name
	e.reapply(c, u.opened)
	c.undo, c.CanUndo = undo{}, false
	e.record(c)
}

// reapply puts the hub's answer on a card again; opened remains the opened contact
// if it is still there.
func (e *Engine) reapply(c *card, opened *contact.Contact) {
	e.applyContacts(c, c.found)
	if opened != nil {
		c.OpenedIndex = slices.IndexFunc(c.Contacts, func(o contact.Contact) bool { return sameContact(o, *opened) })
	}
}

// openedContact returns the contact whose file was opened, or nil.
func (c *card) openedContact() *contact.Contact {
	if c.OpenedIndex < 0 {
		return nil
	}
	return &c.Contacts[c.OpenedIndex]
}

func sameContact(a, b contact.Contact) bool {
	if a.ID != "" {
		return a.ID == b.ID
	}
	return a == b
}

func isNameOf(name string, k contact.Contact) bool {
	return k.FamilyName != "" && strings.Contains(strings.ToLower(name), strings.ToLower(k.FamilyName))
}
