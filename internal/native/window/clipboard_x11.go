//go:build !windows && !darwin

package window

import (
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// clipboard owns the selection CLIPBOARD for as long as nobody else wants it,
// and gives its text to whoever asks.
type clipboard struct {
	window xproto.Window

	mu   sync.Mutex
	text []byte
	time xproto.Timestamp
}

func (c *clipboard) setUp(d *x11) error {
	id, err := xproto.NewWindowId(d.conn)
	if err != nil {
		return err
	}
	c.window = id
	return xproto.CreateWindowChecked(d.conn, 0, id, d.root, -1, -1, 1, 1, 0, xproto.WindowClassInputOnly, 0, 0, nil).Check()
}

// Copy puts text on the clipboard.
func (d *x11) Copy(text string) error {
	if d.gone() {
		return errLost
	}
	d.clip.mu.Lock()
	d.clip.text = []byte(text)
	d.clip.mu.Unlock()
	xproto.SetSelectionOwner(d.conn, d.clip.window, d.atoms.clipboard, xproto.TimeCurrentTime)
	owner, err := xproto.GetSelectionOwner(d.conn, d.atoms.clipboard).Reply()
	if err != nil {
		return errLost
	}
	if owner.Owner != d.clip.window {
		return errNotOwner
	}
	return nil
}

type clipboardError string

func (e clipboardError) Error() string { return string(e) }

const errNotOwner = clipboardError("the clipboard was refused")

// serve answers a program that pastes.
func (c *clipboard) serve(d *x11, e xproto.SelectionRequestEvent) {
	property := e.Property
	if property == xproto.AtomNone {
		property = e.Target // old programs name none
	}
	c.mu.Lock()
	text := c.text
	c.mu.Unlock()
	a := &d.atoms
	put := func(t xproto.Atom, format byte, n int, data []byte) {
		xproto.ChangeProperty(d.conn, xproto.PropModeReplace, e.Requestor, property, t, format, uint32(n), data)
	}
	switch {
	case e.Selection != a.clipboard || text == nil:
		property = xproto.AtomNone
	case e.Target == a.targets:
		all := []xproto.Atom{a.targets, a.utf8, a.textPlainUTF8, xproto.AtomString}
		b := make([]byte, 4*len(all))
		for i, t := range all {
			xgb.Put32(b[4*i:], uint32(t))
		}
		put(xproto.AtomAtom, 32, len(all), b)
	case e.Target == a.utf8, e.Target == a.textPlainUTF8, e.Target == xproto.AtomString:
		put(e.Target, 8, len(text), text)
	default:
		property = xproto.AtomNone
	}
	xproto.SendEvent(d.conn, false, e.Requestor, 0, string(xproto.SelectionNotifyEvent{
		Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: property,
	}.Bytes()))
}

func (c *clipboard) clear(selection, ours xproto.Atom) {
	if selection == ours {
		c.mu.Lock()
		c.text = nil
		c.mu.Unlock()
	}
}
