// Package bucketwatch watches a key-value bucket of the site's servers.
package bucketwatch

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryPause):
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
	} else if w.newest, err = Newest(w.ctx, w.bucket); err != nil {
		return false, err
	}
	return w.seen >= w.newest, nil
}

// Newest is the newest revision of a bucket, by the server that leads the others. It fails
// where there is none.
func Newest(ctx context.Context, bucket jetstream.KeyValue) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	s, err := bucket.Status(ctx)
	if err != nil {
		return 0, err
	}
	b, ok := s.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return 0, errors.New("the bucket is no stream")
	}
	return b.StreamInfo().State.LastSeq, nil
}
