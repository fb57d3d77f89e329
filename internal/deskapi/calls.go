package deskapi

// What the resident is asked of callers. Only it has the hub's client, remembers
// whom the user chose, and knows the calls of its menu.
const (
	KindLookup = "lookup" // Lookup, from a window; Found answers
	KindFound  = "found"  // Found
	KindChoice = "choice" // Choice, from a window
	KindForget = "forget" // Forget, from a command or a window; Forgotten answers by the same kind
)

// Lookup asks who has a number.
type Lookup struct {
	Seq   int    `json:"seq"`             // comes back with the answer
	Entry int64  `json:"entry,omitempty"` // the kept call of which Text is the number, comes back too; 0 for a number that somebody typed
	Text  string `json:"text"`
}

// String gives nothing away.
func (Lookup) String() string { return "lookup" }

// GoString is String, so that %#v tells no more.
func (l Lookup) GoString() string { return l.String() }

// What a lookup by hand can give, beside the outcomes of package history.
const (
	LookupOff      = "off"      // setting lookup.manual
	LookupNever    = "never"    // phone.never_lookup
	LookupNoNumber = "nonumber" // a text, no number
	LookupNumbers  = "numbers"  // several numbers: somebody has to choose
)

// Found answers a Lookup.
type Found struct {
	Seq      int       `json:"seq"`
	Entry    int64     `json:"entry,omitempty"`
	Outcome  string    `json:"outcome"`
	Numbers  []string  `json:"numbers,omitempty"` // with the outcome LookupNumbers, as they are shown
	Number   string    `json:"number"`            // as the history has it
	Shown    string    `json:"shown"`
	Copy     string    `json:"copy"` // digits only
	LineName string    `json:"line_name,omitempty"`
	Possible bool      `json:"possible"` // foreign: the match is only possible
	Failure  string    `json:"failure"`  // code of package contact, with the outcome failed
	Support  string    `json:"support"`  // who to tell
	Contacts []Contact `json:"contacts,omitempty"`
	More     int       `json:"more,omitempty"` // contacts beyond those listed
}

// String gives nothing away.
func (Found) String() string { return "found" }

// GoString is String, so that %#v tells no more.
func (f Found) GoString() string { return f.String() }

// Contact is one contact with the number.
type Contact struct {
	ID       string `json:"id"`
	Earlier  bool   `json:"earlier"` // the one whose file the user opened before
	Name     string `json:"name"`
	Relation string `json:"relation"` // digits
	Address  string `json:"address"`
	Producer string `json:"producer"`
	Modified string `json:"modified"`       // by whom
	Link     string `json:"link,omitempty"` // "" if its file cannot be opened
}

// String gives nothing away.
func (Contact) String() string { return "contact" }

// GoString is String, so that %#v tells no more.
func (c Contact) GoString() string { return c.String() }

// What can be said of a contact as the caller behind a number.
const (
	ChoiceMade = "made" // the user chose him among several
	ChoiceNot  = "not"  // he is not the caller
	ChoiceBack = "back" // that was taken back: he is, unless another one was chosen since
)

// Choice is what the user said of who calls with a number.
type Choice struct {
	Number  string `json:"number"` // as the history has it
	Contact string `json:"contact"`
	What    string `json:"what"`
}

// String gives nothing away.
func (Choice) String() string { return "choice" }

// GoString is String, so that %#v tells no more.
func (c Choice) GoString() string { return c.String() }

// Forget says what to delete of what is stored about callers. Exactly one of the
// three is set.
type Forget struct {
	All    bool   `json:"all,omitempty"`
	Number string `json:"number,omitempty"` // in any notation
	Days   *int   `json:"days,omitempty"`   // what is older
}

// Forgotten tells how that went.
type Forgotten struct {
	Error string `json:"error,omitempty"` // something may be left
}
