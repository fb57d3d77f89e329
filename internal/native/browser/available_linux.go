package browser

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Available reports whether a program is installed that would open a web address, as far as
// that can be checked without opening one.
func Available(ctx context.Context) bool {
	names := []string{"x-www-browser", "www-browser"}
	if installed("xdg-open") {
		// From the desktop's own settings; without them, xdg-open tries a list of programs.
		if out, err := exec.CommandContext(ctx, "xdg-mime", "query", "default", "x-scheme-handler/https").Output(); err == nil && strings.TrimSpace(string(out)) != "" {
			return true
		}
		names = append(names, "firefox", "chromium", "chromium-browser", "google-chrome", "epiphany")
		names = append(names, strings.Split(os.Getenv("BROWSER"), ":")...)
	}
	return slices.ContainsFunc(names, installed)
}

func installed(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
