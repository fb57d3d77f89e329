// Package instance ensures that only one Wiebelt runs per user and profile, and carries
// what that user's other programs send it: calls from "wiebelt ring", the windows' process,
// commands. A call that "wiebelt ring" hands over while Wiebelt is not running waits in the
// inbox; what a phone sends over HTTP or WebSocket meanwhile is lost.
//
// The operating system decides who is first: an exclusive lock on Unix, a named mutex on
// Windows, both released with their process. Communication uses a Unix socket in a private
// folder, or a named pipe that only this user may open. The other side must be the same
// user: on Unix its credentials are checked; on Windows the connecting side checks whose
// pipe it is. There a stranger who takes the pipe's name first keeps Wiebelt from starting,
// but can do nothing more.
//
// Goroutines: Serve runs one for accepting, one for the inbox and one for every peer,
// all ended when it returns.
package instance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/text"
)

// Limits on what a peer may send.
const (
	maxLine          = 64 << 10 // bytes per message
	maxPeers         = 32
	writeTime        = 5 * time.Second
	handOverTimeout  = time.Second // for the answer to a call
	maxInboxFiles    = 64          // files
	maxInboxFileSize = 8 << 10     // bytes per file: a call with every character escaped
)

// Limits that tests on a busy machine make longer.
var (
	helloTime  = 2 * time.Second // for the first message each way
	settleTime = 5 * time.Second // for one that is starting or ending
)

// Roles of a peer.
const (
	roleRing    = "ring"    // hands over one call and leaves
	RoleCommand = "command" // asks something and leaves
	RoleWindows = "windows" // the windows' process
	roleProbe   = "probe"   // asks whether one is running
)

var (
	// ErrRunning: another Wiebelt of this user and profile is already running.
	ErrRunning = text.Errorf(text.InstanceRunning)
	// ErrNotRunning: no Wiebelt answers.
	ErrNotRunning = text.Errorf(text.RingNotRunning)
	// ErrQuit: the user has quit Wiebelt, so it is not started again.
	ErrQuit = text.Errorf(text.RingQuit)
	// ErrLeftInInbox: Wiebelt could not be started; the call waits in the inbox.
	ErrLeftInInbox = text.Errorf(text.RingWaits)
	// ErrInboxFull: the inbox is not being read.
	ErrInboxFull = text.Errorf(text.InstanceInboxFull)
)

// Config defines where to meet and who we are.
type Config struct {
	RunDir  string // private folder of this user and profile, with the socket; names the pipe on Windows
	Version string
	Build   string // its commit; doctor reports a window or command of another build
	Log     *slog.Logger
}

// SocketName is the socket's name in RunDir.
const SocketName = "wiebelt.sock"

func (c Config) socket() string { return filepath.Join(c.RunDir, SocketName) }

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// Hello is the first message each way.
type Hello struct {
	Version string `json:"version"`
	Build   string `json:"build"`
	Role    string `json:"role"`
}

// Handler is what the resident does for its peers.
type Handler interface {
	// Ring takes a call; one at a time. Its At shows how long it waited in the inbox. An
	// error means that this resident takes no more calls: the call waits for the next one.
	Ring(e call.Event) error
	// Peer serves a connection of another role until it or ctx ends; it must be safe for
	// concurrent use. The connection is closed afterwards.
	Peer(ctx context.Context, hello Hello, c *Conn)
}

// Instance is the right to be the only one. Close releases it.
type Instance struct {
	cfg      Config
	release  func()
	listener *listener
}

// Acquire becomes the only one, or returns ErrRunning.
// Connections are accepted from now on and wait until Serve runs.
//
// A process that holds the lock without answering is starting or ending. Acquire waits for it:
// calls in the inbox are for whichever remains, and if both ended now, no one would take them.
func Acquire(cfg Config) (*Instance, error) {
	if err := createRunDir(cfg); err != nil {
		return nil, err
	}
	release, err := lock(cfg)
	for end := time.Now().Add(settleTime); errors.Is(err, ErrRunning) && time.Now().Before(end); {
		if residentAnswers(cfg) {
			return nil, ErrRunning
		}
		time.Sleep(20 * time.Millisecond)
		release, err = lock(cfg)
	}
	if err != nil {
		return nil, err
	}
	l, err := listen(cfg)
	if err != nil {
		release()
		if residentAnswers(cfg) { // in another Windows session, which the lock does not cover
			err = ErrRunning
		}
		return nil, err
	}
	return &Instance{cfg: cfg, release: release, listener: l}, nil
}

// createRunDir creates the runtime folder and the inbox, accessible to this user only.
func createRunDir(cfg Config) error {
	return cmp.Or(filetrust.Make(cfg.RunDir, filetrust.Private), filetrust.Make(inboxDir(cfg), filetrust.Private))
}

func residentAnswers(cfg Config) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer cancel()
	c, _, err := Connect(ctx, cfg, roleProbe)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Close stops accepting and releases the lock.
func (i *Instance) Close() error {
	err := i.listener.Close()
	i.release()
	return err
}

// Serve accepts peers and reads the inbox until ctx ends. If somebody removes the runtime
// folder, it is made anew; ErrRunning means that another one was faster.
func (i *Instance) Serve(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	box := newInbox(i.cfg, &receiver{h: h})
	places := make(chan struct{}, maxPeers)
	current := i
	work.Go(func() {
		box.watch(ctx, func() bool {
			next, err := current.reacquire()
			if errors.Is(err, ErrRunning) {
				cancel(err)
			}
			if next != current && err == nil {
				work.Go(func() { defer next.Close(); next.accept(ctx, h, box, places) })
				current = next
			}
			return err == nil
		})
	})
	i.accept(ctx, h, box, places)
	work.Wait()
	if err := context.Cause(ctx); errors.Is(err, ErrRunning) {
		return err
	}
	return nil
}

// accept serves those who connect, until ctx ends or the listener is closed.
func (i *Instance) accept(ctx context.Context, h Handler, box *inbox, places chan struct{}) {
	var work sync.WaitGroup
	defer work.Wait()
	defer context.AfterFunc(ctx, func() { _ = i.listener.Close() })()
	for {
		c, err := i.listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, os.ErrClosed) {
				return
			}
			i.cfg.log().Warn("peer not accepted", "why", err)
			_ = wake.Pause(ctx, 50*time.Millisecond) // a passing fault such as too many open files
			continue
		}
		if err := checkPeer(c); err != nil {
			i.cfg.log().Warn("peer refused", "why", err)
			_ = c.Close()
			continue
		}
		select {
		case places <- struct{}{}:
		default:
			_ = c.Close()
			continue
		}
		work.Go(func() {
			defer func() { <-places }()
			defer c.Close()
			i.peer(ctx, newConn(c), h, box)
			wake.Up(box.wake)
		})
	}
}

func (i *Instance) peer(ctx context.Context, c *Conn, h Handler, box *inbox) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_ = c.c.SetReadDeadline(time.Now().Add(helloTime))
	kind, raw, err := c.Receive()
	var hello Hello
	if err != nil || kind != "hello" || json.Unmarshal(raw, &hello) != nil {
		return
	}
	if err := c.Send("hello", Hello{i.cfg.Version, i.cfg.Build, "resident"}); err != nil {
		return
	}
	switch hello.Role {
	case roleProbe:
	case roleRing:
		if stop() { // what is taken now is also acknowledged
			i.ring(c, box)
		}
	default:
		_ = c.c.SetReadDeadline(time.Time{})
		h.Peer(ctx, hello, c)
	}
}

func (i *Instance) ring(c *Conn, box *inbox) {
	kind, raw, err := c.Receive()
	if err != nil || kind != "ring" {
		return
	}
	box.read() // what the phone reported before, when we were too slow to answer
	switch err := box.receiver.receive(raw); {
	case err == nil:
		_ = c.Send("ack", nil)
	case errors.Is(err, errResidentEnding):
		_ = c.Send("later", nil)
	default:
		_ = c.Send("error", err.Error())
	}
}

// Conn is a connection between two programs of one user: messages of a kind, one JSON
// object per line. Send is safe for concurrent use; Receive is not.
type Conn struct {
	c  *os.File
	in *bufio.Scanner
	mu sync.Mutex
}

func newConn(c *os.File) *Conn {
	in := bufio.NewScanner(c)
	in.Buffer(make([]byte, 0, 4096), maxLine)
	in.Split(wholeLines)
	return &Conn{c: c, in: in}
}

// wholeLines is bufio.ScanLines, but the last line must end too.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return 0, nil, err
}

type message struct {
	Kind string          `json:"kind"`
	Msg  json.RawMessage `json:"msg,omitempty"`
}

// Send sends a message. It times out if the peer does not read.
func (c *Conn) Send(kind string, msg any) error {
	b, err := line(kind, msg)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.c.SetWriteDeadline(time.Now().Add(writeTime))
	_, err = c.c.Write(b)
	return err
}

func line(kind string, msg any) ([]byte, error) {
	m := message{Kind: kind}
	if msg != nil {
		raw, err := json.Marshal(msg)
		if err != nil {
			return nil, err
		}
		m.Msg = raw
	}
	b, err := json.Marshal(m)
	if err == nil && len(b) >= maxLine {
		err = fmt.Errorf("message of %d bytes is too long", len(b))
	}
	return append(b, '\n'), err
}

// Receive waits for the next message. The error is io.EOF if the peer closed in good order.
func (c *Conn) Receive() (kind string, raw json.RawMessage, err error) {
	if !c.in.Scan() {
		return "", nil, cmp.Or(c.in.Err(), io.EOF)
	}
	var m message
	if err := json.Unmarshal(c.in.Bytes(), &m); err != nil {
		return "", nil, errors.New("message is not understood")
	}
	return m.Kind, m.Msg, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.c.Close() }

// Connect connects to the running Wiebelt in a role and exchanges hellos. It returns
// ErrNotRunning if there is none.
func Connect(ctx context.Context, cfg Config, role string) (*Conn, Hello, error) {
	return connect(ctx, cfg, role, nil)
}

// Ask sends the running Wiebelt a message as a command, and waits for the answer.
func Ask(ctx context.Context, cfg Config, kind string, msg any) (answer string, raw json.RawMessage, err error) {
	c, _, err := Connect(ctx, cfg, RoleCommand)
	if err != nil {
		return "", nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.Send(kind, msg); err != nil {
		return "", nil, err
	}
	if answer, raw, err = c.Receive(); err != nil {
		return "", nil, cmp.Or(ctx.Err(), err)
	}
	return answer, raw, nil
}

// connect is Connect that sends behind together with the hello, without
// waiting for its answer.
func connect(ctx context.Context, cfg Config, role string, behind []byte) (*Conn, Hello, error) {
	nc, err := dial(ctx, cfg)
	if err != nil {
		return nil, Hello{}, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if err := checkPeer(nc); err != nil {
		_ = nc.Close()
		return nil, Hello{}, err
	}
	c := newConn(nc)
	end := time.Now().Add(helloTime)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	_ = nc.SetDeadline(end)
	hello, err := exchangeHellos(c, Hello{cfg.Version, cfg.Build, role}, behind)
	if err != nil {
		_ = c.Close()
		return nil, Hello{}, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	_ = nc.SetDeadline(time.Time{})
	return c, hello, nil
}

func exchangeHellos(c *Conn, ours Hello, behind []byte) (theirs Hello, err error) {
	b, err := line("hello", ours)
	if err != nil {
		return theirs, err
	}
	if _, err := c.c.Write(append(b, behind...)); err != nil { // within connect's deadline
		return theirs, err
	}
	kind, raw, err := c.Receive()
	if err != nil {
		return theirs, err
	}
	if kind != "hello" || json.Unmarshal(raw, &theirs) != nil {
		return theirs, errors.New("no greeting")
	}
	return theirs, nil
}
