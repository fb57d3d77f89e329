package instance

import (
	"os"
	"strings"
)

// logonID identifies this log-on as far as possible: the boot, and the session if
// the environment has it.
func logonID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot)) + "\n" + os.Getenv("XDG_SESSION_ID") + "\n"
}

// sameLogon compares two identifiers. A program started by a service manager has no session
// and counts as this one.
func sameLogon(a, b string) bool {
	bootA, restA, _ := strings.Cut(a, "\n")
	bootB, restB, _ := strings.Cut(b, "\n")
	a, b = strings.TrimSpace(restA), strings.TrimSpace(restB)
	return bootA == bootB && (a == b || a == "" || b == "")
}
