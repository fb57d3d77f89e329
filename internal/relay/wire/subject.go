// Package wire defines what a relay and its users' Wiebelts exchange over NATS: the
// subjects, which carry the user, and the messages, which are JSON.
//
// Subjects are trusted, names in messages never: the server enforces who may use which
// subject. Malformed messages are refused as a whole; unknown fields are ignored, so that
// either side may be newer.
//
// The package has no state and no goroutines, and does not depend on NATS or the hub.
package wire

import (
	"errors"
	"strings"

	"wiebelt/internal/text"
)

// Limits of names, in bytes.
const (
	maxSite = 32
	maxUser = 64
)

// Errors about names.
var (
	ErrSite = text.Errorf(text.RelaySite)
	ErrUser = text.Errorf(text.RelayUserName)
)

// errMessage reports an unexpected message, without revealing its contents.
var errMessage = errors.New("not such a message of a relay")

// Site is the name of an installation, validated by ParseSite.
type Site string

// ParseSite checks the name of a site.
func ParseSite(s string) (Site, error) {
	if !Site(s).Valid() {
		return "", ErrSite
	}
	return Site(s), nil
}

// User is the name of a Wiebelt user, validated by ParseUser.
type User string

// ParseUser checks the name of a user, usually their login name. It is lowercased,
// since Windows ignores case.
func ParseUser(s string) (User, error) {
	u := User(strings.ToLower(s))
	if !u.Valid() {
		return "", ErrUser
	}
	return u, nil
}

// Valid reports whether ParseSite accepts the name.
func (s Site) Valid() bool { return isValidName(string(s), maxSite, "-") }

// Valid reports whether ParseUser could have returned the name.
func (u User) Valid() bool { return isValidName(string(u), maxUser, "-._") }

func isValidName(s string, most int, also string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(also, r)) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// Token returns the user as one part of a subject. Dots separate parts, and the inbox of
// "anna" would contain that of "anna.b", so a dot becomes "=", which no name contains.
func (u User) Token() string { return strings.ReplaceAll(string(u), ".", "=") }

// UserOf returns the user in a subject's last part.
func UserOf(subject string) (User, error) {
	token := subject[strings.LastIndexByte(subject, '.')+1:]
	return ParseUser(strings.ReplaceAll(token, "=", "."))
}

// Asker returns the user who asks on a subject. The server prevents asking on another
// user's subject, but the asker may name any subject for the answer, and a relay may
// publish on all of them: only inboxes of the asker are accepted.
func Asker(subject, answerTo string) (User, error) {
	u, err := UserOf(subject)
	if err == nil && !strings.HasPrefix(answerTo, Inbox(u)+".") {
		err = errMessage
	}
	return u, err
}

// Topic is what a subject is about.
type Topic string

// The topics. Relays publish TopicCalls to the user; the others are requests of the
// user, each with one answer.
const (
	TopicCalls        Topic = "calls"   // Snapshot → an empty confirmation, if it has a reply subject
	TopicCurrentCalls Topic = "now"     // no data → the current Snapshot
	TopicLookup       Topic = "lookup"  // LookupRequest → LookupAnswer
	TopicJournal      Topic = "journal" // JournalRequest → JournalAnswer
	TopicRenew        Topic = "renew"   // RenewRequest → RenewAnswer
)

// Topics are the topics with a user in the subject.
var Topics = []Topic{TopicCalls, TopicCurrentCalls, TopicLookup, TopicJournal, TopicRenew}

// UserSubject returns the subject of one user.
func (s Site) UserSubject(t Topic, u User) string { return s.Subject(t, u.Token()) }

// AllUsersSubject returns the subject of all users, to which relays subscribe.
func (s Site) AllUsersSubject(t Topic) string { return s.Subject(t, "*") }

// Subject returns the subject for a token, for UserSubject, AllUsersSubject and users' rights.
func (s Site) Subject(t Topic, token string) string {
	return "wiebelt." + string(s) + "." + string(t) + "." + token
}

// StateSubject is the subject of the relays' state, open to everybody.
func (s Site) StateSubject() string { return "wiebelt." + string(s) + ".relay" }

// ReportSubject returns the subject on which exchanges publish calls themselves.
func (s Site) ReportSubject() string { return "wiebelt." + string(s) + ".in" }

// Inbox is where a user's answers arrive, readable by that user alone.
func Inbox(u User) string { return "_INBOX." + u.Token() }
