package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/folderwatch"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/resident/programfile"
	"wiebelt/internal/text"
)

// watchEvery is how often a folder is checked. Polling, unlike notifications, also
// works for network folders.
const watchEvery = time.Second

// watcher reports what happens to the files in a watched folder.
type watcher struct {
	*delivery
	lastHold      outbox.Reason // what was last said about the queue
	openError     string        // and about opening the folder
	settingsStamp string        // of the settings in effect
	absent        bool          // their file, or the policy, was missing a tick ago
}

// watch runs until the command is stopped.
func (r *delivery) watch() error {
	dir, err := filepath.Abs(r.cmd.Watch)
	if err != nil {
		return err
	}
	w := &watcher{delivery: r}
	w.settingsStamp = w.fingerprint()
	open := func() (*folderwatch.Folder, error) {
		return folderwatch.Open(folderwatch.Options{Dir: dir, Outbox: r.b, Settle: r.p.s.Delivery.Settle, Reporter: w,
			Source: outbox.Source{Intermediary: r.cmd.intermediary(r.p), GiveUpAfter: r.cmd.MaxAge}})
	}
	folder, err := open()
	if err != nil {
		return usageError(text.DeliveryWatchOpen, w.folderReason(dir, err))
	}
	defer func() {
		if folder != nil {
			folder.Close()
		}
	}()
	ctx, cancel := context.WithCancel(r.e.ctx)
	defer cancel()
	stop, worked := make(chan struct{}), make(chan error, 1)
	go func() { worked <- r.b.WorkWhenFree(ctx, stop) }()
	program := programfile.New()
	newer := w.newerVersion(ctx, program)
	fmt.Fprintln(r.e.err, r.p.lang.T(text.DeliveryWatching, dir))
	tick := time.Tick(watchEvery)
	for {
		program.TriggerCheck()
		if r.b.Gone() {
			// A service manager restarts the command from scratch: what was not delivered
			// is still in the watched folder.
			cancel()
			<-worked
			return exitError(exitFailed, text.DeliveryWatchGone)
		}
		if w.applySettings(ctx) && folder != nil {
			folder.Close()
			folder = nil
		}
		if folder == nil {
			if folder, err = open(); err == nil {
				w.openError = ""
			} else if what := r.p.lang.T(text.DeliveryWatchOpen, w.folderReason(dir, err)); w.openError != what {
				w.openError = what
				w.printError(what)
			}
		}
		if folder != nil {
			if err := folder.Scan(ctx); errors.Is(err, folderwatch.ErrReplaced) {
				folder.Close()
				folder = nil
				w.printError(w.reason(err))
			}
		}
		w.reportHold(ctx)
		select {
		case <-ctx.Done():
			return <-worked
		case err := <-worked:
			return r.p.troubleError(err)
		case <-newer:
			close(stop) // what is being sent is finished
			if err := <-worked; ctx.Err() != nil {
				return err // stopped meanwhile
			}
			return errNewer
		case <-tick:
		}
	}
}

// errNewer means that another version of the program is on disk, which is to take our place.
var errNewer = errors.New("replaced")

// newerVersion returns a channel that is closed when another version is on disk. On Windows, where
// a running program is not replaced, that never happens.
func (w *watcher) newerVersion(ctx context.Context, program *programfile.Watcher) <-chan struct{} {
	found := make(chan struct{})
	if runtime.GOOS != "windows" {
		go func() {
			idle := func() bool { return false }
			unusable := func(err error) {
				w.printError(w.p.lang.T(text.DeliveryBadVersion, filetrust.WithoutPath(err).Error()))
			}
			if program.WaitForUpdate(ctx, w.e.build.Version, w.e.build.Commit, idle, unusable) {
				close(found)
			}
		}()
	}
	return found
}

// runNewest runs the newest version of the program in place of this one.
func runNewest() error {
	exe, err := newestProgram()
	if err == nil {
		err = syscall.Exec(exe, os.Args, os.Environ())
	}
	return err
}

// fingerprint changes when the settings do.
func (w *watcher) fingerprint() string {
	return settings.Fingerprint(w.p.dirs, w.p.s.Hub.ExtraCAFile)
}

// applySettings applies changed settings, and releases a queue that
// the old ones may have held: a service runs for months. While their file is being
// replaced or cannot be read, the old ones stay: the defaults may delete copies.
func (w *watcher) applySettings(ctx context.Context) bool {
	now := w.fingerprint()
	same := now == w.settingsStamp
	if same && !w.p.s.Unreadable() {
		w.absent = false
		return false
	}
	next, absent := w.p.s.Reload(w.p.dirs, w.absent)
	if w.absent = absent; absent || same && reflect.DeepEqual(next, w.p.s) {
		return false
	}
	w.settingsStamp, w.p.s = now, next
	w.e.printProblems(next)
	w.hub.Store(&w.p.s.Hub)
	w.senders.Renew()
	w.b.Configure(w.cmd.policy(w.p))
	if q, err := w.b.Queue(ctx); err == nil && q.HoldReason != "" {
		_ = w.b.Release(ctx) // else it is tried again later
	}
	return true
}

// Note implements folderwatch.Reporter.
func (w *watcher) Note(ctx context.Context, r folderwatch.Result) string {
	if r.Duplicate {
		return w.duplicateText(r.Item)
	}
	if r.Err == nil && r.Item.State == outbox.Delivered {
		return ""
	}
	f := w.file(r)
	if r.Err != nil {
		return f.Why
	}
	why := f.text(w.p)
	if all, err := w.b.Receipts(ctx, r.Item.ID); err == nil && len(all) > 0 {
		if said := all[len(all)-1].Body; said != "" {
			why += "\n" + said
		}
	}
	return why
}

// Moved implements folderwatch.Reporter.
func (w *watcher) Moved(r folderwatch.Result) {
	f := w.file(r)
	if w.cmd.JSON {
		_ = w.e.printJSON(f)
		return
	}
	what := f.text(w.p)
	if r.Duplicate && f.Why == "" {
		what = w.duplicateText(r.Item)
	}
	fmt.Fprintf(w.e.out, "%s: %s\n", w.displayName(filepath.Base(r.Path), r.Item), oneLine(what))
}

// Trouble implements folderwatch.Reporter.
func (w *watcher) Trouble(f folderwatch.File, err error) {
	what := w.reason(err)
	if f.Name == "" {
		w.printError(w.p.lang.T(text.DeliveryWatchList, what))
		return
	}
	if u, ok := errors.AsType[*folderwatch.UncertainError](err); ok {
		w.printError(w.displayName(f.Name, u.Item) + ": " + what)
		return
	}
	name := oneLine(f.Name)
	if !isTerminal(w.e.err) { // a log
		name = w.p.lang.T(text.DeliveryWatchFile, f.Size, f.Time.Local().Format("02-01-2006 15:04:05"))
	}
	w.printError(name + ": " + what)
}

// displayName is the name of a file in a line: its file name on a terminal; its id and
// checksum in a log, which must not contain names of people.
func (w *watcher) displayName(name string, it outbox.Item) string {
	if isTerminal(w.e.out) {
		return oneLine(name)
	}
	return cmp.Or(it.ID, "-") + " " + cmp.Or(it.SHA256, "-")
}

func (w *watcher) file(r folderwatch.Result) *deliverFile {
	f := &deliverFile{File: r.Path}
	f.setAdded(outbox.Added{Item: r.Item, Duplicate: r.Duplicate})
	switch {
	case errors.Is(r.Err, outbox.ErrDuplicate):
		f.Outcome, f.Reason, f.Why = string(outbox.Refused), "duplicate", w.duplicateText(r.Item)
	case r.Err != nil:
		f.refuse(w.p, r.Err)
	}
	return f
}

// reason explains why a file or folder is waiting.
func (w *watcher) reason(err error) string {
	var u *folderwatch.UncertainError
	var refused *outbox.RefusedError
	var t *outbox.Trouble
	switch {
	case errors.Is(err, folderwatch.ErrBusy):
		return w.p.lang.T(text.DeliveryWatchBusy)
	case errors.Is(err, folderwatch.ErrReplaced):
		return w.p.lang.T(text.DeliveryWatchNew)
	case errors.Is(err, filetrust.ErrChanged):
		return w.p.lang.T(text.DeliveryReason(outbox.CodeChanged))
	case errors.Is(err, filetrust.ErrUntrusted):
		return w.p.lang.T(text.DeliveryWatchUnfit)
	case errors.As(err, &u):
		return w.p.lang.T(text.DeliveryState(string(u.Item.State))) + ": " + w.p.reasonText(string(u.Item.Reason), u.Item.Status)
	case errors.As(err, &refused):
		return cmp.Or(explainCode(w.p.lang, refused.Code), refused.Why)
	case errors.As(err, &t):
		return w.p.lang.DeliveryTrouble(t.Kind)
	}
	return w.p.lang.Error(err)
}

// folderReason explains why a folder cannot be watched.
func (w *watcher) folderReason(dir string, err error) string {
	var e *filetrust.Error
	if !errors.As(err, &e) {
		return w.reason(err)
	}
	if e.Path == filepath.Join(dir, folderwatch.Sent) || e.Path == filepath.Join(dir, folderwatch.Refused) {
		return w.p.lang.T(text.DeliveryWatchOwn, e.Path)
	}
	return w.p.lang.T(text.DeliveryWatchUp, e.Path)
}

func (w *watcher) printError(what string) { fmt.Fprintln(w.e.err, "wiebelt:", oneLine(what)) }

// reportHold reports once that the queue is on hold, or no longer is.
func (w *watcher) reportHold(ctx context.Context) {
	q, err := w.b.Queue(ctx)
	if err != nil || q.HoldReason == w.lastHold {
		return
	}
	if w.lastHold = q.HoldReason; q.HoldReason != "" {
		w.printError(w.p.holdText(q.HoldReason))
	}
}
