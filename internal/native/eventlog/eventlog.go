// Package eventlog writes records for administrators to the system's log: the journal on
// Linux, the application log on Windows. Users can add records there but not change them
// afterwards. No record contains a number, a name, an address or a secret.
//
// The records, with their event ID on Windows and MESSAGE_ID in the journal:
//
//	100  9f1c52a07be94d3fae6d10c8b3a47e51  a lookup was made; WIEBELT_OUTCOME is its outcome
//	200  41d7a0c3e85f4b6c9b02f7de6c1a9834  the hub's secret expires soon; WIEBELT_DAYS
//	201  c86b3f5d12e74a98b7e4a05d9f3c6b20  the hub's secret has expired
//	300  5e0a94d1b6c84f27a3d95c7e81f2b046  a policy is ignored: somebody else could have written it
//
// journalctl MESSAGE_ID=9f1c52a07be94d3fae6d10c8b3a47e51 lists the lookups. On Windows the
// source is "Wiebelt"; Install registers it with the event viewer.
package eventlog

import (
	"errors"
	"strconv"
	"strings"
)

// Source is the name of the records' source. RelaySource is the one under which the
// relay records on Windows why it has ended.
const (
	Source      = "Wiebelt"
	RelaySource = "WiebeltRelay"
)

// SourceKey is the parent key of event sources in HKEY_LOCAL_MACHINE. MessageFile is a file of
// Windows in which every message is just the record's text.
const (
	SourceKey   = `SYSTEM\CurrentControlSet\Services\EventLog\Application\`
	MessageFile = `%SystemRoot%\System32\EventCreate.exe`
)

// ErrNoLog means that this system has no such log.
var ErrNoLog = errors.New("this system has no event log")

// ID is the number of a kind of record. It never changes.
type ID uint32

// The kinds of records.
const (
	LookedUp      ID = 100
	SecretExpires ID = 200
	SecretExpired ID = 201
	PolicyIgnored ID = 300
)

// Record is one record, made by one of the functions below.
type Record struct {
	ID      ID
	Message string // in English, one line
	warning bool
	field   string // NAME=value, "" for none
}

// Lookup records a lookup. outcome is found, none or a failure's code (contact.Failure);
// anything else is recorded as "other".
func Lookup(outcome string) Record {
	outcome = sanitiseCode(outcome)
	return Record{LookedUp, "A caller was looked up: " + outcome + ".", false, "WIEBELT_OUTCOME=" + outcome}
}

// sanitiseCode returns s if it has the form of our codes, and otherwise
// "other", to keep anything else out of the log.
func sanitiseCode(s string) string {
	if s == "" || len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "other"
	}
	return s
}

// Expiry records when the hub's secret expires, in days from today.
func Expiry(days int) Record {
	field := "WIEBELT_DAYS=" + strconv.Itoa(days)
	if days < 0 {
		return Record{SecretExpired, "The hub's secret has expired; set a new one with wiebelt provision.", true, field}
	}
	return Record{SecretExpires, "The hub's secret expires soon (days left: " + strconv.Itoa(days) + "); set a new one with wiebelt provision.", true, field}
}

// UntrustedPolicy records that a policy file is ignored.
func UntrustedPolicy() Record {
	return Record{PolicyIgnored, "The policy file is ignored: it or its folder can be written by somebody other than an administrator.", true, ""}
}
