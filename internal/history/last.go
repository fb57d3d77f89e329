package history

import (
	"context"
	"fmt"
)

// Last gives the newest calls that came in, newest first, at most limit.
func (s *Store) Last(ctx context.Context, limit int) ([]Entry, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return nil, nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+all+` FROM calls INDEXED BY calls_list WHERE outgoing = 0 ORDER BY rang DESC, id DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("read call history: %w", err)
	}
	es, err := scanAll(rows)
	if err != nil {
		return nil, fmt.Errorf("read call history: %w", err)
	}
	return es, nil
}
