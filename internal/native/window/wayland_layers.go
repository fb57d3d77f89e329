//go:build linux

package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// layers is a Wayland compositor without an X server that has the protocol wlr-layer-shell,
// which lets programs put surfaces next to panels, above all windows, without keyboard focus.
// Programs are not told where panels are. Therefore monitors are side by side here, each
// reduced to the size that its panels leave free.
//
// One goroutine (events) reads the compositor's events and calls
// the handlers. It ends with the connection.
type layers struct {
	conn      *waylandConn
	clipboard waylandClipboard
	portal    *portal
	ended

	mu       sync.Mutex // guards writing and the following fields
	last     uint32     // last object ID assigned
	unused   []uint32   // IDs that can be reused
	handlers map[uint32]func(*waylandEvent)
	globals  map[string]uint32       // 0 for missing ones
	copies   bool                    // the compositor has data-control
	outputs  map[uint32]*layerOutput // by their names in the registry
	shown    []Monitor               // never empty once there was one
	gone     bool                    // a monitor was removed
	cards    []*layerCard
	out      []byte // the last request

	pointer layerPointer // events goroutine only
}

const (
	wlCompositor = "wl_compositor"
	wlShm        = "wl_shm"
	wlSeat       = "wl_seat"
	wlrLayers    = "zwlr_layer_shell_v1"
	wpCursors    = "wp_cursor_shape_manager_v1"
	xdgOutputs   = "zxdg_output_manager_v1"
)

// layerGlobals has the supported versions: damage in
// pixels requires 4, and wheel steps require 5.
var layerGlobals = map[string]struct{ least, most uint32 }{
	wlCompositor: {4, 4}, wlShm: {1, 1}, wlSeat: {5, 5}, wlrLayers: {1, 1}, wpCursors: {1, 1}, xdgOutputs: {1, 2},
}

// layerOutput is a monitor. The compositor tells an empty surface that
// covers it how much space panels leave free.
type layerOutput struct {
	object, surface, probe, xdgOutput uint32
	at                                image.Point // on the desktop, only for the order
	name                              string
	scale                             int
	workSize                          image.Point // area without panels, in units; zero until reported
	area                              image.Rectangle
}

// OpenCards connects to the desktop for cards only, since some
// desktops can show cards but not windows of ours.
func OpenCards() (Display, error) {
	d, err := Open()
	if errors.Is(err, ErrWayland) {
		return openLayers()
	}
	return d, err
}

// openLayers connects to the compositor. If it has no layers, the error wraps ErrWayland.
func openLayers() (Display, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	conn, err := dialWayland(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWayland, err)
	}
	d := &layers{conn: conn, ended: ended{make(chan struct{})}, last: waylandRegistry, globals: map[string]uint32{}, outputs: map[uint32]*layerOutput{}}
	d.handlers = map[uint32]func(*waylandEvent){waylandDisplay: d.handleDisplay, waylandRegistry: d.handleRegistry}
	if err := d.prepare(ctx); err != nil {
		conn.Close()
		conn.dropFiles()
		return nil, fmt.Errorf("%w: %w", ErrWayland, err)
	}
	d.portal = startPortal(d.post, d.changed)
	go d.events()
	return d, nil
}

// prepare waits until the monitors are known or it is clear that there are no layers.
func (d *layers) prepare(ctx context.Context) error {
	until, _ := ctx.Deadline()
	if err := d.conn.SetReadDeadline(until); err != nil {
		return err
	}
	all := false // all interfaces of the compositor are known
	d.mu.Lock()
	d.sendRequest(waylandDisplay, displayGetRegistry, waylandRegistry)
	d.mu.Unlock()
	d.post(func() { all = true })
	for !all || !d.measured() {
		if err := d.handleEvent(); err != nil {
			if len(d.shown) > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			return err
		}
		if g := d.globals; all && (g[wlCompositor] == 0 || g[wlShm] == 0 || g[wlrLayers] == 0) {
			return errors.New("no layers")
		}
	}
	return d.conn.SetReadDeadline(time.Time{})
}

func (d *layers) measured() bool {
	for _, o := range d.outputs {
		if o.workSize == (image.Point{}) {
			return false
		}
	}
	return len(d.outputs) > 0
}

// events is the goroutine that reads the compositor's events.
func (d *layers) events() {
	defer func() {
		d.portal.stop()
		d.clipboard.close()
		d.conn.Close()
		d.conn.dropFiles()
		close(d.done)
	}()
	for d.handleEvent() == nil {
	}
}

func (d *layers) handleEvent() error {
	e, err := d.conn.next()
	if err != nil {
		return err
	}
	d.conn.dropFiles()
	if e.object == waylandDisplay && e.code == displayError {
		return fmt.Errorf("the compositor refuses: object %d, error %d: %s", e.number(), e.number(), e.text())
	}
	d.mu.Lock()
	told := d.handlers[e.object]
	d.mu.Unlock()
	if told != nil {
		told(&e)
	}
	return nil
}

// sendRequest sends a request. If the compositor does not read, the
// connection ends. It must be called with mu held.
func (d *layers) sendRequest(object uint32, code uint16, args ...any) {
	d.send(request(d.out[:0], object, code, args...), nil)
}

func (d *layers) send(b, files []byte) {
	d.out = b
	_ = d.conn.SetWriteDeadline(time.Now().Add(openTimeout))
	if _, _, err := d.conn.WriteMsgUnix(b, files, nil); err != nil {
		d.conn.Close()
	}
}

// object assigns the ID of an object whose events f handles. It must be called with mu held.
func (d *layers) object(f func(*waylandEvent)) (id uint32) {
	if n := len(d.unused); n > 0 {
		id, d.unused = d.unused[n-1], d.unused[:n-1]
	} else {
		d.last++
		id = d.last
	}
	if f != nil {
		d.handlers[id] = f
	}
	return id
}

// destroy destroys an object through its request for that. It must be called with mu held.
func (d *layers) destroy(id uint32, code uint16) {
	delete(d.handlers, id)
	d.sendRequest(id, code)
}

// handleDisplay handles the release of IDs.
func (d *layers) handleDisplay(e *waylandEvent) {
	if id := e.number(); e.code == displayDeleteID && id > waylandRegistry {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.handlers, id)
		d.unused = append(d.unused, id)
	}
}

func (d *layers) handleRegistry(e *waylandEvent) {
	number := e.number()
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.code == registryGlobalRemove {
		d.outputGone(number)
		return
	}
	name, version := e.text(), e.number()
	bind := func(most uint32, f func(*waylandEvent)) uint32 {
		id := d.object(f)
		d.sendRequest(waylandRegistry, registryBind, number, name, min(version, most), id)
		return id
	}
	used, known := layerGlobals[name]
	switch {
	case known && d.globals[name] == 0 && version >= used.least:
		told := map[string]func(*waylandEvent){wlSeat: d.handleSeat}
		d.globals[name] = bind(used.most, told[name])
	case name == "ext_data_control_manager_v1", name == "zwlr_data_control_manager_v1":
		d.copies = true // the clipboard has its own connection
	case name == "wl_output" && version >= 3 && len(d.outputs) < 64:
		o := &layerOutput{scale: 1, name: fmt.Sprint("output ", number)}
		d.outputs[number] = o
		o.object = bind(4, func(e *waylandEvent) { d.handleOutput(o, e) })
	}
}

// outputGone moves the cards of a removed monitor to another one; if there is none,
// they wait. It must be called with mu held.
func (d *layers) outputGone(number uint32) {
	o := d.outputs[number]
	if o == nil {
		return
	}
	delete(d.outputs, number)
	d.endProbe(o)
	if o.xdgOutput != 0 {
		d.destroy(o.xdgOutput, xdgOutputDestroy)
	}
	d.destroy(o.object, outputRelease)
	for _, w := range d.cards {
		if w.output == o {
			w.unmap()
		}
	}
	d.gone = true
	d.arrange()
}

func (d *layers) handleOutput(o *layerOutput, e *waylandEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e.code {
	case outputScale:
		const most = 8
		o.scale = min(max(int(int32(e.number())), 1), most)
	case outputName:
		o.name = cmp.Or(e.text(), o.name)
	case outputDone: // end of this group
		if o.probe == 0 && d.globals[wlrLayers] != 0 && d.globals[wlCompositor] != 0 {
			o.surface = d.object(nil)
			d.sendRequest(d.globals[wlCompositor], compositorCreateSurface, o.surface)
			o.probe = d.layer(o.surface, o, func(e *waylandEvent) { d.handleProbe(o, e) })
			d.sendRequest(o.probe, layerAnchor, top|bottom|left|right)
			d.sendRequest(o.surface, surfaceCommit)
		}
		if o.xdgOutput == 0 && d.globals[xdgOutputs] != 0 {
			o.xdgOutput = d.object(func(e *waylandEvent) { d.handlePosition(o, e) })
			d.sendRequest(d.globals[xdgOutputs], xdgOutputsGet, o.xdgOutput, o.object)
		}
		d.arrange()
	}
}

func (d *layers) handlePosition(o *layerOutput, e *waylandEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.code == xdgOutputPosition {
		o.at = image.Pt(int(int32(e.number())), int(int32(e.number())))
		d.arrange()
	}
}

// handleProbe handles the report of how much space panels leave free on a monitor.
func (d *layers) handleProbe(o *layerOutput, e *waylandEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.code != layerConfigure {
		d.endProbe(o)
		return
	}
	serial := e.number()
	d.sendRequest(o.probe, layerAck, serial)
	o.workSize = image.Pt(int(e.number()), int(e.number()))
	d.arrange()
}

func (d *layers) endProbe(o *layerOutput) {
	if o.probe != 0 {
		d.destroy(o.probe, layerDestroy)
		d.destroy(o.surface, surfaceDestroy)
		o.probe = 0
	}
}

// arrange puts the monitors side by side and reports changes. It must be called with mu held.
func (d *layers) arrange() {
	all := slices.SortedFunc(maps.Values(d.outputs), func(a, b *layerOutput) int {
		return cmp.Or(cmp.Compare(a.at.X, b.at.X), cmp.Compare(a.at.Y, b.at.Y), cmp.Compare(a.name, b.name))
	})
	var now []Monitor
	x := 0
	for _, o := range all {
		if o.area = (image.Rectangle{}); o.workSize.X < 1 || o.workSize.Y < 1 || o.workSize.X > maxSide || o.workSize.Y > maxSide {
			continue
		}
		o.area = image.Rectangle{Max: o.workSize.Mul(o.scale)}.Add(image.Pt(x, 0))
		x = o.area.Max.X
		now = append(now, Monitor{Name: o.name, Area: o.area, Work: o.area, Scale: float32(o.scale)})
	}
	if len(now) > 0 && (d.gone || !slices.Equal(now, d.shown)) {
		d.shown, d.gone = now, false
		for _, w := range d.cards {
			if w.shown && w.layer == 0 { // its monitor was removed, or is back
				_ = w.draw(image.Rectangle{})
			}
		}
		if d.portal != nil { // otherwise nobody is there to be notified
			d.postLocked(d.changed)
		}
	}
}

// outputOf returns the monitor with the largest part of r, or nil if there
// is none. It must be called with mu held.
func (d *layers) outputOf(r image.Rectangle) (best *layerOutput) {
	most := 0
	for _, o := range d.outputs {
		if in := r.Intersect(o.area).Size(); in.X*in.Y > most {
			best, most = o, in.X*in.Y
		}
	}
	return best
}

// layer puts a surface above all windows of a monitor. It must be called with mu held.
func (d *layers) layer(surface uint32, o *layerOutput, f func(*waylandEvent)) uint32 {
	const overlay = 3
	id := d.object(f)
	// The name reveals nothing about the call: programs may read it.
	d.sendRequest(d.globals[wlrLayers], layersGetSurface, id, surface, o.object, overlay, "wiebelt")
	return id
}

// post makes the events goroutine call f, after all earlier requests.
func (d *layers) post(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.postLocked(f)
}

func (d *layers) postLocked(f func()) {
	d.sendRequest(waylandDisplay, displaySync, d.object(func(*waylandEvent) { f() }))
}

// changed notifies all cards of a changed display. It must be called on the events goroutine.
func (d *layers) changed() {
	d.mu.Lock()
	all := slices.Clone(d.cards)
	d.mu.Unlock()
	for _, w := range all {
		w.FrameDisplayChanged()
	}
}

func (d *layers) Monitors() []Monitor {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.shown)
}

// Active returns the first monitor: programs cannot find out where the user is working.
func (d *layers) Active() int { return 0 }

func (d *layers) Appearance() Appearance { return d.portal.look.Load().Appearance }

func (d *layers) Hotkey(keys, does string, pressed func(), told func(error)) (func(), error) {
	s, err := parseShortcut(keys)
	if err != nil {
		return nil, err
	}
	if err := d.errIfClosed(); err != nil {
		return nil, err
	}
	return d.portal.hotkey(s, does, pressed, told), nil
}

func (d *layers) Copy(text string) error {
	if err := d.errIfClosed(); err != nil {
		return err
	}
	d.mu.Lock()
	copies := d.copies
	d.mu.Unlock()
	if !copies {
		return ErrUnsupported
	}
	d.clipboard.offer([]byte(text))
	return nil
}

func (d *layers) Kind() Kind { return Layers }

// FullScreen returns false: compositors do not report it.
func (d *layers) FullScreen(image.Rectangle) bool { return false }

func (d *layers) Close() error {
	d.conn.Close()
	return nil
}
