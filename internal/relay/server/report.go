package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/webhook"
)

const (
	maxBatch   = 512 // reports that are put into the bucket together
	maxWriters = 16  // calls that are
)

// report is what an exchange says of a call, with whom it names.
type report struct {
	webhook.Report
	mayReturn bool        // the call may come back to a user for whom it was over
	late      bool        // it was so long ago that it is history alone
	done      chan<- bool // told whether it was taken, if not nil
}

// lateAfter is the age at which a report makes history and no card.
const lateAfter = 5 * time.Minute

// newReport is a report as a reader gives it, which came at a moment.
func newReport(r webhook.Report, at time.Time) report {
	late := !r.Sent.IsZero() && at.Sub(r.Sent) > lateAfter
	if r.At = at; late {
		r.At = r.Sent.UTC()
	}
	return report{Report: r, late: late}
}

// reported takes a report over HTTPS. It is taken once it is in the queue, or other
// relays have it; what becomes of it is seen in the relay's status.
func (r *relay) reported(w http.ResponseWriter, q *http.Request) {
	if !r.path(q.PathValue("secret")) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if !r.webhooks.mayCome("") {
		later(w, http.StatusTooManyRequests, "1")
		return
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, q.Body, webhook.MaxBody))
	if err != nil {
		r.dropped.Add(1)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	all, err := webhook.Plain(webhook.Message{Body: b})
	switch {
	case err != nil:
		r.dropped.Add(1)
		w.WriteHeader(http.StatusBadRequest)
	case !r.enqueueReplicated(q.Context(), newReport(all[0], time.Now().UTC())):
		later(w, http.StatusServiceUnavailable, "1")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// paths are the secret paths that count. They are read anew when they have changed: whoever
// tries a wrong one gives the relay little to do. The zero value has read none; it may be
// used by many goroutines.
type paths struct {
	mu            sync.Mutex
	all           []string
	written, read time.Time
	unreadable    bool
}

// pathsTTL is how long they are not read again: the older one ends some day.
const pathsTTL = time.Minute

// now gives the paths that count. Where they cannot be read, those that were do, and the
// error is told once.
func (p *paths) now(dir string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	written, now := setup.PathsWritten(dir), time.Now()
	if p.all == nil || !written.Equal(p.written) || now.Sub(p.read) > pathsTTL {
		all, err := setup.Paths(dir, now)
		if err == nil {
			p.all, p.written, p.read, p.unreadable = all, written, now, false
		} else if !p.unreadable {
			p.unreadable = true
			return p.all, err
		}
	}
	return p.all, nil
}

// path tells whether a secret path counts.
func (r *relay) path(secret string) bool {
	all, err := r.webhooks.paths.now(r.Dir)
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
	all, err := webhook.Plain(webhook.Message{Body: m.Data})
	if err != nil || !r.enqueue(newReport(all[0], time.Now().UTC())) {
		r.dropped.Add(1)
	}
}

// enqueueReplicated puts a report into the queue. Where there are other relays, it waits
// until another one knows it too: whoever reports goes to them if it does not come so far.
func (r *relay) enqueueReplicated(ctx context.Context, p report) bool {
	if len(r.Settings.Cluster) == 0 {
		return r.enqueue(p)
	}
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	done := make(chan bool, 1)
	p.done = done
	if !r.enqueue(p) {
		return false
	}
	select {
	case ok := <-done:
		return ok
	case <-ctx.Done():
		return false
	}
}

// enqueue puts a report into the queue, unless it is full or another relay should have
// it.
func (r *relay) enqueue(p report) bool {
	if r.storage.fault.Load() != "" {
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
		for len(r.reports) > 0 && len(waiting) < maxBatch {
			waiting = append(waiting, <-r.reports)
		}
		of := map[string][]report{}
		for _, p := range waiting {
			of[p.ID] = append(of[p.ID], p)
		}
		var group errgroup.Group
		group.SetLimit(maxWriters)
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
		queue := p.Queue
		if p.State == call.Ended && p.Nowhere() {
			queue = "" // it is over for all, in the queue or not
		}
		to := r.table.Load().Find(p.Place, queue)
		if len(to) == 0 && !(p.Nowhere() && queue == "") && !p.MaybeForAll {
			r.nobody.Add(1) // and shown to nobody
			for _, extension := range p.Extensions {
				r.unknown.note(extension)
			}
			continue
		}
		told := calls.Report{Event: p.Event, Users: to, MaybeForAll: p.MaybeForAll, MayReturn: p.mayReturn}
		if p.late {
			r.storeMissedOfAll(r.late.take(told))
			continue
		}
		r.lookups.ahead(ctx, p.Event)
		all = append(all, told)
	}
	for began := time.Now(); len(all) > 0; {
		try, cancel := context.WithTimeout(ctx, putTimeout)
		err := r.bucket.Load().Take(try, all...)
		cancel()
		switch {
		case err == nil:
			r.taken.Add(int64(len(all)))
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, calls.ErrLegs), errors.Is(err, calls.ErrRecord), errors.Is(err, calls.ErrFull), time.Since(began) > retryTimeout:
			r.dropped.Add(int64(len(all)))
			r.warned.Do(func() { r.Log.Warn("a report was not taken", "why", err) })
			return time.Since(began) <= retryTimeout // told again it would fare no better
		}
		_ = wake.Pause(ctx, retryPause)
	}
	return true
}

// How long it is tried to put reports into the bucket, those that wait in the queue
// behind them included: what is told after a call has ended, and the end is forgotten, would
// let it ring for ever.
const (
	putTimeout   = time.Second
	retryPause   = 50 * time.Millisecond
	retryTimeout = wire.EndedStays/2 - putTimeout
)
