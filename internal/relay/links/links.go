// Package links keeps a relay's links to exchanges. Each link is held by one of
// several relays, through a lease in a bucket they all share; if that relay is gone,
// another takes over within five seconds. It then reads what rings there before it
// ends any earlier calls.
//
// Goroutines: one per link, plus the link's own while this relay holds it;
// all end before Run does.
package links

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
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

// Link is a configured link to an exchange.
type Link struct {
	Name, Kind string
	Extension  string // of all its calls, "" if it reports each call's own
	// Identity is equal for links with equal settings: such a link stays up when others change.
	Identity any
	// Open creates the phone, which reports the calls of the extensions that hears accepts. An
	// error means that the settings are wrong.
	Open func(hears func(extension string) bool) (link.Phone, error)
	// Accept replaces Open if the exchange connects to us: it waits for that, or until ctx
	// ends. Until then nothing is reported about such a link. disconnect ends the connection;
	// it is called once, when the link has ended.
	Accept func(ctx context.Context, hears func(extension string) bool) (p link.Phone, disconnect func(), err error)
}

// Config configures the links. It must not be changed after New.
type Config struct {
	Relay string // this relay's name
	// Ongoing returns the ongoing calls whose ids begin with prefix, whichever relay
	// they were reported to.
	Ongoing func(ctx context.Context, prefix string) ([]calls.Record, error)
	// HasExtension reports whether an extension belongs to a user.
	HasExtension func(extension string) bool
	// UsersOf returns the users of an extension.
	UsersOf func(extension string) []wire.User
	// Receive takes a link's event; it may block until ctx ends. An end without an extension
	// is the call's end for all. If extensions share ids, a call can come back to one
	// for which it was over.
	Receive func(ctx context.Context, e call.Event, shared bool) error
	// Changed is called when a link's state changes. It must not block.
	Changed func()
	Log     *slog.Logger
}

// Links manages the links of one relay. It is safe for concurrent use.
type Links struct {
	Config
	holder string             // holder of leases, unique to each process
	leases jetstream.KeyValue // set by Run
	mu     sync.Mutex         // protects states
	states map[string]wire.LinkState
}

// New returns a relay's links, none so far.
func New(c Config) *Links {
	return &Links{Config: c, holder: c.Relay + " " + rand.Text(), states: map[string]wire.LinkState{}}
}

// States returns the states of all links, by name.
func (l *Links) States() []wire.LinkState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.states), func(a, b wire.LinkState) int { return cmp.Compare(a.Name, b.Name) })
}

// setState sets a link's state and reports whether it changed.
func (l *Links) setState(of Link, state, cause string) (news bool) {
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

// noteWaiting reports, once, why a link we should run cannot be leased yet.
func (l *Links) noteWaiting(of Link, why error) {
	if l.setState(of, link.Waiting.String(), "") {
		l.Log.Warn("a link to an exchange waits for the relays' storage", "name", of.Name, "why", why)
	}
}

func (l *Links) noteHeard(of Link, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.states[of.Name]; ok {
		s.LastCallAt = at
		l.states[of.Name] = s
	}
}

type running struct {
	identity any
	end      context.CancelCauseFunc
	done     chan struct{}
}

// errRemoved ends a link that was removed or whose new settings are unusable; its calls end
// too. If its settings merely changed, calls that the exchange still has continue.
var errRemoved = errors.New("the link is not set any more")

// Run keeps up the links last received from sets until ctx ends, with leases in
// the bucket of OpenLeases.
func (l *Links) Run(ctx context.Context, leases jetstream.KeyValue, sets <-chan []Link) error {
	l.leases = leases
	all := map[string]running{}
	defer func() {
		for _, r := range all {
			<-r.done
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
				if i < 0 || set[i].Identity != r.identity {
					var why error
					if i < 0 || l.check(set[i]) != nil {
						why = errRemoved
					}
					r.end(why)
					<-r.done
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
				r := running{n.Identity, end, make(chan struct{})}
				all[n.Name] = r
				run := l.runInbound
				if n.Accept == nil {
					run = l.runOutbound
					l.setState(n, link.Connecting.String(), "")
				}
				go func() {
					defer close(r.done)
					defer end(nil)
					run(each, n)
				}()
			}
			l.Changed()
		}
	}
}

// check returns why a link cannot be used as configured, or nil.
func (l *Links) check(of Link) error {
	if of.Accept != nil {
		return nil
	}
	_, err := of.Open(l.HasExtension)
	return err
}

// leaseCheckEvery is how often a relay checks whether a link is free.
const leaseCheckEvery = 250 * time.Millisecond

// runOutbound runs a link whenever no other relay holds it, until ctx ends.
func (l *Links) runOutbound(ctx context.Context, of Link) {
	if err := l.check(of); err != nil {
		l.Log.Error("a link to an exchange", "name", of.Name, "why", err)
		l.setState(of, wire.LinkSettings, string(cmp.Or(link.CauseOf(err), link.CauseSettings)))
		<-ctx.Done() // until the settings change
		return
	}
	for ; ctx.Err() == nil; pause(ctx) {
		if lease := l.acquire(ctx, of); lease != nil {
			phone, err := of.Open(l.HasExtension) // a new one, which knows of no calls
			l.runLeased(ctx, of, lease, phone, err)
		}
	}
}

// acquire acquires the lease of a link. If it cannot, it returns nil, and the state says why.
func (l *Links) acquire(ctx context.Context, of Link) *lease {
	lease, err := acquire(ctx, l.leases, of.Name, l.holder)
	switch {
	case errors.Is(err, errHeld):
		l.setState(of, wire.LinkOtherRelay, "")
	case err != nil:
		l.noteWaiting(of, err)
	}
	return lease
}

func pause(ctx context.Context) { _ = wake.Pause(ctx, leaseCheckEvery) }

// runInbound runs a link whenever the exchange is connected, until ctx ends.
func (l *Links) runInbound(ctx context.Context, of Link) {
	for {
		phone, disconnect, err := of.Accept(ctx, l.HasExtension)
		if err != nil {
			return
		}
		l.leaseInbound(ctx, of, phone)
		disconnect()
	}
}

// leaseInbound waits for the lease, which the relay that the exchange was connected
// to before may still hold, and runs the link. If that relay keeps it, the exchange is
// disconnected and reconnects.
func (l *Links) leaseInbound(ctx context.Context, of Link, phone link.Phone) {
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < 2*leaseTTL; pause(ctx) {
		if lease := l.acquire(ctx, of); lease != nil {
			l.runLeased(ctx, of, lease, phone, nil)
			return
		}
	}
}

// runLeased runs a link while the lease is ours and, if inbound, the connection stands. A
// non-nil err means that there is no phone.
func (l *Links) runLeased(ctx context.Context, of Link, lease *lease, phone link.Phone, err error) {
	defer lease.release()
	var standing []calls.Record
	if err == nil {
		standing, err = l.ongoing(ctx, of)
	}
	if err != nil {
		l.noteWaiting(of, err)
		return
	}
	ours, end := context.WithCancel(ctx)
	h := &leasedLink{links: l, link: of, ctx: ours, lease: lease, earlier: map[string]calls.Record{}, ongoing: map[string]bool{},
		renamed: map[string]string{}}
	for _, r := range standing {
		h.earlier[r.ID] = r
	}
	var work sync.WaitGroup
	work.Go(func() {
		defer end()
		c := link.Config{Name: of.Name, Receive: h.receive, StateChanged: h.setState, Log: l.Log}
		if of.Accept == nil {
			link.Run(ours, c, phone)
		} else {
			_ = link.RunOnce(ours, c, phone) // already reported
		}
	})
	lease.renew(ours)
	end()
	work.Wait()
	if errors.Is(context.Cause(ctx), errRemoved) {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTTL)
		defer cancel()
		h.ctx = limited
		h.end(maps.Keys(h.ongoing))
		h.end(maps.Keys(h.earlier))
	}
}

func (l *Links) ongoing(ctx context.Context, of Link) ([]calls.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTTL)
	defer cancel()
	return l.Ongoing(ctx, prefix(of.Name))
}

// prefix returns the prefix of the ids of a link's calls, unique to the link.
func prefix(name string) string {
	p := call.CleanText(strings.ReplaceAll(name, "/", "-"), call.MaxID/4)
	if p != name {
		sum := sha256.Sum256([]byte(name))
		p += "-" + hex.EncodeToString(sum[:4])
	}
	return p + "/"
}

// leasedLink is a link we hold. It belongs to the link's goroutine.
type leasedLink struct {
	links   *Links
	link    Link
	ctx     context.Context
	lease   *lease
	earlier map[string]calls.Record // earlier calls of which no event has come since we took over
	ongoing map[string]bool         // ongoing calls
	// A call at several devices has the id of the first one reported, which may now be another.
	undecided []call.Event      // perhaps of earlier calls, kept until the link has reported all calls
	renamed   map[string]string // earlier ids of calls by those that the link now gives them
}

// maxCalls bounds the memory for calls whose end never comes, and for undecided events.
const maxCalls = 4096

var errLeaseLost = errors.New("another relay has the link")

func (h *leasedLink) receive(e call.Event) error {
	if !h.lease.held() {
		return errLeaseLost
	}
	if e.ID == "" {
		return nil // its end could not be matched to it
	}
	head := prefix(h.link.Name)
	if len(head)+len(e.ID) > call.MaxID {
		e.ID = link.CallID(e.ID + strings.Repeat(" ", call.MaxID)) // a hash of it
	}
	e.ID = head + e.ID
	if e.Extension == "" {
		e.Extension = h.link.Extension
	}
	h.links.noteHeard(h.link, e.At)
	undecided := h.earlierID(e) != "" || slices.ContainsFunc(h.undecided, func(o call.Event) bool { return o.ID == e.ID })
	if undecided && len(h.undecided) < maxCalls {
		h.undecided = append(h.undecided, e)
		return nil
	}
	return h.pass(e)
}

// earlierID returns the id of the earlier call that an event with a new id may be about, "" for
// none: it is answered, with the same other party, at a phone of the same user. A call that
// rings is a new one, as its caller may have tried again.
func (h *leasedLink) earlierID(e call.Event) string {
	if _, is := h.earlier[e.ID]; is || len(h.earlier) == 0 || h.ongoing[e.ID] || e.State != call.Answered {
		return ""
	}
	users := h.links.UsersOf(e.Extension)
	for id, r := range h.earlier {
		for _, u := range users {
			l := r.Legs[u]
			if l != nil && l.State != call.Ended.String() && r.Number == e.Number &&
				(e.Direction == call.DirectionUnknown || e.Direction.String() == r.DirectionOf(l)) {
				return id
			}
		}
	}
	return ""
}

// decide passes on the undecided events, as far as possible as those of the earlier calls of
// which no event has come.
func (h *leasedLink) decide() {
	for _, e := range h.undecided {
		if id := h.earlierID(e); id != "" {
			h.renamed[e.ID] = id
		}
		_ = h.pass(e)
	}
	h.undecided = nil
}

// pass passes on an event under the id that its call had earlier.
func (h *leasedLink) pass(e call.Event) error {
	id := e.ID
	e.ID = cmp.Or(h.renamed[id], id)
	if e.State != call.Ended {
		delete(h.earlier, e.ID)
		if len(h.ongoing) < maxCalls {
			h.ongoing[e.ID] = true
		}
		return h.forward(e)
	}
	if !registry.Of(h.link.Kind).SharedCallID || h.link.Extension != "" {
		e.Extension = ""
	}
	err := h.forward(e)
	if err == nil { // otherwise it continues until the link ends
		delete(h.earlier, e.ID)
		if e.Extension == "" {
			delete(h.ongoing, e.ID)
			delete(h.renamed, id)
		}
	}
	return err
}

func (h *leasedLink) forward(e call.Event) error {
	return h.links.Receive(h.ctx, e, registry.Of(h.link.Kind).SharedCallID)
}

// setState reports the link's state. Once connected, it ends the calls the link does not know
// of, unless the lease has expired: events since then were not taken.
func (h *leasedLink) setState(s link.State) {
	if s.Phase == link.Connected && h.lease.held() {
		h.decide()
		h.end(maps.Keys(h.earlier))
		clear(h.earlier)
	}
	if s.Cause == link.CauseReplaced {
		s.Phase = link.Kicked // it receives nothing although it is connected
	}
	if s.Phase == link.Kicked {
		s.Cause = link.CauseReplaced
	}
	h.links.setState(h.link, s.Phase.String(), string(s.Cause))
}

// end ends calls for everybody.
func (h *leasedLink) end(which iter.Seq[string]) {
	for id := range which {
		_ = h.forward(call.Event{ID: id, State: call.Ended, At: time.Now().UTC()})
	}
}
