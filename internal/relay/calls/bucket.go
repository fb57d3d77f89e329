package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/relay/bucketwatch"
)

// The feeds remove a call after lifetime if its end was not reported. What they
// leave expires after maxAge.
const (
	lifetime = 2 * time.Hour
	maxAge   = lifetime + time.Hour
)

// maxBytes limits the bucket, which is kept in memory, to some 200,000 calls, so that an
// exchange that reports new calls without end takes no more of a relay's memory.
const maxBytes = 128 << 20

// NotStored is JetStream's error code for a message that cannot be stored; its client does
// not name it.
const NotStored jetstream.ErrorCode = 10077

// noRoom are JetStream's error codes for a size limit above what a server or an account has
// left.
var noRoom = []jetstream.ErrorCode{10002, 10023, 10028, 10047}

// epochKey holds the time since which the bucket is complete: it is in memory and may lose
// everything. It cannot clash with calls' keys, which are hashes.
const epochKey = "epoch"

// Bucket holds the calls shared by all relays of a site. It is safe for concurrent use.
type Bucket struct {
	kv jetstream.KeyValue
	// full means that no new calls are taken, so that there is room for the ends of those
	// there are: servers of a cluster refuse deletes, too, at the limit.
	full atomic.Bool
}

// Open opens or creates the bucket, which is kept in memory on the given
// number of replicas.
func Open(ctx context.Context, js jetstream.JetStream, replicas int) (*Bucket, error) {
	config := jetstream.KeyValueConfig{Bucket: "calls", TTL: maxAge, Storage: jetstream.MemoryStorage, Replicas: replicas, MaxValueSize: maxRecord, MaxBytes: maxBytes}
	kv, err := js.CreateOrUpdateKeyValue(ctx, config)
	if api, refused := errors.AsType[*jetstream.APIError](err); refused && slices.Contains(noRoom, api.ErrorCode) { // which is a bound too
		config.MaxBytes = 0
		kv, err = js.CreateOrUpdateKeyValue(ctx, config)
	}
	if err != nil {
		return nil, fmt.Errorf("the bucket of calls: %w", err)
	}
	now := strconv.AppendInt(nil, time.Now().UnixMilli(), 10)
	if _, err := kv.Create(ctx, epochKey, now); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, fmt.Errorf("the bucket of calls: %w", err)
	}
	return &Bucket{kv: kv}, nil
}

// Store stores reports on one call, in order. If two relays report at the same time, the
// second builds on what the first wrote, whatever their clocks say: a report carries the
// time at which its relay received it.
func (b *Bucket) Store(ctx context.Context, all ...Report) error {
	key := Key(all[0].Clean().ID)
	for {
		r, revision, err := b.get(ctx, key)
		if err != nil {
			return err
		}
		changed := false
		var wrong error
		for _, report := range all {
			if newest := r.newest(); report.At.Before(newest) {
				report.At = newest
			}
			after, news, err := r.Apply(report)
			r, changed, wrong = after, changed || news, cmp.Or(wrong, err)
		}
		if !changed {
			return wrong
		}
		value, err := json.Marshal(r)
		switch {
		case err != nil:
			return err
		case revision == 0 && b.full.Load():
			return ErrFull
		case revision == 0:
			_, err = b.kv.Create(ctx, key, value)
		default:
			_, err = b.kv.Update(ctx, key, value, revision)
		}
		if api, is := errors.AsType[*jetstream.APIError](err); is && api.ErrorCode == NotStored {
			if err = ErrFull; revision != 0 && r.Ended() { // a delete needs no room, and ends it
				err = b.kv.Delete(ctx, key, jetstream.LastRevision(revision))
			}
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return cmp.Or(err, wrong)
		}
		if err := ctx.Err(); err != nil {
			return err // another server may lag behind for a while
		}
	}
}

// get reads a call. A call that is missing or unreadable is empty; revision is
// 0 only if it is missing.
func (b *Bucket) get(ctx context.Context, key string) (r Record, revision uint64, err error) {
	entry, err := b.kv.Get(ctx, key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return Record{}, 0, nil
	case err != nil:
		return Record{}, 0, err
	}
	r, _ = parse(entry.Value()) // a corrupt one is written anew
	return r, entry.Revision(), nil
}

// purge deletes calls that are still at the given revision, and keeps the epoch from
// expiring. If several relays try, one succeeds.
func (b *Bucket) purge(ctx context.Context, expired map[string]uint64, epoch jetstream.KeyValueEntry) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	for key, revision := range expired {
		_ = b.kv.Delete(ctx, key, jetstream.LastRevision(revision))
	}
	if epoch != nil && time.Since(epoch.Created()) > lifetime {
		_, _ = b.kv.Update(ctx, epochKey, epoch.Value(), epoch.Revision())
	}
}

// Ongoing returns the calls whose ids begin with prefix and that have not
// ended for everybody.
func (b *Bucket) Ongoing(ctx context.Context, prefix string) (all []Record, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := bucketwatch.Begin(ctx, b.kv)
	if err != nil {
		return nil, err
	}
	for standing := map[string]Record{}; ; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case e, open := <-watch.Updates():
			if !open {
				return nil, jetstream.ErrConsumerDeleted
			}
			if e != nil {
				delete(standing, e.Key())
				if r, _ := parse(e.Value()); strings.HasPrefix(r.ID, prefix) && !r.Ended() {
					standing[e.Key()] = r
				}
			}
			if loaded, err := watch.Loaded(e); loaded || err != nil {
				return slices.Collect(maps.Values(standing)), err
			}
		}
	}
}
