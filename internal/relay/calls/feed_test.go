package calls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

const site wire.Site = "kantoor"

// relays starts a server with several relays' feeds on it, which answer users.
func relays(t *testing.T, names ...string) (*Bucket, *nats.Conn) {
	t.Helper()
	c, js := natstest.Start(t, t.TempDir())
	b := must.Get(Open(t.Context(), js, 1))(t)
	for _, name := range names {
		f, loaded := newFeed(b, c, name), make(chan struct{})
		f.OnLoaded = sync.OnceFunc(func() { close(loaded) })
		start(t, f)
		must.Receive(t, loaded, "the end of loading")
	}
	return b, c
}

func newFeed(b *Bucket, c *nats.Conn, relay string) *Feed {
	return NewFeed(b, c, site, relay, slog.New(slog.DiscardHandler))
}

// start runs a feed until stop is called or the test ends.
func start(t *testing.T, f *Feed) (stop func()) {
	return must.Run(t, func(ctx context.Context) {
		if err := f.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// desk follows snapshots like a user's Wiebelt.
type desk struct {
	t    *testing.T
	in   chan *nats.Msg
	last wire.Snapshot
}

func follow(t *testing.T, c *nats.Conn, u wire.User) *desk {
	t.Helper()
	d := &desk{t: t, in: make(chan *nats.Msg, 1024)}
	must.Get(c.Subscribe(site.UserSubject(wire.TopicCalls, u), func(m *nats.Msg) {
		if m.Reply != "" {
			_ = m.Respond(nil)
		}
		d.in <- m
	}))(t)
	must.Do(t, c.Flush())
	return d
}

// until reads newer snapshots until one has the wanted calls.
func (d *desk) until(want ...string) {
	d.t.Helper()
	for {
		var now []string
		for _, c := range d.last.Calls {
			now = append(now, c.ID+" "+c.State)
		}
		if slices.Equal(now, want) {
			return
		}
		m := must.Receive(d.t, d.in, fmt.Sprintf("%q after %q", want, now))
		if s := must.Get(wire.ParseSnapshot(m.Data))(d.t); s.Compare(d.last) > 0 {
			d.last = s
		}
	}
}

// ask returns a relay's answer once that is at least as new as seen.
func ask(t *testing.T, c *nats.Conn, u wire.User, seen wire.Snapshot) wire.Snapshot {
	t.Helper()
	for {
		s := must.Get(wire.ParseSnapshot(must.Get(natstest.Ask(c, site.UserSubject(wire.TopicCurrentCalls, u), nil))(t)))(t)
		if s.Compare(seen) >= 0 {
			return s
		}
	}
}

func reportOf(id string, s call.State, users ...wire.User) Report {
	return Report{Event: call.Event{ID: id, State: s, At: time.Now()}, Users: users}
}

func tell(t *testing.T, b *Bucket, id string, s call.State, users ...wire.User) {
	t.Helper()
	must.Do(t, b.Store(t.Context(), reportOf(id, s, users...)))
}

// TestFeed: users receive their own calls from whichever relay is first, and
// get the same when they ask later.
func TestFeed(t *testing.T) {
	b, c := relays(t, "r1", "r2")
	anna, bob := follow(t, c, "anna"), follow(t, c, "bob")
	tell(t, b, "wazo/0", call.Ended, "anna") // never rang
	tell(t, b, "wazo/1", call.Ringing, "anna", "bob")
	tell(t, b, "wazo/2", call.Ringing, "bob")
	anna.until("wazo/1 ringing")
	bob.until("wazo/1 ringing", "wazo/2 ringing")
	tell(t, b, "wazo/1", call.Answered, "anna")
	tell(t, b, "wazo/1", call.Ended, "bob")
	anna.until("wazo/1 answered")
	bob.until("wazo/1 ended", "wazo/2 ringing")
	if got := bob.last.Calls[0]; got.AnsweredBy != "anna" || !got.AnsweredElsewhere || got.Reason != "elsewhere" {
		t.Errorf("bob is told %+v", got)
	}
	if now := ask(t, c, "bob", bob.last); len(now.Calls) != 2 {
		t.Errorf("asked: %+v; heard %+v", now, bob.last)
	}
	if now := ask(t, c, "carla", bob.last); len(now.Calls) != 0 {
		t.Errorf("who has no calls: %+v", now)
	}
	for len(anna.in) > 0 { // without bob's second call
		if s, err := wire.ParseSnapshot((<-anna.in).Data); err != nil || len(s.Calls) != 1 {
			t.Errorf("anna is told %+v, %v", s, err)
		}
	}
}

// TestAtOnce: relays that report the same call simultaneously lose nothing, and an
// unreadable value blocks nobody.
func TestAtOnce(t *testing.T) {
	b, c := relays(t, "r1")
	must.Get(b.kv.Put(t.Context(), Key("wazo/1"), []byte("{broken")))(t)
	var all sync.WaitGroup
	for i := range 20 {
		u := wire.User(fmt.Sprint("u", i))
		d := follow(t, c, u)
		all.Go(func() { tell(t, b, "wazo/1", call.Ringing, u) })
		defer func() { d.until("wazo/1 ringing") }()
	}
	all.Wait()
}

// TestFlood: when an exchange floods a phone, the feed considers only the newest calls and
// the answered ones; a dropped call comes back once it is answered. The bucket is bounded.
func TestFlood(t *testing.T) {
	b, c := relays(t)
	f := newFeed(b, c, "r1")
	stop := start(t, f)
	anna, bob := follow(t, c, "anna"), follow(t, c, "bob")
	tell(t, b, "talks", call.Answered, "anna")
	for i := range maxUserCalls + 20 {
		tell(t, b, fmt.Sprint("flood/", i), call.Ringing, "anna")
	}
	tell(t, b, "flood/0", call.Answered, "anna")
	tell(t, b, "other", call.Ringing, "bob")
	bob.until("other ringing")
	now := ask(t, c, "anna", bob.last)
	stop()
	is := func(id string) bool {
		return slices.ContainsFunc(now.Calls, func(c wire.Call) bool { return c.ID == id })
	}
	newest := true
	for i := range wire.MaxCalls - 2 {
		newest = newest && is(fmt.Sprint("flood/", maxUserCalls+19-i))
	}
	if n := len(f.byUser["anna"]); n != maxUserCalls || !is("talks") || !is("flood/0") || !newest || len(anna.in) == 0 {
		t.Errorf("%d calls are gone through; told of %+v", n, now.Calls)
	}
	s := must.Get(must.Get(jetstream.New(c))(t).Stream(t.Context(), "KV_calls"))(t).CachedInfo().Config
	if s.MaxBytes != maxBytes {
		t.Errorf("the bucket takes %d bytes", s.MaxBytes)
	}
	s.MaxBytes = 64 << 10
	must.Get(must.Get(jetstream.New(c))(t).UpdateStream(t.Context(), s))(t)
	for _, state := range []call.State{call.Ringing, call.Answered} {
		var err error
		for i := 0; err == nil && i < 1000; i++ {
			err = b.Store(t.Context(), reportOf(fmt.Sprint("more/", i), state, "anna"))
		}
		if !errors.Is(err, ErrFull) {
			t.Errorf("more than it holds, %s: %v", state, err)
		}
	}
	over := reportOf("flood/1", call.Ended, "anna")
	over.Reason, over.AnsweredBy = call.AnsweredElsewhere, strings.Repeat("b", 200)
	must.Do(t, b.Store(t.Context(), over))
	if _, revision, err := b.get(t.Context(), Key("flood/1")); revision != 0 || err != nil {
		t.Errorf("a call that has ended is still there: revision %d, %v", revision, err)
	}
	s.MaxBytes = 68 << 10
	must.Get(must.Get(jetstream.New(c))(t).UpdateStream(t.Context(), s))(t)
	due, done := make(chan check), make(chan check)
	go f.maintain(t.Context(), due, done)
	due <- check{}
	<-done
	if err := b.Store(t.Context(), reportOf("fresh", call.Ringing, "anna")); !errors.Is(err, ErrFull) {
		t.Errorf("a new call where only ends have room: %v", err)
	}
	tell(t, b, "flood/2", call.Ended, "anna")
	if r, _, err := b.get(t.Context(), Key("flood/2")); !r.Ended() || err != nil {
		t.Errorf("the end of a call is %+v, %v", r, err)
	}
}

// TestAskedOften: a user who asks all the time does not get an answer every
// time, and others still get theirs.
func TestAskedOften(t *testing.T) {
	b, c := relays(t, "r1")
	bob := follow(t, c, "bob")
	tell(t, b, "wazo/1", call.Ringing, "bob")
	bob.until("wazo/1 ringing")
	answers := make(chan *nats.Msg, maxPendingRequests/2)
	must.Get(c.ChanSubscribe(wire.Inbox("anna")+".>", answers))(t)
	began := time.Now()
	for range cap(answers) {
		must.Do(t, c.PublishRequest(site.UserSubject(wire.TopicCurrentCalls, "anna"), wire.Inbox("anna")+".x", nil))
	}
	_ = ask(t, c, "bob", bob.last)
	if most := maxAnswers * (2 + int(time.Since(began)/checkEvery)); len(answers) == 0 || len(answers) > most {
		t.Errorf("answered %d times, at most %d", len(answers), most)
	}
}

// small is somebody else's JetStream that has no room to reserve for us.
type small struct{ jetstream.JetStream }

func (s small) CreateOrUpdateKeyValue(ctx context.Context, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	if c.MaxBytes > 0 {
		return nil, &jetstream.APIError{Code: 500, ErrorCode: 10028, Description: "insufficient memory resources available"}
	}
	return s.JetStream.CreateOrUpdateKeyValue(ctx, c)
}

// TestSmall: servers that cannot reserve room for the calls can be used too.
func TestSmall(t *testing.T) {
	_, c := relays(t)
	b := must.Get(Open(t.Context(), small{must.Get(jetstream.New(c))(t)}, 1))(t)
	tell(t, b, "wazo/1", call.Ringing, "anna")
}

// TestRingGroup: if a call rings at many users, reported separately or together, each of
// them is notified once, and all are notified of its end.
func TestRingGroup(t *testing.T) {
	b, c := relays(t, "r1")
	var all []*desk
	var users []wire.User
	for i := range 40 {
		users = append(users, wire.User(fmt.Sprint("u", i)))
		all = append(all, follow(t, c, users[i]))
	}
	for _, u := range users {
		tell(t, b, "wazo/1", call.Ringing, u)
	}
	once := func(calls ...string) {
		t.Helper()
		for _, d := range all {
			d.until(calls...)
		}
		for i, d := range all {
			if len(d.in) > 0 {
				t.Errorf("%d is told %d times more", i, len(d.in))
			}
		}
	}
	once("wazo/1 ringing")
	tell(t, b, "wazo/2", call.Ringing, users...)
	once("wazo/1 ringing", "wazo/2 ringing")
	tell(t, b, "wazo/1", call.Ended)
	once("wazo/1 ended", "wazo/2 ringing")
}

// TestTogether: reports on one call that are written to the bucket
// together make one change, in order.
func TestTogether(t *testing.T) {
	b, c := relays(t, "r1")
	anna := follow(t, c, "anna")
	rings := reportOf("wazo/1", call.Ringing, "anna")
	must.Do(t, b.Store(t.Context(), rings, reportOf("wazo/1", call.Answered, "anna"), rings))
	anna.until("wazo/1 answered")
	if len(anna.in) > 0 {
		t.Error("she is told more than once")
	}
}

// TestClocks: whatever the relays' clocks show, a report's age counts from its arrival.
// A call is published for as long as it lasts, and its end for a while; calls that
// ended longer ago leave the bucket.
func TestClocks(t *testing.T) {
	b, c := relays(t)
	var later atomic.Int64 // added to all relays' clocks
	clocks := []time.Duration{-lifetime, lifetime}
	for i, off := range clocks {
		f := newFeed(b, c, fmt.Sprint("r", i))
		f.now = func() time.Time { return time.Now().Add(off + time.Duration(later.Load())) }
		start(t, f)
	}
	anna := follow(t, c, "anna")
	say := func(by int, id string, s call.State) {
		t.Helper()
		r := reportOf(id, s, "anna")
		r.At = r.At.Add(clocks[by])
		must.Do(t, b.Store(t.Context(), r))
	}
	watch := must.Get(b.kv.WatchAll(t.Context()))(t)
	say(0, "a", call.Ringing)
	for i, id := range []string{"b", "c"} {
		say(i, id, call.Ringing)
		anna.until("a ringing", id+" ringing")
		say(1-i, id, call.Answered)
		anna.until("a ringing", id+" answered")
		say(i, id, call.Ended)
		anna.until("a ringing", id+" ended")
		for heard := map[string]bool{}; len(heard) < len(clocks); { // until each has answered
			heard[ask(t, c, "anna", anna.last).Relay] = true
		}
		later.Add(int64(wire.EndedShownFor))
		if now := ask(t, c, "anna", anna.last); len(now.Calls) != 1 {
			t.Errorf("what ended long ago is told still: %+v", now)
		}
		later.Add(int64(endedRetention))
		for e := range watch.Updates() {
			if e != nil && e.Operation() == jetstream.KeyValueDelete {
				if e.Key() == Key("a") {
					t.Fatal("what goes on is taken out")
				}
				if e.Key() == Key(id) {
					break
				}
			}
		}
	}
	later.Add(int64(lifetime)) // its end is not reported
	anna.until()
}

// TestMissed: a call whose end nobody received is reported once, whatever restarts or goes without
// a word. Calls that were over before the relay started are left to others.
func TestMissed(t *testing.T) {
	b, c := relays(t)
	carla := follow(t, c, "carla")
	asleep := must.Get(c.SubscribeSync(site.UserSubject(wire.TopicCalls, "eva")))(t)
	miss := func(id string, u wire.User) { tell(t, b, id, call.Ringing, u); tell(t, b, id, call.Ended, u) }
	miss("wazo/0", "anna")
	f := newFeed(b, c, "r1")
	var later atomic.Int64
	f.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	missed := make(chan string, 16)
	f.OnMissed = func(u wire.User, c wire.Call, _ time.Time) { missed <- string(u) + " " + c.ID }
	is := func(want string) {
		t.Helper()
		if got := must.Receive(t, missed, "word of "+want); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	miss("wazo/4", "bob")
	stop := start(t, f)
	is("bob wazo/4")
	for _, s := range []call.State{call.Ringing, call.Answered, call.Ended} { // not missed
		tell(t, b, "wazo/5", s, "dirk")
		outgoing := reportOf("wazo/6", s, "dirk")
		outgoing.Direction = call.Outgoing
		must.Do(t, b.Store(t.Context(), outgoing))
		if outgoing.ID = "wazo/9"; s != call.Answered {
			must.Do(t, b.Store(t.Context(), outgoing))
		}
	}
	tell(t, b, "wazo/1", call.Ringing, "anna", "carla")
	carla.until("wazo/1 ringing")
	miss("wazo/2", "anna")
	is("anna wazo/2")
	stop()
	tell(t, b, "wazo/1", call.Ended)
	tell(t, b, "wazo/7", call.Ended, "dirk") // never rang
	start(t, f)
	is("anna wazo/1")
	carla.until("wazo/1 ended") // and has confirmed that
	miss("wazo/3", "bob")
	is("bob wazo/3")
	miss("wazo/6", "bob") // dirk dialled it and passed it on
	is("bob wazo/6")
	miss("wazo/8", "eva")
	for end := ""; end == ""; { // it waits for eva's confirmation
		end = must.Get(asleep.NextMsg(must.Patience))(t).Reply
	}
	later.Store(int64(wire.ReceiptTime))
	is("eva wazo/8")
}
