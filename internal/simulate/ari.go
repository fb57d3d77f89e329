package simulate

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/softphone/registry"
)

// ari is an Asterisk with its REST interface: HTTP with a name
// and password, and the events of all channels, our phones' and others', on a
// WebSocket. A withheld number stands in the channel all the same; only its
// presentation says so.
type ari struct {
	*server
	x       extension
	apps    map[string]*wsConn
	listed  bool           // somebody has asked for the channels
	asked   map[string]int // presentations asked for, by channel
	shown   map[string]string
	linked  map[string]string // by channel: the call's first channel
	ordered []string          // channels in shown and linked, oldest first
}

// hiddenNumber is what Asterisk has of a caller who withholds it. It must never
// show anywhere.
const hiddenNumber = "+31201239999"

const maxShown = 1024

func startARI(ctx context.Context, address string) (*ari, error) {
	a := &ari{server: newServer(), apps: map[string]*wsConn{}, asked: map[string]int{}, shown: map[string]string{}, linked: map[string]string{}}
	return a, a.startExchange(ctx, registry.ARI, address, a.serve)
}

func (a *ari) serve(w http.ResponseWriter, r *http.Request) {
	if user, secret, ok := r.BasicAuth(); !ok || user != User || secret != Secret {
		w.Header().Set("WWW-Authenticate", `Basic realm="Asterisk REST Interface"`)
		answerJSON(w, http.StatusUnauthorized, map[string]string{"message": "Authentication required"})
		return
	}
	path := r.URL.Path
	switch {
	case path == "/ari/events":
		a.events(w, r)
	case r.Method != http.MethodGet:
		answerJSON(w, http.StatusMethodNotAllowed, map[string]string{"message": "Invalid method"})
	case path == "/ari/channels":
		var all []map[string]any
		a.with(func() { all, a.listed = a.x.parts(channel), true })
		answerJSON(w, http.StatusOK, all)
	case strings.HasPrefix(path, "/ari/channels/") && strings.HasSuffix(path, "/variable"):
		a.variable(w, strings.TrimSuffix(strings.TrimPrefix(path, "/ari/channels/"), "/variable"), r.URL.Query().Get("variable"))
	default:
		answerJSON(w, http.StatusNotFound, map[string]string{"message": "Resource not found"})
	}
}

// variable answers for channels that have ended, too, as long as they are
// remembered: scenarios may be played faster than anybody can ask.
func (a *ari) variable(w http.ResponseWriter, channel, name string) {
	value, ok := "", false
	a.with(func() {
		switch name {
		case "CONNECTEDLINE(num-pres)":
			value, ok = a.shown[channel], a.shown[channel] != ""
			a.asked[channel]++
		case "CHANNEL(linkedid)":
			value, ok = a.linked[channel], a.linked[channel] != ""
		}
	})
	if !ok {
		answerJSON(w, http.StatusNotFound, map[string]string{"message": "Provided channel was not found"})
		return
	}
	answerJSON(w, http.StatusOK, map[string]string{"value": value})
}

func (a *ari) events(w http.ResponseWriter, r *http.Request) {
	app := r.URL.Query().Get("app")
	if app == "" || len(app) > 256 {
		answerJSON(w, http.StatusBadRequest, map[string]string{"message": "HTTP request is missing param: [app]"})
		return
	}
	if !websocket.IsWebSocketUpgrade(r) {
		answerJSON(w, http.StatusUpgradeRequired, map[string]string{"message": "Upgrade required"})
		return
	}
	a.upgrade(w, r, socket{protocols: []string{"ari"},
		began: func(c *wsConn) func() {
			old := a.apps[app]
			a.apps[app] = c
			if old == nil {
				return nil
			}
			return func() { // it is told, and gets nothing more
				_ = old.send(toJSON(map[string]any{"type": "ApplicationReplaced", "timestamp": stamp(time.Now()), "application": app, "asterisk_id": asteriskID}))
			}
		},
		over: func(c *wsConn) {
			if a.apps[app] == c {
				delete(a.apps, app)
			}
		},
	})
}

const asteriskID = "08:00:27:00:00:01"

// channelID and channelName are those of one of our phones.
func channelID(leg int) string   { return fmt.Sprintf("1736065800.%d", leg) }
func channelName(leg int) string { return fmt.Sprintf("PJSIP/%s-%08x", Extension, leg) }

// channel is one of our phones' as the interface describes it.
func channel(c exchangeCall, leg int) map[string]any {
	number, name := digits(c.call.Number), c.call.Name
	if c.call.Number == "" {
		number, name = hiddenNumber, "Anonymous"
	}
	exten := digits(c.call.Line)
	if exten == "" {
		exten = Extension
	}
	if c.call.Direction == "outgoing" {
		exten = number
	}
	m := map[string]any{"id": channelID(leg), "name": channelName(leg), "state": [...]string{"Ringing", "Ring", "Up"}[c.state], "protocol_id": "a84b4c76e66710",
		"caller":    map[string]string{"name": "", "number": Extension},
		"connected": map[string]string{"name": name, "number": number}, "accountcode": "",
		"dialplan":     map[string]any{"context": "inbound", "exten": exten, "priority": 1, "app_name": "AppDial", "app_data": "(Outgoing Line)"},
		"creationtime": stamp(c.began), "language": "nl"}
	if via := digits(c.call.Via); via != "" {
		m["caller_rdnis"] = via
	}
	return m
}

// trunkChannel brings a call from outside. It is no phone of ours, and rings in
// the other sense of the word.
func trunkChannel(c exchangeCall, state string) map[string]any {
	number := digits(c.call.Number)
	if number == "" {
		number = hiddenNumber
	}
	return map[string]any{"id": channelID(c.talk), "name": fmt.Sprintf("PJSIP/trunk-%08x", c.talk), "state": state, "protocol_id": "b77f0c76e66711",
		"caller":    map[string]string{"name": c.call.Name, "number": number},
		"connected": map[string]string{"name": "", "number": ""}, "accountcode": "",
		"dialplan":     map[string]any{"context": "inbound", "exten": digits(c.call.Line), "priority": 1, "app_name": "Dial", "app_data": "PJSIP/" + Extension},
		"creationtime": stamp(c.began), "language": "nl"}
}

func (a *ari) Ready(ctx context.Context) error {
	return a.until(ctx, func() bool { return a.listed && len(a.apps) > 0 })
}

// Tell sends events, and waits until it was asked whether a new number may be
// shown.
func (a *ari) Tell(ctx context.Context, n News) error {
	var events []map[string]any
	asks := map[string]int{} // channels about which a question is due, and how many there were
	event := func(kind string, channel map[string]any, more ...any) {
		e := map[string]any{"type": kind, "timestamp": stamp(time.Now()), "channel": channel, "asterisk_id": asteriskID}
		events = append(events, with(e, more...))
	}
	a.with(func() {
		ch := a.x.take(n)
		incoming := n.Call.Direction == ""
		pres := "allowed_not_screened"
		if n.Call.Number == "" {
			pres = "prohib_not_screened"
		}
		if n.Do == Ring && incoming {
			event("ChannelCreated", trunkChannel(ch.call, "Ring"))
		}
		for _, leg := range ch.began {
			id := channelID(leg)
			a.remember(id, pres, channelID(ch.call.talk))
			event("ChannelCreated", with(channel(ch.call, leg), "state", "Down"))
			event("ChannelStateChange", channel(ch.call, leg))
			if incoming {
				asks[id] = a.asked[id]
			}
		}
		for _, leg := range ch.changed {
			id := channelID(leg)
			kind := "ChannelStateChange"
			if n.Do == Caller {
				kind = "ChannelConnectedLine"
				if incoming {
					asks[id] = a.asked[id]
				}
				a.shown[id] = pres
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
	})
	to := mail{}
	a.with(func() {
		for app, c := range a.apps {
			for _, e := range events {
				to[c] = append(to[c], toJSON(with(e, "application", app)))
			}
		}
	})
	to.send()
	return a.taken(ctx, func() bool {
		for id, before := range asks {
			if len(a.apps) > 0 && a.asked[id] == before {
				return false
			}
		}
		return true
	})
}

// remember keeps what may be asked about a channel, of the last ones only.
func (a *ari) remember(id, presentation, linked string) {
	a.shown[id], a.linked[id] = presentation, linked
	if a.ordered = append(a.ordered, id); len(a.ordered) > maxShown {
		old := a.ordered[0]
		a.ordered = a.ordered[1:]
		delete(a.shown, old)
		delete(a.linked, old)
		delete(a.asked, old)
	}
}
