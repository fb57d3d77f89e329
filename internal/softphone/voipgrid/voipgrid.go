// Package voipgrid has a provider on VoIPGRID send its call notifications to the office's
// relay, and sees that it goes on doing so. What the messages say is read by package
// webhook.
//
// The provider's portal is asked with an Authorization of "Token EMAIL:TOKEN". A POST to
// /api/callnotification/callnotification/ registers an address for the whole client, a
// DELETE of what that has given takes it back. That a GET lists what is registered is
// likely, and was not found: where it is refused, nothing is known of who else is.
//
// How far this was verified: read in the source of VoIPGRID's own app for another
// service (2021), and run against a portal of our own; not with a provider.
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
	User   string `json:"user"`   // the e-mail address of whoever may
	Token  string `json:"token"`
	ID     string `json:"id"`     // the portal's
	Relay  string `json:"relay"`  // where the provider reaches the relay, such as https://relay.example:8443
	Target string `json:"target"` // what was registered
}

const path = "/api/callnotification/callnotification/"

// portal is that of a provider, with whose rights it is asked.
type portal struct {
	*exchangelink.Server
	header http.Header
}

func (r Registration) open() (p portal, err error) {
	p.header = http.Header{"Authorization": {"Token " + r.User + ":" + r.Token}}
	p.Server, err = exchangelink.New(r.Portal, exchangelink.Options{})
	return p, err
}

// entry is what a portal says of an address. Its id may be a number.
type entry struct {
	ID     json.RawMessage `json:"id"`
	Target string          `json:"target_url"`
}

func (e entry) id() string { return string(bytes.Trim(e.ID, `"`)) }

// failed is the error for a status.
func (p portal) failed(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return &link.Refusal{Why: "the provider does not accept the e-mail address and token (401)", Cause: link.CauseDenied}
	case http.StatusForbidden:
		return &link.Refusal{Why: "the provider does not let this user register call notifications (403)", Cause: link.CauseRights}
	}
	return p.Status(status)
}

// Register registers a target, and gives the registration as it is then.
func (r Registration) Register(ctx context.Context, target string) (Registration, error) {
	p, err := r.open()
	if err != nil {
		return r, err
	}
	h := p.header.Clone()
	h.Set("Content-Type", "application/json")
	said, status, err := p.Ask(ctx, http.MethodPost, path, h, exchangelink.JSON(map[string]string{"target_url": target, "event": "custom"}))
	switch {
	case err != nil:
		return r, err
	case status/100 != 2:
		return r, p.failed(status)
	}
	var e entry
	_ = json.Unmarshal(said, &e) // it may say nothing
	if r.ID, r.Target = e.id(), target; r.ID == "" {
		if all, _, err := p.list(ctx); err == nil {
			if i := slices.IndexFunc(all, func(e entry) bool { return e.Target == target }); i >= 0 {
				r.ID = all[i].id()
			}
		}
	}
	return r, nil
}

// Remove takes the registration back. One that is gone already is no error.
func (r Registration) Remove(ctx context.Context) error {
	p, err := r.open()
	if err != nil || r.ID == "" {
		return err
	}
	_, status, err := p.Ask(ctx, http.MethodDelete, path+url.PathEscape(r.ID), p.header, nil)
	if err == nil && status/100 != 2 && status != http.StatusNotFound && status != http.StatusGone {
		err = p.failed(status)
	}
	return err
}

// list gives what is registered; can is false where the portal does not tell.
func (p portal) list(ctx context.Context) (all []entry, can bool, err error) {
	var said json.RawMessage
	status, err := p.Get(ctx, path, p.header, &said)
	switch {
	case err != nil:
		return nil, false, err
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return nil, false, nil
	case status != http.StatusOK:
		return nil, false, p.failed(status)
	}
	var in struct{ Objects, Results []entry }
	if json.Unmarshal(said, &all) != nil && json.Unmarshal(said, &in) == nil {
		all = slices.Concat(in.Objects, in.Results)
	}
	return all, true, nil
}

// Store is where the relay keeps its registration, and by what it is reached now.
type Store interface {
	Load() (Registration, error)
	Save(Registration) error
	Target(Registration) (string, error)
}

type phone struct {
	store Store
	host  string
	every time.Duration
}

// checkEvery is how often it is looked whether the registration is still there.
const checkEvery = 5 * time.Minute

// New makes the phone for link.Run: it stands for as long as the provider sends its
// messages to the relay, and tells of no calls. It fails with link.ErrReplaced where they
// go to somebody else.
func New(s Store) (link.Phone, error) {
	r, err := s.Load()
	if err != nil {
		return nil, err
	}
	p, err := r.open()
	if err != nil {
		return nil, err
	}
	return &phone{s, p.Host(), checkEvery}, nil
}

// Traits is as link.Phone has it.
func (p *phone) Traits() link.Traits {
	return link.Traits{Source: registry.Of(registry.VoIPGRID).CallSource(p.host)}
}

// Session looks again and again.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	for {
		if err := p.look(ctx); err != nil {
			return err
		}
		r.Up()
		if err := wake.Pause(ctx, p.every); err != nil {
			return err
		}
	}
}

// look registers what has to be, and is not somebody else's.
func (p *phone) look(ctx context.Context) error {
	r, err := p.store.Load()
	if err != nil {
		return err
	}
	at, err := r.open()
	if err != nil {
		return err
	}
	defer at.Idle()
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
	next, err := r.Register(ctx, target)
	if err != nil {
		return err
	}
	if err := p.store.Save(next); err != nil {
		return err
	}
	if r.ID != next.ID && here {
		_ = r.Remove(ctx) // it does no harm: the relay answers there that there is nothing
	}
	return nil
}
