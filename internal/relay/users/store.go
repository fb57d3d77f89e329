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
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/bucketwatch"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

// CodeLife is how long a code is valid.
const CodeLife = 7 * 24 * time.Hour

// replicationTime is how far one server may lag behind another; a busy one may
// lag several times as far.
const replicationTime = 50 * time.Millisecond

// alphabet leaves out lookalikes; it has 32 characters of five bits each.
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// restoreTime limits the attempt to put a code back.
const restoreTime = 5 * time.Second

// codeLength is the length of a code without hyphens: 80 bits.
const codeLength = 16

// Errors of Directory. ErrCode is the same for wrong, used and expired codes, so that
// guessing reveals nothing.
var (
	ErrCode    = errors.New("the code is not valid, or not any more")
	ErrUnknown = errors.New("no such user")
	ErrTaken   = text.Errorf(text.RelayTaken)
)

// Directory holds a site's users and the codes with which they join. It is safe for
// concurrent use, on several relays too.
type Directory struct {
	users, joins jetstream.KeyValue
	stream       jetstream.Stream // of the users bucket
	now          func() time.Time
}

// Stream is the stream behind the bucket of users. Unlike buckets, it allows messages to be
// deleted, so that old data about a person is overwritten in the file.
const Stream = "KV_users"

// Open opens or creates the buckets, on the given number of replicas.
func Open(ctx context.Context, js jetstream.JetStream, replicas int) (*Directory, error) {
	_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: Stream, Subjects: []string{subject + ">"}, Replicas: replicas, MaxMsgSize: maxEntry,
		MaxMsgsPerSubject: versions, Discard: jetstream.DiscardNew, AllowRollup: true, AllowDirect: true})
	if err == nil {
		_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "joins", TTL: CodeLife, Replicas: replicas, MaxValueSize: maxEntry})
	}
	if err != nil {
		return nil, fmt.Errorf("the buckets of users: %w", err)
	}
	return OpenExisting(ctx, js)
}

// OpenExisting opens the buckets as they are, to change users while a relay runs: its
// settings may already be those for its next start.
func OpenExisting(ctx context.Context, js jetstream.JetStream) (*Directory, error) {
	d := &Directory{now: time.Now}
	var err error
	if d.stream, err = js.Stream(ctx, Stream); err == nil {
		d.users, err = js.KeyValue(ctx, "users")
	}
	if err == nil {
		d.joins, err = js.KeyValue(ctx, "joins")
	}
	if err != nil {
		return nil, fmt.Errorf("the buckets of users: %w", err)
	}
	return d, nil
}

const (
	subject = "$KV.users." // followed by the user
	// versions limits the revisions of an entry kept until the old ones are overwritten;
	// beyond that the server removes them without overwriting.
	versions = 64
)

// purgeBefore overwrites a user's revisions before the given one.
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

// PurgeOld overwrites old revisions left behind by a relay that ended
// while changing an entry.
func (d *Directory) PurgeOld(ctx context.Context) error {
	return d.each(ctx, func(u wire.User, revisions uint64) error {
		if revisions < 2 {
			return nil
		}
		_, newest, err := d.Find(ctx, u)
		if newest > 0 {
			err = d.purgeBefore(ctx, u, newest)
		}
		return err
	})
}

// List returns all entries by name, including removed users.
func (d *Directory) List(ctx context.Context) (all []Entry, err error) {
	err = d.each(ctx, func(u wire.User, _ uint64) error {
		e, _, err := d.Find(ctx, u)
		if errors.Is(err, ErrUnknown) { // returned by a server that lags behind
			return nil
		}
		all = append(all, e)
		return err
	})
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.User, b.User) })
	return all, err
}

// each runs do for every user, with the number of revisions. It asks the stream's leader: a
// watch may start on a server whose disk is full, and fail there.
func (d *Directory) each(ctx context.Context, do func(u wire.User, revisions uint64) error) error {
	info, err := d.stream.Info(ctx, jetstream.WithSubjectFilter(subject+">"))
	if err != nil {
		return err
	}
	for name, revisions := range info.State.Subjects {
		if u, err := wire.UserOf(name); err == nil {
			if err := do(u, revisions); err != nil {
				return err
			}
		}
	}
	return nil
}

// Find returns a user's entry and revision, or ErrUnknown.
func (d *Directory) Find(ctx context.Context, u wire.User) (e Entry, revision uint64, err error) {
	kv, err := d.users.Get(ctx, u.Token())
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return Entry{}, 0, ErrUnknown
	case err != nil:
		return Entry{}, 0, err
	}
	e, err = parse(kv.Value())
	return e, kv.Revision(), err
}

// Restore puts an entry back and reports whether it was lost, that is,
// missing or unreadable.
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

// Watch passes all entries to take, at once and after every change or burst of changes,
// until ctx ends or the bucket can no longer be watched. take runs on Watch's goroutine.
// Watch restarts a watch whose server has ended.
func (d *Directory) Watch(ctx context.Context, take func([]Entry)) error {
	for {
		if err := d.watch(ctx, take); err != errBehind {
			return err
		}
	}
}

// checkEvery is how often the relay checks whether a watch receives everything.
const checkEvery = time.Second

var errBehind = errors.New("the bucket of users is not heard any more")

func (d *Directory) watch(ctx context.Context, take func([]Entry)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watch, err := bucketwatch.Begin(ctx, d.users)
	if err != nil {
		return err
	}
	tick := time.Tick(checkEvery)
	all, loaded := map[string]Entry{}, false
	seen, before := uint64(0), uint64(math.MaxUint64) // revisions; none at the previous check
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			now, err := bucketwatch.QueryState(ctx, d.users) // an error may mean no leader
			if err == nil && now.Newest > seen && seen == before {
				return errBehind
			}
			before = seen
		case kv, open := <-watch.Updates():
			if !open {
				return cmp.Or[error](ctx.Err(), jetstream.ErrConsumerDeleted)
			}
			if kv != nil {
				seen = kv.Revision()
				if kv.Operation() != jetstream.KeyValuePut {
					delete(all, kv.Key())
				} else if e, err := parse(kv.Value()); err == nil { // otherwise what was last read stays in force
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
}

// change applies do to an entry, which is empty if there is none. Concurrent
// changes are not lost.
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
			_ = d.purgeBefore(ctx, u, revision) // otherwise left to PurgeOld
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return err
		}
	}
}

// Put adds or changes a user. Joined computers are kept, as are the values in the columns
// of kept.
func (d *Directory) Put(ctx context.Context, with Entry, kept ...string) error {
	return d.change(ctx, with.User, func(e *Entry) error {
		if e.active() && e.Publisher {
			return ErrTaken
		}
		next := with
		if next.Added = e.Added; !e.active() {
			next.Added = d.now()
		}
		next.Keys, next.Publisher = e.Keys, false
		next.keep(*e, kept)
		*e = next
		return nil
	})
}

// AddPublisher adds a publisher with its public key and revokes the valid keys of that
// name, which it returns.
func (d *Directory) AddPublisher(ctx context.Context, name wire.User, publicKey string) (revoked []Key, err error) {
	err = d.change(ctx, name, func(e *Entry) error {
		if e.IsUser() {
			return ErrTaken
		}
		now := d.now()
		revoked = e.revoke(now, 0)
		*e = Entry{User: name, Keys: e.Keys, Publisher: true}
		e.join(Key{Public: publicKey, AddedAt: now, NeverExpires: true})
		return nil
	})
	return revoked, err
}

// Remove removes a user or publisher, and returns the keys that this revokes. All keys are
// kept, so that every relay knows that they are revoked.
func (d *Directory) Remove(ctx context.Context, u wire.User) (revoked []Key, err error) {
	err = d.change(ctx, u, func(e *Entry) error {
		if !e.active() {
			return ErrUnknown
		}
		now := d.now()
		revoked = e.revoke(now, 0)
		*e = Entry{User: u, Keys: e.Keys, Removed: now, Publisher: e.Publisher}
		return nil
	})
	return revoked, err
}

// Invite creates a code with which the user joins on one computer.
func (d *Directory) Invite(ctx context.Context, u wire.User) (code string, err error) {
	e, _, err := d.Find(ctx, u)
	for try := 0; try < 20 && !e.IsUser() && (err == nil || errors.Is(err, ErrUnknown)) && wake.Pause(ctx, replicationTime) == nil; try++ {
		// the user may have just been added
		e, _, err = d.Find(ctx, u)
	}
	if err != nil {
		return "", err
	} else if !e.IsUser() {
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
	Added time.Time `json:"added"` // of the invited entry, not a later one of that name
	Until time.Time `json:"until"`
}

// hashOf returns the hash of a code, which is all that is kept of it.
func hashOf(code string) string {
	sum := sha256.Sum256([]byte("wiebelt join " + code))
	return hex.EncodeToString(sum[:])
}

// codeSeparators removes separators that people type in a code.
var codeSeparators = strings.NewReplacer("-", "", " ", "")

// Join uses up a code and adds the computer's public key to its user. It returns the key that
// this revokes, if the user has too many. If two computers use one code at the same time, one joins.
func (d *Directory) Join(ctx context.Context, code, publicKey string) (u wire.User, revoked []Key, err error) {
	code = codeSeparators.Replace(strings.ToUpper(code))
	if len(code) != codeLength {
		return "", nil, ErrCode
	}
	entry, err := d.joins.Get(ctx, hashOf(code))
	for try := 0; try < 3 && errors.Is(err, jetstream.ErrKeyNotFound) && wake.Pause(ctx, replicationTime) == nil; try++ {
		// another relay may have just created it
		entry, err = d.joins.Get(ctx, hashOf(code))
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return "", nil, ErrCode
	case err != nil:
		return "", nil, err
	}
	var i invitation
	if json.Unmarshal(entry.Value(), &i) != nil || d.now().After(i.Until) {
		return "", nil, ErrCode
	}
	err = d.joins.Delete(ctx, hashOf(code), jetstream.LastRevision(entry.Revision()))
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return "", nil, ErrCode
	}
	if err == nil {
		err = d.change(ctx, i.User, func(e *Entry) error {
			if !e.IsUser() || !e.Added.Equal(i.Added) {
				return ErrCode
			}
			revoked = e.join(Key{Public: publicKey, AddedAt: d.now()})
			return nil
		})
	}
	if err != nil && !errors.Is(err, ErrCode) { // not joined: the code can be used again
		again, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()
		_, e := d.joins.Create(again, hashOf(code), entry.Value())
		if !errors.Is(e, jetstream.ErrKeyExists) {
			err = errors.Join(err, e)
		}
	}
	return i.User, revoked, err
}
