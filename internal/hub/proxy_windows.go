package hub

import (
	"sync"

	"github.com/mattn/go-ieproxy"
)

// proxyMutex guards the library's package-level answer.
var proxyMutex sync.Mutex

// systemProxies asks Windows (its internet settings, else WinHTTP's). It may take as long
// as Windows searches for an automatic configuration.
func systemProxies() proxies {
	proxyMutex.Lock()
	conf := ieproxy.ReloadConf()
	proxyMutex.Unlock()
	var p proxies
	if conf.Automatic.Active {
		p.script = conf.Automatic.FindProxyForURL
	}
	if conf.Static.Active {
		p.fixed, p.bypass = conf.Static.Protocols, conf.Static.NoProxy
	}
	return p
}
