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

	"golang.org/x/sys/unix"
)

// waylandConn implements Wayland's wire protocol.
type waylandConn struct {
	*net.UnixConn
	in    []byte // read but not processed yet
	files []int  // received with it
}

// The first objects of a connection. The display exists; we assign the IDs of the others.
const (
	waylandDisplay = iota + 1
	waylandRegistry
)

// The requests of the objects that we use, as numbered by the protocols.
const (
	displaySync, displayGetRegistry              = 0, 1
	registryBind                                 = 0
	compositorCreateSurface                      = 0
	shmCreatePool                                = 0
	poolCreateBuffer, poolDestroy                = 0, 1
	bufferDestroy                                = 0
	outputRelease                                = 0
	seatGetPointer                               = 0
	pointerRelease                               = 1
	surfaceDestroy, surfaceAttach, surfaceCommit = 0, 1, 6
	surfaceScale, surfaceDamage                  = 8, 9
	layersGetSurface                             = 0
	layerSize, layerAnchor, layerMargin          = 0, 1, 3
	layerAck, layerDestroy                       = 6, 7
	cursorsGet                                   = 1
	cursorDestroy, cursorSetShape                = 0, 1
	xdgOutputsGet                                = 1
	xdgOutputDestroy                             = 0
	managerCreateSource, managerGetDevice        = 0, 1 // of data-control
	sourceOffer                                  = 0
	deviceSetSelection                           = 0
)

// Their events.
const (
	displayError, displayDeleteID             = 0, 1
	registryGlobal, registryGlobalRemove      = 0, 1
	outputDone, outputScale, outputName       = 2, 3, 4
	seatCapabilities                          = 0
	pointerEnter, pointerLeave, pointerMotion = 0, 1, 2
	pointerButton, pointerAxis                = 3, 4
	pointerFrame, pointerAxisDiscrete         = 5, 8
	layerConfigure, layerClosed               = 0, 1
	xdgOutputPosition                         = 0
	sourceSend, sourceCancelled               = 0, 1
)

// The edges of a monitor, as numbered by the protocol of layers.
const top, bottom, left, right = 1, 2, 4, 8

// dialWayland connects to the compositor named by WAYLAND_DISPLAY.
func dialWayland(ctx context.Context) (*waylandConn, error) {
	path := os.Getenv("WAYLAND_DISPLAY")
	if !filepath.IsAbs(path) {
		path = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), path)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return &waylandConn{UnixConn: conn.(*net.UnixConn)}, nil
}

func (w *waylandConn) dropFiles() {
	for _, fd := range w.files {
		_ = unix.Close(fd)
	}
	w.files = nil
}

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
		files, _ := unix.ParseUnixRights(&m) // Go has asked for close-on-exec
		w.files = append(w.files, files...)
	}
	return nil
}

// number takes a number from an event, or 0 if there is none.
func (e *waylandEvent) number() uint32 {
	if len(e.data) < 4 {
		return 0
	}
	n := binary.NativeEndian.Uint32(e.data)
	e.data = e.data[4:]
	return n
}

func (e *waylandEvent) text() string {
	n := int(e.number())
	if n < 1 || n > len(e.data) {
		return ""
	}
	s := string(e.data[:n-1]) // terminated by a zero byte
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
