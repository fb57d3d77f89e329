package configure

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"sync"

	"wiebelt/internal/hub"
	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/baresip"
	"wiebelt/internal/softphone/bria"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/softphone/threecx"
	"wiebelt/internal/softphone/wazo"
	"wiebelt/internal/softphone/wslink"
)

// Softphone makes the phone of a link in the settings. An exchange's secret is
// read from its store for each connection and kept nowhere else; the error says
// what is missing.
func Softphone(dirs profile.Dirs, kindOfStore string, s settings.Softphone) (link.Phone, error) {
	switch s.Kind {
	case "baresip":
		return baresip.New(baresip.Config{Address: s.Address})
	case "bria":
		return bria.New(bria.Config{Address: s.Address})
	case "linphone":
		return linphone.New(linphone.Config{Address: s.Address})
	}
	store, err := secret.Open(kindOfStore, dirs)
	if err != nil {
		return nil, fmt.Errorf("hub.secret_store: %w", err)
	}
	ref, err := secret.Softphone(s.Name, s.Address)
	if err != nil {
		return nil, err
	}
	value := linkSecret(store, ref)
	net := wslink.Options{Proxy: proxyNow(dirs, s.Address)}
	switch s.Kind {
	case "ari":
		return ari.New(ari.Config{Address: s.Address, User: s.User, Secret: value, Extension: s.ExtensionOf(settings.LogOnName()), App: appName(), Net: net})
	case "wazo":
		return wazo.New(wazo.Config{Address: s.Address, User: s.User, Secret: value, Extension: s.ExtensionOf(settings.LogOnName()), Net: net})
	case "3cx":
		return threecx.New(threecx.Config{Address: s.Address, Client: s.User, Secret: value, Extension: s.ExtensionOf(settings.LogOnName()), Net: net})
	}
	return nil, errors.New("this kind of softphone is not supported")
}

// proxyNow chooses the proxy for an exchange as the hub's client does for the
// hub, by the setting that holds when a connection is made: the link need not
// end when it changes.
func proxyNow(dirs profile.Dirs, address string) func(*http.Request) (*url.URL, error) {
	var (
		mu      sync.Mutex
		known   bool
		setting string
		choose  func(*http.Request) (*url.URL, error)
	)
	current := func() (func(*http.Request) (*url.URL, error), error) {
		now, _ := settings.Load(dirs) // what is wrong in it was said when it was put in effect
		mu.Lock()
		defer mu.Unlock()
		if known && setting == now.Hub.Proxy {
			return choose, nil
		}
		f, err := hub.ProxyFor(now.Hub.Proxy, address)
		if err != nil {
			return nil, err
		}
		known, setting, choose = true, now.Hub.Proxy, f
		return choose, nil
	}
	return func(r *http.Request) (*url.URL, error) {
		f, err := current()
		if f == nil || err != nil {
			return nil, err
		}
		return f(r)
	}
}

// appName is another one for each user and computer, and says nothing of either:
// Asterisk serves one program for each name.
func appName() string {
	host, _ := os.Hostname()
	who := host
	if u, err := user.Current(); err == nil {
		who += "\x00" + u.Uid + "\x00" + u.Username
	}
	sum := sha256.Sum256([]byte(who))
	return "wiebelt-" + hex.EncodeToString(sum[:6])
}
