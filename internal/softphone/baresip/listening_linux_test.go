package baresip

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

func TestListening(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().(*net.TCPAddr).AddrPort()
		if at.Addr().Unmap().IsUnspecified() {
			at = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port())
		}
		first := listening(at)
		if first == "" || listening(at) != first {
			t.Errorf("%s: %q, then %q", address, first, listening(at))
		}
		l.Close()
		if s := listening(at); s != "" {
			t.Errorf("%s: %q after its end", address, s)
		}
		if l, err = net.Listen("tcp", at.String()); err != nil {
			t.Fatal(err)
		}
		if again := listening(at); again == "" || again == first {
			t.Errorf("%s: %q, and %q before", address, again, first)
		}
		l.Close()
	}
	for _, s := range []string{"", ":", "0100007F", "0100007F:", ":115C", "010000:115C", "xy:115C", "0100007F:115", "0100007F00000000:115C"} {
		if _, ok := tableAddress(s); ok {
			t.Errorf("%q is an address", s)
		}
	}
}

// standIn is a phone of which a call rings on every connection.
type standIn struct {
	t        *testing.T
	listener net.Listener
	conn     net.Conn
}

func (s *standIn) serve() {
	s.t.Helper()
	var err error
	if s.conn, err = s.listener.Accept(); err != nil {
		s.t.Fatal(err)
	}
	if _, err = io.WriteString(s.conn, frIncoming); err != nil {
		s.t.Fatal(err)
	}
}

// A phone that is started anew in no time is no phone that another program uses,
// and its calls are over, each time. One that drops us and goes on is.
func TestRestartedInNoTime(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{t: t, listener: l}
	defer func() { s.listener.Close() }()
	l.(*net.TCPListener).SetDeadline(time.Now().Add(30 * time.Second))
	p, err := New(Config{Address: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	events, states, ended := make(chan call.Event, 64), make(chan link.State, 64), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		link.Run(ctx, link.Config{Take: func(e call.Event) error { events <- e; return nil }, State: func(s link.State) { states <- s }}, p)
	}()
	defer func() { cancel(); <-ended }()
	next := func(want call.State) {
		t.Helper()
		select {
		case e := <-events:
			if e.State != want {
				t.Fatalf("%v, want %v", e.State, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("never %v", want)
		}
	}
	s.serve()
	next(call.Ringing)
	for range 5 {
		s.listener.Close()
		if s.listener, err = net.Listen("tcp4", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		s.listener.(*net.TCPListener).SetDeadline(time.Now().Add(2 * time.Second)) // it must be back by then
		s.conn.Close()
		s.serve()
		next(call.Ended)
		next(call.Ringing)
	}
	for len(states) > 0 {
		if st := <-states; st.Phase == link.Kicked {
			t.Fatal("taken for a phone that another program uses")
		}
	}
	for range 2 { // the last one closes without a successor
		s.conn.Close()
		s.serve()
	}
	s.conn.Close()
	for {
		select {
		case st := <-states:
			if st.Phase == link.Kicked {
				s.listener.Close()
				return
			}
		case <-time.After(30 * time.Second):
			t.Fatal("never stood back")
		}
	}
}
