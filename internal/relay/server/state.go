package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/webhook"
)

// follow applies the settings until ctx ends.
func (r *relay) follow(ctx context.Context, sets chan<- []links.Link) error {
	for o := r.Office; ; {
		r.wrongSettings.Store(new(o.InvalidKeys))
		if len(o.InvalidKeys) == 0 {
			if r.Office.Hub != o.Hub {
				r.lookups.set(o.Hub)
			}
			r.webhooks.set(o.Webhooks)
			r.changed()
			r.Office = o
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case sets <- append([]links.Link{r.inboundLink()}, r.Office.Links...):
		}
		r.changed()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o = <-r.Changes:
		}
	}
}

// knowsExtension reports whether a link is to report an extension.
func (r *relay) knowsExtension(extension string) bool {
	if r.table.Load().HasExtension(extension) {
		return true
	}
	r.unknown.note(extension)
	return false
}

func (r *relay) usersOf(extension string) []wire.User {
	return r.table.Load().UsersCalled(webhook.Place{Extensions: []string{extension}}, "")
}

// handleLinkEvent takes the events of a link to an exchange. It blocks while there are
// too many reports, so that no more is read from the exchange.
func (r *relay) handleLinkEvent(ctx context.Context, e call.Event, shared bool) error {
	p := report{Report: webhook.Report{Event: e}, mayReturn: shared}
	if e.Extension != "" {
		p.Extensions = []string{e.Extension}
	}
	select {
	case r.reports <- p:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unknownExtensions records the extensions without a user at which calls rang. The zero
// value is ready to use. It is safe for concurrent use.
type unknownExtensions struct {
	mu  sync.Mutex
	all []string
}

const maxUnknown = 32 // how many are kept

func (s *unknownExtensions) note(extension string) {
	// Exchanges also report other phones: a longer number may be a person's.
	if !exchangelink.LooksInternal(extension) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := slices.BinarySearch(s.all, extension); !found && len(s.all) < maxUnknown {
		s.all = slices.Insert(s.all, i, extension)
	}
}

// without returns those that still have no user.
func (s *unknownExtensions) without(t *users.Table) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, t.HasExtension)
	return slices.Clone(s.all)
}

// changed makes the relay publish its state.
func (r *relay) changed() {
	wake.Up(r.stateChanged)
}

// minStateInterval is the minimum time between two states: one that flips constantly, such as a
// hub that answers every other lookup, must not keep a thousand computers busy.
const minStateInterval = 250 * time.Millisecond

// publishState publishes the relay's state to all users until ctx ends.
func (r *relay) publishState(ctx context.Context) error {
	tick := time.Tick(wire.StateEvery)
	for {
		s := r.status()
		b := wire.State{Relay: s.Relay, At: time.Now().UTC(), Fault: s.Fault, Hub: s.Hub, Links: s.Links}.Encode()
		if err := r.node.Conn.Publish(r.Keys.Site.StateSubject(), b); err != nil && ctx.Err() == nil {
			r.Log.Warn("the relay's state was not published", "why", err)
		}
		if err := wake.Pause(ctx, minStateInterval); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.stateChanged:
		case now := <-tick:
			for _, c := range r.late.expire(now) {
				r.storeMissedOfAll(c)
			}
		}
	}
}

// Status is the state of a relay, without personal data.
type Status struct {
	Relay             string           `json:"relay"`
	Site              string           `json:"site"`
	StartedAt         time.Time        `json:"since"`
	Fault             string           `json:"lacks"` // what keeps it from working, "" if nothing
	Users             int              `json:"users"`
	Computers         int              `json:"computers"` // on which users have joined
	Connected         int              `json:"connected"` // of these, now
	Hub               string           `json:"hub"`       // "off", "untried", "ok", or why the newest lookup failed
	Reports           int64            `json:"reports"`   // of calls, taken since the start; likewise below
	Unmatched         int64            `json:"nobody"`    // reports of calls for no known user
	Dropped           int64            `json:"dropped"`   // unreadable or too many
	Late              int64            `json:"late"`      // minutes late, and added to the history only
	InvalidSettings   []string         `json:"wrong"`     // unusable settings; the previous ones stay in force
	Links             []wire.LinkState `json:"links"`     // to and from exchanges
	UnknownExtensions []string         `json:"strange"`   // extensions without a user at which calls rang
}

func (r *relay) status() Status {
	people, computers := r.table.Load().Count()
	fault := r.storage.fault.Load().(string)
	if fault == "" && r.storage.diskFull.Load() {
		fault = faultDisk
	}
	listened := append(r.links.States(), r.webhooks.all()...)
	listened = listened[:min(len(listened), wire.MaxLinks)]
	return Status{Relay: r.Settings.Name, Site: string(r.Keys.Site), StartedAt: r.startedAt, Fault: fault,
		Users: people, Computers: computers, Connected: r.node.Connections(), Hub: r.lookups.state(),
		Reports: r.stored.Load(), Unmatched: r.unmatched.Load(), Dropped: r.dropped.Load(), Late: r.late.reports.Load(),
		InvalidSettings: *r.wrongSettings.Load(), Links: listened, UnknownExtensions: r.unknown.without(r.table.Load())}
}

// admin handles requests from programs on this computer.
func (r *relay) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if r.status().Fault != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(r.status())
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		s := r.status()
		healthy := 0
		if s.Fault == "" {
			healthy = 1
		}
		for _, m := range []struct {
			name, kind, help string
			value            int64
		}{
			{"healthy", "gauge", "Whether the relay works.", int64(healthy)},
			{"users", "gauge", "Users of the site.", int64(s.Users)},
			{"computers", "gauge", "Computers on which users have joined.", int64(s.Computers)},
			{"connections", "gauge", "Connections to this relay's NATS server.", int64(s.Connected)},
			{"reports_total", "counter", "Reports of calls that were taken.", s.Reports},
			{"reports_nobody_total", "counter", "Reports of calls that were nobody's.", s.Unmatched},
			{"reports_dropped_total", "counter", "Reports that could not be read or were too many.", s.Dropped},
		} {
			fmt.Fprintf(w, "# HELP wiebelt_relay_%s %s\n# TYPE wiebelt_relay_%[1]s %[3]s\nwiebelt_relay_%[1]s %[4]d\n", m.name, m.help, m.kind, m.value)
		}
	})
	return mux
}
