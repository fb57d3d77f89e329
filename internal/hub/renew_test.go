package hub

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
)

// TestTwoSecrets checks that after a refused secret the other one is tried at once,
// in a request like that for a single secret, and that the accepted one is reported.
func TestTwoSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		takes   string // accepted by the hub
		status  int    // of a refusal
		sent    string // secrets, in order
		told    string
		failure contact.Failure
	}{
		"the new one":         {"new", 401, "new", "new+", ""},
		"the old one":         {"old", 401, "new old", "new- old+", ""},
		"the old one, slowly": {"old", 429, "new", "", contact.HubError},
		"neither":             {"none", 401, "new old", "new- old-", contact.CredentialsRefused},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var sent, told []string
			left := []string{"new", "old"}
			f.token = func(w http.ResponseWriter, r *http.Request) {
				_, s, _ := r.BasicAuth()
				sent = append(sent, s)
				if s != c.takes {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(c.status)
					return
				}
				_, _ = w.Write([]byte(`{"access_token":"t","expires_in":300}`))
			}
			client := newClient(t, f.URL, func(cfg *Config) {
				cfg.Secret = func(context.Context) (string, error) { return left[0], nil }
				cfg.OnSecretResult = func(_ context.Context, s string, accepted bool) bool {
					if accepted {
						told = append(told, s+"+")
						return true // not called: the request succeeded
					}
					told = append(told, s+"-")
					left = []string{"old"}
					return true // retrying again and again would be too much
				}
			})
			_, err := client.Check(t.Context())
			if contact.FailureOf(err) != c.failure {
				t.Errorf("%v", err)
			}
			if !slices.Equal(sent, strings.Fields(c.sent)) || !slices.Equal(told, strings.Fields(c.told)) {
				t.Errorf("sent %v, told %v", sent, told)
			}
		})
	}
}
