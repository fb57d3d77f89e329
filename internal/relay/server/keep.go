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

	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// What a relay lacks; "" is nothing.
const (
	lacksStart  = "start"  // it has not come so far
	lacksQuorum = "quorum" // two of the three relays must reach each other
	lacksDisk   = "disk"
	lacksBucket = "storage" // what it keeps cannot be read, for another reason
)

// How long it takes the buckets to open, and how soon it is tried again.
const (
	findTime = 2 * time.Second // servers without a leader say nothing
	allTime  = 20 * time.Second
	callTime = time.Second // for one request
	// catchUpTime is how long a relay waits until its server knows what the others know.
	catchUpTime = 5 * time.Second
	// reachEvery is how often it is looked whether other relays are reached.
	reachEvery = 250 * time.Millisecond
	openAgain  = 500 * time.Millisecond
)

// keep works with the buckets until ctx ends. Where they cannot be used, as the other
// relays are out of reach or the disk is full, it says so, sends users to another
// relay, and tries again; up is called each time that they can.
func (r *relay) keep(ctx context.Context, up func()) error {
	for ctx.Err() == nil {
		r.lack(r.work(ctx, func() {
			r.storage.lacks.Store("")
			r.changed()
			up()
		}))
		select {
		case <-ctx.Done():
		case <-time.After(openAgain/2 + rand.N(openAgain)): // not all relays at the same time
		}
	}
	return ctx.Err()
}

// lack notes why the buckets cannot be used. Users come back to this relay only where
// there is no other.
func (r *relay) lack(why error) {
	if errors.Is(why, context.Canceled) || errors.Is(why, calls.ErrEpoch) {
		return
	}
	what := lacksOf(why, len(r.Settings.Cluster) > 0)
	news := r.storage.lacks.Swap(what) != what
	if news {
		r.changed()
		r.Log.Error("what the relay keeps cannot be used", "lacks", what, "why", why)
	}
	if !news && !errors.Is(why, errAlone) { // the other relays answer users who are here
		return
	}
	if err := r.node.Dismiss(); err != nil {
		r.Log.Warn("users could not be sent to another relay", "why", err)
	}
}

var errAlone = errors.New("no other relay is reached")

// reach fails once no other relay of the site is reached. The servers would notice
// too, but later.
func (r *relay) reach(ctx context.Context) error {
	tick := time.NewTicker(reachEvery)
	defer tick.Stop()
	for !r.alone() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return errAlone
}

// How often it is tried whether the disk has room, and for how many bytes. The server
// says that it has written what it has in memory only.
const (
	roomEvery = 3 * time.Second
	roomBytes = 1 << 20
)

// room looks after the room on the disk, and copies the users as long as there is
// some. Calls go on where there is none.
func (r *relay) room(ctx context.Context) error {
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	var copied *[]users.Entry
	for file, b := filepath.Join(r.Dir, "room"), make([]byte, roomBytes); ; {
		err := os.WriteFile(file, b, 0o600)
		_ = os.Remove(file)
		if all := r.storage.users.Load(); err == nil && all != copied {
			if err = r.copyUsers(*all); err == nil {
				copied = all
			}
		}
		if r.node.Others() == len(r.Settings.Cluster)-1 { // who is away learns from that log what to overwrite
			r.node.Compact(journal.Name)
			r.node.Compact(users.Stream)
		}
		if full := err != nil; r.storage.full.Swap(full) != full {
			r.Log.Error("the room on the disk has changed", "full", full, "why", err)
			r.changed()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (r *relay) alone() bool { return len(r.Settings.Cluster) > 0 && r.node.Others() == 0 }

// lacksOf tells what is missing, by the error to which that has led.
func lacksOf(err error, cluster bool) string {
	var api *jetstream.APIError
	switch {
	case errors.As(err, &api) && (api.ErrorCode == errStore || api.ErrorCode == errResources):
		return lacksDisk
	case cluster:
		return lacksQuorum
	}
	return lacksBucket
}

// Error codes of JetStream, of which its client has no names.
const (
	errResources jetstream.ErrorCode = 10023 // insufficient resources
	errStore     jetstream.ErrorCode = 10077 // the message cannot be stored
)

// work opens the buckets and works with them until they fail; up is called once it is
// known what goes on.
func (r *relay) work(ctx context.Context, up func()) error {
	if r.alone() {
		return errAlone
	}
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { r.lack(context.Cause(ctx)) })() // at once, whatever still has to end
	group.Go(func() error { return r.reach(ctx) })
	group.Go(func() error {
		js, err := r.open(ctx)
		if err != nil {
			return err
		}
		group.Go(func() error { return r.room(ctx) })
		group.Go(func() error { return whole(ctx, js) })
		r.feed.Whole = sync.OnceFunc(up) // users ask about calls that were there before
		group.Go(func() error { return r.feed.Run(ctx) })
		group.Go(func() error { return r.journal.Run(ctx) })
		group.Go(func() error {
			return r.users.Load().Watch(ctx, func(all []users.Entry) {
				r.know(ctx, all)
				r.storage.users.Store(&all)
			})
		})
		return nil
	})
	return group.Wait()
}

// wholeEvery is how often it is looked whether all is there that the relay keeps.
const wholeEvery = 2 * time.Second

var errLost = errors.New("something is lost that the relay keeps")

// whole fails once something is not there any more that was there when it began: whoever
// watches it does not notice.
func whole(ctx context.Context, js jetstream.JetStream) error {
	tick := time.NewTicker(wholeEvery)
	defer tick.Stop()
	for all := []string(nil); ; {
		var now []string
		names := js.StreamNames(ctx)
		for name := range names.Name() {
			now = append(now, name)
		}
		if names.Err() == nil { // else there is no leader, perhaps
			if slices.ContainsFunc(all, func(name string) bool { return !slices.Contains(now, name) }) {
				return errLost
			}
			all = now
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (r *relay) open(ctx context.Context) (jetstream.JetStream, error) {
	js, err := jetstream.New(r.node.Conn, jetstream.WithDefaultTimeout(callTime))
	if err != nil {
		return nil, err
	}
	find, found := context.WithTimeout(ctx, findTime)
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
	ctx, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	if r.journal != nil {
		err = r.journal.Make(ctx)
	} else {
		r.journal, err = journal.Open(ctx, js, r.Settings.Replicas(), r.Settings.Journal.Days, r.Log)
	}
	if err != nil {
		return nil, err
	}
	if err := r.grow(ctx, js); err != nil {
		return nil, err
	}
	r.catchUp(ctx, js)
	if err := r.putBack(ctx, directory); err != nil {
		return nil, err
	}
	if err := directory.Tidy(ctx); err != nil {
		r.Log.Warn("what users were before is still there", "why", err)
	}
	all, err := directory.List(ctx)
	if err != nil {
		return nil, err
	}
	r.leases = leases
	r.know(ctx, all)
	r.bucket.Store(bucket)
	r.users.Store(directory)
	if r.feed == nil {
		r.feed = calls.NewFeed(bucket, r.node.Conn, r.Keys.Site, r.Settings.Name, r.Log)
		r.feed.Seen, r.feed.Away = r.lookups.ring, r.away
		r.feed.Name = func(u wire.User) string { return r.table.Load().Label(u) }
	}
	return js, nil
}

// catchUp waits a while until the server has all that the others know. Only then may
// another one end: those that know less cannot lead.
func (r *relay) catchUp(ctx context.Context, js jetstream.JetStream) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	behind := func() bool {
		all := js.ListStreams(ctx)
		for s := range all.Info() {
			if c := s.Cluster; c != nil && slices.ContainsFunc(c.Replicas, func(p *jetstream.PeerInfo) bool { return p.Name == r.Settings.Name && !p.Current }) {
				return true
			}
		}
		return all.Err() != nil
	}
	for len(r.Settings.Cluster) > 0 && behind() && ctx.Err() == nil {
		time.Sleep(catchUpTime / 50)
	}
}

// The folders of JetStream: a server of a cluster does not take over what it had
// while it was alone, and deletes it.
const (
	aloneDir   = "jetstream"
	clusterDir = "jetstream-cluster"
)

// grow takes over what this relay knew while it was alone, once there is a cluster.
// What the cluster knows already is newer.
func (r *relay) grow(ctx context.Context, to jetstream.JetStream) error {
	old := filepath.Join(r.Dir, aloneDir)
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
	_ = os.Remove(filepath.Join(r.Dir, copyFile))
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
