// Package instancetest runs residents: a test's own, and one that accepts
// requests and never answers.
package instancetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/testutil/must"
)

// mute accepts requests and never answers.
type mute struct{ asked func() }

func (mute) Ring(call.Event) error { return nil }

func (m mute) Peer(_ context.Context, _ instance.Hello, c *instance.Conn) {
	_, _, _ = c.Receive()
	m.asked()
	_, _, _ = c.Receive() // until the peer closes the connection
}

// Serve runs the single instance for a folder until stop is called or the test ends.
func Serve(t *testing.T, cfg instance.Config, h instance.Handler) (stop func()) {
	t.Helper()
	one := must.Get(instance.Acquire(cfg))(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- one.Serve(ctx, h) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = one.Close() // once more, for the lock
	})
	t.Cleanup(stop)
	return stop
}

// Stopped calls ask, cancels its context while it waits for the resident's answer, and fails
// unless ask then returns context.Canceled.
func Stopped(t *testing.T, ask func(context.Context, instance.Config) error) {
	t.Helper()
	cfg := instance.Config{RunDir: t.TempDir(), Version: "test", Build: "test"}
	ctx, stop := context.WithCancel(t.Context())
	Serve(t, cfg, mute{stop})
	if err := ask(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
