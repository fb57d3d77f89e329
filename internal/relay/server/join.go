package server

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// wrongCodes is how many codes an address may try per minute.
const wrongCodes = 5

func (r *relay) handleJoin(w http.ResponseWriter, q *http.Request) {
	from, _, _ := net.SplitHostPort(q.RemoteAddr)
	if !r.joins.try(from, time.Now()) {
		retryLater(w, http.StatusTooManyRequests, "60")
		return
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, q.Body, wire.MaxRequest))
	var asked wire.JoinRequest
	if err != nil || json.Unmarshal(b, &asked) != nil || !nkeys.IsValidPublicUserKey(asked.Key) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	directory := r.users.Load()
	if directory == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	u, revoked, err := directory.Join(q.Context(), asked.Code, asked.Key)
	switch {
	case errors.Is(err, users.ErrCode):
		w.WriteHeader(http.StatusForbidden)
		return
	case err != nil:
		r.Log.Error("nobody can join", "why", err)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.joins.refund(from)
	for _, k := range revoked {
		if r.Settings.NATS.External() { // the key works until their administrator revokes it
			r.Log.Warn("a computer was replaced: have the administrator of NATS revoke its key", "user", string(u), "key", k.Public)
		}
	}
	_, authority, err := r.Authorities()
	var token string
	if err == nil {
		token, err = r.Keys.UserToken(u, asked.Key, time.Now().Add(credentials.Lifetime))
	}
	if err != nil {
		r.Log.Error("nobody can join", "why", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	r.Log.Info("a computer joined", "user", string(u))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(wire.Joined{V: 1, Site: r.Keys.Site, User: u, Token: token, URLs: r.urls(), CA: string(authority)})
}

// urls returns the servers to which users connect.
func (r *relay) urls() (all []string) {
	if r.Settings.NATS.External() {
		return r.Settings.NATS.URLs
	}
	for _, host := range r.Settings.Hosts() {
		all = append(all, "tls://"+net.JoinHostPort(host, strconv.Itoa(r.node.Port())))
	}
	return all
}

func (r *relay) renew(m *nats.Msg) {
	var asked wire.RenewRequest
	u, err := wire.Asker(m.Subject, m.Reply)
	if err != nil || len(m.Data) > wire.MaxRequest || json.Unmarshal(m.Data, &asked) != nil {
		return
	}
	var answer wire.RenewAnswer
	if slices.Contains(r.table.Load().PublicKeys(u), asked.Key) {
		if answer.Token, err = r.Keys.UserToken(u, asked.Key, time.Now().Add(credentials.Lifetime)); err == nil {
			answer.URLs = r.urls()
		}
	}
	if b, err := json.Marshal(answer); err == nil {
		_ = m.Respond(b)
	}
}

// limiter limits attempts per address or user within a minute, in memory. It is
// safe for concurrent use.
type limiter struct {
	mu    sync.Mutex
	max   int
	tried map[string][]time.Time
}

// maxAddresses is how many addresses are counted; beyond that, new ones wait
// for the minute to end.
const maxAddresses = 10_000

func newLimiter(most int) *limiter {
	return &limiter{max: most, tried: map[string][]time.Time{}}
}

// try counts an attempt and reports whether it is allowed.
func (l *limiter) try(from string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tried[from] == nil && len(l.tried) >= maxAddresses {
		for a := range l.tried {
			l.recent(a, now)
		}
		if len(l.tried) >= maxAddresses {
			return false
		}
	}
	all := l.recent(from, now)
	if len(all) >= l.max {
		return false
	}
	l.tried[from] = append(all, now)
	return true
}

// refund takes back the newest attempt, which succeeded.
func (l *limiter) refund(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all := l.tried[from]; len(all) > 1 {
		l.tried[from] = all[:len(all)-1]
	} else {
		delete(l.tried, from)
	}
}

// recent returns an address's attempts within the last minute and drops the others.
func (l *limiter) recent(from string, now time.Time) []time.Time {
	all := slices.DeleteFunc(l.tried[from], func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if len(all) == 0 {
		delete(l.tried, from)
		return nil
	}
	l.tried[from] = all
	return all
}
