package resident

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"wiebelt/internal/contact"
	"wiebelt/internal/secret"
)

// watchSecret has the hub asked again as soon as there is another secret, while
// the hub refuses the one there was or there was none. Whoever sets it, in
// whatever window, command or session, tells nobody; an administrator can set
// that of the whole computer. Without trouble the store is not asked.
func (r *Resident) watchSecret(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var tried mark
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		failure := r.facts.of(r.engine.Snapshot()).Lookup.Failure
		if failure != contact.CredentialsRefused && failure != contact.NotSetUp {
			if tried.read { // a look-up told of the trouble, and none of its end
				r.hubWatch.changed()
			}
			tried = mark{}
			continue
		}
		if tried.closed {
			continue // asking would only have somebody asked for a password, again and again
		}
		if now := r.secretMark(ctx); now != tried {
			tried = now
			r.hubWatch.look(0)
		}
	}
}

// mark tells secrets from each other without holding them.
type mark struct {
	read   bool
	closed bool // the store does not give them out
	sum    [sha256.Size]byte
}

func (r *Resident) secretMark(ctx context.Context) mark {
	h := r.set().Hub
	store, err := secret.Open(h.SecretStore, r.o.Dirs)
	if err != nil {
		return mark{read: true, closed: true}
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return mark{read: true, closed: true}
	}
	old, next, err := secret.Pair(ctx, store, ref)
	if err != nil && !errors.Is(err, secret.ErrNotSet) {
		return mark{read: true, closed: true}
	}
	return mark{read: true, sum: sha256.Sum256([]byte(old + "\x00" + next))}
}
