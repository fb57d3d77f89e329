package baresip

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// standIn is a phone with a call ringing on every connection.
type standIn struct {
	t        *testing.T
	listener net.Listener
	conn     net.Conn
}

func (s *standIn) serve() {
	s.t.Helper()
	s.conn = must.Get(s.listener.Accept())(s.t)
	must.Get(io.WriteString(s.conn, frIncoming))(s.t)
}

// TestRestartedInNoTime: a phone that restarts instantly does not count as taken by another
// program, and its calls are over, each time. One that drops us but keeps running does.
func TestRestartedInNoTime(t *testing.T) {
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	s := &standIn{t: t, listener: l}
	defer func() { s.listener.Close() }()
	l.(*net.TCPListener).SetDeadline(time.Now().Add(30 * time.Second))
	w := linktest.Run(t, newPhone(t, l.Addr().String()))
	s.serve()
	w.Want(call.Ringing)
	for i := range 5 {
		if i == 4 { // the link sees no clean end, only another phone
			must.Get(io.WriteString(s.conn, "no frame"))(t)
		}
		s.listener.Close()
		s.listener = must.Get(net.Listen("tcp4", l.Addr().String()))(t)
		s.listener.(*net.TCPListener).SetDeadline(time.Now().Add(2 * time.Second)) // it must be back by then
		s.conn.Close()
		s.serve()
		w.Want(call.Ended)
		w.Want(call.Ringing)
	}
	for len(w.States) > 0 {
		if st := <-w.States; st.Phase == link.Kicked {
			t.Fatal("taken for a phone that another program uses")
		}
	}
	for range 2 { // the last one closes without a successor
		s.conn.Close()
		s.serve()
	}
	s.conn.Close()
	w.Until(link.Kicked)
}

// TestOtherUser: the link does not connect to another user's phone at the port where ours would be.
func TestOtherUser(t *testing.T) {
	runtime.LockOSThread() // the fsuid set below is per thread
	defer runtime.UnlockOSThread()
	_, err := unix.SetfsuidRetUid(65534)
	must.Do(t, err)
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	defer l.Close()
	_, err = unix.SetfsuidRetUid(0)
	must.Do(t, err)
	w := linktest.Run(t, newPhone(t, strings.Replace(l.Addr().String(), "127.0.0.1", "localhost", 1)))
	if s := w.Until(link.Refused); s.Cause != link.CauseOwner || len(w.Events) > 0 {
		t.Errorf("%+v, %d events", s, len(w.Events))
	}
	own := must.Get(net.Dial("tcp4", l.Addr().String()))(t)
	defer own.Close()
	first := must.Get(l.Accept())(t)
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Error("the other user's phone has lost its own user")
	}
}
