// Package messagebox shows the user a message in the simplest way the platform has, for
// when nothing else of ours can appear: when the windows' process or Wiebelt itself does
// not start. It needs neither a window of ours nor a toolkit.
package messagebox

import (
	"context"
	"sync"
)

// open holds the messages on screen, so that a user who clicks five times sees only one.
var open sync.Map

// Show shows a title and a text and returns when the user has read them or ctx ends, which
// removes them; if the platform does not report reading, it returns immediately. A message
// already on screen is not shown twice. An error means that nothing was shown. Show may be
// called from any goroutine that may block. Both texts are our own, without personal data:
// on some platforms they stay in a list of notifications.
func Show(ctx context.Context, title, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key := title + "\x00" + text
	if _, shown := open.LoadOrStore(key, true); shown {
		return nil
	}
	defer open.Delete(key)
	return show(ctx, title, text)
}
