package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/registry"
)

// ARI is an Asterisk with its REST interface: HTTP with a name and password, and the events
// of all channels on a WebSocket. Access its fields only within With.
type ARI struct {
	*server
	Channels          Listing
	Vars              map[string]string // by channel and name, as in "1736065800.12 CHANNEL(linkedid)"
	RequestCounts     map[string]int    // how often each was requested
	apps              map[string]*wsConn
	channelsRequested bool     // the channels have been requested
	linkedRequests    int      // how often varLinkedID has been requested
	outbound          bool     // it connects by itself
	queuedEvents      []string // events while not connected
	RejectStatus      int      // the status that answers every request; 0 for none
	ownExtension      extension
	varOrder          []string // played channels in Vars, oldest first
}

// StartARI starts an ARI.
func StartARI(ctx context.Context, listen string, account Account) (*ARI, error) {
	a := newARI()
	return a, a.startExchange(ctx, registry.ARI, listen, account, a.serve)
}

func newARI() *ARI {
	a := &ARI{Channels: Listing{}, Vars: map[string]string{}, RequestCounts: map[string]int{}, apps: map[string]*wsConn{}}
	a.server = newServer(func() bool { return a.channelsRequested && len(a.apps) > 0 })
	return a
}

func (a *ARI) serve(w http.ResponseWriter, r *http.Request) {
	if user, secret, ok := r.BasicAuth(); !ok || user != a.account.User || secret != a.account.Secret {
		w.Header().Set("WWW-Authenticate", `Basic realm="Asterisk REST Interface"`)
		answerJSON(w, http.StatusUnauthorized, message("Authentication required"))
		return
	}
	path, ours := strings.CutPrefix(r.URL.Path, "/ari/")
	switch {
	case path == "events":
		a.events(w, r)
	case !ours:
		answerJSON(w, http.StatusNotFound, message("Resource not found"))
	default:
		status, body := a.answer(r.Method, path, r.URL.Query())
		answerJSON(w, status, body)
	}
}

func message(s string) map[string]string { return map[string]string{"message": s} }

// answer returns the answer to a request over HTTP or the WebSocket. path
// has no leading "/ari/".
func (a *ARI) answer(method, path string, q url.Values) (status int, body any) {
	a.With(func() { status = a.RejectStatus })
	if status != 0 {
		return status, message(http.StatusText(status))
	}
	id, isChannel := strings.CutPrefix(path, "channels/")
	id, isVariable := strings.CutSuffix(id, "/variable")
	switch {
	case method != http.MethodGet:
		return http.StatusMethodNotAllowed, message("Invalid method")
	case path == "channels":
		a.With(func() { body, a.channelsRequested = a.Channels.all(), true })
		return http.StatusOK, body
	case isChannel && isVariable:
		return a.variable(id, q.Get("variable"))
	}
	return http.StatusNotFound, message("Resource not found")
}

const maxRemembered = 2048

// variable also answers for channels that have ended, as long as they are remembered: a
// scenario may be played faster than a client can ask.
func (a *ARI) variable(channel, name string) (status int, body any) {
	value, ok := "", false
	a.With(func() {
		if value, ok = a.Vars[channel+" "+name]; ok || len(a.RequestCounts) < maxRemembered {
			a.RequestCounts[channel+" "+name]++
		}
		if name == varLinkedID {
			a.linkedRequests++
		}
	})
	if !ok {
		return http.StatusInternalServerError, message("Unable to read provided function")
	}
	return http.StatusOK, map[string]string{"value": value}
}

// events accepts one connection per application. It rejects programs that put the password
// in the URL or subscribe to less than everything.
func (a *ARI) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	app := q.Get("app")
	if app == "" || len(app) > 256 || q.Get("subscribeAll") != "true" || len(q) > 2 {
		answerJSON(w, http.StatusBadRequest, message("HTTP request is missing param: [app]"))
		return
	}
	if !websocket.IsWebSocketUpgrade(r) {
		answerJSON(w, http.StatusUpgradeRequired, message("Upgrade required"))
		return
	}
	a.upgrade(w, r, socketHandler{protocols: []string{"ari"},
		onOpen: func(c *wsConn) func() {
			old := a.apps[app]
			a.apps[app] = c
			if old == nil {
				return nil
			}
			return func() { // it is notified, and receives nothing more
				_ = old.send(ariEvent(app, "ApplicationReplaced"))
			}
		},
		onClose: func(c *wsConn) { a.onClosed(app, c) },
	})
}

func (a *ARI) onClosed(app string, c *wsConn) {
	if a.apps[app] == c {
		delete(a.apps, app)
	}
}

// ariEvent returns an event of an application, or an answer.
func ariEvent(app, kind string, more ...any) []byte {
	return toJSON(withFields(map[string]any{"type": kind, "timestamp": stamp(time.Now()), "application": app, "asterisk_id": "08:00:27:00:00:01"}, more...))
}

// Send writes events to every application, or, if this Asterisk dials and is not connected,
// keeps them until it is.
func (a *ARI) Send(events ...string) {
	a.With(func() {
		if a.outbound && len(a.apps) == 0 {
			a.queuedEvents = append(a.queuedEvents, events...)
		}
	})
	a.sendEach(func(c *wsConn) []string {
		if slices.Contains(slices.Collect(maps.Values(a.apps)), c) {
			return events
		}
		return nil
	})
}

// hiddenNumber is what Asterisk knows of a caller who withholds their number: the channel
// has it anyway, and only the presentation marks it as hidden. It must never be shown.
const hiddenNumber = "+31201239999"

const (
	varPresentation = "CONNECTEDLINE(num-pres)"
	varLinkedID     = "CHANNEL(linkedid)"
)

// channelID and channelName identify a channel of one of our phones.
func channelID(leg int) string   { return fmt.Sprintf("1736065800.%d", leg) }
func channelName(leg int) string { return fmt.Sprintf("PJSIP/%s-%08x", extensionNumber, leg) }

func channel(c exchangeCall, leg int) map[string]any {
	number, name := digits(c.call.Number), c.call.Name
	if c.call.Number == "" {
		number, name = hiddenNumber, "Anonymous"
	}
	exten := c.call.dialled()
	if c.call.Direction == "outgoing" {
		exten = number
	}
	m := map[string]any{"id": channelID(leg), "name": channelName(leg), "state": [...]string{"Ringing", "Ring", "Up"}[c.state], "protocol_id": "a84b4c76e66710",
		"caller":    map[string]string{"name": "", "number": extensionNumber},
		"connected": map[string]string{"name": name, "number": number}, "accountcode": "",
		"dialplan":     map[string]any{"context": "inbound", "exten": exten, "priority": 1, "app_name": "AppDial", "app_data": "(Outgoing Line)"},
		"creationtime": stamp(c.began), "language": "nl"}
	if via := digits(c.call.Via); via != "" {
		m["caller_rdnis"] = via
	}
	return m
}

// trunkChannel returns the channel of a call from outside. It is not
// one of our phones, and its "Ringing" means that the other side rings.
func trunkChannel(c exchangeCall, state string) map[string]any {
	number := digits(c.call.Number)
	if number == "" {
		number = hiddenNumber
	}
	return map[string]any{"id": channelID(c.conversation), "name": fmt.Sprintf("PJSIP/trunk-%08x", c.conversation), "state": state, "protocol_id": "b77f0c76e66711",
		"caller":    map[string]string{"name": c.call.Name, "number": number},
		"connected": map[string]string{"name": "", "number": ""}, "accountcode": "",
		"dialplan":     map[string]any{"context": "inbound", "exten": digits(c.call.Line), "priority": 1, "app_name": "Dial", "app_data": "PJSIP/" + extensionNumber},
		"creationtime": stamp(c.began), "language": "nl"}
}

// SendUpdate sends the events of an update, and waits until the client has asked whether a
// new number may be shown and, if a call rings again, whether its legs belong together.
func (a *ARI) SendUpdate(ctx context.Context, n Update) error {
	var events []string
	asks := map[string]int{} // the variables to wait for, and how often each has been requested
	joins := 0               // how often varLinkedID must have been requested, to join the legs
	a.With(func() {
		ch := a.ownExtension.apply(n)
		a.ownExtension.listLegs(a.Channels, channelID, channel)
		events = ariEvents(n, ch)
		pres := "allowed_not_screened"
		if n.Call.Number == "" {
			pres = "prohib_not_screened"
		}
		shown := ch.began
		if n.Verb == ChangeCaller {
			shown = ch.changed
		}
		if n.Verb == RingAgain && n.Call.Direction == "" {
			joins = a.linkedRequests + 2 // for both legs
		}
		for _, leg := range shown {
			id := channelID(leg)
			a.remember(id, pres, channelID(ch.call.conversation))
			if n.Call.Direction == "" {
				asks[id+" "+varPresentation] = a.RequestCounts[id+" "+varPresentation]
			}
		}
	})
	a.Send(events...)
	return a.awaitProcessed(ctx, func() bool {
		for variable, before := range asks {
			if len(a.apps) > 0 && a.RequestCounts[variable] == before {
				return false
			}
		}
		return len(a.apps) == 0 || a.linkedRequests >= joins
	})
}

// ariEvents returns the events that Asterisk sends for a change.
func ariEvents(n Update, ch change) (events []string) {
	event := func(kind string, channel map[string]any, more ...any) {
		events = append(events, string(ariEvent("simulate", kind, append(more, "channel", channel)...)))
	}
	incoming := n.Call.Direction == ""
	if n.Verb == Ring && incoming {
		event("ChannelCreated", trunkChannel(ch.call, "Ring"))
	}
	for _, leg := range ch.began {
		event("ChannelCreated", withFields(channel(ch.call, leg), "state", "Down"))
		event("ChannelStateChange", channel(ch.call, leg))
	}
	for _, leg := range ch.changed {
		kind := "ChannelStateChange"
		if n.Verb == ChangeCaller {
			kind = "ChannelConnectedLine"
		}
		event(kind, channel(ch.call, leg))
	}
	if n.Verb == Answer && incoming {
		event("ChannelStateChange", trunkChannel(ch.call, "Up"))
	}
	for _, leg := range ch.ended {
		event("ChannelDestroyed", channel(ch.call, leg), "cause", hangupCause(n), "cause_txt", "")
	}
	if n.Verb == End && incoming {
		event("ChannelDestroyed", trunkChannel(ch.call, "Up"), "cause", 16, "cause_txt", "Normal Clearing")
	}
	return events
}

// remember stores a channel's variables, and drops those of the oldest channels.
func (a *ARI) remember(id, pres, first string) {
	a.Vars[id+" "+varPresentation], a.Vars[id+" "+varLinkedID] = pres, first
	if a.varOrder = append(a.varOrder, id); len(a.varOrder) > maxRemembered/2 {
		for _, name := range []string{varPresentation, varLinkedID} {
			delete(a.Vars, a.varOrder[0]+" "+name)
			delete(a.RequestCounts, a.varOrder[0]+" "+name)
		}
		a.varOrder = a.varOrder[1:]
	}
}

// ReconnectInterval is how often an Asterisk tries to reconnect, as set in
// websocket_client.conf.
const ReconnectInterval = 500 * time.Millisecond

const outboundApp = "wiebelt"

// OutboundARI returns an Asterisk 22.5 or newer that is configured to
// connect by itself (type=outbound_websocket, connection_type=persistent).
func OutboundARI() *ARI {
	a := newARI()
	a.outbound = true
	return a
}

// Connect makes the Asterisk connect to an address until
// ctx ends or Close. It accepts any certificate.
func (a *ARI) Connect(ctx context.Context, address string) {
	ctx, cancel := context.WithCancel(ctx)
	a.closeListener, a.notifyEnd = func() error { cancel(); return nil }, goAway
	a.tasks.Go(func() {
		for ctx.Err() == nil {
			a.runConnection(ctx, address)
			_ = wake.Pause(ctx, ReconnectInterval)
		}
	})
	a.stop = context.AfterFunc(ctx, func() { a.shut(nil) })
}

// runConnection runs one connection until it ends.
func (a *ARI) runConnection(ctx context.Context, address string) {
	d := websocket.Dialer{HandshakeTimeout: writeTime, Subprotocols: []string{"ari"}, TLSClientConfig: anyCertificate}
	conn, _, err := d.DialContext(ctx, address, nil)
	if err != nil {
		return
	}
	a.serveSocket(socketHandler{
		onOpen: func(c *wsConn) func() {
			var first [][]byte
			for _, event := range a.queuedEvents {
				first = append(first, []byte(event))
			}
			a.apps[outboundApp], a.queuedEvents = c, nil
			c.mu.Lock() // events that were kept go first
			return func() {
				defer c.mu.Unlock()
				_ = c.write(append(first, ariEvent(outboundApp, "ApplicationRegistered"))...) // reading reports a failure
			}
		},
		onMessage: func(c *wsConn, b []byte) bool {
			c.mu.Lock() // a SendUpdate that waits for the request sends nothing before its answer
			defer c.mu.Unlock()
			return c.write(a.handleREST(b)) == nil
		},
		onClose: func(c *wsConn) { a.onClosed(outboundApp, c) },
	}, func() (*websocket.Conn, error) { return conn, nil })
}

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
	return ariEvent(outboundApp, "RESTResponse", "transaction_id", q.TransactionID, "request_id", q.RequestID, "status_code", status,
		"reason_phrase", http.StatusText(status), "uri", path, "content_type", "application/json", "message_body", string(toJSON(body)))
}

// openOutboundARI makes an Asterisk that connects to a relay on this computer
// and does not listen.
func openOutboundARI(ctx context.Context, o Options) (Softphone, error) {
	a := OutboundARI()
	a.Connect(ctx, "wss://"+loopbackAddress(o.Port)+"/in/"+url.PathEscape(o.PathToken)+"/"+registry.ARIOutbound)
	return struct{ Softphone }{a}, nil
}
