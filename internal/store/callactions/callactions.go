// Package callactions provides the actions on stored calls: tick off, remove and restore, open
// a file, call back, store a lookup's result, and delete what is stored about callers. The
// windows' process performs them itself on the history's file, which the resident writes too,
// and tells the resident what it changed, for its remembered choices and the calls in its menu.
//
// Everything may wait for the disk or another program, so it belongs on a
// goroutine of the caller; the package starts none. Safe for concurrent use.
package callactions

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/dial"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
)

// openTimeout limits how long a browser or phone may take to start.
const openTimeout = 20 * time.Second

// Params configures Calls. The functions must be safe for concurrent use.
type Params struct {
	Dirs     profile.Dirs
	Instance instance.Config           // where to reach the resident
	Settings func() *settings.Settings // returns the current settings
	Send     func(kind string, m any)  // sends to the resident without waiting
	Log      *slog.Logger
}

// Calls provides the actions on a profile's stored calls.
type Calls struct{ Params }

// New returns a profile's calls; nothing is opened until needed.
func New(p Params) *Calls { return &Calls{p} }

// State is what a window of calls needs to know besides the calls.
type State struct {
	Group    bool // setting calls.group
	CallBack bool // there is something to call back with
	Manual   bool // setting lookup.manual
	Delivery bool // messages can be delivered
}

// owners finds the programs that open tel: and sip: addresses on this computer.
var owners dial.Owners

// State returns what is currently offered.
func (c *Calls) State(ctx context.Context) State {
	s := c.Settings()
	m := State{Group: s.Calls.Group, Manual: s.Lookup.Manual, Delivery: s.Hub.Intermediary != ""}
	switch how := s.Phone.CallBack; how {
	case "off":
	case "tel", "sip":
		m.CallBack = owners.HasOther(ctx, how)
	default:
		m.CallBack = true
	}
	return m
}

// Describe returns an error of this package as a sentence for the user.
func Describe(l text.Language, err error) string {
	if said, ok := errors.AsType[*text.Error](err); ok {
		return said.In(l)
	}
	if errors.Is(err, history.ErrGone) {
		return l.T(text.CallsTroubleGone)
	}
	return l.T(text.CallsTroubleWrite)
}

// withHistory opens the history for do.
func (c *Calls) withHistory(ctx context.Context, s *settings.Settings, do func(*history.Store) error) error {
	keep, _ := fromsettings.HistoryKeep(s)
	store, err := history.OpenBeside(ctx, fromsettings.HistoryFile(c.Dirs), keep, time.Now)
	if err == nil {
		err = do(store)
		_ = store.Close() // not urgent: what was written is already safe
	}
	if err != nil && !errors.Is(err, history.ErrGone) {
		c.Log.Warn("the history was not changed, or not read", "why", err)
	}
	return err
}

// write changes the history, even if the window that requested this closes, and reports the change.
func (c *Calls) write(ctx context.Context, do func(context.Context, *history.Store) error) error {
	ctx = context.WithoutCancel(ctx)
	err := c.withHistory(ctx, c.Settings(), func(s *history.Store) error { return do(ctx, s) })
	c.reportChanged()
	return err
}

func (c *Calls) reportChanged(removed ...time.Time) {
	c.Send(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedHistory, Removed: removed})
}

// each calls do for each of calls and returns the last error.
func each[T any](calls []T, do func(T) error) (failed error) {
	for _, c := range calls {
		if err := do(c); err != nil {
			failed = err
		}
	}
	return failed
}

// Tick ticks off missed calls.
func (c *Calls) Tick(ctx context.Context, ids ...int64) error {
	return c.write(ctx, func(ctx context.Context, s *history.Store) error {
		return each(ids, func(id int64) error { return s.Handle(ctx, id) })
	})
}

// Reopen undoes Tick.
func (c *Calls) Reopen(ctx context.Context, ids ...int64) error {
	return c.write(ctx, func(ctx context.Context, s *history.Store) error {
		return each(ids, func(id int64) error { return s.UndoHandle(ctx, id) })
	})
}

// Remove removes calls from the file and returns them for Restore.
func (c *Calls) Remove(ctx context.Context, ids ...int64) (was []history.Entry, err error) {
	var rang []time.Time
	err = c.withHistory(context.WithoutCancel(ctx), c.Settings(), func(s *history.Store) error {
		return each(ids, func(id int64) error {
			e, err := s.Remove(context.WithoutCancel(ctx), id)
			if e.ID != 0 {
				was, rang = append(was, e), append(rang, e.Rang)
			}
			return err
		})
	})
	c.reportChanged(rang...)
	return was, err
}

// Restore puts back calls returned by Remove.
func (c *Calls) Restore(ctx context.Context, was ...history.Entry) error {
	return c.write(ctx, func(ctx context.Context, s *history.Store) error {
		return each(was, func(e history.Entry) error { return s.Restore(ctx, e) })
	})
}

// RemovePerson removes the person from a call and returns the call as it was, for RestorePerson.
func (c *Calls) RemovePerson(ctx context.Context, id int64) (was history.Entry, err error) {
	err = c.write(ctx, func(ctx context.Context, s *history.Store) (err error) {
		was, err = s.RemovePerson(ctx, id)
		return err
	})
	if err == nil {
		c.sendChoice(was, windowapi.ChoiceRejected)
	}
	return was, err
}

// RestorePerson puts a call's person back.
func (c *Calls) RestorePerson(ctx context.Context, was history.Entry) error {
	err := c.write(ctx, func(ctx context.Context, s *history.Store) error { return s.SetPerson(ctx, was) })
	if err == nil && was.Matches > 1 { // otherwise nothing was chosen
		c.sendChoice(was, windowapi.ChoiceRestored)
	}
	return err
}

func (c *Calls) sendChoice(e history.Entry, what string) {
	c.Send(windowapi.KindChoice, windowapi.Choice{Number: e.Number, Contact: e.ContactID, What: what})
}

func (c *Calls) get(ctx context.Context, s *settings.Settings, id int64) (e history.Entry, err error) {
	err = c.withHistory(ctx, s, func(h *history.Store) (err error) {
		e, err = h.Get(ctx, id)
		return err
	})
	return e, err
}

// Open opens a call's file, which ticks off its caller's missed calls.
func (c *Calls) Open(ctx context.Context, id int64) error {
	e, err := c.get(ctx, c.Settings(), id)
	if err != nil {
		return err
	}
	return c.OpenLink(ctx, e.Link, e.Number)
}

// OpenLink opens the file of a link, if the link is one of the hub's. It then
// ticks off missed calls with this number, in the history's form; "" means none.
func (c *Calls) OpenLink(ctx context.Context, link, number string) error {
	address, err := fromsettings.Links(c.Settings().Hub.HubURL).Check(link)
	if err != nil {
		c.Log.Warn("a link of the history is not opened", "why", err)
		return text.Errorf(text.CallsTroubleLink)
	}
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := browser.Open(opening, address); err != nil {
		c.Log.Warn("browser not started")
		return text.Errorf(text.CallsTroubleOpen)
	}
	err = c.write(ctx, func(ctx context.Context, s *history.Store) error { return s.HandleNumber(ctx, number) })
	if errors.Is(err, history.ErrGone) {
		return nil // no history, so nothing to tick off
	}
	return err
}

// OpenPerson opens the file of one of several contacts with a number, who then becomes the
// caller, unless the call has another number by now: it may have been transferred.
func (c *Calls) OpenPerson(ctx context.Context, id int64, number string, k windowapi.Contact) error {
	s := c.Settings()
	e, err := c.get(ctx, s, id)
	if err == nil && e.Number != number {
		err = history.ErrGone
	}
	if err == nil {
		err = c.OpenLink(ctx, k.Link, e.Number)
	}
	if err != nil || k.ID == "" {
		return err
	}
	rules, err := fromsettings.NumberRules(s)
	if err != nil || rules.Parse(e.Number, "").Foreign { // merely possible: keep no name on disk
		return err
	}
	setPerson(&e, k)
	c.sendChoice(e, windowapi.ChoiceMade)
	return c.write(ctx, func(ctx context.Context, h *history.Store) error { return h.SetPerson(ctx, e) })
}

func setPerson(e *history.Entry, k windowapi.Contact) {
	e.Name, e.ContactID, e.RelationNumber, e.Link = k.Name, k.ID, k.Relation, k.Link
}

// CallBack calls a call's caller. It passes on the number as our rules read it,
// never what a phone sent.
func (c *Calls) CallBack(ctx context.Context, id int64) error {
	s := c.Settings()
	e, n, err := c.callNumber(ctx, s, id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	switch how := s.Phone.CallBack; how {
	case "off":
		err = errors.New("phone.call_back is off")
	case "tel":
		err = dial.Open(ctx, how, cmp.Or(n.E164, n.ClipboardText()))
	case "sip":
		err = dial.Open(ctx, how, n.ClipboardText())
	default:
		err = dial.Run(ctx, settings.SplitCommand(how), n.ClipboardText())
	}
	if err != nil {
		c.Log.Warn("not called back", "call", e.ID, "why", err)
		return text.Errorf(text.CallsTroubleCall)
	}
	return nil // the call itself ticks off missed ones
}

func (c *Calls) callNumber(ctx context.Context, s *settings.Settings, id int64) (e history.Entry, n phone.Number, err error) {
	if e, err = c.get(ctx, s, id); err != nil {
		return e, n, err
	}
	rules, err := fromsettings.NumberRules(s)
	if err == nil {
		n = rules.Parse(e.Number, "")
	}
	return e, n, err
}

// Copy puts a call's number on the clipboard, through the resident, which outlives the
// windows: the caller's as digits, or the relation number.
func (c *Calls) Copy(ctx context.Context, id int64, relation bool) error {
	e, n, err := c.callNumber(ctx, c.Settings(), id)
	if err != nil {
		return err
	}
	said := n.ClipboardText()
	if relation {
		said = e.RelationNumber
	}
	if said != "" {
		c.Send(windowapi.KindCopy, windowapi.Copy{Text: said})
	}
	return nil
}

// LookupOutcome is the result of another lookup, apart from what is now stored.
type LookupOutcome struct {
	Entry        int64
	Number       string              // that was looked up
	Contacts     []windowapi.Contact // for the user to choose from
	MoreContacts int                 // contacts beyond those listed
	Sentence     string              // for the user, "" if the row is enough
}

// StoreLookup stores the hub's answer about a call's number, as far as
// it may be kept. asked is the call as it was when the hub was asked.
func (c *Calls) StoreLookup(ctx context.Context, l text.Language, asked history.Entry, f windowapi.LookupResult) (LookupOutcome, error) {
	m := LookupOutcome{Entry: asked.ID, Number: asked.Number}
	switch f.Outcome {
	case history.OutcomeFailed:
		m.Sentence = l.T(text.CallsAgainFailed, l.T(text.Failure(f.Failure)))
		if contact.Failure(f.Failure).NeedsAdmin() {
			m.Sentence += " " + l.T(text.CardTell, f.Support)
		}
		return m, nil
	case history.OutcomeFound, history.OutcomeSeveral, history.OutcomeNobody:
	case windowapi.LookupNoResident:
		m.Sentence = l.T(text.WindowNeedsResident)
		return m, nil
	default:
		m.Sentence = l.T(text.CardNever)
		return m, nil
	}
	err := c.write(ctx, func(ctx context.Context, s *history.Store) error {
		e, err := s.Get(ctx, asked.ID)
		if err != nil {
			return err
		}
		if e.Number != asked.Number {
			return history.ErrGone
		}
		before := e.ContactID
		if before != "" { // otherwise it is from the phone system
			e.Name = ""
		}
		e.ContactID, e.RelationNumber, e.Link = "", "", ""
		e.Matches, e.Outcome = len(f.Contacts)+f.MoreContacts, f.Outcome
		switch i := slices.IndexFunc(f.Contacts, func(k windowapi.Contact) bool { return before != "" && k.ID == before }); {
		case f.Outcome == history.OutcomeNobody:
			m.Sentence = l.T(text.CallsAgainNobody)
		case f.Possible: // keep no name on disk
			m.Sentence, m.Contacts, m.MoreContacts = l.T(text.CallsAgainPossible), f.Contacts, f.MoreContacts
		case len(f.Contacts) == 1:
			setPerson(&e, f.Contacts[0])
			if e.PersonRejected || c.Settings().History.Keep != string(history.KeepFull) {
				m.Sentence = l.T(text.CallsAgainOff)
			}
		default:
			m.Contacts, m.MoreContacts = f.Contacts, f.MoreContacts
			if i >= 0 { // the earlier choice
				setPerson(&e, f.Contacts[i])
			}
		}
		return s.PutLookup(ctx, e)
	})
	return m, err
}
