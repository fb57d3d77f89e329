package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"wiebelt/internal/store/sqlitefile"
)

// look opens the file at path so that nothing in its folder changes: where
// nobody has it open, SQLite would make side files, which belong to whoever
// looked.
func look(ctx context.Context, path string) (db *sql.DB, schema int, err error) {
	query := "mode=ro&_pragma=busy_timeout(1000)&_pragma=query_only(ON)&_pragma=temp_store(MEMORY)"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		query += "&immutable=1"
	}
	if db, err = sqlitefile.Open(path, query); err != nil {
		return nil, 0, err
	}
	db.SetMaxOpenConns(1)
	if schema, err = sqlitefile.Version(ctx, db); err != nil {
		_ = db.Close() // the error that matters is the one above
		return nil, 0, err
	}
	return db, schema, nil
}

// CheckFile looks through the whole file at path and changes nothing, not even in
// its folder. It returns ErrNewer for one of a newer version, another error for
// one that is damaged or cannot be read, and nil for one that is sound or only
// waits for its migration.
func CheckFile(ctx context.Context, path string) error {
	err := sound(ctx, path)
	if err != nil && !errors.Is(err, ErrNewer) {
		// Somebody may have begun to write between the first look and the last.
		err = sound(ctx, path)
	}
	if err != nil {
		return fmt.Errorf("check call history: %w", err)
	}
	return nil
}

func sound(ctx context.Context, path string) error {
	db, schema, err := look(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	if schema > len(migrations) {
		return ErrNewer
	}
	return sqlitefile.Check(ctx, db)
}

// people are the columns that say who called and what was called.
var people = []string{"name", "via", "taken_by", "number", "shown", "relation_number", "contact_id", "link", "line", "line_number"}

// People gives what the newest calls of the file at path, at most limit, hold of
// people, by column; as CheckFile it changes nothing. It is for taking all of that
// out of other texts.
func People(ctx context.Context, path string, limit int) (map[string][]string, error) {
	found, err := readPeople(ctx, path, limit)
	return found, reading(err)
}

func readPeople(ctx context.Context, path string, limit int) (map[string][]string, error) {
	db, _, err := look(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT * FROM calls ORDER BY id DESC LIMIT ?`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns() // of whatever version
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	values, texts := make([]any, len(columns)), make([]sql.NullString, len(columns))
	for i := range values {
		values[i] = &texts[i]
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		for i, c := range columns {
			if texts[i].String != "" && slices.Contains(people, c) {
				found[c] = append(found[c], texts[i].String)
			}
		}
	}
	return found, rows.Err()
}
