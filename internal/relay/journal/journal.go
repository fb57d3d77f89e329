// Package journal is the calls that rang for users while none of their computers heard
// it. They are in a stream on disk until the user's Wiebelt has them, at most for some
// days. It is no key-value bucket, since what leaves it is overwritten in its file,
// which buckets do not allow.
//
// Note and ForgetUsers may be called from any goroutine; one goroutine, that of Run, writes.
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

	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/wire"
)

// Name is the stream's.
const Name = "journal"

const (
	subjectRoot = "JOURNAL." // then the user and the call
	maxValue    = 4 << 10
	maxKept     = 100_000 // calls of a site: an exchange that floods it must not fill the disk
	waiting     = 4096    // calls that are not in the stream yet
	// expireEvery is how often calls go that are too old.
	expireEvery = time.Hour
)

// Journal is the missed calls of a site.
type Journal struct {
	js     jetstream.JetStream
	config jetstream.StreamConfig
	stream jetstream.Stream // nil where nothing is kept
	life   time.Duration
	noted  chan note
	log    *slog.Logger
	now    func() time.Time

	gone   atomic.Pointer[[]wire.User] // users, as ForgetUsers was told
	more   chan struct{}               // there are others
	forgot map[wire.User]bool          // those of them whose calls are forgotten; Run's
	waits  bool                        // the last call could not be written; Run's
}

type note struct {
	user wire.User
	call wire.Call
	over time.Time
}

// Open finds the stream, or makes it, in as many nodes as replicas says. With 0 days
// it goes, and all that is in it.
func Open(ctx context.Context, js jetstream.JetStream, replicas, days int, log *slog.Logger) (*Journal, error) {
	j := &Journal{js: js, config: jetstream.StreamConfig{Name: Name, Subjects: []string{subjectRoot + ">"}, Replicas: replicas, MaxMsgSize: maxValue, MaxMsgs: maxKept, Discard: jetstream.DiscardNew}, life: time.Duration(days) * 24 * time.Hour, noted: make(chan note, waiting), log: log, now: time.Now, more: make(chan struct{}, 1)}
	j.gone.Store(new([]wire.User))
	if days <= 0 {
		if err := js.DeleteStream(ctx, Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, failed(err)
		}
		return j, nil
	}
	// Calls go by Run and not by an age of the stream, which would leave their bytes
	// in the file.
	var err error
	if j.stream, err = js.CreateOrUpdateStream(ctx, j.config); err != nil {
		return nil, failed(err)
	}
	return j, nil
}

// Existing finds the stream as it is, and makes or deletes none: it is for whoever
// forgets beside a relay that runs.
func Existing(ctx context.Context, js jetstream.JetStream) (*Journal, error) {
	stream, err := js.Stream(ctx, Name)
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, failed(err)
	}
	return &Journal{stream: stream}, nil
}

// Recreate makes the stream again where it was lost.
func (j *Journal) Recreate(ctx context.Context) error {
	if j.stream == nil {
		return nil
	}
	_, err := j.js.CreateOrUpdateStream(ctx, j.config)
	return failed(err)
}

func failed(err error) error {
	if err != nil {
		err = fmt.Errorf("the missed calls: %w", err)
	}
	return err
}

// of are the calls of a user.
func of(u wire.User) string { return subjectRoot + u.Token() + ".*" }

// Note has a call kept that is over and that none of the user's computers heard. It
// never blocks.
func (j *Journal) Note(u wire.User, c wire.Call, over time.Time) {
	if j.stream == nil {
		return
	}
	select {
	case j.noted <- note{u, c, over}:
	default:
		j.log.Warn("a missed call is not kept: too many wait")
	}
}

// Run writes what is noted, and forgets what is too old, until ctx ends. What cannot be
// written by then is left to the next Run.
func (j *Journal) Run(ctx context.Context) error {
	if j.stream == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	expire := time.Tick(expireEvery)
	j.expire(ctx)
	wake.Up(j.more)
	for {
		select {
		case <-j.more:
			if j.forgetGone(ctx) != nil {
				time.AfterFunc(forgetAgain, func() { wake.Up(j.more) })
			}
		case n := <-j.noted:
			j.store(ctx, n)
		case <-expire:
			j.expire(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			for range len(j.noted) {
				j.store(last, <-j.noted)
			}
			return ctx.Err()
		}
	}
}

// How soon it is tried again to keep a call, for servers that choose another leader take
// seconds, and how long that goes on once Run is to end.
const (
	retryPause   = 250 * time.Millisecond
	flushTimeout = 2 * time.Second
)

// store writes a call, or notes it again after a while if that does not succeed. Of several
// relays that keep one, one does. That of a user who is gone meanwhile is not kept.
func (j *Journal) store(ctx context.Context, n note) {
	if slices.Contains(*j.gone.Load(), n.user) {
		return
	}
	c := n.call
	value, err := json.Marshal(wire.MissedCall{Number: c.Number, Line: c.Line, Queue: c.Queue, Reason: c.Reason, By: c.By, Rang: c.Began, Ended: n.over})
	if err != nil {
		j.log.Error("a missed call is not kept", "why", err)
		return
	}
	key := calls.Key(fmt.Sprint(c.ID, " ", c.Began.UnixNano())) // an exchange may use an id again
	_, err = j.js.Publish(ctx, subjectRoot+n.user.Token()+"."+key, value, jetstream.WithExpectLastSequencePerSubject(0))
	waits := err != nil && !stored(err)
	if waits && !j.waits {
		j.log.Warn("missed calls wait to be kept", "why", err)
	}
	if j.waits = waits; waits {
		_ = wake.Pause(ctx, retryPause)
		j.Note(n.user, c, n.over)
	}
}

// stored tells whether another relay has stored a call. Where they are in several places,
// the server has a code of its own for that.
func stored(err error) bool {
	there, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (there.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || there.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func (j *Journal) expire(ctx context.Context) {
	before := j.now().Add(-j.life)
	if _, err := j.Forget(ctx, func(m wire.MissedCall) bool { return m.Ended.Before(before) }); err != nil && ctx.Err() == nil {
		j.log.Warn("old missed calls are still there", "why", err)
	}
}

// Page gives the user's calls, the oldest first, as many as an answer holds. Those of
// a page before are forgotten, whose Seen is given.
func (j *Journal) Page(ctx context.Context, u wire.User, seen uint64) (page wire.JournalAnswer, err error) {
	page.At = j.now().UTC()
	if j.stream == nil {
		return page, nil
	}
	if seen > 0 {
		if _, err := j.forget(ctx, of(u), func(m *jetstream.RawStreamMsg) bool { return m.Sequence <= seen }); err != nil {
			return page, err
		}
	}
	after := j.now().Add(-j.life)
	err = j.each(ctx, of(u), func(raw *jetstream.RawStreamMsg) bool {
		var m wire.MissedCall
		return json.Unmarshal(raw.Data, &m) != nil || m.Ended.Before(after) || page.Add(m, raw.Sequence)
	})
	return page, err
}

// ForgetUsers has Run forget all calls of users who are gone, and keep none. It never
// blocks.
func (j *Journal) ForgetUsers(gone []wire.User) {
	j.gone.Store(&gone)
	wake.Up(j.more)
}

// forgetAgain is when it is tried again to forget calls that could not be.
const forgetAgain = 5 * time.Second

// forgetGone forgets the calls of users who are gone, once as long as they are among them.
func (j *Journal) forgetGone(ctx context.Context) (err error) {
	done := map[wire.User]bool{}
	for _, u := range *j.gone.Load() {
		forgot := j.forgot[u]
		if !forgot && err == nil { // else the others would fail too
			_, err = j.forget(ctx, of(u), func(*jetstream.RawStreamMsg) bool { return true })
			forgot = err == nil
		}
		if forgot {
			done[u] = true
		}
	}
	j.forgot = done
	if err != nil && ctx.Err() == nil {
		j.log.Error("missed calls of users who were removed are still there", "why", err)
	}
	return err
}

// TakeOver keeps the calls of another journal too, in which they stay.
func (j *Journal) TakeOver(ctx context.Context, from jetstream.JetStream) error {
	old, err := Existing(ctx, from)
	if err != nil || j.stream == nil || old.stream == nil {
		return err
	}
	var wrong error
	err = old.each(ctx, subjectRoot+">", func(m *jetstream.RawStreamMsg) bool {
		if _, err := j.js.Publish(ctx, m.Subject, m.Data, jetstream.WithExpectLastSequencePerSubject(0)); err != nil && !stored(err) {
			wrong = err
		}
		return wrong == nil
	})
	return failed(cmp.Or(err, wrong))
}

// Forget forgets the calls of which is says so, for all users, and tells how many
// there were. One that cannot be read goes with them.
func (j *Journal) Forget(ctx context.Context, is func(wire.MissedCall) bool) (int, error) {
	return j.forget(ctx, subjectRoot+">", func(raw *jetstream.RawStreamMsg) bool {
		var m wire.MissedCall
		return json.Unmarshal(raw.Data, &m) != nil || is(m)
	})
}

// forget overwrites the calls below a subject of which is says so.
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

// each gives the calls below a subject to do, the oldest first, until that says no.
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
