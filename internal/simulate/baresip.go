package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// baresip is the module ctrl_tcp of the softphone of that name, version 1.0.0: an
// event for everything that happens, in netstrings, to one client, whom a new one
// replaces without a word.
type baresip struct {
	*server
	client net.Conn
}

func startBaresip(ctx context.Context, address string) (*baresip, error) {
	l, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	b := &baresip{server: newServer()}
	b.address = Address{Ready: true, Over: registry.Baresip, Address: l.Addr().String()}
	b.part = func(c io.Closer) {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
	}
	b.startStream(ctx, l, b.began, l.Close)
	return b, nil
}

// began sees a connection from beginning to end. What the client asks for is not
// done.
func (b *baresip) began(conn net.Conn) func() {
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

func (b *baresip) Ready(ctx context.Context) error {
	return b.Until(ctx, func() bool { return b.client != nil })
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

func (b *baresip) Tell(_ context.Context, n News) error {
	e := baresipEvent{Event: true, Class: "call", Account: "sip:" + extensionNumber + "@127.0.0.1", Direction: "incoming", Peer: sipURI(n.Call),
		Name: sipName(n.Call), ID: n.Call.ID + "@127.0.0.1"}
	if line := digits(n.Call.Line); line != "" {
		e.Account = "sip:" + line + "@127.0.0.1"
	}
	e.Param = e.Peer
	out := n.Call.Direction == "outgoing"
	if out {
		e.Direction = "outgoing"
	}
	switch {
	case n.Do == Ring && out:
		return b.send(e, "CALL_RINGING", "call")
	case n.Do == Ring:
		return b.send(e, "CALL_INCOMING", "call")
	case n.Do == Answer:
		for _, kind := range []string{"CALL_REMOTE_SDP", "CALL_LOCAL_SDP"} {
			if err := b.send(e, kind, "other"); err != nil {
				return err
			}
		}
		return b.send(e, "CALL_ESTABLISHED", "call")
	case n.Do == End:
		e.Param = "Connection reset by peer"
		if n.Reason == call.Rejected {
			e.Param = "Connection reset by user"
		}
		return b.send(e, "CALL_CLOSED", "call")
	}
	return nil
}

// send writes an event to the client, if there is one.
func (b *baresip) send(e baresipEvent, kind, class string) error {
	e.Type, e.Class = kind, class
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err // not of strings
	}
	body := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	b.mu.Lock()
	client := b.client
	b.mu.Unlock()
	if client == nil {
		return nil
	}
	_ = client.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := client.Write(append(append([]byte(strconv.Itoa(len(body))+":"), body...), ',')); err != nil {
		_ = client.Close() // it is gone; another may come
	}
	return nil
}
