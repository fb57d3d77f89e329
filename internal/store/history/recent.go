package history

import (
	"context"
	"database/sql"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// Get returns the entry with an ID, or ErrGone, also if no history is kept.
func (s *Store) Get(ctx context.Context, id int64) (e Entry, err error) {
	err = s.reading(func(db *sql.DB) error {
		e, err = get(ctx, db, id)
		return readError(err)
	})
	if err == nil && e.ID == 0 {
		err = ErrGone
	}
	return e, err
}

// Last returns the newest incoming calls, newest first, at most limit.
func (s *Store) Last(ctx context.Context, limit int) (es []Entry, err error) {
	err = s.reading(func(db *sql.DB) error {
		es, err = query(ctx, db, `SELECT `+all+` FROM calls INDEXED BY calls_list WHERE outgoing = 0 ORDER BY rang DESC, id DESC LIMIT ?`, limit)
		return err
	})
	return es, err
}

// Incoming counts the calls that came in at or after from and before to.
func (s *Store) Incoming(ctx context.Context, from, to time.Time) (n int, err error) {
	err = s.reading(func(db *sql.DB) error {
		return readError(db.QueryRowContext(ctx, `SELECT count(*) FROM calls INDEXED BY calls_list WHERE rang >= ? AND rang < ? AND outgoing = 0`,
			sqlitefile.Micros(from), sqlitefile.Micros(to)).Scan(&n))
	})
	return n, err
}

// LastByKind returns when the last call came in by kind of source (call.Source.Kind).
func (s *Store) LastByKind(ctx context.Context) (map[string]time.Time, error) {
	last := map[string]time.Time{}
	err := s.reading(func(db *sql.DB) error {
		_, err := sqlitefile.Rows(func(row sqlitefile.Row) (none struct{}, err error) {
			var kind string
			var rang int64
			err = row.Scan(&kind, &rang)
			last[kind] = sqlitefile.Time(rang)
			return none, err
		})(db.QueryContext(ctx, `SELECT kind, max(rang) FROM calls WHERE outgoing = 0 GROUP BY kind`))
		return readError(err)
	})
	return last, err
}
