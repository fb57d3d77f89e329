// Package chosencontacts remembers whom the user chose among several contacts of one
// telephone number. On disk it keeps a keyed hash of the number, the contact's id and when
// that was last chosen, for 90 days; no name and no number. The key is 32 random bytes in
// the secret store, away from the file; without a key, choices are only kept in memory.
//
// LastChoice, SetChoice, ForgetChoice and Configure only use memory and return at once. The
// file and the secret store belong to Run's goroutine.
package chosencontacts

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/wake"
)

// KeepFor is how long a choice is kept after it was last made.
const KeepFor = 90 * 24 * time.Hour

// Limits. Beyond maxChoices the oldest is dropped.
const (
	maxChoices = 10_000
	maxNumber  = 128 // bytes
	maxContact = 200
)

// FileName is the file's name in the profile's state folder.
const FileName = "choices.json"

// ErrStopped is returned once Run has ended.
var ErrStopped = errors.New("choices: not running any more")

// Params configures a Store. Path and Log are required.
type Params struct {
	Path    string
	Secrets func() secret.Store // of the current settings; nil: in memory only
	Keep    bool                // setting history.choices
	Paused  bool                // see Pause
	Log     *slog.Logger
}

// Store holds a profile's remembered choices. It is safe for concurrent use.
type Store struct {
	p        Params
	wake     chan struct{}
	commands chan func(context.Context)
	done     chan struct{}

	mu         sync.RWMutex // protects what follows; never held while waiting
	keep       bool
	paused     bool
	key        []byte         // nil while unknown
	choices    map[tag]choice // in the file, or still to be written
	pendingOps []op           // to apply to choices once there is a key
	dirty      bool           // choices differs from the file

	file file // used by Run only
}

// tag is a number as stored in the file.
type tag [sha256.Size]byte

type choice struct {
	contact string
	used    time.Time
}

// op is a change made before the key was known.
type op struct {
	number, contact string
	at              time.Time
	chose           bool
}

// New returns a Store that is empty until Run reads the file.
func New(p Params) *Store {
	return &Store{p: p, keep: p.Keep || p.Paused, paused: p.Paused, choices: map[tag]choice{},
		wake: make(chan struct{}, 1), commands: make(chan func(context.Context)), done: make(chan struct{})}
}

// LastChoice returns the contact last chosen for a number.
func (s *Store) LastChoice(number string) (contactID string, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.choices[s.tag(number)]
	for _, o := range s.pendingOps {
		if o.number == number {
			c = o.apply(c)
		}
	}
	if s.paused || time.Since(c.used) >= KeepFor {
		return "", false
	}
	return c.contact, true
}

// SetChoice records that the user chose a contact for a number. Invalid choices are ignored.
func (s *Store) SetChoice(number, contactID string) {
	if number == "" || len(number) > maxNumber || contactID == "" || len(contactID) > maxContact || !utf8.ValidString(contactID) {
		return
	}
	s.do(op{number, contactID, time.Now(), true})
}

// ForgetChoice forgets a contact if it is the one chosen for a number.
func (s *Store) ForgetChoice(number, contactID string) {
	s.do(op{number, contactID, time.Now(), false})
}

func (s *Store) do(o op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.keep || s.paused && o.chose {
		return
	}
	if s.key != nil {
		s.apply(o)
	} else if s.pendingOps = append(s.pendingOps, o); len(s.pendingOps) > maxChoices {
		s.pendingOps = slices.Delete(s.pendingOps, 0, 1)
	}
	wake.Up(s.wake)
}

// apply returns the number's choice after o, given c before; the zero choice is none.
func (o op) apply(c choice) choice {
	switch {
	case o.chose:
		return choice{o.contact, o.at}
	case o.contact == c.contact:
		return choice{}
	}
	return c
}

// apply applies o to the choices. The key is known.
func (s *Store) apply(o op) {
	t := s.tag(o.number)
	was := s.choices[t]
	switch now := o.apply(was); now {
	case was:
		return
	case choice{}:
		delete(s.choices, t)
	default:
		s.choices[t] = now
		if len(s.choices) > maxChoices {
			delete(s.choices, oldest(s.choices))
		}
	}
	s.dirty = true
}

func oldest(kept map[tag]choice) (at tag) {
	first := true
	for t, c := range kept {
		if first || c.used.Before(kept[at].used) {
			at, first = t, false
		}
	}
	return at
}

// Pause is for a setting history.choices that cannot be read: until Configure is called,
// choices are neither shown nor made, and the existing ones stay.
func (s *Store) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep, s.paused = true, true
}

// Configure applies the setting history.choices: unwanted choices are forgotten at once,
// and deleted from disk as soon as Run gets to it.
func (s *Store) Configure(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep, s.paused = keep, false; !keep {
		s.clear()
	}
	wake.Up(s.wake)
}

func (s *Store) clear() {
	clear(s.choices)
	s.pendingOps, s.dirty = nil, false
}

// tag hashes a number. Without a key, the result matches nothing in the file.
func (s *Store) tag(number string) tag { return sum(s.key, "number\x00"+number) }

func sum(key []byte, text string) (t tag) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	h.Sum(t[:0])
	return t
}

// Forget deletes the choice for a number, in the form of phone.Number.Key,
// from memory and disk. It fails if choices are kept but the secret store
// does not return the key that is needed to find the number.
func (s *Store) Forget(ctx context.Context, number string) error {
	return s.command(ctx, func(ctx context.Context) error {
		if err := s.ensureKey(ctx); err != nil {
			return err
		}
		return s.deleteIf(func(t tag, n string, _ choice) bool { return n == number || t == s.tag(number) })
	})
}

// ForgetOlder deletes choices last made before t.
func (s *Store) ForgetOlder(ctx context.Context, t time.Time) error {
	return s.command(ctx, func(context.Context) error {
		return s.deleteIf(func(_ tag, _ string, c choice) bool { return c.used.Before(t) })
	})
}

// ForgetAll deletes every choice, the file, and the key.
func (s *Store) ForgetAll(ctx context.Context) error {
	return s.command(ctx, s.removeAll)
}

// command makes Run execute f.
func (s *Store) command(ctx context.Context, f func(context.Context) error) (err error) {
	ready := make(chan struct{})
	carry := func(ctx context.Context) {
		defer close(ready)
		err = f(ctx)
	}
	select {
	case s.commands <- carry:
		<-ready
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return ErrStopped
	}
}

// deleteIf deletes the choices matched by gone from memory and disk; n is "" for those in the file.
func (s *Store) deleteIf(gone func(t tag, n string, c choice) bool) error {
	s.mu.Lock()
	had := len(s.choices)
	maps.DeleteFunc(s.choices, func(t tag, c choice) bool { return gone(t, "", c) })
	s.dirty = s.dirty || len(s.choices) != had
	s.pendingOps = slices.DeleteFunc(s.pendingOps, func(o op) bool { return gone(tag{}, o.number, choice{o.contact, o.at}) })
	s.mu.Unlock()
	if s.file.keepAsIs {
		return errLeftAsIs
	}
	return s.save()
}
