package sound

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// players lists desktop programs that play WAV files, best first. PipeWire may be installed
// beside PulseAudio without playing any sound itself, but PulseAudio's players reach both.
var players = []string{"paplay", "pw-play", "aplay"}

// Player returns the program that is tried first, or "" if there is none.
func Player() string {
	for _, name := range players {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// Play plays a tone with the first player that works, and returns when it has finished. It
// writes the tone to a file in dir, which stays there. When ctx ends, the player is stopped.
func Play(ctx context.Context, dir string, k Kind) error {
	path := filepath.Join(dir, "sound-"+string(k)+".wav")
	if err := os.WriteFile(path, waves()[k], 0o600); err != nil {
		return err
	}
	failed := ErrNoPlayer
	for _, name := range players {
		err := exec.CommandContext(ctx, name, path).Run()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !errors.Is(err, exec.ErrNotFound) {
			failed = fmt.Errorf("%s: %w", name, err)
		}
	}
	return failed
}
