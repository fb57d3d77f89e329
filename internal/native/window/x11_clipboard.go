//go:build linux

package window

import (
	"bytes"
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/text/encoding/charmap"
)

// clipboard is our share of the selection CLIPBOARD. X11 stores no text: the owner must serve
// every paste for as long as it owns the selection.
type clipboard struct {
	window xproto.Window // invisible; owns the selection

	mu      sync.Mutex
	text    []byte // UTF-8; nil if the selection is not ours
	copies  int    // so far
	pending int    // copies whose time the server has not reported yet
	since   xproto.Timestamp
	paste   *pasting // what is being pasted, usually nil
}

func (d *x11) prepareClipboard() error {
	id, err := xproto.NewWindowId(d.conn)
	if err != nil {
		return err
	}
	d.clipboard.window = id
	xproto.CreateWindow(d.conn, 0, id, d.root, -1, -1, 1, 1, 0, xproto.WindowClassInputOnly, 0,
		xproto.CwOverrideRedirect|xproto.CwEventMask, []uint32{1, xproto.EventMaskPropertyChange})
	return nil
}

func (d *x11) Copy(text string) error {
	if err := d.errIfClosed(); err != nil {
		return err
	}
	if len(text) > maxCopy {
		return errTooLong
	}
	cb := &d.clipboard
	cb.mu.Lock()
	cb.text = []byte(text)
	cb.pending++
	cb.copies++
	this := cb.copies
	cb.mu.Unlock()
	// The current time, not an event's: a copy may result from an action long ago, and a
	// time before the last copy is ignored. Changing our own property makes the server
	// report the time, which some programs ask for.
	xproto.SetSelectionOwner(d.conn, cb.window, d.atoms.clipboard, xproto.TimeCurrentTime)
	xproto.ChangeProperty(d.conn, xproto.PropModeReplace, cb.window, d.atoms.ticket, xproto.AtomInteger, 32, 0, nil)
	// Check this: some desktops accept a clipboard only from the foreground program.
	o, err := xproto.GetSelectionOwner(d.conn, d.atoms.clipboard).Reply()
	if err != nil {
		return d.requestError(err)
	}
	if o.Owner != cb.window {
		cb.mu.Lock()
		defer cb.mu.Unlock()
		if cb.copies == this {
			cb.text = nil
		}
		return errors.New("clipboard refused by the desktop")
	}
	if d.xwayland {
		d.wayland.offer([]byte(text))
	}
	return nil
}

func (cb *clipboard) stamp(t xproto.Timestamp) {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	cb.since = t
	cb.pending--
}

// drop removes the text when another program has copied something. While the time of one of
// our own copies is still outstanding, the event is older than that copy.
func (cb *clipboard) drop() {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	if cb.pending == 0 {
		cb.text = nil
	}
}

func (d *x11) serve(e xproto.SelectionRequestEvent) {
	property := cmp.Or(e.Property, e.Target) // as old programs expect
	ok := false
	if e.Selection == d.atoms.clipboard {
		if e.Target == d.atoms.multiple {
			ok = d.serveMultiple(e.Requestor, property)
		} else {
			ok = d.deliver(e.Requestor, e.Target, property)
		}
	}
	if !ok {
		property = 0
	}
	answer := xproto.SelectionNotifyEvent{
		Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: property,
	}
	xproto.SendEvent(d.conn, false, e.Requestor, 0, string(answer.Bytes()))
}

// serveMultiple delivers several kinds at once. The list of kinds and properties is in a
// property of the requesting window, where a zero marks an unavailable kind.
func (d *x11) serveMultiple(to xproto.Window, property xproto.Atom) bool {
	pairs := d.values(to, property, d.atoms.atomPair, 64)
	if len(pairs) == 0 || len(pairs)%2 != 0 {
		return false
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != 0 && !d.deliver(to, xproto.Atom(pairs[i]), xproto.Atom(pairs[i+1])) {
			pairs[i+1] = 0
		}
	}
	d.setNumbers(to, property, d.atoms.atomPair, pairs...)
	return true
}

// deliver writes one kind of our text to a property of the requesting window.
func (d *x11) deliver(to xproto.Window, target, property xproto.Atom) bool {
	cb, a := &d.clipboard, &d.atoms
	cb.mu.Lock()
	text, since := cb.text, cb.since
	cb.mu.Unlock()
	if text == nil {
		return false
	}
	switch target {
	case a.targets:
		d.setNumbers(to, property, xproto.AtomAtom, uint32(a.targets), uint32(a.timestamp), uint32(a.multiple),
			uint32(a.utf8), uint32(a.plainUTF8), uint32(a.plain), uint32(a.text), uint32(xproto.AtomString))
	case a.timestamp:
		d.setNumbers(to, property, xproto.AtomInteger, uint32(since))
	case a.utf8, a.plainUTF8, a.plain:
		d.setText(to, property, target, string(text))
	case a.text:
		d.setText(to, property, a.utf8, string(text))
	case xproto.AtomString:
		d.setText(to, property, xproto.AtomString, latin1(string(text)))
	default:
		return false
	}
	return true
}

func (d *x11) setNumbers(to xproto.Window, property, kind xproto.Atom, v ...uint32) {
	b := make([]byte, 4*len(v))
	for i, n := range v {
		xgb.Put32(b[4*i:], n)
	}
	xproto.ChangeProperty(d.conn, xproto.PropModeReplace, to, property, kind, 32, uint32(len(v)), b)
}

// latin1 converts to the character set of the kind
// STRING. Characters missing there become "?".
func latin1(utf8 string) string {
	out := make([]byte, 0, len(utf8))
	for _, r := range utf8 {
		if r > 0xff {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return string(out)
}

// pasteWait limits how long a program may take to deliver what it has copied.
const pasteWait = 500 * time.Millisecond

func (d *x11) Paste() (string, error) {
	if err := d.errIfClosed(); err != nil {
		return "", err
	}
	cb := &d.clipboard
	cb.mu.Lock()
	text := cb.text
	cb.mu.Unlock()
	if text != nil {
		return string(text), nil
	}
	d.pasting.Lock()
	defer d.pasting.Unlock()
	late := time.Now().Add(pasteWait)
	if b, ok := d.paste(d.atoms.utf8, late); ok {
		return string(bytes.ToValidUTF8(bytes.TrimRight(b, "\x00"), []byte("\uFFFD"))), nil
	}
	if b, ok := d.paste(xproto.AtomString, late); ok {
		return charmap.ISO8859_1.NewDecoder().String(string(b))
	}
	return "", d.errIfClosed()
}

func (d *x11) paste(kind xproto.Atom, late time.Time) ([]byte, bool) {
	got := make(chan []byte, 1)
	d.clipboard.mu.Lock()
	d.clipboard.paste = &pasting{kind: kind, done: got}
	d.clipboard.mu.Unlock()
	defer func() {
		d.clipboard.mu.Lock()
		d.clipboard.paste = nil
		d.clipboard.mu.Unlock()
	}()
	xproto.DeleteProperty(d.conn, d.clipboard.window, d.atoms.pasted)
	xproto.ConvertSelection(d.conn, d.clipboard.window, d.atoms.clipboard, kind, d.atoms.pasted, xproto.TimeCurrentTime)
	select {
	case b := <-got:
		return b, b != nil
	case <-time.After(time.Until(late)):
	case <-d.done:
	}
	return nil, false
}

type pasting struct {
	kind  xproto.Atom
	done  chan []byte
	parts []byte // of one received in parts
	more  bool
}

// maxPaste limits a pasted text, in bytes.
const maxPaste = 4 << 20

// pastedNotify takes what another program has written to our property.
// It must be called on the events goroutine.
func (d *x11) pastedNotify(e xproto.SelectionNotifyEvent) {
	cb := &d.clipboard
	cb.mu.Lock()
	defer cb.mu.Unlock()
	p := cb.paste
	if p == nil || e.Target != p.kind {
		return
	}
	if e.Property == 0 {
		cb.finish(nil)
		return
	}
	b, kind := d.consumeProperty(cb.window, d.atoms.pasted)
	if kind == d.atoms.incr {
		p.more = true // the rest arrives as changes of the property
		return
	}
	cb.finish(append([]byte{}, b...))
}

func (cb *clipboard) finish(b []byte) {
	cb.paste.done <- b
	cb.paste = nil
}

func (d *x11) pastedPart() {
	cb := &d.clipboard
	cb.mu.Lock()
	defer cb.mu.Unlock()
	p := cb.paste
	if p == nil || !p.more {
		return
	}
	b, _ := d.consumeProperty(cb.window, d.atoms.pasted)
	if p.parts = append(p.parts, b...); len(b) == 0 || len(p.parts) > maxPaste {
		cb.finish(append([]byte{}, p.parts...))
	}
}

func (d *x11) consumeProperty(id xproto.Window, name xproto.Atom) ([]byte, xproto.Atom) {
	r, err := xproto.GetProperty(d.conn, true, id, name, xproto.GetPropertyTypeAny, 0, maxPaste/4).Reply()
	if err != nil || r == nil {
		return nil, 0
	}
	return r.Value, r.Type
}
