// Package users keeps the users of a site: which extensions and numbers belong to
// whom, and with which keys they have joined. They are stored in a bucket that all
// relays of the site watch.
package users

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

// Limits per user.
const (
	maxComputers = 8
	maxKeys      = 256 // including revoked ones
	maxNumbers   = 64
	maxText      = 128 // bytes per extension, number, queue, name or address
	maxEntry     = 64 << 10
)

// Entry is one user. It is not modified in place; see Directory.
type Entry struct {
	User       wire.User `json:"user"`
	Name       string    `json:"name,omitempty"` // for people
	Extensions []string  `json:"extensions,omitempty"`
	Numbers    []string  `json:"numbers,omitempty"` // as given
	Email      string    `json:"email,omitempty"`
	Queues     []string  `json:"queues,omitempty"` // from which the user takes calls
	Keys       []Key     `json:"keys,omitempty"`
	Added      time.Time `json:"added,omitzero"`   // or added again
	Removed    time.Time `json:"removed,omitzero"` // if set, only the keys remain
	// Publisher marks a program that reports calls, not a user: it has only keys.
	Publisher bool `json:"publisher,omitempty"`
}

// Key is the public key of a computer on which a user has joined.
type Key struct {
	Public  string    `json:"public"`
	AddedAt time.Time `json:"since"`
	// Revoked is when the key was revoked; zero while it is valid.
	Revoked time.Time `json:"revoked,omitzero"`
	// NeverExpires marks a key whose token never expires: a publisher's.
	NeverExpires bool `json:"endless,omitempty"`
}

// expired reports whether no token for the key can be valid any more.
func (k Key) expired(now time.Time) bool {
	return !k.Revoked.IsZero() && !k.NeverExpires && now.Sub(k.Revoked) > credentials.Lifetime
}

// active reports whether the entry is in use.
func (e *Entry) active() bool { return e.User != "" && e.Removed.IsZero() }

// IsUser reports whether the entry is a user: there, and not a publisher.
func (e Entry) IsUser() bool { return e.active() && !e.Publisher }

// revoke revokes the valid keys but for the newest ones, and returns those it revoked.
func (e *Entry) revoke(now time.Time, newest int) (revoked []Key) {
	for i, k := range slices.Backward(e.Keys) {
		if !k.Revoked.IsZero() {
			continue
		}
		if newest--; newest < 0 {
			e.Keys[i].Revoked = now
			revoked = append(revoked, e.Keys[i])
		}
	}
	return revoked
}

// Computers returns how many the user has joined on.
func (e Entry) Computers() (n int) {
	for _, k := range e.Keys {
		if k.Revoked.IsZero() {
			n++
		}
	}
	return n
}

// keep copies the given columns from the previous entry.
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

// join adds a computer. If there are too many, the oldest is revoked and returned. Expired
// keys are dropped; if there are still more than an entry holds, so is the first
// revoked key that is not endless.
func (e *Entry) join(k Key) (revoked []Key) {
	e.Keys = append(e.Keys, k)
	e.Keys = slices.DeleteFunc(e.Keys, func(old Key) bool { return old.expired(k.AddedAt) })
	if i := slices.IndexFunc(e.Keys, func(old Key) bool { return !old.Revoked.IsZero() && !old.NeverExpires }); i >= 0 &&
		len(e.Keys) > maxKeys {
		e.Keys = slices.Delete(e.Keys, i, i+1)
	}
	return e.revoke(k.AddedAt, maxComputers)
}

// Revoked returns the revoked keys that have not expired, each with the time of
// its revocation, for Node.Revoke.
func Revoked(all []Entry, now time.Time) map[string]time.Time {
	out := map[string]time.Time{}
	for _, e := range all {
		for _, k := range e.Keys {
			if !k.Revoked.IsZero() && !k.expired(now) {
				out[k.Public] = k.Revoked
			}
		}
	}
	return out
}

// errEntry reveals nothing of the entry.
var errEntry = errors.New("not a user")

func parse(b []byte) (Entry, error) {
	var e Entry
	if len(b) > maxEntry || json.Unmarshal(b, &e) != nil || e.Check() != nil {
		return Entry{}, errEntry
	}
	return e, nil
}

// Errors in an entry.
var (
	ErrTooMany = text.Errorf(text.RelayUserMany)
	ErrTooLong = text.Errorf(text.RelayUserLong)
)

// Check returns what is wrong with an entry.
func (e Entry) Check() error {
	if !e.User.Valid() {
		return wire.ErrUser
	}
	if len(e.Extensions)+len(e.Numbers)+len(e.Queues) > maxNumbers || len(e.Keys) > maxKeys {
		return ErrTooMany
	}
	for _, s := range slices.Concat(e.Extensions, e.Numbers, e.Queues, []string{e.Email, e.Name}) {
		if len(s) > maxText {
			return ErrTooLong
		}
	}
	return nil
}

// Label returns the name colleagues see.
func (e Entry) Label() string { return cmp.Or(e.Name, string(e.User)) }
