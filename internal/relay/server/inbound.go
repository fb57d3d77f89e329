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

// inbound holds the connection of an exchange that connects to us, one at a time. It is
// safe for concurrent use.
type inbound struct {
	ctx      context.Context // the relay's
	mu       sync.Mutex      // protects the rest
	current  *inboundConn
	accepted chan *inboundConn // the latest one, until a link takes it
}

type inboundConn struct {
	*exchangelink.Socket
	cancel context.CancelFunc
}

// A silent connection is soon given up: the exchange reconnects.
const (
	pingEvery = 2 * time.Second
	silence   = 3 * pingEvery
	probeTime = time.Second // for a connection to answer
)

// free reports whether no exchange is connected. One that does not answer is gone: the
// exchange was restarted and did not disconnect.
func (d *inbound) free(ctx context.Context) bool {
	d.mu.Lock()
	current := d.current
	d.mu.Unlock()
	if current == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if current.Answers(ctx) {
		return false
	}
	current.cancel()
	return true
}

func (d *inbound) replace(v *inboundConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case old := <-d.accepted:
		old.cancel()
		old.Close()
	default:
	}
	d.current = v
	d.accepted <- v
}

func (d *inbound) disconnect(v *inboundConn) {
	d.mu.Lock()
	if d.current == v {
		d.current = nil
	}
	d.mu.Unlock()
	v.cancel()
	v.Close()
}

// acceptInbound takes the connection of an exchange. If another one is connected, or the
// relay does not work, the exchange is to try again.
func (r *relay) acceptInbound(w http.ResponseWriter, q *http.Request) {
	switch {
	case !r.validSecret(q):
		w.WriteHeader(http.StatusNotFound)
		return
	case r.storage.fault.Load() != "":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case !r.inbound.free(q.Context()):
		r.Log.Warn("a second exchange wants to connect, and was not let in", "from", registry.ARIOutbound)
		w.WriteHeader(http.StatusConflict)
		return
	}
	ctx, cancel := context.WithCancel(r.inbound.ctx)
	sock, err := exchangelink.Accept(ctx, w, q, registry.ARIOutbound, exchangelink.Options{PingEvery: pingEvery, Silence: silence}, "ari")
	if err != nil {
		cancel()
		return
	}
	r.inbound.replace(&inboundConn{sock, cancel})
}

func (r *relay) inboundLink() links.Link {
	return links.Link{Name: registry.ARIOutbound, Kind: registry.ARIOutbound, Accept: func(ctx context.Context, hears func(string) bool) (link.Phone, func(), error) {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case v := <-r.inbound.accepted:
			return ari.Inbound(exchangelink.Account{HasExtension: hears}, v.Socket), func() { r.inbound.disconnect(v) }, nil
		}
	}}
}
