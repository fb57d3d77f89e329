package simulate

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/registry"
)

// ReconnectInterval is how often an Asterisk tries to reconnect, as set in
// websocket_client.conf.
const ReconnectInterval = 500 * time.Millisecond

// outboundApp is the application in ari.conf.
const outboundApp = "wiebelt"

// OutboundARI returns an Asterisk 22.5 or newer that is configured to
// connect by itself (type=outbound_websocket, connection_type=persistent).
func OutboundARI() *ARI {
	a := newARI()
	a.dials = true
	return a
}

// Connect makes the Asterisk connect to an address until
// ctx ends or Close. It accepts any certificate.
func (a *ARI) Connect(ctx context.Context, address string) {
	ctx, cancel := context.WithCancel(ctx)
	a.listens, a.notifyEnd = func() error { cancel(); return nil }, goAway
	a.tasks.Go(func() {
		for ctx.Err() == nil {
			a.connection(ctx, address)
			_ = wake.Pause(ctx, ReconnectInterval)
		}
	})
	a.stop = context.AfterFunc(ctx, func() { a.shut(nil) })
}

// connection runs one connection until it ends.
func (a *ARI) connection(ctx context.Context, address string) {
	d := websocket.Dialer{HandshakeTimeout: writeTime, Subprotocols: []string{"ari"}, TLSClientConfig: anyCertificate}
	conn, _, err := d.DialContext(ctx, address, nil)
	if err != nil {
		return
	}
	a.serveSocket(socket{
		onOpen: func(c *wsConn) func() {
			var first [][]byte
			for _, event := range a.kept {
				first = append(first, []byte(event))
			}
			a.apps[outboundApp], a.kept = c, nil
			c.mu.Lock() // events that were kept go first
			return func() {
				defer c.mu.Unlock()
				_ = c.write(append(first, a.event("ApplicationRegistered"))...) // reading reports a failure
			}
		},
		onMessage: func(c *wsConn, b []byte) bool {
			c.mu.Lock() // a Tell that waits for the request sends nothing before its answer
			defer c.mu.Unlock()
			return c.write(a.handleREST(b)) == nil
		},
		onClose: func(c *wsConn) { a.closed(outboundApp, c) },
	}, func() (*websocket.Conn, error) { return conn, nil })
}

// event builds an event of the application, or an answer.
func (a *ARI) event(kind string, more ...any) []byte {
	return toJSON(withFields(map[string]any{"type": kind, "timestamp": stamp(time.Now()), "application": outboundApp, "asterisk_id": asteriskID}, more...))
}

// handleREST answers a request received on the WebSocket.
func (a *ARI) handleREST(b []byte) []byte {
	var q struct {
		Type, Method, URI string
		TransactionID     string `json:"transaction_id"`
		RequestID         string `json:"request_id"`
	}
	status, body := http.StatusBadRequest, any(message("Unknown request type."))
	path := ""
	if json.Unmarshal(b, &q) == nil && q.Type == "RESTRequest" {
		var query string
		path, query, _ = strings.Cut(q.URI, "?")
		values, _ := url.ParseQuery(query)
		name, err := url.PathUnescape(path)
		if status, body = a.answer(q.Method, name, values); err != nil {
			status, body = http.StatusBadRequest, message("Bad request")
		}
	}
	return a.event("RESTResponse", "transaction_id", q.TransactionID, "request_id", q.RequestID, "status_code", status,
		"reason_phrase", http.StatusText(status), "uri", path, "content_type", "application/json", "message_body", string(toJSON(body)))
}

// openOutboundARI makes an Asterisk that connects to a relay on this computer
// and does not listen.
func openOutboundARI(ctx context.Context, o Options) (Softphone, error) {
	a := OutboundARI()
	a.Connect(ctx, "wss://"+address(o.Port)+"/in/"+url.PathEscape(o.PathToken)+"/"+registry.ARIOutbound)
	return struct{ Softphone }{a}, nil
}
