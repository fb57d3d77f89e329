package links

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

// office is a site with an Asterisk and a node, but no relay yet.
type office struct {
	*simulate.ARI
	t      *testing.T
	bucket *calls.Bucket
	leases jetstream.KeyValue
}

func start(t *testing.T) *office {
	t.Helper()
	_, js := natstest.Start(t, t.TempDir())
	o := &office{ARI: linktest.Start(t, nil, simulate.StartARI), t: t}
	o.bucket = must.Get(calls.Open(t.Context(), js, 1))(t)
	o.leases = must.Get(OpenLeases(t.Context(), js, 1))(t)
	return o
}

// say puts a call at an extension of the exchange into a state.
func (o *office) say(id, extension string, state call.State) {
	linktest.AtAsterisk(o.ARI, id, extension, "0698760011", state)
}

// relay is a relay whose process may die without notice.
type relay struct {
	*Links
	jetstream.KeyValue
	o    *office
	fast time.Duration // how far its clock is ahead
	dead atomic.Bool
	sets chan []Link
	stop func()
}

var errDead = errors.New("nobody is there")

// Update fails once the relay is dead, like everything else it would write.
func (r *relay) Update(ctx context.Context, key string, b []byte, revision uint64) (uint64, error) {
	if r.dead.Load() {
		return 0, errDead
	}
	return r.KeyValue.Update(ctx, key, b, revision)
}

// Create is like Update.
func (r *relay) Create(ctx context.Context, key string, b []byte, o ...jetstream.KVCreateOpt) (uint64, error) {
	if r.dead.Load() {
		return 0, errDead
	}
	return r.KeyValue.Create(ctx, key, b, o...)
}

// Delete is like Update.
func (r *relay) Delete(ctx context.Context, key string, o ...jetstream.KVDeleteOpt) error {
	if r.dead.Load() {
		return errDead
	}
	return r.KeyValue.Delete(ctx, key, o...)
}

// usersOf returns the only user of an extension.
func usersOf(extension string) []wire.User {
	if extension == "" {
		return nil
	}
	return []wire.User{wire.User("u" + extension)}
}

func (r *relay) write(ctx context.Context, e call.Event, _ bool) error {
	if r.dead.Load() {
		return errDead
	}
	report := calls.Report{Event: e, Users: usersOf(e.Extension)}
	report.At = report.At.Add(r.fast)
	return r.o.bucket.Store(ctx, report)
}

// run starts a relay with a link to the Asterisk.
func (o *office) run(name string, fast time.Duration) *relay {
	r := &relay{KeyValue: o.leases, o: o, fast: fast, sets: make(chan []Link, 4)}
	r.Links = New(Config{Relay: name, Ongoing: o.bucket.Ongoing, HasExtension: func(e string) bool { return strings.HasPrefix(e, "1") },
		UsersOf: usersOf, Receive: r.write, Changed: func() {}, Log: slog.New(slog.DiscardHandler)})
	r.stop = must.Run(o.t, func(ctx context.Context) { _ = r.Run(ctx, r, r.sets) })
	r.sets <- []Link{o.link()}
	return r
}

func (o *office) link() Link {
	return Link{Name: "centrale", Kind: registry.ARI, Identity: 1, Open: func(hears func(string) bool) (link.Phone, error) {
		a := linktest.Account(o.Address())
		a.Extension, a.HasExtension, a.Client = "", hears, "kantoor/centrale"
		return ari.New(a)
	}}
}

// until waits for something to happen.
func (o *office) until(what string, ok func() bool) {
	o.t.Helper()
	must.Soon(o.t, func() (bool, any) { return ok(), fmt.Sprint("no ", what, ": ", o.rings()) })
}

func (r *relay) is(state string) func() bool {
	return func() bool { s := r.States(); return len(s) == 1 && s[0].State == state }
}

// rings returns the active calls and their users.
func (o *office) rings() (all []string) {
	standing := must.Get(o.bucket.Ongoing(context.Background(), "centrale/"))(o.t)
	for _, r := range standing {
		for u := range r.Legs {
			all = append(all, r.ID+" "+string(u))
		}
	}
	slices.Sort(all)
	return all
}

func (o *office) stand(want ...string) func() bool {
	return func() bool { return slices.Equal(o.rings(), want) }
}

// TestTakeOver: one relay has a link. If it dies without notice, the other takes over when
// the lease expires: calls that ended meanwhile are over, new ones ring, and ongoing ones
// continue, whichever clock is right. A relay that stops hands over at once.
func TestTakeOver(t *testing.T) {
	if leaseTTL+2*leaseCheckEvery > 5*time.Second {
		t.Errorf("a lease lives for %v, and is looked at every %v", leaseTTL, leaseCheckEvery)
	}
	o := start(t)
	first := o.run("r1", time.Hour)
	o.until("the first one's link", first.is("connected"))
	second := o.run("r2", 0)
	o.say("17.1", "101", call.Ringing)
	o.say("17.2", "102", call.Ringing)
	o.say("17.8", "201", call.Ringing)
	o.until("two calls", o.stand("centrale/17.1 u101", "centrale/17.2 u102"))
	o.until("the second one stands back", second.is(wire.LinkOtherRelay))
	first.dead.Store(true)
	o.say("17.1", "101", call.Ended)
	o.say("17.3", "103", call.Ringing)
	o.until("the second one's link", second.is("connected"))
	o.until("what rings now", o.stand("centrale/17.2 u102", "centrale/17.3 u103"))
	o.say("17.2", "102", call.Ended)
	o.until("an end by another clock", o.stand("centrale/17.3 u103"))
	o.until("the dead one has nothing", first.is(wire.LinkOtherRelay))
	first.dead.Store(false)
	leases := must.Get(o.leases.WatchAll(t.Context(), jetstream.UpdatesOnly()))(t)
	defer leases.Stop()
	second.stop()
	o.until("the lease is given back", func() bool {
		select {
		case e := <-leases.Updates():
			return e != nil && e.Operation() == jetstream.KeyValueDelete
		default:
			return false
		}
	})
	o.until("the first one's link again", first.is("connected"))
	o.until("what rings still", o.stand("centrale/17.3 u103"))
}

// TestDevices: an answered call that rang on several devices of an extension stays the same
// call, also if the link starts anew and meets only the device that was not known first.
func TestDevices(t *testing.T) {
	o := start(t)
	r := o.run("r1", 0)
	o.until("a link", r.is("connected"))
	o.With(func() { o.Vars["17.1 CHANNEL(linkedid)"], o.Vars["17.2 CHANNEL(linkedid)"] = "17.0", "17.0" })
	for _, step := range []struct {
		device string
		state  call.State
	}{{"17.1", call.Ringing}, {"17.2", call.Ringing}, {"17.2", call.Answered}, {"17.1", call.Ended}} {
		o.say(step.device, "101", step.state)
	}
	o.say("17.3", "102", call.Ringing)
	o.until("one call, and another person's", o.stand("centrale/17.1 u101", "centrale/17.3 u102"))
	again := o.link()
	again.Identity = 2
	since := r.States()[0].Since
	r.sets <- []Link{again}
	o.until("it is connected anew", func() bool { return r.is("connected")() && r.States()[0].Since.After(since) })
	o.until("the same calls", o.stand("centrale/17.1 u101", "centrale/17.3 u102"))
	all := must.Get(o.bucket.Ongoing(t.Context(), "centrale/17.1"))(t)
	if len(all) != 1 || all[0].Legs["u101"].State != "answered" || all[0].Direction != "incoming" {
		t.Errorf("%+v", all)
	}
	o.say("17.2", "101", call.Ended)
	o.until("the end of the call", o.stand("centrale/17.3 u102"))
}

// TestAnotherCall: a call with a new id is another call than the earlier ones if it still
// rings, or if they go on too, or are of other people or of the other direction.
func TestAnotherCall(t *testing.T) {
	var got []string
	h := start(t).leased("x", func(e call.Event) error { got = append(got, e.State.String()+" "+e.ID); return nil })
	for i, user := range []wire.User{"u101", "u102", "u103", "u103"} {
		h.earlier[fmt.Sprint("x/", i)] = calls.Record{Number: fmt.Sprint("069876001", i), Direction: "incoming",
			Legs: map[wire.User]*calls.Leg{user: {State: "answered"}}}
	}
	h.earlier["x/3"].Legs["u103"].State = "ended"
	const on = call.Answered
	for _, e := range []call.Event{
		{ID: "10", Number: "0698760010", Extension: "101", State: on}, {ID: "0", Number: "0698760010", Extension: "101", State: on},
		{ID: "11", Number: "0698760011", Extension: "102"}, {ID: "12", Number: "0698760012", Extension: "104", State: on},
		{ID: "13", Number: "0698760013", Extension: "103", State: on}, {ID: "14", Number: "0698760014", Extension: "103", State: on},
		{ID: "15", Number: "0698760012", Extension: "103", Direction: call.Outgoing, State: on},
	} {
		must.Do(t, h.receive(e))
	}
	h.setState(link.State{Phase: link.Connected})
	slices.Sort(got[7:])
	want := []string{"answered x/0", "ringing x/11", "answered x/12", "answered x/13", "answered x/14", "answered x/15", "answered x/10",
		"ended x/1", "ended x/2", "ended x/3"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// leased returns a link of this name that we hold, of which take takes the events.
func (o *office) leased(name string, take func(call.Event) error) *leasedLink {
	o.t.Helper()
	l := must.Get(acquire(o.t.Context(), o.leases, name, "r1"))(o.t)
	c := Config{Changed: func() {}, UsersOf: usersOf, Receive: func(_ context.Context, e call.Event, _ bool) error { return take(e) }}
	return &leasedLink{links: New(c), link: Link{Name: name}, lease: l, ongoing: map[string]bool{}, earlier: map[string]calls.Record{},
		renamed: map[string]string{}}
}

// TestLostLease: a relay that cannot renew its lease writes nothing after it has
// expired, even if the exchange reports calls or the lease is renewed later, and
// active calls do not end.
func TestLostLease(t *testing.T) {
	o := start(t)
	h := o.leased("centrale", func(call.Event) error { t.Error("it is written"); return nil })
	if _, err := acquire(t.Context(), o.leases, "centrale", "r2"); !errors.Is(err, errHeld) {
		t.Errorf("two have it: %v", err)
	}
	h.earlier["centrale/1"] = calls.Record{}
	h.lease.until.Store(new(time.Now()))
	for range 2 {
		if err := h.receive(call.Event{ID: "1"}); !errors.Is(err, errLeaseLost) {
			t.Error(err)
		}
		h.setState(link.State{Phase: link.Connected})
		h.lease.recordRenewal(h.lease.revision, time.Now()) // too late
	}
}

// unanswered is a bucket that performs the first update, but does not answer it.
type unanswered struct {
	jetstream.KeyValue
	updates chan uint64
}

func (u unanswered) Update(ctx context.Context, key string, b []byte, revision uint64) (uint64, error) {
	revision, err := u.KeyValue.Update(ctx, key, b, revision)
	if err == nil {
		if u.updates <- revision; len(u.updates) == 1 {
			return 0, context.DeadlineExceeded
		}
	}
	return revision, err
}

// TestUnanswered: a lease is not lost because a write to it was not answered; only the
// process that holds it can acquire it again, and it can still be released.
func TestUnanswered(t *testing.T) {
	o := start(t)
	kv := unanswered{o.leases, make(chan uint64, 8)}
	l := must.Get(acquire(t.Context(), kv, "centrale", "r1 a"))(t)
	stop := must.Run(t, l.renew)
	o.until("another renewal", func() bool { return len(kv.updates) == 2 })
	stop()
	if !l.held() {
		t.Error("it is lost")
	}
	if _, err := acquire(t.Context(), kv, "centrale", "r1 b"); !errors.Is(err, errHeld) {
		t.Errorf("another process: %v", err)
	}
	again := must.Get(acquire(t.Context(), kv, "centrale", "r1 a"))(t)
	again.revision = l.revision - 1 // the answer to its last renewal was lost
	again.release()
	must.Get(acquire(t.Context(), kv, "centrale", "r1 b"))(t)
}

// TestSettings: links follow the settings. An unchanged link stays up; calls
// continue if their link is changed, and end if it is removed or becomes unusable;
// an unusable link is reported as such.
func TestSettings(t *testing.T) {
	o := start(t)
	r := o.run("r1", 0)
	o.until("a link", r.is("connected"))
	since := r.States()[0].Since
	o.say("17.1", "101", call.Ringing)
	o.until("a call", o.stand("centrale/17.1 u101"))
	odd := Link{Name: "oud", Kind: registry.Wazo, Identity: 2, Open: func(func(string) bool) (link.Phone, error) { return nil, errors.New("no address") }}
	r.sets <- []Link{o.link(), odd}
	o.until("a second one", func() bool { s := r.States(); return len(s) == 2 && s[1].State == wire.LinkSettings })
	if s := r.States()[0]; s.State != "connected" || s.Since != since || s.LastCallAt.IsZero() {
		t.Errorf("the first one: %+v", s)
	}
	other := o.link()
	other.Identity = 3
	r.sets <- []Link{other}
	o.until("it is connected anew", func() bool {
		s := r.States()
		return len(s) == 1 && s[0].State == "connected" && s[0].Since.After(since)
	})
	o.say("17.2", "102", call.Ringing)
	o.until("another call beside the first", o.stand("centrale/17.1 u101", "centrale/17.2 u102"))
	other.Identity, other.Open = 4, odd.Open
	r.sets <- []Link{other}
	o.until("one that is wrong", r.is(wire.LinkSettings))
	o.until("no call", o.stand())
	r.sets <- []Link{o.link()}
	o.say("17.3", "103", call.Ringing)
	o.until("a call anew", o.stand("centrale/17.3 u103"))
	r.sets <- []Link{odd}
	o.until("one that is wrong, alone", r.is(wire.LinkSettings))
	o.until("no call at all", o.stand())
}

// TestIDs: whatever the ids of an exchange's calls and the name of a link, our ids are
// distinct, contain the link's name and fit.
func TestIDs(t *testing.T) {
	var got []call.Event
	h := start(t).leased("x", func(e call.Event) error { got = append(got, e); return nil })
	for _, name := range []string{"a", "a/b", "a-b", strings.Repeat("n", 300) + "1", strings.Repeat("n", 300) + "2"} {
		h.link = Link{Name: name, Extension: "7"}
		for _, id := range []string{"1", strings.Repeat("x", call.MaxID), strings.Repeat("x", call.MaxID-1) + "y", ""} {
			must.Do(t, h.receive(call.Event{ID: id}))
		}
	}
	seen := map[string]bool{}
	for _, e := range got {
		if seen[e.ID] || e.ID != e.Clean().ID || strings.Count(e.ID, "/") != 1 || e.Extension != "7" {
			t.Errorf("%+v", e)
		}
		seen[e.ID] = true
	}
	if len(got) != 15 {
		t.Errorf("%d events", len(got))
	}
}

// TestEnds: if extensions share a call's id, its end at one of them applies only to that
// one; an end without an extension, of another exchange's call, or of a link for one
// extension applies to all.
func TestEnds(t *testing.T) {
	var got call.Event
	h := start(t).leased("x", func(e call.Event) error { got = e; return nil })
	for _, tt := range []struct {
		kind      string
		link, end string // extensions
		want      string
	}{{registry.YeastarSocket, "", "101", "101"}, {registry.YeastarSocket, "", "", ""}, {registry.YeastarSocket, "101", "101", ""}, {registry.ARI, "", "101", ""}} {
		clear(h.ongoing)
		h.link.Kind, h.link.Extension = tt.kind, tt.link
		must.Do(t, h.receive(call.Event{ID: "1", Extension: "101"}))
		must.Do(t, h.receive(call.Event{ID: "1", Extension: tt.end, State: call.Ended}))
		if got.Extension != tt.want || h.ongoing["x/1"] != (tt.want != "") {
			t.Errorf("%+v: the end at %q", tt, got.Extension)
		}
	}
}

// TestEndNotTaken: a call whose end could not be passed on because its link is being
// removed ends with the link's other calls.
func TestEndNotTaken(t *testing.T) {
	var why error
	h := start(t).leased("x", func(call.Event) error { return why })
	h.earlier["x/2"] = calls.Record{}
	must.Do(t, h.receive(call.Event{ID: "1"}))
	why = context.Canceled
	for _, id := range []string{"1", "2"} {
		if err := h.receive(call.Event{ID: id, State: call.Ended}); !errors.Is(err, why) {
			t.Error(err)
		}
	}
	if len(h.ongoing) != 1 || len(h.earlier) != 1 {
		t.Errorf("forgotten: %v, %v", h.ongoing, h.earlier)
	}
}
