package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"wiebelt/internal/softphone/registry"
)

// Portal is that of a provider on VoIPGRID, where one registers for call notifications.
// Its fields belong to With.
type Portal struct {
	*server
	Targets map[string]string // addresses, by the id of their registration
	Silent  bool              // it lists nothing
	made    int
}

// StartPortal starts one, until ctx ends or Close. listen is a literal loopback address
// with its port, "" for a free one.
func StartPortal(ctx context.Context, listen string, account Account) (*Portal, error) {
	p := &Portal{server: newServer(), Targets: map[string]string{}}
	return p, p.startExchange(ctx, registry.VoIPGRID, listen, account, p.serve)
}

func (p *Portal) serve(w http.ResponseWriter, r *http.Request) {
	id, ours := strings.CutPrefix(r.URL.Path, "/api/callnotification/callnotification/")
	var asked struct {
		Target string `json:"target_url"`
		Event  string `json:"event"`
	}
	_ = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAsked)).Decode(&asked) // nothing is refused below
	status, answer := http.StatusNotFound, any(nil)
	p.With(func() {
		switch {
		case !ours:
		case r.Header.Get("Authorization") != "Token "+p.account.User+":"+p.account.Secret:
			status = http.StatusForbidden
		case r.Method == http.MethodPost && id == "" && asked.Event == "custom" && strings.HasPrefix(asked.Target, "https://"):
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
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	answerJSON(w, status, answer)
}
