// Package sqlitefile is what the SQLite files of this program share: how one is
// named, made, checked, brought to the newest schema, and known to be damaged.
// What is in them is their owners' business. Everything is safe for concurrent
// use as far as the database is.
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
	// ErrNewer is a file that a newer version of this program has made.
	ErrNewer = errors.New("made by a newer version of this program")
	// ErrHeld says that what was deleted is still in the log.
	ErrHeld = errors.New("what was deleted is still in the log: somebody is reading")
	// ErrDamaged is a file that SQLite can open and does not find sound.
	ErrDamaged = errors.New("damaged file")
)

// Make makes an empty file if there is none, and gives what it is; a *filetrust.Error
// if it is not safe for who, or the folder it lies in. SQLite would make it
// readable to others; its side files take over the rights of this one.
func Make(path string, who filetrust.Who) (os.FileInfo, error) {
	f, err := filetrust.OpenFile(path, os.O_RDWR|os.O_CREATE, who)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}

// Open opens a file with the driver's query, such as "mode=ro&_pragma=…", for one
// connection at a time. The file is named by a URI, since nothing else can say mode=ro.
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

// OpenWith is Open of a file that is of use once ready has seen it; else it is closed.
func OpenWith(ctx context.Context, path, query string, ready func(context.Context, *sql.DB) error) (*sql.DB, error) {
	db, err := Open(path, query)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, db); err != nil {
		_ = db.Close() // the error that matters is ready's
		return nil, err
	}
	return db, nil
}

// Sides are the files that SQLite keeps beside a file.
func Sides(path string) []string { return []string{path + "-wal", path + "-shm"} }

// Check looks through a file; ErrDamaged if it is not sound.
func Check(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return ErrDamaged // what it said may quote the contents
	}
	return nil
}

// Prepare checks a file and brings it to its newest schema. Programs that make a
// file at the same time get in each other's way for a moment, at which SQLite does
// not wait by itself: whoever is refused tries again, for ten seconds.
func Prepare(ctx context.Context, db *sql.DB, steps []Step) error {
	return whileBusy(ctx, 10*time.Second, func() error {
		if err := Check(ctx, db); err != nil {
			return err
		}
		return Migrate(ctx, db, steps)
	})
}

// heldFor is how long others may hold the log before EmptyLog says so.
const heldFor = 5 * time.Second

// EmptyLog empties the write-ahead log: secure_delete overwrites the pages of what was
// deleted, but their old contents would stay there. While another process does the
// same SQLite does not wait by itself, so this does; ErrHeld if somebody has been
// reading all the time.
func EmptyLog(ctx context.Context, db *sql.DB) error {
	return whileBusy(ctx, heldFor, func() error {
		var busy, pages, moved sql.NullInt64
		err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err == nil && busy.Int64 != 0 {
			err = ErrHeld
		}
		return err
	})
}

// whileBusy does something again while others are in its way, for so long at most.
func whileBusy(ctx context.Context, most time.Duration, do func() error) error {
	for late := time.Now().Add(most); ; {
		err := do()
		if !errors.Is(err, ErrHeld) && Code(err)&0xff != sqlite3.SQLITE_BUSY || time.Now().After(late) {
			return err
		}
		if wake.Pause(ctx, 5*time.Millisecond) != nil {
			return err
		}
	}
}

// Damaged tells whether an error means that the file itself is of no use any more.
func Damaged(err error) bool {
	if errors.Is(err, ErrDamaged) {
		return true
	}
	code := Code(err)
	return code&0xff == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_IOERR_SHORT_READ
}

// Full reports whether an error of SQLite's or of the system's says that nothing more can
// be stored.
func Full(err error) bool {
	code := Code(err)
	return full(err) || code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE // that file could not grow
}

// ReadOnly reports whether one says that it cannot be written, or not by us.
func ReadOnly(err error) bool {
	code := Code(err) & 0xff
	return readOnly(err) || errors.Is(err, fs.ErrPermission) || code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM
}

// Code is the extended code of an error of SQLite's, SQLITE_OK for other errors.
func Code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code()
}

// Step is what makes a schema from the one before it.
type Step struct {
	SQL  string                               // statements, the last one ended as well
	Fill func(context.Context, *sql.Tx) error // nil for none
}

// Migrate makes the steps that a file lacks, each in a transaction, so that the
// schema is the number of steps. Several programs may do it at one time.
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
			// Again, now that nobody else can be doing it at the same time.
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

// Version is how many steps a file has had.
func Version(ctx context.Context, q Querier) (int, error) {
	var v int
	err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// Look reads a file so that nothing in its folder changes: where nobody has it open,
// SQLite would make files beside it, which belong to whoever looked. What fails is
// done once more: somebody may have begun to write between the first look and the
// last.
func Look(ctx context.Context, path string, do func(db *sql.DB, schema int) error) error {
	err := look(ctx, path, do)
	if err != nil {
		err = look(ctx, path, do)
	}
	return err
}

func look(ctx context.Context, path string, do func(db *sql.DB, schema int) error) error {
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

// PutAside puts a damaged file aside, in place of the one before, so that these cannot
// pile up. Its log goes: it must not be played into the next file.
func PutAside(path string) (aside string, err error) {
	aside = path + ".damaged"
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, side := range Sides(path) {
		if err := os.Remove(side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aside, err
		}
	}
	return aside, nil
}

// Row is a row of a query.
type Row interface{ Scan(...any) error }

// Rows gives a function that reads all rows of a query, each by scan, and closes them.
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

// Tx does something in a transaction.
func Tx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the error that matters is do's
		return err
	}
	return tx.Commit()
}

// Micros is a time as it is stored: microseconds since 1970, 0 for none.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the time that Micros stored.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}

// At has a time written and read as Micros stores it.
func At(t *time.Time) any { return at{t} }

type at struct{ *time.Time }

func (a at) Value() (driver.Value, error) { return Micros(*a.Time), nil }

func (a at) Scan(v any) error {
	micros, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", v)
	}
	*a.Time = Time(micros)
	return nil
}
