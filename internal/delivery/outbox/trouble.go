package outbox

import (
	"errors"
	"io/fs"

	sqlite3 "modernc.org/sqlite/lib"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
)

// Kinds of trouble with the place where the outbox lives. The value is stable
// and has a text (delivery.trouble.<value>).
const (
	DiskFull    = "disk_full"
	ReadOnly    = "read_only"    // the folder cannot be written, or not by us
	SpoolGone   = "spool_gone"   // the folder was removed or moved while we worked
	StoreBroken = "store_broken" // the database is damaged
	Exposed     = "exposed"      // others can change the folder or what is in it
	DiskFailed  = "disk_failed"  // anything else
)

// Trouble keeps the outbox from taking, sending or writing down anything, until
// it is mended. No item is lost or decided by it.
type Trouble struct {
	Kind string
	err  error
}

// Error tells the kind and the system's reason, without paths.
func (t *Trouble) Error() string { return "outbox: " + t.Kind + ": " + plain(t.err).Error() }

func (t *Trouble) Unwrap() error { return t.err }

// kind is "" of none.
func (t *Trouble) kind() string {
	if t == nil {
		return ""
	}
	return t.Kind
}

// inTrouble is the trouble of the worker in this process; nil for none.
func (b *Outbox) inTrouble() *Trouble {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trouble
}

// KindOf is the kind of trouble that an error is; DiskFailed for any other.
func KindOf(err error) string {
	if t, ok := errors.AsType[*Trouble](err); ok {
		return t.Kind
	}
	return DiskFailed
}

// plain is err without the paths and names in it.
func plain(err error) error {
	if errors.Is(err, filetrust.Err) {
		return filetrust.Err
	}
	return filetrust.Reason(err)
}

// troubleOf names an error of the disk or the database.
func troubleOf(err error) error {
	var t *Trouble
	if err == nil || errors.As(err, &t) {
		return err
	}
	kind := DiskFailed
	switch code := sqlitefile.Code(err) & 0xff; {
	case errors.Is(err, filetrust.Err):
		kind = Exposed
	case sqlitefile.Full(err):
		kind = DiskFull
	case sqlitefile.ReadOnly(err):
		kind = ReadOnly
	case errors.Is(err, fs.ErrNotExist), code == sqlite3.SQLITE_CANTOPEN:
		kind = SpoolGone
	case code == sqlite3.SQLITE_CORRUPT, code == sqlite3.SQLITE_NOTADB:
		kind = StoreBroken
	}
	return &Trouble{kind, err}
}
