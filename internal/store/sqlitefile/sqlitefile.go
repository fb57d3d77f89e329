// Package sqlitefile is what this program's SQLite files have in common: how they are named,
// created, checked, migrated to the newest schema, and found to be damaged. The contents are
// up to their owners. Everything is as safe for concurrent use as the database.
package sqlitefile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/filetrust"
)

var (
	// ErrNewer means that a newer version of this program created the file.
	ErrNewer = errors.New("made by a newer version of this program")
	// ErrLogBusy means that deleted data is still in the log.
	ErrLogBusy = errors.New("what was deleted is still in the log: somebody is reading")
	// ErrDamaged means that SQLite can open the file but finds it unsound.
	ErrDamaged = errors.New("damaged file")
)

// Make creates an empty file if there is none, and returns its info, or a *filetrust.Error
// if it or its folder is not safe for who. SQLite would make it readable to others; side
// files inherit its permissions.
func Make(path string, who filetrust.Ownership) (os.FileInfo, error) {
	f, err := filetrust.OpenFile(path, os.O_RDWR|os.O_CREATE, who)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}

// Open opens a file with the driver's query, such as "mode=ro&_pragma=…", for one
// connection at a time. It passes the file as a URI, since only that supports mode=ro.
func Open(path, query string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// OpenWith is Open for a file that ready must accept; otherwise it is closed.
func OpenWith(ctx context.Context, path, query string, ready func(context.Context, *sql.DB) error) (*sql.DB, error) {
	db, err := Open(path, query)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, db); err != nil {
		_ = db.Close() // ready's error is the relevant one
		return nil, err
	}
	return db, nil
}

// SideFiles returns the files that SQLite keeps beside a file.
func SideFiles(path string) []string { return []string{path + "-wal", path + "-shm"} }

// Check checks a file and returns ErrDamaged if it is not sound.
func Check(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return ErrDamaged // the result may quote the contents
	}
	return nil
}

// Prepare checks a file and migrates it to its newest schema. Programs that create a
// file at the same time briefly block each other without SQLite waiting, so Prepare
// retries for up to ten seconds.
func Prepare(ctx context.Context, db *sql.DB, steps []Step) error {
	return retryBusy(ctx, 10*time.Second, func() error {
		if err := Check(ctx, db); err != nil {
			return err
		}
		return Migrate(ctx, db, steps)
	})
}

// logTimeout is how long others may hold the log before EmptyLog gives up.
const logTimeout = 5 * time.Second

// EmptyLog empties the write-ahead log: secure_delete overwrites deleted pages, but their
// old contents would stay there. SQLite does not wait while another process does the same,
// so EmptyLog does; it returns ErrLogBusy if somebody was reading all the time.
func EmptyLog(ctx context.Context, db *sql.DB) error {
	return retryBusy(ctx, logTimeout, func() error {
		var busy, pages, moved sql.NullInt64
		err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err == nil && busy.Int64 != 0 {
			err = ErrLogBusy
		}
		return err
	})
}

// retryBusy retries do while others block it, up to the given time.
func retryBusy(ctx context.Context, most time.Duration, do func() error) error {
	for late := time.Now().Add(most); ; {
		err := do()
		if !errors.Is(err, ErrLogBusy) && Code(err)&0xff != sqlite3.SQLITE_BUSY || time.Now().After(late) {
			return err
		}
		if wake.Pause(ctx, 5*time.Millisecond) != nil {
			return err
		}
	}
}

// IsDamaged reports whether an error means that the file itself is unusable.
func IsDamaged(err error) bool {
	if errors.Is(err, ErrDamaged) {
		return true
	}
	code := Code(err)
	return code&0xff == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_IOERR_SHORT_READ
}

// IsFull reports whether an error of SQLite or the system means that nothing
// more can be stored.
func IsFull(err error) bool {
	code := Code(err)
	return isFull(err) || code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE // that file could not grow
}

// IsReadOnly reports whether an error means that we cannot write the file.
func IsReadOnly(err error) bool {
	code := Code(err) & 0xff
	return isReadOnly(err) || errors.Is(err, fs.ErrPermission) || code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM
}

// Code returns the extended code of an SQLite error, SQLITE_OK for other errors.
func Code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code()
}

// Step creates a schema from the previous one.
type Step struct {
	SQL  string                               // statements, each terminated
	Fill func(context.Context, *sql.Tx) error // nil if none
}

// Migrate runs the steps a file lacks, each in a transaction; the schema is the number of
// steps. Several programs may do so at the same time.
func Migrate(ctx context.Context, db *sql.DB, steps []Step) error {
	for {
		v, err := Version(ctx, db)
		if err != nil || v == len(steps) {
			return err
		}
		if v > len(steps) {
			return fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, v, len(steps))
		}
		err = Tx(ctx, db, func(tx *sql.Tx) error {
			// Check again, now that nobody else can be migrating.
			if now, err := Version(ctx, tx); err != nil || now != v {
				return err
			}
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA user_version = %d;", steps[v].SQL, v+1)); err != nil {
				return err
			}
			if fill := steps[v].Fill; fill != nil {
				return fill(ctx, tx)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("migrate to schema %d: %w", v+1, err)
		}
	}
}

// Querier is a database, a connection to it or a transaction.
type Querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Version returns how many steps a file has been through.
func Version(ctx context.Context, q Querier) (int, error) {
	var v int
	err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// Inspect reads a file without changing anything in its folder: if nobody has
// the file open, SQLite would create files beside it, owned by whoever looked. A
// failure is retried once, since somebody may have started to write in between.
func Inspect(ctx context.Context, path string, do func(db *sql.DB, schema int) error) error {
	err := inspect(ctx, path, do)
	if err != nil {
		err = inspect(ctx, path, do)
	}
	return err
}

func inspect(ctx context.Context, path string, do func(db *sql.DB, schema int) error) error {
	query := "mode=ro&_pragma=busy_timeout(1000)&_pragma=query_only(ON)&_pragma=temp_store(MEMORY)"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		query += "&immutable=1"
	}
	db, err := Open(path, query)
	if err != nil {
		return err
	}
	defer db.Close()
	schema, err := Version(ctx, db)
	if err != nil {
		return err
	}
	return do(db, schema)
}

// PutAside puts a damaged file aside, replacing the previous one, so that they do not pile
// up. Its log is deleted: it must not end up in the next file.
func PutAside(path string) (aside string, err error) {
	aside = path + ".damaged"
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, side := range SideFiles(path) {
		if err := os.Remove(side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aside, err
		}
	}
	return aside, nil
}

// Row is a row of a query.
type Row interface{ Scan(...any) error }

// Rows returns a function that reads all rows of a query with scan and closes them.
func Rows[T any](scan func(Row) (T, error)) func(*sql.Rows, error) ([]T, error) {
	return func(rows *sql.Rows, err error) (all []T, _ error) {
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			x, err := scan(rows)
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
		return all, rows.Err()
	}
}

// Tx runs do in a transaction.
func Tx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // do's error is the relevant one
		return err
	}
	return tx.Commit()
}

// Micros returns a time as stored: microseconds since 1970, 0 for none.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time returns the time stored by Micros.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}

// MicrosOf returns a value that makes database/sql write and read t in the form of Micros.
func MicrosOf(t *time.Time) any { return microsValue{t} }

type microsValue struct{ *time.Time }

func (a microsValue) Value() (driver.Value, error) { return Micros(*a.Time), nil }

func (a microsValue) Scan(v any) error {
	micros, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", v)
	}
	*a.Time = Time(micros)
	return nil
}
