package hubwatch

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
)

// secretEvery is how often the secret is looked at while there is trouble. It is what
// the resident looks at its other files, which wakes it anyway.
const secretEvery = 12 * time.Second

// Secret has the hub asked again as soon as there is another secret, while the hub
// refuses the one there was or there was none. Whoever sets it, in whatever window,
// command or session, tells nobody; an administrator can set that of the whole
// computer. Without trouble the store is not asked.
type Secret struct {
	Dirs    profile.Dirs
	Of      func() settings.Hub    // whose secret it is, now
	Failure func() contact.Failure // of the last lookup or check
	Hub     *Hub                   // is to look
}

// Run looks until ctx ends.
func (s Secret) Run(ctx context.Context) {
	tick := time.Tick(secretEvery)
	var tried mark
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		failure := s.Failure()
		if failure != contact.CredentialsRefused && failure != contact.NotSetUp && failure != contact.SecretNoRight {
			if tried.read { // a look-up told of the trouble, and none of its end
				s.Hub.p.Changed()
			}
			tried = mark{}
			continue
		}
		if tried.closed {
			continue // asking would only have somebody asked for a password, again and again
		}
		if now := s.mark(ctx); now != tried {
			tried = now
			s.Hub.Look(0)
		}
	}
}

// mark tells secrets from each other without holding them.
type mark struct {
	read   bool
	closed bool // the store does not give them out
	sum    [sha256.Size]byte
}

func (s Secret) mark(ctx context.Context) mark {
	h := s.Of()
	store, err := secret.Open(h.SecretStore, s.Dirs)
	if err != nil {
		return mark{read: true, closed: true}
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return mark{read: true, closed: true}
	}
	old, next, err := secret.Pair(ctx, store, ref)
	if errors.Is(err, secret.ErrLocked) {
		return mark{read: true, closed: true}
	}
	if err != nil && !errors.Is(err, secret.ErrNotSet) {
		return mark{read: true} // asks nobody; the next look may find it mended
	}
	return mark{read: true, sum: sha256.Sum256([]byte(old + "\x00" + next))}
}
