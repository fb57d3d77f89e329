package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Baresip is the ctrl_tcp module of the softphone baresip, version 1.0.0, which also says,
// like 3.24, that a call was answered elsewhere: it sends an event for everything that
// happens, in netstrings, to one client, which a new one replaces without notice.
type Baresip struct {
	*server
	client net.Conn
}

// StartBaresip starts a Baresip.
func StartBaresip(ctx context.Context, address string) (*Baresip, error) {
	l, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	b := &Baresip{}
	b.server = newServer(func() bool { return b.client != nil })
	b.address = Address{Ready: true, Protocol: registry.Baresip, Address: l.Addr().String()}
	b.notifyEnd = halfClose
	b.startStream(ctx, l, b.serveConn, l.Close)
	return b, nil
}

// serveConn serves a connection until it ends. Commands from the client are ignored.
func (b *Baresip) serveConn(conn net.Conn) func() {
	var old net.Conn
	b.With(func() { old, b.client = b.client, conn })
	if old != nil {
		_ = old.Close()
	}
	return func() {
		_, _ = io.Copy(io.Discard, conn)
		b.With(func() {
			if b.client == conn {
				b.client = nil
			}
		})
	}
}

// Send writes text to the client, if there is one.
func (b *Baresip) Send(text string) {
	var client net.Conn
	b.With(func() { client = b.client })
	if client == nil {
		return
	}
	_ = client.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := io.WriteString(client, text); err != nil {
		_ = client.Close() // it is gone; another may connect
	}
}

// baresipEvent has its fields in baresip's order.
type baresipEvent struct {
	Event     bool   `json:"event"`
	Type      string `json:"type"`
	Class     string `json:"class"`
	Account   string `json:"accountaor"`
	Direction string `json:"direction"`
	Peer      string `json:"peeruri"`
	Name      string `json:"peerdisplayname,omitempty"`
	ID        string `json:"id"`
	Param     string `json:"param"`
}

// Netstring returns text as a frame of the protocol.
func Netstring(text string) string { return fmt.Sprintf("%d:%s,", len(text), text) }

// SendUpdate sends the events of a change.
func (b *Baresip) SendUpdate(_ context.Context, n Update) error {
	e := baresipEvent{Event: true, Class: "call", Account: "sip:" + n.Call.dialled() + "@127.0.0.1", Direction: "incoming", Peer: sipURI(n.Call),
		Name: sipName(n.Call), ID: n.Call.ID + "@127.0.0.1"}
	e.Param = e.Peer
	out := n.Call.Direction == "outgoing"
	if out {
		e.Direction = "outgoing"
	}
	switch {
	case n.Verb == Ring && out:
		e.Type = "CALL_RINGING"
	case n.Verb == Ring:
		e.Type = "CALL_INCOMING"
	case n.Verb == Answer:
		for _, e.Type = range []string{"CALL_REMOTE_SDP", "CALL_LOCAL_SDP"} {
			e.Class = "other"
			b.Send(e.frame())
		}
		e.Type, e.Class = "CALL_ESTABLISHED", "call"
	case n.Verb == End:
		e.Type, e.Param = "CALL_CLOSED", "Connection reset by peer"
		switch {
		case n.Reason == call.Rejected && out:
			e.Param = "603 Decline"
		case n.Reason == call.Rejected:
			e.Param = "Connection reset by user"
		case n.Reason == call.AnsweredElsewhere:
			e.Param += `,SIP;cause=200;text="Call completed elsewhere"`
		}
	default:
		return nil
	}
	b.Send(e.frame())
	return nil
}

func (e baresipEvent) frame() string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // strings: cannot fail
	return Netstring(strings.TrimSuffix(text.String(), "\n"))
}
