package localhub

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/text"
)

// Bounds of faults that come from outside.
const (
	maxFault     = 500 // bytes of text
	maxPause     = time.Hour
	maxFaultSize = 1 << 30
	maxTimes     = 1_000_000
)

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
	fail := func(err error) (Endpoint, Fault, error) { return "", Fault{}, err }
	if len(s) > maxFault {
		return fail(text.Errorf(text.LocalhubFaultLong, maxFault))
	}
	name, parts, found := strings.Cut(s, ":")
	e := Endpoint(name)
	if !slices.Contains(Endpoints, e) {
		return fail(errEndpoint)
	}
	if !found {
		return fail(text.Errorf(text.LocalhubFaultAfter, e, e))
	}
	var x Fault
	seen := map[string]bool{}
	for part := range strings.SplitSeq(parts, ",") {
		name, value, hasValue := strings.Cut(part, "=")
		if seen[name] {
			return fail(text.Errorf(text.LocalhubFaultTwice, name))
		}
		seen[name] = true
		if flag := name == "drop" || name == "expired"; flag == hasValue {
			if flag {
				return fail(text.Errorf(text.LocalhubFaultNoValue, name))
			}
			if slices.Contains(partNames, name) {
				return fail(text.Errorf(text.LocalhubFaultValue, name))
			}
		}
		if err := x.set(name, value); err != nil {
			return fail(err)
		}
	}
	if err := x.check(e); err != nil {
		return fail(err)
	}
	return e, x, nil
}

var partNames = []string{"delay", "drop", "status", "retry-after", "expired", "body", "size", "content-type", "slow", "times"}

// set reads one part into x.
func (x *Fault) set(name, value string) error {
	var err error
	switch name {
	case "drop":
		x.Drop = true
	case "expired":
		x.Expired = true
	case "delay":
		x.Delay, err = pause(value)
	case "retry-after":
		x.RetryAfter, err = pause(value)
	case "status":
		x.Status, err = number(value, 599)
	case "times":
		x.Times, err = number(value, maxTimes)
	case "size":
		var n int
		n, err = number(value, maxFaultSize)
		x.Size = int64(n)
	case "content-type":
		if x.ContentType = value; value == "" {
			err = text.Errorf(text.LocalhubFaultType)
		}
	case "body":
		i := slices.Index(bodyNames, value)
		if i < 1 {
			err = text.Errorf(text.LocalhubFaultOneOf, strings.Join(bodyNames[1:], ", "))
			break
		}
		x.Body = Body(i)
	case "slow":
		x.Slow, err = parseSlow(value)
	default:
		return text.Errorf(text.LocalhubFaultNoneOf, name, strings.Join(partNames, ", "))
	}
	if err != nil {
		return text.Errorf(text.LocalhubFaultPart, name, err)
	}
	return nil
}

func pause(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > maxPause {
		return 0, text.Errorf(text.LocalhubFaultPause)
	}
	return d, nil
}

func number(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, text.Errorf(text.LocalhubFaultNumber, 1, most)
	}
	return n, nil
}

func parseSlow(s string) (Slow, error) {
	bytes, every, _ := strings.Cut(s, "/")
	n, err := number(bytes, maxFaultSize)
	if err != nil {
		return Slow{}, text.Errorf(text.LocalhubFaultSlow)
	}
	d, err := pause(every)
	if err != nil {
		return Slow{}, text.Errorf(text.LocalhubFaultSlow)
	}
	return Slow{n, d}, nil
}

// String is how ParseFault reads it.
func (s Slow) String() string { return strconv.Itoa(s.Bytes) + "/" + s.Every.String() }

// String is how ParseFault reads x behind the colon.
func (x Fault) String() string {
	j := x.json()
	var parts []string
	add := func(there bool, part string) {
		if there {
			parts = append(parts, part)
		}
	}
	add(j.Delay != "", "delay="+j.Delay)
	add(j.Drop, "drop")
	add(j.Status != 0, "status="+strconv.Itoa(j.Status))
	add(j.RetryAfter != "", "retry-after="+j.RetryAfter)
	add(j.Expired, "expired")
	add(j.Body != "", "body="+j.Body)
	add(j.Size != 0, "size="+strconv.FormatInt(j.Size, 10))
	add(j.ContentType != "", "content-type="+j.ContentType)
	add(j.Slow != "", "slow="+j.Slow)
	add(j.Times != 0, "times="+strconv.Itoa(j.Times))
	return strings.Join(parts, ",")
}

// check refuses a fault from outside that would do nothing, or not what it
// says.
func (x Fault) check(e Endpoint) error {
	answer := x
	answer.Delay, answer.Drop, answer.Times = 0, false, 0
	switch {
	case x.Times < 0 || x.Times > maxTimes:
		return text.Errorf(text.LocalhubFaultPart, "times", text.Errorf(text.LocalhubFaultNumber, 1, maxTimes))
	case x == Fault{Times: x.Times}:
		return text.Errorf(text.LocalhubFaultNothing)
	case x.Status != 0 && (x.Status < 200 || x.Status > 599):
		return text.Errorf(text.LocalhubFaultPart, "status", text.Errorf(text.LocalhubFaultNumber, 200, 599))
	case x.Size < 0 || x.Size > maxFaultSize:
		return text.Errorf(text.LocalhubFaultPart, "size", text.Errorf(text.LocalhubFaultNumber, 1, maxFaultSize))
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
