package history

import (
	"context"
	"fmt"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// Incoming tells how many calls came in between two moments, the first included.
func (s *Store) Incoming(ctx context.Context, from, to time.Time) (n int, err error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return 0, nil
	}
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM calls INDEXED BY calls_list WHERE rang >= ? AND rang < ? AND outgoing = 0`,
		sqlitefile.Micros(from), sqlitefile.Micros(to)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read call history: %w", err)
	}
	return n, nil
}

// LastByKind gives when the last call came in over each kind of way in
// (call.Way.Kind).
func (s *Store) LastByKind(ctx context.Context) (map[string]time.Time, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	last := map[string]time.Time{}
	if s.db == nil {
		return last, nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT kind, max(rang) FROM calls WHERE outgoing = 0 GROUP BY kind`)
	if err != nil {
		return nil, fmt.Errorf("read call history: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			kind string
			rang int64
		)
		if err := rows.Scan(&kind, &rang); err != nil {
			return nil, fmt.Errorf("read call history: %w", err)
		}
		last[kind] = sqlitefile.Time(rang)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read call history: %w", err)
	}
	return last, nil
}
