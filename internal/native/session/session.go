// Package session follows the desktop's state of the user's session: whether the screen is
// locked, whether the user wants quiet, and whether there is a presentation or a screen
// reader. It uses only documented interfaces.
package session

import (
	"context"
	"log/slog"
	"sync/atomic"

	"wiebelt/internal/core/wake"
)

// State is the current state. Anything unknown is false, so that a desktop
// that cannot be queried counts as unlocked.
type State struct {
	Locked     bool // the screen is locked: whoever looks may be just passing by
	Quiet      bool // the user does not want to be disturbed
	Presenting bool // the foreground program fills the screen
	Reader     bool // there is a screen reader, or another program that explores others
}

// Watcher follows the state. Its methods may be called from any goroutine.
type Watcher struct {
	changed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}

	now atomic.Pointer[reported]
}

// reported is the state, and the available sources for the lock. It is immutable.
type reported struct {
	State
	sources []string
}

// Watch starts to follow the session, until ctx ends or Close is called. The initial state
// is known when it returns. An error means that nothing can be followed.
func Watch(ctx context.Context, log *slog.Logger) (*Watcher, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watcher{changed: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	w.now.Store(&reported{})
	// open is platform-specific. Before returning, it calls set with the initial state and the
	// names of the available sources for the lock, if there are any. run calls set on every
	// change, and returns when ctx and everything that run started have ended.
	run, err := open(ctx, log, w.set)
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(w.done)
		run()
	}()
	return w, nil
}

// State returns the latest state.
func (w *Watcher) State() State { return w.now.Load().State }

// Sources returns the available sources for the lock, for a report. If there
// are none, a locked screen goes unnoticed.
func (w *Watcher) Sources() []string { return w.now.Load().sources }

// Changed returns a channel that receives a value after the state has
// changed; several changes may be reported as one.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close stops watching and waits until that is done.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

func (w *Watcher) set(s State, sources []string) {
	if w.now.Swap(&reported{s, sources}).State != s {
		wake.Up(w.changed)
	}
}
