package localhub

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"wiebelt/internal/text"
)

// Endpoint is a part of the hub that can be broken on its own.
type Endpoint string

const (
	AtToken       Endpoint = "token"       // token endpoint
	AtLookup      Endpoint = "lookup"      // Contact API
	AtTransaction Endpoint = "transaction" // Transaction API
	AtPages       Endpoint = "pages"       // login, customer file, message box
)

// Endpoints are all of them.
var Endpoints = []Endpoint{AtToken, AtLookup, AtTransaction, AtPages}

// Body is what becomes of an answer's body.
type Body string

const (
	BodyAsIs      Body = ""
	BodyHTML      Body = "html"      // a page in place of JSON, with status 200: a captive portal
	BodyTruncated Body = "truncated" // the first half of the answer, as if it were the whole
	BodyCut       Body = "cut"       // the first half, then the connection is closed
	BodyEmpty     Body = "empty"     // status without a body
	BodyWrong     Body = "wrong"     // well-formed JSON of another shape
	BodyLarge     Body = "large"     // Size bytes of white space before the answer, of no length told beforehand
)

var bodies = []Body{BodyHTML, BodyTruncated, BodyCut, BodyEmpty, BodyWrong, BodyLarge}

// Fault is what goes wrong with a request. Its parts go together. A delay comes
// first. Drop excludes what is left; otherwise Status or Expired make the
// answer, and the other parts change what is sent of it, and how.
type Fault struct {
	Delay       time.Duration `json:"delay,omitzero,format:units"`       // before anything is answered
	Drop        bool          `json:"drop,omitzero"`                     // the request is read, and the connection closed without an answer
	Status      int           `json:"status,omitzero"`                   // this status, with a JSON error, in place of the answer
	RetryAfter  time.Duration `json:"retry_after,omitzero,format:units"` // header of that name in the answer, in whole seconds
	Expired     bool          `json:"expired,omitzero"`                  // a token that is handed out has expired already; elsewhere no token is valid any more
	Body        Body          `json:"body,omitzero"`
	Size        int           `json:"size,omitzero"`         // bytes of BodyLarge; 0 is 64 MB
	ContentType string        `json:"content_type,omitzero"` // in place of the answer's own
	Slow        Slow          `json:"slow,omitzero"`         // the body comes in drops
	Times       int           `json:"times,omitzero"`        // requests it holds for; 0: until it is cleared
}

// Slow is a body that is sent Bytes at a time, Every so often. The zero value
// is an ordinary one.
type Slow struct {
	Bytes int
	Every time.Duration
}

// MarshalText writes "10/1s".
func (s Slow) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d/%s", s.Bytes, s.Every), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Slow) UnmarshalText(b []byte) (err error) {
	bytes, every, _ := strings.Cut(string(b), "/")
	if s.Bytes, err = strconv.Atoi(bytes); err == nil {
		s.Every, err = time.ParseDuration(every)
	}
	return err
}

// Bounds of faults that come from outside.
const (
	maxFault     = 500 // bytes of text
	maxPause     = time.Hour
	maxFaultSize = 1 << 30
	maxTimes     = 1_000_000
)

// faultParts are the parts of a fault: what each has to be, and whether it is.
// A part that is not set is right.
var faultParts = []struct {
	name  string
	want  *text.Error // nil for a flag
	right func(Fault) bool
}{
	{"delay", text.Errorf(text.LocalhubFaultPause), func(x Fault) bool { return bounded(x.Delay, maxPause) }},
	{"drop", nil, nil},
	{"status", text.Errorf(text.LocalhubFaultNumber, 200, 599), func(x Fault) bool { return x.Status == 0 || x.Status >= 200 && x.Status <= 599 }},
	{"retry-after", text.Errorf(text.LocalhubFaultPause), func(x Fault) bool { return bounded(x.RetryAfter, maxPause) }},
	{"expired", nil, nil},
	{"body", text.Errorf(text.LocalhubFaultOneOf, strings.Trim(fmt.Sprint(bodies), "[]")), func(x Fault) bool { return x.Body == "" || slices.Contains(bodies, x.Body) }},
	{"size", text.Errorf(text.LocalhubFaultNumber, 1, maxFaultSize), func(x Fault) bool { return bounded(x.Size, maxFaultSize) }},
	{"content-type", text.Errorf(text.LocalhubFaultType), func(Fault) bool { return true }},
	{"slow", text.Errorf(text.LocalhubFaultSlow), func(x Fault) bool {
		return bounded(x.Slow.Bytes, maxFaultSize) && bounded(x.Slow.Every, maxPause) && (x.Slow.Bytes == 0) == (x.Slow.Every == 0)
	}},
	{"times", text.Errorf(text.LocalhubFaultNumber, 1, maxTimes), func(x Fault) bool { return bounded(x.Times, maxTimes) }},
}

func bounded[N ~int | ~int64](n, most N) bool { return n >= 0 && n <= most }

// faultPart is the place of a part in faultParts, -1 for none.
func faultPart(name string) int {
	for i, p := range faultParts {
		if p.name == name {
			return i
		}
	}
	return -1
}

// wrongPart says what the part of that name has to be.
func wrongPart(name string) error {
	if i := faultPart(name); i >= 0 && faultParts[i].want != nil {
		return text.Errorf(text.LocalhubFaultPart, name, faultParts[i].want)
	}
	return errFaultJSON
}

var errEndpoint = text.Errorf(text.LocalhubFaultEndpoint)

// ParseFault reads a fault as it is written on a command line: an endpoint, a
// colon and one or more parts between commas, such as
// "lookup:delay=2s,status=503,times=3" or "token:drop". The parts are
//
//	delay=2s            wait before the answer
//	drop                close the connection without one
//	status=503          this status with a JSON error
//	retry-after=30s     the header of that name
//	expired             tokens that have expired
//	body=KIND           html, truncated, cut, empty, wrong or large
//	size=1000000        bytes of a large body
//	content-type=TYPE   in place of the answer's own
//	slow=10/1s          so many bytes of the body, then a pause
//	times=3             for so many requests; without it until it is cleared
func ParseFault(s string) (Endpoint, Fault, error) {
	name, parts, found := strings.Cut(s, ":")
	e := Endpoint(name)
	switch {
	case len(s) > maxFault:
		return "", Fault{}, text.Errorf(text.LocalhubFaultLong, maxFault)
	case !slices.Contains(Endpoints, e):
		return "", Fault{}, errEndpoint
	case !found:
		return "", Fault{}, text.Errorf(text.LocalhubFaultAfter, e, e)
	}
	members, names := map[string]jsontext.Value{}, []string{}
	for word := range strings.SplitSeq(parts, ",") {
		name, value, err := readWord(word)
		if err == nil && slices.Contains(names, name) {
			err = text.Errorf(text.LocalhubFaultTwice, name)
		}
		if err != nil {
			return "", Fault{}, err
		}
		members[strings.ReplaceAll(name, "-", "_")], names = value, append(names, name)
	}
	b, err := json.Marshal(members)
	if err != nil {
		return "", Fault{}, errFaultJSON
	}
	x, err := decodeFault(b)
	for _, name := range names {
		if isSet := func(w string) bool { return w == name || strings.HasPrefix(w, name+"=") }; err == nil && !slices.ContainsFunc(x.words(), isSet) {
			err = wrongPart(name)
		}
	}
	if err == nil {
		err = x.check(e)
	}
	if err != nil {
		return "", Fault{}, err
	}
	return e, x, nil
}

// readWord gives the name of a part and its value in JSON, of "drop" or
// "delay=2s".
func readWord(word string) (name string, value jsontext.Value, err error) {
	name, after, hasValue := strings.Cut(word, "=")
	i := faultPart(name)
	switch {
	case i < 0:
		var all []string
		for _, p := range faultParts {
			all = append(all, p.name)
		}
		return "", nil, text.Errorf(text.LocalhubFaultNoneOf, name, strings.Join(all, ", "))
	case faultParts[i].want == nil && hasValue:
		return "", nil, text.Errorf(text.LocalhubFaultNoValue, name)
	case faultParts[i].want == nil:
		return name, jsontext.Value("true"), nil
	case !hasValue:
		return "", nil, text.Errorf(text.LocalhubFaultValue, name)
	case name != "status" && name != "size" && name != "times":
		return name, appendString(nil, after), nil
	}
	if value = jsontext.Value(after); value.Kind() != '0' || !value.IsValid() {
		return "", nil, wrongPart(name)
	}
	return name, value, nil
}

// words are the parts that are set, as ParseFault reads them.
func (x Fault) words() (all []string) {
	b, _ := json.Marshal(x) // plain values do not fail
	d := jsontext.NewDecoder(bytes.NewReader(b))
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		t, _ := d.ReadToken()
		word := strings.ReplaceAll(t.String(), "_", "-")
		if v, _ := d.ReadToken(); v.Kind() != 't' {
			word += "=" + v.String()
		}
		all = append(all, word)
	}
	return all
}

// String is how ParseFault reads x behind the colon.
func (x Fault) String() string { return strings.Join(x.words(), ",") }

var errFaultJSON = errors.New("the body is one JSON object with the fields of a fault, see GET on this address")

// faultOf reads a fault for an endpoint from JSON.
func faultOf(b []byte, e Endpoint) (Fault, error) {
	x, err := decodeFault(b)
	if err != nil {
		return Fault{}, err
	}
	return x, x.check(e)
}

func decodeFault(b []byte) (Fault, error) {
	var x *Fault
	var wrong *json.SemanticError
	switch err := json.Unmarshal(b, &x, json.RejectUnknownMembers(true)); {
	case errors.As(err, &wrong):
		return Fault{}, wrongPart(strings.ReplaceAll(wrong.JSONPointer.LastToken(), "_", "-"))
	case err != nil || x == nil:
		return Fault{}, errFaultJSON
	}
	return *x, nil
}

// check refuses a fault from outside that would do nothing, or not what it
// says.
func (x Fault) check(e Endpoint) error {
	for _, p := range faultParts {
		if p.right != nil && !p.right(x) {
			return wrongPart(p.name)
		}
	}
	answer := x
	answer.Delay, answer.Drop, answer.Times = 0, false, 0
	switch {
	case x == Fault{Times: x.Times}:
		return text.Errorf(text.LocalhubFaultNothing)
	case x.Drop && answer != Fault{}:
		return text.Errorf(text.LocalhubFaultDrop)
	case x.Expired && x.Status != 0:
		return text.Errorf(text.LocalhubFaultExpired)
	case x.Expired && e == AtPages:
		return text.Errorf(text.LocalhubFaultPages)
	case x.Size != 0 && x.Body != BodyLarge:
		return text.Errorf(text.LocalhubFaultSize)
	case x.RetryAfter != 0 && x.Status == 0:
		return text.Errorf(text.LocalhubFaultRetry)
	case len(x.ContentType) > 100 || strings.ContainsFunc(x.ContentType, func(r rune) bool { return r < 0x20 || r >= 0x7f || r == ',' }):
		return text.Errorf(text.LocalhubFaultContentType)
	}
	return nil
}
