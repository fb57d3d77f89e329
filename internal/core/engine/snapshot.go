// Package engine turns call events into immutable snapshots of the cards. One
// goroutine (Engine.Run) owns every call, card and lookup; everybody else gets
// snapshots and sends commands. It knows no window, no network and no
// file: what it needs of them stands as small interfaces in Params.
package engine

import (
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
)

// CardID identifies a card for as long as the program runs; it is never used
// again. A caller who rings again while his card is still there gets that card.
type CardID uint64

// Outcome is what a card can say about its caller.
type Outcome uint8

// The outcomes. Each is a card of its own kind.
const (
	Searching Outcome = iota // looked up, no answer yet
	Found                    // exactly one contact
	Several                  // more than one contact
	Nobody                   // the hub answered: no contact
	Failed                   // could not look up; Card.Failure says why
	Withheld
	Internal
	Short    // too short to look up
	Own      // one of our own numbers
	Unfilled // the phone sent an unexpanded placeholder
	NoNumber // the phone sent a name instead of a number
	Offered  // looked up only when asked to (URL scheme)
)

// Phase is how far the call of a card is.
type Phase uint8

// The phases of a card.
const (
	PhaseRinging Phase = iota
	PhaseAnswered
	PhaseOver
	PhaseReported // it rang, and no more is known than when
)

// CardCall is one call of a card: a caller who rings again has the same card.
type CardCall struct {
	Card CardID
	Rang time.Time
}

// Call is the call that the card is about.
func (c *Card) Call() CardCall { return CardCall{c.ID, c.Rang} }

// Card is one card as it should look now. A Card is never changed after it was
// published; Contacts is shared and read-only.
type Card struct {
	ID        CardID
	Outcome   Outcome
	Phase     Phase
	Strip     bool // folded to two lines, name and state
	Line      bool // a call for which there is no card: one line
	Launched  bool // from a link that any page can launch, and nobody has confirmed it
	Aside     bool // ended, while another call lives: nothing on it is bright
	Outgoing  bool
	Number    phone.Number
	PhoneName string    // display name of the phone system
	LineName  string    // the queue, or the name of our line that was called, "" if it has none
	LineText  string    // number of our line, written the Dutch way
	Via       string    // who passed the call on
	Times     int       // 1, or how often this caller rang today ("2e keer vandaag")
	Before    time.Time // when the time before was, if there was one today
	Reports   call.Reports
	Rang      time.Time
	Answered  time.Time
	Contacts  []contact.Contact // sorted; one for Found
	Edition   uint64            // another one whenever number or contacts change; never 0
	LinkOK    []bool            // per contact: its file can be opened
	Possible  bool              // foreign number: the match is only possible
	Failure   contact.Failure
	Noticed   bool            // the search has taken long enough to be mentioned
	Retrying  bool            // Failed, and still trying while the phone rings
	Earlier   int             // index of the contact chosen earlier for this number, -1 none; it is sorted first
	Many      bool            // a general number with more than ManyContacts contacts
	NotThis   int             // how many contacts the user took off; Nobody with any says so
	NotWho    contact.Contact // the one taken off last
	Undo      bool            // and for a while that can be taken back
	Raised    time.Time       // when the user last asked for the card, or unfolded it
	Opened    int             // index of the contact whose file was opened, -1 none
	OpenError bool            // the browser could not be started
	// Ring is when the event that this state answers to reached the source;
	// Answer is when the hub's answer was received. Both serve measurement.
	Ring, Answer time.Time
}

// Snapshot is all that the engine has to say at one moment.
type Snapshot struct {
	Rev    uint64
	Cards  []Card // oldest first, at most MaxShown
	More   int    // calls beyond MaxShown
	On     int    // calls that are not over, their cards on screen or not; closed ones not for ever
	Closed CardID // a living call whose card was closed, 0 for none
	Last   *LastCall
	Recent []LastCall // newest first, those that DoShow brings back
	Lookup LookupState
}

// ManyContacts is how many contacts a number may have before it says more about
// a building than about a caller: no choice is remembered for it.
const ManyContacts = 30

// MaxCards is how many calls have a card at once. Those that somebody talks on count
// too, but have one however many they are. Of further ones up to MaxShown have a line,
// the others are counted.
const (
	MaxCards = 3
	MaxShown = 8
)

// LastCalls is how many calls can be brought back.
const LastCalls = 5

// LastCall is an incoming call, for the tray: no names. While it is one of the LastCalls
// newest, DoShow brings its Card back.
type LastCall struct {
	Card   CardID
	Number phone.Number
	Kind   string // call.Source.Kind
	At     time.Time
}

// LookupState is how the last lookups went.
type LookupState struct {
	Last    time.Time // of the last answer or failure
	Failure contact.Failure
}

// Action is something the user does with a card.
type Action struct {
	Card  CardID
	Do    Do
	Index int // contact, for Open and NotThis
	// Edition is that of the card as the user saw it, 0 if it does not matter. A
	// click on a contact of an older one, or on a card that has another caller
	// since, was meant for somebody else and means nothing.
	Edition uint64
}

// Do is the kind of an Action.
type Do uint8

// What a user can do with a card.
const (
	DoOpen         Do = iota // open the file of contact Index
	DoRetry                  // look up (again)
	DoClose                  // take the card away
	DoUnfold                 // strip or line to card
	DoHover                  // the pointer came onto the card; card 0 is "more calls"
	DoLeave                  // the pointer left it
	DoNotThis                // contact Index is not who calls ("Niet deze relatie")
	DoKeyboard               // the keyboard came to the card
	DoKeyboardGone           // and left it
	DoShow                   // show the card of a call that was closed, or is one of the last ones
	DoUndo                   // take the last DoNotThis back
)
