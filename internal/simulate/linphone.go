package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// linphone is the socket of linphone-daemon: it keeps events
// until they are asked for, one by one, and serves one client, closing others
// before they have said a word.
type linphone struct {
	*server
	client net.Conn
	served bool // the client has had an answer
	ids    map[string]int
	made   int
	calls  map[int]*linphoneCall
	queue  []string
	pops   int // how often was asked
	empty  int // the pop at which the queue became empty
}

type linphoneCall struct {
	state, from, direction string
}

// maxQueued bounds the events that nobody asks for.
const maxQueued = 1000

func startLinphone(ctx context.Context, path string) (*linphone, error) {
	if runtime.GOOS == "windows" {
		return nil, text.Errorf(text.SimulateBadLinux)
	}
	clean := func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", "wiebelt-linphone-") // 0700
		if err != nil {
			return nil, err
		}
		clean, path = func() error { return os.RemoveAll(dir) }, filepath.Join(dir, "lp")
	}
	if !filepath.IsAbs(path) || len(path) > 100 {
		return nil, errors.Join(text.Errorf(text.SimulateBadSocket), clean())
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), clean())
	}
	p := &linphone{server: newServer(), ids: map[string]int{}, calls: map[int]*linphoneCall{}}
	p.address = Address{Ready: true, Over: registry.Linphone, Address: path}
	p.startStream(ctx, l, p.began, func() error { return errors.Join(l.Close(), clean()) })
	return p, nil
}

// began serves the first client to its end. What it did not ask for is gone with
// the daemon.
func (p *linphone) began(conn net.Conn) func() {
	first := false
	p.With(func() {
		if first = p.client == nil; first {
			p.client = conn
		}
	})
	if !first {
		return func() {}
	}
	return func() {
		defer p.With(func() { p.client, p.served, p.queue = nil, false, nil })
		buf := make([]byte, maxAsked)
		for {
			n, err := conn.Read(buf) // what is read at once is one command
			if err != nil {
				return
			}
			_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
			if _, err := io.WriteString(conn, p.answer(strings.TrimSpace(string(buf[:n])))); err != nil {
				return
			}
		}
	}
}

func (p *linphone) answer(command string) (said string) {
	p.With(func() {
		p.served = true
		name, rest, _ := strings.Cut(command, " ")
		switch name {
		case "pop-event":
			said = p.pop()
		case "call-status":
			said = p.status(rest)
		default:
			said = "Status: Error\nReason: Unknown command.\n"
		}
	})
	return said
}

func (p *linphone) pop() string {
	p.pops++
	if len(p.queue) == 0 {
		return "Status: Ok\n\nSize: 0\n\n"
	}
	event := p.queue[0]
	p.queue = p.queue[1:]
	if len(p.queue) == 0 {
		p.empty = p.pops
	}
	return fmt.Sprintf("Status: Ok\n\nSize: %d\nEvent-type: call-state-changed\n\n%s\n\n\n", len(p.queue), event)
}

func (p *linphone) status(which string) string {
	id, err := strconv.Atoi(which)
	if which == "" {
		for n := range p.calls {
			id = max(id, n)
		}
		if id == 0 {
			return "Status: Error\nReason: No current call available.\n"
		}
	} else if err != nil || p.calls[id] == nil {
		return "Status: Error\nReason: No call with such id.\n"
	}
	c := p.calls[id]
	said := "Status: Ok\n\nState: LinphoneCall" + c.state + "\nFrom: " + c.from + "\n"
	if c.state == "StreamsRunning" {
		said += "Direction: " + c.direction + "\nDuration: 1\n"
	}
	return said + "\n"
}

func (p *linphone) Ready(ctx context.Context) error {
	return p.Until(ctx, func() bool { return p.served && p.pops > 0 })
}

// Tell queues events, and waits until the client, having had them all, asks for
// more.
func (p *linphone) Tell(ctx context.Context, n News) error {
	p.With(func() {
		id, ok := p.ids[n.Call.ID]
		if !ok {
			p.made++
			id = p.made
			p.ids[n.Call.ID] = id
		}
		c := p.calls[id]
		if c == nil {
			c = &linphoneCall{from: nameAddr(n.Call), direction: "in"}
			if n.Call.Direction == "outgoing" {
				c.direction = "out"
			}
			p.calls[id] = c
		}
		for _, state := range linphoneStates(n) {
			c.state = state
			from := c.from
			if c.direction == "out" {
				from = "<sip:" + extensionNumber + "@127.0.0.1>" // the log's From is ourselves
			}
			if p.client != nil && len(p.queue) < maxQueued {
				p.queue = append(p.queue, fmt.Sprintf("Event: LinphoneCall%s\nFrom: %s\nId: %d\n", state, from, id))
			}
		}
		if n.Do == End {
			delete(p.calls, id)
			delete(p.ids, n.Call.ID)
		}
	})
	return p.taken(ctx, func() bool { return p.client == nil || len(p.queue) == 0 && p.pops > p.empty })
}

// linphoneStates are those that a call goes through.
func linphoneStates(n News) []string {
	switch {
	case n.Do == Ring && n.Call.Direction == "outgoing":
		return []string{"OutgoingInit", "OutgoingProgress", "OutgoingRinging"}
	case n.Do == Ring:
		return []string{"IncomingReceived"}
	case n.Do == Answer:
		return []string{"Connected", "StreamsRunning"}
	case n.Do == End:
		return []string{"End", "Released"}
	}
	return nil
}
