package localhub

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const largeBody = 64 << 20

// Faults are settable while the hub runs, from any goroutine. The zero value
// is a hub in good health. It belongs to one hub at a time.
type Faults struct {
	mu     sync.Mutex
	set    map[Endpoint]Fault
	refuse bool
	held   map[Endpoint]int // requests waiting out a delay
	taken  int64            // requests that a fault happened to

	gate sync.Mutex // one change of gone at a time; held while ports open and close
	gone bool
	move func(gone bool) error
}

// Set breaks an endpoint, in place of an earlier fault of it.
func (f *Faults) Set(e Endpoint, x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.set == nil {
		f.set = map[Endpoint]Fault{}
	}
	f.set[e] = x
}

// Clear mends an endpoint.
func (f *Faults) Clear(e Endpoint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.set, e)
}

// RefuseCredentials makes every client's credentials wrong, and every token
// that was handed out with them void, until it is taken back.
func (f *Faults) RefuseCredentials(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = on
}

// SetGone closes the hub's port and all connections, so that clients are
// refused, or opens the same port again. It returns when that has happened.
// Opening fails if another program took the port in the meantime.
func (f *Faults) SetGone(gone bool) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	if f.move != nil {
		if err := f.move(gone); err != nil {
			return err
		}
	}
	f.gone = gone
	return nil
}

// Reset mends everything.
func (f *Faults) Reset() error {
	f.mu.Lock()
	f.set, f.refuse = nil, false
	f.mu.Unlock()
	return f.SetGone(false)
}

// attach makes f the faults of h.
func (f *Faults) attach(h *Hub) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.move = h.setGone
	if f.gone {
		return h.setGone(true)
	}
	return nil
}

func (f *Faults) detach() {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.move = nil
}

// All gives the faults that are set. Times is what is left of it.
func (f *Faults) All() map[Endpoint]Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.set)
}

func (f *Faults) happened() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken
}

func (f *Faults) refused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuse
}

// take is the fault of the next request at e.
func (f *Faults) take(e Endpoint) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, ok := f.set[e]
	if ok {
		f.taken++
	}
	if ok && x.Times > 0 {
		if x.Times--; x.Times == 0 {
			delete(f.set, e)
		} else {
			f.set[e] = x
		}
	}
	return x, ok
}

// faulty lets the faults of e happen to what next answers.
func (h *Hub) faulty(e Endpoint, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, ok := h.faults.take(e)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		out := &slowWriter{w: w, r: r, slow: x.Slow}
		if x.Delay > 0 && !h.faults.hold(out, e, x.Delay) {
			panic(http.ErrAbortHandler)
		}
		if x.Drop {
			panic(http.ErrAbortHandler)
		}
		if (x == Fault{Delay: x.Delay, Times: x.Times}) {
			next.ServeHTTP(w, r)
			return
		}
		rec := &recorder{w: w, header: http.Header{}}
		switch {
		case x.Status != 0:
			writeError(rec, x.Status, "fault", "broken on purpose")
		case x.Expired && e != AtToken:
			rec.Header().Set("WWW-Authenticate", `Bearer realm="hub", error="invalid_token"`)
			writeError(rec, http.StatusUnauthorized, "invalid_token", "the token is not valid, or no longer")
		default:
			if x.Expired {
				r = r.WithContext(context.WithValue(r.Context(), expiredKey{}, true))
			}
			next.ServeHTTP(rec, r)
		}
		rec.send(out, x)
	})
}

// expiredKey is in the context of a request whose token is to have expired.
type expiredKey struct{}

// hold waits; false means that the client or the hub went away first.
func (f *Faults) hold(out *slowWriter, e Endpoint, d time.Duration) bool {
	count := func(by int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.held == nil {
			f.held = map[Endpoint]int{}
		}
		f.held[e] += by
	}
	count(1)
	defer count(-1)
	return out.wait(d)
}

// Pending is how many requests wait out a delay at e just now.
func (f *Faults) Pending(e Endpoint) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held[e]
}

// slowWriter sends to a client in drops.
type slowWriter struct {
	w    http.ResponseWriter
	r    *http.Request
	slow Slow
}

// wait lets time pass that does not count for the server's deadlines; false
// means that the client or the hub went away first.
func (s *slowWriter) wait(d time.Duration) bool {
	control := http.NewResponseController(s.w)
	// Without a body the server reads on, to see the client go; its deadline
	// would look like that.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(d + writeTime))
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		if s.r.ContentLength != 0 {
			_ = control.SetReadDeadline(time.Now().Add(readTime))
		}
		return true
	case <-s.r.Context().Done():
	case <-ending(s.r.Context()):
	}
	return false
}

// Write sends b. It leaves by a panic when the client or the hub goes away: the
// answer cannot be completed.
func (s *slowWriter) Write(b []byte) (int, error) {
	if s.slow.Bytes <= 0 || s.slow.Every <= 0 {
		return s.w.Write(b)
	}
	sent := 0
	for len(b) > 0 {
		n, err := s.w.Write(b[:min(len(b), s.slow.Bytes)])
		sent += n
		if err == nil {
			err = http.NewResponseController(s.w).Flush()
		}
		if err != nil {
			return sent, err
		}
		if b = b[n:]; len(b) > 0 && !s.wait(s.slow.Every) {
			panic(http.ErrAbortHandler)
		}
	}
	return sent, nil
}

// recorder keeps an answer back so that it can be spoiled.
type recorder struct {
	w      http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
}

const maxRecorded = 64 << 20

func (c *recorder) Header() http.Header { return c.header }

func (c *recorder) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
}

func (c *recorder) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	if c.body.Len()+len(b) > maxRecorded {
		return 0, errors.New("local hub: too large to be broken on purpose")
	}
	return c.body.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *recorder) Unwrap() http.ResponseWriter { return c.w }

// send sends what x leaves of the answer.
func (c *recorder) send(out *slowWriter, x Fault) {
	c.WriteHeader(http.StatusOK)
	body := c.body.Bytes()
	length := len(body)
	head := out.w.Header()
	maps.Copy(head, c.header)
	switch x.Body {
	case BodyHTML:
		head.Set("Content-Type", "text/html; charset=utf-8")
		if x.Status == 0 {
			c.status = http.StatusOK
		}
		body = []byte("<!doctype html><title>Wifi</title><h1>Wifi</h1><p>Log in to go on.</p>")
		length = len(body)
	case BodyTruncated:
		body = body[:len(body)/2]
		length = len(body)
	case BodyCut:
		body = body[:len(body)/2]
	case BodyEmpty:
		body, length = nil, 0
	case BodyWrong:
		body = []byte(`{"data":{"items":"none"},"access_token":7}`)
		length = len(body)
	}
	if x.ContentType != "" {
		head.Set("Content-Type", x.ContentType)
	}
	if x.RetryAfter > 0 {
		head.Set("Retry-After", strconv.FormatInt(int64((x.RetryAfter+time.Second-1)/time.Second), 10))
	}
	head.Set("Content-Length", strconv.Itoa(length))
	if x.Body == BodyLarge || c.status == http.StatusNoContent || c.status == http.StatusNotModified {
		head.Del("Content-Length")
	}
	out.w.WriteHeader(c.status)
	if x.Body == BodyLarge {
		blank(out, x.Size)
	}
	_, _ = out.Write(body)
	if x.Body == BodyCut {
		_ = http.NewResponseController(out.w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// blank writes n bytes of white space.
func blank(out io.Writer, n int) {
	if n == 0 {
		n = largeBody
	}
	piece := bytes.Repeat([]byte(" "), 64<<10)
	for n > 0 {
		sent, err := out.Write(piece[:min(n, len(piece))])
		if err != nil {
			return
		}
		n -= sent
	}
}
