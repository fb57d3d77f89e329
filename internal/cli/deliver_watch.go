package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/outbox"
	"wiebelt/internal/text"
)

// How a folder is watched. It is looked at, not listened to: that also works for
// folders of other computers.
const (
	watchEvery = time.Second
	settled    = 2 * time.Second // a file that has not changed for so long is complete
)

// watched is a file in a folder that is watched.
type watched struct {
	size  int64
	mod   time.Time
	since time.Time // it has looked like this
	id    string    // of its item, once it is taken
	said  string    // what was last said about it
}

// watcher delivers what is put into a folder.
type watcher struct {
	*delivery
	dir   string
	files map[string]*watched // by name
	now   func() time.Time
	held  outbox.Reason // what was last said about the queue
	said  string        // and about the folder
}

// watch runs until the command is stopped.
func (r *delivery) watch() error {
	dir, err := filepath.Abs(r.cmd.Watch)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &exitError{exitUsage, "--watch: not a folder"}
	}
	ctx, cancel := context.WithCancel(r.e.ctx)
	defer cancel()
	worked := make(chan error, 1)
	go func() { worked <- r.b.Join(ctx, nil) }()
	fmt.Fprintln(r.e.err, r.p.lang.T(text.DeliveryWatching, dir))
	w := &watcher{delivery: r, dir: dir, files: map[string]*watched{}, now: time.Now}
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		if r.b.Gone() {
			// Whoever runs this as a service starts it again, and it begins anew: what
			// was not delivered still lies in the folder that is watched.
			cancel()
			<-worked
			return &exitError{exitFailed, r.p.lang.T(text.DeliveryWatchGone)}
		}
		w.look(ctx)
		w.queue(ctx)
		select {
		case <-ctx.Done():
			return <-worked
		case err := <-worked:
			return r.p.troubled(err)
		case <-t.C:
		}
	}
}

// look goes through the folder once.
func (w *watcher) look(ctx context.Context) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		if what := "the folder cannot be read: " + detailPath(err); w.said != what {
			w.said = what
			w.complain(what)
		}
		return
	}
	w.said = ""
	there := map[string]bool{}
	for _, x := range entries {
		if !isZIPName(x.Name()) || !x.Type().IsRegular() {
			continue
		}
		info, err := x.Info()
		if err != nil {
			continue // gone again
		}
		there[x.Name()] = true
		w.file(ctx, x.Name(), info)
		if ctx.Err() != nil {
			return
		}
	}
	for name := range w.files {
		if !there[name] {
			delete(w.files, name)
		}
	}
}

// file looks at one file: it is new, grows, is complete, waits or is decided.
func (w *watcher) file(ctx context.Context, name string, info fs.FileInfo) {
	f := w.files[name]
	now := w.now()
	if f == nil || f.size != info.Size() || !f.mod.Equal(info.ModTime()) || f.since.After(now) {
		w.files[name] = &watched{size: info.Size(), mod: info.ModTime(), since: now}
		return
	}
	if now.Sub(f.since) < settled {
		return
	}
	path := filepath.Join(w.dir, name)
	if f.id == "" {
		w.take(ctx, f, path)
		return
	}
	it, err := w.b.Get(ctx, f.id)
	switch {
	case errors.Is(err, outbox.ErrNoItem): // forgotten: as if it were new
		f.id = ""
	case err != nil:
		w.say(f, err.Error())
	case it.State == outbox.Delivered || it.State == outbox.Refused:
		w.decided(ctx, f, path, it)
	case it.State == outbox.Uncertain:
		w.say(f, w.p.lang.T(text.DeliveryState(string(it.State)))+": "+w.p.why(string(it.Reason), it.Status))
	}
}

// take puts a complete file into the outbox.
func (w *watcher) take(ctx context.Context, f *watched, path string) {
	a, err := w.b.Add(ctx, outbox.Source{Path: path, Intermediary: w.cmd.intermediary(w.p), GiveUpAfter: w.cmd.MaxAge, Resume: true})
	var refused *outbox.RefusedError
	switch {
	case ctx.Err() != nil:
	case err == nil && a.Duplicate && a.Item.State == outbox.Delivered:
		// The first one was delivered, under another name or at another time.
		d := deliverFile{File: path}
		d.take(a)
		w.move(ctx, f, path, "sent", &d, w.first(a.Item))
	case err == nil:
		f.id = a.Item.ID
	case errors.Is(err, outbox.ErrDuplicate):
		d := deliverFile{File: path}
		d.take(a)
		d.Outcome, d.Reason = string(outbox.Refused), "duplicate"
		w.move(ctx, f, path, "refused", &d, w.first(a.Item))
	case errors.As(err, &refused) && refused.Code != "changed" && refused.Code != "unreadable":
		d := deliverFile{File: path, Size: f.size}
		d.refuse(w.p, err)
		w.move(ctx, f, path, "refused", &d, d.Why)
	default: // later, perhaps
		w.say(f, w.p.troubled(err).Error())
	}
}

func (w *watcher) decided(ctx context.Context, f *watched, path string, it outbox.Item) {
	d := deliverFile{File: path}
	d.item(it)
	if it.State == outbox.Delivered {
		w.move(ctx, f, path, "sent", &d, "")
		return
	}
	why := d.words(w.p)
	if all, err := w.b.Receipts(ctx, it.ID); err == nil && len(all) > 0 {
		if said := all[len(all)-1].Body; said != "" {
			why += "\n" + said
		}
	}
	w.move(ctx, f, path, "refused", &d, why)
}

// move puts a file into the folder for its outcome, with the reason in a file
// beside it, and tells.
func (w *watcher) move(ctx context.Context, f *watched, path, where string, d *deliverFile, why string) {
	dir := filepath.Join(w.dir, where)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.say(f, detailPath(err))
		return
	}
	name := filepath.Base(path)
	free, err := freeName(dir, name)
	if err == nil && why != "" {
		err = os.WriteFile(filepath.Join(dir, free+".txt"), []byte(strings.TrimSpace(why)+"\n"), 0o600)
	}
	if err == nil {
		err = os.Rename(path, filepath.Join(dir, free))
	}
	if err != nil { // held open by another program, perhaps
		w.say(f, detailPath(err))
		return
	}
	if d.ID != "" && !d.Duplicate {
		if err := w.b.Moved(ctx, d.ID); err != nil {
			w.say(f, err.Error())
		}
	}
	delete(w.files, name)
	if w.cmd.JSON {
		_ = json.NewEncoder(w.e.out).Encode(d)
		return
	}
	if !isTerminal(w.e.out) { // a log
		name = cmp.Or(d.ID, "-")
	}
	fmt.Fprintf(w.e.out, "%s: %s\n", oneLine(name), oneLine(d.words(w.p)))
}

// freeName is a name that is not taken yet in a folder, made of name.
func freeName(dir, name string) (string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	free := name
	for n := 2; n < 100_000; n++ {
		if _, err := os.Lstat(filepath.Join(dir, free)); errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		free = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
	return "", errors.New("too many files of one name")
}

// say says something about a file, once.
func (w *watcher) say(f *watched, what string) {
	if f.said != what {
		f.said = what
		w.complain(what)
	}
}

func (w *watcher) complain(what string) { fmt.Fprintln(w.e.err, "wiebelt:", oneLine(what)) }

// queue says once that the queue is on hold, or that it is no more.
func (w *watcher) queue(ctx context.Context) {
	q, err := w.b.Queue(ctx)
	if err != nil || q.Held == w.held {
		return
	}
	if w.held = q.Held; q.Held != "" {
		w.complain(w.p.held(q.Held))
	}
}
