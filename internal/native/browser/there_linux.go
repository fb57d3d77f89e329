package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// Available reports whether a program is there that would open a web address, as far
// as that can be told without opening one.
func Available(ctx context.Context) bool {
	if _, err := exec.LookPath("xdg-open"); err == nil {
		// By the desktop's own table; without one xdg-open goes through a list.
		if out, err := exec.CommandContext(ctx, "xdg-mime", "query", "default", "x-scheme-handler/https").Output(); err == nil && strings.TrimSpace(string(out)) != "" {
			return true
		}
		for _, name := range append(strings.Split(os.Getenv("BROWSER"), ":"), "firefox", "chromium", "chromium-browser", "google-chrome", "epiphany") {
			if _, err := exec.LookPath(name); err == nil {
				return true
			}
		}
	}
	for _, name := range []string{"x-www-browser", "www-browser"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}
