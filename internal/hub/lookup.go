package hub

import (
	"bytes"
	"context"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/core/contact"
)

// Lookup returns the contacts of a telephone number. No contacts and no error mean that the hub
// answered and nobody has the number. Every error is a *contact.LookupError. Callers with the
// same number share one request, which ends when the caller that started it gives up; the others
// then start a new one. Answers are reused for a minute and shared, so they must not be modified.
func (c *Client) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	if number == "" {
		return nil, failed(contact.HubError, "no number")
	}
	return c.flight.do(ctx, c, number)
}

// attempt is one lookup, repeated once if the token is refused.
func (c *Client) attempt(ctx context.Context, number string) ([]contact.Contact, error) {
	for again := false; ; again = true {
		g, err := c.lookupTokens.get(ctx)
		if err != nil {
			return nil, err
		}
		found, status, err := c.request(ctx, number, g)
		if refused := g.recordStatus(status); !refused {
			return found, err
		}
		if again || !c.lookupTokens.drop(g) {
			return nil, err
		}
	}
}

// request sends one request. The status is 0 if there was no answer.
func (c *Client) request(ctx context.Context, number string, g *accessToken) ([]contact.Contact, int, error) {
	u := *c.lookupURL
	u.RawQuery = "q=" + escape(number)
	r := (&http.Request{Method: http.MethodGet, URL: &u, Host: u.Host, Header: g.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	defer resp.Body.Close()
	raw, err := readAll(resp)
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	found, err := c.readAnswer(resp, raw)
	if err != nil {
		c.passRefusal(raw, g.AccessToken)
	}
	return found, resp.StatusCode, err
}

// readAll reads an answer to its end, or to one byte more than maxAnswer. For answers of
// usual size, the announced length avoids growing the buffer.
func readAll(resp *http.Response) ([]byte, error) {
	size := int64(4 << 10)
	if n := resp.ContentLength; n >= 0 && n < 64<<10 {
		size = n + bytes.MinRead // more than announced, to see the end
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	_, err := b.ReadFrom(io.LimitReader(resp.Body, maxAnswer+1))
	return b.Bytes(), err
}

// readAnswer accepts every sensible form of "no contact", since
// the documentation shows none, and distinguishes it from failure.
func (c *Client) readAnswer(resp *http.Response, raw []byte) ([]contact.Contact, error) {
	isJSON := isJSON(resp.Header.Get("Content-Type"))
	// Some servers send a byte order mark, which JSON does not allow.
	body := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	switch s := resp.StatusCode; {
	case s == http.StatusNoContent:
		return nil, nil
	case s == http.StatusNotFound:
		// No contact, unless it is a page of something other than the Contact API.
		if len(body) == 0 || isJSON && (body[0] == '{' || body[0] == '[') || string(body) == "null" {
			return nil, nil
		}
		return nil, failed(contact.HubError, "lookup: the hub does not know this address")
	case s == http.StatusForbidden:
		return nil, failed(contact.ScopeRefused, statusDetail("lookup", s))
	case s == http.StatusUnauthorized:
		return nil, failed(contact.CredentialsRefused, statusDetail("lookup", s))
	case s == http.StatusProxyAuthRequired:
		return nil, failed(contact.ProxyLogin, statusDetail("lookup", s))
	case s == http.StatusGatewayTimeout || s == http.StatusRequestTimeout:
		return nil, failed(contact.HubSlow, statusDetail("lookup", s))
	case s != http.StatusOK:
		return nil, failed(contact.HubError, statusDetail("lookup", s))
	case len(raw) > maxAnswer:
		return nil, failed(contact.NotUnderstood, "lookup: too long")
	case !isJSON:
		return nil, failed(contact.NotUnderstood, "lookup: the answer is no JSON")
	case len(body) == 0 || string(body) == "[]":
		return nil, nil
	}
	return decode(body, c.cfg.RelationNumberField)
}

// isJSON reports whether a Content-Type may mean JSON.
func isJSON(kind string) bool {
	switch kind {
	case "application/json", "application/json; charset=utf-8", "":
		return true
	}
	kind, _, _ = mime.ParseMediaType(kind)
	return kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json" || kind == "text/plain"
}

// flights lets callers with the same number share one request, and keeps answers for a
// minute. Failures are never kept.
type flights struct {
	mu     sync.Mutex
	now    func() time.Time
	open   map[string]*flight
	cached map[string]answer
	sweep  *time.Timer // while there are answers
}

// flight is a running request, run by the caller that started it. If that caller gives up
// while others wait, one of them starts a new one.
type flight struct {
	done    chan struct{}
	givenUp bool // this and what follows is set before done is closed
	found   []contact.Contact
	err     error
}

type answer struct {
	found []contact.Contact
	at    time.Time
}

// Limits on kept answers, and how often expired ones are removed.
const (
	maxKept = 512
	// An answer with more is not kept: it may take megabytes, and
	// a hub may answer like that for each of an office's callers.
	maxKeptContacts = 32
	sweepEvery      = 10 * time.Second
)

func newFlights(now func() time.Time) *flights {
	return &flights{now: now, open: map[string]*flight{}, cached: map[string]answer{}}
}

func (f *flights) do(ctx context.Context, c *Client, number string) ([]contact.Contact, error) {
	for {
		f.mu.Lock()
		if a := f.cached[number]; a.fresh(f.now()) {
			f.mu.Unlock()
			return a.found, nil
		}
		fl := f.open[number]
		if fl == nil {
			return f.run(ctx, c, number)
		}
		f.mu.Unlock()
		select {
		case <-fl.done:
			if !fl.givenUp {
				return fl.found, fl.err
			}
		case <-ctx.Done():
			return nil, failed(contact.HubSlow, "given up")
		}
	}
}

// run requests a number that nobody else is requesting. It is called with f.mu
// held and releases it.
func (f *flights) run(caller context.Context, c *Client, number string) ([]contact.Contact, error) {
	if !c.begin() {
		f.mu.Unlock()
		return nil, errClosed()
	}
	defer c.work.Done()
	ctx, cancel := context.WithTimeout(caller, c.cfg.LookupTimeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	fl := &flight{done: make(chan struct{})}
	f.open[number] = fl
	f.mu.Unlock()
	found, err := c.attempt(ctx, number)
	if err != nil && caller.Err() != nil {
		fl.givenUp = true
		err = failed(contact.HubSlow, "given up")
	}
	fl.found, fl.err = found, err
	f.mu.Lock()
	delete(f.open, number)
	if err == nil {
		f.store(number, found)
	}
	f.mu.Unlock()
	close(fl.done)
	return found, err
}

func (a answer) fresh(now time.Time) bool {
	return !now.Before(a.at) && !timeReached(now, a.at.Add(cacheFor))
}

// store stores an answer. f.mu is held.
func (f *flights) store(number string, found []contact.Contact) {
	if len(found) > maxKeptContacts {
		return
	}
	for old := range f.cached { // if there are too many, drop any
		if len(f.cached) < maxKept {
			break
		}
		delete(f.cached, old)
	}
	f.cached[number] = answer{found, f.now()}
	if f.sweep == nil {
		f.sweep = time.AfterFunc(sweepEvery, f.clean)
	}
}

// clean ensures that no answer stays in memory long
// after its minute, even if no further requests come.
func (f *flights) clean() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	maps.DeleteFunc(f.cached, func(_ string, a answer) bool { return !a.fresh(now) })
	f.sweep = nil
	if len(f.cached) > 0 {
		f.sweep = time.AfterFunc(sweepEvery, f.clean)
	}
}

func (f *flights) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.cached)
}
