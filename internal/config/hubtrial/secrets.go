package hubtrial

import (
	"context"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/softphone/registry"
)

// Secrets returns the states of the secrets that the settings need: the hub's, and
// those of links by name. links is nil if there is no store. It waits for the store
// as long as ctx allows.
func Secrets(ctx context.Context, d profile.Dirs, s *settings.Settings) (hub secret.State, links map[string]secret.State) {
	store, err := secret.Open(s.Hub.SecretStore, d)
	if err != nil {
		return secret.StateOf(err), nil
	}
	look := func(ref secret.Ref, err error) secret.State {
		if err != nil {
			return secret.NotSet
		}
		return secret.Inspect(ctx, store, ref)
	}
	hub, links = look(secret.Hub(s.Hub.BaseURL, s.Hub.ClientID)), map[string]secret.State{}
	for _, p := range s.Softphones {
		if registry.Of(p.Kind).Requires(registry.NeedsSecret) {
			links[p.Name] = look(secret.Softphone(p.Kind, p.Name, p.Address))
		}
	}
	return hub, links
}
