//go:build linux

package window

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jezek/xgb/xproto"
)

// x11Hotkey is a key combination that the server sends to us wherever the focus is.
type x11Hotkey struct {
	keys    shortcut
	pressed func()

	code byte     // 0 while it is unavailable
	mods []uint16 // its modifiers, combined with every set of locks

	down bool // events goroutine only
	last xproto.Timestamp
}

// trigger returns a shortcut in the portal's syntax.
func (s shortcut) trigger() string {
	var b strings.Builder
	for _, held := range []struct {
		m    Modifiers
		name string
	}{{ModCtrl, "CTRL+"}, {ModAlt, "ALT+"}, {ModShift, "SHIFT+"}, {ModSuper, "LOGO+"}} {
		if s.held&held.m != 0 {
			b.WriteString(held.name)
		}
	}
	switch {
	case s.key < 0x80 && s.key != 0x20:
		b.WriteByte(byte(s.key))
	case s.key >= firstFunctionKey && s.key < firstFunctionKey+24:
		b.WriteString("F" + strconv.Itoa(int(s.key-firstFunctionKey)+1))
	default:
		for _, k := range shortcutKeys {
			if k.sym == s.key {
				b.WriteString(k.x)
				break
			}
		}
	}
	return b.String()
}

// keyCode returns a shortcut's key on the user's keyboard, and its modifiers combined with
// every set of locks: an active lock must not disable the hotkey.
func (s shortcut) keyCode(m *keymap) (code byte, mods []uint16) {
	mods = []uint16{s.held.mask(xproto.ModMaskShift, xproto.ModMaskControl, m.alt, m.super)}
	for _, lock := range m.locks {
		for _, v := range mods {
			if !slices.Contains(mods, v|lock) {
				mods = append(mods, v|lock)
			}
		}
	}
	return m.find(s.key), mods
}

func (d *x11) Hotkey(keys, does string, pressed func(), told func(error)) (func(), error) {
	s, err := parseShortcut(keys)
	if err != nil {
		return nil, err
	}
	if err := d.errIfClosed(); err != nil {
		return nil, err
	}
	if d.xwayland {
		// Keys grabbed from the server would work only in X
		// windows; Wayland's go through the portal.
		return d.portal.hotkey(s, does, pressed, told), nil
	}
	d.keyboard.Lock()
	defer d.keyboard.Unlock()
	for _, h := range d.hotkeys {
		if h.keys == s {
			return nil, fmt.Errorf("%s: %w", keys, ErrHotkeyTaken)
		}
	}
	h := &x11Hotkey{keys: s, pressed: pressed}
	if err := d.grab(h); err != nil {
		return nil, fmt.Errorf("%s: %w", keys, err)
	}
	d.hotkeys = append(d.hotkeys, h)
	return sync.OnceFunc(func() {
		d.keyboard.Lock()
		defer d.keyboard.Unlock()
		d.hotkeys = slices.DeleteFunc(d.hotkeys, func(o *x11Hotkey) bool { return o == h })
		d.ungrab(h)
	}), nil
}

// grab registers a hotkey with the server. d.keyboard must be held.
func (d *x11) grab(h *x11Hotkey) error {
	code, mods := h.keys.keyCode(d.keymap)
	if code == 0 {
		return errors.New("no such key on this keyboard")
	}
	asked := make([]xproto.GrabKeyCookie, len(mods))
	for i, m := range mods {
		// With owner events, keys pressed while the hotkey is still held go
		// to our window if it has the focus by then.
		asked[i] = xproto.GrabKeyChecked(d.conn, true, d.root, m, xproto.Keycode(code), xproto.GrabModeAsync, xproto.GrabModeAsync)
	}
	var failed error
	for _, a := range asked {
		if err := a.Check(); err != nil {
			failed = d.requestError(err)
		}
	}
	h.code, h.mods = code, mods
	if failed == nil {
		return nil
	}
	d.ungrab(h)
	if _, taken := errors.AsType[xproto.AccessError](failed); taken {
		return ErrHotkeyTaken
	}
	return failed
}

// ungrab releases a hotkey's keys. Releasing keys that were never ours is harmless.
func (d *x11) ungrab(h *x11Hotkey) {
	if h.code == 0 {
		return
	}
	for _, m := range h.mods {
		xproto.UngrabKey(d.conn, xproto.Keycode(h.code), d.root, m)
	}
	h.code = 0
}

// readKeys reads the keyboard map again and moves the hotkeys to where their keys are now.
// Only the events goroutine and prepare may call it.
func (d *x11) readKeys() error {
	m, err := readKeymap(d.conn)
	if err != nil {
		return err
	}
	d.keyboard.Lock()
	defer d.keyboard.Unlock()
	d.keymap = m
	for _, h := range d.hotkeys {
		if code, mods := h.keys.keyCode(m); h.code == code && slices.Equal(h.mods, mods) {
			continue
		}
		d.ungrab(h)
		_ = d.grab(h) // if another program has them there, the next change retries
	}
	return nil
}

// maxRepeatGap is the maximum time between repeats of a key that is held down.
const maxRepeatGap = 1000 // milliseconds

// hotkey reports whether a press was one of our hotkeys, and calls its handler once
// however long it is held.
func (d *x11) hotkey(e xproto.KeyPressEvent) bool {
	d.keyboard.Lock()
	var found *x11Hotkey
	for _, h := range d.hotkeys {
		if h.code == byte(e.Detail) && slices.Contains(h.mods, e.State&modifiers) {
			found = h
		}
	}
	d.keyboard.Unlock()
	if found == nil {
		return false
	}
	repeated := found.down && e.Time-found.last < maxRepeatGap
	found.down, found.last = true, e.Time
	if !repeated {
		found.pressed()
	}
	return true
}

func (d *x11) handleKeyRelease(code byte) {
	d.keyboard.Lock()
	defer d.keyboard.Unlock()
	for _, h := range d.hotkeys {
		if h.code == code {
			h.down = false
		}
	}
}
