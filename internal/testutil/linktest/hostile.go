package linktest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/softphone/link"
)

// What other sides repeat that must never be said.
const (
	Number = "0612345678"
	Name   = "Canary Jansen"
)

// Mutate adds mutations of the seeds to out until there are n, the same ones each
// time.
func Mutate(out []string, n int, seeds ...string) []string {
	r := rand.New(rand.NewPCG(1, 2))
	for len(out) < n {
		b := []byte(seeds[r.IntN(len(seeds))])
		for range 1 + r.IntN(6) {
			i := r.IntN(len(b))
			switch r.IntN(4) {
			case 0:
				b[i] = byte(r.IntN(256))
			case 1:
				b = append(b[:i], b[min(len(b), i+r.IntN(20)):]...)
			case 2:
				b = append(b[:i:i], append([]byte(strings.Repeat(`{"[,`, r.IntN(30))), b[i:]...)...)
			case 3:
				b = b[:i+1]
			}
			if len(b) == 0 {
				b = []byte("x")
			}
		}
		out = append(out, string(b))
	}
	return out
}

// Broken sends what breaks a WebSocket, and more: each time the link must break
// without repeating what the other side said, come back, and report calls. start
// connects a link anew; calls makes its exchange ring and waits for it.
func Broken(t *testing.T, secret string, more map[string]func(*websocket.Conn),
	start func(t *testing.T) (w *Watch, sockets <-chan *Socket, calls func())) {
	raw := func(b ...byte) func(*websocket.Conn) { return func(c *websocket.Conn) { c.NetConn().Write(b) } }
	all := map[string]func(*websocket.Conn){
		"message too large": func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, []byte(`{"x":"`+strings.Repeat("y", 300<<10)+`"}`))
		},
		"not a frame":               raw([]byte(strings.Repeat("\xff\xff\xff\xff", 100))...),
		"reserved bits":             raw(0xf1, 0x01, 'x'),
		"not UTF-8 in the close":    raw(0x88, 0x04, 0x03, 0xe8, 0xff, 0xfe),
		"a frame of endless length": raw(0x81, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"closed with words": func(c *websocket.Conn) {
			c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1011, "number "+Number+" token "+secret), time.Now().Add(time.Second))
		},
		"cut": func(c *websocket.Conn) { c.NetConn().Close() },
	}
	for name, do := range more {
		all[name] = do
	}
	for name, do := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, sockets, calls := start(t)
			w.Until(link.Connected)
			do((<-sockets).Conn)
			Unsaid(t, w.Until(link.Waiting).Err.Error(), secret)
			w.Wake <- struct{}{}
			w.Until(link.Connected)
			calls()
		})
	}
}

// Echoes are servers that fail, each in its own way, and repeat the request, the
// secret and a caller while they do.
func Echoes(secret string) map[string]http.HandlerFunc {
	echo := func(r *http.Request) string { return fmt.Sprint(r.Header, r.URL, secret, Number, Name) }
	hijack := func(w http.ResponseWriter, answer string) {
		c, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(c, answer)
		c.Close()
	}
	return map[string]http.HandlerFunc{
		"fails": func(w http.ResponseWriter, r *http.Request) { http.Error(w, echo(r), http.StatusInternalServerError) },
		"moves": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, stolen+"?"+secret+Number, http.StatusTemporaryRedirect)
		},
		"moves to another host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+secret+".example/"+Number, http.StatusFound)
		},
		"garbles": func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 "+strings.ReplaceAll(echo(r), "\n", "")+"\r\n\r\n")
		},
		"garbles a header": func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\n"+secret+" "+Number+"\r\nTransfer-Encoding: "+secret+"\r\n\r\n")
		},
		"is odd": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `[%q]`, echo(r)) },
	}
}

const stolen = "/stolen"

// At answers the requests below path with f, and fails the test for a redirect
// that was followed. It reports whether the request was answered.
func At(t testing.TB, path string, f http.HandlerFunc) Raw {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, stolen) {
			t.Error("the redirect was followed")
		}
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}
		f(w, r)
		return true
	}
}

// Raw answers a request before an exchange does, and reports whether it did.
type Raw func(http.ResponseWriter, *http.Request) bool

// Discreet has an exchange fail in each way of echoes at each path. start connects
// a link to an exchange that raw answers first; unsaid looks at what was said.
func Discreet(t *testing.T, echoes map[string]http.HandlerFunc, paths []string, start func(t *testing.T, raw Raw) *Watch, unsaid func(t *testing.T, said string)) {
	for _, path := range paths {
		for what, f := range echoes {
			t.Run(path+" "+what, func(t *testing.T) {
				t.Parallel()
				w := start(t, At(t, path, f))
				unsaid(t, fmt.Sprint(w.Until(link.Waiting).Err)+w.Log.String())
			})
		}
	}
}

// BadTokens has each answer come from path instead of a token: the link waits, does
// not repeat what it got, and connects once the answers are right again.
func BadTokens(t *testing.T, path string, answers map[string]string, start func(t *testing.T, raw Raw) *Watch) {
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			var right atomic.Bool
			w := start(t, func(w http.ResponseWriter, r *http.Request) bool {
				if right.Load() || r.URL.Path != path {
					return false
				}
				io.WriteString(w, answer)
				return true
			})
			if s := w.Until(link.Waiting); strings.Contains(s.Err.Error(), "Evil") {
				t.Error(s.Err)
			}
			right.Store(true)
			w.Wake <- struct{}{}
			w.Until(link.Connected)
		})
	}
}

// Unsaid fails the test if a caller or one of the words was said.
func Unsaid(t testing.TB, said string, words ...string) {
	t.Helper()
	for _, s := range append(words, Number, Name) {
		if strings.Contains(said, s) {
			t.Errorf("%q was said: %s", s, said)
		}
	}
}
