// Package linphone is a client of linphone-daemon, the Linphone softphone without windows.
// It uses the unix socket created by --pipe (daemon.cc and commands/ of liblinphone 5.1).
// The daemon queues what happens and returns one event for each pop-event. The client also
// requests the state of calls, but never anything that changes one.
//
// The daemon serves one client at a time: a second one is accepted and
// closed without any data.
//
// Goroutines: none of its own.
package linphone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

const (
	maxPath   = 100 // bytes; the system's limit is 108
	dialTime  = 5 * time.Second
	secondTry = 300 * time.Millisecond
	idlePoll  = 250 * time.Millisecond
	callPoll  = 100 * time.Millisecond // during a call
	burst     = 64                     // events processed without a pause
)

type softphone struct {
	path   string
	traits link.Traits
	// dialer is replaced by tests.
	dialer func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns a phone for link.Run. The address is the path of the daemon's socket, or a bare
// name, which stands for a path in /tmp: "lp" is "/tmp/lp". Versions before 5.2 put the name
// given with --pipe there; for later ones it is a path. Only an invalid address is an error.
func New(address string) (link.Phone, error) {
	if address != "" && !strings.Contains(address, "/") {
		address = "/tmp/" + address
	}
	if !strings.HasPrefix(address, "/") || len(address) > maxPath || strings.ContainsRune(address, 0) {
		return nil, errors.New("linphone: address is neither the path of a socket nor the name of a pipe")
	}
	return &softphone{address, link.Traits{
		Source: registry.Of(registry.Linphone).CallSource(address),
		Local:  true,
	}, dialOwn}, nil
}

func (p *softphone) Traits() link.Traits { return p.traits }

// Session polls for events until the connection ends.
func (p *softphone) Session(ctx context.Context, r *link.Reporter) error {
	if runtime.GOOS == "windows" {
		return &link.Refusal{Why: "linphone-daemon can be listened to on Linux only", Cause: link.CauseSystem}
	}
	socket, _ := os.Stat(p.path) // nil if there is none
	err := p.runConnection(ctx, r)
	if !errors.Is(err, errNotServed) {
		return err
	}
	// The daemon may not have seen yet that our last connection has ended.
	if err := wake.Pause(ctx, secondTry); err != nil {
		return err
	}
	if err = p.runConnection(ctx, r); !errors.Is(err, errNotServed) {
		return err
	}
	// A daemon that exits closes the connection the same way; the next one
	// recreates the socket.
	if now, _ := os.Stat(p.path); socket != nil && (now == nil || !socket.ModTime().Equal(now.ModTime())) {
		return link.NotRunningError(errRestarted)
	}
	return link.ErrReplaced
}

var errRestarted = errors.New("linphone-daemon was started anew")

func (p *softphone) runConnection(ctx context.Context, r *link.Reporter) error {
	conn, err := p.dial(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	s := &session{d: daemon{conn: conn}, r: r}
	if err := s.snapshot(); err != nil {
		return err
	}
	for taken := 0; ; {
		more, err := s.pop()
		if err != nil {
			return err
		}
		if taken++; more && taken < burst {
			continue
		}
		taken = 0
		wait := idlePoll
		if more || len(r.Calls()) > 0 {
			wait = callPoll
		}
		if err := wake.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *softphone) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := p.dialer(ctx, "unix", p.path)
	switch {
	case err == nil:
		return conn, nil
	case link.NobodyListens(err), errors.Is(err, fs.ErrNotExist):
		return nil, link.NotRunningError(err) // the socket file outlives its daemon
	case errors.Is(err, fs.ErrPermission):
		return nil, &link.Refusal{Why: "the socket of linphone-daemon belongs to another user", Cause: link.CauseOwner}
	}
	return nil, fmt.Errorf("connect to linphone-daemon: %w", err)
}

// dialOwn connects to a socket of this user or of root. The folder is open to everybody, so
// another user could have created the socket first.
func dialOwn(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if !ownPeer(conn) {
		conn.Close()
		return nil, fmt.Errorf("connect to %s: %w", address, fs.ErrPermission)
	}
	return conn, nil
}
