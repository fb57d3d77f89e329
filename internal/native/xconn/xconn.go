// Package xconn connects to the X server. The library keeps its extensions in process-wide
// maps, which every connection's goroutine reads: writing to them while another connection is
// open crashes the program. Therefore all extensions in use are registered here with the first
// connection, and later ones find everything in place.
package xconn

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/jezek/xgb"
	_ "github.com/jezek/xgb/randr"
	_ "github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xproto"
)

// The extensions in use. A connection's field Extensions lists those that it has.
const (
	RandR       = "RANDR"
	ScreenSaver = "MIT-SCREEN-SAVER"
	Keyboard    = "XKEYBOARD" // unknown to the library
	XWayland    = "XWAYLAND"  // only indicates that the server is XWayland
)

// numbers has the first event and error numbers of a server's extension.
type numbers struct{ event, fault byte }

var (
	mu    sync.Mutex
	known = map[string]numbers{}
)

// Open connects to the X server named by DISPLAY. If the server does not answer, it gives
// up when ctx ends; the connection itself does not end with ctx.
func Open(ctx context.Context) (*xgb.Conn, error) { return OpenDisplay(ctx, "") }

// OpenDisplay is Open for another X server.
func OpenDisplay(ctx context.Context, display string) (*xgb.Conn, error) {
	type opened struct {
		c   *xgb.Conn
		err error
	}
	ch := make(chan opened)
	go func() {
		c, err := open(display)
		select {
		case ch <- opened{c, err}:
		case <-ctx.Done(): // the result is no longer needed
			if err == nil {
				c.Close()
			}
		}
	}()
	select {
	case o := <-ch:
		return o.c, o.err
	case <-ctx.Done():
		return nil, errors.New("the X server does not answer")
	}
}

func open(display string) (*xgb.Conn, error) {
	prepare()
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		return nil, err
	}
	if err := extensions(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

var prepare = sync.OnceFunc(func() {
	// The library itself logs to standard error, but also returns all of it as errors.
	xgb.Logger.SetOutput(io.Discard)
	xgb.NewExtEventFuncs[Keyboard] = map[int]xgb.NewEventFun{0: func(b []byte) xgb.Event { return KeyboardEvent{b} }}
	xgb.NewExtErrorFuncs[Keyboard] = map[int]xgb.NewErrorFun{0: func(b []byte) xgb.Error { return KeyboardError{b} }}
})

// KeyboardEvent is any event of the keyboard extension: which ones arrive depends
// on what was selected.
type KeyboardEvent struct{ raw []byte }

func (e KeyboardEvent) Bytes() []byte  { return e.raw }
func (e KeyboardEvent) String() string { return "keyboard event" }

// KeyboardError is the extension's only error: no such device.
type KeyboardError struct{ raw []byte }

func (e KeyboardError) SequenceId() uint16 { return xgb.Get16(e.raw[2:]) }
func (e KeyboardError) BadId() uint32      { return xgb.Get32(e.raw[4:]) }
func (e KeyboardError) Error() string      { return "no such keyboard" }

func extensions(c *xgb.Conn) error {
	names := []string{RandR, ScreenSaver, Keyboard, XWayland}
	asked := make([]xproto.QueryExtensionCookie, len(names))
	for i, name := range names {
		asked[i] = xproto.QueryExtension(c, uint16(len(name)), name)
	}
	for i, name := range names {
		r, err := asked[i].Reply()
		if err != nil {
			return err
		}
		if r.Present {
			c.ExtLock.Lock()
			c.Extensions[name] = r.MajorOpcode
			c.ExtLock.Unlock()
			register(name, numbers{r.FirstEvent, r.FirstError})
		}
	}
	return nil
}

// register registers an extension's events and errors, once for all connections to
// servers with the same numbers.
func register(name string, n numbers) {
	mu.Lock()
	defer mu.Unlock()
	if known[name] == n {
		return
	}
	known[name] = n
	for i, f := range xgb.NewExtEventFuncs[name] {
		xgb.NewEventFuncs[int(n.event)+i] = f
	}
	for i, f := range xgb.NewExtErrorFuncs[name] {
		xgb.NewErrorFuncs[int(n.fault)+i] = f
	}
}

// Atoms looks up names, all at once.
func Atoms(c *xgb.Conn, names map[string]*xproto.Atom) error {
	asked := map[string]xproto.InternAtomCookie{}
	for name := range names {
		asked[name] = xproto.InternAtom(c, false, uint16(len(name)), name)
	}
	for name, to := range names {
		r, err := asked[name].Reply()
		if err != nil {
			return err
		}
		*to = r.Atom
	}
	return nil
}

// Values returns a property of 32-bit values, or nil if
// it has another format or cannot be read.
func Values(r *xproto.GetPropertyReply, err error) []uint32 {
	if err != nil || r == nil || r.Format != 32 {
		return nil
	}
	v := make([]uint32, len(r.Value)/4)
	for i := range v {
		v[i] = xgb.Get32(r.Value[4*i:])
	}
	return v
}
