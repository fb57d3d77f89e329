// Package bucketwatch watches a key-value bucket of the site's servers.
package bucketwatch

import (
	"context"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/wake"
)

// Limits on starting a watch: time per attempt, attempts, and the pause between them. A
// request may go to a leader that is gone without the other servers knowing yet; the client
// would then wait five seconds.
const (
	beginTime  = time.Second
	tries      = 4
	retryPause = 100 * time.Millisecond
)

// Watch receives the contents of a bucket and every change. Its methods
// belong to one goroutine.
type Watch struct {
	jetstream.KeyWatcher
	ctx          context.Context
	bucket       jetstream.KeyValue
	seen, newest uint64 // revisions
}

// Begin starts a watch that runs until ctx ends. It fails if the servers do
// not agree within seconds.
func Begin(ctx context.Context, bucket jetstream.KeyValue) (*Watch, error) {
	for try := 1; ; try++ {
		w, err := attempt(ctx, bucket)
		if err == nil {
			return &Watch{KeyWatcher: w, ctx: ctx, bucket: bucket, newest: math.MaxUint64}, nil
		}
		if try == tries {
			return nil, err
		}
		if err := wake.Pause(ctx, retryPause); err != nil {
			return nil, err
		}
	}
}

func attempt(ctx context.Context, bucket jetstream.KeyValue) (jetstream.KeyWatcher, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(beginTime, func() { cancel(context.DeadlineExceeded) })
	w, err := bucket.WatchAll(ctx)
	if err == nil && late.Stop() {
		return w, nil
	}
	cancel(err)
	return nil, context.Cause(ctx)
}

// Loaded takes each value from Updates and reports whether everything has arrived. A nil
// entry alone does not mean so: its server may lag behind the others, and it sends entries
// that change meanwhile only afterwards.
func (w *Watch) Loaded(e jetstream.KeyValueEntry) (loaded bool, err error) {
	if e != nil {
		w.seen = e.Revision()
	} else {
		var now State
		now, err = QueryState(w.ctx, w.bucket)
		w.newest = now.Newest
	}
	return err == nil && w.seen >= w.newest, err
}

// State is a bucket's state according to its leader.
type State struct {
	Newest      uint64        // revision
	ServerAhead time.Duration // of that server's clock
	Full        bool          // seven eighths of its limit are taken
}

// QueryState asks for a bucket's state. It fails if there is no leader.
func QueryState(ctx context.Context, bucket jetstream.KeyValue) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	s, err := bucket.Status(ctx)
	if err != nil {
		return State{}, err
	}
	info := s.(*jetstream.KeyValueBucketStatus).StreamInfo()
	limit := info.Config.MaxBytes
	return State{info.State.LastSeq, time.Until(info.TimeStamp), limit > 0 && info.State.Bytes > uint64(limit)/8*7}, nil
}
