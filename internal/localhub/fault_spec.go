package localhub

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"wiebelt/internal/text"
)

// Endpoint is a part of the hub that can be broken separately.
type Endpoint string

const (
	EndpointToken       Endpoint = "token"       // token endpoint
	EndpointLookup      Endpoint = "lookup"      // Contact API
	EndpointTransaction Endpoint = "transaction" // Transaction API
	EndpointPages       Endpoint = "pages"       // login, customer file, message box
)

var endpoints = []Endpoint{EndpointToken, EndpointLookup, EndpointTransaction, EndpointPages}

// Body is how an answer's body is changed; "" leaves it as it is.
type Body string

const (
	BodyHTML      Body = "html"      // a page instead of JSON, with status 200: a captive portal
	BodyTruncated Body = "truncated" // the first half of the answer, as if complete
	BodyCut       Body = "cut"       // the first half, then the connection is closed
	BodyEmpty     Body = "empty"     // status without a body
	BodyWrong     Body = "wrong"     // well-formed JSON of another shape
	BodyLarge     Body = "large"     // Size bytes of white space before the answer, without an announced length
)

var bodies = []Body{BodyHTML, BodyTruncated, BodyCut, BodyEmpty, BodyWrong, BodyLarge}

// Fault is what goes wrong with a request. Its parts combine: a delay comes
// first; Drop excludes the rest; otherwise Status or Expired determines the
// answer, and the other parts change what is sent of it, and how.
type Fault struct {
	Delay       time.Duration `json:"delay,omitzero,format:units"`       // before anything is answered
	Drop        bool          `json:"drop,omitzero"`                     // the request is read, and the connection closed without answer
	Status      int           `json:"status,omitzero"`                   // this status, with a JSON error, instead of the answer
	RetryAfter  time.Duration `json:"retry_after,omitzero,format:units"` // this header in the answer, in whole seconds
	Expired     bool          `json:"expired,omitzero"`                  // issued tokens have already expired; elsewhere no token is valid any more
	Body        Body          `json:"body,omitzero"`
	Size        int           `json:"size,omitzero"`         // bytes of BodyLarge; 0 is 64 MB
	ContentType string        `json:"content_type,omitzero"` // instead of the answer's own
	Slow        Slow          `json:"slow,omitzero"`         // the body arrives in small pieces
	Times       int           `json:"times,omitzero"`        // number of requests affected; 0: until cleared
}

// Slow sends a body in pieces of Bytes bytes, one every Every. The zero value sends it normally.
type Slow struct {
	Bytes int
	Every time.Duration
}

// MarshalText returns a text such as "10/1s".
func (s Slow) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d/%s", s.Bytes, s.Every), nil }

// Limits of faults from outside.
const (
	maxFault     = 500 // bytes of text
	maxPause     = time.Hour
	maxFaultSize = 1 << 30
	maxTimes     = 1_000_000
)

// faultPart describes a part of a fault: what its value must be,
// and how to read it. read returns false if the value is not that.
type faultPart struct {
	name string
	want *text.Error // nil for a flag
	read func(x *Fault, value string) bool
}

var faultParts = []faultPart{
	{"delay", text.Errorf(text.LocalhubFaultPause), func(x *Fault, v string) bool { return readPause(v, &x.Delay) }},
	{"drop", nil, func(x *Fault, _ string) bool { x.Drop = true; return true }},
	{"status", text.Errorf(text.LocalhubFaultNumber, 200, 599), func(x *Fault, v string) bool { return readNumber(v, &x.Status, 200, 599) }},
	{"retry-after", text.Errorf(text.LocalhubFaultPause), func(x *Fault, v string) bool { return readPause(v, &x.RetryAfter) }},
	{"expired", nil, func(x *Fault, _ string) bool { x.Expired = true; return true }},
	{"body", text.Errorf(text.LocalhubFaultOneOf, strings.Trim(fmt.Sprint(bodies), "[]")), func(x *Fault, v string) bool {
		x.Body = Body(v)
		return slices.Contains(bodies, x.Body)
	}},
	{"size", text.Errorf(text.LocalhubFaultNumber, 1, maxFaultSize), func(x *Fault, v string) bool { return readNumber(v, &x.Size, 1, maxFaultSize) }},
	{"content-type", text.Errorf(text.LocalhubFaultType), func(x *Fault, v string) bool { x.ContentType = v; return v != "" }},
	{"slow", text.Errorf(text.LocalhubFaultSlow), func(x *Fault, v string) bool {
		bytes, every, _ := strings.Cut(v, "/")
		return readNumber(bytes, &x.Slow.Bytes, 1, maxFaultSize) && readPause(every, &x.Slow.Every)
	}},
	{"times", text.Errorf(text.LocalhubFaultNumber, 1, maxTimes), func(x *Fault, v string) bool { return readNumber(v, &x.Times, 1, maxTimes) }},
}

// findFaultPart returns the part with the given name, or nil.
func findFaultPart(name string) *faultPart {
	i := slices.IndexFunc(faultParts, func(p faultPart) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &faultParts[i]
}

func readPause(v string, to *time.Duration) (ok bool) {
	d, err := time.ParseDuration(v)
	*to = d
	return err == nil && d > 0 && d <= maxPause
}

func readNumber(v string, to *int, least, most int) (ok bool) {
	n, err := strconv.Atoi(v)
	*to = n
	return err == nil && n >= least && n <= most
}

var errEndpoint = text.Errorf(text.LocalhubFaultEndpoint)

// ParseFault parses a fault in command-line form: an endpoint, a colon and one or
// more parts separated by commas, such as "lookup:delay=2s,status=503,times=3" or
// "token:drop". The parts are
//
//	delay=2s            wait before the answer
//	drop                close the connection without one
//	status=503          this status with a JSON error
//	retry-after=30s     the header of that name
//	expired             tokens that have expired
//	body=KIND           html, truncated, cut, empty, wrong or large
//	size=1000000        bytes of a large body
//	content-type=TYPE   instead of the answer's own
//	slow=10/1s          that many bytes of the body, then a pause
//	times=3             for that many requests; without it until cleared
func ParseFault(s string) (Endpoint, Fault, error) {
	name, parts, found := strings.Cut(s, ":")
	e := Endpoint(name)
	switch {
	case len(s) > maxFault:
		return "", Fault{}, text.Errorf(text.LocalhubFaultLong, maxFault)
	case !slices.Contains(endpoints, e):
		return "", Fault{}, errEndpoint
	case !found:
		return "", Fault{}, text.Errorf(text.LocalhubFaultAfter, e, e)
	}
	x, err := parseFaultParts(strings.Split(parts, ","), e)
	if err != nil {
		return "", Fault{}, err
	}
	return e, x, nil
}

// parseFaultParts parses the parts of an endpoint's fault, such as "drop" and "delay=2s".
func parseFaultParts(words []string, e Endpoint) (x Fault, err error) {
	seen := map[string]bool{}
	for _, word := range words {
		name, value, hasValue := strings.Cut(word, "=")
		p := findFaultPart(name)
		if p == nil {
			var all []string
			for _, p := range faultParts {
				all = append(all, p.name)
			}
			return Fault{}, text.Errorf(text.LocalhubFaultNoneOf, name, strings.Join(all, ", "))
		}
		switch {
		case seen[name]:
			return Fault{}, text.Errorf(text.LocalhubFaultTwice, name)
		case p.want == nil && hasValue:
			return Fault{}, text.Errorf(text.LocalhubFaultNoValue, name)
		case p.want != nil && !hasValue:
			return Fault{}, text.Errorf(text.LocalhubFaultValue, name)
		case !p.read(&x, value):
			return Fault{}, text.Errorf(text.LocalhubFaultPart, name, p.want)
		}
		seen[name] = true
	}
	if err := x.check(e); err != nil {
		return Fault{}, err
	}
	return x, nil
}

// faultPartsOf converts the members of a JSON object into parts for parseFaultParts, leaving out
// those that are false or null. ok is false if it is not an object of such members.
func faultPartsOf(object jsontext.Value) (all []string, ok bool) {
	if object.Kind() != '{' || !object.IsValid() {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(object))
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		t, _ := d.ReadToken()
		if strings.ContainsAny(t.String(), "-=") { // the command-line spelling
			return nil, false
		}
		word := strings.ReplaceAll(t.String(), "_", "-")
		switch v, _ := d.ReadToken(); v.Kind() {
		case 'n', 'f':
			if findFaultPart(word) == nil {
				return nil, false
			}
		case 't':
			all = append(all, word)
		case '"', '0':
			all = append(all, word+"="+v.String())
		default:
			return nil, false
		}
	}
	return all, true
}

// String returns x in the form that ParseFault reads after the colon.
func (x Fault) String() string {
	b, _ := json.Marshal(x) // plain values never fail
	words, _ := faultPartsOf(b)
	return strings.Join(words, ",")
}

// check rejects a fault from outside that would have no effect, or not the stated one.
func (x Fault) check(e Endpoint) error {
	answer := x
	answer.Delay, answer.Drop, answer.Times = 0, false, 0
	switch {
	case x == Fault{Times: x.Times}:
		return text.Errorf(text.LocalhubFaultNothing)
	case x.Drop && answer != Fault{}:
		return text.Errorf(text.LocalhubFaultDrop)
	case x.Expired && x.Status != 0:
		return text.Errorf(text.LocalhubFaultExpired)
	case x.Expired && e == EndpointPages:
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
