// Package message handles messages to the message box: a ZIP file with an XML document
// of type Contractdocument and its attachments. It inspects such a ZIP before it is sent,
// without unpacking it to disk, and builds one from a document and its attachments.
//
// How the document relates to the files in the ZIP, what its elements mean, which of them
// are required and what limits the hub has is not documented; the standard's example shows
// the names of groups and elements, their order, and the form of a few values. Anything
// that departs from it may still be sent.
//
// All readers accept hostile input: memory and time are bounded by Limits, whatever a file
// claims. They hold no state between calls, start no goroutines and are safe for concurrent
// use. Findings have a Code; their texts are elsewhere.
package message

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Limits bounds the size and structure of a message.
type Limits struct {
	Entries   int   // files and folders in the ZIP
	Directory int64 // bytes of its directory
	Unpacked  int64 // total bytes of all files
	Ratio     int64 // unpacked to packed size, for each file and in total
	XML       int64 // bytes of a document, as UTF-8
	Token     int64 // bytes of one tag, text or comment
	Tokens    int   // tags, texts and comments in a document
	Depth     int   // nesting of elements
}

// Defaults suit every sensible message.
var Defaults = Limits{
	Entries: 10_000, Directory: 2 << 20, Unpacked: 2 << 30, Ratio: 200,
	XML: 4 << 20, Token: 256 << 10, Tokens: 100_000, Depth: 32,
}

// freeRatio is the unpacked size up to which any ratio is allowed: a small file of one
// repeated letter is harmless.
const freeRatio = 32 << 20

// Severity is how serious a finding is.
type Severity int

// The severities.
const (
	Note    Severity = iota + 1 // worth knowing
	Warning                     // sent anyway, except in strict mode
	Refused                     // never sent
)

var severityNames = [...]string{"unknown", "note", "warning", "refused"}

// String returns "note", "warning" or "refused".
func (s Severity) String() string {
	if s < Note || s > Refused {
		s = 0
	}
	return severityNames[s]
}

// MarshalText returns String's result.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses String's result.
func (s *Severity) UnmarshalText(b []byte) error {
	if *s = Severity(slices.Index(severityNames[:], string(b))); *s < Note {
		return errors.New("message: no such severity")
	}
	return nil
}

// Finding is one observation. It contains no value of the document and no file
// name, so it may be logged.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Entry    int      `json:"entry"`             // index in the directory; -1: the ZIP as a whole
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

const maxFindings = 200

// Report holds what was found in a ZIP: the first 200 findings, always
// including one of the worst.
type Report struct {
	Findings []Finding // in the order found
}

// Obstacle returns the first finding that prevents sending, nil if there is none. In strict
// mode a warning suffices.
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

// Sendable reports whether nothing prevents sending.
func (r *Report) Sendable(strict bool) bool { return r.Obstacle(strict) == nil }

func (r *Report) add(f Finding) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
		return
	}
	// The reason for not sending a message is never dropped.
	if last := &r.Findings[maxFindings-1]; last.Severity < f.Severity {
		*last = f
	}
}

// addZIP adds a finding about an entry, or about the whole ZIP with -1.
func (r *Report) addZIP(c Code, entry int) {
	r.add(Finding{Code: c, Severity: c.Severity(), Entry: entry})
}

// Source is a file for a ZIP. Open is called twice for an attachment: the
// first time to determine its size and checksum, which precede the contents.
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
	Size int64 // a different one is an error
}
