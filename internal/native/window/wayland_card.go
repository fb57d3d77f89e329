//go:build linux

package window

import (
	"image"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// layerCard is a card on a layer. Its surface exists only while the card is shown, since
// the compositor keeps nothing after that.
type layerCard struct {
	cardAsFrame
	d *layers

	// Guarded by d.mu:
	rect           image.Rectangle // empty before the first Show
	pix            []byte
	shown          bool
	closed         bool
	output         *layerOutput // the surface's monitor
	scale          int          // of the surface
	surface, layer uint32       // 0 while there is none
	ready          bool         // the compositor accepts pictures for it
}

func (d *layers) NewCard(h CardHandler) (Card, error) {
	w := &layerCard{cardAsFrame: cardAsFrame{CardHandler: h}, d: d}
	return w, w.do(func() error { d.cards = append(d.cards, w); return nil })
}

// do runs f unless the card or the display is closed.
func (w *layerCard) do(f func() error) error {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	if w.closed || w.d.errIfClosed() != nil {
		return ErrClosed
	}
	return f()
}

func (w *layerCard) Show(r image.Rectangle, pic *Picture) error {
	if err := checkPicture(r, pic); err != nil {
		return err
	}
	return w.do(func() error {
		moved := r != w.rect
		w.rect, w.shown = r, true
		w.pix = append(w.pix[:0], pic.Pix...)
		if o := w.d.outputOf(r); o != w.output || o != nil && o.scale != w.scale {
			w.unmap()
		} else if moved && w.layer != 0 {
			w.place()
		}
		return w.draw(image.Rectangle{Max: r.Size()})
	})
}

func (w *layerCard) Update(p image.Point, pic *Picture) error {
	return w.do(func() error {
		r, err := partOf(w.rect.Size(), p, pic)
		if err != nil || !w.shown { // Show sends everything
			return err
		}
		shown := Picture{w.rect.Dx(), w.rect.Dy(), w.pix}
		shown.put(p, pic)
		return w.draw(r)
	})
}

func (w *layerCard) Hide() error {
	return w.do(func() error {
		w.unmap()
		w.shown, w.pix = false, nil
		return nil
	})
}

func (w *layerCard) Close() error {
	return w.do(func() error {
		w.unmap()
		w.closed = true
		w.d.cards = slices.DeleteFunc(w.d.cards, func(o *layerCard) bool { return o == w })
		return nil
	})
}

// Sync does not wait until the compositor requests the first picture.
func (w *layerCard) Sync() error {
	if err := w.do(func() error { return nil }); err != nil {
		return err
	}
	done := make(chan struct{})
	w.d.post(func() { close(done) })
	select {
	case <-done:
		return nil
	case <-w.d.done:
		return ErrClosed
	}
}

// These are unsupported on a layer: keyboard input would require a keyboard map, and no
// compositor shows one program what others display.
func (w *layerCard) TakeKeyboard() error            { return ErrUnsupported }
func (w *layerCard) GiveKeyboardBack() error        { return nil }
func (w *layerCard) HideFromCapture(bool) error     { return ErrUnsupported }
func (w *layerCard) OnScreen() (*image.RGBA, error) { return nil, ErrUnsupported }

// begin creates the surface, which accepts pictures once the compositor has answered.
func (w *layerCard) begin() {
	d := w.d
	w.surface = d.object(nil)
	d.sendRequest(d.globals[wlCompositor], compositorCreateSurface, w.surface)
	w.layer = d.layer(w.surface, w.output, w.handleLayer)
	d.sendRequest(w.layer, layerAnchor, top|left)
	d.sendRequest(w.surface, surfaceScale, w.scale)
	w.place()
	d.sendRequest(w.surface, surfaceCommit)
}

// place sets the size and position, which take effect with the next picture.
func (w *layerCard) place() {
	at, size := w.rect.Min.Sub(w.output.area.Min).Div(w.scale), w.padded().Div(w.scale)
	w.d.sendRequest(w.layer, layerSize, size.X, size.Y)
	w.d.sendRequest(w.layer, layerMargin, at.Y, 0, 0, at.X)
}

// padded returns the size of the card's pictures, rounded up to whole units.
func (w *layerCard) padded() image.Point {
	s := w.scale
	return image.Pt((w.rect.Dx()+s-1)/s*s, (w.rect.Dy()+s-1)/s*s)
}

func (w *layerCard) unmap() {
	if w.layer != 0 {
		w.d.destroy(w.layer, layerDestroy)
		w.d.destroy(w.surface, surfaceDestroy)
		w.surface, w.layer, w.ready = 0, 0, false
	}
}

// handleLayer handles the report that the compositor accepts
// pictures, or that the monitor was removed.
func (w *layerCard) handleLayer(e *waylandEvent) {
	_ = w.do(func() error {
		switch {
		case w.layer != e.object:
		case e.code == layerClosed:
			w.unmap()
		default:
			w.d.sendRequest(w.layer, layerAck, e.number())
			if w.ready {
				w.d.sendRequest(w.surface, surfaceCommit)
				return nil
			}
			w.ready = true
			return w.draw(image.Rectangle{Max: w.rect.Size()})
		}
		return nil
	})
}

// draw shows what has changed. Each picture has its own file, which the
// compositor may keep for as long as it wants.
func (w *layerCard) draw(changed image.Rectangle) error {
	switch {
	case w.layer == 0:
		if w.output = w.d.outputOf(w.rect); w.output != nil {
			w.scale = w.output.scale
			w.begin()
		}
		return nil
	case !w.ready:
		return nil
	}
	size, d := w.padded(), w.d
	fd, err := unix.MemfdCreate("wiebelt", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), "card")
	defer file.Close()
	pix := w.paddedTo(size)
	if _, err := file.Write(pix); err != nil {
		return err
	}
	const opaque = 1 // XRGB8888
	pool := d.object(nil)
	d.send(request(d.out[:0], d.globals[wlShm], shmCreatePool, pool, len(pix)), unix.UnixRights(fd))
	buffer := d.object(func(e *waylandEvent) { // the compositor has released it
		d.mu.Lock()
		defer d.mu.Unlock()
		d.destroy(e.object, bufferDestroy)
	})
	d.sendRequest(pool, poolCreateBuffer, buffer, 0, size.X, size.Y, 4*size.X, opaque)
	d.sendRequest(pool, poolDestroy)
	d.sendRequest(w.surface, surfaceAttach, buffer, 0, 0)
	d.sendRequest(w.surface, surfaceDamage, changed.Min.X, changed.Min.Y, changed.Dx()+w.scale, changed.Dy()+w.scale)
	d.sendRequest(w.surface, surfaceCommit)
	return nil
}

// paddedTo returns the picture with its last column and row repeated to fill whole units.
func (w *layerCard) paddedTo(size image.Point) []byte {
	has := w.rect.Size()
	if size == has {
		return w.pix
	}
	pix := make([]byte, 0, 4*size.X*size.Y)
	for y := range size.Y {
		row := w.pix[4*min(y, has.Y-1)*has.X:][:4*has.X]
		pix = append(pix, row...)
		for range size.X - has.X {
			pix = append(pix, row[len(row)-4:]...)
		}
	}
	return pix
}

// layerPointer is the pointer's position and the wheel's movement since the last frame.
type layerPointer struct {
	id, cursor uint32 // 0 while there is none
	over       *layerCard
	at         image.Point
	steps      int32
	scroll     int32 // in 256ths
}

// handleSeat handles the arrival or removal of the pointer. It is removed, for example, while
// another session is in front; the old object then sends no more events, so a returning
// pointer gets a new one.
func (d *layers) handleSeat(e *waylandEvent) {
	const pointer = 1
	p := &d.pointer
	has := e.number()&pointer != 0
	if e.code != seatCapabilities || has == (p.id != 0) {
		return
	}
	if p.over != nil {
		p.over.FrameLeft()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !has {
		if p.cursor != 0 {
			d.destroy(p.cursor, cursorDestroy)
		}
		d.destroy(p.id, pointerRelease)
		*p = layerPointer{}
		return
	}
	p.id = d.object(d.handlePointer)
	d.sendRequest(d.globals[wlSeat], seatGetPointer, p.id)
	if d.globals[wpCursors] != 0 {
		p.cursor = d.object(nil)
		d.sendRequest(d.globals[wpCursors], cursorsGet, p.cursor, p.id)
	}
}

func (d *layers) handlePointer(e *waylandEvent) {
	p := &d.pointer
	spot := func() {
		d.mu.Lock()
		scale := p.over.scale
		d.mu.Unlock()
		part := func() int { return int(int32(e.number())) * scale >> 8 }
		p.at = image.Pt(part(), part())
	}
	if e.code != pointerEnter && p.over == nil {
		return
	}
	switch e.code {
	case pointerEnter:
		serial, surface := e.number(), e.number()
		if p.over = d.cardOf(surface); p.over == nil {
			return
		}
		if p.cursor != 0 {
			const arrow = 1
			d.mu.Lock()
			d.sendRequest(p.cursor, cursorSetShape, serial, arrow)
			d.mu.Unlock()
		}
		spot()
		p.over.FramePointer(p.at)
	case pointerLeave:
		p.over.FrameLeft()
		p.over = nil
	case pointerMotion:
		e.number() // the time
		spot()
		p.over.FramePointer(p.at)
	case pointerButton:
		e.number()
		e.number()
		code, down := e.number(), e.number() != 0
		if b := map[uint32]Button{0x110: Left, 0x111: Right, 0x112: Middle}[code]; b != 0 {
			p.over.FrameButton(p.at, b, down, 0)
		}
	case pointerAxis: // distance moved by the wheel, or by two fingers
		e.number()
		if e.number() == 0 {
			p.scroll += int32(e.number())
		}
	case pointerAxisDiscrete: // steps of the wheel
		if e.number() == 0 {
			p.steps += int32(e.number())
		}
	case pointerFrame: // end of this group
		const step = 10 * 256 // finger distance equal to one wheel step, in 256ths
		switch {
		case p.steps != 0:
			p.over.FrameScrolled(p.at, 0, -float32(p.steps))
		case p.scroll != 0:
			p.over.FrameScrolled(p.at, 0, -float32(p.scroll)/step)
		}
		p.steps, p.scroll = 0, 0
	}
}

// cardOf returns the card that has a surface, or nil if there is none.
func (d *layers) cardOf(surface uint32) *layerCard {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.cards {
		if w.surface == surface && surface != 0 {
			return w
		}
	}
	return nil
}
