package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"wiebelt/internal/core/call"
	"wiebelt/internal/delivery/message"
)

// Source is a file to add.
type Source struct {
	Path         string                                 // its location; kept for reports
	Write        func(context.Context, io.Writer) error // generates the file; Path is just its name
	Intermediary string
	GiveUpAfter  time.Duration // given up if unsuccessful by then; 0: after three days and twelve tries
	// Resume reuses an item with the same path and contents as long as Moved was not called
	// for it: a watched folder finds its files again after a restart.
	Resume bool
	// Duplicate is the policy if this file was added before; "" means the outbox's.
	Duplicate string
}

// Added is the result of adding a file.
type Added struct {
	Item      Item // for a file refused after reading: name, path, size and checksum
	Duplicate bool // Item is an earlier one, without ID if forgotten; nothing was added
}

// Add adds a file: when it returns without error, a copy of it and its row are on disk.
// A refused file yields an ErrRefused (a *RefusedError, or ErrDuplicate and the earlier
// item), one that cannot be added now a *Trouble.
func (b *Outbox) Add(ctx context.Context, s Source) (Added, error) {
	if err := b.verifyFile(); err != nil {
		return Added{}, err
	}
	u, err := uuid.NewV7()
	if err != nil {
		return Added{}, err
	}
	id := u.String()
	it, err := b.writeSpool(ctx, id, func(w io.Writer) error {
		if s.Write != nil {
			return s.Write(ctx, w)
		}
		return copyFile(w, s.Path)
	})
	it.Name, it.Path = call.CleanText(filepath.Base(s.Path), 255), s.Path
	if err != nil {
		return Added{Item: it}, err
	}
	duplicate := cmp.Or(s.Duplicate, b.policy().Duplicate)
	now := b.o.Now()
	it.ID, it.Intermediary, it.State, it.Added, it.NextTry, it.HasCopy = id, s.Intermediary, Waiting, now, now, true
	if !utf8.ValidString(it.Path) {
		it.Path = it.Name
	}
	if s.GiveUpAfter > 0 {
		it.Deadline = now.Add(s.GiveUpAfter)
	}
	a := Added{Item: it}
	err = b.tx(ctx, func(tx *sql.Tx) error {
		if s.Resume {
			same, err := itemsWhere(ctx, tx, sameFile+" AND (path = ? OR path = '' AND state = ?) AND moved = 0 ORDER BY path DESC, id DESC LIMIT 1",
				it.SHA256, it.Intermediary, it.Path, Uncertain)
			if err != nil {
				return err
			}
			if len(same) > 0 {
				a.Item = same[0]
				a.Item.Name, a.Item.Path, a.Item.Intermediary = it.Name, it.Path, it.Intermediary // fills in a recovered item
				return updateItem(ctx, tx, a.Item)
			}
		}
		if duplicate != DuplicateSend {
			same, found, err := duplicateOf(ctx, tx, it)
			if err != nil || found {
				a = Added{same, found}
				return err
			}
		}
		return insertItem(ctx, tx, it)
	})
	if err != nil || a.Item.ID != id {
		_ = b.removeCopy(id) // any remains are swept later
	}
	if err != nil {
		return Added{}, err
	}
	if a.Duplicate && duplicate == DuplicateRefuse {
		return a, ErrDuplicate
	}
	b.Wake()
	return a, nil
}

// sameFile selects items with the same contents for the same message box. A recovered
// item's box is unknown: it matches any.
const sameFile = "sha256 = ? AND intermediary IN (?, '')"

// duplicateOf returns another item with the same contents, for the same message
// box, that was or may yet be delivered. The given one must be refused or not stored
// yet. A refused file may be sent again: somebody may have fixed something.
func duplicateOf(ctx context.Context, tx *sql.Tx, it Item) (_ Item, found bool, err error) {
	same, err := itemsWhere(ctx, tx, sameFile+" AND state <> ? ORDER BY id LIMIT 1", it.SHA256, it.Intermediary, Refused)
	if err != nil || len(same) > 0 {
		return append(same, Item{})[0], len(same) > 0, err
	}
	past, err := pastItem(ctx, tx, it)
	if errors.Is(err, sql.ErrNoRows) {
		return Item{}, false, nil
	}
	return past, err == nil, err
}

// DryRun checks a file like Add, but keeps nothing. A generated file is stored in the folder
// temp meanwhile. check must not be nil. Its errors are those of Add.
func DryRun(ctx context.Context, s Source, temp string, check Check) (size int64, found []message.Finding, err error) {
	var f *os.File
	if s.Write == nil {
		f, _, err = openFile(s.Path)
	} else if f, err = os.CreateTemp(temp, "try-*.zip"); err != nil {
		err = troubleOf(err)
	} else {
		defer func() { _ = os.Remove(f.Name()) }()
		w := &spoolWriter{w: f, ctx: ctx, sum: sha256.New()}
		if err = s.Write(ctx, w); w.err != nil {
			err = asTrouble(ctx, w.err)
		}
	}
	if f == nil {
		return 0, nil, err
	}
	defer f.Close()
	if err != nil {
		return 0, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, nil, RefuseUnreadable(err)
	}
	if info.Size() == 0 {
		return 0, nil, errEmpty
	}
	found, err = check(ctx, f, info.Size())
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrRefused) {
		err = RefuseUnreadable(err)
	}
	return info.Size(), found, err
}

func openFile(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path) // before opening: opening a pipe would block
	if err != nil {
		return nil, nil, RefuseUnreadable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, RefuseUnreadable(err)
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, errNoFile
	}
	return f, info, nil
}

// copyFile copies a regular file that does not change meanwhile.
func copyFile(w io.Writer, path string) error {
	f, info, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return Copy(w, f, info)
}

// Copy copies an open file from its start to the writer of a Source, and refuses
// a file that does not match info, before or after reading.
func Copy(w io.Writer, f *os.File, info os.FileInfo) error {
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 256<<10))
	if err != nil {
		return RefuseUnreadable(err) // unless it is w's own, which w has recorded
	}
	after, err := f.Stat()
	if err != nil || n != info.Size() || after.Size() != n || !after.ModTime().Equal(info.ModTime()) {
		return RefuseChanged()
	}
	return nil
}

// RefuseUnreadable returns the RefusedError for a file that cannot be read, with the reason.
func RefuseUnreadable(err error) error {
	return refuse(CodeUnreadable, "the file cannot be read: %v", withoutPaths(err))
}

// RefuseChanged returns the RefusedError for a file that changed while it was read.
func RefuseChanged() error {
	return refuse(CodeChanged, "the file changed while it was read; try again when it is complete")
}

// Moved records that an item's file is no longer where it was added from: it
// was moved, removed or replaced. A later file of its name is a different file.
func (b *Outbox) Moved(ctx context.Context, id string) error {
	return b.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE items SET moved = 1 WHERE id = ?", id)
		return err
	})
}
