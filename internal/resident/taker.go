package resident

import (
	"context"
	"time"

	"wiebelt/internal/core/call"
)

// taker is what a way in hands its reports to. link is its name in the settings,
// "" for the open ways.
func (r *Resident) taker(link string) func(call.Event) error {
	return func(e call.Event) error {
		err := r.engine.Take(e)
		if err == nil { // the call is on its way to the screen already
			r.noted(link, e)
		}
		return err
	}
}

func (r *Resident) noted(link string, e call.Event) {
	r.heard.Note(link, e, time.Now())
	if r.desks.Open() {
		select {
		case r.retell <- struct{}{}:
		default: // it is about to look anyway
		}
	}
}

// readHeard takes over from the history when calls came before this program was
// started. Of two links of one kind the history cannot tell which it was.
func (r *Resident) readHeard(ctx context.Context) {
	if r.store == nil {
		return
	}
	last, err := r.store.LastByKind(ctx)
	if err != nil {
		r.o.Log.Warn("when calls last came is not known", "why", err)
		return
	}
	links := map[string][]string{}
	for _, p := range r.set().Softphones {
		links[p.Kind] = append(links[p.Kind], linkName(p))
	}
	for kind, at := range last {
		switch names := links[kind]; len(names) {
		case 0:
			r.heard.Known(kind, "", at)
		case 1:
			r.heard.Known(kind, names[0], at)
		}
	}
}
