package history

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

// Reader reads the history that another process writes. It cannot change the
// file. Safe for concurrent use.
type Reader struct{ db *sql.DB }

// OpenReadOnly opens the history at path for reading. A file that does not exist
// (yet) gives an error for which errors.Is(err, fs.ErrNotExist) holds; one of a
// newer version gives ErrNewer.
func OpenReadOnly(path string) (*Reader, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open call history: %w", err)
	}
	name, err := dsn(path, "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(ON)")
	if err != nil {
		return nil, fmt.Errorf("open call history: %w", err)
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("open call history: %w", err)
	}
	db.SetMaxOpenConns(1)
	v, err := version(context.Background(), db)
	if err == nil && v > len(migrations) {
		err = ErrNewer
	}
	if err == nil && v < len(migrations) {
		err = fmt.Errorf("schema %d has to be migrated first", v)
	}
	if err != nil {
		_ = db.Close() // the error that matters is the one above
		return nil, fmt.Errorf("open call history: %w", err)
	}
	return &Reader{db}, nil
}

// Since gives the calls that rang at t or later, newest first, at most limit.
func (r *Reader) Since(ctx context.Context, t time.Time, limit int) (_ []Entry, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id, `+columns+` FROM calls WHERE rang >= ?
		ORDER BY rang DESC, id DESC LIMIT ?`, micros(t), limit)
	if err != nil {
		return nil, fmt.Errorf("read call history: %w", err)
	}
	defer rows.Close()
	var all []Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read call history: %w", err)
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read call history: %w", err)
	}
	return all, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.db.Close() }
