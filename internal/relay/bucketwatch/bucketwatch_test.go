package bucketwatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucket is a bucket whose servers leave as many watch requests unanswered as silent says.
type bucket struct {
	jetstream.KeyValue
	silent int
	last   context.Context
}

type watcher struct{ jetstream.KeyWatcher }

func (b *bucket) WatchAll(ctx context.Context, _ ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	b.last = ctx
	if b.silent--; b.silent >= 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return watcher{}, nil
}

// TestBegin checks that a watch soon begins elsewhere if its server is
// dead, and fails if no server answers.
func TestBegin(t *testing.T) {
	for _, c := range []struct {
		silent int
		took   time.Duration
		want   error
	}{
		{0, 0, nil},
		{1, beginTime + retryPause, nil},
		{tries, tries*(beginTime+retryPause) - retryPause, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, b := time.Now(), &bucket{silent: c.silent}
			w, err := Begin(t.Context(), b)
			if took := time.Since(began); !errors.Is(err, c.want) || (err == nil) != (w != nil) || took != c.took {
				t.Errorf("%d silent: %v after %v", c.silent, err, took)
			}
			time.Sleep(2 * beginTime)
			if err == nil && b.last.Err() != nil {
				t.Error("what has begun does not go on")
			}
		})
	}
}
