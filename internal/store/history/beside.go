package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
)

// OpenBeside opens the history at path for a process other than the resident, which
// keeps maintaining it: no file is created, migrated, purged, put aside or removed,
// and no call is marked as over. Writes follow keep; now is the clock. The error is
// ErrGone if there is no file, and ErrNewer for one of a newer version.
func OpenBeside(ctx context.Context, path string, keep Keep, now func() time.Time) (*Store, error) {
	s := &Store{path: path, keep: keep, days: 1, now: now, guest: true}
	if keep == KeepOff {
		return s, nil
	}
	if err := s.join(ctx); err != nil {
		return nil, fmt.Errorf("open call history: %w", err)
	}
	return s, nil
}

func (s *Store) join(ctx context.Context) error {
	// The file itself is not opened directly: closing it would release the locks that
	// SQLite holds on it for another reader in this process.
	if err := filetrust.Folder(filepath.Dir(s.path), filetrust.Ours); err != nil {
		return err
	}
	was, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	s.openedInfo = was
	s.db, err = sqlitefile.OpenWith(ctx, s.path, writing, current)
	return err
}

// current checks that a file has this version's schema.
func current(ctx context.Context, db *sql.DB) error {
	v, err := sqlitefile.Version(ctx, db)
	switch {
	case err != nil:
		return err
	case v > len(migrations):
		return ErrNewer
	case v < len(migrations):
		return fmt.Errorf("schema %d has to be migrated first", v)
	}
	return nil
}
