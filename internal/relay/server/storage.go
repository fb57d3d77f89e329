package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// Why a relay does not work; "" means it does.
const (
	faultStarting = "start"  // not yet
	faultQuorum   = "quorum" // two of the three relays must reach each other
	faultDisk     = "disk"
	faultStorage  = "storage" // the buckets are unusable for another reason
)

// Limits on opening the buckets, and when to retry.
const (
	bucketTimeout  = 2 * time.Second // servers without a leader do not answer
	openTimeout    = 20 * time.Second
	requestTimeout = time.Second // per request
	// catchUpTimeout is how long a relay waits for its server to catch up with the others.
	catchUpTimeout = 5 * time.Second
	// peerCheckEvery is how often the relay checks whether it reaches others.
	peerCheckEvery = 250 * time.Millisecond
	storageRetry   = 500 * time.Millisecond
)

// retryStorage runs the storage until ctx ends. If it is unusable, because the other relays
// are out of reach or the disk is full, it reports that, sends users to another relay, and
// retries. up is called each time it is usable.
func (r *relay) retryStorage(ctx context.Context, up func()) error {
	for ctx.Err() == nil {
		r.storageFailed(r.runStorage(ctx, func() {
			r.storage.fault.Store("")
			r.changed()
			up()
		}))
		_ = wake.Pause(ctx, storageRetry/2+rand.N(storageRetry)) // relays do not retry in step
	}
	return ctx.Err()
}

// storageFailed records why the storage is unusable. Users come back to this relay
// only if there is no other.
func (r *relay) storageFailed(why error) {
	if errors.Is(why, context.Canceled) || errors.Is(why, calls.ErrContentsLost) {
		return
	}
	fault := faultOf(why, len(r.Settings.Cluster) > 0)
	news := r.storage.fault.Swap(fault) != fault
	if news {
		r.changed()
		r.Log.Error("the storage cannot be used", "fault", fault, "why", why)
	}
	if !news && !errors.Is(why, errIsolated) { // the other relays serve users connected here
		return
	}
	if err := r.node.DisconnectUsers(); err != nil {
		r.Log.Warn("users could not be sent to another relay", "why", err)
	}
}

var errIsolated = errors.New("no other relay is reached")

// watchPeers fails once no other relay of the site is reached, before the servers notice.
func (r *relay) watchPeers(ctx context.Context) error {
	for !r.isolated() {
		if err := wake.Pause(ctx, peerCheckEvery); err != nil {
			return err
		}
	}
	return errIsolated
}

// How often free disk space is checked, by writing how many bytes. The server acknowledges
// what it has only in memory.
const (
	diskCheckEvery = 3 * time.Second
	diskCheckBytes = 1 << 20
)

// errDiskFreed ends a clustered relay: after a failed write its NATS server writes nothing
// until it is restarted. The service manager restarts the relay.
var errDiskFreed = errors.New("the disk was full and has free space again: the relay starts anew")

// watchDisk checks for free disk space and, while there is any, backs up the users.
// Calls continue without it.
func (r *relay) watchDisk(ctx context.Context) error {
	var saved *[]users.Entry
	for file, b := filepath.Join(r.Dir, "disk-check"), make([]byte, diskCheckBytes); ; {
		err := os.WriteFile(file, b, 0o600)
		_ = os.Remove(file)
		if all := r.storage.users.Load(); err == nil && all != saved {
			if err = r.backUpUsers(*all); err == nil {
				saved = all
			}
		}
		if r.node.Peers() == len(r.Settings.Cluster)-1 { // a relay that is down needs the log to catch up on deletions
			r.node.Compact(journal.Name)
			r.node.Compact(users.Stream)
		}
		if full := err != nil; r.storage.diskFull.Swap(full) != full {
			r.Log.Error("the free space on the disk has changed", "full", full, "why", err)
			r.changed()
			if !full && len(r.Settings.Cluster) > 0 {
				return errDiskFreed
			}
		}
		if err := wake.Pause(ctx, diskCheckEvery); err != nil {
			return err
		}
	}
}

// isolated reports whether this relay is clustered and reaches no other.
func (r *relay) isolated() bool { return len(r.Settings.Cluster) > 0 && r.node.Peers() == 0 }

// faultOf returns the fault that an error stands for.
func faultOf(err error, cluster bool) string {
	var api *jetstream.APIError
	switch {
	case errors.As(err, &api) && (api.ErrorCode == calls.NotStored || api.ErrorCode == errResources):
		return faultDisk
	case cluster:
		return faultQuorum
	}
	return faultStorage
}

// errResources is JetStream's error code for insufficient resources; its client does not
// name it.
const errResources jetstream.ErrorCode = 10023

// runStorage opens the buckets and runs everything that needs them until they fail; it
// calls up once the calls in them are known.
func (r *relay) runStorage(ctx context.Context, up func()) error {
	if r.isolated() {
		return errIsolated
	}
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { r.storageFailed(context.Cause(ctx)) })() // before everything has ended
	group.Go(func() error { return r.watchPeers(ctx) })
	group.Go(func() error {
		js, err := r.openBuckets(ctx)
		if err != nil {
			return err
		}
		group.Go(func() error { return watchStreams(ctx, js) })
		r.feed.OnLoaded = sync.OnceFunc(up) // users ask about earlier calls
		group.Go(func() error { return r.feed.Run(ctx) })
		group.Go(func() error { return r.journal.Run(ctx) })
		group.Go(func() error {
			return r.users.Load().Watch(ctx, func(all []users.Entry) {
				r.setUsers(all)
				r.storage.users.Store(&all)
			})
		})
		return nil
	})
	return group.Wait()
}

// streamCheckEvery is how often the streams are checked.
const streamCheckEvery = 2 * time.Second

var errStreamLost = errors.New("a stream is lost")

// watchStreams fails once a stream is gone that existed before: a watch of its
// bucket does not notice.
func watchStreams(ctx context.Context, js jetstream.JetStream) error {
	for all := []string(nil); ; {
		var now []string
		names := js.StreamNames(ctx)
		for name := range names.Name() {
			now = append(now, name)
		}
		if names.Err() == nil { // otherwise there may be no leader
			if slices.ContainsFunc(all, func(name string) bool { return !slices.Contains(now, name) }) {
				return errStreamLost
			}
			all = now
		}
		if err := wake.Pause(ctx, streamCheckEvery); err != nil {
			return err
		}
	}
}

func (r *relay) openBuckets(ctx context.Context) (jetstream.JetStream, error) {
	js, err := jetstream.New(r.node.Conn, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		return nil, err
	}
	find, found := context.WithTimeout(ctx, bucketTimeout)
	defer found()
	bucket, err := calls.Open(find, js, r.Settings.Replicas())
	if err != nil {
		return nil, err
	}
	directory, err := users.Open(find, js, r.Settings.Replicas())
	if err != nil {
		return nil, err
	}
	leases, err := links.OpenLeases(find, js, r.Settings.Replicas())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	missed, err := journal.Open(ctx, js, r.Settings.Replicas(), r.Settings.Journal.Days, r.Log)
	if err != nil {
		return nil, err
	}
	if r.journal == nil { // another one has an empty queue
		r.journal = missed
	}
	if err := r.migrateToCluster(ctx, js); err != nil {
		return nil, err
	}
	r.catchUp(ctx)
	if err := r.restoreUsers(ctx, directory); err != nil {
		return nil, err
	}
	if err := directory.PurgeOld(ctx); err != nil {
		r.Log.Warn("what users were before is still there", "why", err)
	}
	all, err := directory.List(ctx)
	if err != nil {
		return nil, err
	}
	r.setUsers(all)
	r.users.Store(directory)
	if r.feed == nil {
		r.leases, r.bucket = leases, bucket
		r.feed = calls.NewFeed(bucket, r.node.Conn, r.Keys.Site, r.Settings.Name, r.Log)
		r.feed.OnRecord = func(c calls.Record) { r.lookups.rememberNumber(c.Number, slices.Collect(maps.Keys(c.Legs))...) }
		r.feed.OnMissed = r.storeMissed
		r.feed.DisplayName = func(u wire.User) string { return r.table.Load().Label(u) }
	}
	return js, nil
}

// catchUp waits a while for the server to catch up with the others. Only then may another
// server end: one that lags behind cannot lead.
func (r *relay) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	for !r.node.IsCaughtUp() && wake.Pause(ctx, catchUpTimeout/50) == nil {
	}
}

// JetStream's folders: a server that joins a cluster does not take over what it had as a
// single one, but deletes it.
const (
	singleDir  = "jetstream"
	clusterDir = "jetstream-cluster"
)

// migrateToCluster copies what this relay had as a single one to its new cluster. What the
// cluster already has is newer.
func (r *relay) migrateToCluster(ctx context.Context, to jetstream.JetStream) error {
	old := filepath.Join(r.Dir, singleDir)
	if _, err := os.Stat(old); len(r.Settings.Cluster) == 0 || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	n, err := node.Start(node.Config{Name: "before", Dir: old, Host: "127.0.0.1"}, r.Keys)
	if err != nil {
		return err
	}
	defer n.Close()
	from, err := jetstream.New(n.Conn)
	if err != nil {
		return err
	}
	names := from.KeyValueStoreNames(ctx)
	for name := range names.Name() {
		if err := copyBucket(ctx, from, to, name); err != nil {
			return fmt.Errorf("the bucket %s: %w", name, err)
		}
	}
	if err := cmp.Or(names.Error(), r.journal.CopyFrom(ctx, from)); err != nil {
		return err
	}
	n.Close()
	_ = os.Remove(filepath.Join(r.Dir, usersBackup))
	return os.RemoveAll(old) // nothing there would ever be deleted in time
}

func copyBucket(ctx context.Context, from, to jetstream.JetStream, name string) error {
	old, err := from.KeyValue(ctx, name)
	if err != nil {
		return err
	}
	kv, err := to.KeyValue(ctx, name)
	if err != nil {
		return err
	}
	keys, err := old.Keys(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		return err
	}
	for _, key := range keys {
		e, err := old.Get(ctx, key)
		if err == nil {
			_, err = kv.Create(ctx, key, e.Value())
		}
		if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
	}
	return nil
}
