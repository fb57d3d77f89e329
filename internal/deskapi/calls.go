package deskapi

// Kinds of messages of the calls window, to the resident.
const (
	KindCallsAsk     = "calls.ask"     // no content: tell CallsState
	KindCallsOpen    = "calls.open"    // CallsEntry: open the file
	KindCallsCall    = "calls.call"    // CallsEntry: call back
	KindCallsCopy    = "calls.copy"    // CallsCopy: put a number on the clipboard
	KindCallsLookup  = "calls.lookup"  // CallsEntry: look up again; CallsLooked answers
	KindCallsPerson  = "calls.person"  // CallsPerson: open the file of one of several contacts
	KindCallsNotThis = "calls.notthis" // CallsEntry: take the person off
	KindCallsThis    = "calls.this"    // CallsEntries: take that back
	KindCallsTick    = "calls.tick"    // CallsEntries: tick missed calls off
	KindCallsReopen  = "calls.reopen"  // CallsEntries: take that back
	KindCallsRemove  = "calls.remove"  // CallsEntries: remove them
	KindCallsUndo    = "calls.undo"    // CallsEntries: put them back
	KindCallsDismiss = "calls.dismiss" // no content: the notice was read
	KindCallsWipe    = "calls.wipe"    // no content: delete all that is stored about callers
	KindCallsQuit    = "calls.quit"    // no content: quit Wiebelt
)

// Kinds of messages to the calls window.
const (
	KindCallsState  = "calls.state"  // CallsState, when asked
	KindCallsLooked = "calls.looked" // CallsLooked
	KindCallsFailed = "calls.failed" // CallsFailed: something that was asked for did not work
)

// CallsEntry names a call of the history.
type CallsEntry struct {
	Entry int64 `json:"entry"`
}

// CallsEntries names calls of the history. Those that were removed, or a person that
// was taken off, can come back for a while.
type CallsEntries struct {
	Entries []int64 `json:"entries"`
}

// CallsPerson asks for the file of one of the contacts that CallsLooked had. The
// link is checked anew.
type CallsPerson struct {
	Entry   int64         `json:"entry"`
	Contact LookupContact `json:"contact"`
}

// String gives nothing away.
func (CallsPerson) String() string { return "person" }

// GoString is String, so that %#v tells no more.
func (p CallsPerson) GoString() string { return p.String() }

// CallsCopy asks for a number of a call on the clipboard, as digits.
type CallsCopy struct {
	Entry    int64 `json:"entry"`
	Relation bool  `json:"relation"` // the relation number instead of the telephone number
}

// CallsState is what the calls window has to know beside the calls.
type CallsState struct {
	Group    bool   `json:"group"`     // setting calls.group
	CallBack bool   `json:"call_back"` // there is something to call back with
	Manual   bool   `json:"manual"`    // setting lookup.manual
	Delivery bool   `json:"delivery"`  // messages can be delivered
	Fault    string `json:"fault"`     // why calls are not kept now, as a sentence; "" if they are
	Notice   string `json:"notice"`    // what has happened to the history, as a sentence
}

// CallsLooked tells what looking up again has given. What can be kept stands in
// the history by now.
type CallsLooked struct {
	Entry    int64           `json:"entry"`
	Contacts []LookupContact `json:"contacts,omitempty"` // somebody has to choose
	More     int             `json:"more,omitempty"`     // contacts beyond those listed
	Sentence string          `json:"sentence"`           // what there is to say, "" if the row says it all
}

// String gives nothing away.
func (CallsLooked) String() string { return "looked" }

// GoString is String, so that %#v tells no more.
func (m CallsLooked) GoString() string { return m.String() }

// CallsFailed says in a sentence what did not work.
type CallsFailed struct {
	Entry    int64  `json:"entry"`
	Sentence string `json:"sentence"`
}

// Kinds of messages of the window that looks a number up.
const (
	KindLookupFind  = "lookup.find"  // LookupFind, to the resident
	KindLookupOpen  = "lookup.open"  // LookupOpen, to the resident
	KindLookupFound = "lookup.found" // LookupFound, from the resident
	KindLookupSaid  = "lookup.said"  // LookupSaid, from the resident
)

// LookupFind asks for a lookup of a number as somebody typed it.
type LookupFind struct {
	Seq  int    `json:"seq"` // comes back with the answer
	Text string `json:"text"`
}

// What a lookup by hand can give, beside the outcomes of package history.
const (
	LookupOff      = "off"      // setting lookup.manual
	LookupNever    = "never"    // phone.never_lookup
	LookupNoNumber = "nonumber" // a text, no number
	LookupNumbers  = "numbers"  // several numbers: somebody has to choose
)

// LookupFound answers a LookupFind.
type LookupFound struct {
	Seq      int             `json:"seq"`
	Outcome  string          `json:"outcome"`
	Numbers  []string        `json:"numbers,omitempty"` // with the outcome LookupNumbers, as they are shown
	Number   string          `json:"number"`            // as the history has it
	Shown    string          `json:"shown"`
	Copy     string          `json:"copy"` // digits only
	LineName string          `json:"line_name,omitempty"`
	Possible bool            `json:"possible"` // foreign: the match is only possible
	Failure  string          `json:"failure"`  // code of package contact, with the outcome failed
	Support  string          `json:"support"`  // who to tell
	Contacts []LookupContact `json:"contacts,omitempty"`
	More     int             `json:"more,omitempty"` // contacts beyond those listed
}

// String gives nothing away.
func (LookupFound) String() string { return "lookup" }

// GoString is String, so that %#v tells no more.
func (f LookupFound) GoString() string { return f.String() }

// LookupContact is one contact with the number.
type LookupContact struct {
	ID       string `json:"id"`
	Earlier  bool   `json:"earlier"` // the one whose file the user opened before
	Name     string `json:"name"`
	Relation string `json:"relation"` // digits
	Address  string `json:"address"`
	Producer string `json:"producer"`
	Modified string `json:"modified"`       // by whom
	Link     string `json:"link,omitempty"` // "" if its file cannot be opened
}

// LookupOpen asks for the file of a contact. The link is checked anew.
type LookupOpen struct {
	Link   string `json:"link"`
	Number string `json:"number"` // LookupFound.Number: its missed calls are dealt with
}

// LookupSaid is a sentence about what was asked for last.
type LookupSaid struct {
	Sentence string `json:"sentence"`
}

// KindForget asks the resident to delete what is stored about callers. Forget
// goes with it, Forgotten answers.
const KindForget = "forget"

// Forget says what to delete. Exactly one of the three is set.
type Forget struct {
	All    bool   `json:"all,omitempty"`
	Number string `json:"number,omitempty"` // in any notation
	Days   *int   `json:"days,omitempty"`   // what is older
}

// Forgotten tells what was deleted.
type Forgotten struct {
	Calls   int    `json:"calls"`
	Choices int    `json:"choices"`
	Error   string `json:"error,omitempty"` // something may be left
}
