package localhub

import (
	"bytes"
	"cmp"
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

// Faults sets faults while the hub is running. It is safe for concurrent use.
type Faults struct {
	hub *server

	mu       sync.Mutex           // guards the following fields
	active   map[Endpoint][]Fault // in sequence, never empty
	refuse   bool
	waiting  map[Endpoint]int // requests waiting for a delay
	hitCount int64            // requests hit by a fault
}

// Set breaks an endpoint, replacing its earlier faults. If there are several, each applies
// once those before it have been used up; one with only Times lets that many requests pass.
func (f *Faults) Set(e Endpoint, x Fault, then ...Fault) {
	f.withLock(func() { f.active[e] = append([]Fault{x}, then...) })
}

// Clear fixes an endpoint.
func (f *Faults) Clear(e Endpoint) { f.withLock(func() { delete(f.active, e) }) }

// RefuseCredentials makes every client's credentials wrong, and
// every token issued for them invalid, until it is turned off again.
func (f *Faults) RefuseCredentials(on bool) { f.withLock(func() { f.refuse = on }) }

func (f *Faults) refused() (on bool) {
	f.withLock(func() { on = f.refuse })
	return on
}

// SetGone closes the hub's port and all connections, so that clients
// are refused, or reopens the same port. It returns once that is done.
// Reopening fails if another program has taken the port meanwhile.
func (f *Faults) SetGone(gone bool) error { return f.hub.setGone(gone) }

// Reset fixes everything.
func (f *Faults) Reset() error {
	f.withLock(func() {
		clear(f.active)
		f.refuse = false
	})
	return f.SetGone(false)
}

// Pending returns the number of requests currently waiting for a delay at e.
func (f *Faults) Pending(e Endpoint) int { return f.state().Waiting[e] }

type faultState struct {
	Faults  map[Endpoint]Fault `json:"faults"`  // for the next request; Times counts down
	Waiting map[Endpoint]int   `json:"waiting"` // requests held up by a delay
	taken   int64
}

func (f *Faults) state() (s faultState) {
	f.withLock(func() {
		s = faultState{map[Endpoint]Fault{}, maps.Clone(f.waiting), f.hitCount}
		for e, all := range f.active {
			s.Faults[e] = all[0]
		}
	})
	return s
}

func (f *Faults) withLock(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// nextFault returns the fault for the next request at e.
func (f *Faults) nextFault(e Endpoint) (x Fault, broken bool) {
	f.withLock(func() {
		all := f.active[e]
		if broken = len(all) > 0; !broken {
			return
		}
		f.hitCount++
		x = all[0]
		switch {
		case x.Times > 1:
			all[0].Times--
		case x.Times == 1 && len(all) > 1:
			f.active[e] = all[1:]
		case x.Times == 1:
			delete(f.active, e)
		}
	})
	return x, broken
}

// delay waits for d. It returns false if the client or the hub goes away first.
func (f *Faults) delay(out *slowWriter, e Endpoint, d time.Duration) bool {
	f.withLock(func() { f.waiting[e]++ })
	defer f.withLock(func() {
		if f.waiting[e]--; f.waiting[e] == 0 {
			delete(f.waiting, e)
		}
	})
	return out.wait(d)
}

func (h *Hub) withFaults(e Endpoint, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, broken := h.faults.nextFault(e)
		if !broken {
			next.ServeHTTP(w, r)
			return
		}
		out := &slowWriter{w: w, r: r, slow: x.Slow, end: h.lifeCtx.Done()}
		if x.Delay > 0 && !h.faults.delay(out, e, x.Delay) {
			panic(http.ErrAbortHandler)
		}
		if x.Drop {
			_, _ = io.Copy(io.Discard, r.Body) // else the client could tell that we do not have it
			panic(http.ErrAbortHandler)
		}
		if (x == Fault{Delay: x.Delay, Times: x.Times}) {
			next.ServeHTTP(w, r)
			return
		}
		rec := &recorder{ResponseWriter: w, header: http.Header{}}
		switch {
		case x.Status != 0:
			refuse(x.Status, "fault", "broken on purpose").write(rec)
		case x.Expired && e != EndpointToken:
			rec.Header().Set("WWW-Authenticate", `Bearer realm="hub", error="invalid_token"`)
			wrongToken.write(rec)
		default:
			if x.Expired {
				r = r.WithContext(context.WithValue(r.Context(), expiredKey{}, true))
			}
			next.ServeHTTP(rec, r)
		}
		rec.send(out, x)
	})
}

// expiredKey marks the context of a request that gets a token that has already expired.
type expiredKey struct{}

type slowWriter struct {
	w    http.ResponseWriter
	r    *http.Request
	slow Slow
	end  <-chan struct{} // closed when the hub ends
}

// wait waits for d without using up the server's deadlines.
// It returns false if the client or the hub goes away first.
func (s *slowWriter) wait(d time.Duration) bool {
	control := http.NewResponseController(s.w)
	// Without a body the server keeps reading, to notice when the client leaves; its
	// deadline would look the same.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(d + writeTime))
	select {
	case <-time.After(d):
		if s.r.ContentLength != 0 {
			_ = control.SetReadDeadline(time.Now().Add(readTime))
		}
		return true
	case <-s.r.Context().Done():
	case <-s.end:
	}
	return false
}

// Write sends b. It panics if the hub or the client goes away
// during a pause, as the answer cannot be completed then.
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

// recorder holds an answer back so that it can be corrupted.
type recorder struct {
	http.ResponseWriter // the connection's
	header              http.Header
	status              int
	body                bytes.Buffer
}

const maxRecorded = 64 << 20

// Unwrap lets http.ResponseController reach the connection.
func (c *recorder) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *recorder) Header() http.Header { return c.header }

func (c *recorder) WriteHeader(status int) {
	c.status = cmp.Or(c.status, status)
}

func (c *recorder) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	if c.body.Len()+len(b) > maxRecorded {
		return 0, errors.New("local hub: too large to be broken on purpose")
	}
	return c.body.Write(b)
}

func (c *recorder) send(out *slowWriter, x Fault) {
	c.WriteHeader(http.StatusOK)
	whole := c.body.Len()
	body := c.corruptBody(x)
	head := out.w.Header()
	maps.Copy(head, c.header)
	if x.ContentType != "" {
		head.Set("Content-Type", x.ContentType)
	}
	if x.RetryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(inSeconds(x.RetryAfter)))
	}
	switch {
	case x.Body == BodyLarge, c.status == http.StatusNoContent, c.status == http.StatusNotModified:
		head.Del("Content-Length")
	case x.Body == BodyCut:
		head.Set("Content-Length", strconv.Itoa(whole))
	default:
		head.Set("Content-Length", strconv.Itoa(len(body)))
	}
	out.w.WriteHeader(c.status)
	if x.Body == BodyLarge {
		writeBlanks(out, cmp.Or(x.Size, largeBody))
	}
	_, _ = out.Write(body)
	if x.Body == BodyCut {
		_ = http.NewResponseController(out.w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// corruptBody returns the body to send instead of the answer's.
func (c *recorder) corruptBody(x Fault) []byte {
	body := c.body.Bytes()
	switch x.Body {
	case BodyHTML:
		c.header.Set("Content-Type", "text/html; charset=utf-8")
		if x.Status == 0 {
			c.status = http.StatusOK
		}
		return []byte("<!doctype html><title>Wifi</title><h1>Wifi</h1><p>Log in to go on.</p>")
	case BodyTruncated, BodyCut:
		return body[:len(body)/2]
	case BodyEmpty:
		return nil
	case BodyWrong:
		return []byte(`{"data":{"items":"none"},"access_token":7}`)
	}
	return body
}

// inSeconds returns a duration for Retry-After, rounded up.
func inSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// writeBlanks writes n bytes of white space.
func writeBlanks(out io.Writer, n int) {
	piece := bytes.Repeat([]byte(" "), 64<<10)
	for n > 0 {
		sent, err := out.Write(piece[:min(n, len(piece))])
		if err != nil {
			return
		}
		n -= sent
	}
}
