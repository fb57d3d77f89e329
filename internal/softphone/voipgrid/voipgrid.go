// Package voipgrid makes a provider on VoIPGRID send its call notifications to the
// office's relay, and checks that it keeps doing so. The messages themselves are
// parsed by package webhook.
//
// Requests to the provider's portal carry the Authorization "Token EMAIL:TOKEN". A POST
// to /api/callnotification/callnotification/ registers an address for the whole client,
// a DELETE of the returned ID removes it. A GET probably lists the registrations, but
// that is unconfirmed: if it is refused, other registrations are unknown.
//
// Verification: based on the source of VoIPGRID's own app for another service (2021), and
// run against a test portal of our own; not with a provider.
package voipgrid

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Registration is an address that was registered at a portal.
type Registration struct {
	Portal string `json:"portal"` // such as https://partner.voipgrid.nl
	User   string `json:"user"`   // the e-mail address of a user with the rights
	Token  string `json:"token"`
	ID     string `json:"id"`     // assigned by the portal
	Relay  string `json:"relay"`  // where the provider reaches the relay, such as https://relay.example:8443
	Target string `json:"target"` // the registered address
}

const path = "/api/callnotification/callnotification/"

// portal is a provider's portal, with the credentials for it.
type portal struct {
	*exchangelink.Server
	header http.Header
}

func (r Registration) open(net exchangelink.Options) (p portal, err error) {
	p.header = http.Header{"Authorization": {"Token " + r.User + ":" + r.Token}}
	p.Server, err = exchangelink.New(r.Portal, net)
	return p, err
}

// entry is a registered address in a portal's answer. Its ID may be a number.
type entry struct {
	ID     json.RawMessage `json:"id"`
	Target string          `json:"target_url"`
}

func (e entry) id() string { return string(bytes.Trim(e.ID, `"`)) }

// statusError returns the error for a status.
func (p portal) statusError(status int) error {
	return p.AccessError(status, "the provider does not accept the e-mail address and token",
		"the provider does not let this user register call notifications")
}

// Register registers a target, and returns the resulting registration.
func (r Registration) Register(ctx context.Context, net exchangelink.Options, target string) (Registration, error) {
	p, err := r.open(net)
	if err != nil {
		return r, err
	}
	h := p.header.Clone()
	h.Set("Content-Type", "application/json")
	said, status, err := p.Ask(ctx, http.MethodPost, path, h, exchangelink.EncodeJSON(map[string]string{"target_url": target,
		"event": "custom"}))
	switch {
	case err != nil:
		return r, err
	case status/100 != 2:
		return r, p.statusError(status)
	}
	var e entry
	_ = json.Unmarshal(said, &e) // the answer may be empty
	if r.ID, r.Target = e.id(), target; r.ID == "" {
		if all, _, err := p.list(ctx); err == nil {
			if i := slices.IndexFunc(all, func(e entry) bool { return e.Target == target }); i >= 0 {
				r.ID = all[i].id()
			}
		}
	}
	return r, nil
}

// Remove removes the registration. One that is already gone is no error.
func (r Registration) Remove(ctx context.Context, net exchangelink.Options) error {
	p, err := r.open(net)
	if err != nil || r.ID == "" {
		return err
	}
	_, status, err := p.Ask(ctx, http.MethodDelete, path+url.PathEscape(r.ID), p.header, nil)
	if err == nil && status/100 != 2 && status != http.StatusNotFound && status != http.StatusGone {
		err = p.statusError(status)
	}
	return err
}

// list returns the registered addresses; can is false if the portal does not list them.
func (p portal) list(ctx context.Context) (all []entry, can bool, err error) {
	var said json.RawMessage
	status, err := p.Get(ctx, path, p.header, &said)
	switch {
	case err != nil:
		return nil, false, err
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return nil, false, nil
	case status != http.StatusOK:
		return nil, false, p.statusError(status)
	}
	var in struct{ Objects, Results []entry }
	if json.Unmarshal(said, &all) != nil && json.Unmarshal(said, &in) == nil {
		all = slices.Concat(in.Objects, in.Results)
	}
	return all, true, nil
}

// Store is where the relay keeps its registration and its current address.
type Store interface {
	Load() (Registration, error)
	Save(Registration) error
	Target(Registration) (string, error)
}

type phone struct {
	store Store
	net   exchangelink.Options
	host  string
}

const checkEvery = 5 * time.Minute

// New returns a phone for link.Run: it is connected as long as the provider sends
// its messages to the relay, and reports no calls. It fails with link.ErrReplaced if
// they go to somebody else.
func New(s Store, net exchangelink.Options) (link.Phone, error) {
	r, err := s.Load()
	if err != nil {
		return nil, err
	}
	p, err := r.open(net)
	if err != nil {
		return nil, err
	}
	return &phone{s, net, p.Host()}, nil
}

// Traits implements link.Phone.
func (p *phone) Traits() link.Traits {
	return link.Traits{Source: registry.Of(registry.VoIPGRID).CallSource(p.host)}
}

// Session checks the registration periodically.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	for {
		if err := p.checkTarget(ctx); err != nil {
			return err
		}
		r.Up()
		if err := wake.Pause(ctx, checkEvery); err != nil {
			return err
		}
	}
}

// checkTarget registers the target if needed, unless somebody else is registered.
func (p *phone) checkTarget(ctx context.Context) error {
	r, err := p.store.Load()
	if err != nil {
		return err
	}
	at, err := r.open(p.net)
	if err != nil {
		return err
	}
	defer at.CloseIdleConnections()
	all, can, err := at.list(ctx)
	if err != nil {
		return err
	}
	here := slices.ContainsFunc(all, func(e entry) bool { return e.Target == r.Target })
	if !here && slices.ContainsFunc(all, func(e entry) bool { return !strings.HasPrefix(e.Target, r.Relay+"/") }) {
		return link.ErrReplaced
	}
	target, err := p.store.Target(r)
	if err != nil || target == r.Target && (here || !can) {
		return err
	}
	next, err := r.Register(ctx, p.net, target)
	if err != nil {
		return err
	}
	if err := p.store.Save(next); err != nil {
		return err
	}
	if r.ID != next.ID && here {
		_ = r.Remove(ctx, p.net) // failing is harmless: the relay answers there that nothing exists
	}
	return nil
}
