// Package fromsettings builds from the settings what others run with: the
// configuration of the hub's client, the rules for numbers, the phone of a link,
// the language, and where files and programs are. Commands, windows and the resident ask it alike, so that
// all mean the same by a setting.
//
// It owns nothing and runs nothing; it knows the adapters that it configures, and
// none of its callers.
package fromsettings

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/text"
)

// Hub turns settings into the configuration of the hub's client. The
// secret is read from its store for every token request and kept nowhere else.
func Hub(dirs profile.Dirs, h settings.Hub) (cfg hub.Config, err error) {
	cfg = hub.Config{
		BaseURL: h.BaseURL, ClientID: h.ClientID, OrganisationCode: h.OrganisationCode, Scopes: h.ContactScopes,
		DeliveryScopes: h.DeliveryScopes, Intermediary: h.Intermediary,
		BasicAuthEncoding: h.BasicAuthEncoding, ScopeParameter: h.ScopeParameter, RelationNumberField: h.RelationField,
		Proxy: h.Proxy, ExtraCAFile: h.ExtraCAFile, LookupTimeout: h.LookupTimeout,
	}
	if missing := h.Missing(); len(missing) > 0 {
		return cfg, text.Errorf(text.OutputNotSetUp, missing[0])
	}
	store, err := secret.Open(h.SecretStore, dirs)
	if err != nil {
		return cfg, fmt.Errorf("hub.secret_store: %w", err)
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return cfg, text.Errorf(text.OutputNotSetUp, err)
	}
	cfg.Secret = func(ctx context.Context) (string, error) {
		v, err := store.Get(ctx, ref)
		if errors.Is(err, secret.ErrNoRight) {
			err = &contact.LookupError{Failure: contact.SecretNoRight, Detail: strings.TrimSpace("group " + secret.MachineReaders())}
		}
		return v, err
	}
	cfg.SecretAnswered = func(ctx context.Context, value string, accepted bool) bool {
		return secret.NoteAnswer(ctx, store, ref, value, accepted)
	}
	return cfg, nil
}

// Links are the deep links that may be opened, those of a hub's address; none where
// that is no address.
func Links(hubURL string) *hub.Links {
	links, _ := hub.NewLinks(hubURL)
	return links
}

// NumberRules makes the number rules of the settings.
func NumberRules(s *settings.Settings) (*phone.Rules, error) {
	return phone.NewRules(s.NumberRules())
}
