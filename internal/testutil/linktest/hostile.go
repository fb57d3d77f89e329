package linktest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"wiebelt/internal/testutil/logtest"
)

// Values that other sides echo and that must never be logged.
const (
	Number = "0612345678"
	Name   = "Canary Jansen"
)

// Mutate appends mutations of the seeds to out until it
// has n entries. They are always the same.
func Mutate(out []string, n int, seeds ...string) []string {
	r := rand.New(rand.NewPCG(1, 2))
	for len(out) < n {
		b := []byte(seeds[r.IntN(len(seeds))])
		for range 1 + r.IntN(6) {
			i := r.IntN(len(b))
			switch r.IntN(5) {
			case 0:
				b[i] = byte(r.IntN(256))
			case 1:
				b = append(b[:i], b[min(len(b), i+r.IntN(20)):]...)
			case 2:
				b = append(b[:i:i], append([]byte(strings.Repeat(`{"[,<`+"\n", r.IntN(30))), b[i:]...)...)
			case 3:
				b = b[:i+1]
			case 4:
				b = slices.Insert(b, i, []byte(seeds[r.IntN(len(seeds))])...)
			}
			if len(b) == 0 {
				b = []byte("x")
			}
		}
		out = append(out, string(b))
	}
	return out
}

// Hostile passes messages, many concurrently, to survives, which checks that a link survives,
// logs to log, and reports whether it kept its connection. At least a third of the messages
// must be harmless, and unreadable ones must be logged without their content.
func Hostile(t *testing.T, messages []string, survives func(i int, message string, log *logtest.Buffer) (same bool)) {
	t.Helper()
	var log logtest.Buffer
	var same atomic.Int32
	var all sync.WaitGroup
	const beside = 40 // these mostly wait
	for first := range beside {
		all.Go(func() {
			for i := first; i < len(messages); i += beside {
				if survives(i, messages[i], &log) {
					same.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d messages, %d survived on the same connection", len(messages), same.Load())
	if int(same.Load()) < len(messages)/3 {
		t.Error("too few")
	}
	if !strings.Contains(log.String(), "cannot be read") {
		t.Error("nothing is in the log")
	}
	for _, secret := range []string{"0201234567", "31612345678", "Zoë", "Vries"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

const stolen = "/stolen"

// echoes returns servers that fail in different ways while echoing the request,
// the secret and a caller.
func echoes() map[string]http.HandlerFunc {
	secret := Known.Secret
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
		"is odd": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%q", echo(r)) },
		"never ends": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `["`)
			for range 10 << 10 {
				if _, err := io.WriteString(w, strings.Repeat(secret, 60)); err != nil {
					break
				}
			}
		},
	}
}
