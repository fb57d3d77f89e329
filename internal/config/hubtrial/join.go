package hubtrial

import (
	"context"
	"maps"
	"slices"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/text"
)

// Relay is the relay to join, and the code for it.
type Relay struct {
	Address, Fingerprint string // those of the settings where Address is ""
	Code                 string
}

// Join joins this computer to a relay, and adds a link to it to the settings. The code is
// only redeemed if the link is allowed. Errors are fit for users, or are those of Save.
func Join(ctx context.Context, d profile.Dirs, before *settings.Settings, r Relay) error {
	w, err := SaveRequest{}.join(ctx, d, before, r)
	if err == nil {
		_, err = Save(ctx, d, before, w)
	}
	return err
}

// join adds the link, and the membership that the relay returned, to w.
func (w SaveRequest) join(ctx context.Context, d profile.Dirs, before *settings.Settings, r Relay) (SaveRequest, error) {
	next, err := before.With(w.Changes) // the resulting settings
	if err != nil {
		return w, err
	}
	if r.Address = strings.TrimRight(r.Address, "/"); r.Address == "" || r.Address == next.Relay.URL {
		r.Address = next.Relay.URL
		if r.Fingerprint == "" || before.Locked("relay.fingerprint") {
			r.Fingerprint = next.Relay.Fingerprint
		}
	} else if before.Locked("relay.url") {
		return w, text.Errorf(text.AdminLocked, "relay.url", before.LockedBy("relay.url"))
	}
	link := settings.Softphone{Kind: registry.Relay, Name: registry.Relay, Address: r.Address}
	isRelay := func(l settings.Softphone) bool { return l.Kind == registry.Relay }
	i := slices.IndexFunc(next.Softphones, func(l settings.Softphone) bool {
		return isRelay(l) && strings.TrimRight(l.Address, "/") == r.Address
	})
	switch {
	case i >= 0: // a new code for an existing link
		link = next.Softphones[i]
	case before.Locked("softphone"):
		return w, text.Errorf(text.AdminLocked, "softphone", before.LockedBy("softphone"))
	default:
		w.Changes = maps.Clone(w.Changes)
		if w.Changes == nil {
			w.Changes = map[string]any{}
		}
		add := func(now []settings.Softphone) []settings.Softphone {
			return append(slices.DeleteFunc(slices.Clone(now), isRelay), link) // a computer has one
		}
		if list, isList := w.Changes["softphone"].([]settings.Softphone); isList {
			w.Changes["softphone"] = add(list)
		} else {
			w.Changes["softphone"] = add
		}
	}
	if len(w.Changes) > 0 {
		if err := settings.Check(d, w.Changes); err != nil {
			return w, err
		}
	}
	if err := w.canKeep(ctx, d, next.Hub.SecretStore, link); err != nil {
		return w, err
	}
	membership, err := relaylink.Join(ctx, r.Address, r.Code, r.Fingerprint)
	w.LinkSecrets = map[string]string{link.Name: membership}
	return w, err
}

// canKeep checks, before a code is redeemed, whether the store can keep
// a link's membership.
func (w SaveRequest) canKeep(ctx context.Context, d profile.Dirs, kind string, link settings.Softphone) error {
	ref, err := secret.SoftphoneRef(link.Kind, link.Name, link.Address)
	if err != nil {
		return text.Errorf(text.RelayJoinAddress)
	}
	store, err := w.open(d, kind)
	if err != nil {
		return err
	}
	_, err = store.Get(ctx, ref)
	switch secret.StateOf(err) {
	case secret.IsSet, secret.NotSet, secret.Damaged: // will be overwritten
		return nil
	}
	return &StoreError{err}
}
