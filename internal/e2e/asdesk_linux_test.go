package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
)

// instance is where the resident of the office is found.
func (o *office) instance() instance.Config {
	o.t.Helper()
	dirs, err := profile.Find(o.profile)
	if err != nil {
		o.t.Fatal(err)
	}
	cfg := instance.Config{RunDir: dirs.Run, Version: "test", Build: "test"}
	return cfg
}

// asDesk speaks with the resident as the windows' process does.
func asDesk(t *testing.T, o *office) *instance.Conn {
	t.Helper()
	c, _, err := instance.Connect(t.Context(), o.instance(), instance.RoleDesk)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(windowapi.KindShow, windowapi.Show{Window: windowapi.WindowCalls}); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(windowapi.KindPainted, nil); err != nil { // or it would be taken for one that shows nothing
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// nextOf waits for a message of a kind.
func nextOf[T any](t *testing.T, c *instance.Conn, kinds ...string) (kind string, m T) {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() { _ = c.Close() })
	defer late.Stop()
	for {
		kind, raw, err := c.Receive()
		if err != nil {
			t.Fatalf("no %v: %v", kinds, err)
		}
		for _, k := range kinds {
			if k == kind {
				if err := json.Unmarshal(raw, &m); err != nil {
					t.Fatal(err)
				}
				return kind, m
			}
		}
	}
}
