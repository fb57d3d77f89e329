package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
)

const (
	// purgeEvery is how often Put checks for entries that are too old.
	purgeEvery = time.Hour
	// reopenInterval is the pause before an unopenable file is retried.
	reopenInterval = 5 * time.Second
)

// Store is the history for a writing process. Open creates the resident's, which maintains the
// file: it copes with a file that is damaged, removed or not writable (State reports that, and
// keeping resumes as soon as possible), and deletes what is too old. OpenBeside creates that
// of any other process, which only writes what it is asked to. Safe for concurrent use.
type Store struct {
	path       string
	now        func() time.Time
	dbMu       sync.RWMutex // held for reading by users of the fields below
	db         *sql.DB      // nil with KeepOff, or while the file cannot be opened
	openedInfo fs.FileInfo  // the file as opened
	keep       Keep
	days       int
	closed     bool // by Close, permanently
	secondary  bool // created by OpenBeside

	mu           sync.Mutex // protects what follows; held briefly
	lastPurge    time.Time
	lastTried    time.Time // when opening the file was last tried
	openAttempts int       // how often that was tried
	ended        bool      // calls live when the last program ended have been marked as over
	last         int64     // highest ID ever used: none is reused, whatever happens to the file
	state        State
}

// Open opens the history at path, creating or migrating it, and applies keep and days to existing
// entries: those older than days are deleted, with KeepNumbers names too, and with KeepOff the file
// itself. A damaged file is put aside (NoticeDamaged) and a new one started; one of a newer version
// is left alone and reported as ErrNewer. Calls that were live when the last program ended are
// marked as over, with what is known of their result. days may be AllDays; now is the clock.
//
// Even with an error, Open returns a Store, which keeps nothing for now and retries.
func Open(path string, keep Keep, days int, now func() time.Time) (*Store, error) {
	s := New(path, keep, days, now)
	return s, s.Begin(context.Background())
}

// New is like Open, but leaves the file to Begin, which must follow: until then State and
// Missed are empty, and every other method blocks.
func New(path string, keep Keep, days int, now func() time.Time) *Store {
	s := &Store{path: path, keep: keep, days: days, now: now}
	s.dbMu.Lock()
	return s
}

// Begin opens the file of a Store returned by New.
func (s *Store) Begin(ctx context.Context) error {
	defer s.dbMu.Unlock()
	err := s.begin(ctx)
	s.recordResult(err)
	return err
}

// OpenBeside opens the history at path for a process other than the resident, which
// keeps maintaining it: no file is created, migrated, purged, put aside or removed,
// and no call is marked as over. Writes follow keep; now is the clock. The error is
// ErrGone if there is no file, and ErrNewer for one of a newer version.
func OpenBeside(ctx context.Context, path string, keep Keep, now func() time.Time) (*Store, error) {
	s := &Store{path: path, keep: keep, now: now, secondary: true}
	if keep == KeepOff {
		return s, nil
	}
	if err := s.openBeside(ctx); err != nil {
		return nil, during("open", err)
	}
	return s, nil
}

func (s *Store) openBeside(ctx context.Context) error {
	// The file itself is not opened directly: closing it would release the locks that
	// SQLite holds on it for another reader in this process.
	if err := filetrust.CheckFolder(filepath.Dir(s.path), filetrust.UserOwned); err != nil {
		return err
	}
	was, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	s.openedInfo = was
	s.db, err = sqlitefile.OpenWith(ctx, s.path, writeOptions, checkSchema)
	return err
}

// checkSchema checks that a file has this version's schema.
func checkSchema(ctx context.Context, db *sql.DB) error {
	v, err := sqlitefile.Version(ctx, db)
	switch {
	case err != nil:
		return err
	case v > len(migrations):
		return ErrNewer
	case v < len(migrations):
		return fmt.Errorf("schema %d has to be migrated first", v)
	}
	return nil
}

// Configure changes what is kept and for how long, and applies this to existing entries
// like Open. After an error nothing is kept until that succeeds; every call retries it.
func (s *Store) Configure(ctx context.Context, keep Keep, days int) error {
	s.dbMu.Lock()
	defer s.dbMu.Unlock()
	if keep == s.keep && days == s.days {
		return nil
	}
	s.close()
	s.keep, s.days = keep, days
	err := s.begin(ctx)
	s.recordResult(err)
	return err
}

// close closes the file. The error is ignored: what was put is safe.
func (s *Store) close() {
	if s.db != nil {
		_ = s.db.Close()
		s.db = nil
	}
}

func (s *Store) begin(ctx context.Context) error {
	s.mu.Lock()
	s.lastTried = s.now()
	s.openAttempts++
	ended := s.ended
	s.mu.Unlock()
	switch s.keep {
	case KeepOff:
		return s.removeFiles()
	case KeepPaused:
		s.setMissed(0)
		if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	err := s.open(ctx)
	if sqlitefile.IsDamaged(err) {
		var aside string
		if aside, err = sqlitefile.PutAside(s.path); aside != "" {
			s.mu.Lock()
			s.state.Notice = NoticeDamaged
			s.mu.Unlock()
		}
		if err == nil {
			err = s.open(ctx)
		}
	}
	steps := []func(context.Context) error{s.continueIDs, s.purge, s.countMissed}
	if !ended {
		steps = append([]func(context.Context) error{s.endLive}, steps...)
	}
	if s.keep == KeepNumbers {
		steps = append([]func(context.Context) error{s.forgetPersons}, steps...)
	}
	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}
	if err != nil {
		s.close()
		return during("open", err)
	}
	s.mu.Lock()
	s.ended = s.keep != KeepPaused
	s.mu.Unlock()
	return nil
}

// endLive marks as over the calls that were live when the last program ended.
func (s *Store) endLive(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `UPDATE calls SET result = iif(answered <> 0, ?, ?) WHERE result = ?`, ResultAnswered, ResultUnknown, ResultLive)
	return err
}

func (s *Store) open(ctx context.Context) error {
	if err := filetrust.Make(filepath.Dir(s.path), filetrust.UserOwned); err != nil {
		return err
	}
	was, err := sqlitefile.Make(s.path, filetrust.UserOwned)
	if err != nil {
		return err
	}
	s.openedInfo = was
	s.db, err = sqlitefile.OpenWith(ctx, s.path, writeOptions, func(ctx context.Context, db *sql.DB) error {
		return sqlitefile.Prepare(ctx, db, migrations)
	})
	return err
}

// writeOptions holds the options for writing. FULL: acknowledged entries also survive a power
// cut. busy_timeout comes first, since the others already need the file. There are no
// temporary files, since they would retain deleted data.
const writeOptions = "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
	"&_pragma=secure_delete(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-400)&_txlock=immediate"

// continueIDs lets a new file continue the IDs of the previous one, since writers
// of calls remember them.
func (s *Store) continueIDs(ctx context.Context) error {
	var last int64
	if err := s.db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'calls'`).Scan(&last); err != nil {
		return err
	}
	s.mu.Lock()
	s.last = max(s.last, last)
	want := s.last
	s.mu.Unlock()
	if want == last {
		return nil
	}
	return sqlitefile.Tx(ctx, s.db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = 'calls'`)
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ('calls', ?)`, want)
		}
		return err
	})
}

var (
	errFileGone    = errors.New("the file was taken away")
	errFileNotOpen = errors.New("the file is not open")
	errStoreClosed = errors.New("the history is closed")
)

// faultOf returns the fault that an error of a Store means.
func faultOf(err error) Fault {
	if err == nil || errors.Is(err, ErrGone) {
		return FaultNone
	}
	if before, ok := errors.AsType[faultError](err); ok { // not retried: unchanged
		return Fault(before)
	}
	switch {
	case errors.Is(err, ErrNewer):
		return FaultNewer
	case sqlitefile.IsFull(err):
		return FaultFull
	case sqlitefile.IsReadOnly(err):
		return FaultReadOnly
	}
	return FaultOther
}

func (s *Store) recordResult(err error) {
	if errors.Is(err, context.Canceled) {
		return // nobody waited for the result
	}
	s.mu.Lock()
	s.state.Fault = faultOf(err)
	s.mu.Unlock()
}

// State returns the history's state. It never waits for the disk.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Missed returns how many callers have to be called back. It never waits for the disk.
func (s *Store) Missed() int { return s.State().Missed }

// Dismiss clears the notice: the user has read it.
func (s *Store) Dismiss() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Notice = NoticeNone
}

// Recount picks up what another process has written.
func (s *Store) Recount(ctx context.Context) error {
	return s.withFile(func(*sql.DB) error { return s.countMissed(ctx) })
}

// withFile runs do with the file, if there is one that may be read.
func (s *Store) withFile(do func(*sql.DB) error) error {
	s.dbMu.RLock()
	defer s.dbMu.RUnlock()
	if s.db == nil || s.keep == KeepPaused {
		return nil
	}
	return do(s.db)
}

// Get returns the entry with an ID, or ErrGone, also if no history is kept.
func (s *Store) Get(ctx context.Context, id int64) (e Entry, err error) {
	err = s.withFile(func(db *sql.DB) error {
		e, err = get(ctx, db, id)
		return during("read", err)
	})
	if err == nil && e.ID == 0 {
		err = ErrGone
	}
	return e, err
}

// Last returns the newest incoming calls, newest first, at most limit.
func (s *Store) Last(ctx context.Context, limit int) (es []Entry, err error) {
	err = s.withFile(func(db *sql.DB) error {
		es, err = query(ctx, db, `SELECT `+readColumns+` FROM calls INDEXED BY calls_list WHERE outgoing = 0
			ORDER BY `+newestFirst+` LIMIT ?`, limit)
		return err
	})
	return es, err
}

// CountIncoming counts the calls that came in at or after from and before to.
func (s *Store) CountIncoming(ctx context.Context, from, to time.Time) (n int, err error) {
	err = s.withFile(func(db *sql.DB) error {
		return during("read", db.QueryRowContext(ctx, `SELECT count(*) FROM calls INDEXED BY calls_list WHERE rang >= ? AND rang < ? AND outgoing = 0`,
			sqlitefile.Micros(from), sqlitefile.Micros(to)).Scan(&n))
	})
	return n, err
}

// LastByKind returns when the last call came in by kind of source (call.Source.Kind).
func (s *Store) LastByKind(ctx context.Context) (map[string]time.Time, error) {
	last := map[string]time.Time{}
	err := s.withFile(func(db *sql.DB) error {
		_, err := sqlitefile.Rows(func(row sqlitefile.Row) (none struct{}, err error) {
			var kind string
			var rang int64
			err = row.Scan(&kind, &rang)
			last[kind] = sqlitefile.Time(rang)
			return none, err
		})(db.QueryContext(ctx, `SELECT kind, max(rang) FROM calls WHERE outgoing = 0 GROUP BY kind`))
		return during("read", err)
	})
	return last, err
}

// countMissed counts the callers of calls that are not ticked off; see Entry.OneCaller.
func (s *Store) countMissed(ctx context.Context) error {
	if s.keep == KeepPaused {
		return nil
	}
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT count(DISTINCT CASE WHEN number IN ('', '`+nameMark+`') THEN id ELSE number END)
		FROM calls INDEXED BY calls_open WHERE `+notTickedOff).Scan(&n)
	if err != nil {
		return err
	}
	s.setMissed(n)
	return nil
}

func (s *Store) setMissed(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Missed = n
}

// asidePath is where a damaged file is put aside; Purge removes it after its days.
func (s *Store) asidePath() string { return s.path + ".damaged" }

func (s *Store) removeFiles() error {
	s.setMissed(0)
	return remove(append(sqlitefile.SideFiles(s.path), s.path, s.asidePath())...)
}

// removeLeftovers removes, with KeepOff, what could not be removed before: on Windows another
// process may have had it open.
func (s *Store) removeLeftovers() error {
	if s.keep != KeepOff || s.secondary {
		return nil
	}
	return s.removeFiles()
}

func remove(paths ...string) error {
	var all error
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// Close closes the file, after which the Store must not be used. An
// error means that what was put since PrepareShutdown may not be safe on disk.
func (s *Store) Close() (err error) {
	s.dbMu.Lock()
	defer s.dbMu.Unlock()
	s.closed = true
	if s.db != nil { // if others have the file open, closing skips what PrepareShutdown deferred
		_, err = s.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	s.close()
	return err
}
