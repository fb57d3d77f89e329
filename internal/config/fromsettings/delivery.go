package fromsettings

import (
	"cmp"
	"errors"
	"path/filepath"
	"sync"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/hub"
)

// OutboxFolder is the folder with what is to be delivered.
func OutboxFolder(d profile.Dirs) string { return filepath.Join(d.State, "outbox") }

// DeliveryPolicy is how an outbox treats its files.
func DeliveryPolicy(s *settings.Settings) outbox.Policy {
	d := s.Delivery
	return outbox.Policy{Uncertain: d.Uncertain, Duplicate: d.Duplicate, ItemsPerRequest: d.ItemsPerRequest, KeepSent: d.KeepSent, KeepRefused: d.KeepRefused}
}

// Senders are the clients that deliver, one for each message box. They are not
// those of lookups, whose end would cut a request in two. Safe for concurrent use.
type Senders struct {
	Dirs     profile.Dirs
	Settings func() settings.Hub // that hold now

	mu    sync.Mutex
	all   map[string]*hub.Client
	set   settings.Hub // that all were made with
	stale bool
}

// Renew has other clients made for the next requests.
func (s *Senders) Renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// Client gives the client for a message box; "" is the one of the settings. Where
// settings have changed, those made before are closed: nothing may be on its way with
// them. Its errors are those of a hub that is not set up (contact.NotSetUp).
func (s *Senders) Client(intermediary string) (outbox.Deliverer, error) {
	now := s.Settings()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale || now != s.set {
		s.close()
		s.set, s.stale = now, false
	}
	intermediary = cmp.Or(intermediary, now.Intermediary)
	if c := s.all[intermediary]; c != nil {
		return c, nil
	}
	now.Intermediary = intermediary
	// What goes wrong with a request is the outbox's to tell.
	cfg, err := Hub(s.Dirs, now)
	if intermediary == "" {
		err = errors.New("hub.intermediary is missing")
	}
	var c *hub.Client
	if err == nil {
		c, err = hub.New(cfg)
	}
	if err != nil {
		return nil, &contact.LookupError{Failure: contact.NotSetUp, Detail: err.Error()}
	}
	if s.all == nil {
		s.all = map[string]*hub.Client{}
	}
	s.all[intermediary] = c
	return c, nil
}

// Close closes the clients.
func (s *Senders) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
}

func (s *Senders) close() {
	for _, c := range s.all {
		c.Close()
	}
	s.all = nil
}
