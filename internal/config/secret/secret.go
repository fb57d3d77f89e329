// Package secret stores what must not be in a settings file: client secrets, passwords
// of softphone links, the key of the remembered choices and the listener's tokens. A secret
// is bound to the address and client it was entered for and never returned for another.
// Secrets are in the system's store or, if so configured, in files that only the user can
// read, or in one place for everybody on this computer that only administrators can write;
// there is no fallback from one to another. Errors contain no secret, address or client.
//
// A client of the hub can have two secrets while one replaces the other: see Renew.
//
// A call to the system's store runs in a separate goroutine, at most one per Store, because
// such a store may wait indefinitely for a password; the caller waits at most two seconds.
package secret

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/softphone/registry"
)

// Errors of a Store.
var (
	// ErrNotSet reports that the store works and has no secret for this Ref.
	ErrNotSet = errors.New("no secret is set for this address and client")
	// ErrNoStore reports that this computer or session has no store of the requested kind.
	ErrNoStore = errors.New("there is no secret store here")
	// ErrLocked reports that the store is locked, or waiting to be unlocked.
	ErrLocked = errors.New("the secret store is locked")
	// ErrUnanswered reports that the store is waiting for a password that nobody enters. It
	// wraps ErrLocked.
	ErrUnanswered = fmt.Errorf("%w: nobody answers it", ErrLocked)
	// ErrTooLong reports a secret longer than every store can hold.
	ErrTooLong = errors.New("the secret is too long for the secret store")
	// ErrExposed reports a file that is readable by others, a link, or not ours.
	ErrExposed = errors.New("the file with the secret is not private")
	// ErrDamaged reports a file of ours with unexpected content.
	ErrDamaged = errors.New("the file with the secret is damaged")
	// ErrNoSession reports that this log-on cannot access the user's vault, such as that of
	// a scheduled task (error 1312 of Windows' Credential Manager).
	ErrNoSession = errors.New("this session cannot use the user's secret store")
	// ErrNotAdmin reports that only an administrator may set the whole computer's secrets.
	ErrNotAdmin = errors.New("only an administrator can set the secret of the whole computer")
	// ErrNoGroup reports that no group is known for reading the computer's secrets.
	ErrNoGroup = errors.New("there is no group that may read the secret of the whole computer")
	// ErrNoRight reports that the computer's secret exists, but not for this user.
	ErrNoRight = errors.New("this user may not read the secret of the whole computer")
	// ErrBadRef reports an address or client that no secret can be bound to.
	ErrBadRef = errors.New("not an address and client that a secret can be kept for")
)

// MaxLength is the longest secret in bytes, the limit of the Windows store. It applies to
// every store, so that a secret fits wherever it is moved.
const MaxLength = 2560

// Store stores secrets. Its methods are safe for concurrent use and return errors that wrap
// one of this package's, or the context's.
type Store interface {
	// Get returns the secret that was set for exactly this Ref, or ErrNotSet.
	Get(ctx context.Context, ref Ref) (string, error)
	// Set stores a secret and replaces an older one for this Ref.
	Set(ctx context.Context, ref Ref, secret string) error
	// Delete removes a secret. A missing one is no error.
	Delete(ctx context.Context, ref Ref) error
	// Clear removes every secret of this profile.
	Clear(ctx context.Context) error
}

// The kinds of stores; those of the setting hub.secret_store.
const (
	KindOS      = "os"      // Credential Manager on Windows, Secret Service on Linux
	KindFile    = "file"    // files with mode 0600 in the profile's state folder
	KindMachine = "machine" // for everybody on this computer; see machine.go
)

// Open returns the store of a kind for a profile, without accessing it yet.
func Open(kind string, dirs profile.Dirs) Store {
	switch kind {
	case KindFile:
		return newRotatingStore(newFileStore(dirs))
	case KindMachine:
		return OpenMachine("", dirs)
	}
	return newRotatingStore(newOSStore(dirs))
}

// OpenMachine is Open for the whole computer. group is the group of Unix users that may
// read the secrets; "" keeps the previous one, or uses MachineGroup.
func OpenMachine(group string, dirs profile.Dirs) Store {
	return newRotatingStore(&machineStore{newOSStore(dirs), group})
}

// Ref identifies a secret by its owner. Values are comparable; the zero Ref has no secret.
// Printing one shows only its kind.
type Ref struct {
	kind, origin, client string
	perUser              bool // per user, even if the computer's secrets are used
}

// HubRef returns the Ref of the hub's client secret: bound to scheme, host and port of
// base_url, and to the client ID.
func HubRef(baseURL, clientID string) (Ref, error) {
	o, err := origin(baseURL, "https", "http")
	if err != nil {
		return Ref{}, err
	}
	return newRef("hub", o, clientID)
}

// SoftphoneRef returns the Ref of a softphone link's secret: bound to the link's name and to
// scheme, host and port of its address. An address without a scheme counts as host:port.
// For a relay each user has a secret of their own.
func SoftphoneRef(kind, name, address string) (Ref, error) {
	if !strings.Contains(address, "://") {
		address = "tcp://" + address
	}
	o, err := origin(address)
	if err != nil {
		return Ref{}, err
	}
	ref, err := newRef("softphone", o, name)
	ref.perUser = err == nil && kind == registry.Relay
	return ref, err
}

// KeyRef returns the Ref of a random key created by this program, such as the one
// for the hashes of remembered choices.
func KeyRef(name string) Ref { return Ref{kind: "key", client: name, perUser: true} }

// String returns the kind of the secret, and nothing that identifies it.
func (r Ref) String() string { return r.kind + " secret" }

// GoString is String, so that %#v reveals no more.
func (r Ref) GoString() string { return r.String() }

func (r Ref) account() string {
	return strings.TrimRight(r.kind+" "+r.origin+" "+r.client, " ")
}

// digest returns a file name derived from the account.
func (r Ref) digest() string {
	sum := sha256.Sum256([]byte(r.kind + "\x00" + r.origin + "\x00" + r.client))
	return hex.EncodeToString(sum[:16])
}

// maxClient keeps account below Windows' limit of 512 bytes for a name.
const maxClient = 200

func newRef(kind, origin, client string) (Ref, error) {
	if client == "" || len(client) > maxClient || strings.ContainsFunc(client, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return Ref{}, fmt.Errorf("%w: client", ErrBadRef)
	}
	return Ref{kind: kind, origin: origin, client: client}, nil
}

// origin normalises an address to scheme://host:port. If schemes are given, it
// must have one of them.
func origin(address string, schemes ...string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Opaque != "" || u.Hostname() == "" || len(u.Host) > 260 {
		return "", fmt.Errorf("%w: address", ErrBadRef) // err would repeat the address
	}
	scheme := strings.ToLower(u.Scheme)
	if len(schemes) > 0 && !slices.Contains(schemes, scheme) {
		return "", fmt.Errorf("%w: address", ErrBadRef)
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "wss": "443", "http": "80", "ws": "80"}[scheme])
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

// check rejects what no store can be asked for.
func check(ctx context.Context, ref Ref) error {
	if ref == (Ref{}) {
		return ErrBadRef
	}
	return ctx.Err()
}

func checkSet(ctx context.Context, ref Ref, secret string) error {
	switch {
	case secret == "":
		return ErrEmpty
	case len(secret) > MaxLength:
		return ErrTooLong
	}
	return check(ctx, ref)
}
