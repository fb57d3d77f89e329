package simulate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"wiebelt/internal/softphone/registry"
)

// relayUser is the user at relaySite who may follow the calls of a simulated relay.
const relayUser, relaySite = "simulate", "simulate"

// maxPublished limits what a client publishes, in bytes.
const maxPublished = 64 << 10

// Relay is as much of a NATS server as a link to a relay needs: it admits everybody,
// publishes a snapshot at every change and answers requests for one.
type Relay struct {
	*server
	client *relayClient
	seq    int
	calls  []relayCall
}

type relayClient struct {
	net.Conn
	subscribed  map[string]string // subjects, by the client's subscription ids
	hasSnapshot bool              // it has requested the snapshot
}

type relayCall struct {
	Call
	State    string     `json:"state"`
	Reason   string     `json:"reason,omitempty"`
	Began    time.Time  `json:"began"`
	Answered *time.Time `json:"answered"`
}

// StartRelay starts a Relay.
func StartRelay(ctx context.Context, address string) (*Relay, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	l, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	membership := toJSON(map[string]any{"v": 1, "site": relaySite, "user": relayUser, "token": "simulate", "seed": string(seed),
		"urls": []string{"nats://" + l.Addr().String()}})
	r := &Relay{}
	r.server = newServer(func() bool { return r.client != nil && r.client.hasSnapshot })
	r.address = Address{Ready: true, Protocol: registry.Relay, Address: "http://" + l.Addr().String(), Secret: string(membership)}
	r.notifyEnd = halfClose // what was sent still arrives
	r.startStream(ctx, l, r.serveConn, l.Close)
	return r, nil
}

// serveConn serves a connection until it ends; the newest one receives the calls.
func (r *Relay) serveConn(conn net.Conn) func() {
	c := &relayClient{Conn: conn, subscribed: map[string]string{}}
	r.With(func() { r.client = c })
	return func() {
		c.send(`INFO {"server_id":"simulate","version":"2.11.0","proto":1,"headers":true,"max_payload":%d,"auth_required":true,"nonce":"simulate"}`+"\r\n", maxPublished)
		in := bufio.NewReader(io.LimitReader(conn, 64<<20))
		for {
			line, err := in.ReadSlice('\n')
			if err != nil || r.handleLine(c, in, strings.Fields(string(line))) != nil {
				break
			}
		}
		r.With(func() {
			if r.client == c {
				r.client = nil
			}
		})
	}
}

// handleLine processes a line from the client, with the payload that follows it.
func (r *Relay) handleLine(c *relayClient, in *bufio.Reader, words []string) error {
	switch {
	case len(words) == 1 && words[0] == "PING":
		c.send("PONG\r\n")
	case len(words) == 3 && words[0] == "SUB":
		r.With(func() { c.subscribed[words[2]] = words[1] })
	case len(words) >= 2 && words[0] == "UNSUB":
		r.With(func() { delete(c.subscribed, words[1]) })
	case len(words) >= 3 && words[0] == "PUB":
		n, err := strconv.Atoi(words[len(words)-1])
		if err != nil || n < 0 || n > maxPublished {
			return io.ErrUnexpectedEOF
		}
		if _, err := in.Discard(n + len("\r\n")); err != nil {
			return err
		}
		if len(words) == 4 && words[1] == subject("now") {
			r.With(func() {
				c.publish(words[2], r.snapshot())
				c.hasSnapshot = true
			})
		}
	}
	return nil
}

func subject(topic string) string { return "wiebelt." + relaySite + "." + topic + "." + relayUser }

// send writes to the client, and closes the connection if that fails.
func (c *relayClient) send(format string, args ...any) {
	_ = c.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		_ = c.Close()
	}
}

// publish sends to those of the client's subscriptions that match a subject.
func (c *relayClient) publish(to string, payload []byte) {
	for number, s := range c.subscribed {
		if begin, any := strings.CutSuffix(s, "*"); s == to || any && strings.HasPrefix(to, begin) {
			c.send("MSG %s %s %d\r\n%s\r\n", to, number, len(payload), payload)
		}
	}
}

func (r *Relay) snapshot() []byte {
	return toJSON(map[string]any{"v": 1, "relay": "simulate", "epoch": 1, "seq": r.seq, "at": time.Now(), "calls": append([]relayCall{}, r.calls...)})
}

// SendUpdate changes the call and publishes a snapshot. A call that is over appears in one more.
func (r *Relay) SendUpdate(_ context.Context, n Update) error {
	now := time.Now()
	r.With(func() {
		i := slices.IndexFunc(r.calls, func(c relayCall) bool { return c.ID == n.Call.ID })
		if i < 0 {
			i = len(r.calls)
			r.calls = append(r.calls, relayCall{Began: now})
		}
		c := &r.calls[i]
		c.Call, c.State, c.Reason = n.Call, state(n), n.Reason.String()
		if c.State == "answered" && c.Answered == nil {
			c.Answered = &now
		}
		r.seq++
		if r.client != nil {
			r.client.publish(subject("calls"), r.snapshot())
		}
		r.calls = slices.DeleteFunc(r.calls, func(c relayCall) bool { return c.State == "ended" })
	})
	return nil
}
