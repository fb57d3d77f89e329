package resident

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/resident/outboxworker"
)

// What the rooms below this package have of the resident: functions, so that no
// room knows it, nor another room.

// again has the state shown anew. It never blocks.
func (r *Resident) again() {
	select {
	case r.retell <- struct{}{}:
	default: // it is about to look anyway
	}
}

// hubParams are what the hub that holds now is watched with.
func (r *Resident) hubParams() hubwatch.HubParams {
	return hubwatch.HubParams{
		Client: func() hubwatch.TokenChecker {
			if c := r.current().client; c != nil {
				return c
			}
			return nil
		},
		Changed: r.again,
		Mended:  func() { r.deliveries.Mended() },
		Expires: func() time.Time { return r.set().Hub.SecretExpires },
		Warned:  func(day string) bool { return hubwatch.OnceADay(filepath.Join(r.o.Dirs.State, "expiry-warned"), day) },
		Log:     r.o.Log}
}

// secretWatch looks for another secret of the hub that holds now.
func (r *Resident) secretWatch() hubwatch.Secret {
	return hubwatch.Secret{Dirs: r.o.Dirs, Hub: r.hubWatch,
		Of:      func() settings.Hub { return r.set().Hub },
		Failure: func() contact.Failure { return r.facts.of(r.engine.Snapshot()).Lookup.Failure }}
}

// deliveryParams are what files are delivered with.
func (r *Resident) deliveryParams() outboxworker.Params {
	return outboxworker.Params{Dirs: r.o.Dirs, Settings: r.set, Language: r.lang, Send: r.desks.Send, Log: r.o.Log,
		Told: func(now health.Delivery) {
			if r.facts.delivers(now) {
				r.again()
			}
		}}
}

// settingsChanged has what was just written take effect at once. Where a secret
// was set, the hub is asked anew although the address is the same.
func (r *Resident) settingsChanged(secrets bool) {
	select {
	case r.reread <- struct{}{}:
	default: // it is about to look anyway
	}
	if secrets && r.hubWatch != nil {
		r.hubWatch.SettingsChanged()
	}
}

// ErrReplaced says that another version of the program lies on disk and that the
// resident has ended to make room for it: whoever started it starts that one.
var ErrReplaced = errors.New("another version of the program has been installed")

// makeRoom ends the resident, while no call is on, once another version lies on
// disk.
func (r *Resident) makeRoom(ctx context.Context) {
	busy := func() bool {
		s := r.engine.Snapshot()
		return len(s.Cards) > 0 || s.On > 0 // a call goes on when its card was closed
	}
	if !r.program.Follow(ctx, r.o.Version, r.o.Commit, busy) {
		return
	}
	r.o.Log.Info("another version has been installed; making room for it")
	r.replaced.Store(true)
	r.stop()
}
