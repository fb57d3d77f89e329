package resident

import (
	"context"
	"errors"
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/testutil/must"
)

// TestUnanswered: nobody is asked what settings have answered; the hub's
// settings are no answer to any of the questions.
func TestUnanswered(t *testing.T) {
	for src, want := range map[string]bool{
		"":                                 true,
		"[hub]\nclient_id = \"office\"\n":  true,
		"[card]\ncorner = \"top-left\"\n":  false,
		"[card]\nmonitor = \"primary\"\n":  true,
		"[ui]\nlanguage = \"en\"\n":        false,
		"[[softphone]]\nkind = \"bria\"\n": false,
	} {
		s, problems := settings.Parse(src)
		if len(problems) != 0 {
			t.Fatal(problems)
		}
		if got := unanswered(s); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

// mute is a resident that takes what is asked, says so, and never answers.
type mute struct{ asked func() }

func (mute) Ring(call.Event) error { return nil }

func (m mute) Peer(_ context.Context, _ instance.Hello, c *instance.Conn) {
	_, _, _ = c.Receive()
	m.asked()
	_, _, _ = c.Receive() // until they go
}

// TestShowIsStopped: whoever asks a resident that does not answer can stop.
func TestShowIsStopped(t *testing.T) {
	cfg := instance.Config{RunDir: t.TempDir(), Version: "test", Build: "test"}
	one := must.Get(instance.Acquire(cfg))(t)
	serving, end := context.WithCancel(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- one.Serve(serving, mute{stop}) }()
	if err := ShowCalls(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	end()
	must.Do(t, <-served)
	_ = one.Close() // again, for the lock
}
