package sqlitefile

import (
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/filetrust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMadeBySeveral checks that several programs creating one file at once all
// get it, and its schema is created once.
func TestMadeBySeveral(t *testing.T) {
	steps := []Step{{SQL: "CREATE TABLE t (n INTEGER) STRICT;"}, {SQL: "INSERT INTO t VALUES (1);"}}
	for range 20 {
		path := filepath.Join(t.TempDir(), "a.db")
		var work sync.WaitGroup
		for range 6 {
			work.Go(func() {
				if _, err := Make(path, filetrust.UserOwned); err != nil {
					t.Error(err)
					return
				}
				db, err := Open(path, "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate")
				if err != nil {
					t.Error(err)
					return
				}
				defer db.Close()
				if err := Prepare(t.Context(), db, steps); err != nil {
					t.Error(err)
					return
				}
				n := 0
				if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != 1 {
					t.Errorf("%d rows: %v", n, err)
				}
			})
		}
		work.Wait()
	}
}
