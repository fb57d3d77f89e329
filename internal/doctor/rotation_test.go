package doctor

import (
	"encoding/json"
	"strings"
	"testing"

	"wiebelt/internal/config/secret"
)

// TestBothSecrets checks that while one secret replaces the other, the hub is asked about
// both, nothing is changed, and nothing the hub accepts is reported as trouble.
func TestBothSecrets(t *testing.T) {
	h := startHub()
	toml := h.known(t)
	for _, tt := range []struct {
		old, next string
		states    string
		ok        bool
		looked    State
	}{
		{"canary-secret", "not-known-yet", "ok ok", true, OK},
		{"revoked-secret", "canary-secret", "ok ok", true, OK},
		{"revoked-secret", "not-known-yet", "fail fail", false, Off},
	} {
		cfg := configured(t, toml)
		cfg.Number = "020 123 4567"
		store, ref := storeOf(t, cfg.Dirs, h.URL, "office")
		for i, value := range []string{tt.old, tt.next} {
			if waiting, err := secret.Renew(t.Context(), store, ref, value, nil); err != nil || waiting != (i == 1) {
				t.Fatal(waiting, err)
			}
		}
		before := listing(t, cfg.Dirs.State)
		r := runJSON(t, cfg, server())
		if got := strings.Join(r.states("hub.token"), " "); got != tt.states || r.OK != tt.ok || r.of(t, "hub.lookup").State != tt.looked {
			t.Errorf("%q and %q: %s, ok %v, %+v", tt.old, tt.next, got, r.OK, r.of(t, "hub.lookup"))
		}
		if c := r.of(t, "secret"); c.State != OK || !strings.Contains(c.Message, "twee geheimen") {
			t.Errorf("%+v", c)
		}
		if old, next, err := secret.Pair(t.Context(), store, ref); old != tt.old || next != tt.next || err != nil || listing(t, cfg.Dirs.State) != before {
			t.Errorf("the doctor changed something: %v", err)
		}
		if b, _ := json.Marshal(r); strings.Contains(string(b), tt.old) || strings.Contains(string(b), tt.next) {
			t.Error("a secret is told")
		}
	}
}
