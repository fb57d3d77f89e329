package localhub

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/tempfolder"
	"wiebelt/internal/text"
)

var steps = []sqlitefile.Step{{SQL: `
CREATE TABLE keys (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE clients (
  id TEXT PRIMARY KEY, organisation TEXT NOT NULL, salt BLOB NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE TABLE users (name TEXT PRIMARY KEY, hash BLOB NOT NULL) STRICT;
CREATE TABLE sessions (
  token BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES users(name) ON DELETE CASCADE, began INTEGER NOT NULL
) STRICT;
CREATE TABLE contacts (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, invented INTEGER NOT NULL,
  relation TEXT NOT NULL, initials TEXT NOT NULL, prefix TEXT NOT NULL, family TEXT NOT NULL,
  street TEXT NOT NULL, house TEXT NOT NULL, addition TEXT, postal TEXT NOT NULL, city TEXT NOT NULL, country TEXT,
  producer_code TEXT NOT NULL, producer TEXT NOT NULL, changed_code TEXT NOT NULL, changed TEXT NOT NULL
) STRICT;
CREATE INDEX contacts_real ON contacts(n) WHERE invented = 0;
CREATE TABLE terms (
  term TEXT NOT NULL, contact INTEGER NOT NULL REFERENCES contacts(n) ON DELETE CASCADE,
  written TEXT NOT NULL, mail INTEGER NOT NULL, PRIMARY KEY (term, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX terms_contact ON terms(contact);
`}, {SQL: `
ALTER TABLE clients ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN admin INTEGER NOT NULL DEFAULT 0;
CREATE TABLE messages (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL, size INTEGER NOT NULL, files INTEGER NOT NULL,
  received INTEGER NOT NULL, sender TEXT NOT NULL, organisation TEXT NOT NULL, intermediary TEXT NOT NULL,
  UNIQUE (sha256, intermediary, sender)
) STRICT;
`}}

// Data is what a hub stores: clients, users, contacts and the message box. It is part
// of every Hub, and can be opened separately to manage a hub, running or not. It is
// safe for concurrent use.
type Data struct {
	dir       string
	temporary bool // the folder goes with Close
	demo      bool // invented contacts only
	now       func() time.Time

	writeDB, readDB *sql.DB // one connection writes, several read
	findContacts    *sql.Stmt
	findCredential  *sql.Stmt

	lock    *flock.Flock // held by the hub that serves the folder
	storeMu sync.Mutex   // one delivery at a time is stored in the message box
}

// OpenData opens the folder of a hub, creating it if missing. A hub may be running on it.
func OpenData(ctx context.Context, dir string) (*Data, error) {
	if dir == "" {
		return nil, text.Errorf(text.LocalhubBadNoFolder)
	}
	return openData(ctx, dir)
}

// lockName names the file that the hub that serves a folder has locked.
const lockName = "hub.lock"

// openData is OpenData; "" is a temporary folder, which Close removes.
func openData(ctx context.Context, dir string) (d *Data, err error) {
	d = &Data{dir: dir, temporary: dir == "", now: time.Now}
	if d.temporary {
		if d.dir, d.lock, err = tempfolder.Make("wiebelt-hub-", lockName); err != nil {
			return nil, wrapError("folder", err)
		}
	}
	if err := d.connect(); err != nil {
		return nil, errors.Join(wrapError("database", err), d.release())
	}
	if err := d.setUp(ctx); err != nil {
		return nil, errors.Join(text.Errorf(text.LocalhubBadDatabase, err), d.Close())
	}
	return d, nil
}

// connect creates the folder and the file if needed. They contain keys and hashes, so they
// are never readable by others.
func (d *Data) connect() (err error) {
	const pragmas = "_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_txlock=immediate"
	synchronous := "FULL" // an accepted message must survive a power failure
	if d.temporary {
		synchronous = "OFF"
	}
	if err := filetrust.Make(d.dir, filetrust.UserOwned); err != nil {
		return err
	}
	name := filepath.Join(d.dir, "hub.db")
	if _, err := sqlitefile.Make(name, filetrust.Private); err != nil {
		return err
	}
	if d.writeDB, err = sqlitefile.Open(name, pragmas+"&_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")"); err != nil {
		return err
	}
	d.writeDB.SetMaxOpenConns(1)
	if d.readDB, err = sqlitefile.Open(name, pragmas+"&_pragma=query_only(1)"); err != nil {
		return errors.Join(err, d.writeDB.Close())
	}
	d.readDB.SetMaxOpenConns(2)
	return nil
}

func (d *Data) setUp(ctx context.Context) error {
	err := sqlitefile.Migrate(ctx, d.writeDB, steps)
	if errors.Is(err, sqlitefile.ErrNewer) {
		have, _ := sqlitefile.Version(ctx, d.writeDB)
		return text.Errorf(text.LocalhubBadNewer, have, len(steps))
	}
	if err != nil {
		return err
	}
	if d.findContacts, err = d.readDB.PrepareContext(ctx, "SELECT "+columns+" FROM terms t JOIN contacts c ON c.n = t.contact WHERE t.term = ? ORDER BY c.n"); err != nil {
		return err
	}
	d.findCredential, err = d.readDB.PrepareContext(ctx, "SELECT organisation, salt, hash FROM clients WHERE id = ?")
	return err
}

// Close closes the database; a temporary folder is gone.
func (d *Data) Close() error {
	return errors.Join(d.writeDB.Close(), d.readDB.Close(), d.release())
}

func (d *Data) release() (err error) {
	if d.lock != nil {
		err = d.lock.Unlock()
	}
	if d.temporary {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return err
}

// claimFolder reserves the folder for the one hub that serves it, and removes what an
// interrupted one left behind.
func (d *Data) claimFolder(ctx context.Context) error {
	if d.temporary { // it is new, and locked
		return nil
	}
	var err error
	if d.lock, err = d.tryLock(); err != nil {
		return wrapError("folder", err)
	}
	if d.lock == nil {
		return text.Errorf(text.LocalhubBadRunning)
	}
	return d.sweep(ctx)
}

// tryLock returns the lock of the hub that serves the folder, or nil if one is running.
func (d *Data) tryLock() (*flock.Flock, error) {
	return tempfolder.TryLock(filepath.Join(d.dir, lockName))
}

// wrapError adds to an error what failed; nil stays nil.
func wrapError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("local hub: %s: %w", what, err)
}

// collectRows returns a function that reads every row of a query; the result is never nil.
func collectRows[T any](what string, scan func(sqlitefile.Row) (T, error)) func(*sql.Rows, error) ([]T, error) {
	return func(rows *sql.Rows, err error) ([]T, error) {
		all, err := sqlitefile.Rows(scan)(rows, err)
		return append([]T{}, all...), wrapError(what, err)
	}
}

// change runs a statement and returns missing if it changes nothing.
func (d *Data) change(ctx context.Context, what string, missing error, statement string, args ...any) error {
	done, err := d.writeDB.ExecContext(ctx, statement, args...)
	if err != nil {
		return wrapError(what, err)
	}
	if n, _ := done.RowsAffected(); n == 0 {
		return missing
	}
	return nil
}

// key returns the named key, created on first use.
func (d *Data) key(ctx context.Context, name string) (k []byte, err error) {
	k = make([]byte, 32)
	_, _ = rand.Read(k) // never fails
	if err := d.change(ctx, "keys", nil, "INSERT OR IGNORE INTO keys VALUES (?, ?)", name, k); err != nil {
		return nil, err
	}
	err = d.writeDB.QueryRowContext(ctx, "SELECT value FROM keys WHERE name = ?", name).Scan(&k)
	return k, wrapError("keys", err)
}
