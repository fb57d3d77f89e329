package calls

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"wiebelt/internal/store/history"
)

// block is how many calls are read at a time: some windows full on both sides of
// what is seen, however many there are in all.
const block = 300

// A filter is searched for in so many calls at a time, and what was found is
// shown for the first time after a moment; that it is searched for is mentioned
// when that takes longer.
const (
	searchSpan = 8000
	searchIn   = 20 * time.Millisecond
	searchLong = 300 * time.Millisecond
)

// wish is what the calls window wants to read. An answer for another list than the
// one on screen is passed over.
type wish struct {
	list  int // number of the list that it is for
	query history.Query
	index int             // of the call in the list that is to be read with those around it
	ctx   context.Context // ends when it is no longer wanted; nil for never
	path  string          // of the history, "" if none is kept
}

// answer is what was read: the calls to be called back, and a run of the others and
// where it stands in their list.
type answer struct {
	wish
	open    []history.Entry // newest first, whatever the query
	start   int
	entries []history.Entry // newest first
	count   int             // calls in the list
	today   int             // how many of them rang today
	exact   bool
	long    bool // it is searched for so long that somebody wonders
	err     error
}

// file is the history on disk, opened when it is there. Only for one goroutine.
type file struct {
	path   string
	reader *history.Reader
	now    func() time.Time
	span   int // how many calls are searched at a time; 0 for the usual
}

// open opens the file if it is not, and opens another one that lies in its place.
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

// read reads what is wanted, and tells it, with a filter in up to three parts. No
// file (yet) means no calls.
func (f *file) read(ctx context.Context, w wish, tell func(answer)) {
	a := answer{wish: w}
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
	a.open, a.err = f.reader.Open(ctx, mostOpen)
	if a.err == nil && history.HasTerms(w.query.Filter) {
		f.search(ctx, &a, tell)
	} else if a.err == nil {
		f.count(ctx, &a)
		f.run(ctx, &a)
	}
	if a.err != nil {
		f.close() // the file may have been put aside; the next reading opens it anew
	}
	tell(a)
}

// search reads what a filter leaves. In a long history that takes a while, so it
// tells what it has after a moment, and again at the first window full; how many
// there are in all comes last.
func (f *file) search(ctx context.Context, a *answer, tell func(answer)) {
	since := midnight(f.now())
	if a.index > 0 {
		f.count(ctx, a)
		f.run(ctx, a)
		return
	}
	began := f.now()
	moment := began.Add(searchIn)
	for next := (history.Place{}); a.err == nil && len(a.entries) < block; {
		var some []history.Entry
		some, next, a.err = f.reader.Part(ctx, a.query, next, cmp.Or(f.span, searchSpan), block-len(a.entries))
		a.entries = append(a.entries, some...)
		if a.count, a.today = len(a.entries), today(a.entries, f.now()); next == (history.Place{}) {
			a.exact = a.err == nil && len(a.entries) < block
			break
		}
		if now := f.now(); a.err == nil && now.After(moment) {
			a.long = now.Sub(began) >= searchLong
			tell(*a)
			moment = began.Add(searchLong)
			if a.long {
				moment = now.Add(time.Hour)
			}
		}
	}
	if a.err != nil || a.exact {
		return
	}
	a.count++ // at least one more may follow
	tell(*a)
	var count, today int
	count, today, a.err = f.reader.After(ctx, a.query, a.entries[len(a.entries)-1].Place(), since)
	a.count, a.today, a.exact = len(a.entries)+count, a.today+today, a.err == nil
}

// count counts the list.
func (f *file) count(ctx context.Context, a *answer) {
	a.count, a.today, a.err = f.reader.Count(ctx, a.query, midnight(f.now()))
	a.exact = a.err == nil
}

// run reads the calls that are wanted.
func (f *file) run(ctx context.Context, a *answer) {
	if a.err == nil {
		a.start = max(a.index-block/2, 0)
		a.entries, a.err = f.reader.From(ctx, a.query, a.start, block)
	}
}

// today counts the calls of today.
func today(es []history.Entry, now time.Time) (n int) {
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
