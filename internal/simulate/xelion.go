package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Xelion is an exchange with Xelion, for one of its users: a session for name and password,
// the current channels, and the events about them and about calls on a WebSocket. Access
// its fields only within With.
type Xelion struct {
	*server
	Channels        Listing           // of all calls
	Numbers         map[string]string // by channel
	Tokens          Tokens            // each can renew itself
	InUse           bool              // the user space is in use, until the next login
	NonAdmin        bool              // the user is not an administrator and gets no events about calls
	Version         int64             // of the last event about a channel
	ChannelRequests int               // how often the channels were requested
	NumberRequests  int               // how often their numbers were
	Echoes          int               // messages echoed
	sockets         map[*wsConn]map[string]bool
	keys            Tokens // of sockets
	ownExtension    extension
	endingChannels  map[string]map[string]any // channels that end with the next update
}

const xelionBase = "/api/v1/master"

// StartXelion starts a Xelion.
func StartXelion(ctx context.Context, listen string, account Account) (*Xelion, error) {
	x := &Xelion{Channels: Listing{}, Numbers: map[string]string{}, Tokens: Tokens{Lifetime: time.Hour},
		sockets:        map[*wsConn]map[string]bool{},
		endingChannels: map[string]map[string]any{}}
	x.server = newServer(func() bool { return x.ChannelRequests > 0 && x.HasSubscriber() })
	return x, x.startExchange(ctx, registry.Xelion, listen, account, x.serve)
}

func (x *Xelion) serve(w http.ResponseWriter, r *http.Request) {
	if key, ok := strings.CutPrefix(r.URL.Path, "/websocket/"); ok {
		x.websocket(w, r, key)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, xelionBase)
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "xelion ")
	known := false
	x.With(func() { known = x.Tokens.has(token) })
	switch ask := r.Method + " " + path; {
	case ok && ask == "POST /me/login":
		x.login(w, r)
	case !known:
		xelionError(w, http.StatusUnauthorized, 10000)
	case ask == "POST /me/renew":
		x.renew(w, r, token)
	case ask == "POST /me/websocket":
		key := ""
		x.With(func() { key = x.keys.issue() })
		answerJSON(w, http.StatusOK, map[string]string{"object": "ws://" + r.Host + "/websocket/" + key})
	case ask == "GET /communications/active_channels":
		x.list(w, func() []json.RawMessage { x.ChannelRequests++; return x.Channels.all() })
	case ask == "GET /channels":
		x.list(w, func() (all []json.RawMessage) {
			x.NumberRequests++
			for id, number := range x.Numbers {
				all = append(all, toJSON(map[string]any{"channelId": "1536738562." + id, "channelName": id, "phoneNumber": number, "state": "Up"}))
			}
			return all
		})
	default:
		xelionError(w, http.StatusNotFound, 10100)
	}
}

func xelionError(w http.ResponseWriter, status, code int) {
	answerJSON(w, status, map[string]any{"errorCode": code, "message": "", "info": ""})
}

func (x *Xelion) list(w http.ResponseWriter, of func() []json.RawMessage) {
	all := []any{}
	x.With(func() {
		for _, o := range of() {
			all = append(all, map[string]any{"object": o})
		}
	})
	answerJSON(w, http.StatusOK, map[string]any{"data": all, "meta": map[string]any{"links": []any{}}})
}

func (x *Xelion) login(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		User   string `json:"userName"`
		Secret string `json:"password"`
		Space  string `json:"userSpace"`
	}
	taken := false
	x.With(func() { taken, x.InUse = x.InUse, false })
	switch err := json.NewDecoder(io.LimitReader(r.Body, maxMessage)).Decode(&asked); {
	case err != nil || asked.Space == "":
		xelionError(w, http.StatusBadRequest, 10202)
	case asked.User != x.account.User || asked.Secret != x.account.Secret:
		xelionError(w, http.StatusUnauthorized, 10004)
	case taken:
		xelionError(w, http.StatusUnauthorized, 10005)
	default:
		x.grant(w)
	}
}

func (x *Xelion) grant(w http.ResponseWriter) {
	token, life := "", time.Duration(0)
	x.With(func() { token, life = x.Tokens.issue(), x.Tokens.Lifetime })
	answerJSON(w, http.StatusOK, map[string]any{"authentication": token, "renewalToken": token, "validUntil": time.Now().UTC().Add(life).Format(time.DateTime),
		"version": "1.1", "serverVersion": "9 update 1", "buildNumber": "20261104.1", "brand": nil})
}

func (x *Xelion) renew(w http.ResponseWriter, r *http.Request, token string) {
	var renewal string
	if json.NewDecoder(io.LimitReader(r.Body, maxMessage)).Decode(&renewal) != nil || renewal != token {
		xelionError(w, http.StatusUnauthorized, 10020)
		return
	}
	x.grant(w)
}

func (x *Xelion) websocket(w http.ResponseWriter, r *http.Request, key string) {
	known := false
	x.With(func() { known = x.keys.has(key) })
	if !known {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	x.upgrade(w, r, socketHandler{
		onOpen:    func(c *wsConn) func() { x.sockets[c] = map[string]bool{}; return nil },
		onMessage: x.handleMessage,
		onClose:   func(c *wsConn) { delete(x.sockets, c) },
	})
}

func (x *Xelion) handleMessage(c *wsConn, b []byte) bool {
	var m struct {
		Message string `json:"messageType"`
		Type    string `json:"notificationType"`
		Toggle  bool   `json:"toggle"`
	}
	if json.Unmarshal(b, &m) != nil {
		return true
	}
	if m.Message == "test" {
		sent := c.send(b) == nil
		x.With(func() { x.Echoes++ })
		return sent
	}
	x.With(func() {
		if wants := x.sockets[c]; m.Message == "notificationRequest" && len(wants) < 64 {
			wants[m.Type] = m.Toggle
		}
	})
	return true
}

// HasSubscriber reports whether somebody has subscribed to all events. Call it within With.
func (x *Xelion) HasSubscriber() bool {
	for _, wants := range x.sockets {
		if wants["callHungUpEvent"] {
			return true
		}
	}
	return false
}

// XelionEvent is an event of some type.
type XelionEvent struct {
	Type   string
	Fields map[string]any
}

// String returns the event as sent.
func (n XelionEvent) String() string {
	return string(toJSON(map[string]any{"messageType": "notification", "notificationType": n.Type, "notification": n.Fields}))
}

// adminEvents lists the events that only administrators get.
var adminEvents = map[string]bool{"newCallEvent": true, "callConnectedEvent": true, "channelHungUpEvent": true, "callHungUpEvent": true}

// Send sends events to the clients that want and may have them, all before any echo.
func (x *Xelion) Send(events ...XelionEvent) {
	x.sendEach(func(c *wsConn) (texts []string) {
		for _, n := range events {
			if x.sockets[c][n.Type] && !(x.NonAdmin && adminEvents[n.Type]) {
				texts = append(texts, n.String())
			}
		}
		return texts
	})
}

// Channel returns an event about a channel, with the next version. Call it within With.
func (x *Xelion) Channel(update string, channel any) XelionEvent {
	x.Version++
	return XelionEvent{"activeChannelEvent", map[string]any{"updateType": update, "version": x.Version, "activeChannel": channel}}
}

func sipChannel(account string, n int) string { return fmt.Sprintf("SIP/%s-%08x", account, n) }

func party(callID, id, state, name, role, phone string) map[string]any {
	return map[string]any{"callId": callID, "channelId": id, "state": state, "name": name, "organisationName": nil, "role": role, "phone": phone, "phoneUser": nil,
		"twinChannel": false, "parkingSlot": nil}
}

// parties returns the other party's channel, our own channels, and the call as
// shown to an administrator.
func (x *Xelion) parties(c exchangeCall) (other map[string]any, own func(leg int) map[string]any, about map[string]any) {
	number, line := digits(c.call.Number), c.call.dialled()
	name, phone := c.call.Name, ""
	switch {
	case number == "":
		name = "Anonymous"
	case len(number) <= 4:
		phone = number
	case name == "":
		name = number
	}
	mine := func(leg int) string { return sipChannel(extensionNumber, leg) }
	theirs := sipChannel("lijn", c.conversation)
	id, role, ours := theirs, "CALLER", "CALLEE"
	about = map[string]any{"callerPhoneNumber": number, "calleePhoneNumber": line}
	if c.call.Direction == "outgoing" {
		id, role, ours = mine(c.legs[0]), ours, role
		about = map[string]any{"callerPhoneNumber": extensionNumber, "calleePhoneNumber": number}
	}
	about["callId"], about["initiation"], about["date"] = id, nil, c.began.UTC().Format(time.DateTime)
	state := [...]string{"RINGING", "RINGING", "CONNECTED"}[c.state]
	own = func(leg int) map[string]any { return party(id, mine(leg), state, "Anouk", ours, extensionNumber) }
	x.Numbers[theirs] = number
	return party(id, theirs, state, name, role, phone), own, about
}

// SendUpdate sends the events, and waits until the client has put them together. The user is an
// administrator, whose events contain numbers before the channels exist.
func (x *Xelion) SendUpdate(ctx context.Context, n Update) error {
	var events []XelionEvent
	tested := 0
	set := func(channel map[string]any, there bool) {
		id, update := channel["channelId"].(string), "remove"
		delete(x.Channels, id)
		if there {
			x.Channels[id], update = toJSON(channel), "insert"
		}
		events = append(events, x.Channel(update, channel))
	}
	x.With(func() {
		tested = x.Echoes
		for _, c := range x.endingChannels {
			set(c, false)
		}
		clear(x.endingChannels)
		if c := x.ownExtension.find(n.Call.ID); c != nil && n.Verb == ChangeCaller {
			before, _, _ := x.parties(*c)
			set(before, false)
			c.conversation = x.ownExtension.nextNumber()
		}
		ch := x.ownExtension.apply(n)
		if ch.call.conversation == 0 {
			return
		}
		if ch.call.legs == nil {
			ch.call.legs = ch.ended
		}
		other, own, about := x.parties(ch.call)
		switch n.Verb {
		case Ring, ChangeCaller:
			events = append(events, XelionEvent{"newCallEvent", about})
			set(other, true)
		case Answer:
			set(other, true)
		}
		for _, leg := range append(ch.began, ch.changed...) {
			set(own(leg), true)
		}
		if n.Verb == Answer {
			events = append(events, XelionEvent{"callConnectedEvent", about})
		}
		if n.Verb == End {
			x.hungUp(n, other, about, set)
		}
		for _, leg := range ch.ended {
			set(own(leg), false)
		}
		if n.Verb == End && n.Reason == call.Missed {
			events = append(events, XelionEvent{"missedCallEvent", about})
		}
	})
	x.Send(events...)
	return x.awaitProcessed(ctx, func() bool { return n.Verb == RingAgain || len(x.sockets) == 0 || x.Echoes > tested })
}

// hungUp sets what happens to the other party's channel: it
// moves to a colleague, stays until the next update, or ends.
func (x *Xelion) hungUp(n Update, other, about map[string]any, set func(map[string]any, bool)) {
	switch n.Reason {
	case call.AnsweredElsewhere:
		colleague := party(about["callId"].(string), sipChannel("102", x.ownExtension.nextNumber()), "CONNECTED", "Bram", "CALLEE", "102")
		set(colleague, true)
		x.endingChannels["colleague"], x.endingChannels["other"] = colleague, other
	case call.Rejected:
		x.endingChannels["other"] = other
	default:
		set(other, false)
	}
}
