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

// firstIn is how long the first window waits for the first reading.
const firstIn = 300 * time.Millisecond

// reading is the state of reading the history.
type reading uint8

const (
	readingNot reading = iota // not read yet
	readingOK
	readingFailed
)

// History holds what was read of the history and the calls window while it is open. For the
// UI thread only, except for the two methods that read.
type History struct {
	host  *widgets.Host
	calls *window // nil while it is closed
	first answer  // read before there was a window
	state reading
	file  *file // owned by the reading goroutine
	do    doer
}

// doer performs actions on the calls on disk; see package callactions. Each blocks.
type doer interface {
	State(context.Context) callactions.State
	Open(ctx context.Context, id int64) error
	OpenPerson(ctx context.Context, id int64, k windowapi.Contact) error
	CallBack(ctx context.Context, id int64) error
	Copy(ctx context.Context, id int64, relation bool) error
	LookedUp(context.Context, text.Language, history.Entry, windowapi.Found) (callactions.LookedUp, error)
	Tick(ctx context.Context, ids ...int64) error
	Reopen(ctx context.Context, ids ...int64) error
	Remove(ctx context.Context, ids ...int64) ([]history.Entry, error)
	Restore(context.Context, ...history.Entry) error
	NotThis(ctx context.Context, id int64) (history.Entry, error)
	RestorePerson(context.Context, history.Entry) error
	Wipe(context.Context) error
}

// NewHistory returns a history of which nothing has been read yet.
func NewHistory(host *widgets.Host) *History {
	return &History{host: host, file: &file{path: host.Welcome.History, now: time.Now}, do: host.CallActions()}
}

// Open opens the calls window; it is a widgets.Opener.
func (h *History) Open(*widgets.Host) widgets.Page {
	h.calls = newWindow(h)
	h.calls.ask()
	return h.calls
}

// wanted returns the next request for the reader: the pending one, or else what is on
// screen, because it has changed on disk.
func (h *History) wanted() wish {
	if h.calls == nil {
		return wish{path: h.host.Welcome.History}
	}
	c := h.calls
	w := wish{query: c.query, list: c.number}
	if c.pending != nil {
		w = *c.pending
	} else if c.list.scroll.Offset.Y > 0 && c.plan.total() > 0 {
		w.index = max(c.plan.at(c.list.scroll.Offset.Y)-c.plan.work, 0)
	}
	c.stop()
	w.path = h.host.Welcome.History
	w.ctx, c.cancel = context.WithCancel(context.Background())
	c.pending, c.asked = nil, &w
	return w
}

// took stores what was read.
func (h *History) took(a answer) {
	c := h.calls
	if c != nil && a.list != c.number {
		return
	}
	if a.err != nil {
		h.host.Log.Warn("history cannot be read", "error", a.err)
		h.state = readingFailed // earlier results stay on screen
	} else {
		h.state = readingOK
	}
	if c == nil {
		h.first = a
		return
	}
	if a.exact || a.err != nil {
		c.asked = nil
	}
	if a.err != nil { // earlier results stay
		if len(c.got.entries)+len(c.got.open) == 0 {
			c.draw()
		}
		return
	}
	c.readAnew(a)
	c.put(a)
	if a.exact {
		c.ask()
	}
}

// FirstReading reads before there is a window, so that the first frame already has the
// calls; a slow history delays it only briefly.
func (h *History) FirstReading(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstIn)
	defer cancel()
	h.file.read(ctx, wish{path: h.file.path}, func(a answer) {
		if ctx.Err() == nil {
			h.took(a)
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
	wanted := make(chan wish, 1)
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
		h.host.Post(func() { wanted <- h.wanted() })
		select {
		case <-ctx.Done():
			return
		case next := <-wanted:
			h.readWish(ctx, next)
		}
	}
}

// readWish serves one request unless it is withdrawn.
func (h *History) readWish(ctx context.Context, next wish) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if next.ctx != nil {
		defer context.AfterFunc(next.ctx, cancel)()
	}
	h.file.read(ctx, next, func(a answer) {
		if ctx.Err() == nil {
			h.host.Post(func() { h.took(a) })
		}
	})
}
