// Package hubtrial tests a hub before it is put into the settings, and saves what
// has worked: the secret and the settings, or neither. The settings window and
// the commands share it.
//
// It owns the clients of running trials, which end with them, and runs on its
// callers' goroutines. It builds on package fromsettings and knows no window:
// results of steps are codes.
package hubtrial

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
)

// The steps of a trial, in order, and their possible results. They are the codes of
// text.SetupStep and text.SetupState.
const (
	StepName   = "name"
	StepTLS    = "tls"
	StepToken  = "token"
	StepScopes = "scopes"
	StepLookup = "lookup"

	StateRunning = "running" // started
	StateOK      = "ok"
	StateFailed  = "failed"
	StateOff     = "off" // not requested, or not needed
)

// trialTimeout limits how long a trial may take.
const trialTimeout = time.Minute

// ErrNumber reports input that is not a number, or one that is never looked up.
var ErrNumber = errors.New("not a number that can be looked up")

// Trial tests a hub before it is put into the settings. It makes the same requests as
// lookups do, and changes nothing.
type Trial struct {
	Dirs     profile.Dirs
	Settings *settings.Settings // for the number rules
	Hub      settings.Hub
	Secret   string
	Number   string // to look up; "" leaves that step out
	// KeysToVary are the keys for which other values are tried if the hub refuses:
	// hub.basic_auth_encoding, hub.scope_parameter, hub.contact_scopes,
	// hub.relation_number_field. The hub counts every try, so there are few.
	KeysToVary []string
}

// Step is the result of one step.
type Step struct {
	Name, State string
	TestHub     bool          // plain http to this computer, with StepTLS
	Err         error         // why it failed
	HubMessage  string        // the hub's own words, which are untrusted text
	Found       int           // contacts, with StepLookup
	Duration    time.Duration // duration of the lookup
}

// Run performs the steps and reports each to say, on the caller's goroutine. better holds
// values for keys of KeysToVary that worked where those of Hub did not. ok is true if every
// step passed, using better.
func (t Trial) Run(ctx context.Context, say func(Step)) (better map[string]string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	r := &trialRun{Trial: t, corrections: map[string]string{}}
	defer r.close()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{StepName, r.checkName}, {StepTLS, r.checkTLS}, {StepToken, r.checkToken}, {StepScopes, r.checkScopes}, {StepLookup, r.lookUp}} {
		r.step = Step{Name: step.name, State: StateOK}
		say(Step{Name: step.name, State: StateRunning})
		if err := step.do(ctx); err != nil {
			r.step.State, r.step.Err = StateFailed, err
			r.step.HubMessage = r.hubMessage()
			say(r.step)
			return r.corrections, false
		}
		say(r.step)
	}
	return r.corrections, true
}

type trialRun struct {
	Trial
	client       *hub.Client
	step         Step
	reached      hub.ProbeResult
	reachErr     error
	tokenRefusal error // by the token endpoint, for the scopes step
	corrections  map[string]string

	mu          sync.Mutex // guards refusalText: requests have goroutines of their own
	refusalText string
}

func (r *trialRun) close() {
	if r.client != nil {
		r.client.Close()
	}
}

// hubMessage returns the last words of the hub.
func (r *trialRun) hubMessage() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusalText
}

// newClient makes a client for a hub.
func (r *trialRun) newClient(h settings.Hub) (*hub.Client, error) {
	return NewClient(r.Dirs, h, func(context.Context) (string, error) { return r.Secret, nil }, func(words string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refusalText = words
	})
}

// NewClient makes a client that tries a secret with a hub and changes nothing, whatever the
// hub answers. onRefusal is hub.Config.OnRefusal.
func NewClient(d profile.Dirs, h settings.Hub, secret func(context.Context) (string, error), onRefusal func(words string)) (*hub.Client, error) {
	cfg, err := fromsettings.HubConfig(d, h)
	if err != nil {
		return nil, err
	}
	cfg.Secret, cfg.OnSecretResult, cfg.OnRefusal = secret, nil, onRefusal
	return hub.New(cfg)
}

func (r *trialRun) checkName(ctx context.Context) (err error) {
	if r.client, err = r.newClient(r.Hub); err != nil {
		return err
	}
	r.reached, r.reachErr = r.client.Probe(ctx)
	if r.reachErr != nil && !r.reached.Resolved {
		return r.reachErr
	}
	return nil
}

func (r *trialRun) checkTLS(context.Context) error {
	if r.reached.TestHub {
		r.step.State, r.step.TestHub = StateOff, true
	}
	return r.reachErr
}

func (r *trialRun) checkToken(ctx context.Context) error {
	_, err := r.client.Check(ctx)
	if err != nil {
		err = r.tryVariants(ctx, err)
	}
	if contact.FailureOf(err) == contact.ScopeRefused {
		r.tokenRefusal, err = err, nil
	}
	return err
}

func (r *trialRun) checkScopes(ctx context.Context) error {
	if r.tokenRefusal != nil {
		return r.tokenRefusal
	}
	err := r.client.CheckDeliveryToken(ctx)
	if r.Hub.Intermediary == "" && contact.FailureOf(err) == contact.ScopeRefused {
		return nil // nothing is delivered here
	}
	return err
}

func (r *trialRun) lookUp(ctx context.Context) error {
	if strings.TrimSpace(r.Number) == "" {
		r.step.State = StateOff
		return nil
	}
	found, took, err := LookUp(ctx, r.client, r.Settings, r.Number)
	r.step.Found, r.step.Duration = len(found), took
	if err == nil {
		r.tryAnyRelationField(ctx, found)
	}
	return err
}

// LookUp looks a number up as a call from it would, or returns ErrNumber; took is how long
// the hub took.
func LookUp(ctx context.Context, c *hub.Client, s *settings.Settings, number string) (found []contact.Contact, took time.Duration, err error) {
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		return nil, 0, err
	}
	n := rules.Parse(number, "")
	if !n.CanLookUp() {
		return nil, 0, ErrNumber
	}
	begin := time.Now()
	found, err = c.Lookup(ctx, n.Query())
	return found, time.Since(begin), err
}

// tryVariants tries other ways of requesting a token, and continues with the first one
// that the hub accepts. Otherwise it returns the error for the original settings.
func (r *trialRun) tryVariants(ctx context.Context, err error) error {
	said := r.hubMessage()
	for _, h := range r.variants(contact.FailureOf(err)) {
		other, e := r.newClient(h)
		if e != nil {
			continue
		}
		if _, e = other.Check(ctx); e != nil {
			other.Close()
			continue
		}
		r.client.Close()
		r.client = other
		for key, v := range map[string][2]string{"hub.basic_auth_encoding": {r.Hub.BasicAuthEncoding, h.BasicAuthEncoding},
			"hub.scope_parameter": {r.Hub.ScopeParameter, h.ScopeParameter}, "hub.contact_scopes": {r.Hub.ContactScopes, h.ContactScopes}} {
			if v[0] != v[1] {
				r.corrections[key] = v[1]
			}
		}
		r.Hub = h
		return nil
	}
	r.mu.Lock()
	r.refusalText = said // about the original settings
	r.mu.Unlock()
	return err
}

// variants returns other ways of requesting that may avoid a failure.
func (r *trialRun) variants(f contact.Failure) (all []settings.Hub) {
	may := func(key string) bool { return slices.Contains(r.KeysToVary, key) }
	if f != contact.CredentialsRefused && f != contact.ScopeRefused && f != contact.HubError {
		return nil
	}
	add := func(change func(*settings.Hub)) {
		h := r.Hub
		change(&h)
		all = append(all, h)
	}
	encoding := func(h *settings.Hub) {
		h.BasicAuthEncoding = map[string]string{"plain": "rfc6749", "rfc6749": "plain"}[h.BasicAuthEncoding]
	}
	parameter := func(h *settings.Hub) {
		h.ScopeParameter = map[string]string{"scopes": "scope", "scope": "scopes"}[h.ScopeParameter]
	}
	coded := f != contact.ScopeRefused && may("hub.basic_auth_encoding") && encodingsDiffer(r.Hub.ClientID+r.Secret)
	named := may("hub.scope_parameter")
	if coded {
		add(encoding)
	}
	if named {
		add(parameter)
	}
	if coded && named {
		add(func(h *settings.Hub) { encoding(h); parameter(h) })
	}
	if usual := settings.Defaults().Hub.ContactScopes; f == contact.ScopeRefused && may("hub.contact_scopes") && r.Hub.ContactScopes != usual {
		add(func(h *settings.Hub) { h.ContactScopes = usual })
	}
	return all
}

// tryAnyRelationField checks whether any field contains the relation number if the
// configured one does not.
func (r *trialRun) tryAnyRelationField(ctx context.Context, found []contact.Contact) {
	const key = "hub.relation_number_field"
	numbered := func(all []contact.Contact) bool {
		return slices.ContainsFunc(all, func(c contact.Contact) bool { return c.RelationNumber != "" })
	}
	if !slices.Contains(r.KeysToVary, key) || r.Hub.RelationField == "" || len(found) == 0 || numbered(found) {
		return
	}
	h := r.Hub
	h.RelationField = ""
	other, err := r.newClient(h)
	if err != nil {
		return
	}
	defer other.Close()
	if again, _, err := LookUp(ctx, other, r.Settings, r.Number); err == nil && numbered(again) {
		r.corrections[key] = ""
	}
}

// encodingsDiffer reports whether the two encodings of credentials differ for s.
func encodingsDiffer(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
	})
}

// SecretWorks asks the hub, for at most five seconds, whether it accepts a secret. Any
// failure counts as no.
func SecretWorks(ctx context.Context, dirs profile.Dirs, h settings.Hub, value string) bool {
	t := &trialRun{Trial: Trial{Dirs: dirs, Secret: value}}
	client, err := t.newClient(h)
	if err != nil {
		return false
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = client.Check(ctx)
	return err == nil
}
