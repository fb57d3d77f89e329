package hub

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"time"

	"wiebelt/internal/core/contact"
)

// Reached is what was seen on the way to the hub, as far as the way went.
type Reached struct {
	TestHub  bool // plain http to this computer
	Proxy    bool // through a proxy, which then resolves the hub's name
	Resolved bool // the name, of the hub or of its proxy
	// Expires is when the first certificate of the hub's chain expires, without
	// its root; zero without TLS.
	Expires time.Time
	// Ahead is how far this computer's clock is ahead of the hub's, to the second;
	// Dated tells whether the hub said its time.
	Ahead time.Duration
	Dated bool
}

// Reach asks the hub for an answer without credentials, over the same way that
// lookups take: proxy, certificates and limits included. What the answer says
// does not matter. A LookupError says where the way ended.
func (c *Client) Reach(ctx context.Context) (Reached, error) {
	r := Reached{TestHub: c.base.Scheme == "http"}
	if !c.begin() {
		return r, errClosed()
	}
	defer c.work.Done()
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	q, err := http.NewRequestWithContext(ctx, http.MethodHead, c.base.String()+"/", nil)
	if err != nil {
		return r, failed(contact.NotSetUp, "address")
	}
	q.Header.Set("Accept", "application/json")
	before := c.cfg.Now()
	w := &way{}
	resp, err := c.transport.carry(q, w)
	after := c.cfg.Now()
	r.Resolved, r.Proxy = w.stage.Load() >= stageConnect, w.proxy.Load()
	if err != nil {
		return r, transportError(ctx, err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxHeader) // a connection that was read to its end is used again
	if resp.StatusCode == http.StatusProxyAuthRequired {
		return r, failed(contact.ProxyLogin, statusDetail("proxy", resp.StatusCode))
	}
	if resp.TLS != nil && len(resp.TLS.VerifiedChains) > 0 {
		r.Expires = firstExpiry(resp.TLS.VerifiedChains[0])
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		// The header has whole seconds: its middle is compared with that of the request.
		r.Dated, r.Ahead = true, before.Add(after.Sub(before)/2).Sub(at.Add(500*time.Millisecond)).Round(time.Second)
	}
	return r, nil
}

func firstExpiry(chain []*x509.Certificate) time.Time {
	first := chain[0].NotAfter
	for _, c := range chain[1:max(1, len(chain)-1)] {
		if c.NotAfter.Before(first) {
			first = c.NotAfter
		}
	}
	return first
}

// Check asks for a new token for lookups, whether there is a good one or not,
// and tells how long it lasts. One that is there stays in use when that fails.
// The error is a LookupError, and callers of Lookup hear no more of it than of
// any failure to renew a token.
func (c *Client) Check(ctx context.Context) (life time.Duration, err error) {
	return c.token.check(ctx)
}

// CheckDelivery is Check for the token of deliveries. It asks nothing where that
// is the same.
func (c *Client) CheckDelivery(ctx context.Context) error {
	if c.delivers == c.token {
		return nil
	}
	_, err := c.delivers.check(ctx)
	return err
}

func (t *tokens) check(ctx context.Context) (time.Duration, error) {
	g, err := t.wait(ctx, t.start())
	if err != nil {
		return 0, err
	}
	return time.Duration(g.ExpiresIn) * time.Second, nil
}
