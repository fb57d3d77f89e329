//go:build linux

package window

import (
	"image"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// x11Card is an override-redirect window. Its picture is in a pixmap that is the window's
// background, so that the server itself repaints any part that becomes visible.
type x11Card struct {
	x11Base
	rect image.Rectangle // empty before the first Show; guarded by mu
}

func (d *x11) NewCard(h CardHandler) (Card, error) {
	w := &x11Card{}
	err := d.create(w, &cardAsFrame{CardHandler: h}, x11Options{size: image.Pt(1, 1), unmanaged: true, events: baseEvents, kind: d.atoms.notification})
	if err != nil {
		return nil, err
	}
	// Window managers ignore the title; compositors and screen readers do not. It reveals
	// nothing about the call, since every program can read it.
	w.setTitle("Wiebelt")
	return w, nil
}

func (w *x11Card) Show(r image.Rectangle, pic *Picture) error {
	if err := checkPicture(r, pic); err != nil {
		return err
	}
	return w.do(func() error {
		c := w.d.conn
		if r.Size() != w.rect.Size() {
			old := xproto.Pixmap(w.pixmap.Load())
			if _, err := w.newPixmap(r.Size()); err != nil {
				return err
			}
			if old != 0 { // the window still shows it
				xproto.FreePixmap(c, old)
			}
		}
		w.put(image.Point{}, pic)
		mask := uint16(xproto.ConfigWindowX | xproto.ConfigWindowY | xproto.ConfigWindowWidth | xproto.ConfigWindowHeight)
		place := []uint32{uint32(int32(r.Min.X)), uint32(int32(r.Min.Y)), uint32(r.Dx()), uint32(r.Dy())}
		switch {
		case !w.shown.Load():
			// Raised before it is mapped and never again while shown: xfwm4 would leave it below
			// windows opened meanwhile, and raising it again when covered would fight a screen locker.
			xproto.ConfigureWindow(c, w.id, mask|xproto.ConfigWindowStackMode, append(place, xproto.StackModeAbove))
			xproto.MapWindow(c, w.id)
		case r != w.rect:
			xproto.ConfigureWindow(c, w.id, mask, place)
			fallthrough
		default:
			xproto.ClearArea(c, false, w.id, 0, 0, 0, 0)
		}
		w.rect = r
		w.shown.Store(true)
		return nil
	})
}

// put paints into the pixmap and makes it the background again, since the
// server may have copied it the last time.
func (w *x11Card) put(p image.Point, pic *Picture) {
	px := w.pixmap.Load()
	w.d.drawPixmap(xproto.Pixmap(px), p, pic)
	xproto.ChangeWindowAttributes(w.d.conn, w.id, xproto.CwBackPixmap, []uint32{px})
}

func (w *x11Card) Update(p image.Point, pic *Picture) error {
	return w.do(func() error {
		if _, err := partOf(w.rect.Size(), p, pic); err != nil {
			return err
		}
		w.put(p, pic)
		if w.shown.Load() {
			xproto.ClearArea(w.d.conn, false, w.id, int16(p.X), int16(p.Y), uint16(pic.W), uint16(pic.H))
		}
		return nil
	})
}

func (w *x11Card) Hide() error {
	return w.do(func() error {
		if !w.shown.Load() {
			return nil
		}
		// First, since otherwise the server would move the
		// focus to the window under the pointer.
		err := w.restoreFocus()
		xproto.UnmapWindow(w.d.conn, w.id)
		w.shown.Store(false)
		return err
	})
}

func (w *x11Card) OnScreen() (img *image.RGBA, err error) {
	var r image.Rectangle
	if err := w.do(func() error { r = w.rect; return nil }); err != nil {
		return nil, err
	}
	if r.Empty() {
		return nil, errNotShown
	}
	img = image.NewRGBA(image.Rectangle{Max: r.Size()})
	// The screen's size may have changed since the start.
	g, err := xproto.GetGeometry(w.d.conn, xproto.Drawable(w.d.root)).Reply()
	if err != nil {
		return nil, w.d.requestError(err)
	}
	part := r.Intersect(rectAt(0, 0, g.Width, g.Height))
	if part.Empty() {
		return img, nil
	}
	rep, err := xproto.GetImage(w.d.conn, xproto.ImageFormatZPixmap, xproto.Drawable(w.d.root),
		int16(part.Min.X), int16(part.Min.Y), uint16(part.Dx()), uint16(part.Dy()), ^uint32(0)).Reply()
	if err != nil {
		return nil, w.d.requestError(err)
	}
	return img, w.d.rootFormat.decode(img, part.Sub(r.Min), rep.Data)
}

func (w *x11Card) Close() error { return w.close(func() { _ = w.restoreFocus() }) }

func (w *x11Card) event(ev xgb.Event) {
	switch e := ev.(type) {
	case xproto.FocusOutEvent:
		w.compose.reset()
		w.focusOut(e)
	case xproto.EnterNotifyEvent:
		// While the pointer is over programs that do not use X, XWayland does not
		// know where it is, and sends enter events to a card that appears at its
		// last known position.
		if !w.d.xwayland {
			w.x11Base.event(ev)
		}
	case xproto.KeyPressEvent:
		if w.d.focusedCard() == w.id {
			w.x11Base.event(ev)
		}
	default:
		w.x11Base.event(ev)
	}
}
