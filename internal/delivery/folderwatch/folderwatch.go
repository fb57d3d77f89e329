// Package folderwatch delivers the files put into a folder. Others may write to that folder
// at any time and with any intent: a file may be renamed, replaced, truncated or turned
// into a link between two of our steps.
//
// Therefore all access goes through one open folder (filetrust.Shared), so names lead
// nowhere else. A file counts once it has been the same file, with the same size and time,
// for a while. It is opened once and must still be that file; what is read from that handle
// is delivered. Then it is moved to "sent" or "refused", folders of our own that nobody
// else may write to, and checked again: if another file has taken its place meanwhile, that
// one is put back. The folder "sent" contains the lock that excludes a second watch.
//
// A Folder belongs to one goroutine and starts none.
package folderwatch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
)

// Names of the folders for moved files.
const (
	Sent    = "sent"
	Refused = "refused"
)

// truncatedWaitFactor is how many times longer the wait is for an empty
// or truncated file, which somebody may still be copying.
const truncatedWaitFactor = 30

// Errors of this package, in addition to those of package filetrust.
var (
	// ErrBusy reports that another watch has this folder.
	ErrBusy = errors.New("another program watches this folder")
	// ErrReplaced reports that the folder, sent or refused has been replaced
	// and must be reopened.
	ErrReplaced = errors.New("the folder was replaced")
)

// Outbox is the part of an outbox that a Folder uses; *outbox.Outbox implements it.
type Outbox interface {
	Add(context.Context, outbox.Source) (outbox.Added, error)
	Get(ctx context.Context, id string) (outbox.Item, error)
	Moved(ctx context.Context, id string) error
}

// Result is the outcome for a moved file.
type Result struct {
	Path      string
	Item      outbox.Item // without ID if the file was refused before it was accepted
	Duplicate bool        // Item was added earlier
	Err       error       // why it was not accepted
}

// File is a file in the folder.
type File struct {
	Name string
	Size int64
	Time time.Time
}

// Options configure the watch of a folder.
type Options struct {
	Dir      string
	Outbox   Outbox
	Source   outbox.Source // common to all files: Intermediary and GiveUpAfter
	Settle   time.Duration // how long a file must be unchanged
	Reporter Reporter
	Now      func() time.Time // nil is time.Now

	step func(string) // called before every step; for tests
}

// Reporter receives events.
type Reporter interface {
	// Note returns the content of the text file placed beside a moved file; "" for none.
	Note(context.Context, Result) string
	// Moved is called once for every moved file.
	Moved(Result)
	// Trouble is called once with what delays a file, or the folder (an empty File).
	Trouble(File, error)
}

// Folder is a watched folder.
type Folder struct {
	o           Options
	dir         *filetrust.Shared
	info        fs.FileInfo              // of dir
	results     map[string]*resultFolder // sent and refused
	lock        *os.File
	files       map[string]*file // by name
	lastTrouble string           // last trouble with the folder
}

type file struct {
	name        string
	info        fs.FileInfo
	since       time.Time // when it became this file
	waitUntil   time.Time // left alone until then, being incomplete
	id          string    // of its item, once accepted
	lastTrouble string    // last trouble reported
}

// Open opens a folder and takes its lock. Its errors are ErrBusy, those of package
// filetrust for sent, refused and the path to the folder, and the system's.
func Open(o Options) (_ *Folder, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	if err := filetrust.CheckParents(o.Dir); err != nil {
		return nil, err
	}
	dir, err := filetrust.OpenShared(o.Dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{o: o, dir: dir, results: map[string]*resultFolder{}, files: map[string]*file{}}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.info, err = dir.Root().Stat("."); err != nil {
		return nil, err
	}
	for _, name := range []string{Sent, Refused} {
		if f.results[name], err = newResultFolder(dir, f.info, name); err != nil {
			return nil, err
		}
	}
	f.lock, err = f.results[Sent].lock()
	return f, err
}

// Close releases the folder.
func (f *Folder) Close() {
	if f.lock != nil {
		_ = f.lock.Close() // releases the lock too
	}
	for _, p := range f.results {
		if p != nil {
			_ = p.Close()
		}
	}
	_ = f.dir.Close()
}

// Scan checks the folder once. It returns ErrReplaced if the folder has to be reopened, and
// the context's error; everything else goes to Reporter.
func (f *Folder) Scan(ctx context.Context) error {
	if err := f.checkFolders(); err != nil {
		return err
	}
	f.o.step("list")
	there, err := f.dir.List()
	if err != nil {
		if f.lastTrouble != err.Error() {
			f.lastTrouble = err.Error()
			f.o.Reporter.Trouble(File{}, err)
		}
		return nil
	}
	f.lastTrouble = ""
	seen := map[string]bool{}
	for _, e := range there {
		name := e.Name()
		if !IsZIP(name) {
			continue
		}
		f.o.step("look")
		info, err := f.dir.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		seen[name] = true
		f.scanFile(ctx, name, info)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for name, x := range f.files {
		if !seen[name] {
			f.forget(ctx, x)
		}
	}
	return nil
}

// IsZIP reports whether a file of this name is
// delivered: a ZIP whose name does not start with a dot.
func IsZIP(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".zip") && !strings.HasPrefix(name, ".")
}

// ZIPs returns the paths of the ZIP files directly in a folder, ordered by name. Links are
// omitted: they may lead to files that their creator cannot read.
func ZIPs(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if IsZIP(e.Name()) && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// checkFolders verifies that the folders are still the opened ones: files put into a
// replacement would never be seen, or end up elsewhere.
func (f *Folder) checkFolders() error {
	info, err := os.Stat(f.o.Dir)
	if err != nil || !os.SameFile(info, f.info) {
		return ErrReplaced
	}
	for name, p := range f.results {
		if info, err := f.dir.Lstat(name); err != nil || !os.SameFile(info, p.info) {
			return ErrReplaced
		}
	}
	return nil
}

// forget forgets a file that is no longer there: a later one of the same name is a different file.
func (f *Folder) forget(ctx context.Context, x *file) {
	delete(f.files, x.name)
	if x.id != "" {
		if err := f.o.Outbox.Moved(ctx, x.id); err != nil {
			f.report(x, err)
		}
	}
}

// scanFile processes one file: new, growing, complete, waiting or decided.
func (f *Folder) scanFile(ctx context.Context, name string, info fs.FileInfo) {
	now := f.o.Now()
	x := f.files[name]
	if x != nil && !filetrust.Same(x.info, info) {
		f.forget(ctx, x)
		x = nil
	}
	if x == nil || x.since.After(now) {
		f.files[name] = &file{name: name, info: info, since: now}
		return
	}
	if now.Sub(x.since) < f.o.Settle || now.Before(x.waitUntil) {
		return
	}
	if x.id == "" {
		f.add(ctx, x)
		return
	}
	it, err := f.o.Outbox.Get(ctx, x.id)
	switch {
	case errors.Is(err, outbox.ErrNoItem): // forgotten: treat it as new
		x.id = ""
	case err != nil:
		f.report(x, err)
	case it.State == outbox.Delivered:
		f.move(ctx, x, Sent, Result{Item: it})
	case it.State == outbox.Refused:
		f.move(ctx, x, Refused, Result{Item: it})
	case it.State == outbox.Uncertain:
		f.report(x, &UncertainError{it})
	}
}

// UncertainError reports a file that stays because it may have been delivered.
type UncertainError struct{ Item outbox.Item }

func (u *UncertainError) Error() string { return "maybe delivered: " + u.Item.ID }

func (f *Folder) add(ctx context.Context, x *file) {
	s := f.o.Source
	s.Path, s.Resume = filepath.Join(f.o.Dir, x.name), true
	s.Write = func(_ context.Context, w io.Writer) error { return f.read(w, x) }
	a, err := f.o.Outbox.Add(ctx, s)
	r := Result{Item: a.Item, Duplicate: a.Duplicate, Err: err}
	var refused *outbox.RefusedError
	switch {
	case ctx.Err() != nil, errors.Is(err, fs.ErrNotExist):
	case err == nil && a.Duplicate && a.Item.State == outbox.Delivered:
		// An earlier copy was delivered, under another name or at another time.
		f.move(ctx, x, Sent, r)
	case err == nil:
		x.id = a.Item.ID
	case errors.Is(err, outbox.ErrDuplicate):
		f.move(ctx, x, Refused, r)
	case errors.As(err, &refused) && f.mayBeIncomplete(x, refused.Code):
		x.waitUntil = x.since.Add(truncatedWaitFactor * f.o.Settle)
	case errors.As(err, &refused) && refused.Code != outbox.CodeChanged && refused.Code != outbox.CodeUnreadable:
		f.move(ctx, x, Refused, r)
	default: // retried at the next scan
		f.report(x, err)
	}
}

// mayBeIncomplete reports whether a file may merely be incomplete.
func (f *Folder) mayBeIncomplete(x *file, code string) bool {
	unfinished := []string{outbox.CodeEmpty, string(message.EmptyFile), string(message.Truncated)}
	return slices.Contains(unfinished, code) && f.o.Now().Sub(x.since) < truncatedWaitFactor*f.o.Settle
}

// read copies a file if it is still the one checked before.
func (f *Folder) read(w io.Writer, x *file) error {
	f.o.step("open")
	in, info, err := f.dir.Open(x.name)
	var unfit *filetrust.Error
	switch {
	case errors.Is(err, filetrust.ErrChanged):
		return outbox.RefuseChanged()
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &unfit):
		return err
	case err != nil:
		return outbox.RefuseUnreadable(err)
	}
	defer in.Close()
	f.o.step("opened")
	if !filetrust.Same(info, x.info) {
		return outbox.RefuseChanged()
	}
	f.o.step("read")
	return outbox.Copy(w, in, info)
}

// move moves a file to the folder for its outcome, with the reason in a text file
// beside it, and reports it.
func (f *Folder) move(ctx context.Context, x *file, where string, r Result) {
	r.Path = filepath.Join(f.o.Dir, x.name)
	to := f.results[where]
	free, err := to.freeName(x.name)
	if err == nil {
		if note := f.o.Reporter.Note(ctx, r); note != "" {
			f.o.step("note")
			err = to.write(free+".txt", strings.TrimSpace(note)+"\n")
		}
	}
	if err == nil {
		f.o.step("move")
		err = f.dir.Move(x.name, x.info, to.Shared, free)
		f.o.step("moved")
	}
	if err != nil {
		_ = to.Root().Remove(free + ".txt") // the note, if any
		f.report(x, err)                    // perhaps held open by another program
		return
	}
	if r.Item.ID != "" && !r.Duplicate {
		if err := f.o.Outbox.Moved(ctx, r.Item.ID); err != nil {
			f.report(x, err)
		}
	}
	delete(f.files, x.name)
	f.o.Reporter.Moved(r)
}

// report reports, once, what keeps a file waiting.
func (f *Folder) report(x *file, err error) {
	if x.lastTrouble != err.Error() {
		x.lastTrouble = err.Error()
		f.o.Reporter.Trouble(File{x.name, x.info.Size(), x.info.ModTime()}, err)
	}
}
