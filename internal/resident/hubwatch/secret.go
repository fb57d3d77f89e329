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

// secretEvery is how often the secret is checked during trouble: at the same interval as
// the resident's other files, which wakes it anyway.
const secretEvery = 12 * time.Second

// SecretWatcher triggers a check of the hub as soon as there is another secret, while the
// hub refuses the current one or there is none. Setting one, in any window, command or
// session, sends no notification; an administrator can set the whole computer's. Without
// trouble the store is not read.
type SecretWatcher struct {
	Dirs        profile.Dirs
	HubSettings func() settings.Hub    // the current one, whose secret is watched
	Failure     func() contact.Failure // of the last lookup or check
	Hub         *Hub                   // checks the hub
}

// Run checks until ctx ends.
func (s SecretWatcher) Run(ctx context.Context) {
	tick := time.Tick(secretEvery)
	var tried secretHash
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		failure := s.Failure()
		if failure != contact.CredentialsRefused && failure != contact.NotSetUp && failure != contact.SecretNotForUser {
			if tried.read { // a lookup reported the trouble, but not its end
				s.Hub.p.Changed()
			}
			tried = secretHash{}
			continue
		}
		if tried.unreadable {
			continue // reading again would only repeat the password prompt
		}
		if now := s.fingerprint(ctx); now != tried {
			tried = now
			s.Hub.CheckAfter(0)
		}
	}
}

// secretHash distinguishes secrets without holding them.
type secretHash struct {
	read       bool
	unreadable bool // the store does not return them
	sum        [sha256.Size]byte
}

func (s SecretWatcher) fingerprint(ctx context.Context) secretHash {
	h := s.HubSettings()
	ref, err := secret.HubRef(h.BaseURL, h.ClientID)
	if err != nil {
		return secretHash{read: true} // until the settings are mended
	}
	old, next, err := secret.Pair(ctx, secret.Open(h.SecretStore, s.Dirs), ref)
	if errors.Is(err, secret.ErrLocked) {
		return secretHash{read: true, unreadable: true}
	}
	if err != nil && !errors.Is(err, secret.ErrNotSet) {
		return secretHash{read: true} // causes no prompt; it may be fixed by the next check
	}
	return secretHash{read: true, sum: sha256.Sum256([]byte(old + "\x00" + next))}
}
