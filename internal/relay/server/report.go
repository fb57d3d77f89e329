package server

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

const (
	maxReport = 64 << 10 // bytes
	batch     = 512      // reports that are put into the bucket together
	writers   = 16       // calls that are
)

// report is what an exchange says of a call, with whom it names.
type report struct {
	event call.Event
	queue string
	to    users.Address
	done  chan<- bool // told whether it was taken, if not nil
}

// told is a report as it is sent: the event of the listener, and whom it rings.
// Fields that nobody knows are ignored.
type told struct {
	ID, State, Direction, Reason, Number, Name, Line, Via word
	Extension, Queue, Email                               word
}

// word is text, or a number that should have been text.
type word string

func (w *word) UnmarshalJSON(b []byte) error {
	var s *string
	var n json.Number
	if json.Unmarshal(b, &s) == nil {
		if s != nil {
			*w = word(*s)
		}
		return nil
	}
	err := json.Unmarshal(b, &n)
	*w = word(n)
	return err
}

var errReport = errors.New("not a report of a call")

// parse reads a report. A state that nobody knows means that the call goes on: it is
// told again that it rings, which takes no answer back.
func parse(b []byte, at time.Time) (report, error) {
	var t told
	if len(b) > maxReport || json.Unmarshal(b, &t) != nil || t.ID == "" {
		return report{}, errReport
	}
	state, _ := call.ParseState(string(t.State))
	e := call.Event{ID: string(t.ID), State: state, Direction: call.ParseDirection(string(t.Direction)), Number: string(t.Number), Name: string(t.Name), Line: string(t.Line), Via: string(t.Via), At: at}
	if state == call.Ended {
		e.Reason = call.ParseReason(string(t.Reason))
	}
	if e = e.Clean(); e.ID != string(t.ID) {
		return report{}, errReport
	}
	return report{event: e, queue: string(t.Queue), to: users.Address{Extension: string(t.Extension), Email: string(t.Email), Number: string(t.Line)}}, nil
}

// reported takes a report over HTTPS. It is taken once it is in line, or other relays
// have it; what becomes of it is seen in the relay's status.
func (r *relay) reported(w http.ResponseWriter, q *http.Request) {
	if !r.path(q.PathValue("secret")) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxReport))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	p, err := parse(b, time.Now().UTC())
	switch {
	case err != nil:
		r.dropped.Add(1)
		w.WriteHeader(http.StatusBadRequest)
	case !r.lineUp(q.Context(), p):
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// path tells whether a secret path counts. Where that cannot be read, none does.
func (r *relay) path(secret string) bool {
	all, err := setup.Paths(r.Dir, time.Now())
	if err != nil {
		r.Log.Error("the path for reports cannot be read", "why", err)
	}
	same := 0
	for _, p := range all {
		same |= subtle.ConstantTimeCompare([]byte(secret), []byte(p))
	}
	return same == 1
}

// published takes a report over NATS.
func (r *relay) published(m *nats.Msg) {
	p, err := parse(m.Data, time.Now().UTC())
	if err != nil || !r.line(p) {
		r.dropped.Add(1)
	}
}

// lineUp puts a report into the queue. Where there are other relays, it waits until
// another one knows it too: whoever reports goes to them if it does not come so far.
func (r *relay) lineUp(ctx context.Context, p report) bool {
	if len(r.Settings.Cluster) == 0 {
		return r.line(p)
	}
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	done := make(chan bool, 1)
	p.done = done
	if !r.line(p) {
		return false
	}
	select {
	case ok := <-done:
		return ok
	case <-ctx.Done():
		return false
	}
}

// line puts a report into the queue, unless it is full or another relay should have
// it.
func (r *relay) line(p report) bool {
	if r.storage.lacks.Load() != "" {
		return false
	}
	select {
	case r.reports <- p:
		return true
	default:
		return false
	}
}

// take puts reports into the bucket: those of one call together and in the order in
// which they came, those of different calls beside each other.
func (r *relay) take(ctx context.Context) error {
	for {
		var waiting []report
		select {
		case <-ctx.Done():
			return ctx.Err()
		case p := <-r.reports:
			waiting = append(waiting, p)
		}
		for len(r.reports) > 0 && len(waiting) < batch {
			waiting = append(waiting, <-r.reports)
		}
		of := map[string][]report{}
		for _, p := range waiting {
			of[p.event.ID] = append(of[p.event.ID], p)
		}
		var group errgroup.Group
		group.SetLimit(writers)
		for _, all := range of {
			group.Go(func() error {
				ok := r.put(ctx, all)
				for _, p := range all {
					if p.done != nil {
						p.done <- ok
					}
				}
				return nil
			})
		}
		_ = group.Wait()
	}
}

// put puts the reports on one call into the bucket, and tells whether they are taken.
// While the relays of a site choose who leads them, that takes several tries.
func (r *relay) put(ctx context.Context, waiting []report) bool {
	var all []calls.Report
	for _, p := range waiting {
		to := r.table.Load().Find(p.to)
		if len(to) == 0 && p.to != (users.Address{}) {
			r.nobody.Add(1) // and shown to nobody
			r.strange.note(p.to.Extension)
			continue
		}
		r.lookups.ahead(ctx, p.event)
		all = append(all, calls.Report{Event: p.event, Queue: p.queue, Users: to})
	}
	for began := time.Now(); len(all) > 0; {
		try, cancel := context.WithTimeout(ctx, putTime)
		err := r.bucket.Load().Take(try, all...)
		cancel()
		switch {
		case err == nil:
			r.taken.Add(int64(len(all)))
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, calls.ErrLegs), errors.Is(err, calls.ErrRecord), time.Since(began) > putMost:
			r.dropped.Add(int64(len(all)))
			r.Log.Warn("a report was not taken", "why", err)
			return time.Since(began) <= putMost // told again it would fare no better
		}
		select {
		case <-ctx.Done():
		case <-time.After(putAgain):
		}
	}
	return true
}

// How long it is tried to put reports into the bucket, those that wait in line behind
// them included: what is told after a call has ended, and the end is forgotten, would
// let it ring for ever.
const (
	putTime  = time.Second
	putAgain = 50 * time.Millisecond
	putMost  = wire.EndedStays/2 - putTime
)
