package hub

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// counter counts the connections and bytes that reach another server.
type counter struct {
	addr         net.Addr
	conns, bytes atomic.Int64
}

func newCounter(t testing.TB) *counter {
	t.Helper()
	l := nettest.Listen(t)
	c := &counter{addr: l.Addr()}
	nettest.Accept(t, l, func(conn net.Conn, _ func(net.Conn)) {
		c.conns.Add(1)
		n, _ := io.Copy(io.Discard, conn)
		c.bytes.Add(n)
	})
	return c
}

// TestNoRedirectIsFollowed gives twelve kinds of answers that lead elsewhere, to the
// token request and to the lookup, over TLS. It checks that no connection reaches another
// server, that the hub itself gets no further request, and that the failure has a type.
func TestNoRedirectIsFollowed(t *testing.T) {
	other := newCounter(t)
	_, port, err := net.SplitHostPort(other.addr.String())
	must.Do(t, err)
	root := newAuthority(t, "Root", nil)
	type shape struct {
		name   string
		status int
		header string
		where  string // %p is the other port, %h the hub's address
		body   string
		want   contact.Failure
	}
	var shapes []shape
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, where := range map[string]string{
			"other host": "https://localhost:%p/x", "other port": "https://127.0.0.1:%p/identity/token", "downgrade": "http://127.0.0.1:%p/x",
			"downgrade of the hub": "http://%h/x", "same host": "https://%h/elsewhere", "other path": "/elsewhere", "scheme-relative": "//127.0.0.1:%p/x",
			"user part": "https://%h@127.0.0.1:%p/x", "with a secret to copy": "https://a:b@127.0.0.1:%p/x", "another scheme": "ftp://127.0.0.1:%p/x",
			"upper case and tab": "HTTPS:\t//127.0.0.1:%p/x", "no address": ":",
		} {
			shapes = append(shapes, shape{name, status, "Location", where, "", contact.HubError})
		}
	}
	shapes = append(shapes,
		shape{"multiple choices", 300, "Location", "https://127.0.0.1:%p/x", `<a href="https://127.0.0.1:%p/x">x</a>`, contact.HubError},
		shape{"use proxy", 305, "Location", "http://127.0.0.1:%p/", "", contact.HubError},
		shape{"not modified", 304, "Location", "https://127.0.0.1:%p/x", "", contact.HubError},
		shape{"page", 200, "Content-Type", "text/html", `<meta http-equiv="refresh" content="0;url=https://127.0.0.1:%p/x">`, contact.NotUnderstood},
		shape{"refresh", 200, "Refresh", "0;url=https://127.0.0.1:%p/x", "<p>", contact.NotUnderstood},
		shape{"content location", 200, "Content-Location", "https://127.0.0.1:%p/x", "<p>", contact.NotUnderstood},
		shape{"alternative service", 200, "Alt-Svc", `h2="127.0.0.1:%p"`, "<p>", contact.NotUnderstood},
	)
	var now shape
	f := newTLSFake(t, root.server(t))
	shaped := func(w http.ResponseWriter, _ *http.Request) {
		fill := strings.NewReplacer("%p", port, "%h", f.Listener.Addr().String()).Replace
		w.Header().Set(now.header, fill(now.where))
		w.WriteHeader(now.status)
		if now.status != http.StatusNotModified {
			_, _ = io.WriteString(w, fill(now.body))
		}
	}
	token := f.token
	file := root.file(t)
	for _, at := range []string{"token", "lookup"} {
		f.token, f.lookup = shaped, shaped
		if at == "lookup" {
			f.token = token
		}
		for _, now = range shapes {
			f.tokens.Store(0)
			f.lookups.Store(0)
			c := newClient(t, f.URL, func(cfg *Config) { cfg.ExtraCAFile = file })
			_, err := c.Lookup(t.Context(), number)
			if contact.FailureOf(err) != now.want {
				t.Errorf("%s at the %s (%d): %v, want %s", now.name, at, now.status, err, now.want)
			}
			want := int64(1)
			if at == "lookup" {
				want = 2
			}
			if n := f.tokens.Load() + f.lookups.Load(); n != want {
				t.Errorf("%s at the %s (%d): the hub got %d requests, want %d", now.name, at, now.status, n, want)
			}
			c.Close()
		}
	}
	if n, b := other.conns.Load(), other.bytes.Load(); n != 0 || b != 0 {
		t.Errorf("%d connections with %d bytes reached another place", n, b)
	}
}
