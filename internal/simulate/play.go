package simulate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/registry"
)

// omissions lists everything that may be left out of a step
// because a kind of phone cannot report it, in display order.
var omissions = []struct {
	what string
	of   func(Step, registry.Capabilities) bool
}{
	{"answer", func(s Step, c registry.Capabilities) bool { return s.Verb == Answer && !c.Answer }},
	{"end", func(s Step, c registry.Capabilities) bool { return s.Verb == End && !c.End }},
	{"withheld", func(s Step, c registry.Capabilities) bool {
		return s.describesCaller() && s.Call.Number == "" && !c.Withheld
	}},
	{"outgoing", func(s Step, c registry.Capabilities) bool { return s.Call.Direction != "" && !c.Outgoing }},
	{"again", func(s Step, c registry.Capabilities) bool { return s.Verb == RingAgain && !c.RingsAgain }},
	{"moved", func(s Step, c registry.Capabilities) bool {
		return s.Verb == ChangeCaller && c.Transfer == registry.TransferHidden
	}},
	{"samecall", func(s Step, c registry.Capabilities) bool {
		return s.Verb == ChangeCaller && c.Transfer == registry.TransferNewCall
	}}, // sent as a new call and the end of the old one
	{"name", func(s Step, c registry.Capabilities) bool { return s.Call.Name != "" && !c.Name }},
	{"line", func(s Step, c registry.Capabilities) bool { return s.Call.Line != "" && !c.Line }},
	{"via", func(s Step, c registry.Capabilities) bool { return s.Call.Via != "" && !c.Via }},
	{"reason", func(s Step, c registry.Capabilities) bool {
		return s.Verb == End && c.End && !slices.Contains(c.Reasons, s.Reason)
	}},
}

func (s Step) describesCaller() bool { return s.Verb == Ring || s.Verb == ChangeCaller }

// Omissions returns what a kind of phone does not show of a scenario, in the words
// of text.SimulateLeftOut.
func Omissions(s *Scenario, c registry.Capabilities) (all []string) {
	for _, l := range omissions {
		if slices.ContainsFunc(s.Steps, func(step Step) bool { return l.of(step, c) }) {
			all = append(all, l.what)
		}
	}
	return all
}

// Softphone is a phone that speaks one protocol. Only one goroutine at a
// time calls its methods.
type Softphone interface {
	// Ready waits until somebody is connected to receive updates.
	Ready(ctx context.Context) error
	// SendUpdate reports what has happened to a call. It returns when the other side has
	// processed the update or, if nobody listens, could not.
	SendUpdate(ctx context.Context, n Update) error
	// Close closes every connection and waits for its goroutines.
	Close() error
}

// Update is a change that a Softphone reports.
type Update struct {
	Verb     Verb // never Pause
	Call     Call // everything known about it
	Answered bool // answered before, or by this update
	Reason   call.Reason
}

// Play says how to play a scenario.
type Play struct {
	// Capabilities is what the phone can report; everything else is left out.
	Capabilities registry.Capabilities
	// Speed is how many times faster than written the scenario runs; 0 means as written.
	Speed float64
	// Repeat multiplies how often the scenario itself says to play it; 0 means forever.
	Repeat int
	// Prefix begins the ids of the calls, so that two programs never share one.
	Prefix string
	// OnStep, if set, is called with each step just before it is played.
	OnStep func(Step)
}

// hangUpTime is how long hanging up calls may take after ctx has ended.
const hangUpTime = 2 * time.Second

// Run plays a scenario on a phone. Calls still active at the end, or when ctx ends, are
// hung up. If ctx has ended, Run returns its error.
func (p Play) Run(ctx context.Context, phone Softphone, s *Scenario) error {
	t := player{phone: phone, capabilities: p.Capabilities, prefix: p.Prefix}
	speed := p.Speed
	if speed <= 0 {
		speed = 1
	}
	for n := 0; p.Repeat == 0 || n < p.Repeat*max(s.Repeat, 1); n++ {
		began := time.Now()
		for _, step := range s.Steps {
			err := wake.Pause(ctx, time.Until(began.Add(time.Duration(float64(step.At)/speed))))
			if err == nil {
				if p.OnStep != nil {
					p.OnStep(step)
				}
				err = t.step(ctx, step)
			}
			if err != nil {
				return errors.Join(err, t.hangUp(ctx))
			}
		}
		if err := t.hangUp(ctx); err != nil {
			return err
		}
	}
	return nil
}

// player turns the steps of a scenario into updates that the phone can report.
type player struct {
	phone        Softphone
	capabilities registry.Capabilities
	prefix       string
	idCount      int // how many ids have been given out
	calls        []*liveCall
}

type liveCall struct {
	name        string // in the scenario
	call        Call
	answered    bool
	unsupported bool // the protocol cannot express it
}

func (t *player) step(ctx context.Context, s Step) error {
	if s.Verb == Ring {
		c := &liveCall{name: s.Name, call: s.Call, unsupported: !t.canExpress(s.Call)}
		c.call.ID = t.id()
		t.calls = append(t.calls, c)
		return t.send(ctx, c, Update{Verb: Ring})
	}
	i := slices.IndexFunc(t.calls, func(c *liveCall) bool { return c.name == s.Name })
	if i < 0 {
		return nil // a pause
	}
	c := t.calls[i]
	switch s.Verb {
	case RingAgain:
		if t.capabilities.RingsAgain {
			return t.send(ctx, c, Update{Verb: RingAgain})
		}
	case Answer:
		c.answered = true
		if t.capabilities.Answer {
			return t.send(ctx, c, Update{Verb: Answer})
		}
	case ChangeCaller:
		return t.transfer(ctx, c, s)
	case End:
		t.calls = slices.Delete(t.calls, i, i+1)
		return t.end(ctx, c, s.Reason)
	}
	return nil
}

func (t *player) id() string {
	t.idCount++
	return t.prefix + strconv.Itoa(t.idCount)
}

// canExpress reports whether the protocol can express a call.
func (t *player) canExpress(c Call) bool {
	return (c.Number != "" || t.capabilities.Withheld) && (c.Direction == "" || t.capabilities.Outgoing)
}

// transfer reports that a call was passed on; if the phone cannot report that, the
// call continues unchanged.
func (t *player) transfer(ctx context.Context, c *liveCall, s Step) error {
	before, now := *c, c.call
	now.Number, now.Name, now.Via = s.Call.Number, s.Call.Name, s.Call.Via
	if t.capabilities.Transfer == registry.TransferHidden || !t.canExpress(now) {
		return nil
	}
	c.call = now
	if t.capabilities.Transfer == registry.TransferSameCall && !before.unsupported {
		return t.send(ctx, c, Update{Verb: ChangeCaller})
	}
	// The new call begins before the old one ends.
	c.unsupported = false
	c.call.ID = t.id()
	err := t.send(ctx, c, Update{Verb: Ring})
	if err == nil && c.answered && t.capabilities.Answer {
		err = t.send(ctx, c, Update{Verb: Answer})
	}
	if err == nil {
		err = t.end(ctx, &before, defaultReason(before.answered))
	}
	return err
}

// defaultReason returns how a call ends if the scenario does not say.
func defaultReason(answered bool) call.Reason {
	if answered {
		return call.Completed
	}
	return call.Missed
}

func (t *player) end(ctx context.Context, c *liveCall, why call.Reason) error {
	if !t.capabilities.End {
		return nil
	}
	return t.send(ctx, c, Update{Verb: End, Reason: why})
}

func (t *player) send(ctx context.Context, c *liveCall, n Update) error {
	if c.unsupported {
		return nil
	}
	n.Call, n.Answered = c.call, c.answered
	return t.phone.SendUpdate(ctx, n)
}

// hangUp ends the calls that are still active, even after ctx has ended.
func (t *player) hangUp(ctx context.Context) error {
	if len(t.calls) == 0 {
		return ctx.Err()
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpTime)
	defer cancel()
	var errs []error
	for _, c := range t.calls {
		errs = append(errs, t.end(late, c, defaultReason(c.answered)))
	}
	t.calls = nil
	return errors.Join(errs...)
}
