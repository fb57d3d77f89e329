package history

import (
	"context"
	"database/sql"
	"errors"

	_ "modernc.org/sqlite" // the driver, pure Go

	"wiebelt/internal/store/sqlitefile"
)

// migrations[n] migrates a file from version n to n+1. A released step never changes:
// changes become the next step.
var migrations = []sqlitefile.Step{
	{SQL: `CREATE TABLE calls (
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
	CREATE INDEX calls_number ON calls (number);`},
	// The list is read along calls_list, which is in its order and
	// has everything that a filter searches, so that a search reads
	// no entire entries. calls_open contains only calls to tick off.
	{SQL: `ALTER TABLE calls ADD COLUMN via TEXT NOT NULL DEFAULT '';
	ALTER TABLE calls ADD COLUMN handled INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE calls ADD COLUMN taken_off INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE calls ADD COLUMN find TEXT NOT NULL DEFAULT '';
	DROP INDEX calls_rang;
	DROP INDEX calls_number;
	CREATE INDEX calls_number ON calls (number, rang);
	CREATE INDEX calls_list ON calls (rang, id, result, outgoing, find);
	CREATE INDEX calls_missed ON calls (rang, id, find) WHERE result = 'missed' AND outgoing = 0;
	CREATE INDEX calls_open ON calls (number, rang) WHERE result = 'missed' AND outgoing = 0 AND handled = 0;`, Fill: fillFind},
	// Calls to return have their own list.
	{SQL: `DROP INDEX calls_list;
	DROP INDEX calls_missed;
	CREATE INDEX calls_list ON calls (rang, id, result, outgoing, handled, find);
	CREATE INDEX calls_handled ON calls (rang, id, find) WHERE result = 'missed' AND outgoing = 0 AND handled <> 0;`},
	{SQL: `ALTER TABLE calls ADD COLUMN taken_by TEXT NOT NULL DEFAULT '';`},
}

func fillFind(ctx context.Context, tx *sql.Tx) error {
	for last := int64(0); ; {
		some, err := sqlitefile.Rows(func(row sqlitefile.Row) (e Entry, err error) {
			return e, row.Scan(&e.ID, &e.Name, &e.Line, &e.Via, &e.Number, &e.NumberDisplay, &e.LineNumber, &e.RelationNumber)
		})(tx.QueryContext(ctx, `SELECT id, name, line, via, number, shown, line_number, relation_number FROM calls WHERE id > ? ORDER BY id LIMIT 500`, last))
		if err != nil || len(some) == 0 {
			return err
		}
		for _, e := range some {
			if _, err := tx.ExecContext(ctx, `UPDATE calls SET find = ? WHERE id = ?`, e.searchText(), e.ID); err != nil {
				return err
			}
			last = e.ID
		}
	}
}

// find is computed from the other columns, so it is not read.
const (
	entryColumns = `rang, answered, ended, outgoing, kind, number, shown, line, line_number, via,
	name, contact_id, relation_number, link, matches, outcome, result, handled, taken_off, taken_by`
	readColumns    = `id, ` + entryColumns
	writtenColumns = entryColumns + `, find`
)

// pointers returns where the values of entryColumns are, for reading and writing them.
func (e *Entry) pointers() []any {
	at := sqlitefile.MicrosOf
	return []any{at(&e.Rang), at(&e.Answered), at(&e.Ended), &e.Outgoing, &e.Kind, &e.Number, &e.NumberDisplay,
		&e.Line, &e.LineNumber, &e.Via, &e.Name, &e.ContactID, &e.RelationNumber, &e.Link, &e.Matches,
		&e.Outcome, &e.Result, at(&e.HandledAt), &e.rejectedBy, &e.AnsweredBy}
}

func (e Entry) written() []any { return append(e.pointers(), e.searchText()) }

func scan(row sqlitefile.Row) (e Entry, err error) {
	err = row.Scan(append([]any{&e.ID}, e.pointers()...)...)
	e.PersonRejected = e.rejectedBy != notRejected
	return e, err
}

// get returns the entry with an ID, or ErrGone.
func get(ctx context.Context, q sqlitefile.Querier, id int64) (Entry, error) {
	return orGone(scan(q.QueryRowContext(ctx, `SELECT `+readColumns+` FROM calls WHERE id = ?`, id)))
}

// orGone turns a missing call into ErrGone.
func orGone(e Entry, err error) (Entry, error) {
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrGone
	}
	return e, err
}

// query returns the entries found by a query for readColumns.
func query(ctx context.Context, db *sql.DB, text string, args ...any) ([]Entry, error) {
	es, err := sqlitefile.Rows(scan)(db.QueryContext(ctx, text, args...))
	return es, during("read", err)
}
