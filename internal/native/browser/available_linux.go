package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// Available reports whether a program is installed that would open a web address, as far as
// that can be checked without opening one.
func Available(ctx context.Context) bool {
	if _, err := exec.LookPath("xdg-open"); err == nil {
		// From the desktop's own settings; without them, xdg-open tries a list of programs.
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
