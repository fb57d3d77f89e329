// Package storytest specifies what the tracker must make of every built-in scenario over
// every protocol. It is for the tests of package simulate, which use this program's
// links, and for those of the program itself.
package storytest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
)

// caller is what a step of a story says about a call.
type caller struct {
	number string // E.164 or the extension; "withheld"
	name   string
	line   string
	via    string
	out    bool
}

// callerOf returns what a step of a scenario says.
func callerOf(rules *phone.Rules, c simulate.Call) caller {
	b := caller{number: "withheld", name: c.Name, via: c.Via, out: c.Direction == "outgoing"}
	if c.Number != "" {
		b.number = rules.Parse(c.Number, "").Key()
	}
	if c.Line != "" {
		b.line = rules.Parse(c.Line, "").Key()
	}
	return b
}

// telling is how a protocol reports a scenario. What it
// can report is defined in package registry.
type telling struct {
	registry.Capabilities
	line string // the line if none is given, or the call is outgoing
	via  string // "", "extension", or "colleague": whom we had on the line before
}

var tellings = map[string]telling{
	"twinkle":      {line: "115"},
	"baresip":      {line: "115"},
	"ari":          {line: "115", via: "extension"},
	"ari-outbound": {line: "115", via: "extension"},
	"wazo":         {line: "115", via: "colleague"},
	"3cx":          {line: "115", via: "extension"},
	"broadworks":   {via: "colleague"},
	"xelion":       {line: "115", via: "colleague"},
}

// exceptions lists the scenarios that a protocol reports differently.
var exceptions = map[string][]string{
	// If a caller rings again within 15 s, a phone that reports no end reports nothing new.
	"transfer-cancelled over url": {"1 rings 101", "2 rings +31612345678", "1 answered"},
}

// Want returns what the tracker must make of a scenario over a protocol,
// one line per change.
func Want(t testing.TB, scenario *simulate.Scenario, protocol string) []string {
	t.Helper()
	kind, ok := registry.Find(protocol)
	if !ok {
		t.Fatalf("no kind of phone is called %s", protocol)
	}
	tell := tellings[protocol]
	tell.Capabilities = kind.Capabilities
	if lines, ok := exceptions[scenario.ID+" over "+protocol]; ok {
		return lines
	}
	type state struct {
		id       int
		answered bool
		caller
	}
	now := map[string]*state{} // by the scenario's name of the call
	calls := 0
	var lines []string
	begin := func(b caller) *state {
		calls++
		lines = append(lines, tell.words(calls, "rings", b))
		return &state{id: calls, caller: b}
	}
	over := func(c *state, why call.Reason) {
		if !tell.End {
			return
		}
		if !slices.Contains(tell.Reasons, why) {
			why = call.ReasonUnknown
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d over %s", c.id, why)))
	}
	numbers := phone.DefaultRules()
	for _, step := range scenario.Steps {
		b, c := callerOf(numbers, step.Call), now[step.Name]
		if step.Verb != simulate.Ring && c == nil {
			continue // the protocol cannot express this call
		}
		switch step.Verb {
		case simulate.Ring:
			if (!b.out || tell.Outgoing) && (b.number != "withheld" || tell.Withheld) {
				now[step.Name] = begin(b)
			}
		case simulate.Answer:
			c.answered = true
			lines = append(lines, fmt.Sprintf("%d answered", c.id))
		case simulate.ChangeCaller:
			if tell.via == "colleague" && b.via != "" {
				b.via = c.name // the exchange does not say who, but we know
			}
			if tell.Transfer == registry.TransferSameCall {
				b.line = c.line
				lines = append(lines, tell.words(c.id, "becomes", b))
				c.caller = b
				continue
			}
			fresh := begin(b)
			if fresh.answered = c.answered; c.answered {
				lines = append(lines, fmt.Sprintf("%d answered", fresh.id))
			}
			why := call.Missed
			if c.answered {
				why = call.Completed
			}
			over(c, why)
			now[step.Name] = fresh
		case simulate.End:
			over(c, step.Reason)
			delete(now, step.Name)
		}
	}
	return lines
}

// words describes a caller as the protocol reports it.
func (tell telling) words(id int, what string, b caller) string {
	if !tell.Name || b.number == "withheld" {
		b.name = ""
	}
	switch {
	case !tell.Line:
		b.line = ""
	case tell.line != "" && (b.line == "" || b.out):
		b.line = tell.line
	}
	switch {
	case !tell.Via && tell.via == "":
		b.via = ""
	case tell.via == "extension" && b.via != "":
		b.via = "101"
	}
	return words(id, what, b)
}

func words(id int, what string, b caller) string {
	s := fmt.Sprintf("%d %s %s", id, what, b.number)
	if b.name != "" {
		s += " (" + b.name + ")"
	}
	if b.line != "" {
		s += " on " + b.line
	}
	if b.via != "" {
		s += " via " + b.via
	}
	if b.out {
		s += " outgoing"
	}
	return s
}

// Tracked passes events to a tracker and records the result. Safe for concurrent use.
type Tracked struct {
	mu       sync.Mutex
	tracker  *call.Tracker
	rules    *phone.Rules
	now      time.Time
	lines    []string
	received int
	raw      []string
	news     chan struct{}
}

// New returns a Tracked whose clock stands still until Set is called.
func New(t testing.TB) *Tracked {
	t.Helper()
	return &Tracked{tracker: call.NewTracker(), rules: phone.DefaultRules(), now: start, news: make(chan struct{})}
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// Set sets the clock to a time after the start.
func (k *Tracked) Set(at time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = start.Add(at)
}

// Receive receives the events of links and listeners.
func (k *Tracked) Receive(e call.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.At = k.now
	n := k.rules.Parse(e.Number, e.Name)
	ch := k.tracker.Apply(e, n.Key(), k.now)
	id := int(ch.Call.ID)
	c := ch.Call
	b := caller{number: k.rules.Parse(c.Number, "").Key(), name: c.Name, via: c.Via, out: c.Direction == call.Outgoing}
	if b.number == "withheld" {
		b.name = "" // phones call such a caller "Anonymous"
	}
	if c.Line != "" {
		b.line = k.rules.Parse(c.Line, "").Key()
	}
	if c.Direction == call.DirectionUnknown {
		b.via += " of unknown direction"
	}
	switch ch.Kind {
	case call.Began:
		k.lines = append(k.lines, words(id, "rings", b))
		if c.State == call.Answered {
			k.lines = append(k.lines, fmt.Sprintf("%d answered", id))
		}
	case call.AnotherCaller:
		k.lines = append(k.lines, words(id, "becomes", b))
	case call.WasAnswered:
		k.lines = append(k.lines, fmt.Sprintf("%d answered", id))
	case call.WasEnded:
		k.lines = append(k.lines, strings.TrimSpace(fmt.Sprintf("%d over %s", id, c.Reason)))
	case call.TooOld:
		k.lines = append(k.lines, "too old")
	}
	k.received++
	k.raw = append(k.raw, e.Number+" "+e.Name)
	close(k.news)
	k.news = make(chan struct{})
	return nil
}

// Received returns how many events have been received.
func (k *Tracked) Received() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.received
}

// Said returns all numbers and names in the events.
func (k *Tracked) Said() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.raw, "\n")
}

// Lines returns what the tracker has made of the events so far.
func (k *Tracked) Lines() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.lines)
}

// Until waits until ok returns true, checking after each event.
func (k *Tracked) Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.After(must.Patience)
	for {
		k.mu.Lock()
		news := k.news
		k.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("%s: never; so far\n%s", what, strings.Join(k.Lines(), "\n"))
		}
	}
}
