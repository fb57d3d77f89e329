package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/webhook"
)

const (
	maxBatch   = 512 // reports written to the bucket together
	maxWriters = 16  // calls written at once
)

// report is an exchange's report of a call, with the places it names.
type report struct {
	webhook.Report
	mayReturn bool        // the call may come back to a user it ended for
	late      bool        // too old for anything but history
	done      chan<- bool // receives whether it was taken, if not nil
}

// lateAfter is the age from which a report only makes history, not a card.
const lateAfter = 5 * time.Minute

// newReport makes a report from a reader's, received at the given time.
func newReport(r webhook.Report, at time.Time) report {
	late := !r.Sent.IsZero() && at.Sub(r.Sent) > lateAfter
	if r.At = at; late {
		r.At = r.Sent.UTC()
	}
	if len(r.Extensions) == 1 {
		r.Extension = r.Extensions[0]
	}
	return report{Report: r, late: late}
}

// handleReport takes a report over HTTPS, once it is queued or, in a cluster, other
// relays have it. What becomes of it shows in the relay's status.
func (r *relay) handleReport(w http.ResponseWriter, q *http.Request) {
	b, ok := r.readMessage(w, q, "", true)
	if !ok {
		return
	}
	all, err := webhook.OwnMapping(webhook.Message{Body: b})
	switch {
	case err != nil:
		r.dropped.Add(1)
		w.WriteHeader(http.StatusBadRequest)
	case !r.enqueueReplicated(q.Context(), newReport(all[0], time.Now().UTC())):
		retryLater(w, http.StatusServiceUnavailable, "1")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// handlePublished takes a report over NATS.
func (r *relay) handlePublished(m *nats.Msg) {
	all, err := webhook.OwnMapping(webhook.Message{Body: m.Data})
	if err != nil || !r.enqueue(newReport(all[0], time.Now().UTC())) {
		r.dropped.Add(1)
	}
}

// enqueueReplicated queues a report. In a cluster it waits until another relay has it too:
// if this fails, the sender turns to the others.
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

// enqueue queues a report, unless the queue is full or another relay should take it.
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

// writeReports writes reports to the bucket, in order of arrival: those of one call together,
// those of different calls in parallel.
func (r *relay) writeReports(ctx context.Context) error {
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
		var ids []string
		for _, p := range waiting {
			if of[p.ID] == nil {
				ids = append(ids, p.ID)
			}
			of[p.ID] = append(of[p.ID], p)
		}
		var group errgroup.Group
		group.SetLimit(maxWriters)
		for _, id := range ids {
			group.Go(func() error {
				ok := r.writeCall(ctx, of[id])
				for _, p := range of[id] {
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

// writeCall writes the reports on one call to the bucket and reports whether they were
// taken. While the site's relays elect a leader, this takes several tries.
func (r *relay) writeCall(ctx context.Context, waiting []report) bool {
	var all []calls.Report
	for _, p := range waiting {
		queue := p.Queue
		if p.State == call.Ended && p.Empty() {
			queue = "" // over for all, in the queue or not
		}
		to := r.table.Load().UsersCalled(p.Place, queue)
		if len(to) == 0 && !(p.Empty() && queue == "") && !p.MaybeForAll {
			r.unmatched.Add(1) // the call is not shown
			for _, extension := range p.Extensions {
				r.unknown.note(extension)
			}
			continue
		}
		told := calls.Report{Event: p.Event, Users: to, MaybeForAll: p.MaybeForAll, MayReturn: p.mayReturn}
		if p.late {
			r.storeMissedOfAll(r.late.add(told))
			continue
		}
		r.lookups.prefetch(ctx, p.Event)
		all = append(all, told)
	}
	for began := time.Now(); len(all) > 0; {
		try, cancel := context.WithTimeout(ctx, putTimeout)
		err := r.bucket.Store(try, all...)
		cancel()
		switch {
		case err == nil:
			r.stored.Add(int64(len(all)))
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, calls.ErrTooManyUsers), errors.Is(err, calls.ErrRecord), errors.Is(err, calls.ErrFull),
			time.Since(began) > retryTimeout:
			r.dropped.Add(int64(len(all)))
			r.warned.Do(func() { r.Log.Warn("a report was not taken", "why", err) })
			// A report that cannot be stored counts as taken: sending it again would not help.
			return time.Since(began) <= retryTimeout
		}
		_ = wake.Pause(ctx, retryPause)
	}
	return true
}

// Limits on writing reports to the bucket. Those queued behind them are delayed as well, so
// both timeouts together are much shorter than the time for which package calls remembers an
// ended call: a report written after that would make it ring again.
const (
	putTimeout   = time.Second
	retryPause   = 50 * time.Millisecond
	retryTimeout = wire.EndedShownFor/2 - putTimeout
)
