package outbox

import "time"

// State is where an item stands.
type State string

// The states.
const (
	Waiting   State = "waiting"   // to be sent at NextTry
	Sending   State = "sending"   // a request with it has begun
	Delivered State = "delivered" // the hub has it
	Refused   State = "refused"   // it will not be sent any more, and is kept for a person to look at
	Uncertain State = "uncertain" // maybe delivered; a person resolves it
)

// Over reports whether nothing happens to the item by itself any more.
func (s State) Over() bool { return s == Delivered || s == Refused || s == Uncertain }

// Reason says why an item or the queue stands where it stands. The value is
// stable and has a text (delivery.reason.<value>).
type Reason string

// The reasons.
const (
	NoReason       Reason = ""
	ByHub          Reason = "refused_by_hub" // Refused: a status that says so
	GaveUp         Reason = "gave_up"        // Refused: too long without success
	CopyMissing    Reason = "copy_missing"   // Refused: our copy is gone
	CopyDamaged    Reason = "copy_damaged"   // Refused: our copy is not what was taken
	CopyUnread     Reason = "copy_unread"    // our copy cannot be read now
	NoAnswer       Reason = "no_answer"      // all of it was sent, and no whole answer came
	NotAnAnswer    Reason = "not_an_answer"  // success, with a web page or nothing
	Unclear        Reason = "unclear"        // success, and refusals that fit no item
	Conflict       Reason = "conflict"       // 409 or 412: maybe the hub has it already
	Interrupted    Reason = "interrupted"    // the program ended while it was sending
	Recovered      Reason = "recovered"      // the database was damaged; the copy was found in the spool
	ByPerson       Reason = "by_person"      // Delivered: somebody resolved it
	Unreachable    Reason = "unreachable"    // the hub was not reached, or has not the whole
	Busy           Reason = "busy"           // a status that says: later
	Odd            Reason = "odd_status"     // a status that says nothing about later
	Separately     Reason = "separately"     // its request was refused; it is sent alone
	CredentialsOff Reason = "credentials"    // of the queue: 401, or no token for these credentials
	Forbidden      Reason = "forbidden"      // of the queue: 403, or no token with these scopes
	ProxyLogin     Reason = "proxy_login"    // of the queue: 407
	Redirected     Reason = "redirect"       // of the queue: 3xx
	Certificate    Reason = "certificate"    // of the queue: the hub's certificate, or our clock
	NotSetUp       Reason = "not_set_up"     // of the queue: settings or secret are missing
)

// Item is a file in the outbox. Times that never came are zero.
type Item struct {
	ID           string // UUIDv7
	Name         string // of the file, without its folder
	Path         string // where it was taken from
	SHA256       string // in hexadecimal
	Size         int64
	Intermediary string // "" of what was recovered, whose Path is "" too
	State        State
	Reason       Reason
	Status       int // of HTTP, of the last answer; 0 if there was none
	Added        time.Time
	FirstTry     time.Time // since the last hold
	LastTry      time.Time
	NextTry      time.Time // of Waiting; zero: at once, whatever the clock says
	Decided      time.Time // of Delivered, Refused and Uncertain
	Deadline     time.Time // it is given up then; zero: after three days of trying
	Tries        int       // requests, also those that never reached the hub
	Attempts     int       // requests that may have reached it
	Note         string    // of the person who resolved it
	Kept         bool      // our copy is there
	Whole        bool      // of Sending: all of it was handed over, so that the hub may have it

	unknowns int    // attempts of which nobody knows whether they delivered
	odds     int    // attempts with an odd status
	crc      uint32 // CRC-32C of our copy, which costs next to nothing to compare again
	alone    bool   // it is not put into a request with others
	found    string // by Options.Check, packed
}
