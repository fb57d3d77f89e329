package linktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/simulate"
)

// Portal is a VoIPGRID provider's portal, for registering call notifications. Access its
// fields only within With.
type Portal struct {
	URL       string
	Targets   map[string]string // addresses, by registration id
	Silent    bool              // lists nothing
	Intercept Answer            // sees each request first, if not nil

	mu      sync.Mutex
	account simulate.Account
	made    int
}

// StartPortal starts a portal until the test ends.
func StartPortal(t testing.TB, account simulate.Account) *Portal {
	p := &Portal{Targets: map[string]string{}, account: account}
	s := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

// With runs f under the lock.
func (p *Portal) With(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *Portal) serve(w http.ResponseWriter, r *http.Request) {
	var intercept Answer
	if p.With(func() { intercept = p.Intercept }); intercept != nil && intercept(w, r) {
		return
	}
	id, ours := strings.CutPrefix(r.URL.Path, "/api/callnotification/callnotification/")
	var asked struct {
		Target string `json:"target_url"`
		Event  string `json:"event"`
	}
	_ = json.NewDecoder(r.Body).Decode(&asked) // invalid input is refused below
	status, answer := http.StatusNotFound, any(nil)
	p.With(func() {
		switch {
		case !ours:
		case r.Header.Get("Authorization") != "Token "+p.account.User+":"+p.account.Secret:
			status = http.StatusForbidden
		case r.Method == http.MethodPost && id == "" && asked.Event == "custom" && r.Header.Get("Content-Type") == "application/json" && strings.HasPrefix(asked.Target, "https://"):
			p.made++
			p.Targets[fmt.Sprint(p.made)] = asked.Target
			status, answer = http.StatusCreated, map[string]any{"id": p.made, "target_url": asked.Target, "event": "custom"}
		case r.Method == http.MethodPost:
			status = http.StatusBadRequest
		case r.Method == http.MethodDelete && p.Targets[id] != "":
			delete(p.Targets, id)
			status = http.StatusNoContent
		case r.Method == http.MethodGet && id == "" && !p.Silent:
			all := []any{}
			for _, id := range slices.Sorted(maps.Keys(p.Targets)) {
				all = append(all, map[string]any{"id": id, "target_url": p.Targets[id], "event": "custom"})
			}
			status, answer = http.StatusOK, map[string]any{"meta": map[string]int{"total_count": len(all)}, "objects": all}
		}
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
	}
}
