package calls

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"wiebelt/internal/store/history"
)

// block is how many calls are read at a time: a few windows full before and after those on
// screen, however many there are in all.
const block = 300

// A filter searches this many calls at a time. First results appear after a moment; if the
// search takes longer, the window says so.
const (
	searchSpan        = 8000
	searchFirstReport = 20 * time.Millisecond
	searchSlowAfter   = 300 * time.Millisecond
)

// readRequest is a request to read for the calls window. Answers for a list other than the
// one on screen are ignored.
type readRequest struct {
	list  int // number of the list that it is for
	query history.Query
	index int             // the call in the list to read, with those around it
	ctx   context.Context // ends when the result is no longer wanted; nil means never
	path  string          // of the history, "" if none is kept
}

// readResult is what was read: the calls to be called back, and a run of the others with
// its position in the list.
type readResult struct {
	readRequest
	open    []history.Entry // newest first, whatever the query
	start   int
	entries []history.Entry // newest first
	count   int             // calls in the list
	today   int             // how many of them are from today
	exact   bool
	slow    bool // the search takes so long that the window should say so
	err     error
}

// file is the history on disk, opened once it exists. For a single goroutine.
type file struct {
	path   string
	reader *history.Reader
	now    func() time.Time
	span   int // calls searched at a time; 0 means the default
}

// open opens the file if necessary, and reopens it if it was replaced.
func (f *file) open(ctx context.Context) error {
	if f.reader != nil && f.reader.Stale() {
		f.close()
	}
	if f.reader != nil {
		return nil
	}
	r, err := history.OpenReadOnly(ctx, f.path)
	f.reader = r
	return err
}

// read reads what w asks for and passes it to tell, with a filter in up to three parts. A
// missing file means no calls.
func (f *file) read(ctx context.Context, w readRequest, tell func(readResult)) {
	a := readResult{readRequest: w}
	if f.path != w.path {
		f.close()
		f.path = w.path
	}
	if f.path == "" {
		a.exact = true
		tell(a)
		return
	}
	if err := f.open(ctx); err != nil {
		f.close()
		if a.exact = errors.Is(err, fs.ErrNotExist); !a.exact {
			a.err = err
		}
		tell(a)
		return
	}
	a.open, a.err = f.reader.UnhandledCalls(ctx, maxOpen)
	if a.err == nil && history.HasTerms(w.query.Filter) {
		f.search(ctx, &a, tell)
	} else if a.err == nil {
		f.count(ctx, &a)
		f.readRows(ctx, &a)
	}
	if a.err != nil {
		f.close() // the file may have been moved away; the next reading reopens it
	}
	tell(a)
}

// search reads the calls that match a filter. In a long history that takes a while, so it
// reports what it has after a moment, then the first window full, and finally the count.
func (f *file) search(ctx context.Context, a *readResult, tell func(readResult)) {
	since := midnight(f.now())
	if a.index > 0 {
		f.count(ctx, a)
		f.readRows(ctx, a)
		return
	}
	began := f.now()
	moment := began.Add(searchFirstReport)
	for next := (history.Place{}); a.err == nil && len(a.entries) < block; {
		var some []history.Entry
		some, next, a.err = f.reader.Part(ctx, a.query, next, cmp.Or(f.span, searchSpan), block-len(a.entries))
		a.entries = append(a.entries, some...)
		if a.count, a.today = len(a.entries), countToday(a.entries, f.now()); next == (history.Place{}) {
			a.exact = a.err == nil && len(a.entries) < block
			break
		}
		if now := f.now(); a.err == nil && now.After(moment) {
			a.slow = now.Sub(began) >= searchSlowAfter
			tell(*a)
			moment = began.Add(searchSlowAfter)
			if a.slow {
				moment = now.Add(time.Hour)
			}
		}
	}
	if a.err != nil || a.exact {
		return
	}
	a.count++ // at least one more may exist
	tell(*a)
	var count, today int
	count, today, a.err = f.reader.Count(ctx, a.query, a.entries[len(a.entries)-1].Place(), since)
	a.count, a.today, a.exact = len(a.entries)+count, a.today+today, a.err == nil
}

func (f *file) count(ctx context.Context, a *readResult) {
	a.count, a.today, a.err = f.reader.Count(ctx, a.query, history.Place{}, midnight(f.now()))
	a.exact = a.err == nil
}

func (f *file) readRows(ctx context.Context, a *readResult) {
	if a.err == nil {
		a.start = max(a.index-block/2, 0)
		a.entries, a.err = f.reader.Page(ctx, a.query, a.start, block)
	}
}

func countToday(es []history.Entry, now time.Time) (n int) {
	since := midnight(now)
	for _, e := range es {
		if !e.Rang.Before(since) {
			n++
		}
	}
	return n
}

func midnight(now time.Time) time.Time {
	y, m, d := now.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location())
}

func (f *file) close() {
	if f.reader != nil {
		_ = f.reader.Close() // nothing was written
		f.reader = nil
	}
}
