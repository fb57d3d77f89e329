package server

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/webhook"
)

// webhooks holds the addresses to which exchanges send their own messages: one for each
// known kind and one for each mapping of the administrator. It is safe for
// concurrent use.
type webhooks struct {
	secrets webhookSecrets
	mu      sync.Mutex // protects the rest
	mapped  map[string]webhook.Reader
	states  map[string]wire.LinkState // of addresses in use
	paces   map[string]*rate.Limiter  // likewise
}

// How many messages a sender may send per second, and at once. The largest office sends
// less than a tenth of that.
const (
	mostPerSecond = 2000
	mostAtOnce    = 4000
)

// allow counts a message and reports whether the sender is within its limits.
func (h *webhooks) allow(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paces[name] == nil {
		h.paces[name] = rate.NewLimiter(mostPerSecond, mostAtOnce)
	}
	return h.paces[name].Allow()
}

// retryLater tells the sender to retry after some seconds.
func retryLater(w http.ResponseWriter, status int, seconds string) {
	w.Header().Set("Retry-After", seconds)
	w.WriteHeader(status)
}

// set replaces the mappings. The states and paces of removed ones are dropped.
func (h *webhooks) set(mapped map[string]webhook.Reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mapped = mapped
	removed := func(name string) bool {
		_, known := webhook.Of(name)
		return !known && mapped[name] == nil
	}
	maps.DeleteFunc(h.states, func(name string, _ wire.LinkState) bool { return removed(name) })
	maps.DeleteFunc(h.paces, func(name string, _ *rate.Limiter) bool { return removed(name) })
}

// reader returns a name's reader and kind. Mappings take precedence.
func (h *webhooks) reader(name string) (read webhook.Reader, kind string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if read = h.mapped[name]; read != nil {
		return read, registry.Webhook
	}
	read, _ = webhook.Of(name)
	return read, name
}

// note records a message and what is wrong with it, and reports whether that is news.
func (h *webhooks) note(name, kind string, at time.Time, wrong link.Cause) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, known := h.states[name]
	if !known {
		s = wire.LinkState{Name: name, Kind: kind, State: wire.LinkWebhook, Since: at}
	}
	news = !known || s.Cause != string(wrong)
	if s.Cause != string(wrong) {
		s.Cause, s.Since = string(wrong), at
	}
	s.LastCallAt = at
	h.states[name] = s
	return news
}

// all returns the states of addresses in use, by name.
func (h *webhooks) all() []wire.LinkState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.SortedFunc(maps.Values(h.states), func(a, b wire.LinkState) int { return cmp.Compare(a.Name, b.Name) })
}

// webhookSecrets are the secrets in the addresses. They are read again only when they change,
// so that guessing costs the relay little. The zero value has read none. It is safe for
// concurrent use.
type webhookSecrets struct {
	mu         sync.Mutex // protects the rest
	read       setup.WebhookSecrets
	written    time.Time
	unreadable bool
}

// current returns the secrets. If they cannot be read, the previous ones stay valid, and
// the error is returned once.
func (s *webhookSecrets) current(dir string) (setup.WebhookSecrets, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if written := setup.WebhookSecretsWritten(dir); s.read.Current == "" || !written.Equal(s.written) {
		now, err := setup.LoadWebhookSecrets(dir)
		if err == nil {
			s.read, s.written, s.unreadable = now, written, false
		} else if !s.unreadable {
			s.unreadable = true
			return s.read, err
		}
	}
	return s.read, nil
}

// validSecret reports whether the secret in a request's address is valid.
func (r *relay) validSecret(q *http.Request) bool {
	secrets, err := r.webhooks.secrets.current(r.Dir)
	if err != nil {
		r.Log.Error("the webhook secrets cannot be read", "why", err)
	}
	return secrets.Valid(q.PathValue("secret"), time.Now())
}

// readMessage reads what a sender sends to its address. If it must not be taken, readMessage
// answers, and ok is false. Without the secret nobody learns which senders are known.
func (r *relay) readMessage(w http.ResponseWriter, q *http.Request, sender string, known bool) (body []byte, ok bool) {
	if !r.validSecret(q) || !known {
		w.WriteHeader(http.StatusNotFound)
		return nil, false
	}
	if !r.webhooks.allow(sender) {
		retryLater(w, http.StatusTooManyRequests, "1")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, webhook.MaxBody))
	if err != nil {
		r.dropped.Add(1)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}
	return body, err == nil
}

// handleWebhook takes a message of an exchange once it is queued or, in a cluster, other
// relays have it. An unreadable message is counted but accepted, since a refused
// sender may give up for good.
func (r *relay) handleWebhook(w http.ResponseWriter, q *http.Request) {
	name, at := q.PathValue("name"), time.Now().UTC()
	read, kind := r.webhooks.reader(name)
	b, ok := r.readMessage(w, q, name, read != nil)
	if !ok {
		return
	}
	if len(b) == 0 && q.URL.RawQuery == "" { // a check whether the address exists
		w.WriteHeader(webhook.Status(kind))
		return
	}
	all, err := read(webhook.Message{Query: q.URL.Query(), Type: q.Header.Get("Content-Type"), Body: b})
	wrong := link.NoCause
	if errors.Is(err, webhook.ErrEnded) {
		wrong, err = link.CauseEnded, nil
	}
	if err != nil {
		r.dropped.Add(1)
		wrong = link.CauseUnreadable
	}
	if r.webhooks.note(name, kind, at, wrong) {
		if wrong == link.CauseUnreadable {
			r.warned.Do(func() { r.Log.Warn("a message of an exchange was not understood", "from", name) })
		}
		r.changed()
	}
	for _, one := range all {
		p := newReport(one, at)
		p.mayReturn, p.ID = true, link.CallID(name+"/"+p.ID)
		if !r.enqueueReplicated(q.Context(), p) {
			retryLater(w, http.StatusServiceUnavailable, "1")
			return
		}
	}
	w.WriteHeader(webhook.Status(kind))
}
