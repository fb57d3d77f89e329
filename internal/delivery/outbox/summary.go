package outbox

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// Summary holds the counts and the state of an outbox.
type Summary struct {
	Waiting    int       // including those being sent
	Oldest     time.Time // when the first of them was added
	Uncertain  int       // including those that a vanished worker may have sent in full
	Kept       int       // refused, with our copy still there
	HoldReason Reason    // "" if nothing is on hold
	Working    bool      // a worker is running
	Spool      bool      // the folder for copies exists
	Aside      bool      // a damaged database was put aside

	fullyRead int // being sent, and sent in full
}

// Summarize reads the outbox in a folder without changing anything. Its errors
// are fs.ErrNotExist if there is none, ErrNewer, sqlitefile's for a damaged one,
// and those of the system.
func Summarize(ctx context.Context, dir string) (s Summary, err error) {
	path := filepath.Join(dir, DatabaseName)
	if _, err := os.Stat(path); err != nil {
		return s, err
	}
	if err := sqlitefile.Inspect(ctx, path, func(db *sql.DB, schema int) error { return s.read(ctx, db, schema) }); err != nil {
		return s, err
	}
	_, err = os.Stat(filepath.Join(dir, spoolName))
	s.Spool = err == nil
	_, err = os.Stat(path + ".damaged")
	s.Aside = err == nil
	if s.Working = Delivering(dir); !s.Working { // as the next worker will decide
		s.Waiting, s.Uncertain = s.Waiting-s.fullyRead, s.Uncertain+s.fullyRead
	}
	if s.Waiting == 0 {
		s.HoldReason = ""
	}
	return s, nil
}

// Delivering reports whether a worker is running on the outbox in a folder.
func Delivering(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, LockName)) // asking for the lock would create it
	return err == nil && (&Outbox{o: Options{Dir: dir}}).Busy()
}

func (s *Summary) read(ctx context.Context, db *sql.DB, schema int) error {
	if schema > len(migrations) {
		return ErrNewer
	}
	if err := sqlitefile.Check(ctx, db); err != nil || schema == 0 {
		return err
	}
	var oldest sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE state IN (?1, ?2)), min(added) FILTER (WHERE state IN (?1, ?2)),"+
		" count(*) FILTER (WHERE state = ?3), count(*) FILTER (WHERE state = ?4 AND kept = 1), count(*) FILTER (WHERE state = ?2 AND whole = 1) FROM items",
		Waiting, Sending, Uncertain, Refused).Scan(&s.Waiting, &oldest, &s.Uncertain, &s.Kept, &s.fullyRead)
	if err != nil {
		return err
	}
	s.Oldest = sqlitefile.Time(oldest.Int64)
	return db.QueryRowContext(ctx, "SELECT held FROM queue").Scan(&s.HoldReason)
}
