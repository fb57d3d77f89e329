//go:build linux

package window

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// waylandClipboard is what we own of the clipboard of the compositor around XWayland.
// Compositors of wlroots take none from an X program that is not in front, as no card
// ever is; for programs that look after the clipboard they have the protocol
// data-control, which KWin has too. Elsewhere nothing is offered here, nor has to be.
type waylandClipboard struct {
	mu     sync.Mutex
	stop   context.CancelFunc // ends what is offered; nil before the first copy
	closed bool
	work   sync.WaitGroup
}

// offer puts a text on the clipboard, in place of the one before, and returns at once.
func (c *waylandClipboard) offer(text []byte) {
	path := os.Getenv("WAYLAND_DISPLAY")
	if path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if c.stop != nil {
		c.stop()
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	c.work.Go(func() {
		defer cancel()
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
		if err != nil {
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		w := &waylandConn{UnixConn: conn.(*net.UnixConn)}
		_ = w.serve(text) // ends when somebody else copies, with the compositor, or with ctx
		w.dropFiles()
	})
}

// close ends what is offered and waits for it.
func (c *waylandClipboard) close() {
	c.mu.Lock()
	c.closed = true
	if c.stop != nil {
		c.stop()
	}
	c.mu.Unlock()
	c.work.Wait()
}

// waylandConn speaks the wire protocol of Wayland.
type waylandConn struct {
	*net.UnixConn
	in    []byte // read and not taken yet
	files []int  // that came with it
}

// The objects of a connection: the first is there, the others get their numbers from us.
const (
	waylandDisplay = iota + 1
	waylandRegistry
	waylandSynced
	waylandSeat
	waylandManager
	waylandSource
	waylandDevice
)

var errNoDataControl = errors.New("no data-control")

// serve offers a text until somebody else offers something.
func (w *waylandConn) serve(text []byte) error {
	if err := w.set(); err != nil {
		return err
	}
	for {
		m, err := w.next()
		switch {
		case err != nil:
			return err
		case m.object == waylandDisplay && m.code == 0: // error
			return errors.New("the compositor refuses")
		case m.object == waylandSource && m.code == 1: // cancelled
			return nil
		case m.object == waylandSource && m.code == 0: // send
			w.send(text)
		}
	}
}

// set finds out what the compositor has and puts what we offer on the clipboard.
func (w *waylandConn) set() error {
	var b []byte
	b = request(b, waylandDisplay, 1, waylandRegistry)
	b = request(b, waylandDisplay, 0, waylandSynced)
	if _, err := w.Write(b); err != nil {
		return err
	}
	var seat, manager uint32 // numbers of the registry
	var kind string
	for {
		m, err := w.next()
		if err != nil {
			return err
		}
		if m.object == waylandSynced {
			break
		}
		if m.object != waylandRegistry || m.code != 0 {
			continue
		}
		switch number, name := m.number(), m.text(); {
		case name == "wl_seat" && seat == 0:
			seat = number
		case name == "ext_data_control_manager_v1", name == "zwlr_data_control_manager_v1" && manager == 0:
			manager, kind = number, name
		}
	}
	if seat == 0 || manager == 0 {
		return errNoDataControl
	}
	b = request(b[:0], waylandRegistry, 0, seat, "wl_seat", 1, waylandSeat)
	b = request(b, waylandRegistry, 0, manager, kind, 1, waylandManager)
	b = request(b, waylandManager, 0, waylandSource)
	for _, mime := range []string{"text/plain;charset=utf-8", "text/plain", "UTF8_STRING"} {
		b = request(b, waylandSource, 0, mime)
	}
	b = request(b, waylandManager, 1, waylandDevice, waylandSeat)
	b = request(b, waylandDevice, 0, waylandSource)
	_, err := w.Write(b)
	return err
}

// send gives the text to a program that pastes, which has brought a file for it.
func (w *waylandConn) send(text []byte) {
	if len(w.files) == 0 {
		return
	}
	fd := w.files[0]
	w.files = w.files[1:]
	_ = unix.SetNonblock(fd, true)
	f := os.NewFile(uintptr(fd), "paste")
	defer f.Close()
	const patience = 2 * time.Second // with one that does not read
	_ = f.SetWriteDeadline(time.Now().Add(patience))
	_, _ = f.Write(text)
}

func (w *waylandConn) dropFiles() {
	for _, fd := range w.files {
		_ = unix.Close(fd)
	}
}

// waylandEvent is what an object tells.
type waylandEvent struct {
	object uint32
	code   uint16
	data   []byte
}

const waylandHead = 8 // object, then length and code

// next waits for an event.
func (w *waylandConn) next() (waylandEvent, error) {
	for {
		if len(w.in) >= waylandHead {
			second := binary.NativeEndian.Uint32(w.in[4:])
			switch n := int(second >> 16); {
			case n < waylandHead:
				return waylandEvent{}, errors.New("broken event")
			case n <= len(w.in):
				e := waylandEvent{binary.NativeEndian.Uint32(w.in), uint16(second), slices.Clone(w.in[waylandHead:n])}
				w.in = w.in[n:]
				return e, nil
			}
		}
		if err := w.read(); err != nil {
			return waylandEvent{}, err
		}
	}
}

func (w *waylandConn) read() error {
	b, oob := make([]byte, 4096), make([]byte, 256)
	n, k, _, _, err := w.ReadMsgUnix(b, oob)
	if err != nil {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	w.in = append(w.in, b[:n]...)
	all, _ := unix.ParseSocketControlMessage(oob[:k])
	for _, m := range all {
		files, _ := unix.ParseUnixRights(&m)
		for _, fd := range files {
			unix.CloseOnExec(fd)
		}
		w.files = append(w.files, files...)
	}
	return nil
}

// number takes a number from an event; 0 where there is none.
func (e *waylandEvent) number() uint32 {
	if len(e.data) < 4 {
		return 0
	}
	n := binary.NativeEndian.Uint32(e.data)
	e.data = e.data[4:]
	return n
}

// text takes a text from an event.
func (e *waylandEvent) text() string {
	n := int(e.number())
	if n < 1 || n > len(e.data) {
		return ""
	}
	s := string(e.data[:n-1]) // a zero ends it
	e.data = e.data[min((n+3)&^3, len(e.data)):]
	return s
}

// request appends a request with its arguments: numbers and texts.
func request(b []byte, object uint32, code uint16, args ...any) []byte {
	order := binary.NativeEndian
	begin := len(b)
	b = order.AppendUint32(order.AppendUint32(b, object), 0)
	for _, a := range args {
		switch a := a.(type) {
		case int:
			b = order.AppendUint32(b, uint32(a))
		case uint32:
			b = order.AppendUint32(b, a)
		case string:
			b = order.AppendUint32(b, uint32(len(a)+1))
			b = append(b, a...)
			b = append(b, make([]byte, 4-len(a)%4)...)
		}
	}
	order.PutUint32(b[begin+4:], uint32(len(b)-begin)<<16|uint32(code))
	return b
}
