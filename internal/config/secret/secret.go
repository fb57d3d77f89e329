// Package secret keeps what must not stand in a settings file: client secrets,
// passwords of softphone links, the key of the history's hashes and the
// listener's tokens. A secret is bound to the address and the client that it was
// entered for and never comes out for another. Secrets lie in
// the system's store or, if somebody chose so, in files that only the user can
// read, or in one place for everybody on this computer that only administrators
// can write; nothing here falls back from one to the other. Errors carry no
// secret, no address and no client.
//
// A client of the hub can have two secrets while one takes the place of the
// other: see Renew.
//
// A call to the system's store runs in a goroutine of its own, at most one a
// Store, because such a store may wait for a password for as long as it likes;
// the caller waits at most two seconds.
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
	// ErrNotSet: the store works and has no secret for this Ref.
	ErrNotSet = errors.New("no secret is set for this address and client")
	// ErrNoStore: this computer (or this session) has no store of the asked kind.
	ErrNoStore = errors.New("there is no secret store here")
	// ErrLocked: the store is locked, or waits for somebody to unlock it.
	ErrLocked = errors.New("the secret store is locked")
	// ErrUnanswered: it asks for a password that nobody gives. It is ErrLocked too.
	ErrUnanswered = fmt.Errorf("%w: nobody answers it", ErrLocked)
	// ErrFull: the secret is longer than every store can take.
	ErrFull = errors.New("the secret is too long for the secret store")
	// ErrExposed: the file is readable by others, a link, or not ours.
	ErrExposed = errors.New("the file with the secret is not private")
	// ErrDamaged: a file of ours does not hold what we wrote.
	ErrDamaged = errors.New("the file with the secret is damaged")
	// ErrNoSession: this log-on has no way to the user's vault, as that of a
	// scheduled task (error 1312 of Windows' Credential Manager).
	ErrNoSession = errors.New("this session cannot use the user's secret store")
	// ErrNotAdmin: only an administrator sets what counts for the whole computer.
	ErrNotAdmin = errors.New("only an administrator can set the secret of the whole computer")
	// ErrNoGroup: nobody said which group may read the computer's secrets.
	ErrNoGroup = errors.New("there is no group that may read the secret of the whole computer")
	// ErrNoRight: the computer's secret is there, but not for this user.
	ErrNoRight = errors.New("this user may not read the secret of the whole computer")
	// ErrBadRef: an address or client that no secret can be bound to.
	ErrBadRef = errors.New("not an address and client that a secret can be kept for")
	// ErrBadKind: not a kind of store that this program knows.
	ErrBadKind = errors.New("unknown kind of secret store")
)

// MaxLength is the longest secret in bytes: what the Windows store takes. We
// check it ourselves, everywhere, so that a secret fits wherever it moves.
const MaxLength = 2560

// Store keeps secrets. Methods are safe for concurrent use and return errors
// that wrap one of this package's, or the context's.
type Store interface {
	// Get returns the secret that was set for exactly this Ref, or ErrNotSet.
	Get(ctx context.Context, ref Ref) (string, error)
	// Set keeps a secret, in place of an older one for this Ref.
	Set(ctx context.Context, ref Ref, secret string) error
	// Delete forgets a secret. That there is none is no error.
	Delete(ctx context.Context, ref Ref) error
	// Clear forgets every secret of this profile.
	Clear(ctx context.Context) error
}

// The kinds of stores.
const (
	KindOS      = "os"      // Credential Manager of Windows, Secret Service of Linux
	KindFile    = "file"    // files with mode 0600 in the profile's state folder
	KindMachine = "machine" // for everybody on this computer; see machine.go
)

// Open returns the store of a kind for a profile. It asks nothing of the store
// yet.
func Open(kind string, dirs profile.Dirs) (Store, error) {
	switch kind {
	case KindOS:
		return rotate(newOSStore(dirs)), nil
	case KindFile:
		return rotate(newFileStore(dirs)), nil
	case KindMachine:
		return OpenMachine("", dirs), nil
	}
	return nil, ErrBadKind
}

// OpenMachine is Open for the whole computer. group is the group of Unix users
// that may read what is set; "" keeps the one that has been chosen before, or
// takes MachineGroup.
func OpenMachine(group string, dirs profile.Dirs) Store {
	return rotate(&machineStore{newOSStore(dirs), group})
}

// Ref says whose secret it is. Values are comparable; the zero Ref has no
// secret. Printing one shows its kind only.
type Ref struct {
	kind, origin, client string
	own                  bool // the user's alone, also where the computer's secrets are used
}

// Hub is the client secret of the hub: bound to scheme, host and port of
// base_url, and to the client id.
func Hub(baseURL, clientID string) (Ref, error) {
	o, err := origin(baseURL, "https", "http")
	if err != nil {
		return Ref{}, err
	}
	return newRef("hub", o, clientID)
}

// Softphone is the secret of a softphone link: bound to the link's name and to
// scheme, host and port of its address. An address without a scheme counts as
// host:port. A relay knows every user by a secret of his own.
func Softphone(kind, name, address string) (Ref, error) {
	if !strings.Contains(address, "://") {
		address = "tcp://" + address
	}
	o, err := origin(address)
	if err != nil {
		return Ref{}, err
	}
	ref, err := newRef("softphone", o, name)
	ref.own = err == nil && kind == registry.Relay
	return ref, err
}

// Key is a random key that this program makes for itself, such as the one under
// which history keeps its hashes.
func Key(name string) Ref { return Ref{kind: "key", client: name, own: true} }

// String names the kind of the secret, and nothing that identifies it.
func (r Ref) String() string { return r.kind + " secret" }

// GoString is String, so that %#v tells no more.
func (r Ref) GoString() string { return r.String() }

// account names the secret within a store.
func (r Ref) account() string {
	return strings.TrimRight(r.kind+" "+r.origin+" "+r.client, " ")
}

// digest is the account as a file name.
func (r Ref) digest() string {
	sum := sha256.Sum256([]byte(r.kind + "\x00" + r.origin + "\x00" + r.client))
	return hex.EncodeToString(sum[:16])
}

// maxClient keeps account below the 512 bytes that Windows allows for a name.
const maxClient = 200

func newRef(kind, origin, client string) (Ref, error) {
	if client == "" || len(client) > maxClient || strings.ContainsFunc(client, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return Ref{}, fmt.Errorf("%w: client", ErrBadRef)
	}
	return Ref{kind: kind, origin: origin, client: client}, nil
}

// origin reduces an address to scheme://host:port in one spelling. With schemes
// given, it must have one of them.
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

// check refuses what cannot be asked of a store at all.
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
		return ErrFull
	}
	return check(ctx, ref)
}
