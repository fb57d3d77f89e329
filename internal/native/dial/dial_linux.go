package dial

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// open uses xdg-open, which follows the desktop's own settings; xdg-mime can query them.
func open(ctx context.Context, address string) error {
	return start(ctx, []string{"xdg-open", address})
}

func owner(ctx context.Context, scheme string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "xdg-mime", "query", "default", "x-scheme-handler/"+scheme)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil { // what it printed may be half an answer
		return ""
	}
	return strings.TrimSpace(string(out))
}
