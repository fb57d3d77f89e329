//go:build linux

package window

import (
	"errors"
	"slices"

	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
)

// restingEvents are what a window hears of. Keys are not among them: where the
// keyboard follows the pointer, a window that listens for keys would get them.
const restingEvents = xproto.EventMaskButtonPress | xproto.EventMaskButtonRelease | xproto.EventMaskPointerMotion |
	xproto.EventMaskEnterWindow | xproto.EventMaskLeaveWindow | xproto.EventMaskFocusChange

// focus is where the keyboard was before a window of ours got it.
type focus struct {
	window xproto.Window
	revert byte
	// around are the windows around it, the nearest first, up to the one that its
	// program shows.
	around []xproto.Window
}

func (w *x11Card) TakeKeyboard() error {
	return w.do(func() error {
		if !w.up.Load() {
			return errNotShown
		}
		d := w.d
		d.focusing.Lock()
		defer d.focusing.Unlock()
		// Not from _NET_ACTIVE_WINDOW: that is unset while one of ours has the
		// keyboard, and names the window, not the part of it that types.
		now, err := xproto.GetInputFocus(d.conn).Reply()
		if err != nil {
			return err
		}
		before := d.before
		if d.holder == nil || now.Focus != d.holder.id {
			before = focus{now.Focus, now.RevertTo, d.around(now.Focus)}
		}
		w.listen(restingEvents | xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease)
		if err := xproto.SetInputFocusChecked(d.conn, xproto.InputFocusPointerRoot, w.id, xproto.TimeCurrentTime).Check(); err != nil {
			w.listen(restingEvents)
			return err
		}
		if d.holder != nil && d.holder != w {
			d.holder.listen(restingEvents)
		}
		d.holder, d.before = w, before
		return nil
	})
}

func (w *x11Card) listen(mask uint32) {
	xproto.ChangeWindowAttributes(w.d.conn, w.id, xproto.CwEventMask, []uint32{mask})
}

func (w *x11Card) GiveKeyboardBack() error { return w.do(w.giveBack) }

// holds is the card that has the keyboard, 0 for none.
func (d *x11) holds() xproto.Window {
	d.focusing.Lock()
	defer d.focusing.Unlock()
	if d.holder == nil {
		return 0
	}
	return d.holder.id
}

// giveBack puts the keyboard where it was; w.mu is held.
func (w *x11Card) giveBack() error {
	d := w.d
	d.focusing.Lock()
	defer d.focusing.Unlock()
	if d.holder != w {
		return nil
	}
	before := d.before
	d.holder, d.before = nil, focus{}
	w.listen(restingEvents)
	// Nobody puts it elsewhere between the question and the answer: a window
	// manager that has just found it a new place would lose it to ours.
	xproto.GrabServer(d.conn)
	err := d.putBack(w.id, before)
	return d.lost(errors.Join(err, xproto.UngrabServerChecked(d.conn).Check()))
}

// putBack puts the keyboard from one window to where it was before.
func (d *x11) putBack(from xproto.Window, before focus) error {
	now, err := xproto.GetInputFocus(d.conn).Reply()
	if err != nil {
		return err
	}
	if now.Focus != from {
		return nil // the user has put it elsewhere
	}
	// Refused for a window that has gone or cannot be seen any more.
	give := func(to xproto.Window, revert byte) bool {
		return xproto.SetInputFocusChecked(d.conn, revert, to, xproto.TimeCurrentTime).Check() == nil
	}
	if give(before.window, before.revert) {
		return nil
	}
	// The window manager may have looked for the next one already and lost it to
	// ours, which had it later; then it believes that all is done (xfwm4).
	next := d.uppermost()
	if before.revert == xproto.InputFocusParent {
		next = append(slices.Clone(before.around), next...)
	}
	for _, id := range next {
		if give(id, xproto.InputFocusPointerRoot) {
			return nil
		}
	}
	return xproto.SetInputFocusChecked(d.conn, xproto.InputFocusPointerRoot, xproto.InputFocusPointerRoot, xproto.TimeCurrentTime).Check()
}

// uppermost are the windows that the window manager shows, the uppermost first,
// without the desktop and panels.
func (d *x11) uppermost() []xproto.Window {
	var all []xproto.Window
	for _, id := range slices.Backward(d.stacked()) {
		w := xproto.Window(id)
		kind := xconn.Values(xproto.GetProperty(d.conn, false, w, d.atoms.windowType, xproto.AtomAtom, 0, 8).Reply())
		if !slices.Contains(kind, uint32(d.atoms.desktop)) && !slices.Contains(kind, uint32(d.atoms.dock)) {
			all = append(all, w)
		}
	}
	return all
}

// around are the windows around a window, up to the one that its program shows.
// The frame around that is the window manager's: the keyboard has nobody there.
func (d *x11) around(id xproto.Window) []xproto.Window {
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

// borrowed reports whether the news about the keyboard is no news: a menu or a
// hotkey has it and gives it back, or it is about a part of the window.
func borrowed(mode, detail byte) bool {
	return mode == xproto.NotifyModeGrab || mode == xproto.NotifyModeUngrab ||
		detail == xproto.NotifyDetailPointer || detail == xproto.NotifyDetailInferior
}

// focusOut deals with the news that the card has lost the keyboard.
func (w *x11Card) focusOut(e xproto.FocusOutEvent) {
	if borrowed(e.Mode, e.Detail) {
		return
	}
	d := w.d
	d.focusing.Lock()
	now, err := xproto.GetInputFocus(d.conn).Reply()
	again := err == nil && now.Focus == w.id // taken once more meanwhile
	if !again && d.holder == w {
		// Taken away by somebody else, and not ours to give back.
		d.holder, d.before = nil, focus{}
		w.listen(restingEvents)
	}
	d.focusing.Unlock()
	if !again {
		w.handler.FrameFocus(false)
	}
}

// HideFromCapture cannot be had: any X client may read the whole screen, and no
// window can be kept out of it.
func (w *x11Card) HideFromCapture(bool) error { return ErrUnsupported }
