// Package outbox delivers files to the message box and knows for certain what
// became of each. A file is copied to a spool and written into a
// database before it counts as taken; one worker, whoever holds the lock, sends
// what is due; what is decided is on the disk before anything else is sent.
//
// The hub documents no status codes and cannot be asked what it has. So every
// ending of a request belongs to a class (class.go), and a pure function
// (retry.go) turns class and item into what happens next. "Maybe delivered" is a
// state of its own, which a person resolves.
//
// Several processes may use one outbox: all may add and command, one works. An
// Outbox is safe for concurrent use. It starts no goroutine that outlives the
// call that needs it.
package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/hub"
	"wiebelt/internal/store/sqlitefile"
)

// Deliverer sends items in one request; *hub.Client is one. An error means that
// the hub has no complete request.
type Deliverer interface {
	Deliver(ctx context.Context, items []hub.Item) (hub.Receipt, error)
}

// What happens to an item of which nobody knows whether it was delivered.
const (
	UncertainHold  = "hold"  // it waits for a person
	UncertainRetry = "retry" // it is sent again, at most three times
)

// What happens to a file that was taken before.
const (
	DuplicateSkip   = "skip" // it is the earlier item
	DuplicateSend   = "send"
	DuplicateRefuse = "refuse"
)

// Options say how an outbox is run. Dir alone is required to add and command;
// Hub as well to work.
type Options struct {
	Dir      string                                       // made if missing, open to us alone
	Hub      func(intermediary string) (Deliverer, error) // asked before every request; owned by the caller
	Check    Check                                        // nil takes all
	Policy   Policy                                       // until Configure changes it
	Progress func(id string, sent, size int64)            // called by the worker while it sends; must be quick
	Now      func() time.Time
	Log      *slog.Logger
	Tick     time.Duration // how often changes by others are looked for; 0 is a second

	fs     files
	jitter func(time.Duration) time.Duration
	first  time.Duration // wait before the first repeat
}

// Policy is how files are treated. It may change while an outbox is open.
type Policy struct {
	Uncertain       string // "" is UncertainHold
	Duplicate       string // "" is DuplicateSkip
	ItemsPerRequest int    // below 1 is 1
	KeepSent        int    // days that copies of delivered files are kept
	KeepRefused     int    // days that copies of refused files are kept
}

func (p Policy) valid() error {
	switch p.Uncertain {
	case "", UncertainHold, UncertainRetry:
	default:
		return errors.New("delivery.uncertain: hold or retry")
	}
	switch p.Duplicate {
	case "", DuplicateSkip, DuplicateSend, DuplicateRefuse:
	default:
		return errors.New("delivery.duplicate: skip, send or refuse")
	}
	return nil
}

// Errors of this package.
var (
	// ErrBusy: another worker holds the lock.
	ErrBusy = errors.New("another program is delivering")
	// ErrRefused: a file that is not taken. The error that wraps it says why.
	ErrRefused = errors.New("the file is not taken")
	// ErrDuplicate: the file was taken before and Policy.Duplicate refuses it.
	ErrDuplicate = fmt.Errorf("%w: it was taken before", ErrRefused)
	// ErrNoItem: there is no such item.
	ErrNoItem = errors.New("there is no such item")
	// ErrState: the item is not in a state in which that can be done.
	ErrState = errors.New("that cannot be done with an item in this state")
	// ErrNoCopy: an ErrState, because our copy of the file is gone.
	ErrNoCopy = fmt.Errorf("%w: our copy of it is gone", ErrState)
	// ErrUndecided: the item was not delivered, as far as anybody knows.
	ErrUndecided = errors.New("it was not delivered")
	// ErrNewer: the database was written by a newer Wiebelt and is left as it is.
	ErrNewer = sqlitefile.ErrNewer
)

// Outbox is an open outbox.
type Outbox struct {
	o       Options
	current atomic.Pointer[Policy]
	db      *sql.DB
	info    os.FileInfo // of the database's file when it was opened
	aside   string
	wake    chan struct{} // of the worker in this process

	// The worker's own.
	pending []result // what it knows and could not write down
	purged  time.Time

	mu      sync.Mutex
	stirred chan struct{} // closed at the next change that this process makes
	trouble *Trouble
}

// Names below Dir.
const (
	// DatabaseName is the file that is there once anything was ever taken.
	DatabaseName = "outbox.db"
	lockName     = "outbox.lock"
	spoolName    = "spool"
	// ReportsName is the folder for reports; they are kept as long as receipts.
	ReportsName = "reports"
)

// Open opens or makes an outbox. A damaged database is put aside, see SetAside.
func Open(ctx context.Context, o Options) (*Outbox, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.fs == nil {
		o.fs = disk{}
	}
	if o.jitter == nil {
		o.jitter = func(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
	}
	o.Tick = cmp.Or(o.Tick, time.Second)
	o.first = cmp.Or(o.first, time.Second)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	o.Dir = dir
	b := &Outbox{o: o, wake: make(chan struct{}, 1), stirred: make(chan struct{})}
	if err := b.Configure(o.Policy); err != nil {
		return nil, err
	}
	if err := b.open(ctx); err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return b, nil
}

// Configure changes the policy from the next item on.
func (b *Outbox) Configure(p Policy) error {
	if err := p.valid(); err != nil {
		return err
	}
	p.ItemsPerRequest = max(p.ItemsPerRequest, 1)
	b.current.Store(&p)
	return nil
}

func (b *Outbox) policy() Policy { return *b.current.Load() }

func (b *Outbox) rules() rules {
	return rules{retry: b.policy().Uncertain == UncertainRetry, first: b.o.first, jitter: b.o.jitter}
}

// Close closes the database. Work and Watch must have returned.
func (b *Outbox) Close() error { return b.db.Close() }

// Gone reports whether the folder of the outbox was removed, or replaced by
// another: there is nothing left to work with, and Open begins anew.
func (b *Outbox) Gone() bool { return KindOf(b.there()) == SpoolGone }

// SetAside is the path of the damaged database that Open put aside, "" if it was
// sound. What lay in the spool is Uncertain then, with the reason Recovered.
func (b *Outbox) SetAside() string { return b.aside }

// Busy reports whether a worker runs, in this process or another.
func (b *Outbox) Busy() bool {
	l := b.lock()
	free, err := l.TryRLock() // several may ask at once
	if free {
		_ = l.Unlock()
	}
	return !free && err == nil
}

// lock is the one for the worker, in this process or another: the system's own, gone
// with its process.
func (b *Outbox) lock() *flock.Flock {
	return flock.New(filepath.Join(b.o.Dir, lockName), flock.SetPermissions(0o600))
}

// Wake tells the worker of this process that there may be something to do: another
// process may have left it.
func (b *Outbox) Wake() {
	wake.Up(b.wake)
}

// notifyWatchers tells whoever watches that this process changed something.
func (b *Outbox) notifyWatchers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.stirred)
	b.stirred = make(chan struct{})
}

// nextStir is closed at the next change that this process makes.
func (b *Outbox) nextStir() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stirred
}

func (b *Outbox) spoolDir() string { return filepath.Join(b.o.Dir, spoolName) }

func (b *Outbox) spool(id string) string { return filepath.Join(b.spoolDir(), id+".zip") }
