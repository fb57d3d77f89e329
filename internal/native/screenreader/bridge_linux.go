package screenreader

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

// Names of AT-SPI (at-spi2-core, its xml folder).
const (
	busName  = "org.a11y.Bus"
	busPath  = dbus.ObjectPath("/org/a11y/bus")
	registry = "org.a11y.atspi.Registry"
	iface    = "org.a11y.atspi."
	folder   = "/org/a11y/atspi/"
	objects  = dbus.ObjectPath(folder + "accessible")
	root     = objects + "/root"
)

// Bridge exposes what is on screen to AT-SPI clients.
type Bridge struct {
	screen
	conn    *dbus.Conn
	desktop atomic.Pointer[reference] // the parent assigned by the registry
}

// Run registers the program with the desktop until ctx
// ends, which is no error, or the bus does.
func (b *Bridge) Run(ctx context.Context) error {
	b.set(Tree{})
	b.desktop.Store(&nobody)
	if err := b.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer b.conn.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.conn.Context().Done():
			if ctx.Err() != nil { // the connection ends with ctx
				return nil
			}
			return desktopbus.ErrEnded
		case t := <-b.next:
			b.notify(b.set(t)) // update first: readers query on every event
		}
	}
}

// connect connects to the accessibility bus, if there is one, and registers there. It never
// starts a bus. This may take long at log-on, but nothing waits for it.
func (b *Bridge) connect(ctx context.Context) error {
	session, err := desktopbus.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	var address string
	if err := session.Object(busName, busPath).CallWithContext(ctx, busName+".GetAddress", dbus.FlagNoAutoStart).Store(&address); err != nil {
		return fmt.Errorf("accessibility bus: %w", err)
	}
	b.conn, err = desktopbus.Connect(ctx, address)
	if err != nil {
		return err
	}
	for name, methods := range b.methods() {
		if err = b.conn.ExportSubtreeMethodTable(methods, objects, name); err != nil {
			break
		}
	}
	if err == nil {
		var desktop reference
		err = b.conn.Object(registry, root).CallWithContext(ctx, iface+"Socket.Embed", 0, b.ref(root)).Store(&desktop)
		b.desktop.Store(&desktop)
	}
	if err != nil {
		b.conn.Close()
		return fmt.Errorf("register at the accessibility bus: %w", err)
	}
	return nil
}

// notify sends the changes on which readers act, or
// without which they would use outdated data.
func (b *Bridge) notify(old, now *view) {
	for _, p := range old.inOrder {
		if now.nodes[p.ID] != nil || p.parent != nil && now.nodes[p.parent.ID] == nil {
			continue // still there, or removed with its parent
		}
		if p.parent == nil && p.Focused {
			b.window("Deactivate", p)
		}
		b.child("remove", p)
	}
	for _, p := range now.inOrder {
		was := old.nodes[p.ID]
		switch {
		case was == nil:
			if p.parent == nil || old.nodes[p.parent.ID] != nil {
				b.child("add", p)
			}
			was = &place{Node: &Node{Off: p.Off, State: p.State, Value: p.Value, Caret: p.Caret, Marked: p.Marked}}
		case was.Name != p.Name:
			b.object("PropertyChange", p.ID.path(), "accessible-name", 0, p.Name)
		}
		b.states(was, p)
		b.text(was, p)
	}
	for _, p := range now.newsSince(old) { // last, when readers know everything else
		b.state(p, "showing", true)
	}
}

// states sends an object's changed states.
func (b *Bridge) states(was, p *place) {
	if was.Off != p.Off {
		b.state(p, "sensitive", !p.Off)
		b.state(p, "enabled", !p.Off)
	}
	for _, s := range []struct {
		is   State
		name string
	}{{Checked, "checked"}, {Expanded, "expanded"}, {Invalid, "invalid-entry"}, {Selected, "selected"}} {
		if was.Is(s.is) != p.Is(s.is) {
			b.state(p, s.name, p.Is(s.is))
		}
	}
	if was.Is(Outside) != p.Is(Outside) && p.Is(Focusable) {
		b.state(p, "showing", !p.Is(Outside))
	}
	if was.Focused != p.Focused {
		b.focus(p)
	}
}

// text sends changes in the typed or chosen text.
func (b *Bridge) text(was, p *place) {
	if p.Role == ComboBox && was.Value != p.Value {
		b.object("SelectionChanged", p.ID.path(), "", 0, "")
	}
	if p.Role != Entry {
		return
	}
	at, gone, come := differing(was.Value, p.Value)
	if gone != "" {
		b.emit("Object.TextChanged", p.ID.path(), "delete", at, runes(gone), gone)
	}
	if come != "" {
		b.emit("Object.TextChanged", p.ID.path(), "insert", at, runes(come), come)
	}
	if was.Caret != p.Caret {
		b.object("TextCaretMoved", p.ID.path(), "", int32(p.Caret), "")
	}
	if was.Marked != p.Marked {
		b.object("TextSelectionChanged", p.ID.path(), "", 0, "")
	}
}

func (b *Bridge) focus(p *place) {
	switch {
	case p.parent != nil:
		b.state(p, "focused", p.Focused)
	case p.Focused:
		b.state(p, "active", true)
		b.window("Activate", p)
	default:
		b.state(p, "active", false)
		b.window("Deactivate", p)
	}
}

func (b *Bridge) state(p *place, name string, on bool) {
	b.object("StateChanged", p.ID.path(), name, bit(on), int32(0))
}

// child reports that p was added to, or removed from, its parent.
func (b *Bridge) child(how string, p *place) {
	in := root
	if p.parent != nil {
		in = p.parent.ID.path()
	}
	b.object("ChildrenChanged", in, how, int32(p.index), b.ref(p.ID.path()))
}

func (b *Bridge) window(what string, p *place) { b.emit("Window."+what, p.ID.path(), "", 0, 0, p.Name) }

func (b *Bridge) object(what string, of dbus.ObjectPath, detail string, n int32, value any) {
	b.emit("Object."+what, of, detail, n, 0, value)
}

func (b *Bridge) emit(event string, of dbus.ObjectPath, detail string, n, m int32, value any) {
	_ = b.conn.Emit(of, iface+"Event."+event, detail, n, m, dbus.MakeVariant(value), map[string]dbus.Variant{})
}
