package instance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/filetrust"
)

// retryAfter is the first pause before a file that could not be read or removed is
// retried; it doubles each time.
const retryAfter = 200 * time.Millisecond

// Names of files in the inbox.
const (
	tempPrefix = "new-"  // being written
	callSuffix = ".call" // complete
)

func inboxDir(cfg Config) string { return filepath.Join(cfg.RunDir, "inbox") }

// receiver passes calls to the resident, one at a time and each once, however it arrived.
type receiver struct {
	h               Handler
	mu              sync.Mutex
	recentHandOvers [256]string // of the newest hand-overs, a ring buffer
	next            int
}

// errResidentEnding: the resident is ending; the call is for the next one.
var errResidentEnding = errors.New("not now")

func (r *receiver) receive(raw []byte) error {
	e, handOverID, err := decodeEvent(raw)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if handOverID != "" && slices.Contains(r.recentHandOvers[:], handOverID) {
		return nil
	}
	if err := r.h.Ring(e); err != nil {
		return errResidentEnding
	}
	r.recentHandOvers[r.next] = handOverID
	r.next = (r.next + 1) % len(r.recentHandOvers)
	return nil
}

// inbox takes calls stored while no Wiebelt answered.
type inbox struct {
	cfg      Config
	dir      string
	receiver *receiver
	readFile func(path string) ([]byte, error) // readCall, except in tests
	wake     chan struct{}                     // triggers a read
	mu       sync.Mutex                        // held while reading
}

func newInbox(cfg Config, t *receiver) *inbox {
	return &inbox{cfg: cfg, dir: inboxDir(cfg), receiver: t, readFile: readCall, wake: make(chan struct{}, 1)}
}

// watch reads the inbox at once and whenever a file appears. If the folder is removed, it
// calls reacquire until that has made it anew.
func (b *inbox) watch(ctx context.Context, reacquire func() bool) {
	var appeared chan fsnotify.Event
	w, err := fsnotify.NewWatcher()
	if err == nil {
		var reading sync.WaitGroup
		reading.Go(func() { // on Windows the watcher closes only once errors are read
			for range w.Errors { // more files than can be reported individually
				wake.Up(b.wake)
			}
		})
		defer reading.Wait()
		defer w.Close()
		if err = w.Add(b.dir); err == nil {
			appeared = w.Events
		}
	}
	if appeared == nil {
		b.cfg.log().Warn("the inbox is not watched; it is read whenever somebody connects")
	}
	var retry <-chan time.Time
	pause := retryAfter
	gone := false
	read := func() {
		if gone && reacquire() {
			gone = w.Add(b.dir) != nil
		}
		if b.read() && !gone {
			retry, pause = nil, retryAfter
			return
		}
		retry, pause = time.After(pause), min(2*pause, time.Minute)
	}
	read()
	for {
		select {
		case <-ctx.Done():
			return
		case <-retry:
			read()
		case e, ok := <-appeared:
			switch {
			case !ok:
				appeared = nil
			case e.Name == b.dir && e.Has(fsnotify.Remove|fsnotify.Rename):
				gone, retry = true, time.After(pause) // once the rest is removed too
			case e.Has(fsnotify.Create) && strings.HasSuffix(e.Name, callSuffix):
				read()
			}
		case <-b.wake:
			read()
		}
	}
}

// read takes all calls, oldest first. A file is removed only after its call was taken,
// or if it never can be. read returns false if one cannot be read now, as while a
// virus scanner holds it.
func (b *inbox) read() (all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	files, err := os.ReadDir(b.dir) // sorted by name, so by time
	if err != nil {
		return false
	}
	all = true
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), callSuffix) {
			continue
		}
		path := filepath.Join(b.dir, f.Name())
		raw, err := b.readFile(path)
		switch {
		case err == nil:
			err = b.receiver.receive(raw)
		case errors.Is(err, os.ErrNotExist):
			continue
		case !errors.Is(err, errNoCall):
			all = false
			continue
		}
		if errors.Is(err, errResidentEnding) {
			return true // left for the next resident
		}
		if os.Remove(path) != nil {
			all = false
		} else if err != nil {
			b.cfg.log().Warn("a file in the inbox was no call", "why", err)
		}
	}
	return all
}

var errNoCall = errors.New("not a file that a phone's program writes")

func readCall(path string) ([]byte, error) {
	b, err := filetrust.ReadFile(path, maxInboxFileSize, filetrust.Private)
	if errors.Is(err, filetrust.ErrTooLarge) || errors.Is(err, filetrust.ErrUntrusted) {
		return nil, errNoCall
	}
	return b, err
}

// ForgetCalls removes calls from the inbox while no resident is running: those for which
// gone returns true, unreadable ones, and partial files. It returns how many it removed.
func ForgetCalls(cfg Config, gone func(call.Event) bool) (n int, err error) {
	dir := inboxDir(cfg)
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if raw, e := readCall(path); e == nil && strings.HasSuffix(f.Name(), callSuffix) {
			if c, _, e := decodeEvent(raw); e == nil && !gone(c) {
				continue
			}
		}
		if e := os.Remove(path); e == nil {
			n++
		} else if !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return n, err
}
