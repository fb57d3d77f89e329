// Package message knows the messages that go to the message box: a ZIP file with
// an XML document of the type Contractdocument and its attachments. It inspects
// such a ZIP before it is sent, without unpacking it, and builds one of a
// document and its attachments.
//
// How the document relates to the files in the ZIP, what its elements mean, which
// of them are required and what limits the hub has is not documented; the example
// that the standard gives shows the names of groups and elements, their order,
// and the shape of a few values. What departs from it may be sent all the same.
//
// All readers take hostile input: their memory and time are bounded by Limits,
// whatever a file says of itself. They hold no state between calls, start no
// goroutines and are safe for concurrent use. What they find has a Code; the
// words for it stand elsewhere.
package message

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Limits bound what a message may be.
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

// Severity is how bad a finding is.
type Severity int

// The severities.
const (
	Note    Severity = iota + 1 // worth knowing
	Warning                     // sent all the same, except in strict mode
	Refused                     // never sent
)

var severityNames = [...]string{"unknown", "note", "warning", "refused"}

// String gives "note", "warning" or "refused".
func (s Severity) String() string {
	if s < Note || s > Refused {
		s = 0
	}
	return severityNames[s]
}

// MarshalText writes what String gives.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String gives.
func (s *Severity) UnmarshalText(b []byte) error {
	if *s = Severity(slices.Index(severityNames[:], string(b))); *s < Note {
		return errors.New("message: no such severity")
	}
	return nil
}

// Finding is one thing that was noticed. It holds no value of the
// document and no name of a file, so that it may be logged.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Entry    int      `json:"entry"`             // place in the list of files, from 0; -1: the ZIP as a whole
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

// maxFindings is how many findings a report keeps.
const maxFindings = 200

// Report is what was found in a ZIP: the first 200 findings, the worst of all
// among them.
type Report struct {
	Findings []Finding // in the order in which they were found
}

// Obstacle is the first finding that keeps the message back, nil if nothing does. In
// strict mode a warning is enough.
func (r *Report) Obstacle(strict bool) *Finding {
	least := Refused
	if strict {
		least = Warning
	}
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Severity >= least })
	if i < 0 {
		return nil
	}
	return &r.Findings[i]
}

// Sendable reports whether nothing keeps the message back.
func (r *Report) Sendable(strict bool) bool { return r.Obstacle(strict) == nil }

func (r *Report) add(f Finding) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
		return
	}
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
