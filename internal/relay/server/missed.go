package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// storeMissed stores a call that none of a user's computers received.
func (r *relay) storeMissed(u wire.User, c wire.Call, over time.Time) {
	if r.table.Load().Knows(u) {
		r.journal.Note(u, c, over)
	}
}

// answerMissed answers a user's request for missed calls; the subject identifies the user,
// who may then look those numbers up.
func (r *relay) answerMissed(ctx context.Context, m *nats.Msg) {
	u, err := wire.Asker(m.Subject, m.Reply)
	var q wire.JournalRequest
	if err != nil || !r.table.Load().Knows(u) || len(m.Data) > wire.MaxRequest || json.Unmarshal(m.Data, &q) != nil {
		return
	}
	if !r.lookups.asks.try(string(u), time.Now()) { // others wait for their answers
		return
	}
	page, err := r.journal.Page(ctx, u, q.Seen)
	if err != nil {
		r.Log.Warn("missed calls cannot be read", "why", err)
		return // the user asks again
	}
	for _, c := range page.Calls {
		r.lookups.rings(c.Number, u)
	}
	_ = m.Respond(page.Encode())
}

// purgeRemoved deletes the missed calls of removed users and the numbers they may look up.
func (r *relay) purgeRemoved(all []users.Entry) {
	var gone []wire.User
	for _, e := range all {
		if !e.Removed.IsZero() {
			gone = append(gone, e.User)
		}
	}
	r.lookups.forget(gone)
	r.journal.ForgetUsers(gone)
}
