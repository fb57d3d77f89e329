package instance

import (
	"os"
	"strings"
)

// logon names this log-on as far as it can be known: the boot, and the session
// where the environment tells it.
func logon() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot)) + "\n" + os.Getenv("XDG_SESSION_ID") + "\n"
}

// sameLogon compares two names. A program that a service manager started knows
// no session; it counts as this one.
func sameLogon(a, b string) bool {
	bootA, restA, _ := strings.Cut(a, "\n")
	bootB, restB, _ := strings.Cut(b, "\n")
	a, b = strings.TrimSpace(restA), strings.TrimSpace(restB)
	return bootA == bootB && (a == b || a == "" || b == "")
}
