package audit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// system is a fake system with a log.
type system struct {
	mu    sync.Mutex
	all   []eventlog.Record
	fails error
	tried int
}

func (s *system) write(e eventlog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried++; s.fails == nil {
		s.all = append(s.all, e)
	}
	return s.fails
}

func (s *system) ids() (all []eventlog.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.all {
		all = append(all, e.ID)
	}
	return all
}

// hub gives the answers it is set to.
type hub struct {
	found []contact.Contact
	err   error
}

func (h hub) Lookup(context.Context, string) ([]contact.Contact, error) { return h.found, h.err }

// TestLookupsAreRecorded checks that lookups are recorded only if the settings ask for it,
// by outcome alone, and that the hub's answer passes through.
func TestLookupsAreRecorded(t *testing.T) {
	s, sys := settings.Defaults(), &system{}
	a := New(func() *settings.Settings { return s }, slog.New(slog.DiscardHandler))
	a.write = sys.write
	refused := &contact.LookupError{Failure: contact.CredentialsRefused}
	answers := []hub{{found: []contact.Contact{{ID: "c", FamilyName: "Vries"}}}, {}, {err: refused}}
	look := func(a *Audit) {
		t.Helper()
		for _, h := range answers {
			found, err := a.WrapLookup(h).Lookup(t.Context(), "0612345678")
			if len(found) != len(h.found) || !errors.Is(err, h.err) {
				t.Errorf("%v, %v", found, err)
			}
		}
	}
	look(a)
	look(nil)
	if sys.tried != 0 {
		t.Error("recorded, and nobody asked for it")
	}
	s.Audit = "eventlog"
	look(a)
	look(nil)
	if len(sys.all) != 3 {
		t.Fatalf("%d records", len(sys.all))
	}
	for i, outcome := range []string{": found.", ": none.", ": " + string(contact.CredentialsRefused) + "."} {
		if m := sys.all[i].Message; !strings.HasSuffix(m, outcome) || strings.Contains(m, "Vries") || strings.Contains(m, "612345678") {
			t.Errorf("%q, want %q", m, outcome)
		}
	}
}

// TestNoLogIsSaidOnce checks that a system that takes no record is
// reported once, until it takes one again.
func TestNoLogIsSaidOnce(t *testing.T) {
	s, sys, log := settings.Defaults(), &system{fails: eventlog.ErrNoLog}, &logtest.Buffer{}
	s.Audit = "eventlog"
	a := New(func() *settings.Settings { return s }, slog.New(slog.NewTextHandler(log, nil)))
	a.write = sys.write
	for range 3 {
		_, _ = a.WrapLookup(hub{}).Lookup(t.Context(), "0612345678")
	}
	if n := strings.Count(log.String(), "takes no record"); n != 1 || sys.tried != 3 {
		t.Errorf("said %d times, tried %d times", n, sys.tried)
	}
	sys.fails = nil
	for range 2 {
		_, _ = a.WrapLookup(hub{}).Lookup(t.Context(), "0612345678")
	}
	if n := strings.Count(log.String(), "takes no record"); n != 1 || len(sys.all) != 2 {
		t.Errorf("said %d times, %d records", n, len(sys.all))
	}
}

// TestAdministratorsAreWarned checks that an expiring or expired secret is reported once a day.
func TestAdministratorsAreWarned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sys, log := settings.Defaults(), &system{}, &logtest.Buffer{}
		s.Hub.SecretExpires = time.Now().AddDate(0, 0, 2)
		a := New(func() *settings.Settings { return s }, slog.New(slog.NewTextHandler(log, nil)))
		a.write = sys.write
		stop := must.Run(t, a.Run)
		time.Sleep(4*24*time.Hour - time.Minute)
		stop()
		want := []eventlog.ID{eventlog.SecretExpires, eventlog.SecretExpires, eventlog.SecretExpires, eventlog.SecretExpired}
		if got := sys.ids(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if n := strings.Count(log.String(), "id=secret-expires"); n != len(want) || !strings.Contains(log.String(), "expires soon") || !strings.Contains(log.String(), "has expired") {
			t.Errorf("%d lines: %s", n, log)
		}
	})
}
