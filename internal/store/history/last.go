package history

import (
	"context"
)

// Last gives the newest calls that came in, newest first, at most limit.
func (s *Store) Last(ctx context.Context, limit int) ([]Entry, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return nil, nil
	}
	return query(ctx, s.db, `SELECT `+all+` FROM calls INDEXED BY calls_list WHERE outgoing = 0 ORDER BY rang DESC, id DESC LIMIT ?`, limit)
}
