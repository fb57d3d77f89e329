package windowapp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/instance/windowapi"
)

// pipe is a connection whose other end is the test.
type pipe struct {
	context.Context
	end  context.CancelFunc
	in   chan message
	sent []string
}

func newPipe(t *testing.T) *pipe {
	p := &pipe{in: make(chan message, 2)}
	p.Context, p.end = context.WithCancel(t.Context())
	return p
}

func (p *pipe) Send(kind string, _ any) error {
	p.sent = append(p.sent, kind)
	return p.Err()
}

func (p *pipe) Receive() (string, json.RawMessage, error) {
	select {
	case <-p.Done():
		return "", nil, io.EOF
	case m := <-p.in:
		raw, err := json.Marshal(m.m)
		return m.kind, raw, err
	}
}

func (p *pipe) Close() error {
	p.end()
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
			p := newPipe(t)
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
			if closed, good := p.Err() != nil, err == nil && !elsewhere; closed && good || !closed && err != nil && tt.connect == nil {
				t.Errorf("closed: %v", closed)
			}
		})
	}
}

// TestPumps: the goroutines pass messages on in order, and end with the connection.
func TestPumps(t *testing.T) {
	p, out, want := newPipe(t), make(chan message, 2), []string{"a", "b"}
	for _, k := range want {
		p.in <- message{kind: k}
		out <- message{kind: k}
	}
	var got []string
	receive(p, func(kind string, _ json.RawMessage) {
		if got = append(got, kind); len(got) == len(want) {
			p.end()
		}
	})
	close(out)
	p.Context = t.Context()
	if send(p, out, slog.New(slog.DiscardHandler)); !slices.Equal(got, want) || !slices.Equal(p.sent, want) {
		t.Errorf("received %q and sent %q, want %q", got, p.sent, want)
	}
}
