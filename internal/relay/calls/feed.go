package calls

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/bucketwatch"
	"wiebelt/internal/relay/wire"
)

// Feed publishes each user's calls at every change and answers requests for them. Every
// relay has one. All of them watch the same bucket, so they publish the same in the same
// order, and users are served as long as one relay lives.
type Feed struct {
	bucket *Bucket
	conn   *nats.Conn
	site   wire.Site
	relay  string
	log    *slog.Logger
	questions
	Hooks

	now       func() time.Time // time.Now, except in tests
	startedAt time.Time

	// Owned by Run's goroutine.
	epoch       jetstream.KeyValueEntry
	epochMillis int64 // from the epoch
	seq         uint64
	serverAhead time.Duration // of the server's clock
	healthyAt   time.Time     // when the bucket was last found healthy
	incomplete  bool          // the last check found less in the bucket than is known
	receipts
	view
	previous view // of the last watch that loaded everything
}

// receipts are computers' confirmations that they received the end of a call.
type receipts struct {
	inbox       string // where they are sent, and the server's reports that there is no computer
	received    chan *nats.Msg
	unconfirmed map[string]time.Time // by receiptSubject, since when; owned by Run's goroutine
}

// questions are users' requests for their current calls.
type questions struct {
	requests chan *nats.Msg
	answered map[wire.User]int // number of answers since the last check; owned by Run's goroutine
}

// Hooks are the relay's callbacks. They are optional, must be set before Run, and are
// called from Run's goroutine.
type Hooks struct {
	OnRecord    func(Record)           // called with every record
	OnLoaded    func()                 // called each time everything in the bucket is known
	DisplayName func(wire.User) string // returns the name colleagues see
	// OnMissed is called for a call that ended without the user answering it, and whose end
	// reached none of their computers.
	OnMissed func(u wire.User, c wire.Call, over time.Time)
}

// view is the known state of the bucket.
type view struct {
	calls  map[string]entry
	byUser map[wire.User]map[string]time.Time // keys of the calls shown to a user, with the time of their last change
}

// entry is a call as stored in the bucket. Its age is measured by our own clock only:
// relays' clocks differ.
type entry struct {
	record   Record
	revision uint64
	seen     time.Time // first
}

// maxPendingRequests is how many requests may wait; users retry the others.
const maxPendingRequests = 4096

// NewFeed returns the feed of the relay with the given name.
func NewFeed(b *Bucket, c *nats.Conn, site wire.Site, relay string, log *slog.Logger) *Feed {
	return &Feed{bucket: b, conn: c, site: site, relay: relay, log: log, questions: questions{make(chan *nats.Msg, maxPendingRequests), map[wire.User]int{}},
		now: time.Now, startedAt: time.Now(), Hooks: Hooks{OnLoaded: func() {}},
		receipts: receipts{nats.NewInbox(), make(chan *nats.Msg, maxPendingRequests), map[string]time.Time{}}}
}

// How often the feed checks for calls to purge and whether it still receives everything.
// Servers get some time to elect a new leader.
const (
	checkEvery   = 500 * time.Millisecond
	checkTime    = time.Second
	electionTime = 4 * time.Second
	watchPause   = 50 * time.Millisecond // before watching is retried
)

var errBehind = errors.New("the bucket of calls is not heard any more")

// ErrContentsLost reports that the bucket has lost its contents and must be reopened.
var ErrContentsLost = errors.New("the bucket of calls has lost what it knew")

// Run publishes until ctx ends or the bucket can no longer be read; it may then be called again. It
// restarts a watch that no longer receives everything, for instance because its server is gone.
func (f *Feed) Run(ctx context.Context) error {
	inbox, err := f.conn.ChanSubscribe(f.inbox+".*.*", f.received)
	if err != nil {
		return err
	}
	defer func() { _ = inbox.Unsubscribe() }()
	for {
		err := f.watch(ctx)
		if ctx.Err() != nil || errors.Is(err, ErrContentsLost) || err != errBehind && time.Since(f.healthyAt) > electionTime {
			return err
		}
		if err := wake.Pause(ctx, watchPause); err != nil {
			return err
		}
	}
}

// watch publishes for as long as it receives all changes. It publishes nothing until it
// knows the whole bucket: part of it is not news.
func (f *Feed) watch(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var maintaining sync.WaitGroup
	defer maintaining.Wait()
	defer stop()
	now, err := bucketwatch.QueryState(ctx, f.bucket.kv)
	if err != nil {
		return err
	}
	watch, err := bucketwatch.Begin(ctx, f.bucket.kv)
	if err != nil {
		return err
	}
	f.epoch, f.seq, f.serverAhead, f.incomplete, f.view = nil, 0, now.ServerAhead, false, view{map[string]entry{},
		map[wire.User]map[string]time.Time{}}
	due, done := make(chan check), make(chan check)
	began, loaded, lastSeq := time.Now(), false, uint64(0)
	tick := time.Tick(checkEvery)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open := <-watch.Updates():
			if !open {
				return cmp.Or[error](ctx.Err(), errBehind)
			}
			if e != nil {
				f.apply(e, loaded)
			}
			if loaded {
				continue
			}
			if loaded, err = watch.Loaded(e); err != nil {
				return err
			}
			if !loaded {
				continue
			}
			f.healthyAt = time.Now()
			f.publishAll()
			maintaining.Go(func() { f.maintain(ctx, due, done) })
			sub, err := f.conn.ChanQueueSubscribe(f.site.AllUsersSubject(wire.TopicCurrentCalls), "relays", f.requests)
			if err != nil {
				return err
			}
			defer func() { _ = sub.Unsubscribe() }()
			f.OnLoaded()
		case m := <-f.requests:
			f.answer(m)
		case m := <-f.received:
			f.handleReceipt(m)
		case <-tick:
			clear(f.answered)
			f.checkReceipts(f.now())
			if !loaded && time.Since(began) > electionTime {
				return ErrContentsLost
			}
			select {
			case due <- check{expired: f.expired(f.now()), epoch: f.epoch, known: f.seq}:
			default: // the previous one is still running
			}
		case c := <-done:
			if err := f.verify(c, lastSeq); err != nil {
				return err
			}
			lastSeq = f.seq
		}
	}
}

// maxAnswers limits the answers to one user within checkEvery. Computers ask when they
// connect; one that keeps asking must not keep others from being answered.
const maxAnswers = 256

func (f *Feed) answer(m *nats.Msg) {
	u, err := wire.Asker(m.Subject, m.Reply)
	if err != nil || f.answered[u] >= maxAnswers {
		return
	}
	f.answered[u]++
	_ = m.Respond(f.snapshot(u, f.now()).Encode())
}

// check is what to purge from the bucket, what was known of it then, and its state afterwards.
type check struct {
	expired map[string]uint64 // revisions by key
	epoch   jetstream.KeyValueEntry
	known   uint64
	state   bucketwatch.State
	err     error
}

// verify returns what is wrong with the bucket. lastSeq is the revision reached
// at the previous check.
func (f *Feed) verify(c check, lastSeq uint64) error {
	switch {
	case c.err != nil:
		return c.err
	case f.epoch == nil, c.state.Newest < c.known && f.incomplete:
		return ErrContentsLost
	case c.state.Newest < c.known: // or this is from a former leader that was cut off
		f.incomplete = true
		return nil
	case c.state.Newest > f.seq && f.seq == lastSeq:
		return errBehind
	}
	f.healthyAt, f.serverAhead, f.incomplete = time.Now(), c.state.ServerAhead, false
	return nil
}

// maintain purges expired calls and checks the bucket, off the goroutine
// that publishes to users.
func (f *Feed) maintain(ctx context.Context, due <-chan check, done chan<- check) {
	for since := time.Now(); ; {
		var c check
		select {
		case <-ctx.Done():
			return
		case c = <-due:
			f.bucket.purge(ctx, c.expired, c.epoch)
		}
		if c.state, c.err = bucketwatch.QueryState(ctx, f.bucket.kv); c.err == nil {
			since = time.Now()
			f.bucket.full.Store(c.state.Full)
		} else if time.Since(since) < electionTime {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case done <- c:
		}
	}
}

func (f *Feed) expired(now time.Time) map[string]uint64 {
	over := map[string]uint64{}
	for key, c := range f.calls {
		if now.Sub(c.seen) >= c.record.retention() {
			over[key] = c.revision
		}
	}
	return over
}

// publishAll publishes to all users who have calls or had some in the previous watch. Calls
// missed before the feed was created are not reported.
func (f *Feed) publishAll() {
	now, missed := f.now(), map[string]wire.User{}
	for key, c := range f.calls {
		for u, l := range c.record.Legs {
			if reply := f.receiptSubject(u, key, f.previous.calls[key].record, c.record); reply != "" && !l.At.Before(f.startedAt) {
				missed[reply] = u
			}
		}
	}
	everybody := maps.Clone(f.byUser)
	maps.Copy(everybody, f.previous.byUser)
	for u := range everybody {
		f.publish(u, now, "")
	}
	for reply, u := range missed {
		f.publish(u, now, reply)
	}
	f.previous = f.view // shared, so it follows further changes
}

// apply takes one change of the bucket and publishes to the users affected: a call that
// rings at hundreds may be reported for each of them separately. A change's age comes from
// the server's timestamp, since a relay may receive it late.
func (f *Feed) apply(e jetstream.KeyValueEntry, publish bool) {
	f.seq = e.Revision()
	if e.Key() == epochKey {
		if f.epoch = e; e.Operation() != jetstream.KeyValuePut {
			f.epoch = nil
		}
		f.epochMillis, _ = strconv.ParseInt(string(e.Value()), 10, 64)
		return
	}
	key, now := e.Key(), f.now()
	since := now.Add(-max(0, time.Since(e.Created().Add(-f.serverAhead))))
	before := f.calls[key].record
	after := f.updateEntry(e, now)
	newest := after.newest()
	for u, l := range after.Legs {
		if f.byUser[u] == nil {
			f.byUser[u] = map[string]time.Time{}
		}
		heard := f.isShown(u, key, before, now)
		if was := before.Legs[u]; was == nil || was.State != l.State {
			f.byUser[u][key] = since.Add(l.At.Sub(newest))
			f.makeRoom(u)
		}
		if publish && (heard || f.isShown(u, key, after, now)) && differs(u, before, after) {
			f.publish(u, now, f.receiptSubject(u, key, before, after))
		}
	}
	for u := range before.Legs {
		if after.Legs[u] != nil {
			continue
		}
		heard := f.isShown(u, key, before, now)
		if delete(f.byUser[u], key); len(f.byUser[u]) == 0 {
			delete(f.byUser, u)
		}
		if publish && heard && differs(u, before, after) {
			f.publish(u, now, "")
		}
	}
}

// maxUserCalls limits the calls considered for a user's snapshot, which holds fewer: an exchange
// that floods one phone must not delay what is published to all others.
const maxUserCalls = 4 * wire.MaxCalls

// makeRoom drops a call from a user's list if there are too many. A change of that call
// brings it back.
func (f *Feed) makeRoom(u wire.User) {
	if len(f.byUser[u]) <= maxUserCalls {
		return
	}
	var out string
	var least wire.Call
	for key := range f.byUser[u] {
		c, _ := f.calls[key].record.ForUser(u) // the zero value, if no snapshot has it, counts as old
		if out == "" || c.Compare(least) < 0 {
			out, least = key, c
		}
	}
	delete(f.byUser[u], out)
}

// updateEntry stores the bucket's current value of a call.
func (f *Feed) updateEntry(e jetstream.KeyValueEntry, now time.Time) (r Record) {
	delete(f.calls, e.Key())
	if e.Operation() != jetstream.KeyValuePut {
		return r
	}
	r, err := parse(e.Value())
	if err != nil {
		f.log.Warn("a call in the bucket cannot be read", "revision", e.Revision())
	}
	if previous := f.previous.calls[e.Key()]; previous.revision == e.Revision() {
		now = previous.seen
	}
	f.calls[e.Key()] = entry{r, e.Revision(), now}
	if f.OnRecord != nil {
		f.OnRecord(r)
	}
	return r
}

// isShown reports whether a user is shown a call. Ended calls are shown for a while.
func (f *Feed) isShown(u wire.User, key string, r Record, now time.Time) bool {
	since, ok := f.byUser[u][key]
	return ok && (r.Legs[u].State != call.Ended.String() || now.Sub(since) < wire.EndedShownFor)
}

// publish sends a user their current calls. Unless reply is "", the user's computers confirm
// that to it; if there is none, the server says so.
func (f *Feed) publish(u wire.User, now time.Time, reply string) {
	if reply != "" && len(f.unconfirmed) < maxUnconfirmed {
		f.unconfirmed[reply] = now
	}
	if err := f.conn.PublishMsg(&nats.Msg{Subject: f.site.UserSubject(wire.TopicCalls, u), Reply: reply, Data: f.snapshot(u,
		now).Encode()}); err != nil {
		f.log.Warn("a snapshot was not published", "why", err)
	}
}

// receiptSubject returns where to confirm the end of a call the user did not answer; "" for
// any other change.
func (f *Feed) receiptSubject(u wire.User, key string, before, after Record) string {
	was, is, over := before.Legs[u], after.Legs[u], call.Ended.String()
	if f.OnMissed == nil || is.State != over || is.Answered != nil || is.Rang.IsZero() ||
		was != nil && was.State == over || call.ParseDirection(after.DirectionOf(is)) != call.Incoming {
		return ""
	}
	return f.inbox + "." + u.Token() + "." + key
}

// maxUnconfirmed bounds the ends that wait to be confirmed; of the rest the server still reports
// if there is no computer.
const maxUnconfirmed = 1 << 16

// handleReceipt handles a confirmation of a call's end, or the server's report that nobody
// received it.
func (f *Feed) handleReceipt(m *nats.Msg) {
	delete(f.unconfirmed, m.Subject)
	if m.Header.Get("Status") == "503" {
		f.reportMissed(m.Subject)
	}
}

// checkReceipts reports the calls whose end was not confirmed in time: a computer that was just
// closed or has lost its network is still connected as far as the server knows.
func (f *Feed) checkReceipts(now time.Time) {
	for subject, since := range f.unconfirmed {
		if now.Sub(since) >= wire.ReceiptTime {
			delete(f.unconfirmed, subject)
			f.reportMissed(subject)
		}
	}
}

func (f *Feed) reportMissed(subject string) {
	part := strings.Split(subject, ".")
	u, err := wire.UserOf(part[len(part)-2])
	if err != nil {
		return
	}
	r := f.calls[part[len(part)-1]].record
	if l := r.Legs[u]; l != nil && l.State == call.Ended.String() { // unless it rings here again
		c, _ := f.call(r, u)
		f.OnMissed(u, c, l.At)
	}
}

func (f *Feed) snapshot(u wire.User, now time.Time) wire.Snapshot {
	s := wire.Snapshot{Relay: f.relay, Epoch: f.epochMillis, Seq: f.seq, At: now.UTC(), Calls: []wire.Call{}}
	for key := range f.byUser[u] {
		r := f.calls[key].record
		if c, ok := f.call(r, u); ok && f.isShown(u, key, r, now) {
			s.Calls = append(s.Calls, c)
		}
	}
	return s
}

// call is Record.ForUser, with AnsweredBy replaced by the name colleagues see.
func (f *Feed) call(r Record, u wire.User) (c wire.Call, ok bool) {
	if c, ok = r.ForUser(u); c.AnsweredBy != "" && f.DisplayName != nil {
		c.AnsweredBy = f.DisplayName(wire.User(c.AnsweredBy))
	}
	return c, ok
}

// differs reports whether a call has changed for a user.
func differs(u wire.User, before, after Record) bool {
	was, _ := before.ForUser(u)
	is, _ := after.ForUser(u)
	return !reflect.DeepEqual(was, is)
}
