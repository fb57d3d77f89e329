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

// OutboxFolder returns the folder of the outbox.
func OutboxFolder(d profile.Dirs) string { return filepath.Join(d.State, "outbox") }

// DeliveryPolicy returns how an outbox treats its files.
func DeliveryPolicy(s *settings.Settings) outbox.Policy {
	d := s.Delivery
	return outbox.Policy{Uncertain: d.Uncertain, Duplicate: d.Duplicate, ItemsPerRequest: d.ItemsPerRequest,
		KeepSent: daysToKeep(s, "delivery.keep_sent", d.KeepSent), KeepRefused: daysToKeep(s, "delivery.keep_refused", d.KeepRefused)}
}

// Senders holds the delivery clients, one per message box. They are separate from the
// client of lookups: closing that one would interrupt a delivery. Safe for concurrent use.
type Senders struct {
	Dirs     profile.Dirs
	Settings func() settings.Hub // the current settings

	mu             sync.Mutex
	clients        map[string]*hub.Client
	clientSettings settings.Hub // the settings all were created with
	stale          bool
}

// Renew creates new clients for the next requests.
func (s *Senders) Renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// Client returns the client for a message box; "" is the one in the settings. If settings
// have changed, it closes the previous clients: they must not have requests in progress.
// Its errors are those of a hub that is not set up (contact.NotSetUp).
func (s *Senders) Client(intermediary string) (outbox.Deliverer, error) {
	now := s.Settings()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale || now != s.clientSettings {
		s.close()
		s.clientSettings, s.stale = now, false
	}
	intermediary = cmp.Or(intermediary, now.Intermediary)
	if c := s.clients[intermediary]; c != nil {
		return c, nil
	}
	now.Intermediary = intermediary
	// Errors of requests are reported by the outbox.
	cfg, err := HubConfig(s.Dirs, now)
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
	if s.clients == nil {
		s.clients = map[string]*hub.Client{}
	}
	s.clients[intermediary] = c
	return c, nil
}

// Close closes the clients.
func (s *Senders) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
}

func (s *Senders) close() {
	for _, c := range s.clients {
		c.Close()
	}
	s.clients = nil
}
