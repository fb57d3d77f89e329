// Package natstest runs the NATS servers of relays, and
// sends requests to relays as their users do.
package natstest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

// Start runs the server of a relay of the site "kantoor",
// with its files in dir, until the test ends.
func Start(t testing.TB, dir string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	n := must.Get(node.Start(node.Config{Name: "r1", Dir: dir, Host: "127.0.0.1"}, must.Get(credentials.New("kantoor"))(t)))(t)
	t.Cleanup(n.Close)
	return n.Conn, must.Get(jetstream.New(n.Conn))(t)
}

// Files returns what is in all files of a server's folder, one after another.
func Files(t testing.TB, dir string) (all []byte) {
	t.Helper()
	err := fs.ErrNotExist
	for errors.Is(err, fs.ErrNotExist) { // the server removed or renamed one meanwhile
		all = nil
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			all = append(all, b...)
			return err
		})
	}
	must.Do(t, err)
	return all
}

// Ask sends a request on a user's subject and returns the
// answer, which is sent to the user's inbox.
func Ask(c *nats.Conn, subject string, question []byte) ([]byte, error) {
	u, err := wire.UserOf(subject)
	if err != nil {
		return nil, err
	}
	inbox := wire.Inbox(u) + "." + nats.NewInbox()
	answers, err := c.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := c.PublishRequest(subject, inbox, question); err != nil {
		return nil, err
	}
	m, err := answers.NextMsg(time.Minute)
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}
