// Package session tells what the desktop says about the user's session: whether
// the screen is locked, whether the user wants quiet, whether something is being
// presented, whether a screen reader is there. It asks only what is documented.
package session

import (
	"context"
	"log/slog"
	"sync"

	"wiebelt/internal/core/wake"
)

// State is what the desktop says now. What nobody can tell is false: a desktop
// that cannot be asked counts as unlocked.
type State struct {
	Locked     bool // nobody but a passer-by may be looking
	Quiet      bool // the user does not want to be disturbed
	Presenting bool // the program in front fills the screen
	Reader     bool // a screen reader, or another program that explores others, is there
}

// Watcher follows the state. Its methods may be called from any goroutine.
type Watcher struct {
	changed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	state   State
	sources []string
}

// Watch begins to follow the session, until ctx ends or Close is called. The
// first state is there when it returns. An error means that nothing can be
// followed at all.
func Watch(ctx context.Context, log *slog.Logger) (*Watcher, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watcher{changed: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	// open is the platform's: it calls set with the first state and the names
	// of those who could be asked about the lock before it returns; run calls
	// set on every change and returns when ctx has ended and all it started has.
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

// State is the newest state.
func (w *Watcher) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Sources names those who could be asked about the lock, for a report; none
// means that a locked screen goes unnoticed.
func (w *Watcher) Sources() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.sources...)
}

// Changed gives a value after the state has changed; several changes may count
// as one.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close ends the watching and waits until it has ended.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

// set is called by the platform with what holds from now on.
func (w *Watcher) set(s State, sources []string) {
	w.mu.Lock()
	same := w.state == s
	w.state, w.sources = s, sources
	w.mu.Unlock()
	if same {
		return
	}
	wake.Up(w.changed)
}
