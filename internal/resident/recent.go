package resident

import (
	"context"
	"slices"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
)

// saw notes the newest call for the menu.
func (f *facts) saw(c *engine.LastCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c == nil {
		return
	}
	if f.newest.Equal(c.At) {
		if len(f.calls) > 0 && f.calls[0].At.Equal(c.At) {
			f.calls[0] = *c // passed on: somebody else by now
		}
		return
	}
	f.newest = c.At
	f.calls = append([]engine.LastCall{*c}, f.calls[:min(len(f.calls), lastCalls-1)]...)
}

// before takes over the calls, newest first, that came before this program was
// started.
func (f *facts) before(calls []engine.LastCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range calls {
		if c.At.Before(f.opened) && len(f.calls) < lastCalls {
			f.calls = append(f.calls, c)
		}
	}
	if len(calls) > 0 {
		f.earlier = &health.Call{At: calls[0].At, Kind: calls[0].Kind}
	}
}

// recent are the last calls, newest first.
func (f *facts) recent() []engine.LastCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// forget takes calls out of the menu.
func (f *facts) forget(gone func(engine.LastCall) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = slices.DeleteFunc(f.calls, gone)
}

// readRecent takes over from the history which calls came before this program
// was started: the icon would say that there was none, and the menu list none.
func (r *Resident) readRecent(ctx context.Context) {
	if r.store == nil {
		return
	}
	last, err := r.store.Last(ctx, lastCalls)
	if err != nil {
		r.o.Log.Warn("the calls of before are not known", "why", err)
		return
	}
	rules := r.rules(r.set())
	var calls []engine.LastCall
	for _, e := range last {
		if e.Rang.Before(r.facts.opened) {
			calls = append(calls, engine.LastCall{Number: rules.Parse(e.Number, ""), Kind: e.Kind, At: e.Rang})
		}
	}
	r.facts.before(calls)
	r.again()
}

// forgetRecent lets go of calls that are in no file any more: neither menu nor
// engine brings them back.
func (r *Resident) forgetRecent(gone func(engine.LastCall) bool) {
	r.facts.forget(gone)
	if r.engine != nil {
		r.engine.Forget(gone)
	}
}
