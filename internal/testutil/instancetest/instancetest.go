// Package instancetest runs a resident that takes what is asked and never answers.
package instancetest

import (
	"context"
	"errors"
	"testing"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/testutil/must"
)

type mute struct{ asked func() }

func (mute) Ring(call.Event) error { return nil }

func (m mute) Peer(_ context.Context, _ instance.Hello, c *instance.Conn) {
	_, _, _ = c.Receive()
	m.asked()
	_, _, _ = c.Receive() // until they go
}

// Stopped has ask wait for the resident's answer, cancels its context meanwhile, and fails
// unless it then ends with that.
func Stopped(t *testing.T, ask func(context.Context, instance.Config) error) {
	t.Helper()
	cfg := instance.Config{RunDir: t.TempDir(), Version: "test", Build: "test"}
	one := must.Get(instance.Acquire(cfg))(t)
	serving, end := context.WithCancel(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- one.Serve(serving, mute{stop}) }()
	if err := ask(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	end()
	must.Do(t, <-served)
	_ = one.Close() // again, for the lock
}
