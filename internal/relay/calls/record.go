// Package calls keeps the calls at the exchanges of a site as its relays know them:
// one Record per call, in a Bucket shared by all relays, and a Feed in each relay that
// publishes them to users.
//
// A call rings at 1,024 users at most. Beyond that, the remaining users are not notified
// and the reporter gets an error.
//
// A Record is a plain value. A Feed's state belongs to the goroutine of its Run.
package calls

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/wire"
)

const (
	maxLegs   = 1024      // users at whom one call rings
	maxRecord = 320 << 10 // bytes: that many users, each with the longest name
)

// Report is what an exchange reports about one call.
type Report struct {
	call.Event
	// Users are the users it concerns. An end without users ends the call for all.
	Users []wire.User
	// MaybeForAll marks an end that is for all unless somebody else has the call.
	MaybeForAll bool
	// MayReturn is set if the exchange does not report when a phone stops ringing.
	// Answering the call then ends it for the others, to whom it may come back.
	MayReturn bool
}

// Record is one call.
type Record struct {
	ID        string             `json:"id"`
	Direction string             `json:"direction"`
	Number    string             `json:"number"`
	Name      string             `json:"name,omitempty"`
	Line      string             `json:"line,omitempty"`
	Queue     string             `json:"queue,omitempty"`
	Via       string             `json:"via,omitempty"`
	Began     time.Time          `json:"began"`
	Legs      map[wire.User]*Leg `json:"legs"`
	// EndedForAll is when the call's end for all was reported. Reports can overtake each other,
	// and an overtaken one must not ring.
	EndedForAll time.Time `json:"gone,omitzero"`

	userAnswers []userAnswer // by whom, in order of time
}

type userAnswer struct {
	by wire.User
	at time.Time
}

// Leg is one user's side of the call.
type Leg struct {
	State string `json:"state"`
	// Direction is set if it differs from the record's: an outgoing call that is passed on
	// is incoming for the colleague who gets it.
	Direction  string     `json:"direction,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	AnsweredBy string     `json:"by,omitempty"`  // who answered elsewhere, according to the exchange
	Rang       time.Time  `json:"rang,omitzero"` // zero if its end was reported first
	Answered   *time.Time `json:"answered,omitempty"`
	At         time.Time  `json:"at"` // of the last report
	// Phones are the extensions that the exchange has named; true for those that have the call.
	Phones map[string]bool `json:"phones,omitempty"`
}

var (
	// ErrRecord reports that a record or report is not about a call.
	ErrRecord = errors.New("not a call")
	// ErrTooManyUsers reports that a call rings at more users than a record holds.
	ErrTooManyUsers = errors.New("a call rings at too many users; some of them hear nothing of it")
	// ErrFull reports that there are too many calls.
	ErrFull = errors.New("there are more calls than a relay remembers")
)

// Key returns the record's key in the bucket. An exchange's id may contain any
// character, a key may not.
func Key(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func parse(b []byte) (Record, error) {
	var r Record
	if len(b) > maxRecord || json.Unmarshal(b, &r) != nil || r.ID == "" || len(r.Legs) > maxLegs {
		return Record{}, ErrRecord
	}
	for u, leg := range r.Legs {
		if !u.Valid() || leg == nil {
			return Record{}, ErrRecord
		}
	}
	r.userAnswers = r.answers()
	return r, nil
}

// Apply returns the record after a report; r itself does not change. changed is false if
// the report brings nothing new or is older than what is known of its users. With ErrTooManyUsers
// the report still applies to the users for whom there was room.
func (r Record) Apply(report Report) (after Record, changed bool, err error) {
	e := report.Clean()
	if e.ID == "" {
		return r, false, ErrRecord
	}
	users := report.Users
	forAll := e.State == call.Ended && r.endsForAll(report)
	if forAll {
		users, e.Extension = slices.AppendSeq(slices.Clone(users), maps.Keys(r.Legs)), ""
	}
	if !r.EndedForAll.IsZero() {
		return r, false, nil
	}
	after = r
	after.Legs = make(map[wire.User]*Leg, len(r.Legs)+len(users))
	maps.Copy(after.Legs, r.Legs)
	heard := false
	for _, u := range users {
		before := r.Legs[u]
		if before == nil && len(after.Legs) >= maxLegs {
			err = ErrTooManyUsers
		} else if leg, ok := before.apply(e, r.Direction, report.MayReturn); ok {
			heard, changed = true, changed || !before.same(leg)
			after.Legs[u] = leg
		}
	}
	changed = after.endRinging(report, users) || changed
	if forAll && !report.MaybeForAll && after.Ended() {
		after.ID, after.EndedForAll, changed = e.ID, e.At, true
	}
	if heard && len(r.Legs) == 0 {
		after.ID, after.Direction, after.Began = e.ID, e.Direction.String(), e.At
	}
	if heard && after.merge(e) || changed {
		after.userAnswers = after.answers()
		return after, true, err
	}
	return r, false, err
}

// endRinging ends the call for users at whom it still rings once others have answered it,
// and reports whether there were any.
func (r *Record) endRinging(taken Report, by []wire.User) (some bool) {
	took := func(u wire.User) bool {
		l := r.Legs[u]
		return l != nil && l.Answered != nil && l.Answered.Equal(taken.At)
	}
	if !taken.MayReturn || taken.State != call.Answered || !slices.ContainsFunc(by, took) {
		return false
	}
	for u, l := range r.Legs {
		if l.State == call.Ringing.String() && !slices.Contains(by, u) {
			r.Legs[u], some = &Leg{State: call.Ended.String(), Direction: l.Direction, Reason: call.AnsweredElsewhere.String(),
				Rang: l.Rang, At: taken.At}, true
		}
	}
	return some
}

func (r Record) endsForAll(end Report) bool {
	if !end.MaybeForAll {
		return len(end.Users) == 0
	}
	for u, l := range r.Legs {
		if l.State == call.Answered.String() && !slices.Contains(end.Users, u) {
			return false
		}
	}
	return true
}

// merge takes over what a report says about the caller and reports whether that is new.
// Missing fields stay, except name and via if the call was passed on to another caller.
func (r *Record) merge(e call.Event) (news bool) {
	if e.Number != "" && r.Number != "" && r.Number != e.Number {
		r.Name, r.Via = "", ""
	}
	replace := func(field *string, reported string) {
		if reported != "" && *field != reported {
			*field, news = reported, true
		}
	}
	replace(&r.Number, e.Number)
	replace(&r.Name, e.Name)
	replace(&r.Line, e.Line)
	replace(&r.Via, e.Via)
	replace(&r.Queue, e.Queue)
	return news
}

// reorderWindow is how far one report may overtake another, as far as known. A user who missed
// a call may be called again later.
const reorderWindow = 2 * time.Second

// apply returns the leg after a report on a call of this direction; l itself does not change. ok
// is false if the report is older than what is known, or the call has ended for this user and
// does not come back.
func (l *Leg) apply(e call.Event, direction string, mayReturn bool) (after *Leg, ok bool) {
	now := Leg{State: e.State.String(), Rang: e.At, At: e.At}
	if l != nil {
		now.Direction = l.Direction
	}
	over := l != nil && l.State == call.Ended.String()
	switch {
	case l == nil && e.State == call.Ended:
		now.Rang = time.Time{}
	case over && !(mayReturn && l.returns(e)), l != nil && e.At.Before(l.At):
		return nil, false
	case l != nil && !over:
		now.Rang, now.Answered = l.Rang, l.Answered
		if before, _ := call.ParseState(l.State); e.State < before {
			now.State = l.State // ringing reported again; the caller's details may be new
		}
	case e.State == call.Ringing && e.Direction != call.DirectionUnknown && direction != "":
		if now.Direction = e.Direction.String(); now.Direction == direction {
			now.Direction = ""
		}
	}
	now.note(e, l)
	return &now, true
}

// note notes the phone, the answer and the end that a report brings to the leg that was before.
func (l *Leg) note(e call.Event, before *Leg) {
	switch l.Phones = before.phonesAfter(e); {
	case e.State == call.Answered && l.Answered == nil:
		l.Answered = &e.At
	case e.State == call.Ended && len(l.Phones) > 0:
		l.State = before.State // another of the user's phones has the call
	case e.State == call.Ended:
		l.Reason, l.AnsweredBy = e.Reason.String(), e.AnsweredBy
	}
}

// same reports whether a leg is in the same state, at the same phones.
func (l *Leg) same(o *Leg) bool {
	return l != nil && l.State == o.State && maps.Equal(l.Phones, o.Phones)
}

// Limits of the phones of a leg; what exceeds them is not kept apart.
const (
	maxPhones = 8
	maxPhone  = 16 // bytes
)

// phonesAfter returns the user's phones after a report on a call that goes on, none if it is
// over at all of them. Once one has answered, the others no longer count.
func (l *Leg) phonesAfter(e call.Event) map[string]bool {
	var phones map[string]bool
	answered := false
	if l != nil && l.State != call.Ended.String() { // otherwise it begins anew
		phones, answered = maps.Clone(l.Phones), l.Answered != nil
	}
	_, known := phones[e.Extension]
	switch {
	case e.State == call.Ended:
		if known {
			phones[e.Extension] = false
		}
		if !known || !slices.Contains(slices.Collect(maps.Values(phones)), true) {
			return nil
		}
	case e.Extension == "" || len(e.Extension) > maxPhone || !known && len(phones) >= maxPhones:
	case known && answered && e.State == call.Ringing:
	default:
		if phones == nil {
			phones = map[string]bool{}
		}
		if e.State == call.Answered {
			for other := range phones {
				phones[other] = false
			}
		}
		phones[e.Extension] = e.State == call.Answered || !answered
	}
	return phones
}

// returns reports whether an ended call comes back to this user. A user who seemed to miss
// a call that others answered may be reported late as having answered it.
func (l *Leg) returns(e call.Event) bool {
	late := e.State == call.Answered && l.Reason == call.AnsweredElsewhere.String()
	return e.State != call.Ended && (late || e.At.Sub(l.At) >= reorderWindow)
}

// endedRetention is how long an ended call is remembered, so that a report delayed by a
// network outage does not make it ring.
const endedRetention = time.Minute

// retention is how long a call is kept without further reports.
func (r Record) retention() time.Duration {
	if r.Ended() {
		return endedRetention
	}
	return lifetime
}

// Ended reports whether the call is over for everybody.
func (r Record) Ended() bool {
	for _, l := range r.Legs {
		if l.State != call.Ended.String() {
			return false
		}
	}
	return true
}

func (r Record) newest() (at time.Time) {
	for _, l := range r.Legs {
		if l.At.After(at) {
			at = l.At
		}
	}
	return at
}

// ForUser returns the call as shown to a user; ok is false if it never rang for them.
func (r Record) ForUser(u wire.User) (c wire.Call, ok bool) {
	l := r.Legs[u]
	if l == nil || l.Rang.IsZero() {
		return wire.Call{}, false
	}
	c = wire.Call{ID: r.ID, State: l.State, Direction: r.DirectionOf(l), Number: r.Number, Name: r.Name, Line: r.Line,
		Queue: r.Queue, Via: r.Via, Reason: l.Reason, AnsweredBy: l.AnsweredBy, Began: l.Rang, Answered: l.Answered}
	if c.Direction == call.Outgoing.String() {
		c.Via = "" // it says who passed the call on to somebody else
	}
	if l.Answered != nil {
		return c, true
	}
	// A user who had the call before it rang here has transferred it, not taken it away.
	if i := slices.IndexFunc(r.userAnswers, func(t userAnswer) bool { return !t.at.Before(l.Rang) }); i >= 0 {
		c.AnsweredElsewhere = true
		if l.State == call.Ended.String() {
			c.AnsweredBy, c.Reason = string(r.userAnswers[i].by), call.AnsweredElsewhere.String()
		}
	}
	return c, true
}

// DirectionOf returns the direction of one user's side of the call.
func (r Record) DirectionOf(l *Leg) string { return cmp.Or(l.Direction, r.Direction) }

// answers returns who answered the call, in order of time.
func (r Record) answers() (all []userAnswer) {
	for u, l := range r.Legs {
		if l.Answered != nil {
			all = append(all, userAnswer{u, *l.Answered})
		}
	}
	slices.SortFunc(all, func(a, b userAnswer) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
	return all
}
