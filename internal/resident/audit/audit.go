// Package audit writes events for administrators to the system's log: that a
// caller was looked up, if the settings ask for it, and what only administrators
// can fix before it breaks.
//
// Run is its only goroutine, for the warnings; lookups are recorded on the goroutine that
// makes them. It knows the current settings, but neither the hub nor the resident.
package audit

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/native/eventlog"
)

// Audit writes to the system's log. It is safe for concurrent use; a nil Audit records nothing.
type Audit struct {
	settings func() *settings.Settings // the current ones
	write    func(eventlog.Record) error
	logger   *slog.Logger

	mu     sync.Mutex
	failed bool // logged once
}

// New returns an Audit that follows the settings returned by current.
func New(current func() *settings.Settings, log *slog.Logger) *Audit {
	return &Audit{settings: current, write: eventlog.Write, logger: log}
}

func (a *Audit) record(e eventlog.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.write(e)
	if err != nil && !a.failed {
		a.logger.Error("the system's log takes no record", "why", err)
	}
	a.failed = err != nil
}

// WrapLookup wraps next and records each lookup if the settings ask for it.
func (a *Audit) WrapLookup(next engine.Lookup) engine.Lookup { return audited{next, a} }

type audited struct {
	next  engine.Lookup
	audit *Audit
}

func (l audited) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	found, err := l.next.Lookup(ctx, number)
	if l.audit == nil || l.audit.settings().Audit != "eventlog" {
		return found, err
	}
	outcome := "none"
	switch {
	case err != nil:
		outcome = string(contact.FailureOf(err))
	case len(found) > 0:
		outcome = "found"
	}
	l.audit.record(eventlog.Lookup(outcome))
	return found, err
}

// warnEvery is how often the administrators' warnings are checked; each
// is recorded at the start and once a day.
const warnEvery = time.Hour

// Run records until ctx ends what only administrators can fix before it breaks: an expiring
// secret, in the program's log too, and an ignored policy.
func (a *Audit) Run(ctx context.Context) {
	tick := time.Tick(warnEvery)
	said := map[eventlog.ID]string{}
	once := func(e eventlog.Record) (first bool) {
		today := time.Now().Format(time.DateOnly)
		if first = said[e.ID] != today; first {
			said[e.ID] = today
			a.record(e)
		}
		return first
	}
	for {
		s := a.settings()
		if stage, days := health.Expiry(time.Now(), s.Hub.SecretExpires); stage >= health.ExpirySoon && once(eventlog.Expiry(days)) {
			msg := "the hub's secret expires soon"
			if stage == health.ExpiryPast {
				msg = "the hub's secret has expired"
			}
			a.logger.Warn(msg, "id", health.ExpiryMessage, "days", days)
		}
		if slices.ContainsFunc(s.Problems(), func(p settings.Problem) bool { return p.Kind == settings.Untrusted }) {
			once(eventlog.UntrustedPolicy())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}
