package calls

import (
	"context"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// firstReadTimeout is how long the first window waits for the first reading.
const firstReadTimeout = 300 * time.Millisecond

type reading uint8

const (
	readingPending reading = iota // not read yet
	readingOK
	readingFailed
)

// History holds what was read of the history and the calls window while it is open. For the
// UI thread only, except for the two methods that read.
type History struct {
	host    *widgets.Host
	calls   *window    // nil while it is closed
	first   readResult // read before there was a window
	state   reading
	file    *file // owned by the reading goroutine
	actions callActions
}

// callActions performs actions on the calls on disk; see package callactions. Each blocks.
type callActions interface {
	State(context.Context) callactions.State
	Open(ctx context.Context, id int64) error
	OpenPerson(ctx context.Context, id int64, number string, k windowapi.Contact) error
	CallBack(ctx context.Context, id int64) error
	Copy(ctx context.Context, id int64, relation bool) error
	StoreLookup(context.Context, text.Language, history.Entry, windowapi.LookupResult) (callactions.LookupOutcome, error)
	Tick(ctx context.Context, ids ...int64) error
	Reopen(ctx context.Context, ids ...int64) error
	Remove(ctx context.Context, ids ...int64) ([]history.Entry, error)
	Restore(context.Context, ...history.Entry) error
	RemovePerson(ctx context.Context, id int64) (history.Entry, error)
	RestorePerson(context.Context, history.Entry) error
	Wipe(context.Context) error
}

// NewHistory returns a history of which nothing has been read yet.
func NewHistory(host *widgets.Host) *History {
	return &History{host: host, file: &file{path: host.Welcome.History, now: time.Now}, actions: host.CallActions()}
}

// Open opens the calls window; it is a widgets.Opener.
func (h *History) Open(*widgets.Host) widgets.Page {
	h.calls = newWindow(h)
	h.calls.readState()
	return h.calls
}

// nextRequest returns the next request for the reader: the pending one, or else what is on
// screen, because it has changed on disk.
func (h *History) nextRequest() readRequest {
	if h.calls == nil {
		return readRequest{path: h.host.Welcome.History}
	}
	c := h.calls
	w := readRequest{query: c.query, list: c.listNumber}
	if c.pending != nil {
		w = *c.pending
	} else if c.list.scroll.Offset.Y > 0 && c.listLayout.total() > 0 {
		w.index = max(c.listLayout.at(c.list.scroll.Offset.Y)-c.listLayout.openCount, 0)
	}
	c.stop()
	w.path = h.host.Welcome.History
	w.ctx, c.cancel = context.WithCancel(context.Background())
	c.pending, c.inFlight = nil, &w
	return w
}

func (h *History) storeResult(a readResult) {
	c := h.calls
	if c != nil && a.list != c.listNumber {
		return
	}
	h.state = readingOK
	if a.err != nil {
		h.host.Log.Warn("history cannot be read", "error", a.err)
		h.state = readingFailed
	}
	if c != nil && (a.exact || a.err != nil) {
		c.inFlight = nil
	}
	switch {
	case c == nil:
		h.first = a
	case a.err == nil:
		c.reconcileUndos(a)
		c.showResult(a)
		if a.exact {
			c.readState()
		}
	case len(c.result.entries)+len(c.result.open) == 0: // otherwise earlier results stay
		c.draw()
	}
}

// FirstReading reads before there is a window, so that the first frame already has the
// calls; a slow history delays it only briefly.
func (h *History) FirstReading(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstReadTimeout)
	defer cancel()
	h.file.read(ctx, readRequest{path: h.file.path}, func(a readResult) {
		if ctx.Err() == nil {
			h.storeResult(a)
		}
	})
	if ctx.Err() != nil {
		h.host.ReadHistory()
	}
}

// Follow reads what the calls window wants on every kick and at the start of a day, when
// "today" changes. It needs its own goroutine, after FirstReading, and ends with ctx.
func (h *History) Follow(ctx context.Context, kicks <-chan struct{}) {
	defer h.file.close()
	wanted := make(chan readRequest, 1)
	day := midnight(h.file.now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-kicks:
		case <-time.After(time.Minute): // not a timer until midnight: timers may stop while the computer sleeps
			if midnight(h.file.now()).Equal(day) {
				continue
			}
		}
		day = midnight(h.file.now())
		h.host.Post(func() { wanted <- h.nextRequest() })
		select {
		case <-ctx.Done():
			return
		case next := <-wanted:
			h.serveRequest(ctx, next)
		}
	}
}

// serveRequest serves one request unless it is withdrawn.
func (h *History) serveRequest(ctx context.Context, next readRequest) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if next.ctx != nil {
		defer context.AfterFunc(next.ctx, cancel)()
	}
	h.file.read(ctx, next, func(a readResult) {
		if ctx.Err() == nil {
			h.host.Post(func() { h.storeResult(a) })
		}
	})
}
