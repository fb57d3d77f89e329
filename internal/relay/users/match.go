package users

import (
	"cmp"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/webhook"
)

// Table determines which users a call is for. It is immutable and safe for concurrent use.
type Table struct {
	rules       *phone.Rules
	labels      map[wire.User]string
	keys        map[wire.User][]string
	byExtension map[string][]wire.User
	byEmail     map[string][]wire.User
	byNumber    map[string][]wire.User
	byQueue     map[string][]wire.User
}

// NewTable returns the table of the users who are not removed.
func NewTable(all []Entry, rules *phone.Rules) *Table {
	t := &Table{rules: rules, labels: map[wire.User]string{}, keys: map[wire.User][]string{}, byExtension: map[string][]wire.User{}, byEmail: map[string][]wire.User{}, byNumber: map[string][]wire.User{}, byQueue: map[string][]wire.User{}}
	for _, e := range all {
		if !e.IsUser() {
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
			key := t.numberKey(n)
			t.byNumber[key] = append(t.byNumber[key], e.User)
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

// numberKey returns the key of one of our own numbers, however it is written.
func (t *Table) numberKey(s string) string { return t.rules.Parse(s, "").Key() }

// UsersCalled returns the users whom a call reaches: by the extension, which may be a number,
// or the e-mail address if the exchange names one that is known; otherwise by the number
// called or, last, the queue in which it waits.
func (t *Table) UsersCalled(at webhook.Place, queue string) []wire.User {
	for _, by := range []struct {
		known map[string][]wire.User
		names []string
	}{{t.byExtension, at.Extensions}, {t.byEmail, at.Emails}} {
		for _, name := range by.names {
			if found := by.known[fold(name)]; len(found) > 0 {
				return found
			}
		}
	}
	numbers, nowhere := at.Extensions, len(at.Extensions)+len(at.Emails) == 0
	if nowhere { // otherwise it belongs to someone, if not to one of our users
		numbers = []string{at.Called}
	}
	for _, n := range numbers {
		if found := t.byNumber[t.numberKey(n)]; n != "" && len(found) > 0 {
			return found
		}
	}
	if nowhere {
		return t.byQueue[fold(queue)]
	}
	return nil
}

// HasExtension reports whether an extension belongs to a user.
func (t *Table) HasExtension(extension string) bool { return len(t.byExtension[fold(extension)]) > 0 }

// Label returns the name colleagues see.
func (t *Table) Label(u wire.User) string {
	return call.CleanText(cmp.Or(t.labels[u], string(u)), call.MaxName)
}

// PublicKeys returns a user's valid public keys. The slice must not be modified.
func (t *Table) PublicKeys(u wire.User) []string { return t.keys[u] }

// Knows reports whether u is a user who was not removed.
func (t *Table) Knows(u wire.User) bool { return t.labels[u] != "" }

// Count returns the number of users, and of the computers on which they have joined.
func (t *Table) Count() (people, computers int) {
	for _, keys := range t.keys {
		computers += len(keys)
	}
	return len(t.labels), computers
}
