// Package bucketwatch watches a key-value bucket of the site's servers.
package bucketwatch

import (
	"context"
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

// Begin hears of all that is in a bucket, and of every change, until ctx ends. It fails
// where the servers do not agree within seconds.
func Begin(ctx context.Context, bucket jetstream.KeyValue) (w jetstream.KeyWatcher, err error) {
	for try := 1; ; try++ {
		if w, err = attempt(ctx, bucket); err == nil || try == tries {
			return w, err
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
