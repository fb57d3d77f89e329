package sound

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// players are programs of the desktop that play a WAV file, the best first.
var players = []string{"pw-play", "paplay", "aplay"}

// Player is the program that plays, "" if there is none.
func Player() string {
	for _, name := range players {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// Play plays a tone and returns when it has been heard. It writes the tone to a file in
// dir, which it leaves there. The player is ended with ctx.
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
