// Package wire is what a relay and the Wiebelts of its users say to each other over
// NATS: the subjects, which carry the user, and the messages, which are JSON.
//
// A subject is believed, a name in a message never: the server enforces who may use
// which subject. Messages of another shape than these are refused whole; fields that
// nobody knows are ignored, so that either side may be the newer one.
//
// The package has no state and no goroutines, and knows neither NATS nor the hub.
package wire

import (
	"errors"
	"strings"
)

// Limits of names, in bytes.
const (
	maxSite = 32
	maxUser = 64
)

// ErrName: a site or a user cannot have that name.
var ErrName = errors.New("a site's name has a-z, 0-9 and -, 32 at most; a user's . and _ too, 64 at most")

// errMessage is another message than was expected. It says nothing of what was in it.
var errMessage = errors.New("not such a message of a relay")

// Site is the name of one installation, for which ParseSite vouches.
type Site string

// ParseSite checks the name of a site.
func ParseSite(s string) (Site, error) {
	if !Site(s).Valid() {
		return "", ErrName
	}
	return Site(s), nil
}

// User is the name of somebody who has a Wiebelt, for which ParseUser vouches.
type User string

// ParseUser checks the name of a user: mostly that under which somebody logs on.
// Capitals become small, for Windows does not tell them apart.
func ParseUser(s string) (User, error) {
	u := User(strings.ToLower(s))
	if !u.Valid() {
		return "", ErrName
	}
	return u, nil
}

// Valid tells whether ParseSite could have given the site.
func (s Site) Valid() bool { return named(string(s), maxSite, "-") }

// Valid tells whether ParseUser could have given the user.
func (u User) Valid() bool { return named(string(u), maxUser, "-._") }

func named(s string, most int, also string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(also, r)) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// Token is the user as one part of a subject. A dot parts subjects, and the inbox of
// "anna" would hold that of "anna.b", so a dot is written "=", which no name has.
func (u User) Token() string { return strings.ReplaceAll(string(u), ".", "=") }

// UserOf gives the user of a subject's last part.
func UserOf(subject string) (User, error) {
	token := subject[strings.LastIndexByte(subject, '.')+1:]
	return ParseUser(strings.ReplaceAll(token, "=", "."))
}

// Asker gives the user who asks on a subject. The server lets nobody ask on another's, but
// anybody name any subject for the answer, and a relay may publish on all of them: only
// what goes to an inbox of the asker is answered.
func Asker(subject, answerTo string) (User, error) {
	u, err := UserOf(subject)
	if err == nil && !strings.HasPrefix(answerTo, Inbox(u)+".") {
		err = errMessage
	}
	return u, err
}

// Topic is what a subject is about.
type Topic string

// The topics. Calls is published by relays and heard by its user, and the user asks
// the others, each with one answer.
const (
	Calls   Topic = "calls"   // Snapshot
	Now     Topic = "now"     // nothing → Snapshot, the one that holds
	Lookup  Topic = "lookup"  // LookupRequest → LookupAnswer
	Journal Topic = "journal" // JournalRequest → JournalAnswer
	Renew   Topic = "renew"   // RenewRequest → Renewed
)

// Topics are all those that have a user.
var Topics = []Topic{Calls, Now, Lookup, Journal, Renew}

// Of is the subject of one user.
func (s Site) Of(t Topic, u User) string { return s.Subject(t, u.Token()) }

// OfAll is the subject of every user, to which relays listen.
func (s Site) OfAll(t Topic) string { return s.Subject(t, "*") }

// Subject is that of whoever has a token, for Of, OfAll and the rights of users.
func (s Site) Subject(t Topic, token string) string {
	return "wiebelt." + string(s) + "." + string(t) + "." + token
}

// Relays is where relays say how they are doing; everybody may hear it.
func (s Site) Relays() string { return "wiebelt." + string(s) + ".relay" }

// Reports is where exchanges that publish by themselves say what rings.
func (s Site) Reports() string { return "wiebelt." + string(s) + ".in" }

// Inbox is where answers to a user arrive, for him alone.
func Inbox(u User) string { return "_INBOX." + u.Token() }
