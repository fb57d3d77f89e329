package windowapp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/instance/windowapi"
)

// pipe is a connection whose other end is the test.
type pipe struct {
	in     chan message
	once   sync.Once
	closed chan struct{}
	sent   chan string
}

func newPipe() *pipe {
	return &pipe{in: make(chan message, 8), closed: make(chan struct{}), sent: make(chan string, 8)}
}

func (p *pipe) Send(kind string, _ any) error {
	select {
	case <-p.closed:
		return io.ErrClosedPipe
	case p.sent <- kind:
		return nil
	}
}

func (p *pipe) Receive() (string, json.RawMessage, error) {
	select {
	case <-p.closed:
		return "", nil, io.EOF
	case m := <-p.in:
		raw, err := json.Marshal(m.m)
		return m.kind, raw, err
	}
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func TestGreet(t *testing.T) {
	defer goleak.VerifyNone(t)
	refused := errors.New("refused")
	tests := []struct {
		name    string
		first   *message
		connect error
		want    error
	}{
		{"welcome", &message{windowapi.KindWelcome, windowapi.Welcome{Language: "nl"}}, nil, nil},
		{"windows are open already", &message{windowapi.KindQuit, nil}, nil, nil},
		{"something else first", &message{windowapi.KindStatus, windowapi.Status{}}, nil, ErrNoWelcome},
		{"nobody there", nil, refused, refused},
		{"says nothing", nil, nil, ErrNoWelcome},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipe()
			if tt.first != nil {
				p.in <- *tt.first
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			conn, w, err := handshake(ctx, Config{Connect: func(context.Context) (Conn, error) {
				if tt.first == nil && tt.connect == nil {
					cancel() // like the time limit
				}
				if tt.connect != nil {
					return nil, tt.connect
				}
				return p, nil
			}})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			elsewhere := tt.first != nil && tt.first.kind == windowapi.KindQuit
			if (conn == nil) != (err != nil || elsewhere) {
				t.Error("a connection", conn)
			}
			if err == nil && !elsewhere && w.Language != "nl" {
				t.Errorf("welcome %+v", w)
			}
			select {
			case <-p.closed:
				if err == nil && !elsewhere {
					t.Error("a good connection was closed")
				}
			default:
				if err != nil && tt.connect == nil {
					t.Error("a bad connection was left open")
				}
			}
		})
	}
}

// TestPumps: the goroutines pass messages on in order, and end with the connection.
func TestPumps(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPipe()
	var group sync.WaitGroup
	got := make(chan string, 8)
	group.Go(func() { receive(p, func(kind string, _ json.RawMessage) { got <- kind }) })
	out := make(chan message, 8)
	group.Go(func() { send(p, out, slog.New(slog.DiscardHandler)) })
	for _, k := range []string{"a", "b", "c"} {
		p.in <- message{kind: k}
		out <- message{kind: k}
	}
	for _, k := range []string{"a", "b", "c"} {
		if g := <-got; g != k {
			t.Errorf("received %q, want %q", g, k)
		}
		if g := <-p.sent; g != k {
			t.Errorf("sent %q, want %q", g, k)
		}
	}
	p.Close()
	close(out)
	group.Wait()
}
