package engine

import (
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
)

// CardID identifies a card while the program runs; it is never reused. A caller who rings
// again while their card is still there gets that card.
type CardID uint64

// Outcome is what a card can say about its caller.
type Outcome uint8

// Outcomes, each with its own kind of card.
const (
	OutcomeSearching Outcome = iota // looked up, no answer yet
	OutcomeFound                    // exactly one contact
	OutcomeSeveral                  // more than one contact
	OutcomeNobody                   // the hub answered: no contact
	OutcomeFailed                   // could not look up; Card.Failure says why
	OutcomeWithheld
	OutcomeInternal
	OutcomeShort       // too short to look up
	OutcomeOwnLine     // one of our own numbers
	OutcomePlaceholder // the phone sent an unexpanded placeholder
	OutcomeNoNumber    // the phone sent a name instead of a number
	OutcomeOffered     // looked up only when asked to (URL scheme)
)

// Phase is how far a card's call has come.
type Phase uint8

// The phases of a card.
const (
	PhaseRinging Phase = iota
	PhaseAnswered
	PhaseOver
	PhaseReported // it rang; nothing more is known
)

// CardCall is one of a card's calls: a caller who rings again gets the same card.
type CardCall struct {
	Card CardID
	Rang time.Time
}

// Call returns the card's current call.
func (c *Card) Call() CardCall { return CardCall{c.ID, c.Rang} }

// Card is how one card looks now. A published Card never changes; Contacts
// is shared and read-only.
type Card struct {
	ID            CardID
	Outcome       Outcome
	Phase         Phase
	Strip         bool // folded to two lines, name and state
	SingleLine    bool // one line, for a call without a card
	Launched      bool // an unconfirmed launch from a link, which any page can start
	Dimmed        bool // ended while another call is live: nothing on it is bright
	Outgoing      bool
	Number        phone.Number
	PhoneName     string    // display name of the phone system
	LineName      string    // the queue, or the name of the called line, "" if none
	LineText      string    // number of our line, as shown
	Via           string    // who transferred the call
	RingsToday    int       // 1, or how often this caller rang today ("2e keer vandaag")
	PreviousRing  time.Time // the previous time today, if any
	ReportLevel   call.ReportLevel
	Rang          time.Time
	Answered      time.Time
	Contacts      []contact.Contact // sorted; one for OutcomeFound
	Edition       uint64            // changes whenever number or contacts do; never 0
	LinkOK        []bool            // per contact: whether its file can be opened
	Possible      bool              // foreign number: the match is only possible
	Failure       contact.Failure
	ShowSearching bool            // the search takes long enough to mention
	Retrying      bool            // OutcomeFailed, but retrying while the phone rings
	EarlierChoice int             // index of the contact chosen earlier for this number, sorted first; -1 for none
	GeneralNumber bool            // a general number with more than ManyContacts contacts
	RemovedCount  int             // contacts the user removed; also mentioned for OutcomeNobody
	LastRemoved   contact.Contact // the one removed last
	CanUndo       bool            // that can be undone, for a while
	Raised        time.Time       // while shown, not dimmed: when the user last asked for the card or unfolded it
	OpenedIndex   int             // index of the contact whose file was opened, -1 for none
	OpenError     bool            // the browser did not start
	// RingReceived is when the event behind this state reached the source; AnswerReceived is when
	// the hub's answer was received. Both are for measurement.
	RingReceived, AnswerReceived time.Time
}

// Snapshot is the engine's state at one moment.
type Snapshot struct {
	Rev         uint64
	Cards       []Card // oldest first, at most MaxShown
	MoreCount   int    // calls beyond MaxShown
	Ongoing     int    // ongoing calls, on screen or not; closed ones for a limited time
	ClosedCard  CardID // a live call whose card was closed, 0 for none
	LastCall    *LastCall
	RecentCalls []LastCall // newest first, those that ActionShow brings back
	Lookup      LookupState
}

// ManyContacts is how many contacts a number may have before it identifies a building
// rather than a caller: no choice is remembered for it.
const ManyContacts = 30

// MaxCards is how many calls have a card at once. Calls in progress count too, but always
// have one. Further calls, up to MaxShown, have a line; the rest are counted.
const (
	MaxCards = 3
	MaxShown = 8
)

// MaxRecentCalls is how many calls can be brought back.
const MaxRecentCalls = 5

// LastCall is an incoming call, for the tray: no names. While it is one of the MaxRecentCalls
// newest, ActionShow brings its Card back.
type LastCall struct {
	Card   CardID
	Number phone.Number
	Kind   string // call.Source.Kind
	At     time.Time
}

// LookupState is the result of the last lookup.
type LookupState struct {
	At      time.Time // of the last answer or failure
	Failure contact.Failure
}

// Action is something the user does with a card.
type Action struct {
	Card  CardID
	Kind  ActionKind
	Index int // contact, for ActionOpen and ActionRemoveContact
	// Edition is the card's edition as the user saw it, 0 if it does not
	// matter. A click on a contact of an older edition, or on a card that has
	// had another caller since, is ignored: it was meant for somebody else.
	Edition uint64
}

// ActionKind is a kind of Action.
type ActionKind uint8

// Actions of a user.
const (
	ActionOpen          ActionKind = iota // open the file of contact Index
	ActionRetry                           // look up (again)
	ActionClose                           // remove the card
	ActionUnfold                          // strip or line to card
	ActionHover                           // the pointer came onto the card; card 0 is "more calls"
	ActionLeave                           // the pointer left it
	ActionRemoveContact                   // contact Index is not the caller ("Niet deze relatie")
	ActionKeyboard                        // the keyboard came to the card
	ActionKeyboardGone                    // and left it
	ActionShow                            // show the card of a closed call, or of one of the last calls
	ActionUndo                            // undo the last ActionRemoveContact
)
