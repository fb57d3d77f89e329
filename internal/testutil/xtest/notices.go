package xtest

import (
	"slices"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
)

// A desktop's notification service.
const (
	noticeService = "org.freedesktop.Notifications"
	noticePath    = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// Notice is what a notification service was asked to show.
type Notice struct {
	App           string
	Replaces      uint32 // 0 for none
	Icon          string
	Summary, Body string
	Actions       []string
	Hints         map[string]dbus.Variant
	Expire        int32
	ID            uint32
}

// Notices is a notification service that shows nothing but records what it was asked.
type Notices struct {
	Shown chan Notice
	Gone  chan uint32 // withdrawn ones

	t   testing.TB
	c   *dbus.Conn
	can []string

	mu    sync.Mutex
	click bool              // each notice is clicked at once
	all   []Notice          // ever sent here
	now   map[uint32]string // summaries of what is shown, by id
}

// ServeNotices makes a connection the notification service of its bus, with the given
// capabilities.
func ServeNotices(t testing.TB, c *dbus.Conn, can ...string) *Notices {
	t.Helper()
	n := &Notices{Shown: make(chan Notice, 100), Gone: make(chan uint32, 100), t: t, c: c, can: can, now: map[uint32]string{}}
	must.Do(t, c.Export(n, noticePath, noticeService))
	Own(t, c, noticeService)
	return n
}

// GetCapabilities, Notify and CloseNotification implement the service.
func (n *Notices) GetCapabilities() ([]string, *dbus.Error) { return n.can, nil }

func (n *Notices) Notify(app string, replaces uint32, icon, summary, body string, actions []string,
	hints map[string]dbus.Variant, expire int32) (uint32, *dbus.Error) {
	n.mu.Lock()
	id := replaces
	if id == 0 {
		id = uint32(len(n.all) + 1)
	}
	shown := Notice{app, replaces, icon, summary, body, actions, hints, expire, id}
	n.all, n.now[id] = append(n.all, shown), summary
	click := n.click
	n.mu.Unlock()
	n.Shown <- shown
	if click {
		n.Emit("ActionInvoked", id, "default")
	}
	return id, nil
}

func (n *Notices) CloseNotification(id uint32) *dbus.Error {
	n.mu.Lock()
	delete(n.now, id)
	n.mu.Unlock()
	n.Gone <- id
	return nil
}

// Click clicks each notice from now on as soon as it is shown.
func (n *Notices) Click() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.click = true
}

// Now returns the id of a notice that is shown, 0 for none, and the summaries of all.
func (n *Notices) Now() (id uint32, summaries string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, text := range n.now {
		id, summaries = i, summaries+text
	}
	return id, summaries
}

// All returns everything that was ever shown.
func (n *Notices) All() []Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// Dismiss closes what is shown, like its user.
func (n *Notices) Dismiss() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.now)
}

// Emit sends one of the service's signals, such as ActionInvoked.
func (n *Notices) Emit(name string, args ...any) {
	n.t.Helper()
	if err := n.c.Emit(noticePath, noticeService+"."+name, args...); err != nil {
		n.t.Error(err)
	}
}
