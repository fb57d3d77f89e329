package outbox

import "time"

// State is the state of an item.
type State string

// The states.
const (
	Waiting   State = "waiting"   // to be sent at NextTry
	Sending   State = "sending"   // in a started request
	Delivered State = "delivered" // the hub has it
	Refused   State = "refused"   // no longer sent; kept for review
	Uncertain State = "uncertain" // may have been delivered; resolved by a person
)

// IsFinal reports whether the item no longer changes by itself.
func (s State) IsFinal() bool { return s == Delivered || s == Refused || s == Uncertain }

// Reason is why an item or the queue is in its state. The value is stable and has a text
// (delivery.reason.<value>).
type Reason string

// The reasons.
const (
	NoReason           Reason = ""
	RefusedByHub       Reason = "refused_by_hub" // Refused: by the status
	GaveUp             Reason = "gave_up"        // Refused or Uncertain: unsuccessful for too long
	CopyMissing        Reason = "copy_missing"   // Refused: our copy is gone
	CopyDamaged        Reason = "copy_damaged"   // Refused: our copy differs from the original
	CopyUnreadable     Reason = "copy_unread"    // our copy is currently unreadable
	NoAnswer           Reason = "no_answer"      // all was sent, but no complete answer came
	ErrorNamed         Reason = "error_named"    // success, but the answer names an error
	NotAnAnswer        Reason = "not_an_answer"  // success, but with a web page, or nothing when something is due
	Unclear            Reason = "unclear"        // success, but with refusals that match no item
	Conflict           Reason = "conflict"       // 409 or 412: the hub may already have it
	Interrupted        Reason = "interrupted"    // the program ended while it was sending
	Recovered          Reason = "recovered"      // the database was damaged; the copy was found in the spool
	ResolvedByPerson   Reason = "by_person"      // Delivered: resolved by a person
	Unreachable        Reason = "unreachable"    // the hub was not reached, or does not have all of it
	RetryLater         Reason = "busy"           // a status that asks to retry later
	OddStatus          Reason = "odd_status"     // any other status
	SentAlone          Reason = "separately"     // its request was refused; it is sent alone
	CredentialsRefused Reason = "credentials"    // of the queue: 401, or no token for these credentials
	Forbidden          Reason = "forbidden"      // of the queue: 403, or no token with these scopes
	ProxyLogin         Reason = "proxy_login"    // of the queue: 407
	Redirected         Reason = "redirect"       // of the queue: 3xx
	Certificate        Reason = "certificate"    // of the queue: the hub's certificate, or our clock
	NotSetUp           Reason = "not_set_up"     // of the queue: settings or secret are missing
)

// Item is a file in the outbox. Unset times are zero.
type Item struct {
	ID           string // UUIDv7
	Name         string // file name without folder
	Path         string // original path
	SHA256       string // in hexadecimal
	Size         int64
	Intermediary string // "" of what was recovered, whose Path is "" too
	State        State
	Reason       Reason
	Status       int // HTTP status of the last answer; 0 if there was none
	Added        time.Time
	FirstTry     time.Time // since the last hold
	LastTry      time.Time
	NextTry      time.Time // of Waiting; zero: at once, whatever the clock says
	Decided      time.Time // of Delivered, Refused and Uncertain
	Deadline     time.Time // it is given up then; zero: after three days and twelve tries
	Tries        int       // requests, including those that never reached the hub
	Attempts     int       // requests that may have reached it
	Note         string    // of the person who resolved it
	HasCopy      bool      // our copy exists
	FullyRead    bool      // of Sending: the client was given all of it, so the hub may have it

	unknownAttempts int    // attempts with unknown outcome; all that ended with 5xx count once
	oddAttempts     int    // attempts with an odd status
	crc             uint32 // CRC-32C of our copy, cheap to verify
	sendAlone       bool   // never sent together with others
	packedFindings  string // by Options.Check, packed
}
