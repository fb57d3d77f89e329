package messagebox

import (
	"context"
	"fmt"
	"os"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/native/notify"
)

// displayTime is how long a notification stays, since nothing reports that it was read.
const displayTime = 20 * time.Second

// show shows a desktop notification. If it cannot, it writes to
// standard error, for a terminal or the journal.
func show(ctx context.Context, title, text string) error {
	read := make(chan struct{}, 1)
	n, err := notify.Open(ctx, func(string, string) {
		wake.Up(read)
	})
	if err != nil {
		return write(title, text)
	}
	defer n.Close()
	if err := n.Show("message", notify.Notice{Summary: title, Body: text, Actions: []notify.Action{{Key: notify.Default}}}); err != nil && ctx.Err() == nil {
		return write(title, text)
	}
	select {
	case <-read:
	case <-time.After(displayTime):
	case <-ctx.Done():
	}
	return nil
}

// write writes the message to standard error.
func write(title, text string) error {
	_, err := fmt.Fprintf(os.Stderr, "%s: %s\n", title, text)
	return err
}
