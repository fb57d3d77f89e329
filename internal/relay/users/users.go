// Package users is who belongs to a site: which extensions and numbers are whose, and
// with which keys a user has joined. It stands in a bucket that every relay of the
// site watches.
package users

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/wire"
)

// Limits of one user.
const (
	maxComputers = 8
	maxKeys      = 256 // those that hold no more among them
	maxNumbers   = 64
	maxText      = 128 // bytes of an extension, number, queue or address
	maxEntry     = 64 << 10
)

// Entry is one user. It is not changed; see Directory.
type Entry struct {
	User       wire.User `json:"user"`
	Name       string    `json:"name,omitempty"` // for people
	Extensions []string  `json:"extensions,omitempty"`
	Numbers    []string  `json:"numbers,omitempty"` // as given
	Email      string    `json:"email,omitempty"`
	Queues     []string  `json:"queues,omitempty"` // in which the user takes calls
	Keys       []Key     `json:"keys,omitempty"`
	Added      time.Time `json:"added,omitzero"`   // or added again
	Removed    time.Time `json:"removed,omitzero"` // then only its keys are told
	// Publisher is a program that reports calls, and no user: it has keys and no more.
	Publisher bool `json:"publisher,omitempty"`
}

// Key is the public key of a computer on which a user has joined.
type Key struct {
	Public string    `json:"public"`
	Since  time.Time `json:"since"`
	// Revoked is when it was made worthless; zero while it holds.
	Revoked time.Time `json:"revoked,omitzero"`
	// Endless is that its token does not end by itself: a publisher's.
	Endless bool `json:"endless,omitempty"`
}

func (k *Key) revoke(now time.Time) {
	if k.Revoked.IsZero() {
		k.Revoked = now
	}
}

// over tells whether no token for a key can be valid any more.
func (k Key) over(now time.Time) bool {
	return !k.Revoked.IsZero() && !k.Endless && now.Sub(k.Revoked) > credentials.Lifetime
}

// there tells whether somebody is a user.
func (e *Entry) there() bool { return e.User != "" && e.Removed.IsZero() }

// Person tells whether somebody is a user: there, and no publisher.
func (e Entry) Person() bool { return e.there() && !e.Publisher }

// Computers is on how many the user has joined.
func (e Entry) Computers() (n int) {
	for _, k := range e.Keys {
		if k.Revoked.IsZero() {
			n++
		}
	}
	return n
}

// keep takes over what stood in some columns before.
func (e *Entry) keep(was Entry, columns []string) {
	for _, c := range columns {
		switch c {
		case "name":
			e.Name = was.Name
		case "extensions":
			e.Extensions = was.Extensions
		case "numbers":
			e.Numbers = was.Numbers
		case "email":
			e.Email = was.Email
		case "queues":
			e.Queues = was.Queues
		}
	}
}

// join adds a computer. Where there are too many, the oldest one is out; a key that is
// over is forgotten. Of more keys than an entry holds, that is the one that was made
// worthless first.
func (e *Entry) join(k Key) {
	e.Keys = append(e.Keys, k)
	e.Keys = slices.DeleteFunc(e.Keys, func(old Key) bool { return old.over(k.Since) })
	if i := slices.IndexFunc(e.Keys, func(old Key) bool { return !old.Revoked.IsZero() && !old.Endless }); i >= 0 && len(e.Keys) > maxKeys {
		e.Keys = slices.Delete(e.Keys, i, i+1)
	}
	hold := 0
	for i := len(e.Keys) - 1; i >= 0; i-- {
		if e.Keys[i].Revoked.IsZero() {
			if hold++; hold > maxComputers {
				e.Keys[i].revoke(k.Since)
			}
		}
	}
}

// Revoked are the keys that hold no more, with the moment since when, for Node.Revoke;
// those that are over are none.
func Revoked(all []Entry, now time.Time) map[string]time.Time {
	out := map[string]time.Time{}
	for _, e := range all {
		for _, k := range e.Keys {
			if !k.Revoked.IsZero() && !k.over(now) {
				out[k.Public] = k.Revoked
			}
		}
	}
	return out
}

// errEntry says nothing of what was in it.
var errEntry = errors.New("not a user")

// Parse reads an entry.
func Parse(b []byte) (Entry, error) {
	var e Entry
	if len(b) > maxEntry || json.Unmarshal(b, &e) != nil || e.Check() != nil {
		return Entry{}, errEntry
	}
	return e, nil
}

// What is wrong with a user.
var (
	ErrMany = errors.New("a user has too many extensions, numbers, queues or computers")
	ErrLong = errors.New("an extension, a number, a queue or an address is too long")
)

// Check tells what is wrong with an entry.
func (e Entry) Check() error {
	if !e.User.Valid() {
		return wire.ErrName
	}
	if len(e.Extensions)+len(e.Numbers)+len(e.Queues) > maxNumbers || len(e.Keys) > maxKeys {
		return ErrMany
	}
	for _, s := range slices.Concat(e.Extensions, e.Numbers, e.Queues, []string{e.Email, e.Name}) {
		if len(s) > maxText {
			return ErrLong
		}
	}
	return nil
}

// Label is what colleagues call the user.
func (e Entry) Label() string { return cmp.Or(e.Name, string(e.User)) }
