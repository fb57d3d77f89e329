package resident

import (
	"context"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/health"
	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/settings"
)

// records writes into the system's log, which is opened when it is first needed
// and closed at the end.
type records struct {
	mu     sync.Mutex
	log    eventlog.Writer
	failed bool // said once
}

func (r *Resident) record(e eventlog.Record) {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	var err error
	if r.records.log == nil {
		if r.records.log, err = eventlog.Open(); err != nil {
			r.records.log = nil
		}
	}
	if err == nil {
		err = r.records.log.Write(e)
	}
	if err != nil && !r.records.failed {
		r.o.Log.Error("the system's log takes no record", "why", err)
	}
	r.records.failed = err != nil
}

func (r *records) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log != nil {
		_ = r.log.Close()
		r.log = nil
	}
}

// audited is the hub's client with a record of each look-up, where the settings
// ask for one.
type audited struct {
	next companion.Lookup
	r    *Resident
}

func (a audited) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	found, err := a.next.Lookup(ctx, number)
	if a.r.set().Audit != "eventlog" || a.r.o.Demo != nil {
		return found, err
	}
	outcome := "none"
	switch {
	case err != nil:
		outcome = string(contact.FailureOf(err))
	case len(found) > 0:
		outcome = "found"
	}
	a.r.record(eventlog.Lookup(outcome))
	return found, err
}

// warnEvery is how often the warnings for administrators are looked at; each is
// recorded once a day.
const warnEvery = time.Hour

// warnAdmins records what only administrators can mend before it breaks: a
// secret that expires, a policy that is ignored.
func (r *Resident) warnAdmins(ctx context.Context) {
	tick := time.NewTicker(warnEvery)
	defer tick.Stop()
	said := map[eventlog.ID]string{}
	once := func(e eventlog.Record) {
		if today := time.Now().Format(time.DateOnly); said[e.ID] != today {
			said[e.ID] = today
			r.record(e)
		}
	}
	for {
		s := r.set()
		switch stage, days := health.Expiry(time.Now(), s.Hub.SecretExpires); stage {
		case health.ExpirySoon, health.ExpiryPast:
			once(eventlog.Expiry(days))
		}
		if slices.ContainsFunc(s.Problems(), func(p settings.Problem) bool { return p.Kind == settings.Untrusted }) {
			once(eventlog.UntrustedPolicy())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
