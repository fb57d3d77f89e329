package outbox

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// Summary is an outbox in numbers.
type Summary struct {
	Waiting   int       // also what is being sent
	Oldest    time.Time // when the first of them was taken
	Uncertain int       // also what a worker left that is gone, once all of it was handed over
	Kept      int       // refused, with our copy still there
	Held      Reason    // "" if the queue is not on hold
	Working   bool      // a worker runs
	Spool     bool      // the folder for copies is there
	Aside     bool      // a damaged database was put aside

	left int // is being sent, and all of it was handed over
}

// Summarize reads the outbox in a folder and changes nothing. Its errors are
// fs.ErrNotExist if there is none, ErrNewer, sqlitefile's for a damaged one, and
// those of the system.
func Summarize(ctx context.Context, dir string) (s Summary, err error) {
	path := filepath.Join(dir, DatabaseName)
	if _, err := os.Stat(path); err != nil {
		return s, err
	}
	if s, err = look(ctx, path); err != nil && !errors.Is(err, ErrNewer) {
		// Somebody may have begun to write between the first look and the last.
		s, err = look(ctx, path)
	}
	if err != nil {
		return s, err
	}
	_, err = os.Stat(filepath.Join(dir, spoolName))
	s.Spool = err == nil
	_, err = os.Stat(path + ".damaged")
	s.Aside = err == nil
	if _, err = os.Stat(filepath.Join(dir, lockName)); err == nil { // asking would make it
		s.Working = (&Outbox{o: Options{Dir: dir}}).Busy()
	}
	if !s.Working { // as the next worker will decide
		s.Waiting, s.Uncertain = s.Waiting-s.left, s.Uncertain+s.left
	}
	return s, nil
}

func look(ctx context.Context, path string) (s Summary, err error) {
	query := "mode=ro&_pragma=busy_timeout(1000)&_pragma=query_only(ON)&_pragma=temp_store(MEMORY)"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		query += "&immutable=1" // else SQLite makes files beside it, which are whoever's looks
	}
	db, err := sqlitefile.Open(path, query)
	if err != nil {
		return s, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	schema, err := sqlitefile.Version(ctx, db)
	switch {
	case err != nil:
		return s, err
	case schema > len(migrations):
		return s, ErrNewer
	}
	if err := sqlitefile.Check(ctx, db); err != nil || schema == 0 {
		return s, err
	}
	var oldest sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE state IN (?1, ?2)), min(added) FILTER (WHERE state IN (?1, ?2)),"+
		" count(*) FILTER (WHERE state = ?3), count(*) FILTER (WHERE state = ?4 AND kept = 1), count(*) FILTER (WHERE state = ?2 AND whole = 1) FROM items",
		string(Waiting), string(Sending), string(Uncertain), string(Refused)).Scan(&s.Waiting, &oldest, &s.Uncertain, &s.Kept, &s.left)
	if err != nil {
		return s, err
	}
	s.Oldest = sqlitefile.Time(oldest.Int64)
	return s, db.QueryRowContext(ctx, "SELECT held FROM queue").Scan(&s.Held)
}
