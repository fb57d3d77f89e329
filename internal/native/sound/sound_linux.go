package sound

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// players are desktop programs that play WAV files, best first.
var players = []string{"pw-play", "paplay", "aplay"}

// Player returns the program used, "" if there is none.
func Player() string {
	for _, name := range players {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// Play plays a tone and returns when it has finished. It writes the tone to a file in dir,
// which stays there. The player is stopped when ctx ends.
func Play(ctx context.Context, dir string, k Kind) error {
	name := Player()
	if name == "" {
		return ErrNoPlayer
	}
	path := filepath.Join(dir, "sound-"+string(k)+".wav")
	if err := os.WriteFile(path, waves()[k], 0o600); err != nil {
		return err
	}
	if err := exec.CommandContext(ctx, name, path).Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
