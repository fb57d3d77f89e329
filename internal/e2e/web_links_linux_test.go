package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// attacker serves testdata/web, and redirects from /to?ADDRESS.
func attacker(t *testing.T) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir("testdata/web"))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			to, _ := url.QueryUnescape(r.URL.RawQuery)
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web
}
