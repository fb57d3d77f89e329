package relaylink

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
)

// keepAlive detects a cut network within two or three seconds on an idle connection;
// setUserTimeout does so within userTimeout while data is in flight, such as a lookup. The
// operating systems handle it, so a relay with a thousand desks has no extra work.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 2}

const userTimeout = 750 * time.Millisecond

// connect connects to one of the relays and requests the current
// calls, falling back to HTTPS. link.Run handles reconnecting.
func (s *session) connect(ctx context.Context, joined string) (err error) {
	o := nats.GetDefaultOptions()
	o.Name, o.InboxPrefix = "wiebelt", wire.Inbox(s.User)
	o.AllowReconnect, o.Timeout, o.PingInterval, o.MaxPingsOut = false, dialTime, pingEvery, 2
	o.UserJWT, o.SignatureCB = func() (string, error) { return s.Token, nil }, s.pair.Sign
	o.AsyncErrorCB = func(*nats.Conn, *nats.Subscription, error) {
		wake.Up(s.stale)
	}
	o.Secure = !s.isLocal
	if s.Conn, err = s.dialFirst(ctx, o, s.URLs); err != nil && !isRefusal(connectError(ctx, err)) && !s.isLocal {
		o.ProxyPath = wire.Tunnel
		if c, e := s.dialFirst(ctx, o, s.tunnels(joined)); e == nil {
			s.Conn, err = c, nil
		} else if isRefusal(connectError(ctx, e)) {
			err = e
		}
	}
	if err != nil {
		return err
	}
	s.SetClosedHandler(func(c *nats.Conn) { s.closed <- c.LastError() })
	s.inbox = s.NewInbox()
	for _, subject := range []string{s.Site.UserSubject(wire.TopicCalls, s.User), s.inbox} {
		if _, err = s.ChanSubscribe(subject, s.snapshots); err != nil {
			break
		}
	}
	if err == nil {
		_, err = s.ChanSubscribe(s.Site.StateSubject(), s.stateMessages)
	}
	if err == nil {
		err = s.requestSnapshot()
	}
	if err != nil {
		s.Close()
	}
	return err
}

// dialFirst dials the relays in turn and returns the first established connection. One that
// does not answer delays nobody: it may be cut off.
func (s *session) dialFirst(ctx context.Context, o nats.Options, urls []string) (*nats.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn *nats.Conn
		err  error
	}
	results := make(chan result)
	next := time.NewTimer(0)
	var why error
	for tried, lost := 0, 0; lost < len(urls); {
		select {
		case <-next.C:
			if tried == len(urls) {
				continue
			}
			d := &dialer{ctx: ctx}
			o.Servers, o.CustomDialer, o.TLSConfig = []string{urls[tried]}, d, s.trust(urls[tried])
			connect := o.Connect // bound to the current o
			tried++
			next.Reset(nextTime)
			s.dials.Go(func() {
				c, err := connect()
				if err == nil {
					d.established()
				}
				select {
				case results <- result{c, err}:
				case <-ctx.Done():
					if c != nil {
						c.Close()
					}
				}
			})
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			if !isRefusal(connectError(ctx, why)) {
				why = r.err
			}
			lost++
			next.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, why
}

func isRefusal(err error) bool { _, is := errors.AsType[*link.Refusal](err); return is }

// tunnels returns the addresses at which relays accept the connection as a WebSocket
// over HTTPS, in case the network lets nothing else through. Each relay uses the port at
// which this computer joined.
func (s *session) tunnels(joined string) (all []string) {
	at, err := url.Parse(joined)
	if err != nil {
		return nil
	}
	for _, to := range append([]string{joined}, s.URLs...) {
		if u, err := url.Parse(to); err == nil {
			tunnel := "wss://" + net.JoinHostPort(u.Hostname(), cmp.Or(at.Port(), "443"))
			if !slices.Contains(all, tunnel) {
				all = append(all, tunnel)
			}
		}
	}
	return all
}

// trust returns how to verify a relay's certificate. The one for HTTPS may differ from the
// site's, so it is verified as when this computer joined.
func (s *session) trust(address string) *tls.Config {
	to, err := url.Parse(address)
	switch {
	case s.isLocal || err != nil:
		return nil
	case to.Scheme == "wss" && s.Fingerprint != "":
		return certificates.PinnedTLS(s.Fingerprint, to.Hostname())
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: s.roots}
	if to.Scheme == "wss" {
		c.RootCAs = nil
	}
	return c
}

// dialer aborts when its context ends, until the connection is established.
type dialer struct {
	ctx         context.Context
	established func() bool
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, dialTime)
	defer cancel()
	c, err := (&net.Dialer{KeepAliveConfig: keepAlive, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(socket uintptr) { _ = setUserTimeout(socket, userTimeout) }) // otherwise it takes longer
	}}).DialContext(ctx, network, address)
	if err == nil {
		d.established = context.AfterFunc(d.ctx, func() { _ = c.Close() })
	}
	return c, err
}
