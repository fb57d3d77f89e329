package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// storeMissed stores a call that none of a user's computers heard.
func (r *relay) storeMissed(u wire.User, c wire.Call, over time.Time) {
	if r.table.Load().Knows(u) {
		r.journal.Note(u, c, over)
	}
}

// answerMissed answers a user who asks for the calls that he missed; the subject says who
// that is. He may look those numbers up.
func (r *relay) answerMissed(ctx context.Context, m *nats.Msg) {
	u, err := wire.Asker(m.Subject, m.Reply)
	var q wire.JournalRequest
	if err != nil || !r.table.Load().Knows(u) || len(m.Data) > wire.MaxRequest || json.Unmarshal(m.Data, &q) != nil {
		return
	}
	if !r.lookups.often.try("journal "+string(u), time.Now()) { // others wait for their answers
		return
	}
	page, err := r.journal.Page(ctx, u, q.Seen)
	if err != nil {
		r.Log.Warn("missed calls cannot be read", "why", err)
		return // asked again
	}
	for _, c := range page.Calls {
		r.lookups.rings(c.Number, u)
	}
	_ = m.Respond(page.Encode())
}

// purgeRemoved has the missed calls of users who were removed deleted, and whom they may
// look up.
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
