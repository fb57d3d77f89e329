package hub

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ProxyFor returns the choice of proxy for another of the office's servers,
// such as a telephone exchange: the same as for the hub. setting is hub.proxy,
// address the server's (https://host[:port]). A nil function means no proxy.
func ProxyFor(setting, address string) (func(*http.Request) (*url.URL, error), error) {
	base, err := url.Parse(strings.TrimSpace(address))
	if err != nil || base.Hostname() == "" {
		return nil, errors.New("proxy: the address of the server cannot be read")
	}
	switch strings.ToLower(base.Scheme) {
	case "wss":
		base.Scheme = "https"
	case "ws":
		base.Scheme = "http"
	}
	return newProxy(Config{Proxy: setting, Now: time.Now}, base, systemProxies)
}
