package webhook

import (
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"wiebelt/internal/core/call"
	"wiebelt/internal/text"
)

// Mapping defines where a message contains what: each field is the name of a value in the
// address or form, or a path in the JSON, as in "destination.targets.0.name"; of several,
// the first non-empty one counts.
type Mapping struct {
	ID        paths `toml:"id"`
	Number    paths `toml:"number"`
	Name      paths `toml:"name"`
	Line      paths `toml:"line"`
	Via       paths `toml:"via"`
	Queue     paths `toml:"queue"`
	State     paths `toml:"state"`
	Direction paths `toml:"direction"`
	Reason    paths `toml:"reason"`
	Time      paths `toml:"time"`      // in ISO 8601, or seconds since 1970
	Extension paths `toml:"extension"` // all that are present, as with Email
	Email     paths `toml:"email"`
	// States, Directions and Reasons translate the sender's words into ours.
	States     map[string]string `toml:"states"`
	Directions map[string]string `toml:"directions"`
	Reasons    map[string]string `toml:"reasons"`
	// Swapped means that outgoing calls have number and extension interchanged.
	Swapped bool `toml:"swapped"`

	own bool // our own message: an end that names a place is for that place only
}

// paths is one or several paths.
type paths []string

var errPath = errors.New("a path is text")

// UnmarshalTOML implements toml.Unmarshaler.
func (p *paths) UnmarshalTOML(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		s, _ := v.(string)
		if s == "" {
			return errPath
		}
		*p = append(*p, s)
	}
	return nil
}

// voipzeker is the mapping for the values that VOIPZeker puts into an address.
var voipzeker = Mapping{
	ID: paths{"calluniqueid"}, Number: paths{"callfrom"}, Extension: paths{"callto"}, Direction: paths{"direction"}, Time: paths{"timestamp"}, State: paths{"status_desc", "status"},
	States:     map[string]string{"INCOMING_RINGING": "ringing", "OUTGOING_RINGING": "ringing", "CONNECTED": "answered", "DISCONNECTED": "ended"},
	Directions: map[string]string{"in": "incoming", "out": "outgoing"},
	Swapped:    true,
}

// OwnMapping reads our own message: the listener's event, and where the call is.
var OwnMapping = Mapping{
	ID: paths{"id"}, Number: paths{"number"}, Name: paths{"name"}, Line: paths{"line"}, Via: paths{"via"}, Queue: paths{"queue"},
	State: paths{"state"}, Direction: paths{"direction"}, Reason: paths{"reason"}, Extension: paths{"extension"}, Email: paths{"email"},
	own: true,
}.Reader()

// ParseMapping reads a mapping. The error is for the administrator.
func ParseMapping(b []byte) (Mapping, error) {
	var m Mapping
	meta, err := toml.Decode(string(b), &m)
	if wrong, ok := errors.AsType[toml.ParseError](err); ok {
		return m, text.Errorf(text.RelayMappingLine, wrong.Position.Line)
	}
	switch {
	case err != nil:
		return m, err
	case len(meta.Undecoded()) > 0:
		return m, text.Errorf(text.RelayMappingField, meta.Undecoded()[0].String())
	case len(m.ID) == 0 || len(m.Number) == 0:
		return m, text.Errorf(text.RelayMappingLacks)
	}
	for _, of := range []struct {
		name  string
		words map[string]string
		known []string
	}{
		{"states", m.States, []string{"ringing", "answered", "ended"}},
		{"directions", m.Directions, []string{"incoming", "outgoing"}},
		{"reasons", m.Reasons, []string{"completed", "missed", "elsewhere", "rejected"}},
	} {
		for theirs, ours := range of.words {
			if !slices.Contains(of.known, ours) {
				return m, text.Errorf(text.RelayMappingWord, of.name+"."+theirs, strings.Join(of.known, ", "))
			}
		}
	}
	return m, nil
}

// Reader returns a reader for the mapping.
func (m Mapping) Reader() Reader {
	return func(from Message) ([]Report, error) {
		d, err := from.document()
		if err != nil {
			return nil, err
		}
		state, _ := call.ParseState(translateWord(m.States, d.First(m.State...)))
		r := Report{Sent: d.timeAt(m.Time...), Place: Place{Extensions: d.texts(m.Extension...), Emails: d.texts(m.Email...), Called: d.First(m.Line...)},
			Event: call.Event{ID: d.First(m.ID...), State: state, Direction: call.ParseDirection(translateWord(m.Directions,
				d.First(m.Direction...))),
				Number: d.First(m.Number...), Name: d.First(m.Name...), Line: d.First(m.Line...), Via: d.First(m.Via...), Queue: d.First(m.Queue...)}}
		if state == call.Ended {
			r.Reason, r.MaybeForAll = call.ParseReason(translateWord(m.Reasons, d.First(m.Reason...))), !m.own && len(r.Extensions)+len(r.Emails) > 0
		}
		if m.Swapped && r.Direction == call.Outgoing && len(r.Extensions) > 0 {
			r.Number, r.Extensions = r.Extensions[0], []string{r.Number}
		}
		return cleanReports(r)
	}
}

// translateWord returns our word for one of the sender's, ignoring case.
func translateWord(words map[string]string, theirs string) string {
	for known, ours := range words {
		if strings.EqualFold(known, theirs) {
			return ours
		}
	}
	return theirs
}
