// Package bucketwatch watches a key-value bucket of the site's servers.
package bucketwatch

import (
	"context"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/wake"
)

// How long a watch may take to begin, how often that is tried, and after which pause. One
// server may be asked to tell that is gone, which the others do not know yet; then the
// client would wait for five seconds.
const (
	beginTime  = time.Second
	tries      = 4
	retryPause = 100 * time.Millisecond
)

// Watch hears of all that is in a bucket, and of every change. Its methods belong to one
// goroutine.
type Watch struct {
	jetstream.KeyWatcher
	ctx          context.Context
	bucket       jetstream.KeyValue
	seen, newest uint64 // revisions
}

// Begin begins a watch, which goes on until ctx ends. It fails where the servers do not
// agree within seconds.
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

// Loaded takes each of what Updates gives, and tells whether all is there. The nil alone
// does not say so: the server that tells may be behind the others, and leaves out what is
// changed meanwhile, which it tells after that.
func (w *Watch) Loaded(e jetstream.KeyValueEntry) (loaded bool, err error) {
	if e != nil {
		w.seen = e.Revision()
	} else {
		w.newest, _, err = Newest(w.ctx, w.bucket)
	}
	return err == nil && w.seen >= w.newest, err
}

// Newest is the newest revision of a bucket, by the server that leads the others, and by how
// much that server's clock is ahead. It fails where no server leads.
func Newest(ctx context.Context, bucket jetstream.KeyValue) (revision uint64, ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	s, err := bucket.Status(ctx)
	if err != nil {
		return 0, 0, err
	}
	info := s.(*jetstream.KeyValueBucketStatus).StreamInfo()
	return info.State.LastSeq, time.Until(info.TimeStamp), nil
}
