package e2e

import (
	"fmt"
	"sync"

	"github.com/godbus/dbus/v5"
)

const (
	noticeService = "org.freedesktop.Notifications"
	noticePath    = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// noticeServer is a desktop's notification server.
type noticeServer struct {
	mu    sync.Mutex
	last  uint32
	shown map[uint32]string // summaries
	all   string            // everything ever sent here
}

func (s *noticeServer) GetCapabilities() ([]string, *dbus.Error) { return []string{"actions"}, nil }

func (s *noticeServer) Notify(app string, replaces uint32, icon, summary, body string, actions []string, hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := replaces
	if id == 0 {
		s.last++
		id = s.last
	}
	s.shown[id] = summary
	s.all += fmt.Sprintln(app, icon, summary, body, actions, hints)
	return id, nil
}

func (s *noticeServer) CloseNotification(id uint32) *dbus.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, id)
	return nil
}

// forget closes what is shown, like a user who dismisses it.
func (s *noticeServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.shown)
}

func (s *noticeServer) now() (id uint32, summaries string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, text := range s.shown {
		id, summaries = n, summaries+text
	}
	return id, summaries
}
