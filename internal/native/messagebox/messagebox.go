// Package messagebox tells the user one thing in the plainest way a platform has,
// where nothing else of ours can come on screen: when the windows' process or Wiebelt
// itself does not start. It needs no window of ours and no toolkit.
package messagebox

import (
	"context"
	"sync"
)

// open holds what is on screen, so that a user who clicks five times is told
// once.
var open sync.Map

// Tell shows a title and a text and returns when the user has read it or ctx
// ends, which takes it away; where the platform cannot tell when it was read, at
// once. What is on screen already is not shown a second time. An error means
// that nobody was told. Tell may be called from any goroutine; do not call it
// where waiting hurts. Both are sentences of ours, without personal data: on some platforms it
// stays in a list of notifications.
func Tell(ctx context.Context, title, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key := title + "\x00" + text
	if _, shown := open.LoadOrStore(key, true); shown {
		return nil
	}
	defer open.Delete(key)
	return tell(ctx, title, text)
}
