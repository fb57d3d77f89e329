package sound

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// only makes PATH contain nothing but a test's programs.
func only(t *testing.T, programs map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range programs {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	t.Setenv("PATH", dir)
}

// TestPlay checks that the best player that works plays a file of ours that
// nobody else may read, that it is an error if there is no player or it
// fails, and that one that hangs is ended.
func TestPlay(t *testing.T) {
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes")
	all := map[string]string{}
	for _, name := range []string{"aplay", "pw-play", "paplay"} {
		all[name] = "echo " + name + " $1 >> " + notes
		only(t, all)
		must.Do(t, Play(t.Context(), dir, Several))
	}
	all["paplay"] = "exit 1"
	only(t, all)
	must.Do(t, Play(t.Context(), dir, Several))
	file := filepath.Join(dir, "sound-several.wav")
	if got, want := string(must.Get(os.ReadFile(notes))(t)), "aplay FILE\npw-play FILE\npaplay FILE\npw-play FILE\n"; got != strings.ReplaceAll(want, "FILE", file) {
		t.Errorf("played %q, want %s", got, want)
	}
	if info := must.Get(os.Stat(file))(t); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	if !bytes.Equal(must.Get(os.ReadFile(file))(t), waves()[Several]) {
		t.Error("another file")
	}

	only(t, nil)
	if err := Play(t.Context(), dir, Known); !errors.Is(err, ErrNoPlayer) || Player() != "" {
		t.Errorf("%v, %q", err, Player())
	}
	only(t, map[string]string{"pw-play": "exit 1"})
	if err := Play(t.Context(), dir, Known); err == nil || errors.Is(err, ErrNoPlayer) {
		t.Error(err)
	}
	started := filepath.Join(dir, "started")
	must.Do(t, syscall.Mkfifo(started, 0o600))
	only(t, map[string]string{"pw-play": ": > " + started + "\nread x < " + started})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = os.ReadFile(started) // until the player has opened and closed the pipe
	}()
	if err := Play(ctx, dir, Known); err == nil || ctx.Err() == nil {
		t.Error("a player that hangs is waited for:", err)
	}
}

// TestWaves checks that each tone is short, quiet and distinct, and that a player can read it.
func TestWaves(t *testing.T) {
	seen := map[string]bool{}
	for k, b := range waves() {
		const head = 44
		if string(b[:4]) != "RIFF" || string(b[8:16]) != "WAVEfmt " || len(b) <= head || seen[string(b)] {
			t.Errorf("%s: %q", k, b[:head])
		}
		seen[string(b)] = true
		if took := time.Duration(len(b)-head) / 2 * time.Second / sampleRate; took > 400*time.Millisecond {
			t.Errorf("%s takes %v", k, took)
		}
		for i := head; i < len(b); i += 2 {
			if v := int16(uint16(b[i]) | uint16(b[i+1])<<8); math.Abs(float64(v)) > 0.2*math.MaxInt16 {
				t.Fatalf("%s is loud: %d", k, v)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d tones", len(seen))
	}
}
