// Package journal keeps the calls that rang for users while none of their computers was
// listening. They stay in a stream on disk until the user's Wiebelt has them, at most for
// some days. It is not a key-value bucket because deleted calls are overwritten in the
// file, which buckets do not allow.
//
// All methods are safe for concurrent use. Run's goroutine writes what is queued; Page,
// Forget and CopyFrom also change the stream, on their callers' goroutines, and wait for the
// server.
package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/wire"
)

// Name is the stream's name.
const Name = "journal"

const (
	subjectRoot = "JOURNAL." // followed by user and call
	maxValue    = 4 << 10
	maxKept     = 100_000 // calls of a site: an exchange that floods it must not fill the disk
	maxQueued   = 4096    // calls that are not in the stream yet
	// expireEvery is how often old calls are deleted.
	expireEvery = time.Hour
	warnEvery   = 10 * time.Second
)

// Journal holds the missed calls of a site.
type Journal struct {
	js     jetstream.JetStream
	stream jetstream.Stream // nil if nothing is kept
	life   time.Duration
	queue  chan note
	log    *slog.Logger
	now    func() time.Time

	removed        atomic.Pointer[[]wire.User] // removed users, from ForgetUsers
	removedChanged chan struct{}               // removed has changed
	purged         map[wire.User]bool          // removed users whose calls are deleted; used by Run only
	blocked        bool                        // the last call could not be written; used by Run only
	warned         rate.Sometimes              // that too many wait
}

type note struct {
	user    wire.User
	call    wire.Call
	endedAt time.Time
}

// Open opens or creates the stream, on the given number of replicas. With days 0 it deletes
// the stream and everything in it.
func Open(ctx context.Context, js jetstream.JetStream, replicas, days int, log *slog.Logger) (*Journal, error) {
	j := &Journal{js: js, life: time.Duration(days) * 24 * time.Hour, queue: make(chan note, maxQueued), log: log, now: time.Now,
		removedChanged: make(chan struct{}, 1), warned: rate.Sometimes{Interval: warnEvery}}
	j.removed.Store(new([]wire.User))
	if days <= 0 {
		if err := js.DeleteStream(ctx, Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, failed(err)
		}
		return j, nil
	}
	// Run deletes old calls. A maximum age for the stream would leave their bytes in the file.
	var err error
	j.stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: Name, Subjects: []string{subjectRoot + ">"}, Replicas: replicas,
		MaxMsgSize: maxValue, MaxMsgs: maxKept, Discard: jetstream.DiscardNew})
	return j, failed(err)
}

// OpenExisting opens the stream as it is, without creating or deleting it, to delete
// calls while a relay runs.
func OpenExisting(ctx context.Context, js jetstream.JetStream) (*Journal, error) {
	stream, err := js.Stream(ctx, Name)
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, failed(err)
	}
	return &Journal{stream: stream}, nil
}

func failed(err error) error {
	if err != nil {
		err = fmt.Errorf("the missed calls: %w", err)
	}
	return err
}

func subjectOf(u wire.User) string { return subjectRoot + u.Token() + ".*" }

// Enqueue queues an ended call that none of the user's computers received. It never blocks.
func (j *Journal) Enqueue(u wire.User, c wire.Call, over time.Time) {
	if j.stream == nil {
		return
	}
	select {
	case j.queue <- note{u, c, over}:
	default:
		j.warned.Do(func() { j.log.Warn("a missed call is not kept: too many wait") })
	}
}

// Run writes queued calls and deletes old ones until ctx ends. What it cannot write by then
// is left to the next Run.
func (j *Journal) Run(ctx context.Context) error {
	if j.stream == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	expire := time.Tick(expireEvery)
	j.expire(ctx)
	wake.Up(j.removedChanged)
	for {
		select {
		case <-j.removedChanged:
			if j.forgetGone(ctx) != nil {
				time.AfterFunc(forgetAgain, func() { wake.Up(j.removedChanged) })
			}
		case n := <-j.queue:
			j.store(ctx, n)
		case <-expire:
			j.expire(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			for range len(j.queue) {
				j.store(last, <-j.queue)
			}
			return ctx.Err()
		}
	}
}

// retryPause is the pause before storing a call is retried, since electing a leader takes
// seconds. flushTimeout limits the retries once Run is to end.
const (
	retryPause   = 250 * time.Millisecond
	flushTimeout = 2 * time.Second
)

// store writes a call, or if that fails queues it again after a pause. If several relays
// store the same call, one succeeds. Calls of users removed in the meantime are dropped.
func (j *Journal) store(ctx context.Context, n note) {
	if slices.Contains(*j.removed.Load(), n.user) {
		return
	}
	c := n.call
	value, err := json.Marshal(wire.MissedCall{Number: c.Number, Line: c.Line, Queue: c.Queue, Reason: c.Reason, AnsweredBy: c.AnsweredBy, Rang: c.Began, Ended: n.endedAt})
	if err != nil {
		j.log.Error("a missed call is not kept", "why", err)
		return
	}
	key := calls.Key(fmt.Sprint(c.ID, " ", c.Began.UnixNano())) // an exchange may reuse an id
	_, err = j.js.Publish(ctx, subjectRoot+n.user.Token()+"."+key, value, jetstream.WithExpectLastSequencePerSubject(0))
	waits := err != nil && !alreadyStored(err)
	if waits && !j.blocked {
		j.log.Warn("missed calls wait to be kept", "why", err)
	}
	if j.blocked = waits; waits {
		_ = wake.Pause(ctx, retryPause)
		j.Enqueue(n.user, c, n.endedAt)
	}
}

// alreadyStored reports whether another relay has already stored the call. Replicated
// streams have an error code of their own for that.
func alreadyStored(err error) bool {
	there, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (there.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || there.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func (j *Journal) expire(ctx context.Context) {
	before := j.now().Add(-j.life)
	if _, err := j.Forget(ctx, func(m wire.MissedCall) bool { return m.Ended.Before(before) }); err != nil && ctx.Err() == nil {
		j.log.Warn("old missed calls are still there", "why", err)
	}
}

// Page returns as many of the user's calls as fit in an answer, oldest first. It first
// deletes those of the previous page, whose LastSeq is given.
func (j *Journal) Page(ctx context.Context, u wire.User, seen uint64) (page wire.JournalAnswer, err error) {
	page.At = j.now().UTC()
	if j.stream == nil {
		return page, nil
	}
	if seen > 0 {
		if _, err := j.forget(ctx, subjectOf(u), func(m *jetstream.RawStreamMsg) bool { return m.Sequence <= seen }); err != nil {
			return page, err
		}
	}
	after := j.now().Add(-j.life)
	err = j.each(ctx, subjectOf(u), func(raw *jetstream.RawStreamMsg) bool {
		var m wire.MissedCall
		return json.Unmarshal(raw.Data, &m) != nil || m.Ended.Before(after) || page.Add(m, raw.Sequence)
	})
	return page, err
}

// ForgetUsers makes Run delete all calls of removed users and keep no
// more. gone is the complete list, and must not be changed afterwards. It never blocks.
func (j *Journal) ForgetUsers(gone []wire.User) {
	j.removed.Store(&gone)
	wake.Up(j.removedChanged)
}

// forgetAgain is the pause before failed deletions are retried.
const forgetAgain = 5 * time.Second

// forgetGone deletes the calls of each listed user, and only once while the user stays
// listed.
func (j *Journal) forgetGone(ctx context.Context) (err error) {
	done := map[wire.User]bool{}
	for _, u := range *j.removed.Load() {
		forgot := j.purged[u]
		if !forgot && err == nil { // after an error, the others would fail too
			_, err = j.forget(ctx, subjectOf(u), func(*jetstream.RawStreamMsg) bool { return true })
			forgot = err == nil
		}
		if forgot {
			done[u] = true
		}
	}
	j.purged = done
	if err != nil && ctx.Err() == nil {
		j.log.Error("missed calls of users who were removed are still there", "why", err)
	}
	return err
}

// CopyFrom copies the calls of another journal, which keeps them.
func (j *Journal) CopyFrom(ctx context.Context, from jetstream.JetStream) error {
	old, err := OpenExisting(ctx, from)
	if err != nil || j.stream == nil || old.stream == nil {
		return err
	}
	var wrong error
	err = old.each(ctx, subjectRoot+">", func(m *jetstream.RawStreamMsg) bool {
		if _, err := j.js.Publish(ctx, m.Subject, m.Data, jetstream.WithExpectLastSequencePerSubject(0)); err != nil && !alreadyStored(err) {
			wrong = err
		}
		return wrong == nil
	})
	return failed(cmp.Or(err, wrong))
}

// Forget deletes matching calls of all users and returns how many there were. It also
// deletes unreadable ones.
func (j *Journal) Forget(ctx context.Context, is func(wire.MissedCall) bool) (int, error) {
	return j.forget(ctx, subjectRoot+">", func(raw *jetstream.RawStreamMsg) bool {
		var m wire.MissedCall
		return json.Unmarshal(raw.Data, &m) != nil || is(m)
	})
}

// forget overwrites matching calls below a subject.
func (j *Journal) forget(ctx context.Context, below string, is func(*jetstream.RawStreamMsg) bool) (n int, err error) {
	if j.stream == nil {
		return 0, nil
	}
	var wrong error
	err = j.each(ctx, below, func(m *jetstream.RawStreamMsg) bool {
		if !is(m) {
			return true
		}
		switch err := j.stream.SecureDeleteMsg(ctx, m.Sequence); {
		case err == nil:
			n++
		case !errors.Is(err, jetstream.ErrMsgNotFound): // another relay was first
			wrong = err
		}
		return true
	})
	return n, failed(cmp.Or(err, wrong))
}

// each passes the calls below a subject to do, oldest first, until do returns false.
func (j *Journal) each(ctx context.Context, below string, do func(*jetstream.RawStreamMsg) bool) error {
	for next := uint64(1); ; {
		m, err := j.stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(below))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return nil
		case err != nil:
			return failed(err)
		case !do(m):
			return nil
		}
		next = m.Sequence + 1
	}
}
