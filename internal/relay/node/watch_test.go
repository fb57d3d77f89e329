package node

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/testutil/must"
)

// TestMuchAtOnce: a relay that watches a large bucket is sent all of it, and is not taken
// for somebody who does not read.
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
