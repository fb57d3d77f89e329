package calls

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/bucketwatch"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

// TestForgot: the feed notices that the bucket has lost its contents; once it is reopened,
// everybody who had a call learns that its fate is unknown.
func TestForgot(t *testing.T) {
	b, c := relays(t)
	js := must.Get(jetstream.New(c))(t)
	f := newFeed(b, c, "r1")
	anna := follow(t, c, "anna")
	for range 2 {
		ended := make(chan error, 1)
		go func() { ended <- f.Run(t.Context()) }()
		tell(t, b, "wazo/1", call.Ringing, "anna")
		anna.until("wazo/1 ringing")
		before := anna.last
		must.Do(t, must.Get(js.Stream(t.Context(), "KV_calls"))(t).Purge(t.Context()))
		tell(t, b, "wazo/2", call.Ringing, "bob") // without the key that holds the epoch
		must.Do(t, b.kv.Delete(t.Context(), epochKey))
		if err := <-ended; !errors.Is(err, ErrContentsLost) {
			t.Fatal(err)
		}
		began := time.Now().UnixMilli()
		must.Soon(t, func() (bool, any) { return time.Now().UnixMilli() > began, began }) // so that the next epoch is later
		b = must.Get(Open(t.Context(), js, 1))(t)
		stop := start(t, f)
		anna.until()
		if anna.last.Epoch <= before.Epoch {
			t.Errorf("epoch %d after %d", anna.last.Epoch, before.Epoch)
		}
		stop()
	}
}

// behind is a bucket as read from a server that lags behind the others, or while it
// changes: everything but its last entries, as many as last says, is presented as complete;
// those follow once let is closed.
type behind struct {
	jetstream.KeyValue
	meanwhile func()
	last      int
	let       chan struct{}
}

type behindWatch struct {
	jetstream.KeyWatcher
	updates chan jetstream.KeyValueEntry
}

func (w behindWatch) Updates() <-chan jetstream.KeyValueEntry { return w.updates }

func (b behind) WatchAll(ctx context.Context, o ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	b.meanwhile()
	w, err := b.KeyValue.WatchAll(ctx, o...)
	if err != nil {
		return nil, err
	}
	var all []jetstream.KeyValueEntry
	for e := <-w.Updates(); e != nil; e = <-w.Updates() {
		all = append(all, e)
	}
	out := behindWatch{w, make(chan jetstream.KeyValueEntry, len(all)+1)}
	late := len(all) - b.last
	for _, e := range append(slices.Clone(all[:late]), nil) {
		out.updates <- e
	}
	go func() {
		select {
		case <-b.let:
		case <-ctx.Done():
			return
		}
		for _, e := range all[late:] {
			out.updates <- e
		}
	}()
	return out, nil
}

// TestBehind: a relay whose server lags behind the others, or omits entries that
// change while it reads, publishes nothing until it has caught up, since its
// snapshot would pass for the newest.
func TestBehind(t *testing.T) {
	b, c := relays(t, "r1")
	tell(t, b, "ari/1", call.Ringing, "bob")
	tell(t, b, "wazo/2", call.Ringing, "anna")
	tell(t, b, "wazo/1", call.Ringing, "anna")
	anna := follow(t, c, "anna")
	changed, let := make(chan struct{}), make(chan struct{})
	change := func() { tell(t, b, "wazo/2", call.Ended, "anna"); close(changed) }
	f := newFeed(&Bucket{kv: behind{b.kv, change, 1, let}}, c, "r2")
	seen, loaded := 0, make(chan int, 64)
	f.OnRecord, f.OnLoaded = func(Record) { seen++ }, func() { loaded <- seen }
	start(t, f)
	looked := make(chan []Record, 1)
	go func() {
		all, _ := (&Bucket{kv: behind{b.kv, func() { <-changed }, 1, let}}).Ongoing(t.Context(), "wazo/")
		looked <- all
	}()
	said := func(limit <-chan time.Time) (by wire.Snapshot) {
		for by.Relay != "r2" {
			select {
			case m := <-anna.in:
				by, _ = wire.ParseSnapshot(m.Data)
			case all := <-looked:
				t.Errorf("looked too early: %+v", all)
			case <-limit:
				return by
			}
		}
		return by
	}
	if by := said(time.After(checkEvery / 2)); by.Relay == "r2" {
		t.Errorf("told too early: %+v", by)
	}
	close(let)
	if all := <-looked; len(all) != 1 || all[0].ID != "wazo/1" {
		t.Errorf("%+v", all)
	}
	if by := said(time.After(time.Minute)); len(by.Calls) != 2 || by.Calls[0].State != "ended" {
		t.Errorf("%+v", by)
	}
	if n := <-loaded; n != 3 {
		t.Errorf("loaded after %d calls", n)
	}
}

// TestVerify: a bucket with less content than is known counts as having lost it
// only if two checks in a row say so: a server that was the leader before it
// was cut off may report that once.
func TestVerify(t *testing.T) {
	said := func(newest uint64) check { return check{state: bucketwatch.State{Newest: newest}, known: 7} }
	less, all := said(6), said(7)
	for _, c := range []struct {
		said []check
		want error
	}{
		{[]check{all, less, all, less}, nil},
		{[]check{less, less}, ErrContentsLost},
		{[]check{said(8)}, errBehind},
		{[]check{{err: context.DeadlineExceeded}}, context.DeadlineExceeded},
	} {
		f := &Feed{seq: 7, epoch: anEpoch{}}
		var err error
		for _, said := range c.said {
			err = f.verify(said, 7)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.said, err, c.want)
		}
	}
}

// TestEpochLasts: the epoch, the time since which the bucket is
// complete, outlasts the calls in it.
func TestEpochLasts(t *testing.T) {
	b, _ := relays(t)
	for old, want := range map[time.Duration]bool{lifetime / 2: false, lifetime + time.Minute: true} {
		was := must.Get(b.kv.Get(t.Context(), epochKey))(t)
		b.purge(t.Context(), nil, aged{was, old})
		now := must.Get(b.kv.Get(t.Context(), epochKey))(t)
		if string(now.Value()) != string(was.Value()) || (now.Revision() > was.Revision()) != want {
			t.Errorf("after %v: revision %d, then %d", old, was.Revision(), now.Revision())
		}
	}
}

// aged is an entry created some time ago.
type aged struct {
	jetstream.KeyValueEntry
	old time.Duration
}

func (a aged) Created() time.Time { return time.Now().Add(-a.old) }

// anEpoch is an existing epoch's entry.
type anEpoch struct{ jetstream.KeyValueEntry }
