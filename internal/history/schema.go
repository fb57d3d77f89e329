package history

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver, pure Go
)

// migrations[n] brings a file from version n to n+1. A step that was shipped is
// never changed: what has to differ becomes the next step.
var migrations = []string{
	`CREATE TABLE calls (
		id              INTEGER PRIMARY KEY AUTOINCREMENT,
		rang            INTEGER NOT NULL,
		answered        INTEGER NOT NULL,
		ended           INTEGER NOT NULL,
		outgoing        INTEGER NOT NULL,
		kind            TEXT NOT NULL,
		number          TEXT NOT NULL,
		shown           TEXT NOT NULL,
		line            TEXT NOT NULL,
		line_number     TEXT NOT NULL,
		name            TEXT NOT NULL,
		contact_id      TEXT NOT NULL,
		relation_number TEXT NOT NULL,
		link            TEXT NOT NULL,
		matches         INTEGER NOT NULL,
		outcome         TEXT NOT NULL,
		result          TEXT NOT NULL
	) STRICT;
	CREATE INDEX calls_rang ON calls (rang);
	CREATE INDEX calls_number ON calls (number);`,
}

const columns = `rang, answered, ended, outgoing, kind, number, shown, line, line_number,
	name, contact_id, relation_number, link, matches, outcome, result`

// values are an entry's columns in the order of columns.
func (e Entry) values() []any {
	return []any{micros(e.Rang), micros(e.Answered), micros(e.Ended), e.Outgoing, e.Kind, e.Number, e.Shown,
		e.Line, e.LineNumber, e.Name, e.ContactID, e.RelationNumber, e.Link, e.Matches, e.Outcome, e.Result}
}

// scan reads "id, columns".
func scan(row interface{ Scan(...any) error }) (Entry, error) {
	var e Entry
	var rang, answered, ended int64
	err := row.Scan(&e.ID, &rang, &answered, &ended, &e.Outgoing, &e.Kind, &e.Number, &e.Shown,
		&e.Line, &e.LineNumber, &e.Name, &e.ContactID, &e.RelationNumber, &e.Link, &e.Matches, &e.Outcome, &e.Result)
	e.Rang, e.Answered, e.Ended = timeOf(rang), timeOf(answered), timeOf(ended)
	return e, err
}

// micros is a time as it is stored: microseconds since 1970, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}

// dsn names a file for the driver. A URI, because only that can say mode=ro;
// so ?, # and % in a path have to be escaped.
func dsn(path, query string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/…
	}
	return (&url.URL{Scheme: "file", Path: p, OmitHost: false}).String() + "?" + query, nil
}

func version(ctx context.Context, db *sql.DB) (int, error) {
	var v int
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

func migrate(ctx context.Context, db *sql.DB) error {
	v, err := version(ctx, db)
	if err != nil {
		return err
	}
	if v > len(migrations) {
		return fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, v, len(migrations))
	}
	for ; v < len(migrations); v++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA user_version = %d;", migrations[v], v+1))
		if err != nil {
			_ = tx.Rollback() // the error that matters is the one above
			return fmt.Errorf("migrate to schema %d: %w", v+1, err)
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}
