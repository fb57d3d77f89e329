package localhub

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Endpoint is a part of the hub that can be broken on its own.
type Endpoint string

// The endpoints.
const (
	AtToken       Endpoint = "token"       // hub-api.md 4.1
	AtLookup      Endpoint = "lookup"      // hub-api.md 4.3
	AtTransaction Endpoint = "transaction" // hub-api.md 4.2
	AtPages       Endpoint = "pages"       // login, customer file
)

// Body is what becomes of an answer's body.
type Body uint8

// The bodies.
const (
	BodyAsIs      Body = iota
	BodyHTML           // a page in place of JSON, with status 200: a captive portal
	BodyTruncated      // the first half of the answer, as if it were the whole
	BodyCut            // the first half, then the connection is closed
	BodyEmpty          // status without a body
	BodyWrong          // well-formed JSON of another shape
)

// Fault is what goes wrong with a request. Its parts go together: a delay
// comes first, then Drop, Status or Body.
type Fault struct {
	Delay  time.Duration // before anything is answered
	Drop   bool          // the connection is closed without an answer
	Status int           // this status, with a JSON error, in place of the answer
	Body   Body
	Times  int // requests it holds for; 0: until it is cleared
}

// Faults are settable while the hub runs, from any goroutine. The zero value
// is a hub in good health. It belongs to one hub at a time.
type Faults struct {
	mu     sync.Mutex
	set    map[Endpoint]Fault
	refuse bool
	held   map[Endpoint]int // requests waiting out a delay

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

func (f *Faults) attach(move func(bool) error) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.move = move
	if f.gone {
		return move(true)
	}
	return nil
}

func (f *Faults) detach() {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.move = nil
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
	if ok && x.Times > 0 {
		if x.Times--; x.Times == 0 {
			delete(f.set, e)
		} else {
			f.set[e] = x
		}
	}
	return x, ok
}

// at lets the faults of e happen to what next answers.
func (f *Faults) at(e Endpoint, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, ok := f.take(e)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		if x.Delay > 0 && !f.hold(r, e, x.Delay) {
			panic(http.ErrAbortHandler)
		}
		switch {
		case x.Drop:
			panic(http.ErrAbortHandler)
		case x.Status != 0:
			writeError(w, x.Status, "fault", "broken on purpose")
		case x.Body == BodyAsIs:
			next.ServeHTTP(w, r)
		default:
			rec := &recorder{header: http.Header{}, status: http.StatusOK}
			next.ServeHTTP(rec, r)
			rec.send(w, x.Body)
		}
	})
}

// hold waits; false means that the client or the hub went away first.
func (f *Faults) hold(r *http.Request, e Endpoint, d time.Duration) bool {
	f.count(e, 1)
	defer f.count(e, -1)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (f *Faults) count(e Endpoint, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held = map[Endpoint]int{}
	}
	f.held[e] += by
}

// Pending is how many requests wait out a delay at e just now.
func (f *Faults) Pending(e Endpoint) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held[e]
}

// recorder keeps an answer back so that it can be spoiled.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *recorder) Header() http.Header         { return c.header }
func (c *recorder) WriteHeader(status int)      { c.status = status }
func (c *recorder) Write(b []byte) (int, error) { return c.body.Write(b) }

func (c *recorder) send(w http.ResponseWriter, how Body) {
	body := c.body.Bytes()
	half := body[:len(body)/2]
	for k, v := range c.header {
		w.Header()[k] = v
	}
	w.Header().Del("Content-Length")
	switch how {
	case BodyHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		c.status, body = http.StatusOK, []byte("<!doctype html><title>Wifi</title><h1>Wifi</h1><p>Log in to go on.</p>")
	case BodyTruncated:
		body = half
	case BodyCut:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(c.status)
		_, _ = w.Write(half)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case BodyEmpty:
		body = nil
	case BodyWrong:
		body = []byte(`{"data":{"items":"none"},"access_token":7}`)
	}
	w.WriteHeader(c.status)
	_, _ = w.Write(body)
}
