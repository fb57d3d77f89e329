package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"wiebelt/internal/relay/links"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// door is where an exchange comes in that connects by itself. One is in at a time. It may
// be used by many goroutines.
type door struct {
	ctx  context.Context // of the relay
	mu   sync.Mutex      // protects the rest
	in   *visitor
	came chan *visitor // that nobody has received yet: the last one
}

type visitor struct {
	*exchangelink.Socket
	leave context.CancelFunc
}

func newDoor(ctx context.Context) *door { return &door{ctx: ctx, came: make(chan *visitor, 1)} }

// A connection of which nothing is heard is soon given up: the exchange comes again.
const (
	pingEvery = 2 * time.Second
	silence   = 3 * pingEvery
	hereTime  = time.Second // in which one that is here answers
)

// free tells whether nobody is in. One that does not answer is not: the exchange has
// started anew, and nobody has told.
func (d *door) free(ctx context.Context) bool {
	d.mu.Lock()
	in := d.in
	d.mu.Unlock()
	if in == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, hereTime)
	defer cancel()
	if in.Answers(ctx) {
		return false
	}
	in.leave()
	return true
}

// enter lets one in, in the place of whoever else was.
func (d *door) enter(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case old := <-d.came:
		old.leave()
		old.Close()
	default:
	}
	d.in = v
	d.came <- v
}

// left tells that one is gone.
func (d *door) left(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.leave(); d.in == v {
		d.in = nil
	}
}

// comesIn takes the connection of an exchange. Where another one is here, or the relay
// cannot work, it is to try again.
func (r *relay) comesIn(w http.ResponseWriter, q *http.Request) {
	switch {
	case !r.path(q.PathValue("secret")):
		w.WriteHeader(http.StatusNotFound)
		return
	case r.storage.fault.Load() != "":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case !r.door.free(q.Context()):
		r.Log.Warn("a second exchange wants to connect, and was not let in", "from", registry.ARIOutbound)
		w.WriteHeader(http.StatusConflict)
		return
	}
	ctx, leave := context.WithCancel(r.door.ctx)
	sock, err := exchangelink.Accept(ctx, w, q, registry.ARIOutbound, exchangelink.Options{PingEvery: pingEvery, Silence: silence}, "ari")
	if err != nil {
		leave()
		return
	}
	r.door.enter(&visitor{sock, leave})
}

// guest is the link of an exchange that comes by itself.
func (r *relay) guest() links.Link {
	return links.Link{Name: registry.ARIOutbound, Kind: registry.ARIOutbound, Comes: func(ctx context.Context, hears func(string) bool) (links.Guest, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case v := <-r.door.came:
			return &received{ari.Guest(exchangelink.Account{Hears: hears}, v.Socket), r.door, v}, nil
		}
	}}
}

// received is a visitor whom the link has.
type received struct {
	link.Phone
	door *door
	*visitor
}

func (g *received) Close() {
	g.door.left(g.visitor)
	g.Socket.Close()
}
