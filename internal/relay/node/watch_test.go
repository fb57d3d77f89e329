package node

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

// TestMuchAtOnce: a relay that watches a large bucket receives all of it, and is not
// taken for a slow consumer.
func TestMuchAtOnce(t *testing.T) {
	n, _ := start(t)
	kv := must.Get(must.Get(jetstream.New(n.Conn))(t).CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "large", Storage: jetstream.MemoryStorage}))(t)
	const size, keys = 100 << 10, 80
	for i := range keys {
		must.Get(kv.Put(t.Context(), fmt.Sprint(i), make([]byte, size)))(t)
	}
	w := must.Get(kv.WatchAll(t.Context()))(t)
	got := 0
	for range w.Updates() {
		if got++; got == keys {
			break
		}
	}
	if again := n.Conn.Stats().Reconnects; again != 0 {
		t.Errorf("connected anew %d times", again)
	}
	must.Do(t, w.Stop())
}

// idle is a connection that reads until told to stop.
type idle struct {
	net.Conn
	stop, over chan struct{}
}

func (c idle) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	c.Conn = conn
	return c, err
}

func (c idle) Read(b []byte) (int, error) {
	select {
	case <-c.stop:
		<-c.over
		return 0, net.ErrClosed
	default:
		return c.Conn.Read(b)
	}
}

// TestDeskThatDoesNotRead checks that such a desk is disconnected long before a
// relay buffers its maximum for it.
func TestDeskThatDoesNotRead(t *testing.T) {
	n, a := start(t)
	line := idle{stop: make(chan struct{}), over: make(chan struct{})}
	c := must.Get(newDesk(t, a, "anna", time.Now().Add(time.Hour)).connect(n.server.ClientURL(), nats.SetCustomDialer(line)))(t)
	defer c.Close()
	defer close(line.over)
	calls := site.Of(wire.Calls, "anna")
	must.Get(c.Subscribe(calls, func(*nats.Msg) {}))(t)
	must.Do(t, c.Flush())
	close(line.stop)
	before, sent := n.server.NumClients(), 0
	must.Soon(t, func() (bool, any) {
		sent += 100 << 10
		must.Do(t, n.Conn.Publish(calls, make([]byte, 100<<10)), n.Conn.Flush())
		return n.server.NumClients() < before, before
	})
	if sent > maxPending/2 {
		t.Errorf("cut off after %d MB", sent>>20)
	}
}
