// Package webhook reads what exchanges send to an address of the relay whenever a call
// changes. Each kind of message has a reader; for any other one, a Mapping says where in
// it what is told.
//
// What formats leave open is read in every sensible way: a value may be text or a
// number, letters may be small or capital, and a state that nobody knows means that the
// call goes on.
//
// Readers have no state. They may be used by many goroutines.
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

// MaxBody is how long the body of a message may be, in bytes.
const MaxBody = 64 << 10

// maxPlaces bounds at how many places one message can say that a call is.
const maxPlaces = 512

// Message is what was sent: the values in the address, and a body that is JSON or a form.
type Message struct {
	Query url.Values
	Type  string // of the body, as its sender says
	Body  []byte
}

// Report is what a message says of one call, at the place that it names. The end of a
// call that names none is the end for all.
type Report struct {
	call.Event // without Source, Extension and At
	Place
	// MaybeForAll is an end that may be meant for all or for its place alone: it is for all,
	// unless somebody else speaks.
	MaybeForAll bool
	// Sent is when it was, as its sender says; zero where he does not.
	Sent time.Time
}

// Place is where a call is, in all the ways in which the exchange names it.
type Place struct {
	Extensions, Emails []string
	Called             string // the number that was called
}

// Nowhere tells whether a place is not named at all.
func (p Place) Nowhere() bool { return len(p.Extensions)+len(p.Emails) == 0 && p.Called == "" }

// Reader reads a message. No reports and no error is a message that says nothing of a
// call that anybody hears. An error is ErrMessage or ErrEnded.
type Reader func(Message) ([]Report, error)

// ErrMessage is a message of another kind, or of no call.
var ErrMessage = errors.New("not a message about a call")

// ErrEnded is a message that the exchange sends no more of them.
var ErrEnded = errors.New("the exchange has stopped telling of calls")

// readers are those of the kinds of messages that need no mapping.
var readers = map[string]Reader{registry.VoIPGRID: readVoIPGRID, registry.Yeastar: readYeastar, registry.VOIPZeker: voipzeker.Reader(),
	registry.BroadWorks: readBroadWorks}

// Of gives the reader of a kind.
func Of(kind string) (Reader, bool) {
	r, ok := readers[kind]
	return r, ok
}

// statuses are those that a kind wants, where it wants another than the usual one.
var statuses = map[string]int{registry.BroadWorks: http.StatusOK}

// Status is what answers a message of a kind that was taken.
func Status(kind string) int { return cmp.Or(statuses[kind], http.StatusNoContent) }

// checked gives reports as they may be used: cleaned, each of a call that has an id.
func checked(all ...Report) ([]Report, error) {
	for i, r := range all {
		if r.ID == "" {
			return nil, ErrMessage
		}
		r.ID = link.CallID(r.ID)
		all[i].Event = r.Clean()
	}
	return all[:min(len(all), maxPlaces)], nil
}

// Document is what a message says, as a tree of what encoding/json makes.
type Document struct{ any }

// UnmarshalJSON reads one, for links whose exchange sends such messages too.
func (d *Document) UnmarshalJSON(b []byte) (err error) {
	d.any, err = parse(b)
	return err
}

// Is says whether there is anything.
func (d Document) Is() bool { return d.any != nil }

// document gives the body, with the values of the address beside it where it is an
// object or nothing.
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
		tree, _ := parse(body) // what cannot be read says nothing
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

// At goes down a path of names and, in lists, numbers: "destination.targets.0.name".
// The path "" is the document itself.
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

// field gives the field of a name; one in other letters where there is no such, of several
// the alphabetically first.
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

// text gives the text or the number at a path, "" where there is neither.
func (d Document) text(path string) string {
	switch v := d.At(path).any.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// texts gives the texts at some paths, those of lists too.
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

// All gives what is in a list, what is no list by itself.
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

// First gives the first text that is there.
func (d Document) First(paths ...string) string {
	for _, path := range paths {
		if s := d.text(path); s != "" {
			return s
		}
	}
	return ""
}

// moment gives the time at a path: in seconds since 1970, or as ISO 8601 has it.
func (d Document) moment(paths ...string) time.Time {
	s := d.First(paths...)
	if n, _ := strconv.ParseInt(s, 10, 64); n > 0 && n < 1<<40 {
		return time.Unix(n, 0)
	}
	at, _ := time.Parse(time.RFC3339Nano, s)
	return at
}
