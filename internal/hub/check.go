package hub

import (
	"context"
	"crypto/x509"
	"net/http"
	"time"

	"wiebelt/internal/core/contact"
)

// ProbeResult is what was found on the way to the hub, as far as that led.
type ProbeResult struct {
	TestHub  bool // plain http to this computer
	Proxy    bool // through a proxy, which then resolves the hub's name
	Resolved bool // the name of the hub, or of its proxy
	// Expires is when the first certificate in the hub's chain, excluding its root,
	// expires; zero without TLS.
	Expires time.Time
	// ClockAhead is how far this computer's clock is ahead of the hub's, to the second; HasDate
	// reports whether the hub sent its time.
	ClockAhead time.Duration
	HasDate    bool
}

// Probe sends the hub a request without credentials, over the same path
// as lookups, including proxy, certificates and limits. The content of
// the answer does not matter. A LookupError says where the path ends.
func (c *Client) Probe(ctx context.Context) (ProbeResult, error) {
	r := ProbeResult{TestHub: c.base.Scheme == "http"}
	if !c.begin() {
		return r, errClosed()
	}
	defer c.work.Done()
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	q, _ := http.NewRequestWithContext(ctx, http.MethodHead, c.base.String()+"/", nil) // cannot fail
	q.Header.Set("Accept", "application/json")
	before := c.cfg.Now()
	w := &trace{}
	resp, err := c.transport.roundTripTraced(q, w)
	after := c.cfg.Now()
	r.Resolved, r.Proxy = w.stage.Load() >= stageConnect, w.proxy.Load()
	if err != nil {
		return r, transportError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusProxyAuthRequired {
		return r, failed(contact.ProxyLogin, statusDetail("proxy", resp.StatusCode))
	}
	if resp.TLS != nil {
		r.Expires = firstExpiry(resp.TLS.VerifiedChains[0])
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		// The header has whole seconds: compare their middle with that of the request.
		r.HasDate, r.ClockAhead = true, before.Add(after.Sub(before)/2).Sub(at.Add(500*time.Millisecond)).Round(time.Second)
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

// Check requests a new token for lookups, even if there is a valid one, and returns its
// lifetime. If that fails, an existing token stays in use. The error is a LookupError,
// which affects callers of Lookup no more than any failure to renew a token.
func (c *Client) Check(ctx context.Context) (life time.Duration, err error) {
	return c.lookupTokens.check(ctx)
}

// CheckDeliveryToken is Check for the token of deliveries. It does nothing if
// that is the same token.
func (c *Client) CheckDeliveryToken(ctx context.Context) error {
	if c.deliveryTokens == c.lookupTokens {
		return nil
	}
	_, err := c.deliveryTokens.check(ctx)
	return err
}

func (t *tokens) check(ctx context.Context) (time.Duration, error) {
	g, err := t.wait(ctx, t.start())
	if err != nil {
		return 0, err
	}
	return time.Duration(g.ExpiresIn) * time.Second, nil
}
