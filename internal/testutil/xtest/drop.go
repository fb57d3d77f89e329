package xtest

import (
	"net/url"
	"strings"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/testutil/must"
)

// dropVersion is the version of the XDND protocol that we speak (freedesktop.org,
// "Drag-and-Drop Protocol for the X Window System").
const dropVersion = 5

// Drop drags files onto a place on the screen and drops them there. Like a file
// manager, it is the source of an XDND drag.
func (s *Server) Drop(x, y int, paths ...string) {
	s.t.Helper()
	d := newDrag(s, paths)
	defer d.conn.Close()
	s.Move(x, y)
	if d.target = d.under(int16(x), int16(y)); d.target == 0 {
		s.t.Fatalf("xtest: drop: nothing at %d, %d takes files", x, y)
	}
	d.send("XdndEnter", dropVersion<<24, uint32(d.atom("text/uri-list")), 0, 0)
	// Twice, like a moving pointer; the target answers each.
	for range 2 {
		d.send("XdndPosition", 0, uint32(x)<<16|uint32(y), xproto.TimeCurrentTime, uint32(d.atom("XdndActionCopy")))
		if status := d.wait("XdndStatus"); status[1]&1 == 0 {
			s.t.Fatal("xtest: drop: the window does not take it")
		}
	}
	d.send("XdndDrop", 0, xproto.TimeCurrentTime, 0, 0)
	// The protocol uses one bit here, but a program may report how many bytes it took.
	if finished := d.wait("XdndFinished"); finished[1] == 0 {
		s.t.Fatal("xtest: drop: the window did not take it")
	}
	if !d.given {
		s.t.Fatal("xtest: drop: nobody asked for the files")
	}
}

type drag struct {
	s      *Server
	conn   *xgb.Conn
	window xproto.Window
	target xproto.Window
	list   []byte // text/uri-list
	given  bool   // to the target
}

func newDrag(s *Server, paths []string) *drag {
	s.t.Helper()
	d := &drag{s: s, conn: must.Get(xgb.NewConnDisplay(s.Display))(s.t)}
	for _, p := range paths {
		d.list = append(d.list, (&url.URL{Scheme: "file", Path: p}).String()+"\r\n"...)
	}
	d.window = must.Get(xproto.NewWindowId(d.conn))(s.t)
	must.Do(s.t, xproto.CreateWindowChecked(d.conn, 0, d.window, s.root, -10, -10, 1, 1, 0, xproto.WindowClassInputOnly, 0, 0, nil).Check(),
		xproto.SetSelectionOwnerChecked(d.conn, d.window, d.atom("XdndSelection"), xproto.TimeCurrentTime).Check())
	return d
}

func (d *drag) atom(name string) xproto.Atom {
	d.s.t.Helper()
	r := must.Get(xproto.InternAtom(d.conn, false, uint16(len(name)), name).Reply())(d.s.t)
	return r.Atom
}

// under returns the topmost window at a place that accepts drops.
func (d *drag) under(x, y int16) xproto.Window {
	aware := d.atom("XdndAware")
	for w := d.s.root; ; {
		r, err := xproto.TranslateCoordinates(d.conn, d.s.root, w, x, y).Reply()
		if err != nil || r.Child == 0 {
			return 0
		}
		w = r.Child
		if p, err := xproto.GetProperty(d.conn, false, w, aware, xproto.AtomAtom, 0, 1).Reply(); err == nil && p.ValueLen > 0 {
			return w
		}
	}
}

func (d *drag) send(kind string, data ...uint32) {
	d.s.t.Helper()
	m := xproto.ClientMessageEvent{Format: 32, Window: d.target, Type: d.atom(kind),
		Data: xproto.ClientMessageDataUnionData32New(append([]uint32{uint32(d.window)}, data...))}
	must.Do(d.s.t, xproto.SendEventChecked(d.conn, false, d.target, xproto.EventMaskNoEvent, string(m.Bytes())).Check())
}

// wait waits for a message from the target, and serves the files when requested.
func (d *drag) wait(kind string) []uint32 {
	d.s.t.Helper()
	want := d.atom(kind)
	late := time.AfterFunc(must.Patience, d.conn.Close) // makes WaitForEvent return
	defer late.Stop()
	for {
		e, err := d.conn.WaitForEvent()
		switch e := e.(type) {
		case xproto.ClientMessageEvent:
			if e.Type == want {
				return e.Data.Data32
			}
		case xproto.SelectionRequestEvent:
			d.give(e)
		case nil:
			if err == nil {
				d.s.t.Fatalf("xtest: drop: no %s came", strings.TrimPrefix(kind, "Xdnd"))
			}
		}
	}
}

// give serves the files to the target.
func (d *drag) give(e xproto.SelectionRequestEvent) {
	property := e.Property
	if e.Target == d.atom("text/uri-list") {
		xproto.ChangeProperty(d.conn, xproto.PropModeReplace, e.Requestor, e.Property, e.Target, 8, uint32(len(d.list)), d.list)
		d.given = true
	} else {
		property = xproto.AtomNone
	}
	n := xproto.SelectionNotifyEvent{Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: property}
	xproto.SendEvent(d.conn, false, e.Requestor, xproto.EventMaskNoEvent, string(n.Bytes()))
}
