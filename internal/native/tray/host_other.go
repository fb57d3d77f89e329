//go:build windows || darwin

package tray

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
)

func reachable() bool { return true }

// HasHost reports whether a tray host is there; these systems always have one.
func HasHost(context.Context) bool { return true }

// cleanUp removes the icons that the library left in the temp folder, named by
// their contents, which are ours alone.
func cleanUp() {
	if runtime.GOOS != "windows" {
		return
	}
	files, _ := filepath.Glob(filepath.Join(os.TempDir(), "systray_temp_icon_*"))
	for _, f := range files {
		_ = os.Remove(f)
	}
}
