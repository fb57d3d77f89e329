package links

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A lease ends by itself. Its life and the time between two looks are five seconds
// together at most, and whoever has it stops a while before it ends.
const (
	life         = 4500 * time.Millisecond
	renewEvery   = 1500 * time.Millisecond
	safetyMargin = 500 * time.Millisecond
)

// OpenLeases finds the bucket of leases, or makes it, in as many nodes as replicas
// says. What is in it ends after a lease's life.
func OpenLeases(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.KeyValue, error) {
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: "leases", TTL: life, Storage: jetstream.MemoryStorage, Replicas: replicas, MaxValueSize: 1 << 10,
	})
}

// errHeld: another relay has the link, or this one until lately.
var errHeld = errors.New("the link is another relay's")

// lease is a link's, while it is ours. ours may be called from any goroutine.
type lease struct {
	kv       jetstream.KeyValue
	key      string
	holder   []byte
	revision uint64
	until    atomic.Pointer[time.Time] // by the clock that nobody sets
	lost     atomic.Bool
}

// take takes the lease of a link that nobody has. What was written and had no answer, as
// its server ended, is ours too: holder is another one for each process.
func take(ctx context.Context, kv jetstream.KeyValue, link, holder string) (*lease, error) {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	sum := sha256.Sum256([]byte(link))
	l := &lease{kv: kv, key: hex.EncodeToString(sum[:16]), holder: []byte(holder)}
	asked := time.Now()
	revision, err := l.written(ctx)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		revision, err = kv.Create(ctx, l.key, l.holder)
	case err == nil:
		revision, err = kv.Update(ctx, l.key, l.holder, revision)
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return nil, errHeld
	case err != nil:
		return nil, err
	}
	l.renewed(revision, asked)
	return l, nil
}

// written gives the revision of what this process has written, errHeld where another one
// has.
func (l *lease) written(ctx context.Context) (uint64, error) {
	e, err := l.kv.Get(ctx, l.key)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(e.Value(), l.holder) {
		return 0, errHeld
	}
	return e.Revision(), nil
}

func (l *lease) renewed(revision uint64, asked time.Time) {
	until := asked.Add(life - safetyMargin)
	l.revision = revision
	l.until.Store(&until)
}

// ours reports whether the lease holds. One that did not once is renewed in vain: what the
// exchange told meanwhile was not taken, so that it has to be read anew.
func (l *lease) ours() bool {
	if !time.Now().Before(*l.until.Load()) {
		l.lost.Store(true)
	}
	return !l.lost.Load()
}

// renew renews the lease until ctx ends or it is lost.
func (l *lease) renew(ctx context.Context) {
	for tick := time.Tick(renewEvery); ; {
		asked := time.Now()
		limited, cancel := context.WithDeadline(ctx, *l.until.Load())
		revision, err := l.kv.Update(limited, l.key, l.holder, l.revision)
		if errors.Is(err, jetstream.ErrKeyRevisionMismatch) { // the answer of the last one was lost
			if revision, err = l.written(limited); err == nil {
				revision, err = l.kv.Update(limited, l.key, l.holder, revision)
			}
		}
		cancel()
		if err == nil {
			l.renewed(revision, asked)
		}
		if errors.Is(err, errHeld) || errors.Is(err, jetstream.ErrKeyNotFound) || !l.ours() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// release gives the lease up, so that another relay need not wait for its end.
func (l *lease) release() {
	ctx, cancel := context.WithTimeout(context.Background(), renewEvery)
	defer cancel()
	if revision, err := l.written(ctx); err == nil { // the answer of the last renewal may have been lost
		_ = l.kv.Delete(ctx, l.key, jetstream.LastRevision(revision))
	}
}
