package voipgrid

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { linktest.Main(m) }

var direct exchangelink.Options

type kept struct {
	Registration
	secret string
}

func (k *kept) Load() (Registration, error) { return k.Registration, nil }
func (k *kept) Save(r Registration) error   { k.Registration = r; return nil }
func (k *kept) Target(r Registration) (string, error) {
	return r.Relay + "/in/" + k.secret + "/voipgrid", nil
}

func portalOf(t *testing.T) (*linktest.Portal, *kept) {
	p := linktest.StartPortal(t, linktest.Known)
	return p, &kept{Registration{Portal: p.URL, User: linktest.Known.User, Token: linktest.Known.Secret, Relay: "https://relay.example:8443"}, "a"}
}

func targets(p *linktest.Portal) (all []string) {
	p.With(func() {
		for _, t := range p.Targets {
			all = append(all, t)
		}
	})
	slices.Sort(all)
	return all
}

// once runs the link until a check fails.
func once(t *testing.T, k *kept) error {
	t.Helper()
	p := must.Get(New(k, direct))(t)
	return link.RunOnce(t.Context(), link.Config{Receive: func(call.Event) error { return nil }}, p)
}

// TestRegistration: an address is registered and removed, and replaced by a new
// one when its secret is rotated. If another program has registered instead, that
// is reported and left alone; a registration that has disappeared is restored.
func TestRegistration(t *testing.T) {
	p, k := portalOf(t)
	look := func() error { return (&phone{store: k}).checkTarget(t.Context()) }
	is := func(what string, want ...string) {
		t.Helper()
		if got := targets(p); !slices.Equal(got, want) {
			t.Errorf("%s: %q", what, got)
		}
	}
	const a, b = "https://relay.example:8443/in/a/voipgrid", "https://relay.example:8443/in/b/voipgrid"
	r, err := k.Register(t.Context(), direct, a)
	if err != nil || r.ID != "1" {
		t.Fatal(r.ID, err)
	}
	k.Registration = r
	for range 2 {
		must.Do(t, look())
	}
	linktest.Run(t, must.Get(New(k, direct))(t)).Connected().Stop()
	if is("registered", a); k.ID != "1" {
		t.Errorf("registered anew as %s", k.ID)
	}
	k.secret = "b"
	must.Do(t, look())
	is("renewed", b)
	p.With(func() { clear(p.Targets) })
	must.Do(t, look())
	is("again", b)
	p.With(func() { p.Targets["9"] = "https://crm.example/calls" })
	if err := look(); err != nil {
		t.Errorf("beside another: %v", err)
	}
	p.With(func() { clear(p.Targets); p.Targets["9"] = "https://crm.example/calls" })
	if err := look(); !errors.Is(err, link.ErrReplaced) {
		t.Error(err)
	}
	is("left alone", "https://crm.example/calls")
	p.With(func() { p.Silent = true })
	if err := look(); err != nil {
		t.Errorf("a portal that does not tell: %v", err)
	}
	is("not told", "https://crm.example/calls")
	if r, err := k.Register(t.Context(), direct, a); err != nil || r.ID == "" || r.Remove(t.Context(), direct) != nil {
		t.Errorf("a portal that tells what it has made: %q, %v", r.ID, err)
	}
	if err := k.Remove(t.Context(), direct); err != nil { // it is already gone
		t.Error(err)
	}
	p.With(func() { p.Silent = false; clear(p.Targets) })
	if err := look(); err != nil || k.Remove(t.Context(), direct) != nil {
		t.Error(err)
	}
	is("taken back")
}

// TestTrouble: a refusal by the provider is reported,
// without anything else that its answer contains.
func TestTrouble(t *testing.T) {
	p, k := portalOf(t)
	for status, cause := range map[int]link.Cause{401: link.CauseDenied, 403: link.CauseRights, 503: link.CauseUnavailable, 418: link.CauseUnexpected} {
		p.With(func() { p.Intercept = linktest.Status("/", status) })
		if err := k.Remove(t.Context(), direct); err != nil {
			t.Errorf("nothing is taken back: %v", err)
		}
		one := k.Registration
		one.ID = "1"
		_, registering := k.Register(t.Context(), direct, "https://relay.example/in/a/voipgrid")
		for _, err := range []error{once(t, k), registering, one.Remove(t.Context(), direct)} {
			if link.CauseOf(err) != cause {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	p.With(func() {
		p.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				p.With(func() { p.Targets["7"] = "https://relay.example:8443/in/a/voipgrid" })
				w.WriteHeader(http.StatusCreated)
				return true
			}
			return false
		}
	})
	for silent, id := range map[bool]string{false: "7", true: ""} {
		p.With(func() { p.Silent = silent })
		if r, err := k.Register(t.Context(), direct, "https://relay.example:8443/in/a/voipgrid"); err != nil || r.ID != id {
			t.Errorf("an empty answer: %q, %v", r.ID, err)
		}
	}
}
