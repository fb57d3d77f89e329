package history

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"wiebelt/internal/store/sqlitefile"
)

// Restore puts an entry back that Delete took away, under the ID it had. What
// Keep does not allow by now stays away; with KeepOff nothing happens.
func (s *Store) Restore(ctx context.Context, e Entry) error {
	err := s.change(ctx, func(tx *sql.Tx, keep Keep) error {
		switch {
		case keep != KeepFull:
			e = e.onlyNumber()
		case e.Number == "":
			e = e.withoutPerson()
		}
		values := append(append([]any{e.ID}, e.values()...), sqlitefile.Micros(e.Handled), e.off)
		marks := strings.Repeat(", ?", len(values))[2:]
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO calls (`+all+`) VALUES (`+marks+`)`, values...)
		return err
	})
	if err != nil {
		return fmt.Errorf("write call history: %w", err)
	}
	return nil
}
