package exchangelink

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wiebelt/internal/softphone/link"
)

// TestCauses: what goes wrong on the way to an exchange has a word of its own.
func TestCauses(t *testing.T) {
	get := func(address string, o Options) error {
		t.Helper()
		o.Answer = 2 * time.Second
		s, err := New(address, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Idle()
		status, err := s.Get(t.Context(), "/", nil, &struct{}{})
		if err == nil && status != http.StatusOK {
			return s.Status(status)
		}
		return err
	}
	answers := func(h http.HandlerFunc) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	gone, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	plain := answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	for name, c := range map[string]struct {
		err  error
		want link.Cause
	}{
		"nobody":            {get("http://"+gone.Addr().String(), Options{}), link.CauseNobody},
		"no answer":         {get("http://"+silent.Addr().String(), Options{}), link.CauseSilent},
		"unknown authority": {get(secure.URL, Options{}), link.CauseAuthority},
		"no TLS there":      {get("https"+plain[len("http"):], Options{}), link.CauseTLS},
		"another server":    {get(plain, Options{}), link.CauseOdd},
		"trouble":           {get(answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }), Options{}), link.CauseFault},
		"not JSON":          {get(answers(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }), Options{}), link.CauseOdd},
		"a redirect":        {get(answers(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }), Options{}), link.CauseOdd},
	} {
		if got := link.CauseOf(c.err); got != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.want, c.err)
		}
	}
}
