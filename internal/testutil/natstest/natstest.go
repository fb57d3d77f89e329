// Package natstest asks relays as their users do.
package natstest

import (
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/relay/wire"
)

// Ask asks on a user's subject and gives the answer, which comes to an inbox of his.
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
