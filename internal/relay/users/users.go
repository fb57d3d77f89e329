// Package users is who belongs to a site: which extensions and numbers are whose, and
// with which keys a user has joined. It stands in a bucket that every relay of the
// site watches.
package users

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
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

// join adds a computer. Where there are too many, the oldest one is out; a key is
// forgotten once no token for it can be valid. Of more keys than an entry holds, that is
// the one that was made worthless first.
func (e *Entry) join(k Key) {
	e.Keys = append(e.Keys, k)
	ends := func(old Key) bool { return !old.Revoked.IsZero() && !old.Endless }
	e.Keys = slices.DeleteFunc(e.Keys, func(old Key) bool { return ends(old) && k.Since.Sub(old.Revoked) > credentials.Lifetime })
	if i := slices.IndexFunc(e.Keys, ends); i >= 0 && len(e.Keys) > maxKeys {
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

// Revoked are the keys that hold no more, with the moment since when, for Node.Revoke.
func Revoked(all []Entry) map[string]time.Time {
	out := map[string]time.Time{}
	for _, e := range all {
		for _, k := range e.Keys {
			if !k.Revoked.IsZero() {
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
	ErrMany   = errors.New("a user has too many extensions, numbers, queues or computers")
	ErrLong   = errors.New("an extension, a number, a queue or an address is too long")
	ErrNumber = errors.New("not a telephone number")
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

// Table tells whom a call is for. It is not changed once made, and may be used by
// many goroutines.
type Table struct {
	rules       *phone.Rules
	labels      map[wire.User]string
	keys        map[wire.User][]string
	byExtension map[string][]wire.User
	byEmail     map[string][]wire.User
	byNumber    map[string][]wire.User
	byQueue     map[string][]wire.User
}

// NewTable makes the table of the users that are not removed.
func NewTable(all []Entry, rules *phone.Rules) *Table {
	t := &Table{rules: rules, labels: map[wire.User]string{}, keys: map[wire.User][]string{}, byExtension: map[string][]wire.User{}, byEmail: map[string][]wire.User{}, byNumber: map[string][]wire.User{}, byQueue: map[string][]wire.User{}}
	for _, e := range all {
		if !e.Person() {
			continue
		}
		t.labels[e.User] = e.Label()
		for _, k := range e.Keys {
			if k.Revoked.IsZero() {
				t.keys[e.User] = append(t.keys[e.User], k.Public)
			}
		}
		for _, x := range e.Extensions {
			t.byExtension[fold(x)] = append(t.byExtension[fold(x)], e.User)
		}
		for _, n := range e.Numbers {
			if key := t.number(n); key != "" {
				t.byNumber[key] = append(t.byNumber[key], e.User)
			}
		}
		for _, q := range e.Queues {
			t.byQueue[fold(q)] = append(t.byQueue[fold(q)], e.User)
		}
		if e.Email != "" {
			t.byEmail[fold(e.Email)] = append(t.byEmail[fold(e.Email)], e.User)
		}
	}
	return t
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// number is the key of one of our own numbers, however it is written.
func (t *Table) number(s string) string { return t.rules.Parse(s, "").Key() }

// Address is whom an exchange names, in as many ways as it knows.
type Address struct {
	Extensions, Emails []string
	Called             string // the number that was called
}

// At is the address of an extension, "" for none.
func At(extension string) (a Address) {
	if extension != "" {
		a.Extensions = []string{extension}
	}
	return a
}

// Find gives the users at whom something arrives: by the extension, which may be a
// number, or the e-mail address where the exchange names one that is known, and else by
// the number that was called or, last of all, the queue in which it waits.
func (t *Table) Find(a Address, queue string) []wire.User {
	for _, by := range []struct {
		known map[string][]wire.User
		names []string
	}{{t.byExtension, a.Extensions}, {t.byEmail, a.Emails}} {
		for _, name := range by.names {
			if found := by.known[fold(name)]; len(found) > 0 {
				return found
			}
		}
	}
	numbers, nowhere := a.Extensions, len(a.Extensions)+len(a.Emails) == 0
	if nowhere { // else it is somebody's, if nobody's of ours
		numbers = []string{a.Called}
	}
	for _, n := range numbers {
		if found := t.byNumber[t.number(n)]; n != "" && len(found) > 0 {
			return found
		}
	}
	if nowhere {
		return t.byQueue[fold(queue)]
	}
	return nil
}

// HasExtension tells whether an extension is somebody's.
func (t *Table) HasExtension(extension string) bool { return len(t.byExtension[fold(extension)]) > 0 }

// Label is what colleagues call a user.
func (t *Table) Label(u wire.User) string {
	return call.CleanText(cmp.Or(t.labels[u], string(u)), call.MaxName)
}

// Keys are the public keys with which a user may come. The slice is not to be changed.
func (t *Table) Keys(u wire.User) []string { return t.keys[u] }

// Knows tells whether somebody is a user who was not removed.
func (t *Table) Knows(u wire.User) bool { return t.labels[u] != "" }

// Count is how many users there are, and on how many computers they have joined.
func (t *Table) Count() (people, computers int) {
	for _, keys := range t.keys {
		computers += len(keys)
	}
	return len(t.labels), computers
}
