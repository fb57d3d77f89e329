package resident

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/dial"
	"wiebelt/internal/phone"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/text"
)

const (
	// openingIn is how long a browser or a phone may take to start.
	openingIn = 20 * time.Second
	// lookingIn is how long a lookup by hand may take, token and all attempts.
	lookingIn = 75 * time.Second
	maxTyped  = 200 // bytes of a text with a number
	maxListed = 100 // contacts in an answer to a lookup
)

// owners knows what opens tel: and sip: addresses on this computer.
var owners dial.Owners

// answerCalls does what the calls window asks for.
func answerCalls(r *Resident, q ask.Request) {
	switch q.Kind {
	case deskapi.KindCallsAsk:
		q.Reply(deskapi.KindCallsState, r.callsState(q.Ctx))
		return
	case deskapi.KindCallsWipe:
		r.wipe(q)
		return
	case deskapi.KindCallsQuit:
		r.chosen(menuQuit)
		return
	}
	if r.store == nil {
		return // there are no calls to do anything with
	}
	if q.Kind == deskapi.KindCallsDismiss {
		r.store.Dismiss()
		r.historyChanged()
		return
	}
	var m struct { // all that a request can have
		deskapi.CallsCopy
		deskapi.CallsEntries
		Contact deskapi.LookupContact
	}
	if !q.Decode(&m) {
		return
	}
	if do := r.withCalls(q.Kind); do != nil {
		var failed error
		for _, id := range m.Entries {
			if err := do(q.Ctx, id); err != nil {
				failed, m.Entry = err, id
			}
		}
		r.historyChanged()
		r.failedCall(q, m.Entry, failed)
		return
	}
	e, err := r.store.Get(q.Ctx, m.Entry)
	switch {
	case err != nil:
	case q.Kind == deskapi.KindCallsPerson:
		err = r.openPerson(q.Ctx, e, m.Contact)
	default:
		err = r.withCall(q, e, m.Relation)
	}
	r.failedCall(q, m.Entry, err)
}

// withCalls does what is asked with one of any number of calls; nil for what is
// asked of one call only.
func (r *Resident) withCalls(kind string) func(context.Context, int64) error {
	switch kind {
	case deskapi.KindCallsTick:
		return r.store.Handle
	case deskapi.KindCallsReopen:
		return r.store.Reopen
	case deskapi.KindCallsUndo:
		return r.undoRemove
	case deskapi.KindCallsThis:
		return r.undoNotThis
	case deskapi.KindCallsRemove:
		return func(ctx context.Context, id int64) error {
			e, err := r.store.Get(ctx, id)
			if err == nil {
				err = r.removeCall(ctx, e)
			}
			return err
		}
	}
	return nil
}

// failedCall tells the window what did not work, if anything.
func (r *Resident) failedCall(q ask.Request, entry int64, err error) {
	if err == nil || q.Ctx.Err() != nil {
		return
	}
	said := text.CallsTroubleWrite
	var f callsFailure
	switch {
	case errors.As(err, &f):
		said = text.Key(f)
	case errors.Is(err, history.ErrGone):
		said = text.CallsTroubleGone
		r.historyChanged()
	default:
		r.o.Log.Warn("a call of the history was not changed", "why", err)
	}
	q.Reply(deskapi.KindCallsFailed, deskapi.CallsFailed{Entry: entry, Sentence: r.lang().T(said)})
}

// callsFailure is the key of what did not work.
type callsFailure text.Key

func (f callsFailure) Error() string { return string(f) }

// withCall does what is asked with one call.
func (r *Resident) withCall(q ask.Request, e history.Entry, relation bool) error {
	ctx := q.Ctx
	switch q.Kind {
	case deskapi.KindCallsOpen:
		return r.openCall(ctx, e.Link, e.Number)
	case deskapi.KindCallsCall:
		if err := r.callBack(ctx, e.Number); err != nil {
			r.o.Log.Warn("not called back", "why", err)
			return callsFailure(text.CallsTroubleCall)
		}
		return nil // the call itself ticks off what was missed
	case deskapi.KindCallsCopy:
		s := e.RelationNumber
		if !relation {
			s = r.rules(r.set()).Parse(e.Number, "").Copy()
		}
		if s == "" {
			return nil
		}
		if err := r.display.Copy(s); err != nil {
			r.o.Log.Warn("not copied", "why", err)
			return callsFailure(text.CallsTroubleCopy)
		}
		return nil
	case deskapi.KindCallsLookup:
		looked, err := r.lookAgain(ctx, e)
		if err == nil {
			q.Reply(deskapi.KindCallsLooked, looked)
		}
		r.historyChanged()
		return err
	case deskapi.KindCallsNotThis:
		err := r.notThis(ctx, e)
		r.historyChanged()
		return err
	}
	return nil
}

// historyChanged tells windows and tray that the history on disk, or its state,
// is another one.
func (r *Resident) historyChanged() {
	r.desks.Send(deskapi.KindChanged, deskapi.Changed{What: deskapi.ChangedHistory})
	select {
	case r.retell <- struct{}{}:
	default: // it is about to look anyway
	}
}

// missed is how many missed calls are not ticked off.
func (r *Resident) missed() int {
	if r.store == nil {
		return 0
	}
	return r.store.Missed()
}

// callsTitle is what the menu calls the calls window.
func (r *Resident) callsTitle() string {
	if n := r.missed(); n > 0 {
		return r.lang().N(text.CallsTray, n)
	}
	return r.lang().T(text.StatusMenuCalls)
}

// historyFault says in a sentence why calls are not kept at this moment, "" if
// they are or are not meant to be.
func (r *Resident) historyFault() string {
	fault := history.FaultOther // it could not even be opened
	switch {
	case r.set().History.Keep == string(history.KeepOff):
		return ""
	case r.store != nil:
		fault = r.store.State().Fault
	}
	l := r.lang()
	switch fault {
	case history.FaultNone:
		return ""
	case history.FaultReadOnly, history.FaultOther:
		return l.T(text.CallsFault(string(fault)), r.support())
	}
	return l.T(text.CallsFault(string(fault)))
}

// support is who to tell.
func (r *Resident) support() string {
	if s := r.set().Support.Contact; s != "" {
		return s
	}
	return r.lang().T(text.CardAdmin)
}

func (r *Resident) callsState(ctx context.Context) deskapi.CallsState {
	s := r.set()
	m := deskapi.CallsState{Group: s.Calls.Group, Manual: s.Lookup.Manual, Delivery: s.Hub.Intermediary != "", Fault: r.historyFault(), CallBack: r.canCallBack(ctx)}
	if r.store != nil {
		if n := r.store.State().Notice; n != history.NoticeNone {
			m.Notice = r.lang().T(text.CallsNotice(string(n)))
		}
	}
	return m
}

// openCall opens the file that a link leads to, if it is one of the hub's: its
// caller's missed calls are dealt with then.
func (r *Resident) openCall(ctx context.Context, link, number string) error {
	if link == "" {
		return nil
	}
	address, err := r.current().links.Check(link)
	if err != nil {
		r.o.Log.Warn("a link of the history is not opened", "why", err)
		return callsFailure(text.CallsTroubleLink)
	}
	opening, cancel := context.WithTimeout(ctx, openingIn)
	defer cancel()
	if err := browser.Open(opening, address); err != nil {
		r.o.Log.Warn("browser not started")
		return callsFailure(text.CallsTroubleOpen)
	}
	if r.store == nil || number == "" {
		return nil
	}
	err = r.store.HandleNumber(ctx, number)
	r.historyChanged()
	return err
}

// openPerson opens the file of one of several contacts, who is the caller then.
func (r *Resident) openPerson(ctx context.Context, e history.Entry, k deskapi.LookupContact) error {
	if err := r.openCall(ctx, k.Link, e.Number); err != nil {
		return err
	}
	if k.ID == "" || k.Link == "" || r.rules(r.set()).Parse(e.Number, "").Foreign { // only possible: nobody's name on disk
		return nil
	}
	r.chosenBefore.Chose(e.Number, k.ID)
	e.Name, e.ContactID, e.RelationNumber, e.Link = k.Name, k.ID, k.Relation, k.Link
	err := r.store.SetPerson(ctx, e)
	r.historyChanged()
	return err
}

// canCallBack reports whether there is something to call back with: a command, or
// another program that opens such addresses.
func (r *Resident) canCallBack(ctx context.Context) bool {
	switch how := r.set().Phone.CallBack; how {
	case "off":
		return false
	case "tel", "sip":
		return owners.Other(ctx, how)
	default:
		_, err := dial.Split(how)
		return err == nil
	}
}

// callBack calls a number of the history. What is handed over is made of the
// number as our rules read it, never of what a phone once sent.
func (r *Resident) callBack(ctx context.Context, number string) error {
	ctx, cancel := context.WithTimeout(ctx, openingIn)
	defer cancel()
	n := r.rules(r.set()).Parse(number, "")
	switch how := r.set().Phone.CallBack; how {
	case "off":
		return errors.New("phone.call_back is off")
	case "tel":
		if n.E164 != "" {
			return dial.Open(ctx, how, n.E164)
		}
		return dial.Open(ctx, how, n.Copy())
	case "sip":
		return dial.Open(ctx, how, n.Copy())
	default:
		return dial.Run(ctx, how, n.Copy())
	}
}

// lookAgain asks the hub once more about the number of a call, and keeps what it
// says with the call as far as anything is kept.
func (r *Resident) lookAgain(ctx context.Context, e history.Entry) (deskapi.CallsLooked, error) {
	l := r.lang()
	m := deskapi.CallsLooked{Entry: e.ID}
	n := r.rules(r.set()).Parse(e.Number, "")
	if !n.Lookup() {
		m.Sentence = l.T(text.CardNever)
		return m, nil
	}
	found, err := r.askHub(ctx, n)
	if err != nil {
		f := contact.FailureOf(err)
		m.Sentence = l.T(text.CallsAgainFailed, l.T(text.Failure(string(f))))
		if f.NeedsAdmin() {
			m.Sentence += " " + l.T(text.CardTell, r.support())
		}
		return m, nil
	}
	before := e.ContactID
	e.Matches = len(found)
	if before != "" { // else it is what the phone system says
		e.Name = ""
	}
	e.ContactID, e.RelationNumber, e.Link = "", "", ""
	switch i := slices.IndexFunc(found, func(k contact.Contact) bool { return before != "" && k.ID == before }); {
	case len(found) == 0:
		e.Outcome = history.OutcomeNobody
		m.Sentence = l.T(text.CallsAgainNobody)
	case n.Foreign: // only possible: nobody's name on disk
		e.Outcome, m.Sentence = history.OutcomeFound, l.T(text.CallsAgainPossible)
		if len(found) > 1 {
			e.Outcome = history.OutcomeSeveral
		}
		m.Contacts, m.More = r.people(n, found)
	case len(found) == 1:
		e.Outcome = history.OutcomeFound
		r.person(&e, found[0])
		if e.TakenOff || r.set().History.Keep != string(history.KeepFull) {
			m.Sentence = l.T(text.CallsAgainOff)
		}
	default:
		e.Outcome = history.OutcomeSeveral
		m.Contacts, m.More = r.people(n, found)
		if i >= 0 { // the one chosen then
			r.person(&e, found[i])
		}
	}
	return m, r.store.Looked(ctx, e)
}

func (r *Resident) person(e *history.Entry, k contact.Contact) {
	e.Name, e.ContactID, e.RelationNumber = k.Name(), k.ID, k.RelationNumber
	if _, err := r.current().links.Check(k.Link); err == nil {
		e.Link = k.Link
	}
}

// askHub asks the hub about a number.
func (r *Resident) askHub(ctx context.Context, n phone.Number) ([]contact.Contact, error) {
	var hub companion.Lookup // as the engine has it
	if c := r.current().client; c != nil {
		hub = r.audit.Lookups(c)
	}
	if hub == nil {
		return nil, &contact.LookupError{Failure: contact.NotSetUp}
	}
	ctx, cancel := context.WithTimeout(ctx, lookingIn)
	defer cancel()
	found, err := hub.Lookup(ctx, n.Query())
	found = slices.Clone(found) // the hub's cache has the same
	slices.SortStableFunc(found, func(a, b contact.Contact) int { return strings.Compare(a.SortKey(), b.SortKey()) })
	return found, err
}

// people are contacts as a window shows them, as many as a message holds, in the
// order in which the card has them: whom the user chose before stands first.
func (r *Resident) people(n phone.Number, found []contact.Contact) (list []deskapi.LookupContact, more int) {
	earlier, size := "", 0
	if len(found) > 1 && len(found) <= companion.ManyContacts {
		earlier, _ = r.chosenBefore.Earlier(n.Key())
	}
	found = slices.Clone(found)
	if i := slices.IndexFunc(found, func(k contact.Contact) bool { return k.ID == earlier }); earlier != "" && i > 0 {
		k := found[i]
		found = slices.Insert(slices.Delete(found, i, i+1), 0, k)
	}
	for i, k := range found {
		c := deskapi.LookupContact{ID: k.ID, Earlier: earlier != "" && k.ID == earlier, Name: ask.Cut(k.Name()), Relation: ask.Cut(k.RelationNumber),
			Address: ask.Cut(k.Address.Line()), Producer: ask.Cut(k.Producer.Text()), Modified: ask.Cut(k.LastModifiedBy.Text())}
		if _, err := r.current().links.Check(k.Link); err == nil {
			c.Link = k.Link
		}
		b, err := json.Marshal(c)
		if size += len(b); err != nil || i >= maxListed || size > ask.MaxAnswer {
			return list, len(found) - i
		}
		list = append(list, c)
	}
	return list, 0
}

// answerLookup does what the window asks for that looks a number up.
func answerLookup(r *Resident, q ask.Request) {
	switch q.Kind {
	case deskapi.KindLookupFind:
		var m deskapi.LookupFind
		if q.Decode(&m) && len(m.Text) <= maxTyped {
			f := r.lookUp(q.Ctx, m.Text)
			f.Seq = m.Seq
			q.Reply(deskapi.KindLookupFound, f)
		}
	case deskapi.KindLookupOpen:
		var m deskapi.LookupOpen
		if !q.Decode(&m) {
			return
		}
		var f callsFailure
		if err := r.openCall(q.Ctx, m.Link, m.Number); errors.As(err, &f) {
			q.Reply(deskapi.KindLookupSaid, deskapi.LookupSaid{Sentence: r.lang().T(text.Key(f))})
		}
	}
}

// lookUp looks up what somebody typed. Nothing of it is kept.
func (r *Resident) lookUp(ctx context.Context, typed string) deskapi.LookupFound {
	all := r.rules(r.set()).Find(typed)
	n := all[0]
	f := deskapi.LookupFound{Outcome: outcomeOfNumber[n.Kind], Shown: n.Display(), Copy: n.Copy(), LineName: n.LineName, Support: r.support()}
	switch {
	case !r.set().Lookup.Manual:
		return deskapi.LookupFound{Outcome: deskapi.LookupOff}
	case len(all) > 1:
		f = deskapi.LookupFound{Outcome: deskapi.LookupNumbers}
		for _, n := range all {
			f.Numbers = append(f.Numbers, n.Display())
		}
		return f
	case n.Kind != phone.External:
		return f
	case !n.Lookup():
		f.Outcome = deskapi.LookupNever
		return f
	}
	f.Number, f.Possible = n.Key(), n.Foreign
	found, err := r.askHub(ctx, n)
	if err != nil {
		f.Outcome, f.Failure = history.OutcomeFailed, string(contact.FailureOf(err))
		return f
	}
	f.Contacts, f.More = r.people(n, found)
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

// outcomeOfNumber is what there is to say about a number that is not looked up.
var outcomeOfNumber = map[phone.Kind]string{phone.Withheld: history.OutcomeWithheld, phone.Internal: history.OutcomeInternal,
	phone.Short: history.OutcomeShort, phone.Own: history.OutcomeOwn, phone.Unfilled: deskapi.LookupNoNumber, phone.NoNumber: deskapi.LookupNoNumber}
