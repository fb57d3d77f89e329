package resident

import (
	"context"
	"encoding/json"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
)

const (
	// lookupTimeout limits a manual lookup, including token and all attempts.
	lookupTimeout = 75 * time.Second
	maxTyped      = 200 // bytes of an input with a number
	maxListed     = 100 // contacts in an answer to a lookup
)

// historyChanged tells windows and tray that the history on disk, or
// its state, has changed.
func (r *Resident) historyChanged() {
	r.windows.Send(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedHistory})
	r.requestRefresh()
}

// callsTitle returns the menu's title for the calls window.
func (r *Resident) callsTitle() string {
	if n := r.store.Missed(); n > 0 {
		return r.lang().N(text.CallsTray, n)
	}
	return r.lang().T(text.StatusMenuCalls)
}

// historyFault returns a sentence on why calls are currently not stored, "" if
// they are or need not be.
func (r *Resident) historyFault() string {
	if r.settings().History.Keep == string(history.KeepOff) {
		return ""
	}
	l := r.lang()
	switch fault := r.store.State().Fault; fault {
	case history.FaultNone:
		return ""
	case history.FaultReadOnly, history.FaultOther:
		return l.T(text.CallsFault(string(fault)), r.support())
	default:
		return l.T(text.CallsFault(string(fault)))
	}
}

// historyNotice returns a sentence on what has happened to the history,
// "" for nothing unread.
func (r *Resident) historyNotice() string {
	if r.store.State().Notice == history.NoticeNone {
		return ""
	}
	return r.lang().T(text.CallsNotice(string(r.store.State().Notice)))
}

func (r *Resident) support() string { return r.lang().Support(r.settings().Support.Contact) }

// recordChoice records what the user says about who calls with a number.
func (r *Resident) recordChoice(m windowapi.Choice) {
	switch m.What {
	case windowapi.ChoiceMade:
		r.choices.SetChoice(m.Number, m.Contact)
	case windowapi.ChoiceRejected:
		r.choices.ForgetChoice(m.Number, m.Contact)
	case windowapi.ChoiceRestored:
		if _, another := r.choices.LastChoice(m.Number); !another {
			r.choices.SetChoice(m.Number, m.Contact)
		}
	}
}

func (r *Resident) askHub(ctx context.Context, n phone.Number) ([]contact.Contact, error) {
	hub := r.lookup(r.current()) // the same as the engine's
	if hub == nil {
		return nil, &contact.LookupError{Failure: contact.NotSetUp}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := hub.Lookup(ctx, n.Query())
	return contact.Sorted(found), err
}

// windowContacts converts contacts for a window, as many as a message holds, in the
// card's order: an earlier choice of the user comes first.
func (r *Resident) windowContacts(n phone.Number, found []contact.Contact) (list []windowapi.Contact, more int) {
	earlier, size := "", 0
	if len(found) > 1 && len(found) <= engine.ManyContacts {
		earlier, _ = r.choices.LastChoice(n.Key())
	}
	first := contact.MoveToFront(found, earlier)
	for i, k := range found {
		c := windowapi.Contact{ID: k.ID, ChosenEarlier: first && i == 0, Name: request.Truncate(k.Name()),
			Relation: request.Truncate(k.RelationNumber),
			Address:  request.Truncate(k.Address.Line()), Producer: request.Truncate(k.Producer.Text()), Modified: request.Truncate(k.LastModifiedBy.Text())}
		if _, err := r.current().links.Check(k.Link); err == nil {
			c.Link = k.Link
		}
		b, err := json.Marshal(c)
		if size += len(b); err != nil || i >= maxListed || size > request.MaxAnswer {
			return list, len(found) - i
		}
		list = append(list, c)
	}
	return list, 0
}

// lookUp looks up what somebody typed, or repeats the lookup for a stored call.
func (r *Resident) lookUp(ctx context.Context, m windowapi.Lookup) windowapi.LookupResult {
	rules, all := r.rules(r.settings()), []phone.Number(nil)
	switch {
	case m.Entry != 0:
		all = []phone.Number{rules.Parse(m.Text, "")}
	case !r.settings().Lookup.Manual:
		return windowapi.LookupResult{Seq: m.Seq, Outcome: windowapi.LookupOff}
	default:
		all = rules.Find(m.Text)
	}
	n := all[0]
	f := windowapi.LookupResult{Seq: m.Seq, Entry: m.Entry, Outcome: outcomeOfNumber[n.Kind], NumberDisplay: n.Display(), ClipboardText: n.ClipboardText(), LineName: n.LineName, Support: r.support()}
	switch {
	case len(all) > 1:
		f = windowapi.LookupResult{Seq: m.Seq, Outcome: windowapi.LookupNumbers}
		for _, n := range all {
			f.Numbers = append(f.Numbers, n.Display())
		}
		return f
	case n.Kind != phone.External:
		return f
	case !n.CanLookUp():
		f.Outcome = windowapi.LookupNever
		return f
	}
	f.Number, f.Possible = n.Key(), n.Foreign
	found, err := r.askHub(ctx, n)
	if err != nil {
		f.Outcome, f.Failure = history.OutcomeFailed, string(contact.FailureOf(err))
		return f
	}
	f.Contacts, f.MoreContacts = r.windowContacts(n, found)
	switch len(found) {
	case 0:
		f.Outcome = history.OutcomeNobody
	case 1:
		f.Outcome = history.OutcomeFound
	default:
		f.Outcome = history.OutcomeSeveral
	}
	return f
}

// outcomeOfNumber is the outcome for numbers that are not looked up.
var outcomeOfNumber = map[phone.Kind]string{phone.Withheld: history.OutcomeWithheld, phone.Internal: history.OutcomeInternal,
	phone.Short: history.OutcomeShort, phone.OwnLine: history.OutcomeOwn, phone.Placeholder: windowapi.LookupNoNumber, phone.NoNumber: windowapi.LookupNoNumber}
