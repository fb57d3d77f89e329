// Package chosencontacts remembers whom the user chose among several contacts of one
// telephone number. On disk it keeps a keyed hash of the
// number, the contact's id and when that was last chosen, for 90 days; no name
// and no number. The key is 32 random bytes in the secret store, away from the
// file; as long as there is no key, choices live in memory
// only.
//
// Earlier, Chose, NotThis and Configure touch memory alone and return at once.
// File and secret store belong to the goroutine that runs Run.
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

// KeepFor is how long a choice is remembered after it was last made.
const KeepFor = 90 * 24 * time.Hour

// Limits. Beyond maxChoices the oldest one goes.
const (
	maxChoices = 10_000
	maxNumber  = 128 // bytes
	maxContact = 200
)

// FileName is the name of the file in the profile's state folder.
const FileName = "choices.json"

// ErrStopped is returned when Run has ended.
var ErrStopped = errors.New("choices: not running any more")

// Params is what a Store needs. Path and Log are required.
type Params struct {
	Path    string
	Secrets secret.Store // nil: in memory only
	Keep    bool         // setting history.choices
	Log     *slog.Logger
}

// Store are the remembered choices of a profile. Methods are safe for concurrent
// use.
type Store struct {
	p        Params
	wake     chan struct{}
	commands chan func(context.Context)
	done     chan struct{}

	mu      sync.RWMutex // protects what follows; never held while waiting for anything
	keep    bool
	key     []byte         // nil as long as it is not known
	kept    map[tag]choice // what the file has, or will have
	undone  []op           // what is to be done to kept once there is a key
	changed bool           // kept is not what the file has

	file file // Run's alone
}

// tag is a number as the file has it.
type tag [sha256.Size]byte

type choice struct {
	contact string
	used    time.Time
}

// op is something that was done before the key was known.
type op struct {
	number, contact string
	at              time.Time
	chose           bool
}

// New makes a Store that knows nothing until Run.
func New(p Params) *Store {
	return &Store{p: p, keep: p.Keep, kept: map[tag]choice{},
		wake: make(chan struct{}, 1), commands: make(chan func(context.Context)), done: make(chan struct{})}
}

// Earlier gives the contact that was chosen last for a number.
func (s *Store) Earlier(number string) (contactID string, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.kept[s.tag(number)]
	for _, o := range s.undone {
		if o.number == number {
			c = o.after(c)
		}
	}
	if time.Since(c.used) >= KeepFor {
		return "", false
	}
	return c.contact, true
}

// Chose notes that the user chose a contact for a number. What no choice can be
// is left out.
func (s *Store) Chose(number, contactID string) {
	if number == "" || len(number) > maxNumber || contactID == "" || len(contactID) > maxContact || !utf8.ValidString(contactID) {
		return
	}
	s.do(op{number, contactID, time.Now(), true})
}

// NotThis forgets a contact if that is the one chosen for a number.
func (s *Store) NotThis(number, contactID string) {
	s.do(op{number, contactID, time.Now(), false})
}

func (s *Store) do(o op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.keep {
		return
	}
	if s.key != nil {
		s.apply(o)
	} else if s.undone = append(s.undone, o); len(s.undone) > maxChoices {
		s.undone = slices.Delete(s.undone, 0, 1)
	}
	wake.Up(s.wake)
}

// after is the choice for the number once o was done, where it was c before; of none
// it is none.
func (o op) after(c choice) choice {
	switch {
	case o.chose:
		return choice{o.contact, o.at}
	case o.contact == c.contact:
		return choice{}
	}
	return c
}

// apply does o to kept. The key is known.
func (s *Store) apply(o op) {
	t := s.tag(o.number)
	was := s.kept[t]
	switch now := o.after(was); now {
	case was:
		return
	case choice{}:
		delete(s.kept, t)
	default:
		s.kept[t] = now
		if len(s.kept) > maxChoices {
			delete(s.kept, oldest(s.kept))
		}
	}
	s.changed = true
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

// Configure obeys the setting history.choices: what is not to be kept is
// forgotten at once, and deleted from the disk as soon as Run comes to it.
func (s *Store) Configure(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep = keep; !keep {
		s.clear()
	}
	wake.Up(s.wake)
}

func (s *Store) clear() {
	clear(s.kept)
	s.undone, s.changed = nil, false
}

// tag hashes a number; as long as there is no key, as nothing in the file is.
func (s *Store) tag(number string) tag { return sum(s.key, "number\x00"+number) }

func sum(key []byte, text string) (t tag) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	h.Sum(t[:0])
	return t
}

// Forget deletes what is remembered for a number, in the form of
// phone.Number.Key, from memory and disk. It fails if something is kept
// and the secret store does not give the key without which the number cannot be
// found.
func (s *Store) Forget(ctx context.Context, number string) error {
	return s.command(ctx, func(ctx context.Context) error {
		if err := s.needKey(ctx); err != nil {
			return err
		}
		return s.deleteIf(func(t tag, n string, _ choice) bool { return n == number || t == s.tag(number) })
	})
}

// ForgetOlder deletes the choices last made before t.
func (s *Store) ForgetOlder(ctx context.Context, t time.Time) error {
	return s.command(ctx, func(context.Context) error {
		return s.deleteIf(func(_ tag, _ string, c choice) bool { return c.used.Before(t) })
	})
}

// ForgetAll deletes every choice, the file, and the key.
func (s *Store) ForgetAll(ctx context.Context) error {
	return s.command(ctx, s.removeAll)
}

// command has Run carry f out.
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

// deleteIf deletes what gone says from memory and disk; n is "" for what the
// file has.
func (s *Store) deleteIf(gone func(t tag, n string, c choice) bool) error {
	s.mu.Lock()
	had := len(s.kept)
	maps.DeleteFunc(s.kept, func(t tag, c choice) bool { return gone(t, "", c) })
	s.changed = s.changed || len(s.kept) != had
	s.undone = slices.DeleteFunc(s.undone, func(o op) bool { return gone(tag{}, o.number, choice{o.contact, o.at}) })
	s.mu.Unlock()
	if s.file.alone {
		return errAlone
	}
	return s.save()
}
