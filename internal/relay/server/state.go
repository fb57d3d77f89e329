package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/webhook"
)

// follow applies the settings until ctx ends.
func (r *relay) follow(ctx context.Context, sets chan<- []links.Link) error {
	for o := r.Office; ; {
		wrong := o.Wrong // copied, since o is reassigned below
		r.wrongs.Store(&wrong)
		if len(o.Wrong) == 0 {
			if r.Office.Hub != o.Hub {
				r.lookups.set(o.Hub)
			}
			r.webhooks.set(o.Webhooks)
			r.changed()
			r.Office = o
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case sets <- append([]links.Link{r.inboundLink()}, r.Office.Links...):
		}
		r.changed()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o = <-r.Changes:
		}
	}
}

// knowsExtension reports whether a link is to report an extension.
func (r *relay) knowsExtension(extension string) bool {
	if r.table.Load().HasExtension(extension) {
		return true
	}
	r.unknown.note(extension)
	return false
}

// ongoing returns the ongoing calls of a link.
func (r *relay) ongoing(ctx context.Context, prefix string) ([]calls.Record, error) {
	return r.bucket.Load().Ongoing(ctx, prefix)
}

// handleLinkEvent takes the events of a link to an exchange. It blocks while there are
// too many reports, so that no more is read from the exchange.
func (r *relay) handleLinkEvent(ctx context.Context, e call.Event, shared bool) error {
	p := report{Report: webhook.Report{Event: e}, mayReturn: shared}
	if e.Extension != "" {
		p.Extensions = []string{e.Extension}
	}
	select {
	case r.reports <- p:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unknownExtensions records the extensions without a user at which calls rang. The zero
// value is ready to use. It is safe for concurrent use.
type unknownExtensions struct {
	mu  sync.Mutex
	all []string
}

const maxUnknown = 32 // how many are kept

func (s *unknownExtensions) note(extension string) {
	// Exchanges also report other phones: a longer number may be a person's.
	if !exchangelink.Internal(extension) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := slices.BinarySearch(s.all, extension); !found && len(s.all) < maxUnknown {
		s.all = slices.Insert(s.all, i, extension)
	}
}

// without returns those that still have no user.
func (s *unknownExtensions) without(t *users.Table) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, t.HasExtension)
	return slices.Clone(s.all)
}

// changed makes the relay publish its state.
func (r *relay) changed() {
	wake.Up(r.news)
}

// stateLeast is the minimum time between two states: one that flips constantly, such as a
// hub that answers every other lookup, must not keep a thousand computers busy.
const stateLeast = 250 * time.Millisecond

// publishState publishes the relay's state to all users until ctx ends.
func (r *relay) publishState(ctx context.Context) error {
	tick := time.Tick(wire.StateEvery)
	for {
		s := r.status()
		b := wire.State{Relay: s.Relay, At: time.Now().UTC(), Fault: s.Fault, Hub: s.Hub, Links: s.Links}.Encode()
		if err := r.node.Conn.Publish(r.Keys.Site.Relays(), b); err != nil && ctx.Err() == nil {
			r.Log.Warn("the relay's state was not published", "why", err)
		}
		if err := wake.Pause(ctx, stateLeast); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.news:
		case now := <-tick:
			for _, c := range r.late.expire(now) {
				r.storeMissedOfAll(c)
			}
		}
	}
}
