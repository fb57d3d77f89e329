package outbox

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
)

// migrations[n] migrates a file from version n to n+1. A
// released step never changes; any change is a new step.
var migrations = []sqlitefile.Step{
	{SQL: `CREATE TABLE items (
		id           TEXT PRIMARY KEY,
		name         TEXT NOT NULL,
		path         TEXT NOT NULL,
		sha256       TEXT NOT NULL,
		size         INTEGER NOT NULL,
		intermediary TEXT NOT NULL,
		state        TEXT NOT NULL,
		reason       TEXT NOT NULL,
		status       INTEGER NOT NULL,
		added        INTEGER NOT NULL,
		first_try    INTEGER NOT NULL,
		last_try     INTEGER NOT NULL,
		next_try     INTEGER NOT NULL,
		decided      INTEGER NOT NULL,
		deadline     INTEGER NOT NULL,
		tries        INTEGER NOT NULL,
		attempts     INTEGER NOT NULL,
		note         TEXT NOT NULL,
		kept         INTEGER NOT NULL,
		unknowns     INTEGER NOT NULL,
		odds         INTEGER NOT NULL,
		whole        INTEGER NOT NULL,
		alone        INTEGER NOT NULL,
		crc          INTEGER NOT NULL,
		moved        INTEGER NOT NULL DEFAULT 0
	) STRICT;
	CREATE INDEX items_state ON items (state, next_try, id);
	CREATE INDEX items_sha256 ON items (sha256, intermediary);
	CREATE INDEX items_decided ON items (decided);
	CREATE TABLE receipts (
		item   TEXT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
		n      INTEGER NOT NULL,
		began  INTEGER NOT NULL,
		ended  INTEGER NOT NULL,
		status INTEGER NOT NULL,
		class  TEXT NOT NULL,
		reason TEXT NOT NULL,
		body   TEXT NOT NULL,
		PRIMARY KEY (item, n)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX receipts_ended ON receipts (ended) WHERE body <> '';
	CREATE TABLE queue (
		one    INTEGER PRIMARY KEY CHECK (one = 1),
		held   TEXT NOT NULL,
		since  INTEGER NOT NULL,
		until  INTEGER NOT NULL,
		paused TEXT NOT NULL,
		began  INTEGER NOT NULL,
		resume INTEGER NOT NULL,
		pauses INTEGER NOT NULL
	) STRICT;
	INSERT INTO queue VALUES (1, '', 0, 0, '', 0, 0, 0);`},
	{SQL: `ALTER TABLE items ADD COLUMN found TEXT NOT NULL DEFAULT '';
	ALTER TABLE receipts ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;`},
	// Files delivered and then forgotten: enough to recognise them.
	{SQL: `CREATE TABLE past (
		sha256       TEXT NOT NULL,
		intermediary TEXT NOT NULL,
		added        INTEGER NOT NULL,
		decided      INTEGER NOT NULL,
		PRIMARY KEY (sha256, intermediary)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX past_decided ON past (decided);`},
	// Looked up before every request, when many may be waiting.
	{SQL: `CREATE INDEX items_late ON items (deadline) WHERE state = 'waiting' AND deadline > 0;`},
}

const columns = `name, path, sha256, size, intermediary, state, reason, status, added, first_try, last_try, next_try,
	decided, deadline, tries, attempts, note, kept, unknowns, odds, whole, alone, crc, found`

// fields returns an item's columns in the order of columns, for reading and writing.
func (it *Item) fields() []any {
	at := sqlitefile.MicrosOf
	return []any{&it.Name, &it.Path, &it.SHA256, &it.Size, &it.Intermediary, &it.State, &it.Reason, &it.Status,
		at(&it.Added), at(&it.FirstTry), at(&it.LastTry), at(&it.NextTry), at(&it.Decided), at(&it.Deadline), &it.Tries,
		&it.Attempts, &it.Note, &it.HasCopy, &it.unknownAttempts, &it.oddAttempts, &it.FullyRead, &it.sendAlone, &it.crc, &it.packedFindings}
}

var placeholders = strings.Repeat(", ?", len((&Item{}).fields()))[2:]

// scanItem reads "id, columns".
func scanItem(row sqlitefile.Row) (it Item, err error) {
	err = row.Scan(append([]any{&it.ID}, it.fields()...)...)
	return it, err
}

// open opens the database, and puts a damaged one aside if nobody is using it.
func (b *Outbox) open(ctx context.Context) error {
	if err := b.o.fs.MkdirAll(b.o.Dir); err != nil {
		return troubleOf(err)
	}
	err := b.openFile(ctx)
	if sqlitefile.IsDamaged(err) {
		err = b.recreate(ctx, err)
	}
	if errors.Is(err, ErrNewer) {
		return err
	}
	return troubleOf(err)
}

// recreate puts the damaged database aside and starts a new one with the spool's files.
func (b *Outbox) recreate(ctx context.Context, why error) error {
	l := b.lock()
	if alone, err := l.TryLock(); err != nil || !alone {
		return errors.Join(why, err)
	}
	defer func() { _ = l.Unlock() }()
	if err := b.openFile(ctx); !sqlitefile.IsDamaged(err) {
		return err // another process was faster
	}
	found, err := b.spoolItems()
	if err != nil {
		return err
	}
	if b.asidePath, err = sqlitefile.PutAside(b.dbPath()); err == nil {
		err = b.createDatabase(ctx, found)
	}
	if err != nil && b.asidePath != "" {
		// The next attempt must find the damaged file again, without a log of the new one.
		for _, side := range sqlitefile.SideFiles(b.dbPath()) {
			_ = os.Remove(side)
		}
		err = errors.Join(err, os.Rename(b.asidePath, b.dbPath()))
	}
	return err
}

func (b *Outbox) createDatabase(ctx context.Context, found []Item) error {
	if err := b.openFile(ctx); err != nil {
		return err
	}
	err := b.tx(ctx, func(tx *sql.Tx) error {
		for _, it := range found {
			if err := insertItem(ctx, tx, it); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = errors.Join(err, b.db.Close())
	}
	return err
}

func (b *Outbox) dbPath() string { return filepath.Join(b.o.Dir, DatabaseName) }

func (b *Outbox) openFile(ctx context.Context) error {
	info, err := sqlitefile.Make(b.dbPath(), filetrust.UserOwned)
	if err != nil {
		return err
	}
	b.info = info
	// FULL: what was added or decided must survive a power failure. busy_timeout comes
	// first, as the others already access the file.
	b.db, err = sqlitefile.OpenWith(ctx, b.dbPath(),
		"_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
			"&_pragma=foreign_keys(ON)&_pragma=secure_delete(ON)&_txlock=immediate",
		func(ctx context.Context, db *sql.DB) error { return sqlitefile.Prepare(ctx, db, migrations) })
	return err
}
