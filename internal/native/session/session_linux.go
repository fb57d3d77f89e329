package session

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// initialTimeout is how long querying the initial state may delay the start. Later answers
// are taken into account when they arrive.
const initialTimeout = 500 * time.Millisecond

// sourceStates is what the sources report. Three goroutines write it: one for the user's bus, one for
// the machine's, and one for the X server.
type sourceStates struct {
	mu  sync.Mutex
	set func(State, []string)

	logind, lockedHint bool
	savers             map[string]bool // active, by bus name
	server, blanked    bool
	fullScreen         bool
	bannersOff         bool // GNOME
	inhibited          bool // KDE
	reader             bool
}

func (f *sourceStates) update(change func(f *sourceStates)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
	s := State{
		Locked:     f.lockedHint || f.blanked,
		Quiet:      f.bannersOff || f.inhibited,
		Presenting: f.fullScreen,
		Reader:     f.reader,
	}
	var sources []string
	if f.logind {
		sources = append(sources, "logind")
	}
	for _, name := range slices.Sorted(maps.Keys(f.savers)) {
		s.Locked = s.Locked || f.savers[name]
		sources = append(sources, name)
	}
	if f.server {
		sources = append(sources, "MIT-SCREEN-SAVER")
	}
	f.set(s, sources)
}

// open queries all sources. It never fails, since having none is a state too.
func open(ctx context.Context, log *slog.Logger, set func(State, []string)) (run func(), err error) {
	f := &sourceStates{set: set, savers: map[string]bool{}}
	var all, first sync.WaitGroup
	for what, watch := range map[string]func(ctx context.Context, f *sourceStates, ready func()) error{
		"session bus": watchUser, "system bus": watchMachine, "X server": watchServer,
	} {
		first.Add(1)
		ready := sync.OnceFunc(first.Done)
		all.Go(func() {
			defer ready()
			if err := watch(ctx, f, ready); err != nil && ctx.Err() == nil {
				log.Info("session state: cannot be asked", "source", what, "why", err)
			}
		})
	}
	heard := make(chan struct{})
	all.Go(func() {
		first.Wait()
		close(heard)
	})
	select {
	case <-heard:
	case <-time.After(initialTimeout):
	case <-ctx.Done():
	}
	return all.Wait, nil
}
