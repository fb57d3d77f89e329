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

const (
	viewAll        = "all"
	viewOpen       = "open" // not decided yet
	viewNeedAction = "act"  // a person has to look
)

// state is the outbox, and a view of its list including files not in the outbox.
type state struct {
	SetUp       bool
	Support     string // whom to contact
	HoldReason  string // reason (see package outbox) why sending stopped until an administrator acts
	PauseReason string // … why sending is paused for a moment
	Trouble     string // kind of trouble with the disk
	Notice      string // what has happened to the outbox, as a sentence
	Adding      int    // files not accepted yet
	Waiting     int    // or being sent
	Delivered   int
	Refused     int
	Uncertain   int
	Open        int // rows in viewOpen
	NeedAction  int // rows in viewNeedAction
	Question    *row
	Questions   int // files waiting for an answer
	View        string
	More        int   // items not listed
	Rows        []row // of the view, newest first
}

// row is one file: an item of the outbox, or the known part of one for a file not in there.
// Its State is one of package outbox, or of a windowapi.DeliveryFile; its Reason may be
// a code of package message.
type row struct {
	outbox.Item
	Found        []inspect.Finding // by the check, the worst first
	EarlierTime  time.Time         // for a question: when the file was delivered or added before
	EarlierState outbox.State      // for a question: state of the earlier file
}

type receipts struct {
	Row      row
	Receipts []outbox.Receipt // newest first
	More     int              // older receipts not shown
}

const (
	maxAnswer   = 600 // bytes of the hub's answer, in each receipt
	maxReceipts = 60
)

// outboxStore is the part of package outbox that the window uses.
type outboxStore interface {
	Snapshot(context.Context) (*outbox.Snapshot, error)
	Get(ctx context.Context, id string) (outbox.Item, error)
	Receipts(ctx context.Context, id string) ([]outbox.Receipt, error)
	Retry(ctx context.Context, id string) (outbox.Item, error)
	Resolve(ctx context.Context, id string, delivered bool, note string) (outbox.Item, error)
	Forget(ctx context.Context, id string, force bool) error
	Gone() bool
	Close() error
}

// sharedOutbox gives the window access to the outbox, which the running resident
// sends from. It is opened once it exists. Safe for concurrent use; its methods
// block on disk access.
type sharedOutbox struct {
	settings func() *settings.Settings // returns the current settings
	open     func(context.Context, *settings.Settings) (outboxStore, error)

	mu   sync.Mutex
	box  outboxStore // nil until it exists
	shut bool        // the window is closed
}

// outboxOpener opens the outbox in a folder; fs.ErrNotExist if there is none: nothing is created
// on a computer that never delivered.
func outboxOpener(dir string) func(context.Context, *settings.Settings) (outboxStore, error) {
	return func(ctx context.Context, s *settings.Settings) (outboxStore, error) {
		if _, err := os.Stat(filepath.Join(dir, outbox.DatabaseName)); err != nil {
			return nil, err
		}
		return outbox.Open(ctx, outbox.Options{Dir: dir, Policy: fromsettings.DeliveryPolicy(s)})
	}
}

// with calls do with the outbox; outbox.ErrNoItem if there is none.
func (o *sharedOutbox) with(ctx context.Context, do func(outboxStore) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.box != nil && o.box.Gone() {
		o.closeLocked()
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
	if o.shut { // the last click still takes effect
		defer o.closeLocked()
	}
	return do(o.box)
}

func (o *sharedOutbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	o.closeLocked()
}

func (o *sharedOutbox) closeLocked() {
	if o.box != nil {
		_ = o.box.Close() // changes are already saved
		o.box = nil
	}
}

// state reads a view of the outbox and merges told, the resident's report.
func (o *sharedOutbox) state(ctx context.Context, l text.Language, view string, told windowapi.Delivery) state {
	set := o.settings()
	s := state{SetUp: set.Hub.Intermediary != "" && len(set.Hub.Missing()) == 0, Support: l.Support(set.Support.Contact),
		View: view, Trouble: told.Trouble, Notice: told.Notice}
	var now *outbox.Snapshot
	if err := o.with(ctx, func(b outboxStore) (err error) { now, err = b.Snapshot(ctx); return err }); err != nil && !errors.Is(err, outbox.ErrNoItem) {
		s.Trouble = cmp.Or(s.Trouble, outbox.TroubleKind(err))
	}
	var items []outbox.Item
	if now != nil {
		items = now.Items
		s.HoldReason = string(now.Queue.HoldReason)
		if now.Queue.ResumeAt.After(time.Now()) {
			s.PauseReason = string(now.Queue.PauseReason)
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
		case windowapi.DeliveryQuestion: // the oldest is asked about first
			s.Questions++
			s.Question = &r
		case outbox.Refused:
			if notInOutbox(r.ID) { // the outbox does not count it
				s.Refused++
			}
		}
		if inView(r, viewOpen) {
			s.Open++
		}
		if inView(r, viewNeedAction) {
			s.NeedAction++
		}
		if inView(r, view) {
			s.Rows = append(s.Rows, r)
		}
	}
	return s
}

// notInOutbox reports whether an ID is that of a file not in the outbox.
func notInOutbox(id string) bool { return strings.HasPrefix(id, "n") }

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
	return row{Item: it, Found: f.Findings, EarlierTime: f.EarlierTime, EarlierState: outbox.State(f.EarlierState)}
}

func rowOf(it outbox.Item) row {
	found := it.Findings()
	slices.SortStableFunc(found, func(a, b inspect.Finding) int { return int(b.Severity) - int(a.Severity) })
	return row{Item: it, Found: found}
}

func inView(r row, view string) bool {
	switch r.State {
	case windowapi.DeliveryAdding, outbox.Waiting, outbox.Sending:
		return view != viewNeedAction
	case outbox.Delivered:
		return view != viewNeedAction && view != viewOpen
	}
	return view != viewOpen
}

func (o *sharedOutbox) receipts(ctx context.Context, id string, files []windowapi.DeliveryFile) (all receipts, err error) {
	if i := slices.IndexFunc(files, func(f windowapi.DeliveryFile) bool { return f.ID == id }); i >= 0 {
		f := files[i]
		if f.Item == "" {
			return receipts{Row: rowOfFile(f)}, nil
		}
		id = f.Item
	}
	return all, o.with(ctx, func(b outboxStore) error {
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
			if r := &all.Receipts[i]; len(r.Body) > maxAnswer {
				r.Body, r.Truncated = strings.ToValidUTF8(r.Body[:maxAnswer], ""), true
			}
		}
		return nil
	})
}

// describeError describes an error as a sentence.
func describeError(l text.Language, err error) string {
	var t *outbox.Trouble
	switch {
	case errors.Is(err, outbox.ErrNoItem):
		return l.T(text.DeliveryWindowGone)
	case errors.Is(err, outbox.ErrDuplicate):
		return l.T(text.DeliveryWindowTwin)
	case errors.As(err, &t):
		return l.DeliveryTrouble(t.Kind)
	}
	return l.T(text.DeliveryWindowConflict)
}
