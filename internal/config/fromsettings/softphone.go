package fromsettings

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/hub"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/baresip"
	"wiebelt/internal/softphone/bria"
	"wiebelt/internal/softphone/broadworks"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/softphone/threecx"
	"wiebelt/internal/softphone/wazo"
	"wiebelt/internal/softphone/xelion"
	"wiebelt/internal/softphone/yeastar"
)

// linkConstructors holds the constructor for each kind of link.
var linkConstructors = map[string]func(exchangelink.Account) (link.Phone, error){
	registry.Bria:     byAddress(bria.New),
	registry.Baresip:  byAddress(baresip.New),
	registry.Linphone: byAddress(linphone.New),

	registry.ARI:     ari.New,
	registry.Wazo:    wazo.New,
	registry.ThreeCX: threecx.New,
	registry.Xelion:  xelion.New,
	registry.Relay:   relaylink.New,

	registry.YeastarSocket: yeastar.New,
	registry.BroadWorks:    broadworks.New,
}

// byAddress adapts the constructor of a phone that needs only an address.
func byAddress(open func(address string) (link.Phone, error)) func(exchangelink.Account) (link.Phone, error) {
	return func(a exchangelink.Account) (link.Phone, error) { return open(a.Address) }
}

// Softphone returns the phone of a link in the settings. The error says what is missing.
func Softphone(dirs profile.Dirs, kindOfStore string, s settings.Softphone) (link.Phone, error) {
	a, err := Account(dirs, kindOfStore, s)
	if err != nil {
		return nil, err
	}
	return Link(s.Kind, a)
}

// Account returns the account of a link in the settings. An exchange's secret is read from
// its store for each connection and kept nowhere else.
func Account(dirs profile.Dirs, kindOfStore string, s settings.Softphone) (exchangelink.Account, error) {
	a := exchangelink.Account{Address: s.Address, User: s.User, Extension: s.ExtensionOf(settings.LogOnName())}
	if registry.Of(s.Kind).Requires(registry.NeedsSecret) {
		store := secret.Open(kindOfStore, dirs)
		ref, err := secret.SoftphoneRef(s.Kind, s.Name, s.Address)
		if err != nil {
			return a, err
		}
		a.Secret, a.Net.Proxy = linkSecret(store, ref), ExchangeProxy(dirs, s.Address)
		a.StoreSecret = func(ctx context.Context, value string) error { return store.Set(ctx, ref, value) }
	}
	return a, nil
}

// Link returns the phone of a kind for an account; for a phone on this computer
// only the address is set.
func Link(kind string, a exchangelink.Account) (link.Phone, error) {
	if dial, ok := linkConstructors[kind]; ok {
		return dial(a)
	}
	return nil, errors.New("this kind of softphone is not supported")
}

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
			return "", &link.Refusal{Why: "the secret store does not give it", Cause: link.CauseSecretStore}
		}
		return v, err
	}
}

// ExchangeProxy chooses the proxy for an exchange like the hub client does for the hub, by the
// setting at the time of connecting: the link need not restart when it changes.
func ExchangeProxy(dirs profile.Dirs, address string) func(*http.Request) (*url.URL, error) {
	var (
		mu      sync.Mutex
		setting string // for which choose was made, "" before the first
		choose  func(*http.Request) (*url.URL, error)
	)
	return func(r *http.Request) (*url.URL, error) {
		now, _ := settings.Load(dirs) // errors in it were reported when it took effect
		mu.Lock()
		f, err := choose, error(nil)
		if setting != now.Hub.Proxy {
			if f, err = hub.ProxyFor(now.Hub.Proxy, address); err == nil {
				setting, choose = now.Hub.Proxy, f
			}
		}
		mu.Unlock()
		if f == nil || err != nil {
			return nil, err
		}
		return f(r) // it may ask the system, and block
	}
}
