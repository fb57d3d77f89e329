package windowapp

import (
	"encoding/json"
	"io"
	"slices"
	"sync"

	"wiebelt/internal/instance/windowapi"
)

// WithoutResident reports whether a window is useful without a resident: everything
// it shows is in files.
func WithoutResident(name string) bool {
	return slices.Contains([]string{windowapi.WindowCalls, windowapi.WindowDelivery, windowapi.WindowDoctor, windowapi.WindowHelp,
		windowapi.WindowRecipes, windowapi.WindowSettings}, name)
}

// localConn is the connection used without a resident. It sends a welcome, reports that nothing
// is under way, and rejects what only a resident can do.
type localConn struct {
	answers chan answer
	once    sync.Once
	closed  chan struct{}
}

type answer struct {
	kind string
	raw  json.RawMessage
}

// NewLocalConn returns a connection for windows without a resident.
func NewLocalConn(w windowapi.Welcome) (Conn, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	a := &localConn{answers: make(chan answer, 8), closed: make(chan struct{})}
	a.answers <- answer{windowapi.KindWelcome, raw}
	return a, nil
}

func (a *localConn) Send(kind string, msg any) error {
	var m any
	switch ask := msg.(type) {
	case windowapi.DeliveryRequest:
		m = windowapi.Delivery{Failed: len(ask.Paths) > 0 || ask.ID != "" || ask.Release}
	case windowapi.Lookup:
		m = windowapi.LookupResult{Seq: ask.Seq, Entry: ask.Entry, Outcome: windowapi.LookupNoResident}
	case windowapi.Copy: // the copied text would be lost with this process
	default:
		if kind == windowapi.KindQuit {
			return a.Close()
		}
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	select {
	case a.answers <- answer{kind, raw}:
	case <-a.closed:
	}
	return nil
}

func (a *localConn) Receive() (string, json.RawMessage, error) {
	select {
	case m := <-a.answers:
		return m.kind, m.raw, nil
	case <-a.closed:
		return "", nil, io.EOF
	}
}

func (a *localConn) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}
