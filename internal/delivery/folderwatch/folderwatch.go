// Package folderwatch delivers what is put into a folder. Others may write into that
// folder, at any moment and with any intent: whatever lies there may be renamed,
// replaced, shortened or made a link between two of our steps.
//
// So everything goes through one open folder (filetrust.Shared): names lead nowhere
// else. A file counts once it has stayed the same file, of the same size and time,
// for a while. It is opened once and must still be that file; what is read from
// that opening is what is delivered. Then it is moved to "sent" or "refused",
// which are folders of our own that nobody else may write, and looked at again:
// where another file took its place meanwhile, that one is put back. The folder
// "sent" holds the lock that keeps a second watch away.
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

// Names of the folders that files are moved to.
const (
	Sent    = "sent"
	Refused = "refused"
)

// cutOffTimes is how many times longer than others a file must stay the same that
// is empty or lacks its end: somebody may still be copying it.
const cutOffTimes = 30

// Errors of this package, besides those of package filetrust.
var (
	// ErrBusy: another watch has this folder.
	ErrBusy = errors.New("another program watches this folder")
	// ErrReplaced: the folder, sent or refused is another one than was opened. It
	// has to be opened anew.
	ErrReplaced = errors.New("the folder was replaced")
)

// Box is what a Folder needs of an outbox; *outbox.Outbox is one.
type Box interface {
	Add(context.Context, outbox.Source) (outbox.Added, error)
	Get(ctx context.Context, id string) (outbox.Item, error)
	Moved(ctx context.Context, id string) error
}

// Result is what became of a file that was moved.
type Result struct {
	Path      string
	Item      outbox.Item // without an id if it was refused before it was taken
	Duplicate bool        // Item is an earlier one
	Err       error       // why it was not taken
}

// File is a file as it lies in the folder.
type File struct {
	Name string
	Size int64
	Time time.Time
}

// Options say how a folder is watched.
type Options struct {
	Dir    string
	Box    Box
	Source outbox.Source // what all files have in common: Intermediary and GiveUpAfter
	Settle time.Duration // a file counts that stayed the same for so long
	Words  Words
	Now    func() time.Time // nil is time.Now

	step func(string) // is told before every step; for tests
}

// Words are told what happens.
type Words interface {
	// Note is what is written into a text file beside a file that is moved; "" for
	// none.
	Note(context.Context, Result) string
	// Moved is told once for every file that was moved.
	Moved(Result)
	// Trouble is told once what keeps a file, or the folder (an empty File), waiting.
	Trouble(File, error)
}

// Folder is a folder that is watched.
type Folder struct {
	o     Options
	dir   *filetrust.Shared
	info  fs.FileInfo       // of dir
	own   map[string]*place // sent and refused
	lock  *os.File
	files map[string]*file // by name
	said  string           // about the folder
}

// file is what is known of a file in the folder.
type file struct {
	name  string
	info  fs.FileInfo
	since time.Time // it has been this file
	until time.Time // it lacks its end, and is left alone until then
	id    string    // of its item, once it is taken
	said  string    // what was last said about it
}

// Open opens a folder and takes its lock. Its errors are ErrBusy, those of
// package filetrust for sent, refused and the way to the folder, and the system's.
func Open(o Options) (_ *Folder, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	if err := filetrust.Parents(o.Dir); err != nil {
		return nil, err
	}
	dir, err := filetrust.OpenShared(o.Dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{o: o, dir: dir, own: map[string]*place{}, files: map[string]*file{}}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.info, err = dir.Root().Stat("."); err != nil {
		return nil, err
	}
	for _, name := range []string{Sent, Refused} {
		if f.own[name], err = newPlace(dir, f.info, name); err != nil {
			return nil, err
		}
	}
	f.lock, err = f.own[Sent].lock()
	return f, err
}

// Close gives the folder free.
func (f *Folder) Close() {
	if f.lock != nil {
		_ = f.lock.Close() // the lock goes with it
	}
	for _, p := range f.own {
		if p != nil {
			_ = p.Close()
		}
	}
	_ = f.dir.Close()
}

// Look goes through the folder once. It gives ErrReplaced if the folder has to be
// opened anew, and the context's error; all else is told to Words.
func (f *Folder) Look(ctx context.Context) error {
	if err := f.same(); err != nil {
		return err
	}
	f.o.step("list")
	there, err := f.dir.List()
	if err != nil {
		if f.said != err.Error() {
			f.said = err.Error()
			f.o.Words.Trouble(File{}, err)
		}
		return nil
	}
	f.said = ""
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
		f.look(ctx, name, info)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for name, x := range f.files {
		if !seen[name] {
			f.gone(ctx, x)
		}
	}
	return nil
}

// IsZIP reports whether a file in a folder counts by its name.
func IsZIP(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".zip") && !strings.HasPrefix(name, ".")
}

// ZIPs are the paths of the ZIP files that lie directly in a folder, in the order of
// their names. Links may lead to files that whoever put them there cannot read: they
// are left out.
func ZIPs(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if IsZIP(e.Name()) && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// same makes sure that the folders are those that were opened: what is put into
// another one of their name would never be seen, or would go elsewhere.
func (f *Folder) same() error {
	info, err := os.Stat(f.o.Dir)
	if err != nil || !os.SameFile(info, f.info) {
		return ErrReplaced
	}
	for name, p := range f.own {
		if info, err := f.dir.Lstat(name); err != nil || !os.SameFile(info, p.info) {
			return ErrReplaced
		}
	}
	return nil
}

// gone forgets a file that lies there no more: another one of its name is another
// file.
func (f *Folder) gone(ctx context.Context, x *file) {
	delete(f.files, x.name)
	if x.id != "" {
		if err := f.o.Box.Moved(ctx, x.id); err != nil {
			f.say(x, err)
		}
	}
}

// look looks at one file: it is new, grows, is complete, waits or is decided.
func (f *Folder) look(ctx context.Context, name string, info fs.FileInfo) {
	now := f.o.Now()
	x := f.files[name]
	if x != nil && !filetrust.Same(x.info, info) {
		f.gone(ctx, x)
		x = nil
	}
	if x == nil || x.since.After(now) {
		f.files[name] = &file{name: name, info: info, since: now}
		return
	}
	if now.Sub(x.since) < f.o.Settle || now.Before(x.until) {
		return
	}
	if x.id == "" {
		f.take(ctx, x)
		return
	}
	it, err := f.o.Box.Get(ctx, x.id)
	switch {
	case errors.Is(err, outbox.ErrNoItem): // forgotten: as if it were new
		x.id = ""
	case err != nil:
		f.say(x, err)
	case it.State == outbox.Delivered:
		f.move(ctx, x, Sent, Result{Item: it})
	case it.State == outbox.Refused:
		f.move(ctx, x, Refused, Result{Item: it})
	case it.State == outbox.Uncertain:
		f.say(x, &Uncertain{it})
	}
}

// Uncertain is what keeps a file waiting that is maybe delivered.
type Uncertain struct{ Item outbox.Item }

func (u *Uncertain) Error() string { return "maybe delivered: " + u.Item.ID }

// take puts a complete file into the outbox.
func (f *Folder) take(ctx context.Context, x *file) {
	s := f.o.Source
	s.Path, s.Resume = filepath.Join(f.o.Dir, x.name), true
	s.Write = func(_ context.Context, w io.Writer) error { return f.read(w, x) }
	a, err := f.o.Box.Add(ctx, s)
	r := Result{Item: a.Item, Duplicate: a.Duplicate, Err: err}
	var refused *outbox.RefusedError
	switch {
	case ctx.Err() != nil, errors.Is(err, fs.ErrNotExist):
	case err == nil && a.Duplicate && a.Item.State == outbox.Delivered:
		// The first one was delivered, under another name or at another time.
		f.move(ctx, x, Sent, r)
	case err == nil:
		x.id = a.Item.ID
	case errors.Is(err, outbox.ErrDuplicate):
		f.move(ctx, x, Refused, r)
	case errors.As(err, &refused) && f.growing(x, refused.Code):
		x.until = x.since.Add(cutOffTimes * f.o.Settle)
	case errors.As(err, &refused) && refused.Code != outbox.CodeChanged && refused.Code != outbox.CodeUnreadable:
		f.move(ctx, x, Refused, r)
	default: // later, perhaps
		f.say(x, err)
	}
}

// growing reports whether a file may just not be complete yet.
func (f *Folder) growing(x *file, code string) bool {
	unfinished := []string{outbox.CodeEmpty, string(message.EmptyFile), string(message.CutOff)}
	return slices.Contains(unfinished, code) && f.o.Now().Sub(x.since) < cutOffTimes*f.o.Settle
}

// read copies a file that is still the one that was looked at.
func (f *Folder) read(w io.Writer, x *file) error {
	f.o.step("open")
	in, info, err := f.dir.Open(x.name)
	var unfit *filetrust.Error
	switch {
	case errors.Is(err, filetrust.ErrChanged):
		return outbox.Changed()
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &unfit):
		return err
	case err != nil:
		return outbox.Unreadable(err)
	}
	defer in.Close()
	f.o.step("opened")
	if !filetrust.Same(info, x.info) {
		return outbox.Changed()
	}
	f.o.step("read")
	return outbox.Copy(w, in, info)
}

// move puts a file into the folder for its outcome, with the reason in a text
// file beside it, and tells.
func (f *Folder) move(ctx context.Context, x *file, where string, r Result) {
	r.Path = filepath.Join(f.o.Dir, x.name)
	to := f.own[where]
	free, err := to.free(x.name)
	note := ""
	if err == nil {
		if note = f.o.Words.Note(ctx, r); note != "" {
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
		if note != "" {
			_ = to.Root().Remove(free + ".txt")
		}
		f.say(x, err) // held open by another program, perhaps
		return
	}
	if r.Item.ID != "" && !r.Duplicate {
		if err := f.o.Box.Moved(ctx, r.Item.ID); err != nil {
			f.say(x, err)
		}
	}
	delete(f.files, x.name)
	f.o.Words.Moved(r)
}

// say tells what keeps a file waiting, once.
func (f *Folder) say(x *file, err error) {
	if x.said != err.Error() {
		x.said = err.Error()
		f.o.Words.Trouble(File{x.name, x.info.Size(), x.info.ModTime()}, err)
	}
}
