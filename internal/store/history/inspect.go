package history

import (
	"context"
	"database/sql"
	"slices"

	"wiebelt/internal/store/sqlitefile"
)

// CheckFile checks the whole file at path without changing anything, not even in its
// folder. It returns ErrNewer if a newer version wrote it, another error if it is damaged
// or unreadable, and nil if it is sound or merely needs migration.
func CheckFile(ctx context.Context, path string) error {
	return during("check", sqlitefile.Inspect(ctx, path, func(db *sql.DB, schema int) error {
		if schema > len(migrations) {
			return ErrNewer
		}
		return sqlitefile.Check(ctx, db)
	}))
}

// personalColumns are the columns that identify who called and what was called.
var personalColumns = []string{"name", "via", "taken_by", "number", "shown", "relation_number", "contact_id", "link", "line", "line_number"}

// People returns what the newest calls in the file at path, at most limit, contain
// about people, by column, so that it can be removed from other texts. Like
// CheckFile it changes nothing.
func People(ctx context.Context, path string, limit int) (map[string][]string, error) {
	var found map[string][]string
	err := sqlitefile.Inspect(ctx, path, func(db *sql.DB, _ int) (err error) { // of any version
		found, err = readPeople(ctx, db, limit)
		return err
	})
	return found, during("read", err)
}

func readPeople(ctx context.Context, db *sql.DB, limit int) (map[string][]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT * FROM calls ORDER BY id DESC LIMIT ?`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
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
			if texts[i].String != "" && slices.Contains(personalColumns, c) {
				found[c] = append(found[c], texts[i].String)
			}
		}
	}
	return found, rows.Err()
}
