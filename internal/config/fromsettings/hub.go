// Package fromsettings derives from the settings what other packages run with: the hub
// client's configuration, the number rules, the phone of a link, the language, and the
// places of files and programs. Commands, windows and the resident all use it, so a setting
// means the same everywhere.
//
// It owns nothing and runs nothing; it knows the adapters that it configures,
// and none of its callers.
package fromsettings

import (
	"context"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/text"
)

// HubConfig converts settings into the hub client's configuration. The secret is read from its
// store for every token request and kept nowhere else.
func HubConfig(dirs profile.Dirs, h settings.Hub) (cfg hub.Config, err error) {
	cfg = hub.Config{
		BaseURL: h.BaseURL, ClientID: h.ClientID, OrganisationCode: h.OrganisationCode, Scopes: h.ContactScopes,
		DeliveryScopes: h.DeliveryScopes, Intermediary: h.Intermediary,
		BasicAuthEncoding: h.BasicAuthEncoding, ScopeParameter: h.ScopeParameter, RelationNumberField: h.RelationField,
		Proxy: h.Proxy, ExtraCAFile: h.ExtraCAFile, LookupTimeout: h.LookupTimeout,
	}
	if missing := h.Missing(); len(missing) > 0 {
		return cfg, text.Errorf(text.OutputNotSetUp, missing[0])
	}
	store := secret.Open(h.SecretStore, dirs)
	ref, err := secret.HubRef(h.BaseURL, h.ClientID)
	if err != nil {
		return cfg, text.Errorf(text.OutputNotSetUp, err)
	}
	cfg.Secret = hubSecret(store, ref)
	cfg.OnSecretResult = func(ctx context.Context, value string, accepted bool) bool {
		return secret.NoteAnswer(ctx, store, ref, value, accepted)
	}
	return cfg, nil
}

// hubSecret reads the secret. What may pass by itself is no fault of the set-up.
func hubSecret(store secret.Store, ref secret.Ref) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		v, err := store.Get(ctx, ref)
		switch state := secret.StateOf(err); state {
		case secret.NoRight:
			err = &contact.LookupError{Failure: contact.SecretNotForUser, Detail: strings.TrimSpace("group " + secret.MachineReaders())}
		case secret.Locked, secret.Unanswered, secret.Failed:
			err = &contact.LookupError{Failure: contact.SecretUnreadable, Detail: "store: " + string(state)}
		}
		return v, err
	}
}

// Links returns the deep links that may be opened for a hub's address; none if
// the address is invalid.
func Links(hubURL string) *hub.LinkChecker {
	links, _ := hub.NewLinkChecker(hubURL)
	return links
}

// NumberRules returns the number rules of the settings.
func NumberRules(s *settings.Settings) (*phone.Rules, error) {
	p := s.Phone
	c := phone.Config{Region: p.Region, InternalDigits: p.InternalDigits, InternalPrefixes: p.InternalPrefixes, NeverLookup: p.NeverLookup}
	for _, l := range s.Lines {
		c.Lines = append(c.Lines, phone.Line{Number: l.Number, Name: l.Name})
	}
	return phone.NewRules(c)
}
