package notify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

const (
	service = "org.freedesktop.Notifications"
	object  = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// Notifier shows notifications, one per tag. Its methods may be called from any
// goroutine; they wait for the desktop, five seconds at most: the notification service may
// have to be started first.
type Notifier struct {
	conn     *dbus.Conn
	onAction func(tag, action string)
	cancel   context.CancelFunc
	ctx      context.Context
	done     chan struct{}

	mu      sync.Mutex
	owner   string
	buttons bool
	ids     map[string]uint32 // by tag
	closed  bool
}

// Open connects to the desktop's notifications. chosen is called, always on the same
// goroutine of the package, with a notification's tag and the key of the button pressed on
// it. It must not block. The notifier ends with ctx or with Close.
func Open(ctx context.Context, chosen func(tag, action string)) (*Notifier, error) {
	ctx, cancel := context.WithCancel(ctx)
	n := &Notifier{onAction: chosen, cancel: cancel, ctx: ctx, done: make(chan struct{}), ids: map[string]uint32{}}
	ready := make(chan struct{})
	var failed error
	go func() {
		defer close(n.done)
		failed = n.run(ready)
	}()
	select {
	case <-ready:
		return n, nil
	case <-n.done:
		cancel()
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, cmp.Or(failed, ctx.Err()))
	}
}

// run is the goroutine that receives button presses. It closes ready once it receives them.
func (n *Notifier) run(ready chan<- struct{}) (err error) {
	if n.conn, err = desktopbus.Session(n.ctx); err != nil {
		return err
	}
	defer n.conn.Close()
	defer n.cancel() // Show then returns ErrClosed
	if err := n.queryCapabilities(); err != nil {
		return err
	}
	return desktopbus.Follower{
		Names: []string{service},
		Matches: [][]dbus.MatchOption{
			{dbus.WithMatchSender(service), dbus.WithMatchInterface(service), dbus.WithMatchObjectPath(object)},
		},
		OnOwner: n.handleOwner,
		Ready:   func() { close(ready) },
		OnSignal: func(s *dbus.Signal) string {
			if tag, action, ok := n.buttonPress(s); ok {
				n.onAction(tag, action)
			}
			return ""
		},
	}.Run(n.ctx, n.conn)
}

// handleOwner records the current notification service, which does not know the
// notifications of an earlier one. The start of a service by Show is reported
// only after it has shown its notification.
func (n *Notifier) handleOwner(_, owner string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.owner != "" {
		clear(n.ids)
	}
	n.owner = owner
}

// queryCapabilities queries the service's capabilities, starting it if necessary.
func (n *Notifier) queryCapabilities() error {
	ctx, cancel := context.WithTimeout(n.ctx, 3*desktopbus.CallTimeout)
	defer cancel()
	var can []string
	if err := n.conn.Object(service, object).CallWithContext(ctx, service+".GetCapabilities", 0).Store(&can); err != nil {
		return err
	}
	n.buttons = slices.Contains(can, "actions")
	return nil
}

// buttonPress returns the button press that a signal reports, if any. Signals from other
// senders than the service are ignored. A signal may arrive before Show knows the ID of
// its notification; the lock waits for that.
func (n *Notifier) buttonPress(s *dbus.Signal) (tag, action string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.Sender != n.owner || len(s.Body) != 2 {
		return "", "", false
	}
	id, _ := s.Body[0].(uint32)
	for tag, own := range n.ids {
		if own != id {
			continue
		}
		switch s.Name {
		case service + ".ActionInvoked":
			action, ok := s.Body[1].(string)
			return tag, action, ok
		case service + ".NotificationClosed":
			delete(n.ids, tag)
		}
	}
	return "", "", false
}

// Show shows a notification, replacing an earlier one with the same tag.
func (n *Notifier) Show(tag string, o Notice) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.ctx.Err() != nil {
		return ErrClosed
	}
	var actions []string
	if n.buttons {
		for _, a := range o.Actions {
			actions = append(actions, a.Key, clean(a.Label, maxText))
		}
	}
	ctx, cancel := context.WithTimeout(n.ctx, 5*desktopbus.CallTimeout)
	defer cancel()
	// A transient notification is not kept in a list. It stays as long as
	// the call does, until Withdraw removes it.
	const never = int32(0)
	hints := map[string]dbus.Variant{
		"desktop-entry": dbus.MakeVariant(desktopbus.AppID),
		"transient":     dbus.MakeVariant(true),
		"urgency":       dbus.MakeVariant(byte(1)),
	}
	if o.Category != "" {
		hints["category"] = dbus.MakeVariant(o.Category)
	}
	var id uint32
	err := n.conn.Object(service, object).CallWithContext(ctx, service+".Notify", 0, "Wiebelt", n.ids[tag], desktopbus.AppID,
		clean(o.Summary, maxText), escape(clean(o.Body, maxBody)), actions, hints, never).Store(&id)
	if err != nil {
		return fmt.Errorf("notification: %w", err)
	}
	n.ids[tag] = id
	return nil
}

// Withdraw removes a notification if it is still shown.
func (n *Notifier) Withdraw(tag string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[tag]
	if !ok {
		return nil
	}
	delete(n.ids, tag)
	return desktopbus.Call(n.ctx, n.conn, service, object, service+".CloseNotification", id).Err
}

// Close removes all notifications, closes the connection and waits for its end.
func (n *Notifier) Close() {
	n.mu.Lock()
	tags := slices.Collect(maps.Keys(n.ids))
	n.closed = true
	n.mu.Unlock()
	for _, tag := range tags {
		_ = n.Withdraw(tag)
	}
	n.cancel()
	<-n.done
}

// escape keeps a body from being read as markup, which some services do.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
