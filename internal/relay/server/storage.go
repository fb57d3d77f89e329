package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Why a relay does not work; "" is that it does.
const (
	faultStarting = "start"  // not yet
	faultQuorum   = "quorum" // two of the three relays must reach each other
	faultDisk     = "disk"
	faultStorage  = "storage" // the buckets cannot be used, for another reason
)

// How long it takes the buckets to open, and how soon that is tried again.
const (
	bucketTimeout  = 2 * time.Second // servers without a leader say nothing
	openTimeout    = 20 * time.Second
	requestTimeout = time.Second // for one request
	// catchUpTimeout is how long a relay waits until its server knows what the others know.
	catchUpTimeout = 5 * time.Second
	// peerCheckEvery is how often it is looked whether other relays are reached.
	peerCheckEvery = 250 * time.Millisecond
	storageRetry   = 500 * time.Millisecond
)

// retryStorage runs the storage until ctx ends. Where it cannot be used, as the other
// relays are out of reach or the disk is full, it says so, sends users to another
// relay, and tries again; up is called each time that it can.
func (r *relay) retryStorage(ctx context.Context, up func()) error {
	for ctx.Err() == nil {
		r.storageFailed(r.runStorage(ctx, func() {
			r.storage.fault.Store("")
			r.changed()
			up()
		}))
		_ = wake.Pause(ctx, storageRetry/2+rand.N(storageRetry)) // not all relays at the same time
	}
	return ctx.Err()
}

// storageFailed notes why the storage cannot be used. Users come back to this relay only
// where there is no other.
func (r *relay) storageFailed(why error) {
	if errors.Is(why, context.Canceled) || errors.Is(why, calls.ErrEpoch) {
		return
	}
	fault := faultOf(why, len(r.Settings.Cluster) > 0)
	news := r.storage.fault.Swap(fault) != fault
	if news {
		r.changed()
		r.Log.Error("the storage cannot be used", "fault", fault, "why", why)
	}
	if !news && !errors.Is(why, errIsolated) { // the other relays answer users who are here
		return
	}
	if err := r.node.Dismiss(); err != nil {
		r.Log.Warn("users could not be sent to another relay", "why", err)
	}
}

var errIsolated = errors.New("no other relay is reached")

// watchPeers fails once no other relay of the site is reached. The servers would notice
// too, but later.
func (r *relay) watchPeers(ctx context.Context) error {
	for !r.isolated() {
		if err := wake.Pause(ctx, peerCheckEvery); err != nil {
			return err
		}
	}
	return errIsolated
}

// How often it is tried whether the disk has free space, and for how many bytes. The
// server says that it has written what it has in memory only.
const (
	diskCheckEvery = 3 * time.Second
	diskCheckBytes = 1 << 20
)

// errDiskFreed: the NATS server of a relay of several writes nothing any more once it could
// not, until it starts again. The service manager starts the relay.
var errDiskFreed = errors.New("the disk was full and has free space again: the relay starts anew")

// watchDisk checks that the disk has free space, and backs the users up as long as it
// has. Calls go on where it has none.
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
		if r.node.Others() == len(r.Settings.Cluster)-1 { // a relay that is down learns from that log what to overwrite
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

// isolated tells whether this relay of several reaches no other.
func (r *relay) isolated() bool { return len(r.Settings.Cluster) > 0 && r.node.Others() == 0 }

// faultOf gives the fault that led to an error.
func faultOf(err error, cluster bool) string {
	var api *jetstream.APIError
	switch {
	case errors.As(err, &api) && (api.ErrorCode == errStore || api.ErrorCode == errResources):
		return faultDisk
	case cluster:
		return faultQuorum
	}
	return faultStorage
}

// Error codes of JetStream, of which its client has no names.
const (
	errResources jetstream.ErrorCode = 10023 // insufficient resources
	errStore     jetstream.ErrorCode = 10077 // the message cannot be stored
)

// runStorage opens the buckets and does all that needs them until they fail; up is called
// once the calls in them are known.
func (r *relay) runStorage(ctx context.Context, up func()) error {
	if r.isolated() {
		return errIsolated
	}
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { r.storageFailed(context.Cause(ctx)) })() // at once, whatever still has to end
	group.Go(func() error { return r.watchPeers(ctx) })
	group.Go(func() error {
		js, err := r.openBuckets(ctx)
		if err != nil {
			return err
		}
		group.Go(func() error { return watchStreams(ctx, js) })
		r.feed.Loaded = sync.OnceFunc(up) // users ask about calls that were there before
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

// streamCheckEvery is how often it is looked whether all streams are still there.
const streamCheckEvery = 2 * time.Second

var errStreamLost = errors.New("a stream is lost")

// watchStreams fails once a stream is gone that was there when it began: a watch of its
// bucket does not notice.
func watchStreams(ctx context.Context, js jetstream.JetStream) error {
	for all := []string(nil); ; {
		var now []string
		names := js.StreamNames(ctx)
		for name := range names.Name() {
			now = append(now, name)
		}
		if names.Err() == nil { // else there is no leader, perhaps
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
	if r.journal != nil {
		err = r.journal.Recreate(ctx)
	} else {
		r.journal, err = journal.Open(ctx, js, r.Settings.Replicas(), r.Settings.Journal.Days, r.Log)
	}
	if err != nil {
		return nil, err
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
	r.leases = leases
	r.setUsers(all)
	r.bucket.Store(bucket)
	r.users.Store(directory)
	if r.feed == nil {
		r.feed = calls.NewFeed(bucket, r.node.Conn, r.Keys.Site, r.Settings.Name, r.Log)
		r.feed.Seen, r.feed.Missed = r.lookups.ring, r.storeMissed
		r.feed.Name = func(u wire.User) string { return r.table.Load().Label(u) }
	}
	return js, nil
}

// catchUp waits a while until the server has all that the others have. Only then may
// another one end: those that have less cannot lead.
func (r *relay) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	for !r.node.Current() && wake.Pause(ctx, catchUpTimeout/50) == nil {
	}
}

// The folders of JetStream: a server of a cluster does not take over what it had
// while it was alone, and deletes it.
const (
	singleDir  = "jetstream"
	clusterDir = "jetstream-cluster"
)

// migrateToCluster copies what this relay had while it was alone, once there is a
// cluster. What the cluster has already is newer.
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
	if err := cmp.Or(names.Error(), r.journal.TakeOver(ctx, from)); err != nil {
		return err
	}
	n.Close()
	_ = os.Remove(filepath.Join(r.Dir, usersBackup))
	return os.RemoveAll(old) // nobody would forget there what has to be forgotten
}

func copyBucket(ctx context.Context, from, to jetstream.JetStream, name string) error {
	old, err := from.KeyValue(ctx, name)
	if err != nil {
		return err
	}
	kept, err := old.Status(ctx)
	if err != nil {
		return err
	}
	if kept.(*jetstream.KeyValueBucketStatus).Config().Storage == jetstream.MemoryStorage {
		return nil
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
