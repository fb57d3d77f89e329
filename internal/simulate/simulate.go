// Package simulate simulates a softphone for every protocol that we accept, for
// demonstrations, trials and tests. It is written against the protocols, not against
// the code that implements them, and the tests of our links connect to its servers.
//
// A Scenario is a story of calls, read from text or built in. Play plays it on a Softphone,
// which Open makes for a protocol: a client of our listener, a program that runs ours
// (wiebelt ring, open-url, Twinkle's scripts), or the server of a softphone or exchange,
// which waits for our link to connect. Whatever a protocol cannot express is left out.
//
// The Start functions start a server, until their context ends or Close. Where it listens is a
// literal loopback address with its port, "" for a free one.
//
// Goroutines: a Phone has one that reads, from Dial to Close. A server has one that accepts
// and one or two for each connection; they end with its context, and Close waits for them.
package simulate

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Deadline limits a step whose context has no deadline.
const Deadline = 5 * time.Second

// Call is what the softphone knows about a call. Empty fields are not sent.
type Call struct {
	ID        string `json:"id,omitempty"`
	Number    string `json:"number,omitempty"`
	Name      string `json:"name,omitempty"`
	Line      string `json:"line,omitempty"`
	Via       string `json:"via,omitempty"`
	Direction string `json:"direction,omitempty"`
}

// RefusedError is a listener's answer that rejects an event.
type RefusedError struct {
	Code    string // of the protocol, such as "bad_number"
	Message string
	Status  int // HTTP status; 0 on a WebSocket
}

// Error includes the code.
func (r *RefusedError) Error() string { return "call report refused: " + r.Code }

type report struct {
	Event  string `json:"event"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Call
}

type reply struct {
	Event   string `json:"event"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Phone is a softphone on the WebSocket. Its methods may be called from any goroutine; each
// report is sent after the one before it was answered.
type Phone struct {
	conn    *websocket.Conn
	replies chan reply
	done    chan struct{} // closed when the reader has ended
	err     error         // why it ended; valid after done

	mu sync.Mutex // one report at a time
}

// Dial connects to the listener on this computer.
func Dial(ctx context.Context, port int, token string) (*Phone, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	d := websocket.Dialer{HandshakeTimeout: Deadline, Subprotocols: []string{"wiebelt.v1"}}
	conn, resp, err := d.DialContext(ctx, "ws://"+loopbackAddress(port)+"/v1/events", http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		if errors.Is(err, websocket.ErrBadHandshake) {
			return nil, readRefusal(resp)
		}
		return nil, fmt.Errorf("connect to listener: %w", err)
	}
	p := &Phone{conn: conn, replies: make(chan reply), done: make(chan struct{})}
	go p.read()
	return p, nil
}

func (p *Phone) read() {
	defer close(p.done)
	for {
		var r reply
		if p.err = p.conn.ReadJSON(&r); p.err != nil {
			return
		}
		select {
		case p.replies <- r:
		case <-time.After(Deadline): // nobody waits for it any more
		}
	}
}

// Ring reports that a call rings, and waits until the listener has accepted it.
func (p *Phone) Ring(ctx context.Context, c Call) error {
	return p.report(ctx, "ringing", "", c)
}

// Answer reports that a call was answered here.
func (p *Phone) Answer(ctx context.Context, c Call) error {
	return p.report(ctx, "answered", "", c)
}

// End reports that a call is over; reason is one of the protocol's, or empty.
func (p *Phone) End(ctx context.Context, c Call, reason string) error {
	return p.report(ctx, "ended", reason, c)
}

func (p *Phone) report(ctx context.Context, state, reason string, c Call) error {
	return p.Send(ctx, toJSON(report{Event: "call", State: state, Reason: reason, Call: c}))
}

// Send sends b unchanged and waits for its answer. Only one message may be unanswered at a
// time, so b must be one that gets an answer.
func (p *Phone) Send(ctx context.Context, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	until, _ := ctx.Deadline()
	p.conn.SetWriteDeadline(until)
	if err := p.conn.WriteMessage(websocket.TextMessage, b); err != nil {
		return fmt.Errorf("report call: %w", err)
	}
	select {
	case r := <-p.replies:
		if r.Event != "ack" {
			return &RefusedError{Code: r.Code, Message: r.Message}
		}
		return nil
	case <-p.done:
		return fmt.Errorf("report call: %w", p.err)
	case <-ctx.Done():
		// A late answer must not be taken for the next message's.
		p.conn.Close()
		return fmt.Errorf("report call: %w", ctx.Err())
	}
}

// Done returns a channel that is closed when the connection has ended, by either side.
func (p *Phone) Done() <-chan struct{} { return p.done }

// Close closes the connection and waits for the reader.
func (p *Phone) Close() error {
	_ = p.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	err := p.conn.Close()
	for {
		select {
		case <-p.replies:
		case <-p.done:
			return err
		}
	}
}

// ReportHTTP reports a call like a phone that can only open an address: GET
// /v1/call/<token>. state and reason are words of the protocol.
func ReportHTTP(ctx context.Context, port int, pathToken, state, reason string, c Call) error {
	q := url.Values{}
	for name, value := range map[string]string{"state": state, "reason": reason,
		"id": c.ID, "number": c.Number, "name": c.Name, "line": c.Line, "via": c.Via, "direction": c.Direction} {
		if value != "" {
			q.Set(name, value)
		}
	}
	u := url.URL{Scheme: "http", Host: loopbackAddress(port), Path: "/v1/call/" + pathToken, RawQuery: q.Encode()}
	return deliver(ctx, http.MethodGet, u.String(), nil)
}

// deliver sends a report and returns once it was accepted. Errors contain nothing of the
// address, which holds a secret.
func deliver(ctx context.Context, method, to string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("report call: address is not valid")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return fmt.Errorf("report call: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return readRefusal(resp)
	}
	return nil
}

// client only connects to this computer: no proxy, no redirects, no keep-alive. A relay
// here has a self-signed certificate; nobody else could read what is sent.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: anyCertificate},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

var anyCertificate = &tls.Config{InsecureSkipVerify: true}

func loopbackAddress(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func readRefusal(resp *http.Response) error {
	r := &RefusedError{Status: resp.StatusCode}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		var m reply
		if json.Unmarshal(b, &m) == nil {
			r.Code, r.Message = m.Code, m.Message
		}
	}
	if r.Code == "" {
		r.Code = "http " + strconv.Itoa(resp.StatusCode)
	}
	return r
}
