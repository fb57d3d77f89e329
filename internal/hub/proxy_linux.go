package hub

// systemProxies is empty: outside Windows there is only the environment.
func systemProxies() proxies { return proxies{} }
