package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"wiebelt/internal/relay/wire"
)

// Status is the state of a relay, without personal data.
type Status struct {
	Relay     string           `json:"relay"`
	Site      string           `json:"site"`
	Since     time.Time        `json:"since"`
	Fault     string           `json:"lacks"` // what keeps it from working, "" if nothing
	Users     int              `json:"users"`
	Computers int              `json:"computers"` // on which users have joined
	Connected int              `json:"connected"` // of these, now
	Hub       string           `json:"hub"`       // "off", "untried", "ok", or why the newest lookup failed
	Reports   int64            `json:"reports"`   // of calls, taken since the start; likewise below
	Nobody    int64            `json:"nobody"`    // reports of calls for no known user
	Dropped   int64            `json:"dropped"`   // unreadable or too many
	Late      int64            `json:"late"`      // minutes late, and added to the history only
	Wrong     []string         `json:"wrong"`     // unusable settings; the previous ones stay in force
	Links     []wire.LinkState `json:"links"`     // to and from exchanges
	Strange   []string         `json:"strange"`   // extensions without a user at which calls rang
}

func (r *relay) status() Status {
	people, computers := r.table.Load().Count()
	fault := r.storage.fault.Load().(string)
	if fault == "" && r.storage.diskFull.Load() {
		fault = faultDisk
	}
	listened := append(r.links.States(), r.webhooks.all()...)
	listened = listened[:min(len(listened), wire.MaxLinks)]
	return Status{Relay: r.Settings.Name, Site: string(r.Keys.Site), Since: r.since, Fault: fault,
		Users: people, Computers: computers, Connected: r.node.Connections(), Hub: r.lookups.state(),
		Reports: r.taken.Load(), Nobody: r.nobody.Load(), Dropped: r.dropped.Load(), Late: r.late.reports.Load(),
		Wrong: *r.wrongs.Load(), Links: listened, Strange: r.unknown.without(r.table.Load())}
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
			{"reports_nobody_total", "counter", "Reports of calls that were nobody's.", s.Nobody},
			{"reports_dropped_total", "counter", "Reports that could not be read or were too many.", s.Dropped},
		} {
			fmt.Fprintf(w, "# HELP wiebelt_relay_%s %s\n# TYPE wiebelt_relay_%[1]s %[3]s\nwiebelt_relay_%[1]s %[4]d\n", m.name, m.help, m.kind, m.value)
		}
	})
	return mux
}
