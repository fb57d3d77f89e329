// Package outbox delivers files to the message box and tracks the outcome of each. A file is
// copied to a spool and recorded in a database before it counts as added; one worker, the
// holder of the lock, sends what is due; decisions are on disk before anything else is sent.
//
// The hub documents no status codes and cannot be asked what it has. So every way a request can
// end belongs to a class (class.go), and a pure function (retry.go) derives what happens next
// from class and item. "May have been delivered" is a separate state, resolved by a person.
//
// Several processes may use one outbox: all of them may add files and issue
// commands, but only one runs the worker. An Outbox is safe for concurrent
// use. It starts no goroutine that outlives the call that needs it.
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

// Deliverer sends items in one request; *hub.Client implements it. An error means that the
// hub does not have a complete request.
type Deliverer interface {
	Deliver(ctx context.Context, items []hub.Item) (hub.Receipt, error)
}

// Policies for an item that may have been delivered.
const (
	UncertainHold  = "hold"  // it waits for a person
	UncertainRetry = "retry" // it is sent again, at most three times
)

// Policies for a file that was added before.
const (
	DuplicateSkip   = "skip" // use the earlier item
	DuplicateSend   = "send"
	DuplicateRefuse = "refuse"
)

// Options configure an outbox. Adding and commands require only Dir;
// working requires Hub too.
type Options struct {
	Dir      string                                       // created if missing, private
	Hub      func(intermediary string) (Deliverer, error) // called for each request; the caller owns it
	Check    Check                                        // nil accepts everything
	Policy   Policy                                       // until changed by Configure
	Progress func(id string, sent, size int64)            // called by the worker while sending; must be quick
	Now      func() time.Time
	Log      *slog.Logger
	Tick     time.Duration // interval of checking for changes by others; 0 is a second

	fs        files
	jitter    func(time.Duration) time.Duration
	firstWait time.Duration // wait before the first retry
}

// Policy says how files are treated. It may change while an outbox is open.
type Policy struct {
	Uncertain       string // "" is UncertainHold
	Duplicate       string // "" is DuplicateSkip
	ItemsPerRequest int    // below 1 counts as 1
	KeepSent        int    // days to keep copies of delivered files
	KeepRefused     int    // days to keep copies of refused files
}

// Errors of this package.
var (
	// ErrBusy reports that another worker holds the lock.
	ErrBusy = errors.New("another program is delivering")
	// ErrRefused reports that a file is not accepted. The error that wraps it says why.
	ErrRefused = errors.New("the file is not taken")
	// ErrDuplicate reports that Policy.Duplicate refuses a file that was added before.
	ErrDuplicate = fmt.Errorf("%w: it was taken before", ErrRefused)
	// ErrNoItem reports that there is no such item.
	ErrNoItem = errors.New("there is no such item")
	// ErrState reports that the item's state does not allow this.
	ErrState = errors.New("that cannot be done with an item in this state")
	// ErrNoCopy is an ErrState: our copy of the file is missing.
	ErrNoCopy = fmt.Errorf("%w: our copy of it is gone", ErrState)
	// ErrUndecided reports that the item was not delivered, as far as known.
	ErrUndecided = errors.New("it was not delivered")
	// ErrNewer reports a database written by a newer Wiebelt, which is left unchanged.
	ErrNewer = sqlitefile.ErrNewer
)

// Outbox is an open outbox.
type Outbox struct {
	o             Options
	currentPolicy atomic.Pointer[Policy]
	db            *sql.DB
	info          os.FileInfo // of the database file at opening
	asidePath     string
	wake          chan struct{} // wakes the worker of this process

	// Used by the worker:
	pending   []result // results not recorded yet
	lastPurge time.Time

	mu      sync.Mutex
	changed chan struct{} // closed at this process's next change
	trouble *Trouble
}

// Names below Dir.
const (
	// DatabaseName is the file that exists once anything was added.
	DatabaseName = "outbox.db"
	// LockName is the file that the process with the worker keeps locked.
	LockName  = "outbox.lock"
	spoolName = "spool"
	// ReportsName is the folder for reports; they are kept as long as receipts.
	ReportsName = "reports"
)

// Open opens an outbox, creating it if needed. A damaged database is put aside, see AsidePath.
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
	o.firstWait = cmp.Or(o.firstWait, time.Second)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	o.Dir = dir
	b := &Outbox{o: o, wake: make(chan struct{}, 1), changed: make(chan struct{})}
	b.Configure(o.Policy)
	if err := b.open(ctx); err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return b, nil
}

// Configure changes the policy, starting with the next item.
func (b *Outbox) Configure(p Policy) {
	p.ItemsPerRequest = max(p.ItemsPerRequest, 1)
	b.currentPolicy.Store(&p)
}

func (b *Outbox) policy() Policy { return *b.currentPolicy.Load() }

func (b *Outbox) rules() retryRules {
	return retryRules{retry: b.policy().Uncertain == UncertainRetry, firstWait: b.o.firstWait, jitter: b.o.jitter}
}

// Close closes the database. Work and Watch must have returned.
func (b *Outbox) Close() error { return b.db.Close() }

// Gone reports whether the outbox's folder was removed or replaced.
// The outbox is then unusable, and Open starts a new one.
func (b *Outbox) Gone() bool { return TroubleKind(b.verifyFile()) == SpoolGone }

// AsidePath returns the path of the damaged database that Open put aside, "" if the
// database was sound. The spool's files are then Uncertain, with the reason Recovered.
func (b *Outbox) AsidePath() string { return b.asidePath }

// Busy reports whether a worker is running, in this process or another.
func (b *Outbox) Busy() bool {
	l := b.lock()
	free, err := l.TryRLock() // several may check concurrently
	if free {
		_ = l.Unlock()
	}
	return !free && err == nil
}

// lock returns the worker's lock, which works across
// processes: the system releases it when its process ends.
func (b *Outbox) lock() *flock.Flock {
	return flock.New(filepath.Join(b.o.Dir, LockName), flock.SetPermissions(0o600))
}

// Wake tells this process's worker that there may be something to do, perhaps
// left by another process.
func (b *Outbox) Wake() {
	wake.Up(b.wake)
}

// notifyWatchers tells watchers that this process changed something.
func (b *Outbox) notifyWatchers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
}

// nextChange returns a channel that is closed at this process's next change.
func (b *Outbox) nextChange() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

func (b *Outbox) spoolDir() string { return filepath.Join(b.o.Dir, spoolName) }

func (b *Outbox) spoolPath(id string) string { return filepath.Join(b.spoolDir(), id+".zip") }
