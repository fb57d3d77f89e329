package resident

import (
	"path/filepath"
	"time"

	"wiebelt/internal/contact"
	"wiebelt/internal/resident/watch"
	"wiebelt/internal/settings"
)

// hubParams are what the hub that holds now is watched with.
func (r *Resident) hubParams() watch.HubParams {
	return watch.HubParams{
		Client: func() watch.TokenChecker {
			if c := r.current().client; c != nil {
				return c
			}
			return nil
		},
		Changed: func() {
			select {
			case r.retell <- struct{}{}:
			default: // it is about to look anyway
			}
		},
		Mended:  func() { r.deliveries.mended() },
		Expires: func() time.Time { return r.set().Hub.SecretExpires },
		Warned:  func(day string) bool { return watch.OnceADay(filepath.Join(r.o.Dirs.State, "expiry-warned"), day) },
		Log:     r.o.Log}
}

// secretWatch looks for another secret of the hub that holds now.
func (r *Resident) secretWatch() watch.Secret {
	return watch.Secret{Dirs: r.o.Dirs, Hub: r.hubWatch,
		Of:      func() settings.Hub { return r.set().Hub },
		Failure: func() contact.Failure { return r.facts.of(r.engine.Snapshot()).Lookup.Failure }}
}
