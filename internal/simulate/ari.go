package simulate

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/softphone/registry"
)

// ARI is an Asterisk with its REST interface: HTTP with a name and password, and the events
// of all channels on a WebSocket. Access its fields only within With.
type ARI struct {
	*server
	Channels Listed
	Vars     map[string]string // by channel and name, as in "1736065800.12 CHANNEL(linkedid)"
	Asked    []string          // names of variables, the most recent ones
	apps     map[string]*wsConn
	listed   bool     // the channels have been requested
	joined   int      // how often linked has been requested
	dials    bool     // it connects by itself
	kept     []string // events while not connected
	Refuses  int      // the status that answers every request; 0 for none
	ours     extension
	ordered  []string // played channels in Vars, oldest first
}

// StartARI starts an ARI, until ctx ends or Close. listen is a literal loopback address
// with its port, "" for a free one.
func StartARI(ctx context.Context, listen string, account Account) (*ARI, error) {
	a := newARI()
	return a, a.startExchange(ctx, registry.ARI, listen, account, a.serve)
}

func newARI() *ARI {
	a := &ARI{Channels: Listed{}, Vars: map[string]string{}, apps: map[string]*wsConn{}}
	a.server = newServer(func() bool { return a.listed && len(a.apps) > 0 })
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
	a.With(func() { status = a.Refuses })
	if status != 0 {
		return status, message(http.StatusText(status))
	}
	id, isChannel := strings.CutPrefix(path, "channels/")
	id, isVariable := strings.CutSuffix(id, "/variable")
	switch {
	case method != http.MethodGet:
		return http.StatusMethodNotAllowed, message("Invalid method")
	case path == "channels":
		a.With(func() { body, a.listed = a.Channels.all(), true })
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
		value, ok = a.Vars[channel+" "+name]
		if a.Asked = append(a.Asked, channel+" "+name); len(a.Asked) > maxRemembered {
			a.Asked = a.Asked[1:]
		}
		if name == linked {
			a.joined++
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
		answerJSON(w, http.StatusBadRequest, map[string]string{"message": "HTTP request is missing param: [app]"})
		return
	}
	if !websocket.IsWebSocketUpgrade(r) {
		answerJSON(w, http.StatusUpgradeRequired, map[string]string{"message": "Upgrade required"})
		return
	}
	a.upgrade(w, r, socket{protocols: []string{"ari"},
		onOpen: func(c *wsConn) func() {
			old := a.apps[app]
			a.apps[app] = c
			if old == nil {
				return nil
			}
			return func() { // it is notified, and receives nothing more
				_ = old.send(toJSON(map[string]any{"type": "ApplicationReplaced", "timestamp": stamp(time.Now()), "application": app, "asterisk_id": asteriskID}))
			}
		},
		onClose: func(c *wsConn) { a.closed(app, c) },
	})
}

func (a *ARI) closed(app string, c *wsConn) {
	if a.apps[app] == c {
		delete(a.apps, app)
	}
}

const asteriskID = "08:00:27:00:00:01"

// Send writes events to every application, or, if this Asterisk dials and is not connected,
// keeps them until it is.
func (a *ARI) Send(events ...string) {
	a.With(func() {
		if a.dials && len(a.apps) == 0 {
			a.kept = append(a.kept, events...)
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
	presentation = "CONNECTEDLINE(num-pres)"
	linked       = "CHANNEL(linkedid)"
)

// channelID and channelName identify a channel of one of our phones.
func channelID(leg int) string   { return fmt.Sprintf("1736065800.%d", leg) }
func channelName(leg int) string { return fmt.Sprintf("PJSIP/%s-%08x", extensionNumber, leg) }

// channel returns a channel of one of our phones as the interface describes it.
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
	return map[string]any{"id": channelID(c.talk), "name": fmt.Sprintf("PJSIP/trunk-%08x", c.talk), "state": state, "protocol_id": "b77f0c76e66711",
		"caller":    map[string]string{"name": c.call.Name, "number": number},
		"connected": map[string]string{"name": "", "number": ""}, "accountcode": "",
		"dialplan":     map[string]any{"context": "inbound", "exten": digits(c.call.Line), "priority": 1, "app_name": "Dial", "app_data": "PJSIP/" + extensionNumber},
		"creationtime": stamp(c.began), "language": "nl"}
}

// Tell sends the events of an update, and waits until the client has asked whether a
// new number may be shown.
func (a *ARI) Tell(ctx context.Context, n Update) error {
	var events []string
	asks := map[string]int{} // the variables to wait for, and how often each has been requested
	joins := 0               // how often linked must have been requested, to join the legs
	a.With(func() {
		ch := a.ours.take(n)
		a.ours.list(a.Channels, channelID, channel)
		events = ariEvents(n, ch)
		pres := "allowed_not_screened"
		if n.Call.Number == "" {
			pres = "prohib_not_screened"
		}
		shown := ch.began
		if n.Do == Caller {
			shown = ch.changed
		}
		if n.Do == Again && n.Call.Direction == "" {
			joins = a.joined + 2 // for both legs
		}
		for _, leg := range shown {
			id := channelID(leg)
			a.remember(id, pres, channelID(ch.call.talk))
			if n.Call.Direction == "" {
				asks[id+" "+presentation] = a.timesAsked(id + " " + presentation)
			}
		}
	})
	a.Send(events...)
	return a.taken(ctx, func() bool {
		for variable, before := range asks {
			if len(a.apps) > 0 && a.timesAsked(variable) == before {
				return false
			}
		}
		return len(a.apps) == 0 || a.joined >= joins
	})
}

// ariEvents returns the events that Asterisk sends for a change.
func ariEvents(n Update, ch change) (events []string) {
	event := func(kind string, channel map[string]any, more ...any) {
		e := map[string]any{"type": kind, "timestamp": stamp(time.Now()), "channel": channel, "asterisk_id": asteriskID, "application": "simulate"}
		events = append(events, string(toJSON(withFields(e, more...))))
	}
	incoming := n.Call.Direction == ""
	if n.Do == Ring && incoming {
		event("ChannelCreated", trunkChannel(ch.call, "Ring"))
	}
	for _, leg := range ch.began {
		event("ChannelCreated", withFields(channel(ch.call, leg), "state", "Down"))
		event("ChannelStateChange", channel(ch.call, leg))
	}
	for _, leg := range ch.changed {
		kind := "ChannelStateChange"
		if n.Do == Caller {
			kind = "ChannelConnectedLine"
		}
		event(kind, channel(ch.call, leg))
	}
	if n.Do == Answer && incoming {
		event("ChannelStateChange", trunkChannel(ch.call, "Up"))
	}
	for _, leg := range ch.gone {
		event("ChannelDestroyed", channel(ch.call, leg), "cause", hangupCause(n), "cause_txt", "")
	}
	if n.Do == End && incoming {
		event("ChannelDestroyed", trunkChannel(ch.call, "Up"), "cause", 16, "cause_txt", "Normal Clearing")
	}
	return events
}

func (a *ARI) timesAsked(variable string) (n int) {
	for _, v := range a.Asked {
		if v == variable {
			n++
		}
	}
	return n
}

// remember stores a channel's variables, and drops those of the oldest channels.
func (a *ARI) remember(id, pres, first string) {
	a.Vars[id+" "+presentation], a.Vars[id+" "+linked] = pres, first
	if a.ordered = append(a.ordered, id); len(a.ordered) > maxRemembered/2 {
		delete(a.Vars, a.ordered[0]+" "+presentation)
		delete(a.Vars, a.ordered[0]+" "+linked)
		a.ordered = a.ordered[1:]
	}
}
