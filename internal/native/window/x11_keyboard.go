//go:build linux

package window

import (
	"errors"
	"slices"

	"github.com/jezek/xgb/xproto"
)

// baseEvents are the events that a window receives. They exclude keys: where the focus
// follows the pointer, a window that listens for keys would get them.
const baseEvents = xproto.EventMaskButtonPress | xproto.EventMaskButtonRelease | xproto.EventMaskPointerMotion |
	xproto.EventMaskEnterWindow | xproto.EventMaskLeaveWindow | xproto.EventMaskFocusChange

// focus records what had the focus before one of our windows.
type focus struct {
	window xproto.Window
	revert byte
	// ancestors are the windows around it, from the nearest to the top-level
	// window of its program.
	ancestors []xproto.Window
}

func (w *x11Card) TakeKeyboard() error {
	return w.do(func() error {
		if !w.shown.Load() {
			return errNotShown
		}
		d := w.d
		d.focusing.Lock()
		defer d.focusing.Unlock()
		// Not from _NET_ACTIVE_WINDOW: it is unset while one of ours has the focus, and
		// identifies the window, not the part of it that receives text.
		now, err := xproto.GetInputFocus(d.conn).Reply()
		if err != nil {
			return err
		}
		before := d.previousFocus
		if d.holder == nil || now.Focus != d.holder.id {
			before = focus{now.Focus, now.RevertTo, d.ancestors(now.Focus)}
		}
		w.listen(baseEvents | xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease)
		if err := xproto.SetInputFocusChecked(d.conn, xproto.InputFocusPointerRoot, w.id, xproto.TimeCurrentTime).Check(); err != nil {
			w.listen(baseEvents)
			return err
		}
		if d.holder != nil && d.holder != w {
			d.holder.listen(baseEvents)
		}
		d.holder, d.previousFocus = w, before
		return nil
	})
}

func (w *x11Card) listen(mask uint32) {
	xproto.ChangeWindowAttributes(w.d.conn, w.id, xproto.CwEventMask, []uint32{mask})
}

func (w *x11Card) GiveKeyboardBack() error { return w.do(w.restoreFocus) }

// focusedCard returns the card that has the focus, or 0 for none.
func (d *x11) focusedCard() xproto.Window {
	d.focusing.Lock()
	defer d.focusing.Unlock()
	if d.holder == nil {
		return 0
	}
	return d.holder.id
}

// restoreFocus restores the focus. w.mu must be held.
func (w *x11Card) restoreFocus() error {
	d := w.d
	d.focusing.Lock()
	defer d.focusing.Unlock()
	if d.holder != w {
		return nil
	}
	before := d.previousFocus
	d.holder, d.previousFocus = nil, focus{}
	w.listen(baseEvents)
	// Nothing may move the focus between the query and the change: otherwise our change would
	// take it from a window to which the window manager has just given it.
	xproto.GrabServer(d.conn)
	err := d.moveFocusBack(w.id, before)
	return d.requestError(errors.Join(err, xproto.UngrabServerChecked(d.conn).Check()))
}

// moveFocusBack moves the focus from one window back to where it was before.
func (d *x11) moveFocusBack(from xproto.Window, before focus) error {
	now, err := xproto.GetInputFocus(d.conn).Reply()
	if err != nil {
		return err
	}
	if now.Focus != from {
		return nil // the user has moved it
	}
	// This fails for a window that is gone or no longer visible.
	give := func(to xproto.Window, revert byte) bool {
		return xproto.SetInputFocusChecked(d.conn, revert, to, xproto.TimeCurrentTime).Check() == nil
	}
	if give(before.window, before.revert) {
		return nil
	}
	// The window manager may already have chosen the next window and lost the focus to
	// ours, which got it later; it then considers itself done (xfwm4).
	next := d.uppermost()
	if before.revert == xproto.InputFocusParent {
		next = append(slices.Clone(before.ancestors), next...)
	}
	for _, id := range next {
		if give(id, xproto.InputFocusPointerRoot) {
			return nil
		}
	}
	return xproto.SetInputFocusChecked(d.conn, xproto.InputFocusPointerRoot, xproto.InputFocusPointerRoot, xproto.TimeCurrentTime).Check()
}

// uppermost returns the windows that the window manager shows,
// topmost first, without the desktop and panels.
func (d *x11) uppermost() []xproto.Window {
	var all []xproto.Window
	for _, id := range slices.Backward(d.stacked()) {
		w := xproto.Window(id)
		kind := d.values(w, d.atoms.windowType, xproto.AtomAtom, 8)
		if !slices.Contains(kind, uint32(d.atoms.desktop)) && !slices.Contains(kind, uint32(d.atoms.dock)) {
			all = append(all, w)
		}
	}
	return all
}

// ancestors returns the windows around a window, up to the top-level window of its program. The
// frame around that belongs to the window manager, where keys reach nobody.
func (d *x11) ancestors(id xproto.Window) []xproto.Window {
	var all []xproto.Window
	if id <= xproto.InputFocusPointerRoot {
		return nil
	}
	for range 32 { // deeper than any real tree
		if p, err := xproto.GetProperty(d.conn, false, id, d.atoms.managed, xproto.GetPropertyTypeAny, 0, 1).Reply(); err != nil || p.Format != 0 {
			break
		}
		t, err := xproto.QueryTree(d.conn, id).Reply()
		if err != nil || t.Parent == d.root || t.Parent == 0 {
			break
		}
		id = t.Parent
		all = append(all, id)
	}
	return all
}

// isTemporaryFocus reports whether a focus event can be ignored: a menu or a hotkey has the focus
// temporarily, or the event is about a part of the window.
func isTemporaryFocus(mode, detail byte) bool {
	return mode == xproto.NotifyModeGrab || mode == xproto.NotifyModeUngrab ||
		detail == xproto.NotifyDetailPointer || detail == xproto.NotifyDetailInferior
}

func (w *x11Card) focusOut(e xproto.FocusOutEvent) {
	if isTemporaryFocus(e.Mode, e.Detail) {
		return
	}
	d := w.d
	d.focusing.Lock()
	now, err := xproto.GetInputFocus(d.conn).Reply()
	again := err == nil && now.Focus == w.id // regained meanwhile
	if !again && d.holder == w {
		// Another program has taken it, so it is not ours to restore.
		d.holder, d.previousFocus = nil, focus{}
		w.listen(baseEvents)
	}
	d.focusing.Unlock()
	if !again {
		w.handler.FrameFocus(false)
	}
}

// HideFromCapture is unsupported: any X client may read the whole screen, and no
// window can be excluded.
func (w *x11Card) HideFromCapture(bool) error { return ErrUnsupported }
