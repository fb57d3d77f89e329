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

// lefts lists everything that may be left out of a step
// because a kind of phone cannot report it, in display order.
var lefts = []struct {
	what string
	of   func(Step, registry.Capabilities) bool
}{
	{"answer", func(s Step, c registry.Capabilities) bool { return s.Do == Answer && !c.Answer }},
	{"end", func(s Step, c registry.Capabilities) bool { return s.Do == End && !c.End }},
	{"withheld", func(s Step, c registry.Capabilities) bool { return s.says() && s.Call.Number == "" && !c.Withheld }},
	{"outgoing", func(s Step, c registry.Capabilities) bool { return s.Call.Direction != "" && !c.Outgoing }},
	{"again", func(s Step, c registry.Capabilities) bool { return s.Do == Again && !c.Again }},
	{"moved", func(s Step, c registry.Capabilities) bool { return s.Do == Caller && c.Moved == registry.NotMoved }},
	{"samecall", func(s Step, c registry.Capabilities) bool { return s.Do == Caller && c.Moved == registry.OtherCall }}, // sent as a new call and the end of the old one
	{"name", func(s Step, c registry.Capabilities) bool { return s.Call.Name != "" && !c.Name }},
	{"line", func(s Step, c registry.Capabilities) bool { return s.Call.Line != "" && !c.Line }},
	{"via", func(s Step, c registry.Capabilities) bool { return s.Call.Via != "" && !c.Via }},
	{"reason", func(s Step, c registry.Capabilities) bool {
		return s.Do == End && c.End && !slices.Contains(c.Reasons, s.Reason)
	}},
}

// says reports whether a step describes the caller.
func (s Step) says() bool { return s.Do == Ring || s.Do == Caller }

// LeftOut returns what a kind of phone does not show of a scenario, in the words
// of text.SimulateLeftOut.
func LeftOut(s *Scenario, c registry.Capabilities) (all []string) {
	for _, l := range lefts {
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
	// Tell reports what has happened to a call. It returns when the other side has
	// processed the update or, if nobody listens, could not.
	Tell(ctx context.Context, n Update) error
	// Close closes every connection and waits for its goroutines.
	Close() error
}

// Update is a change that a Softphone reports.
type Update struct {
	Do       Verb // never Pause
	Call     Call // everything known about it
	Answered bool // answered before, or by this update
	Reason   call.Reason
}

// Play says how to play a scenario.
type Play struct {
	// Can is what the phone can report; everything else is left out.
	Can registry.Capabilities
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
	t := player{phone: phone, can: p.Can, prefix: p.Prefix}
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
	phone  Softphone
	can    registry.Capabilities
	prefix string
	made   int // how many ids have been given out
	calls  []*live
}

type live struct {
	name        string // in the scenario
	call        Call
	answered    bool
	unsupported bool // the protocol cannot express it
}

func (t *player) step(ctx context.Context, s Step) error {
	if s.Do == Ring {
		c := &live{name: s.Name, call: s.Call, unsupported: !t.sayable(s.Call)}
		c.call.ID = t.id()
		t.calls = append(t.calls, c)
		return t.send(ctx, c, Update{Do: Ring})
	}
	i := slices.IndexFunc(t.calls, func(c *live) bool { return c.name == s.Name })
	if i < 0 {
		return nil // a pause
	}
	c := t.calls[i]
	switch s.Do {
	case Again:
		if t.can.Again {
			return t.send(ctx, c, Update{Do: Again})
		}
	case Answer:
		c.answered = true
		if t.can.Answer {
			return t.send(ctx, c, Update{Do: Answer})
		}
	case Caller:
		return t.transfer(ctx, c, s)
	case End:
		t.calls = slices.Delete(t.calls, i, i+1)
		return t.end(ctx, c, s.Reason)
	}
	return nil
}

func (t *player) id() string {
	t.made++
	return t.prefix + strconv.Itoa(t.made)
}

// sayable reports whether the protocol can express a call.
func (t *player) sayable(c Call) bool {
	return (c.Number != "" || t.can.Withheld) && (c.Direction == "" || t.can.Outgoing)
}

// transfer reports that a call was passed on; if the phone cannot report that, the
// call continues unchanged.
func (t *player) transfer(ctx context.Context, c *live, s Step) error {
	before, now := *c, c.call
	now.Number, now.Name, now.Via = s.Call.Number, s.Call.Name, s.Call.Via
	if t.can.Moved == registry.NotMoved || !t.sayable(now) {
		return nil
	}
	c.call = now
	if t.can.Moved == registry.SameCall && !before.unsupported {
		return t.send(ctx, c, Update{Do: Caller})
	}
	// The new call begins before the old one ends.
	c.unsupported = false
	c.call.ID = t.id()
	err := t.send(ctx, c, Update{Do: Ring})
	if err == nil && c.answered && t.can.Answer {
		err = t.send(ctx, c, Update{Do: Answer})
	}
	if err == nil {
		err = t.end(ctx, &before, usualEnd(before.answered))
	}
	return err
}

// usualEnd returns how a call ends if the scenario does not say.
func usualEnd(answered bool) call.Reason {
	if answered {
		return call.Completed
	}
	return call.Missed
}

func (t *player) end(ctx context.Context, c *live, why call.Reason) error {
	if !t.can.End {
		return nil
	}
	return t.send(ctx, c, Update{Do: End, Reason: why})
}

func (t *player) send(ctx context.Context, c *live, n Update) error {
	if c.unsupported {
		return nil
	}
	n.Call, n.Answered = c.call, c.answered
	return t.phone.Tell(ctx, n)
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
		errs = append(errs, t.end(late, c, usualEnd(c.answered)))
	}
	t.calls = nil
	return errors.Join(errs...)
}
