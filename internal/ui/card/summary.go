package card

import (
	"cmp"
	"strings"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
)

// summary returns the line for a colleague, sent by chat or note: who, relation number,
// number, time, our line, link to the file; unknown parts are omitted. Numbers are digits
// only, so that they can be pasted and searched. who is the contact, -1 for none.
func summary(c engine.Card, who int, lg text.Language) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	link := ""
	if who >= 0 && who < len(c.Contacts) {
		k := c.Contacts[who]
		name := k.Name()
		if name != "" && c.Possible {
			name = lg.T(text.CardPossible, name)
		}
		add(name)
		if k.RelationNumber != "" {
			add(lg.T(text.CardRelation, k.RelationNumber))
		}
		if who < len(c.LinkOK) && c.LinkOK[who] {
			link = k.Link
		}
	} else {
		add(c.PhoneName)
	}
	add(c.Number.Copy())
	if !c.Rang.IsZero() {
		add(lg.T(text.CardPassTime, c.Rang.Local().Format("15:04")))
	}
	if line := cmp.Or(c.LineName, c.LineText); line != "" {
		add(lg.T(text.CardLine, line))
	}
	add(link)
	return strings.Join(parts, " · ")
}
