package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/delivery/message"
	"wiebelt/internal/filetrust"
)

// files is the part of a file system that the spool uses; tests replace
// it with one that fails.
type files interface {
	Create(path string) (file, error) // new, private
	Open(path string) (file, error)
	Rename(from, to string) error
	Remove(path string) error
	MkdirAll(path string) error
	SyncDir(path string) error
	Stat(path string) (fs.FileInfo, error)
	ReadDir(path string) ([]fs.DirEntry, error)
}

type file interface {
	io.ReadWriteCloser
	io.ReaderAt
	Sync() error
}

type disk struct{}

func (disk) Create(path string) (file, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}
func (disk) Open(path string) (file, error) { return os.Open(path) }
func (disk) Rename(from, to string) error {
	return profile.RetryBusy(func() error { return os.Rename(from, to) })
}
func (disk) Remove(path string) error {
	return profile.RetryBusy(func() error { return os.Remove(path) })
}
func (disk) Stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// MkdirAll creates a private folder; an existing one of ours is made private.
func (disk) MkdirAll(path string) error { return filetrust.Make(path, filetrust.Private) }

func (disk) SyncDir(path string) error { return filetrust.SyncDir(path) }

// castagnoli creates the table when first needed, not at every program start.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// writeSpool writes the output of write to the spool under an ID, checks it
// with Options.Check, and returns once it is on disk. After an error nothing
// of it remains, but a file refused by the check still has its checksum.
func (b *Outbox) writeSpool(ctx context.Context, id string, write func(io.Writer) error) (it Item, err error) {
	if err := b.o.fs.MkdirAll(b.spoolDir()); err != nil {
		return it, troubleOf(err)
	}
	part := filepath.Join(b.spoolDir(), id+".part")
	f, err := b.o.fs.Create(part)
	if err != nil {
		return it, troubleOf(err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // often already closed
			_ = b.o.fs.Remove(part)
		}
	}()
	w := &spoolWriter{w: f, ctx: ctx, sum: sha256.New()}
	if err := write(w); err != nil {
		if w.err != nil {
			err = asTrouble(ctx, w.err)
		}
		return it, err
	}
	if w.n == 0 {
		return it, errEmpty
	}
	it = w.item()
	if b.o.Check != nil {
		var found []message.Finding
		if found, err = b.o.Check(ctx, f, w.n); err != nil {
			return it, err
		}
		it.packedFindings = pack(found)
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return it, troubleOf(err)
	}
	if err = b.o.fs.Rename(part, b.spoolPath(id)); err != nil {
		return it, troubleOf(err)
	}
	if err = b.o.fs.SyncDir(b.spoolDir()); err != nil {
		_ = b.o.fs.Remove(b.spoolPath(id))
		return it, troubleOf(err)
	}
	return it, nil
}

// spoolWriter writes to the spool until ctx ends; err is its error, not the source's.
type spoolWriter struct {
	w   io.Writer
	ctx context.Context
	sum hash.Hash
	crc uint32
	n   int64
	err error
}

func (c *spoolWriter) Write(p []byte) (n int, err error) {
	if err = c.ctx.Err(); err == nil {
		n, err = c.w.Write(p)
	}
	_, _ = c.sum.Write(p[:n]) // never fails
	c.crc = crc32.Update(c.crc, castagnoli(), p[:n])
	c.n += int64(n)
	c.err = cmp.Or(c.err, err)
	return n, err
}

func (c *spoolWriter) item() Item {
	return Item{SHA256: hex.EncodeToString(c.sum.Sum(nil)), crc: c.crc, Size: c.n}
}

// upload is an item being sent: its copy, opened as often as the hub's client needs it.
type upload struct {
	b         *Outbox
	ctx       context.Context
	id        string
	crc       uint32
	size      int64
	fullyRead atomic.Bool // the client was given all of it the last time
}

// Open opens the copy from its first byte.
func (p *upload) Open() (io.ReadCloser, error) {
	if p.fullyRead.Swap(false) { // a retry, after an expired token
		if err := p.b.setFullyRead(p.ctx, p.id, false); err != nil {
			return nil, err
		}
	}
	f, err := p.b.o.fs.Open(p.b.spoolPath(p.id))
	if err != nil {
		if isMissing(err) {
			return nil, errMissing
		}
		return nil, err
	}
	return &copyReader{p: p, f: f}, nil
}

// copyReader reads a copy. Its end is the point of no return: the hub's
// client reads it before sending the last piece. It is returned only if the
// copy is intact and the database has recorded that this point is reached.
type copyReader struct {
	p   *upload
	f   file
	crc uint32
	n   int64
}

func (o *copyReader) Read(b []byte) (int, error) {
	n, err := o.f.Read(b)
	o.crc = crc32.Update(o.crc, castagnoli(), b[:n])
	o.n += int64(n)
	if n > 0 && o.p.b.o.Progress != nil {
		o.p.b.o.Progress(o.p.id, o.n, o.p.size)
	}
	if err != io.EOF || n > 0 {
		if err == io.EOF {
			err = nil // on the next read
		}
		return n, err
	}
	if o.n != o.p.size || o.crc != o.p.crc {
		return 0, errDamaged
	}
	if !o.p.fullyRead.Load() {
		if err := o.p.b.setFullyRead(o.p.ctx, o.p.id, true); err != nil {
			return 0, err
		}
		o.p.fullyRead.Store(true)
	}
	return 0, io.EOF
}

func (o *copyReader) Close() error { return o.f.Close() }

// removeCopy removes an item's copy. A missing one is no error.
func (b *Outbox) removeCopy(id string) error {
	if err := b.o.fs.Remove(b.spoolPath(id)); err != nil && !isMissing(err) {
		return troubleOf(err)
	}
	return nil
}

// Codes of a RefusedError, in addition to those of Options.Check.
const (
	CodeEmpty      = "empty"
	CodeChanged    = "changed"
	CodeNoFile     = "not_a_file"
	CodeUnreadable = "unreadable"
)

// RefusedError is an ErrRefused with its reason.
type RefusedError struct {
	Code     string // stable
	Why      string
	Findings []message.Finding // of Options.Check
}

func (e *RefusedError) Error() string        { return e.Why }
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

var (
	errEmpty  = refuse(CodeEmpty, "the file is empty")
	errNoFile = refuse(CodeNoFile, "not a file")
)

func refuse(code, why string, args ...any) error {
	return &RefusedError{Code: code, Why: fmt.Sprintf(why, args...)}
}
