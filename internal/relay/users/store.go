package users

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/relay/bucketwatch"
	"wiebelt/internal/relay/wire"
)

// CodeLife is how long a code can be used.
const CodeLife = 7 * 24 * time.Hour

// replicationTime is what a server may be behind another; a busy one may be several times
// that long behind.
const replicationTime = 50 * time.Millisecond

// alphabet has no letters or digits that look alike; 32 of them, five bits each.
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// restoreTime is how long it is tried to put a code back.
const restoreTime = 5 * time.Second

// codeLength is that of a code without its hyphens: 80 bits.
const codeLength = 16

// Errors of Directory. ErrCode is the same for a code that is wrong, used or expired,
// so that who guesses learns nothing.
var (
	ErrCode    = errors.New("the code is not valid, or not any more")
	ErrUnknown = errors.New("no such user")
	ErrTaken   = errors.New("a publisher and a user cannot have the same name")
)

// Directory is the users of a site and the codes with which they join. Its methods
// may be called from any goroutine, on any relay.
type Directory struct {
	users, joins jetstream.KeyValue
	stream       jetstream.Stream // that of users
	now          func() time.Time
}

// Stream is the name of what the bucket of users is made of. It allows messages to be deleted,
// which buckets do not: what was said of somebody before is overwritten in its file.
const Stream = "KV_users"

// Open finds the buckets, or makes them, in as many nodes as replicas says.
func Open(ctx context.Context, js jetstream.JetStream, replicas int) (*Directory, error) {
	d := &Directory{now: time.Now}
	var err error
	d.stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: Stream, Subjects: []string{subject + ">"}, Replicas: replicas, MaxMsgSize: maxEntry,
		MaxMsgsPerSubject: versions, Discard: jetstream.DiscardNew, AllowRollup: true, AllowDirect: true})
	if err == nil {
		d.users, err = js.KeyValue(ctx, "users")
	}
	if err == nil {
		d.joins, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "joins", TTL: CodeLife, Replicas: replicas, MaxValueSize: maxEntry})
	}
	if err != nil {
		return nil, fmt.Errorf("the buckets of users: %w", err)
	}
	return d, nil
}

const (
	subject = "$KV.users." // then the user
	// versions of an entry that there may be until those before the newest are
	// overwritten: the server would take out more than these without that.
	versions = 64
)

// purgeBefore overwrites the revisions of a user before one.
func (d *Directory) purgeBefore(ctx context.Context, u wire.User, before uint64) error {
	for {
		m, err := d.stream.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(subject+u.Token()))
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Sequence >= before {
			return nil
		} else if err != nil {
			return err
		}
		if err := d.stream.SecureDeleteMsg(ctx, m.Sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) { // another one was first
			return err
		}
	}
}

// PurgeOld overwrites the old revisions of entries that a relay left which ended while it
// changed them.
func (d *Directory) PurgeOld(ctx context.Context) error {
	info, err := d.stream.Info(ctx, jetstream.WithSubjectFilter(subject+">"))
	if err != nil {
		return err
	}
	for s, n := range info.State.Subjects {
		u, err := wire.UserOf(s)
		if err != nil || n < 2 {
			continue
		}
		_, revision, err := d.Find(ctx, u)
		if revision > 0 {
			err = d.purgeBefore(ctx, u, revision)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// List gives all entries, those of removed users too, by name. It asks who leads the
// stream: a watch may be begun by a server whose disk is full, and fails there.
func (d *Directory) List(ctx context.Context) ([]Entry, error) {
	info, err := d.stream.Info(ctx, jetstream.WithSubjectFilter(subject+">"))
	if err != nil {
		return nil, err
	}
	var all []Entry
	for name := range info.State.Subjects {
		u, err := wire.UserOf(name)
		if err != nil {
			continue // not a user's
		}
		switch e, _, err := d.Find(ctx, u); {
		case err == nil:
			all = append(all, e)
		case !errors.Is(err, ErrUnknown): // which a server says that is behind the others
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(string(a.User), string(b.User)) })
	return all, nil
}

// Find gives the entry of a user and its revision; ErrUnknown where there is none.
func (d *Directory) Find(ctx context.Context, u wire.User) (e Entry, revision uint64, err error) {
	kv, err := d.users.Get(ctx, u.Token())
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return Entry{}, 0, ErrUnknown
	case err != nil:
		return Entry{}, 0, err
	}
	e, err = Parse(kv.Value())
	return e, kv.Revision(), err
}

// Restore adds an entry as it was, and tells whether it was lost: not there, or not to
// be read.
func (d *Directory) Restore(ctx context.Context, e Entry) (lost bool, err error) {
	if _, _, err := d.Find(ctx, e.User); !errors.Is(err, ErrUnknown) && !errors.Is(err, errEntry) {
		return false, err
	}
	b, err := json.Marshal(e)
	if err == nil {
		_, err = d.users.Put(ctx, e.User.Token(), b)
	}
	return true, err
}

// Watch gives all entries at once and after every change, or after several that come
// one upon the other, until ctx ends or the bucket cannot be watched any more. take
// is called on Watch's goroutine. A watch whose server has ended is begun anew.
func (d *Directory) Watch(ctx context.Context, take func([]Entry)) error {
	var stopping sync.WaitGroup // watches that have ended
	defer stopping.Wait()
	for {
		if err := d.watch(ctx, take, &stopping); err != errBehind {
			return err
		}
	}
}

// checkEvery is how often it is looked whether a watch hears of everything.
const checkEvery = time.Second

var errBehind = errors.New("the bucket of users is not heard any more")

func (d *Directory) watch(ctx context.Context, take func([]Entry), stopping *sync.WaitGroup) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watch, err := bucketwatch.Begin(ctx, d.users)
	if err != nil {
		return err
	}
	defer stopping.Go(func() { _ = watch.Stop() }) // which asks a server that may be gone
	tick := time.Tick(checkEvery)
	all, loaded := map[string]Entry{}, false
	seen, before := uint64(0), uint64(math.MaxUint64) // revisions; there was none before
	for {
		var kv jetstream.KeyValueEntry
		var open bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			last, _, err := bucketwatch.Newest(ctx, d.users) // there is no leader, perhaps
			if err == nil && last > seen && seen == before {
				return errBehind
			}
			before = seen
			continue
		case kv, open = <-watch.Updates():
		}
		if kv != nil {
			seen = kv.Revision()
		}
		switch {
		case !open:
			return cmp.Or[error](ctx.Err(), jetstream.ErrConsumerDeleted)
		case kv == nil:
		case kv.Operation() != jetstream.KeyValuePut:
			delete(all, kv.Key())
		default:
			if e, err := Parse(kv.Value()); err == nil { // else what holds of him is what was read last
				all[kv.Key()] = e
			}
		}
		if !loaded {
			if loaded, err = watch.Loaded(kv); err != nil {
				return errBehind
			}
		}
		if loaded && len(watch.Updates()) == 0 {
			take(slices.Collect(maps.Values(all)))
		}
	}
}

// change changes one entry, which do finds empty where there is none; of several that
// do so at the same time none is lost.
func (d *Directory) change(ctx context.Context, u wire.User, do func(*Entry) error) error {
	for {
		e, revision, err := d.Find(ctx, u)
		if err != nil && !errors.Is(err, ErrUnknown) {
			return err
		}
		if err := cmp.Or(do(&e), e.Check()); err != nil {
			return err
		}
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if revision == 0 {
			_, err = d.users.Create(ctx, u.Token(), b)
		} else if revision, err = d.users.Update(ctx, u.Token(), b, revision); err == nil {
			_ = d.purgeBefore(ctx, u, revision) // or PurgeOld does
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return err
		}
	}
}

// Put adds a user, or changes one; the computers that have joined stay, and what stands
// in the columns that are kept.
func (d *Directory) Put(ctx context.Context, with Entry, kept ...string) error {
	return d.change(ctx, with.User, func(e *Entry) error {
		if e.there() && e.Publisher {
			return ErrTaken
		}
		next := with
		if next.Added = e.Added; !e.there() {
			next.Added = d.now()
		}
		next.Keys, next.Publisher = e.Keys, false
		next.keep(*e, kept)
		*e = next
		return nil
	})
}

// Publish adds a publisher with its public key. The key that it had before is worth
// nothing any more.
func (d *Directory) Publish(ctx context.Context, name wire.User, publicKey string) error {
	return d.change(ctx, name, func(e *Entry) error {
		if e.Person() {
			return ErrTaken
		}
		now := d.now()
		for i := range e.Keys {
			e.Keys[i].revoke(now)
		}
		*e = Entry{User: name, Keys: e.Keys, Publisher: true}
		e.join(Key{Public: publicKey, Since: now, Endless: true})
		return nil
	})
}

// Remove takes a user out, or a publisher. The keys stay, so that every relay knows that they are
// worth nothing any more.
func (d *Directory) Remove(ctx context.Context, u wire.User) error {
	return d.change(ctx, u, func(e *Entry) error {
		if !e.there() {
			return ErrUnknown
		}
		for i := range e.Keys {
			e.Keys[i].revoke(d.now())
		}
		*e = Entry{User: u, Keys: e.Keys, Removed: d.now(), Publisher: e.Publisher}
		return nil
	})
}

// Invite makes a code with which the user joins on one computer.
func (d *Directory) Invite(ctx context.Context, u wire.User) (code string, err error) {
	e, _, err := d.Find(ctx, u)
	for try := 0; try < 20 && !e.Person() && (err == nil || errors.Is(err, ErrUnknown)) && ctx.Err() == nil; try++ {
		time.Sleep(replicationTime) // he may have just been added
		e, _, err = d.Find(ctx, u)
	}
	if err != nil {
		return "", err
	} else if !e.Person() {
		return "", ErrUnknown
	}
	random := make([]byte, codeLength)
	_, _ = rand.Read(random)
	for i, b := range random {
		random[i] = alphabet[b&31]
	}
	code = string(random)
	b, err := json.Marshal(invitation{u, e.Added, d.now().Add(CodeLife)})
	if err != nil {
		return "", err
	}
	if _, err := d.joins.Create(ctx, hashOf(code), b); err != nil {
		return "", err
	}
	return code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:], nil
}

type invitation struct {
	User  wire.User `json:"user"`
	Added time.Time `json:"added"` // the entry for which it is, not one of the same name
	Until time.Time `json:"until"`
}

// hashOf is all that is kept of a code.
func hashOf(code string) string {
	sum := sha256.Sum256([]byte("wiebelt join " + code))
	return hex.EncodeToString(sum[:])
}

// typed are the signs that people put into a code.
var typed = strings.NewReplacer("-", "", " ", "")

// Join uses a code up and adds the computer's public key to its user. Of two that
// come with one code at the same time, one joins.
func (d *Directory) Join(ctx context.Context, code, publicKey string) (wire.User, error) {
	code = typed.Replace(strings.ToUpper(code))
	if len(code) != codeLength {
		return "", ErrCode
	}
	entry, err := d.joins.Get(ctx, hashOf(code))
	for try := 0; try < 3 && errors.Is(err, jetstream.ErrKeyNotFound) && ctx.Err() == nil; try++ {
		time.Sleep(replicationTime) // another relay may have just made it
		entry, err = d.joins.Get(ctx, hashOf(code))
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return "", ErrCode
	case err != nil:
		return "", err
	}
	var i invitation
	if json.Unmarshal(entry.Value(), &i) != nil || d.now().After(i.Until) {
		return "", ErrCode
	}
	err = d.joins.Delete(ctx, hashOf(code), jetstream.LastRevision(entry.Revision()))
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return "", ErrCode
	}
	if err == nil {
		err = d.change(ctx, i.User, func(e *Entry) error {
			if !e.Person() || !e.Added.Equal(i.Added) {
				return ErrCode
			}
			e.join(Key{Public: publicKey, Since: d.now()})
			return nil
		})
	}
	if err != nil && !errors.Is(err, ErrCode) { // he has not joined, and can try again
		again, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()
		_, e := d.joins.Create(again, hashOf(code), entry.Value())
		if !errors.Is(e, jetstream.ErrKeyExists) {
			err = errors.Join(err, e)
		}
	}
	return i.User, err
}
