package node

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/testutil/must"
)

// TestManyRevoked: a relay with more revoked keys than fit in a token
// starts, and enforces them.
func TestManyRevoked(t *testing.T) {
	a := must.Get(credentials.New(site))(t)
	revoked := map[string]time.Time{}
	for i := range 12_000 {
		var seed [32]byte
		binary.BigEndian.PutUint32(seed[:], uint32(i))
		pair := must.Get(nkeys.FromRawSeed(nkeys.PrefixByteUser, seed[:]))(t)
		revoked[must.Get(pair.PublicKey())(t)] = time.Now()
	}
	gone, stays := newDesk(t, a, "anna", time.Now().Add(time.Hour)), newDesk(t, a, "bram", time.Now().Add(time.Hour))
	revoked[gone.public] = time.Now()
	n := must.Get(Start(Config{Name: "r1", Dir: t.TempDir(), Host: "127.0.0.1", Revoked: revoked}, a))(t)
	defer n.Close()
	if _, err := gone.connect(n.server.ClientURL()); err == nil {
		t.Error("a revoked key connects")
	}
	c := must.Get(stays.connect(n.server.ClientURL()))(t)
	c.Close()
}
