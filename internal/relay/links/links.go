// Package links keeps a relay's links to exchanges. Of several relays one has each
// link, by a lease in a bucket that all of them share; where it is gone, another one
// has it within five seconds. Whoever takes a link over reads what rings there now,
// before what stood before is over.
//
// Goroutines: one a link, with those of the link itself while it is this relay's; all
// end before Run does.
package links

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Link is one link to an exchange, as it is set.
type Link struct {
	Name, Kind string
	Extension  string // at which all of its calls are, "" where it tells of each
	// Same is equal for links that are set alike: such a one goes on when others change.
	Same any
	// Open makes the phone, which is asked for the calls of the extensions that hears
	// knows. An error is one of the settings.
	Open func(hears func(extension string) bool) (link.Phone, error)
	// Accept is in the place of Open where the exchange connects by itself: it waits until
	// that has happened, or ctx ends. Nothing is said of such a link before.
	Accept func(ctx context.Context, hears func(extension string) bool) (Inbound, error)
}

// Inbound is an exchange that has connected by itself, for as long as that connection
// stands.
type Inbound interface {
	link.Phone
	Close()
}

// Config is what links need. It is not changed after New.
type Config struct {
	Relay string // the name of this one
	// Standing gives the calls whose ids begin with prefix and that go on, whichever
	// relay was told of them.
	Standing func(ctx context.Context, prefix string) ([]calls.Record, error)
	// Hears says whether an extension is somebody's.
	Hears func(extension string) bool
	// Take takes what a link tells of a call; it may wait until ctx ends. An end that
	// names no extension is the call's end for all. Of an id that extensions share, the
	// call can come back to one for which it was over.
	Take func(ctx context.Context, e call.Event, shared bool) error
	// Changed is told that a link does otherwise. It must not wait.
	Changed func()
	Log     *slog.Logger
}

// Links are the links of one relay. Its methods may be called from any goroutine.
type Links struct {
	Config
	holder string             // of leases: another one for each process
	leases jetstream.KeyValue // since Run
	mu     sync.Mutex         // protects states
	states map[string]wire.LinkState
}

// New makes the links of a relay, of which there are none yet.
func New(c Config) *Links {
	return &Links{Config: c, holder: c.Relay + " " + rand.Text(), states: map[string]wire.LinkState{}}
}

// States are how all links are doing, by name.
func (l *Links) States() []wire.LinkState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.states), func(a, b wire.LinkState) int { return cmp.Compare(a.Name, b.Name) })
}

// say says how a link is doing, and whether that is news.
func (l *Links) say(of Link, state, cause string) (news bool) {
	l.mu.Lock()
	s := l.states[of.Name]
	news = s.State != state || s.Cause != cause || s.Kind != of.Kind
	if news {
		if s.State != state {
			s.Since = time.Now()
		}
		s.Name, s.Kind, s.State, s.Cause = of.Name, of.Kind, state, cause
		l.states[of.Name] = s
	}
	l.mu.Unlock()
	if news {
		l.Changed()
	}
	return news
}

// waits says that a link is ours to have and cannot be had yet, and why, once.
func (l *Links) waits(of Link, why error) {
	if l.say(of, link.Waiting.String(), "") {
		l.Log.Warn("a link to an exchange waits for the relays' storage", "name", of.Name, "why", why)
	}
}

func (l *Links) heard(of Link, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.states[of.Name]; ok {
		s.Heard = at
		l.states[of.Name] = s
	}
}

// running is a link that is kept.
type running struct {
	same any
	end  context.CancelCauseFunc
	over chan struct{}
}

// errRemoved ends a link that is not set any more, or cannot be used as it is set now: its
// calls end too. Those of one that is set otherwise go on, if the exchange still has them.
var errRemoved = errors.New("the link is not set any more")

// Run keeps the links that sets last told of, until ctx ends, with leases in the bucket
// of OpenLeases.
func (l *Links) Run(ctx context.Context, leases jetstream.KeyValue, sets <-chan []Link) error {
	l.leases = leases
	all := map[string]running{}
	defer func() {
		for _, r := range all {
			<-r.over
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case set := <-sets:
			if many := len(set) - wire.MaxLinks; many > 0 {
				l.Log.Error("there are more links to exchanges than a relay can have", "most", wire.MaxLinks, "left out", many)
				set = set[:wire.MaxLinks]
			}
			for name, r := range all {
				i := slices.IndexFunc(set, func(n Link) bool { return n.Name == name })
				if i < 0 || set[i].Same != r.same {
					var why error
					if i < 0 || l.usable(set[i]) != nil {
						why = errRemoved
					}
					r.end(why)
					<-r.over
					delete(all, name)
					l.mu.Lock()
					delete(l.states, name)
					l.mu.Unlock()
				}
			}
			for _, n := range set {
				if _, ok := all[n.Name]; ok {
					continue
				}
				each, end := context.WithCancelCause(ctx)
				r := running{n.Same, end, make(chan struct{})}
				all[n.Name] = r
				run := l.runInbound
				if n.Accept == nil {
					run = l.runOutbound
					l.say(n, link.Connecting.String(), "")
				}
				go func() {
					defer close(r.over)
					defer end(nil)
					run(each, n)
				}()
			}
			l.Changed()
		}
	}
}

// usable gives why a link cannot be used as it is set.
func (l *Links) usable(of Link) error {
	if of.Accept != nil {
		return nil
	}
	_, err := of.Open(l.Hears)
	return err
}

// leaseCheckEvery is how often a relay looks whether a link is free.
const leaseCheckEvery = 250 * time.Millisecond

// runOutbound has a link whenever no other relay has it, until ctx ends.
func (l *Links) runOutbound(ctx context.Context, of Link) {
	if err := l.usable(of); err != nil {
		l.Log.Error("a link to an exchange", "name", of.Name, "why", err)
		l.say(of, wire.LinkSettings, string(cmp.Or(link.CauseOf(err), link.CauseSettings)))
		<-ctx.Done() // until they are others
		return
	}
	for ctx.Err() == nil {
		lease, err := take(ctx, l.leases, of.Name, l.holder)
		switch {
		case errors.Is(err, errHeld):
			l.say(of, wire.LinkElsewhere, "")
		case err != nil:
			l.waits(of, err)
		default:
			phone, err := of.Open(l.Hears) // anew: it knows of no call
			l.runLeased(ctx, of, lease, phone, err)
		}
		pause(ctx)
	}
}

func pause(ctx context.Context) { _ = wake.Pause(ctx, leaseCheckEvery) }

// runInbound has a link for as long as the exchange is here, until ctx ends.
func (l *Links) runInbound(ctx context.Context, of Link) {
	for {
		in, err := of.Accept(ctx, l.Hears)
		if err != nil {
			return
		}
		l.leaseInbound(ctx, of, in)
		in.Close()
	}
}

// leaseInbound waits for the lease that another relay may have, to which the exchange was
// connected before, and has the link. Where that relay keeps it, the exchange is sent
// away, and comes again.
func (l *Links) leaseInbound(ctx context.Context, of Link, in Inbound) {
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < 2*life; pause(ctx) {
		lease, err := take(ctx, l.leases, of.Name, l.holder)
		if err == nil {
			l.runLeased(ctx, of, lease, in, nil)
			return
		}
		if errors.Is(err, errHeld) {
			l.say(of, wire.LinkElsewhere, "")
		} else {
			l.waits(of, err)
		}
	}
}

// runLeased runs a link for as long as the lease is ours, and an inbound connection
// stands. err is that there is no phone.
func (l *Links) runLeased(ctx context.Context, of Link, lease *lease, phone link.Phone, err error) {
	defer lease.release()
	var standing []calls.Record
	if err == nil {
		standing, err = l.standing(ctx, of)
	}
	if err != nil {
		l.waits(of, err)
		return
	}
	ours, end := context.WithCancel(ctx)
	h := &leasedLink{links: l, of: of, ctx: ours, lease: lease, before: map[string]bool{}, on: map[string]bool{}}
	for _, r := range standing {
		h.before[r.ID] = true
	}
	var work sync.WaitGroup
	work.Go(func() {
		defer end()
		c := link.Config{Name: of.Name, Take: h.take, State: h.state, Log: l.Log}
		if of.Accept == nil {
			link.Run(ours, c, phone)
		} else {
			_ = link.Once(ours, c, phone) // it was said
		}
	})
	lease.renew(ours)
	end()
	work.Wait()
	if errors.Is(context.Cause(ctx), errRemoved) {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), life)
		defer cancel()
		h.ctx = limited
		h.end(h.on)
		h.end(h.before)
	}
}

func (l *Links) standing(ctx context.Context, of Link) ([]calls.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	return l.Standing(ctx, prefix(of.Name))
}

// prefix is what the ids of a link's calls begin with, and those of no other link.
func prefix(name string) string {
	p := call.CleanText(strings.ReplaceAll(name, "/", "-"), call.MaxID/4)
	if p != name {
		sum := sha256.Sum256([]byte(name))
		p += "-" + hex.EncodeToString(sum[:4])
	}
	return p + "/"
}

// leasedLink is a link that is ours. It belongs to the goroutine of the link.
type leasedLink struct {
	links  *Links
	of     Link
	ctx    context.Context
	lease  *lease
	before map[string]bool // calls that stood when it became ours, and of which we have not heard
	on     map[string]bool // calls that go on
}

// maxCalls bounds the memory for calls whose end never comes.
const maxCalls = 4096

var errLost = errors.New("another relay has the link")

// take passes on what the link tells.
func (h *leasedLink) take(e call.Event) error {
	if !h.lease.ours() {
		return errLost
	}
	if e.ID == "" {
		return nil // nobody could tell of its end
	}
	head := prefix(h.of.Name)
	if len(head)+len(e.ID) > call.MaxID {
		e.ID = link.CallID(e.ID + strings.Repeat(" ", call.MaxID)) // a hash of it
	}
	e.ID = head + e.ID
	if e.Extension == "" {
		e.Extension = h.of.Extension
	}
	h.links.heard(h.of, e.At)
	if e.State != call.Ended {
		delete(h.before, e.ID)
		if len(h.on) < maxCalls {
			h.on[e.ID] = true
		}
		return h.pass(e)
	}
	if !registry.Of(h.of.Kind).Shared || h.of.Extension != "" {
		e.Extension = ""
	}
	err := h.pass(e)
	if err == nil { // or else it goes on until its link ends
		delete(h.before, e.ID)
		if e.Extension == "" {
			delete(h.on, e.ID)
		}
	}
	return err
}

func (h *leasedLink) pass(e call.Event) error {
	return h.links.Take(h.ctx, e, registry.Of(h.of.Kind).Shared)
}

// state says how the link is doing. Once it stands, the calls of which it does not
// know are over, unless the lease ended meanwhile: what it told since was not taken.
func (h *leasedLink) state(s link.State) {
	if s.Phase == link.Connected && h.lease.ours() {
		h.end(h.before)
	}
	if s.Cause == link.CauseReplaced {
		s.Phase = link.Kicked // it hears nothing, though it stands
	}
	if s.Phase == link.Kicked {
		s.Cause = link.CauseReplaced
	}
	h.links.say(h.of, s.Phase.String(), string(s.Cause))
}

// end ends calls, for everybody.
func (h *leasedLink) end(which map[string]bool) {
	for id := range which {
		_ = h.pass(call.Event{ID: id, State: call.Ended, At: time.Now().UTC()})
	}
	clear(which)
}
