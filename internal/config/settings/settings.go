// Package settings reads, checks and writes the settings. One table (keys.go) holds every
// key with its type, default and limits; reading, writing, checking and listing all use
// it. Errors in a file are reported by key and line, and the default applies: a settings
// file never prevents a start, and is never lost. Values are read once into an immutable
// Settings. The package starts no goroutines.
//
// The secret is never part of the settings.
package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/hub"
)

// Settings are the effective values, read-only once loaded.
type Settings struct {
	Hub        Hub
	Support    Support
	Phone      Phone
	Lines      []Line
	Listener   Listener
	Softphones []Softphone
	Relay      Relay
	Card       Card
	Calls      Calls
	History    History
	Lookup     Lookup
	Scheme     Scheme
	Delivery   Delivery
	UI         UI
	Log        Log
	Audit      string // "off", "eventlog"

	origins
	problems []Problem
}

// origins says where the values come from.
type origins struct {
	sources map[string]Source
	places  map[string]string // for keys set by a policy
	unsure  map[string]bool   // keys of which something could not be read
	user    map[string]any    // what the user's file says; nil if that was never readable
}

// Hub is how to reach the hub. Addresses have no trailing slash.
type Hub struct {
	BaseURL           string // the hub's https address
	HubURL            string // the hub's pages, the target of deep links
	ClientID          string
	OrganisationCode  string
	ContactScopes     string // may hold hub.CodePlaceholder
	DeliveryScopes    string
	BasicAuthEncoding string // "plain", "rfc6749"
	ScopeParameter    string // "scopes", "scope"
	RelationField     string // JSON name, "" for any that ends in relatienummer
	Intermediary      string // "" hides delivery
	SecretStore       string // "os", "file", "machine"
	SecretExpires     time.Time
	Proxy             string // "system", "none", or a URL
	ExtraCAFile       string
	LookupTimeout     time.Duration
	OpenAtStart       bool
}

// Missing returns the keys required for lookups that are not set, in the order of the
// table; none if the hub is set up (apart from its secret).
func (h Hub) Missing() (keys []string) {
	if h.BaseURL == "" {
		keys = append(keys, "hub.base_url")
	}
	if h.ClientID == "" {
		keys = append(keys, "hub.client_id")
	}
	if h.OrganisationCode == "" && strings.Contains(h.ContactScopes, hub.CodePlaceholder) {
		keys = append(keys, "hub.organisation_code")
	}
	return keys
}

// Relay is the office's relay that this computer joins, which creates a link to it.
type Relay struct {
	URL         string // an https address without a slash at the end, "" for no relay
	Fingerprint string // of the authority of its certificate, "" for one that everybody knows
}

// Support is the support contact.
type Support struct{ Contact string }

// Phone holds the rules for numbers.
type Phone struct {
	Region           string
	InternalDigits   int
	InternalPrefixes []string
	NeverLookup      []string
	CallBack         string // "tel", "sip", "off", or a command with one {number}
}

// Line is one of our own numbers.
type Line struct {
	Number string `toml:"number"`
	Name   string `toml:"name"`
}

// Listener is the source of calls on loopback.
type Listener struct {
	Enabled        bool
	Port           int
	AllowedOrigins []string
	HTTP           bool
}

// Softphone is a link to a softphone's own interface. Name is unique; its secret
// is kept under it.
type Softphone struct {
	Kind      string `toml:"kind"`
	Name      string `toml:"name"`
	Address   string `toml:"address"`
	Extension string `toml:"extension"`
	User      string `toml:"user"`
}

// Card is the look and lifetime of the card.
type Card struct {
	Corner          string // "bottom-right", …
	Monitor         string // "active", "primary", or a monitor's name
	Hotkey          string // "off" for none, as of the others
	HotkeyOpen      string
	HotkeyHear      string
	HotkeyClose     string
	FullFor         time.Duration
	AfterCall       time.Duration
	Fields          []string // of CardFields, in display order
	Privacy         string   // "full", "initials", "number"
	HideFromCapture bool
	Quiet           string // "show", "number", "hide"
	AutoOpen        string // "never", "answered"
	Outgoing        string // "strip", "card", "off"
	OverFullscreen  bool
	Speech          string // "full", "short"
	Sound           string // "off", "on"
}

// Calls says how the calls window lists calls.
type Calls struct{ Group bool }

// History is what is stored about calls.
type History struct {
	Keep    string // "off", "numbers", "full"
	Days    int
	Choices bool
}

// Lookup is what may be looked up manually.
type Lookup struct{ Manual bool }

// Scheme says what a wiebelt: link may do.
type Scheme struct{ Lookup string } // "ask", "always", "off"

// Delivery says how files are delivered.
type Delivery struct {
	KeepSent        int // days
	KeepRefused     int // days
	ItemsPerRequest int
	Settle          time.Duration // how long a file in a watched folder must be unchanged
	Uncertain       string        // "hold", "retry"
	Duplicate       string        // "skip", "send", "refuse"
}

// UI is language and looks.
type UI struct {
	Language string // "system", "nl", "en"
	Theme    string // "system", "light", "dark"
	FileWord string
}

// Log is the log level.
type Log struct{ Level string } // "debug", "info", "warn", "error"

// Source is where a value comes from.
type Source uint8

// The sources, weakest first: a later one overrides, key by key.
const (
	Default Source = iota
	User
	Policy
)

// String returns the source's name in "wiebelt settings".
func (s Source) String() string { return [...]string{"default", "user", "policy"}[s] }

// Get returns the value of a key of the table, in its field's type; for "line" and
// "softphone" []Line and []Softphone. nil for any other key.
func (s *Settings) Get(key string) any {
	if e := find(key); e != nil {
		return e.get(s)
	}
	return nil
}

// Source returns where the value of a key comes from.
func (s *Settings) Source(key string) Source { return s.sources[key] }

// Unsure reports whether a value only holds because what the user or the policy says of it
// cannot be read. Nothing that is stored may be deleted on its account.
func (s *Settings) Unsure(key string) bool { return s.unsure[key] }

// Unreadable reports whether a file as a whole could not be read, which may soon pass.
func (s *Settings) Unreadable() bool {
	return slices.ContainsFunc(s.problems, func(p Problem) bool { return p.Kind == Unreadable })
}

// Problems returns the problems found when the settings were loaded.
func (s *Settings) Problems() []Problem { return append([]Problem(nil), s.problems...) }

// ProblemKind is a kind of problem.
type ProblemKind string

// The kinds of problems. The values are stable.
const (
	Unreadable ProblemKind = "unreadable"  // the file as a whole: rights, a link to nowhere, too big, no UTF-8
	BadSyntax  ProblemKind = "bad_syntax"  // a line that is not TOML
	UnknownKey ProblemKind = "unknown_key" // no such key
	WrongType  ProblemKind = "wrong_type"  // a number where a text belongs
	NotAllowed ProblemKind = "not_allowed" // the right type, out of bounds
	Untrusted  ProblemKind = "untrusted"   // a policy that somebody else could have written; ignored
)

// Problem is one problem with the settings, and the error if it prevented something. It
// never contains the value: people put secrets and addresses into the wrong line.
type Problem struct {
	Kind             ProblemKind
	Source           Source
	Managed          bool   // in what device management has written, not in a file
	Key              string // "" if it is the file as a whole
	Line             int    // from 1; 0 if unknown
	Expected         string // what is expected, in English
	StrictestApplies bool   // the strictest value applies to its privacy keys
}

// Error returns the problem as one line, for the terminal.
func (p Problem) Error() string {
	s := cmp.Or(p.Key, map[Source]string{Policy: PolicyFile}[p.Source], FileName)
	if p.Line > 0 {
		s += fmt.Sprintf(" (line %d)", p.Line)
	}
	s += map[ProblemKind]string{UnknownKey: ": unknown key", BadSyntax: ": not TOML", Unreadable: ": cannot be used", Untrusted: ": is ignored"}[p.Kind]
	switch {
	case p.Kind == WrongType || p.Kind == NotAllowed:
		s += ": must be " + p.Expected
	case p.Expected != "":
		s += ": " + p.Expected
	}
	if p.StrictestApplies {
		s += "; until then the strictest value holds"
	}
	return s
}

// Value is one line of "wiebelt settings".
type Value struct {
	Key     string
	Value   string // "" if nothing is set and there is no default
	Source  Source
	Problem string // "" if there is none
}

// Values returns every key with its effective value, in the order of the table, followed
// by lines and links one by one. A problem without such a key is listed under the key in
// the file, without a value.
func (s *Settings) Values() []Value {
	byKey := map[string]string{}
	for _, p := range s.problems {
		if byKey[p.Key] == "" {
			byKey[p.Key] = p.Error()
		}
	}
	var all []Value
	add := func(key, source, value string) {
		all = append(all, Value{key, value, s.sources[source], byKey[key]})
		delete(byKey, key)
	}
	for _, e := range table {
		add(e.Key, e.Key, e.format(e.get(s)))
	}
	for _, e := range lists {
		for i, row := range e.rows(e.get(s)) {
			for n, f := range e.fields {
				if row[n] != "" || e.Key == "line" { // a number without a name is listed too
					add(fmt.Sprintf("%s[%d].%s", e.Key, i+1, f.Name()), e.Key, row[n])
				}
			}
		}
	}
	for _, p := range s.problems {
		if text, left := byKey[p.Key]; left {
			all = append(all, Value{Key: p.Key, Source: p.Source, Problem: text})
			delete(byKey, p.Key)
		}
	}
	return all
}
