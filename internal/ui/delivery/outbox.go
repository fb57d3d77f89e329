package delivery

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	inspect "wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
)

// Views of the list.
const (
	viewAll  = "all"
	viewOpen = "open" // nothing was decided yet
	viewAct  = "act"  // a person has to look
)

// state is the outbox, and a view of its list with the files that are not in it.
type state struct {
	SetUp     bool
	Support   string // who to ask
	Held      string // reason of package outbox why nothing is sent until an administrator acts
	Paused    string // … why nothing is sent for a moment
	Trouble   string // kind of trouble with the disk
	Notice    string // what has happened to the outbox, as a sentence
	Adding    int    // files that are not taken yet
	Waiting   int    // or being sent
	Delivered int
	Refused   int
	Uncertain int
	Open      int // rows in viewOpen
	Act       int // rows in viewAct
	Question  *row
	Questions int // files that wait for an answer
	View      string
	More      int   // items that are not listed
	Rows      []row // of the view, newest first
}

// row is one file: an item of the outbox, or as much of one as is known of a file
// that is not in there. Its State is one of package outbox, or of a
// windowapi.DeliveryFile; its Reason may be a code of package message.
type row struct {
	outbox.Item
	Found  []inspect.Finding // by the check, the worst first
	Before time.Time         // of a question: when it was delivered before, or taken
	Was    outbox.State      // of a question: of the earlier one
}

// receipts is all that is known of one file.
type receipts struct {
	Row      row
	Receipts []outbox.Receipt // newest first
	More     int              // older receipts that are not shown
}

const (
	maxSaid     = 600 // bytes of what the hub said, in each receipt
	maxReceipts = 60
)

// box is what the window does with package outbox.
type box interface {
	Snapshot(context.Context) (*outbox.Snapshot, error)
	Get(ctx context.Context, id string) (outbox.Item, error)
	Receipts(ctx context.Context, id string) ([]outbox.Receipt, error)
	Retry(ctx context.Context, id string) (outbox.Item, error)
	Resolve(ctx context.Context, id string, delivered bool, note string) (outbox.Item, error)
	Forget(ctx context.Context, id string, force bool) error
	Gone() bool
	Close() error
}

// sharedOutbox is the outbox as the window has it while the resident runs, which sends what is
// in there. It is opened once there is one. Safe for concurrent use; what is asked of
// it waits for the disk.
type sharedOutbox struct {
	settings func() *settings.Settings // those that hold now
	open     func(context.Context, *settings.Settings) (box, error)

	mu   sync.Mutex
	box  box  // nil until there is one
	shut bool // the window has closed
}

// openIn opens the outbox in a folder; fs.ErrNotExist where there is none: nothing is
// made on a computer that never delivered.
func openIn(dir string) func(context.Context, *settings.Settings) (box, error) {
	return func(ctx context.Context, s *settings.Settings) (box, error) {
		if _, err := os.Stat(filepath.Join(dir, outbox.DatabaseName)); err != nil {
			return nil, err
		}
		return outbox.Open(ctx, outbox.Options{Dir: dir, Policy: fromsettings.DeliveryPolicy(s)})
	}
}

// with does something with the outbox; outbox.ErrNoItem where there is none.
func (o *sharedOutbox) with(ctx context.Context, do func(box) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.box != nil && o.box.Gone() {
		o.leave()
	}
	if o.box == nil {
		b, err := o.open(ctx, o.settings())
		if errors.Is(err, os.ErrNotExist) {
			return outbox.ErrNoItem
		}
		if err != nil {
			return err
		}
		o.box = b
	}
	if o.shut { // what was clicked last is done all the same
		defer o.leave()
	}
	return do(o.box)
}

func (o *sharedOutbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	o.leave()
}

// leave closes the outbox; o.mu is held.
func (o *sharedOutbox) leave() {
	if o.box != nil {
		_ = o.box.Close() // what was changed is safe
		o.box = nil
	}
}

// state reads a view of the outbox; told is what the resident says as well.
func (o *sharedOutbox) state(ctx context.Context, l text.Language, view string, told windowapi.Delivery) state {
	set := o.settings()
	s := state{SetUp: set.Hub.Intermediary != "" && len(set.Hub.Missing()) == 0, Support: l.Support(set.Support.Contact),
		View: view, Trouble: told.Trouble, Notice: told.Notice}
	var now *outbox.Snapshot
	if err := o.with(ctx, func(b box) (err error) { now, err = b.Snapshot(ctx); return err }); err != nil && !errors.Is(err, outbox.ErrNoItem) {
		s.Trouble = cmp.Or(s.Trouble, outbox.KindOf(err))
	}
	var items []outbox.Item
	if now != nil {
		items = now.Items
		s.Held = string(now.Queue.Held)
		if now.Queue.Resume.After(time.Now()) {
			s.Paused = string(now.Queue.Paused)
		}
		s.Waiting, s.Delivered = now.Counts[outbox.Waiting]+now.Counts[outbox.Sending], now.Counts[outbox.Delivered]
		s.Refused, s.Uncertain = now.Counts[outbox.Refused], now.Counts[outbox.Uncertain]
		for _, c := range now.Counts {
			s.More += c
		}
		s.More -= len(items)
	}
	for _, r := range rowsOf(told.Files, items) {
		switch r.State {
		case windowapi.DeliveryAdding:
			s.Adding++
		case windowapi.DeliveryQuestion: // the oldest is asked first
			s.Questions++
			s.Question = &r
		case outbox.Refused:
			if untaken(r.ID) { // the outbox does not count it
				s.Refused++
			}
		}
		if inView(r, viewOpen) {
			s.Open++
		}
		if inView(r, viewAct) {
			s.Act++
		}
		if inView(r, view) {
			s.Rows = append(s.Rows, r)
		}
	}
	return s
}

// untaken tells whether an id is that of a file which is not in the outbox.
func untaken(id string) bool { return strings.HasPrefix(id, "n") }

// rowsOf are all rows, newest first.
func rowsOf(files []windowapi.DeliveryFile, items []outbox.Item) []row {
	var all []row
	listed := map[string]bool{}
	for _, it := range items {
		listed[it.ID] = true
		all = append(all, rowOf(it))
	}
	for _, f := range files {
		if f.Item == "" || !listed[f.Item] {
			all = append(all, rowOfFile(f))
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return b.Added.Compare(a.Added) })
	return all
}

func rowOfFile(f windowapi.DeliveryFile) row {
	it := outbox.Item{ID: cmp.Or(f.Item, f.ID), Name: f.Name, Size: f.Size, State: outbox.State(f.State), Reason: outbox.Reason(f.Reason), Added: f.Added}
	return row{Item: it, Found: f.Findings, Before: f.Before, Was: outbox.State(f.Was)}
}

func rowOf(it outbox.Item) row {
	found := it.Findings()
	slices.SortStableFunc(found, func(a, b inspect.Finding) int { return int(b.Severity) - int(a.Severity) })
	return row{Item: it, Found: found}
}

// inView reports whether a row belongs to a view.
func inView(r row, view string) bool {
	switch r.State {
	case windowapi.DeliveryAdding, outbox.Waiting, outbox.Sending:
		return view != viewAct
	case outbox.Delivered:
		return view != viewAct && view != viewOpen
	}
	return view != viewOpen
}

// receipts is all that is known of one file.
func (o *sharedOutbox) receipts(ctx context.Context, id string, files []windowapi.DeliveryFile) (all receipts, err error) {
	if i := slices.IndexFunc(files, func(f windowapi.DeliveryFile) bool { return f.ID == id }); i >= 0 {
		f := files[i]
		if f.Item == "" {
			return receipts{Row: rowOfFile(f)}, nil
		}
		id = f.Item
	}
	return all, o.with(ctx, func(b box) error {
		it, err := b.Get(ctx, id)
		if err != nil {
			return err
		}
		all.Row = rowOf(it)
		if all.Receipts, err = b.Receipts(ctx, it.ID); err != nil {
			return err
		}
		all.More = max(len(all.Receipts)-maxReceipts, 0)
		all.Receipts = all.Receipts[all.More:]
		slices.Reverse(all.Receipts)
		for i := range all.Receipts {
			if r := &all.Receipts[i]; len(r.Body) > maxSaid {
				r.Body, r.Cut = strings.ToValidUTF8(r.Body[:maxSaid], ""), true
			}
		}
		return nil
	})
}

// says is what did not work, as a sentence.
func says(l text.Language, err error) string {
	var t *outbox.Trouble
	switch {
	case errors.Is(err, outbox.ErrNoItem):
		return l.T(text.DeliveryWindowGone)
	case errors.Is(err, outbox.ErrDuplicate):
		return l.T(text.DeliveryWindowTwin)
	case errors.As(err, &t):
		return l.DeliveryTrouble(t.Kind)
	}
	return l.T(text.DeliveryWindowState)
}
