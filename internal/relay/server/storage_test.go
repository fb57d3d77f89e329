package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

// TestLost: if one of its streams is lost, the relay notifies users and recreates the
// stream with the users it knows; they stay joined, and calls continue.
func TestLost(t *testing.T) {
	t.Parallel()
	o := start(t, func(c *Config) { c.Settings.Journal.Days = 2 })
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	key := o.key("anna")
	must.Soon(t, func() (bool, any) {
		b, err := os.ReadFile(filepath.Join(o.Dir, usersBackup))
		return err == nil && strings.Contains(string(b), key), "no backup of the users"
	})
	until := o.states()
	js := must.Get(jetstream.New(o.node.Conn))(t)
	bucket := o.bucket
	for i, name := range []string{"KV_users", "KV_joins", "KV_calls", "KV_leases", "journal"} {
		must.Do(t, js.DeleteStream(t.Context(), name))
		until(func(s wire.State) bool { return s.Fault == faultStorage })
		until(func(s wire.State) bool { return s.Fault == "" })
		if _, err := js.Stream(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		o.report("", fmt.Sprintf(`{"id":"%d","state":"ringing","number":"0698760011","extension":"101"}`, i))
		e := anna.Await(call.Ringing)
		for e.ID != fmt.Sprint(i) { // earlier ones still ring
			e = anna.Await(call.Ringing)
		}
		if e.Number != "0698760011" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if o.bucket != bucket {
		t.Error("calls are written to a bucket of which the feed does not tell whether it is full")
	}
}
