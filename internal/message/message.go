// Package message knows the messages that go to the message box: a ZIP file
// (hub-api.md 2.1) with an XML document of the shape Contractdocument (2.2).
// It inspects such a ZIP before it is sent, without unpacking it, reads and
// writes the document, and builds the ZIP from a document and its attachments.
//
// All readers take hostile input: their memory and time are bounded by Limits,
// whatever a file says of itself. They hold no state between calls, start no
// goroutines and are safe for concurrent use. What they find has a Code; the
// words for it stand elsewhere.
package message

import (
	"fmt"
	"io"
	"log/slog"
)

// Limits bound what a message may be. The hub documents none (hub-api.md 8.3);
// a field that is zero has the value of Defaults.
type Limits struct {
	Entries   int   // files and folders in the ZIP
	Directory int64 // bytes of its list of files
	Unpacked  int64 // bytes of all files
	Ratio     int64 // unpacked to packed, of each file and of all
	XML       int64 // bytes of a document, as UTF-8
	Token     int64 // bytes of one tag, text or comment
	Tokens    int   // tags, texts and comments in a document
	Depth     int   // elements in elements
}

// Defaults leave room for every sensible message.
var Defaults = Limits{
	Entries: 10_000, Directory: 2 << 20, Unpacked: 2 << 30, Ratio: 200,
	XML: 4 << 20, Token: 256 << 10, Tokens: 100_000, Depth: 32,
}

// freeRatio is how much may be unpacked at any ratio: a small file of the same
// letter over and over harms nobody.
const freeRatio = 32 << 20

func (l Limits) orDefaults() Limits {
	d := Defaults
	if l.Entries > 0 {
		d.Entries = l.Entries
	}
	if l.Tokens > 0 {
		d.Tokens = l.Tokens
	}
	if l.Depth > 0 {
		d.Depth = l.Depth
	}
	for _, p := range []struct{ to, from *int64 }{
		{&d.Directory, &l.Directory}, {&d.Unpacked, &l.Unpacked}, {&d.Ratio, &l.Ratio}, {&d.XML, &l.XML}, {&d.Token, &l.Token},
	} {
		if *p.from > 0 {
			*p.to = *p.from
		}
	}
	return d
}

// Options of Inspect. The zero value is what a sender wants.
type Options struct {
	Limits Limits
	Quick  bool // the attachments' bytes are not read, so damage in them stays unseen
}

// Kind is what a ZIP holds.
type Kind string

// The kinds.
const (
	Contract   Kind = "contract"   // a Contractdocument
	Other      Kind = "other"      // a document of another type, which nobody checked
	Unreadable Kind = "unreadable" // XML that could not be read
	None       Kind = "none"       // no XML
	NoZIP      Kind = "no_zip"     // no ZIP, or one that was refused before it was read
)

// Severity is how bad a finding is.
type Severity int

// The severities.
const (
	Note    Severity = iota + 1 // worth knowing
	Warning                     // sent all the same, except in strict mode
	Refused                     // never sent
)

// String gives "note", "warning" or "refused".
func (s Severity) String() string {
	switch s {
	case Note:
		return "note"
	case Warning:
		return "warning"
	case Refused:
		return "refused"
	}
	return "unknown"
}

// MarshalText writes what String gives.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String gives.
func (s *Severity) UnmarshalText(b []byte) error {
	for _, x := range []Severity{Note, Warning, Refused} {
		if x.String() == string(b) {
			*s = x
			return nil
		}
	}
	return fmt.Errorf("message: no such severity")
}

// Finding is one thing that Inspect or Read noticed. It holds no value of the
// document and no name of a file, so that it may be logged.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Entry    int      `json:"entry"`             // place in Report.Entries, from 0; -1: the ZIP, or a document without one
	Element  string   `json:"element,omitempty"` // "AL[1]/BY[2]/BY_VOLGNUM"; "?" is a name that is not of this family
	Line     int      `json:"line,omitempty"`    // of the document, from 1
}

// String is for logs: "warning bad_date, entry 0, PP[1]/VP[1]/VP_GEBDAT, line 12".
func (f Finding) String() string {
	s := f.Severity.String() + " " + string(f.Code)
	if f.Entry >= 0 {
		s += fmt.Sprintf(", entry %d", f.Entry)
	}
	if f.Element != "" {
		s += ", " + f.Element
	}
	if f.Line > 0 {
		s += fmt.Sprintf(", line %d", f.Line)
	}
	return s
}

// Entry is one file or folder of a ZIP.
type Entry struct {
	Name     string `json:"name"` // as UTF-8; may say something of a person
	Packed   int64  `json:"packed"`
	Unpacked int64  `json:"unpacked"`
	Folder   bool   `json:"folder,omitempty"`
}

// String leaves the name out.
func (e Entry) String() string { return fmt.Sprintf("%d bytes in %d", e.Unpacked, e.Packed) }

// maxFindings is how many findings a report keeps.
const maxFindings = 200

// Report is what Inspect found in a ZIP.
type Report struct {
	Kind          Kind              `json:"kind"`
	Entries       []Entry           `json:"entries"`
	Findings      []Finding         `json:"findings"`       // in the order in which they were found
	More          int               `json:"more,omitempty"` // findings beyond the first 200, not kept
	Document      *Contractdocument `json:"-"`              // the first one; nil for another kind
	DocumentEntry int               `json:"document_entry"` // its place in Entries, or -1

	worst Severity // of all findings, kept or not
}

// Sendable reports whether nothing was refused. In strict mode a warning is
// enough to keep a message back.
func (r *Report) Sendable(strict bool) bool {
	if r == nil {
		return false
	}
	worst := r.worst
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	return worst < Warning || worst == Warning && !strict
}

// String is for logs: kind, counts and the first finding of the worst kind. It
// holds nothing of the message itself.
func (r *Report) String() string {
	if r == nil {
		return "no report"
	}
	s := fmt.Sprintf("%s, %d entries, %d findings", r.Kind, len(r.Entries), len(r.Findings)+r.More)
	worst := Finding{}
	for _, f := range r.Findings {
		if f.Severity > worst.Severity {
			worst = f
		}
	}
	if worst.Severity > 0 {
		s += ": " + worst.String()
	}
	return s
}

// LogValue is what String gives.
func (r *Report) LogValue() slog.Value { return slog.StringValue(r.String()) }

func (r *Report) add(f Finding) {
	r.worst = max(r.worst, f.Severity)
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
		return
	}
	r.More++
	// The reason why a message is not sent is never among those left out.
	if last := &r.Findings[maxFindings-1]; last.Severity < f.Severity {
		*last = f
	}
}

// zip notes a finding about an entry, or about the whole ZIP with -1.
func (r *Report) zip(c Code, entry int) {
	r.add(Finding{Code: c, Severity: c.Severity(), Entry: entry})
}

// Source is a file that goes into a ZIP. Open is called twice for an attachment:
// the first time to learn size and checksum, which stand in front of the contents.
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
	Size int64 // 0 or less: not known; else another size is an error
}
