package outbox

import (
	"errors"
	"io/fs"

	sqlite3 "modernc.org/sqlite/lib"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
)

// Kinds of trouble with the outbox's storage. The value is stable and has a text
// (delivery.trouble.<value>).
const (
	DiskFull    = "disk_full"
	ReadOnly    = "read_only"    // the folder cannot be written, or not by us
	SpoolGone   = "spool_gone"   // the folder was removed or moved while in use
	StoreBroken = "store_broken" // the database is damaged
	Exposed     = "exposed"      // others can change the folder or its contents
	DiskFailed  = "disk_failed"  // anything else
)

// Trouble keeps the outbox from adding, sending or recording anything
// until it is fixed. No item is lost or decided because of it.
type Trouble struct {
	Kind string
	err  error
}

// Error returns the kind and the system's reason, without paths.
func (t *Trouble) Error() string { return "outbox: " + t.Kind + ": " + withoutPaths(t.err).Error() }

func (t *Trouble) Unwrap() error { return t.err }

// kind returns "" for nil.
func (t *Trouble) kind() string {
	if t == nil {
		return ""
	}
	return t.Kind
}

// workerTrouble returns the trouble of this process's worker; nil for none.
func (b *Outbox) workerTrouble() *Trouble {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trouble
}

// TroubleKind returns an error's kind of trouble; DiskFailed for any other error.
func TroubleKind(err error) string {
	if t, ok := errors.AsType[*Trouble](err); ok {
		return t.Kind
	}
	return DiskFailed
}

// withoutPaths returns err without paths and names.
func withoutPaths(err error) error {
	if errors.Is(err, filetrust.ErrUntrusted) {
		return filetrust.ErrUntrusted
	}
	return filetrust.WithoutPath(err)
}

// troubleOf classifies an error of the disk or the database.
func troubleOf(err error) error {
	var t *Trouble
	if err == nil || errors.As(err, &t) {
		return err
	}
	kind := DiskFailed
	switch code := sqlitefile.Code(err) & 0xff; {
	case errors.Is(err, filetrust.ErrUntrusted):
		kind = Exposed
	case sqlitefile.IsFull(err):
		kind = DiskFull
	case sqlitefile.IsReadOnly(err):
		kind = ReadOnly
	case errors.Is(err, fs.ErrNotExist), code == sqlite3.SQLITE_CANTOPEN:
		kind = SpoolGone
	case code == sqlite3.SQLITE_CORRUPT, code == sqlite3.SQLITE_NOTADB:
		kind = StoreBroken
	}
	return &Trouble{kind, err}
}
