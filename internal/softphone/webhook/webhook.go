// Package webhook parses what exchanges send to an address of the relay whenever a
// call changes. Each kind of message has a reader; for any other, a Mapping defines
// where it contains what.
//
// Ambiguities in the formats are read leniently: a value may be text or a number, case does
// not matter, and an unknown state means that the call continues.
//
// Readers have no state and are safe for concurrent use.
package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// MaxBody is the maximum length of a message body, in bytes.
const MaxBody = 64 << 10

// maxPlaces limits how many places one message can name for a call.
const maxPlaces = 512

// Message is what was sent: the values in the address, and a JSON, form or XML body.
type Message struct {
	Query url.Values
	Type  string // of the body, according to its sender
	Body  []byte
}

// Report is a message's report of one call at the place it names. An end without a
// place is the end for all.
type Report struct {
	call.Event // Source, Extension and At are not set
	Place
	// MaybeForAll is an end that may be meant for all or for its place only: it is for all
	// unless somebody else is on the line.
	MaybeForAll bool
	// Sent is the sender's time; zero if it sent none.
	Sent time.Time
}

// Place is where a call is, in every form in which the exchange names it.
type Place struct {
	Extensions, Emails []string
	Called             string // the number that was called
}

// Empty reports whether no place is named at all.
func (p Place) Empty() bool { return len(p.Extensions)+len(p.Emails) == 0 && p.Called == "" }

// Reader reads a message. No reports and no error means that the message is not about a
// call at anybody's phone. The error is ErrMessage or ErrEnded.
type Reader func(Message) ([]Report, error)

// ErrMessage reports a message of another kind, or about no call.
var ErrMessage = errors.New("not a message about a call")

// ErrEnded reports that the exchange will send no more messages.
var ErrEnded = errors.New("the exchange has stopped telling of calls")

// readers are the readers of kinds that need no mapping.
var readers = map[string]Reader{registry.VoIPGRID: readVoIPGRID, registry.Yeastar: readYeastar, registry.VOIPZeker: voipzeker.Reader(),
	registry.BroadWorks: readBroadWorks}

// Of returns the reader of a kind.
func Of(kind string) (Reader, bool) {
	r, ok := readers[kind]
	return r, ok
}

// statuses holds the status that a kind expects, if it is not the usual one.
var statuses = map[string]int{registry.BroadWorks: http.StatusOK}

// Status returns the status that answers an accepted message of a kind.
func Status(kind string) int { return cmp.Or(statuses[kind], http.StatusNoContent) }

// cleanReports makes reports fit for use: cleaned, with an ID for each call.
func cleanReports(all ...Report) ([]Report, error) {
	for i, r := range all {
		if r.ID == "" {
			return nil, ErrMessage
		}
		r.ID = link.CallID(r.ID)
		all[i].Event = r.Clean()
	}
	return all[:min(len(all), maxPlaces)], nil
}

// Document is a message's content as a tree of encoding/json values.
type Document struct{ any }

// UnmarshalJSON parses a document, for links whose exchange sends such messages too.
func (d *Document) UnmarshalJSON(b []byte) (err error) {
	d.any, err = parse(b)
	return err
}

// Exists reports whether there is a value.
func (d Document) Exists() bool { return d.any != nil }

// document returns the body, merged with the values of the address if it
// is an object or empty.
func (m Message) document() (Document, error) {
	if len(m.Body) > MaxBody {
		return Document{}, ErrMessage
	}
	fields := map[string]any{}
	for name, all := range m.Query {
		fields[name] = all[0]
	}
	kind, _, _ := mime.ParseMediaType(m.Type)
	switch body := bytes.TrimSpace(m.Body); {
	case len(body) == 0:
	case kind == "application/x-www-form-urlencoded" && body[0] != '{' && body[0] != '[':
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return Document{}, ErrMessage
		}
		for name, all := range form {
			fields[name] = all[0]
		}
	default:
		tree, _ := parse(body) // an unreadable body counts as empty
		object, ok := tree.(map[string]any)
		if !ok {
			return Document{tree}, nil
		}
		maps.Copy(fields, object)
	}
	return Document{fields}, nil
}

func parse(b []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&tree) != nil || d.More() {
		return nil, ErrMessage
	}
	return tree, nil
}

// At follows a path of names and, in lists, indexes: "destination.targets.0.name". The path
// "" is the document itself.
func (d Document) At(path string) Document {
	if path == "" {
		return d
	}
	for name := range strings.SplitSeq(path, ".") {
		switch tree := d.any.(type) {
		case map[string]any:
			d.any = field(tree, name)
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(tree) {
				d.any = tree[i]
				continue
			}
			return Document{}
		default:
			return Document{}
		}
	}
	return d
}

// field returns the field with the given name, or else one whose
// name differs only in case; of several, the alphabetically first.
func field(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	var first string
	var found any
	for other, v := range object {
		if strings.EqualFold(other, name) && (found == nil || other < first) {
			first, found = other, v
		}
	}
	return found
}

// text returns the text or number at a path, "" if there is neither.
func (d Document) text(path string) string {
	switch v := d.At(path).any.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// texts returns the texts at the paths, including those in lists.
func (d Document) texts(paths ...string) (all []string) {
	for _, path := range paths {
		list := d.At(path).All()
		for i := range list {
			if s := list[i].text(""); s != "" && len(all) < maxPlaces {
				all = append(all, s)
			}
		}
	}
	return all
}

// All returns the items of a list, or a single value as its only item.
func (d Document) All() (all []Document) {
	tree, ok := d.any.([]any)
	if !ok && d.any != nil {
		tree = []any{d.any}
	}
	for _, v := range tree {
		all = append(all, Document{v})
	}
	return all
}

// First returns the first non-empty text.
func (d Document) First(paths ...string) string {
	for _, path := range paths {
		if s := d.text(path); s != "" {
			return s
		}
	}
	return ""
}

// timeAt returns the time at a path: seconds since 1970, or ISO 8601.
func (d Document) timeAt(paths ...string) time.Time {
	s := d.First(paths...)
	if n, _ := strconv.ParseInt(s, 10, 64); n > 0 && n < 1<<40 {
		return time.Unix(n, 0)
	}
	at, _ := time.Parse(time.RFC3339Nano, s)
	return at
}
