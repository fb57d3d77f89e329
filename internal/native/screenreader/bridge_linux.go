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
	treeState
	conn    *dbus.Conn
	desktop atomic.Pointer[reference] // the parent assigned by the registry
}

// Run registers the program with the desktop until ctx
// ends, which is no error, or the bus does.
func (b *Bridge) Run(ctx context.Context) error {
	b.set(Tree{})
	b.desktop.Store(&nullReference)
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
			b.emitWindow("Deactivate", p)
		}
		b.emitChild("remove", p)
	}
	for _, p := range now.inOrder {
		was := old.nodes[p.ID]
		switch {
		case was == nil:
			if p.parent == nil || old.nodes[p.parent.ID] != nil {
				b.emitChild("add", p)
			}
			was = &treeNode{Node: &Node{Disabled: p.Disabled, State: p.State, Value: p.Value, Caret: p.Caret, Selection: p.Selection}}
		case was.Name != p.Name:
			b.emitObject("PropertyChange", p.ID.path(), "accessible-name", 0, p.Name)
		}
		b.emitStates(was, p)
		b.emitText(was, p)
	}
	for _, p := range now.newsSince(old) { // last, when readers know everything else
		b.emitState(p, "showing", true)
	}
}

func (b *Bridge) emitStates(was, p *treeNode) {
	if was.Disabled != p.Disabled {
		b.emitState(p, "sensitive", !p.Disabled)
		b.emitState(p, "enabled", !p.Disabled)
	}
	for _, s := range []struct {
		is   State
		name string
	}{{Checked, "checked"}, {Expanded, "expanded"}, {Invalid, "invalid-entry"}, {Selected, "selected"}} {
		if was.Is(s.is) != p.Is(s.is) {
			b.emitState(p, s.name, p.Is(s.is))
		}
	}
	if was.Is(OffScreen) != p.Is(OffScreen) && p.Is(Focusable) {
		b.emitState(p, "showing", !p.Is(OffScreen))
	}
	if was.Focused != p.Focused {
		b.emitFocus(p)
	}
}

// emitText sends changes in the typed or chosen text.
func (b *Bridge) emitText(was, p *treeNode) {
	if p.Role == ComboBox && was.Value != p.Value {
		b.emitObject("SelectionChanged", p.ID.path(), "", 0, "")
	}
	if p.Role != Entry {
		return
	}
	at, gone, come := textChange(was.Value, p.Value)
	if gone != "" {
		b.emit("Object.TextChanged", p.ID.path(), "delete", at, runes(gone), gone)
	}
	if come != "" {
		b.emit("Object.TextChanged", p.ID.path(), "insert", at, runes(come), come)
	}
	if was.Caret != p.Caret {
		b.emitObject("TextCaretMoved", p.ID.path(), "", int32(p.Caret), "")
	}
	if was.Selection != p.Selection {
		b.emitObject("TextSelectionChanged", p.ID.path(), "", 0, "")
	}
}

func (b *Bridge) emitFocus(p *treeNode) {
	switch {
	case p.parent != nil:
		b.emitState(p, "focused", p.Focused)
	case p.Focused:
		b.emitState(p, "active", true)
		b.emitWindow("Activate", p)
	default:
		b.emitState(p, "active", false)
		b.emitWindow("Deactivate", p)
	}
}

func (b *Bridge) emitState(p *treeNode, name string, on bool) {
	b.emitObject("StateChanged", p.ID.path(), name, boolNumber(on), int32(0))
}

// emitChild reports that p was added to, or removed from, its parent.
func (b *Bridge) emitChild(how string, p *treeNode) {
	in := root
	if p.parent != nil {
		in = p.parent.ID.path()
	}
	b.emitObject("ChildrenChanged", in, how, int32(p.index), b.ref(p.ID.path()))
}

func (b *Bridge) emitWindow(what string, p *treeNode) {
	b.emit("Window."+what, p.ID.path(), "", 0, 0, p.Name)
}

func (b *Bridge) emitObject(what string, of dbus.ObjectPath, detail string, n int32, value any) {
	b.emit("Object."+what, of, detail, n, 0, value)
}

func (b *Bridge) emit(event string, of dbus.ObjectPath, detail string, n, m int32, value any) {
	_ = b.conn.Emit(of, iface+"Event."+event, detail, n, m, dbus.MakeVariant(value), map[string]dbus.Variant{})
}
