//go:build linux

package window

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// waylandClipboard is our share of the compositor's clipboard. Compositors based on
// wlroots accept no text from an X program that is not active, and cards' programs never
// are. They offer the protocol data-control for clipboard managers, as does KWin.
// Elsewhere nothing is offered here, nor needed.
type waylandClipboard struct {
	mu     sync.Mutex
	stop   context.CancelFunc // ends the offer; nil before the first copy
	closed bool
	work   sync.WaitGroup
}

// offer copies a text to the clipboard, replacing the previous one. It returns immediately.
func (c *waylandClipboard) offer(text []byte) {
	if os.Getenv("WAYLAND_DISPLAY") == "" {
		return
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
		w, err := dialWayland(ctx)
		if err != nil {
			return
		}
		defer w.Close()
		defer context.AfterFunc(ctx, func() { w.Close() })()
		_ = w.serve(text) // ends when another program copies, with the compositor, or with ctx
		w.dropFiles()
	})
}

// close ends the offer and waits until it has ended.
func (c *waylandClipboard) close() {
	c.mu.Lock()
	c.closed = true
	if c.stop != nil {
		c.stop()
	}
	c.mu.Unlock()
	c.work.Wait()
}

// The IDs of the objects that the clipboard needs.
const (
	waylandSynced = iota + waylandRegistry + 1
	waylandSeat
	waylandManager
	waylandSource
	waylandDevice
)

// serve offers a text until another program offers something.
func (w *waylandConn) serve(text []byte) error {
	if err := w.claimClipboard(); err != nil {
		return err
	}
	for {
		m, err := w.next()
		switch {
		case err != nil:
			return err
		case m.object == waylandDisplay && m.code == displayError:
			return errors.New("the compositor refuses")
		case m.object == waylandSource && m.code == sourceCancelled:
			return nil
		case m.object == waylandSource && m.code == sourceSend:
			w.send(text)
		}
	}
}

func (w *waylandConn) claimClipboard() error {
	var b []byte
	b = request(b, waylandDisplay, displayGetRegistry, waylandRegistry)
	b = request(b, waylandDisplay, displaySync, waylandSynced)
	if _, err := w.Write(b); err != nil {
		return err
	}
	var seat, manager uint32 // names in the registry
	var kind string
	for {
		m, err := w.next()
		if err != nil {
			return err
		}
		if m.object == waylandSynced {
			break
		}
		if m.object != waylandRegistry || m.code != registryGlobal {
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
		return errors.New("no data-control")
	}
	b = request(b[:0], waylandRegistry, registryBind, seat, "wl_seat", 1, waylandSeat)
	b = request(b, waylandRegistry, registryBind, manager, kind, 1, waylandManager)
	b = request(b, waylandManager, managerCreateSource, waylandSource)
	for _, mime := range []string{"text/plain;charset=utf-8", "text/plain", "UTF8_STRING"} {
		b = request(b, waylandSource, sourceOffer, mime)
	}
	b = request(b, waylandManager, managerGetDevice, waylandDevice, waylandSeat)
	b = request(b, waylandDevice, deviceSetSelection, waylandSource)
	_, err := w.Write(b)
	return err
}

func (w *waylandConn) send(text []byte) {
	if len(w.files) == 0 {
		return
	}
	fd := w.files[0]
	w.files = w.files[1:]
	_ = unix.SetNonblock(fd, true)
	f := os.NewFile(uintptr(fd), "paste")
	defer f.Close()
	const patience = 2 * time.Second // if it does not read
	_ = f.SetWriteDeadline(time.Now().Add(patience))
	_, _ = f.Write(text)
}
