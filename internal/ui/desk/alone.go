package desk

import (
	"encoding/json"
	"io"
	"slices"
	"sync"

	"wiebelt/internal/deskapi"
)

// WithoutResident reports whether a window is of use where no resident runs: all that
// it shows lies in files.
func WithoutResident(name string) bool {
	return slices.Contains([]string{deskapi.WindowCalls, deskapi.WindowDelivery, deskapi.WindowDoctor, deskapi.WindowHelp,
		deskapi.WindowRecipes, deskapi.WindowSettings}, name)
}

// alone is the connection where no resident runs. It gives a welcome, says that
// nothing is under way, and refuses what only a resident can do.
type alone struct {
	answers chan answer
	once    sync.Once
	closed  chan struct{}
}

type answer struct {
	kind string
	raw  json.RawMessage
}

// Alone is a connection for windows without a resident.
func Alone(w deskapi.Welcome) (Conn, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	a := &alone{answers: make(chan answer, 8), closed: make(chan struct{})}
	a.answers <- answer{deskapi.KindWelcome, raw}
	return a, nil
}

func (a *alone) Send(kind string, msg any) error {
	var m any
	switch ask := msg.(type) {
	case deskapi.DeliveryDo:
		m = deskapi.Delivery{Failed: len(ask.Paths) > 0 || ask.ID != "" || ask.Release}
	case deskapi.Lookup:
		m = deskapi.Found{Seq: ask.Seq, Entry: ask.Entry, Outcome: deskapi.LookupAlone}
	case deskapi.Copy: // it would go with this process
	default:
		if kind == deskapi.KindQuit {
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

func (a *alone) Receive() (string, json.RawMessage, error) {
	select {
	case m := <-a.answers:
		return m.kind, m.raw, nil
	case <-a.closed:
		return "", nil, io.EOF
	}
}

func (a *alone) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}
