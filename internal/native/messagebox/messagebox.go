// Package messagebox shows the user a message in the simplest way that the platform offers,
// for when nothing else of ours can appear because the windows' process or Wiebelt itself does
// not start. It needs neither a window of ours nor a toolkit.
package messagebox

import (
	"context"
	"sync"
)

// shownMessages holds the messages on screen, so that a user who clicks five times sees only one.
var shownMessages sync.Map

// Show shows a title and a text. It returns when the user has read them or ctx ends, which
// removes them, or immediately if the platform does not report reading. A message already on
// screen is not shown twice. An error means that nothing was shown. Show may be called from
// any goroutine that may block. Both texts are our own, without personal data, since some
// platforms keep them in a list of notifications.
func Show(ctx context.Context, title, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key := title + "\x00" + text
	if _, shown := shownMessages.LoadOrStore(key, true); shown {
		return nil
	}
	defer shownMessages.Delete(key)
	return show(ctx, title, text)
}
