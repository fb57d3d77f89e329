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

// A lease expires by itself. leaseTTL and the interval between checks add up to five seconds at
// most; the holder stops safetyMargin earlier.
const (
	leaseTTL     = 4500 * time.Millisecond
	renewEvery   = 1500 * time.Millisecond
	safetyMargin = 500 * time.Millisecond
)

// OpenLeases opens or creates the bucket of leases, on the given number of replicas.
// Entries expire after leaseTTL.
func OpenLeases(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.KeyValue, error) {
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: "leases", TTL: leaseTTL, Storage: jetstream.MemoryStorage, Replicas: replicas, MaxValueSize: 1 << 10,
	})
}

// errHeld: another relay holds the link, or this one did until recently.
var errHeld = errors.New("the link is another relay's")

// lease is our lease of a link. held is safe for concurrent use.
type lease struct {
	kv       jetstream.KeyValue
	key      string
	holder   []byte
	revision uint64
	until    atomic.Pointer[time.Time] // on the monotonic clock
	lost     atomic.Bool
}

// acquire acquires the lease of a link that nobody holds. What we wrote without an answer,
// because the server ended, counts as ours: holder is unique to each process.
func acquire(ctx context.Context, kv jetstream.KeyValue, link, holder string) (*lease, error) {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	sum := sha256.Sum256([]byte(link))
	l := &lease{kv: kv, key: hex.EncodeToString(sum[:16]), holder: []byte(holder)}
	asked := time.Now()
	revision, err := l.ourRevision(ctx)
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
	l.recordRenewal(revision, asked)
	return l, nil
}

// ourRevision returns the revision this process wrote, or errHeld if another
// one holds the lease.
func (l *lease) ourRevision(ctx context.Context) (uint64, error) {
	e, err := l.kv.Get(ctx, l.key)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(e.Value(), l.holder) {
		return 0, errHeld
	}
	return e.Revision(), nil
}

func (l *lease) recordRenewal(revision uint64, asked time.Time) {
	l.revision = revision
	l.until.Store(new(asked.Add(leaseTTL - safetyMargin)))
}

// held reports whether the lease holds. Renewing does not revive a lapsed one: events were
// refused in the meantime, so the exchange must be read again.
func (l *lease) held() bool {
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
		if errors.Is(err, jetstream.ErrKeyRevisionMismatch) { // the last answer was lost
			if revision, err = l.ourRevision(limited); err == nil {
				revision, err = l.kv.Update(limited, l.key, l.holder, revision)
			}
		}
		cancel()
		if err == nil {
			l.recordRenewal(revision, asked)
		}
		if errors.Is(err, errHeld) || errors.Is(err, jetstream.ErrKeyNotFound) || !l.held() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// release gives up the lease, so that another relay need not wait for it to expire.
func (l *lease) release() {
	ctx, cancel := context.WithTimeout(context.Background(), renewEvery)
	defer cancel()
	if revision, err := l.ourRevision(ctx); err == nil { // the answer to the last renewal may be lost
		_ = l.kv.Delete(ctx, l.key, jetstream.LastRevision(revision))
	}
}
