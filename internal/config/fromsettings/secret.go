package fromsettings

import (
	"context"
	"errors"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/softphone/link"
)

var errNotGiven = errors.New("the secret store does not give it")

// linkSecret reads a link's secret for one connection. Reporting a missing one is
// left to the phone. A store that fails is not retried in quick succession, since it
// may prompt for a password.
func linkSecret(store secret.Store, ref secret.Ref) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		v, err := store.Get(ctx, ref)
		switch {
		case errors.Is(err, secret.ErrNotSet):
			return "", nil
		case err != nil && ctx.Err() == nil:
			return "", &link.Refusal{Why: errNotGiven.Error(), Cause: link.CauseStore}
		}
		return v, err
	}
}
