package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// Linphone is the socket of linphone-daemon: it queues events until they are
// requested, one by one, and serves one client; others are closed at once. Access its
// fields only within With.
type Linphone struct {
	*server
	Calls map[int]LinphoneCall // by id
	Queue []string             // events not yet requested; see LinphoneEvent
	// OnCommand is called under the lock with each command and its answer, and returns the
	// answer to send; "" hangs up.
	OnCommand    func(command, answer string) string
	client       net.Conn
	idle         bool // the client has had all events, and has asked for more
	ownExtension extension
}

// LinphoneCall is a call as reported by call-status.
type LinphoneCall struct {
	State     string // without "LinphoneCall"
	From      string // name and address of the other party
	Direction string // "in" or "out", reported during the conversation
}

// LinphoneEvent returns a call's change of state as
// pop-event returns it, after the number of queued events.
func LinphoneEvent(state, from, id string) string {
	return fmt.Sprintf("Event-type: call-state-changed\n\nEvent: LinphoneCall%s\nFrom: %s\nId: %s\n\n\n\n", state, from, id)
}

// StartLinphone starts a Linphone, until ctx ends or Close. path is the path of its socket,
// "" for one in a new folder.
func StartLinphone(ctx context.Context, path string) (*Linphone, error) {
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
	p := &Linphone{Calls: map[int]LinphoneCall{}, OnCommand: func(_, answer string) string { return answer }}
	p.server = newServer(func() bool { return p.idle })
	p.address = Address{Ready: true, Protocol: registry.Linphone, Address: path}
	p.startStream(ctx, l, p.serveConn, func() error { return errors.Join(l.Close(), clean()) })
	return p, nil
}

// serveConn serves the first client until it ends. Events it did not request are dropped then.
func (p *Linphone) serveConn(conn net.Conn) func() {
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
		defer p.With(func() { p.client, p.idle, p.Queue = nil, false, nil })
		buf := make([]byte, maxMessage)
		for {
			n, err := conn.Read(buf) // each read is one command
			if err != nil {
				return
			}
			answer := p.answer(strings.TrimSpace(string(buf[:n])))
			_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
			if _, err := io.WriteString(conn, answer); err != nil || answer == "" {
				return
			}
		}
	}
}

func (p *Linphone) answer(command string) (answer string) {
	p.With(func() {
		name, rest, _ := strings.Cut(command, " ")
		switch name {
		case "pop-event":
			answer = p.pop()
		case "call-status":
			answer = p.status(rest)
		default:
			answer = "Status: Error\nReason: Unknown command.\n"
		}
		answer = p.OnCommand(command, answer)
	})
	return answer
}

func (p *Linphone) pop() string {
	if p.idle = len(p.Queue) == 0; p.idle {
		return "Status: Ok\n\nSize: 0\n\n"
	}
	event := p.Queue[0]
	p.Queue = p.Queue[1:]
	return fmt.Sprintf("Status: Ok\n\nSize: %d\n%s", len(p.Queue), event)
}

// status reports a call, or the last one if which is empty.
func (p *Linphone) status(which string) string {
	id, err := strconv.Atoi(which)
	if which == "" {
		if len(p.Calls) == 0 {
			return "Status: Error\nReason: No current call available.\n"
		}
		id, err = slices.Max(slices.Collect(maps.Keys(p.Calls))), nil
	}
	c, ok := p.Calls[id]
	if err != nil || !ok {
		return "Status: Error\nReason: No call with such id.\n"
	}
	said := "Status: Ok\n\nState: LinphoneCall" + c.State + "\n"
	if c.From != "" {
		said += "From: " + c.From + "\n"
	}
	if c.State == "StreamsRunning" {
		said += "Direction: " + c.Direction + "\nDuration: 1\n"
	}
	return said + "\n"
}

// maxQueued limits the events that have not been requested.
const maxQueued = 1000

// SendUpdate queues events, and waits until the client has had them all and asks for more.
func (p *Linphone) SendUpdate(ctx context.Context, n Update) error {
	p.With(func() {
		id := p.ownExtension.apply(n).call.conversation
		c := LinphoneCall{From: nameAddr(n.Call), Direction: "in"}
		from := c.From
		if n.Call.Direction == "outgoing" {
			c.Direction = "out"
			from = "<sip:" + extensionNumber + "@127.0.0.1>" // an event's From is our own address
		}
		for _, c.State = range linphoneStates(n) {
			if p.client != nil && len(p.Queue) < maxQueued {
				p.Queue, p.idle = append(p.Queue, LinphoneEvent(c.State, from, strconv.Itoa(id))), false
			}
		}
		p.Calls[id] = c
		if n.Verb == End {
			delete(p.Calls, id)
		}
	})
	return p.awaitProcessed(ctx, func() bool { return p.client == nil || p.idle })
}

func linphoneStates(n Update) []string {
	switch {
	case n.Verb == Ring && n.Call.Direction == "outgoing":
		return []string{"OutgoingInit", "OutgoingProgress", "OutgoingRinging"}
	case n.Verb == Ring:
		return []string{"IncomingReceived"}
	case n.Verb == Answer:
		return []string{"Connected", "StreamsRunning"}
	case n.Verb == End:
		return []string{"End", "Released"}
	}
	return nil
}
