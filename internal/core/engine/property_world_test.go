package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
)

// truth is what really happens to a call.
type truth struct {
	number    string
	sources   []call.Source // the sources that report it; it began on the first
	ids       []string
	id        call.ID
	rang      time.Time
	person    time.Time // when the last caller on it came
	answered  time.Time
	over      bool
	ended     time.Time
	reason    call.Reason
	outgoing  bool
	url       bool // known from a launch alone
	confirmed bool
	lost      time.Time
	slept     bool
	closed    bool
	denied    map[string]bool // contact ids
	off       string          // the one denied last
	undoUntil time.Time
	autoOpens int
}

// world is a story under way.
type world struct {
	e       *Engine
	auto    bool
	calls   []*truth
	asked   []*question // lookups that the hub has not answered
	entries map[call.ID]Entry
	old     int // calls that came too late
	choices choices

	held     bool // pointer or keyboard
	heldCard CardID
	leftAt   time.Time
	touched  time.Time // when the user asked for a card
	mayMove  bool      // the user moves something now
	prev     *Snapshot
	expected map[string]int  // links that were clicked, not yet opened
	unfolded map[CardID]bool // by the user
	seen     []*Snapshot
	saw      map[string]int // what happened, and how often
	nextID   int
	wrong    string
	mu       sync.Mutex // for lookups and browsers running concurrently
}

type question struct {
	number string
	reply  chan error
}

func (w *world) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	q := &question{number, make(chan error, 1)}
	w.mu.Lock()
	w.asked = append(w.asked, q)
	w.saw["lookups"]++
	w.mu.Unlock()
	select {
	case err := <-q.reply:
		return peopleOf(number), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

var (
	wireAll  = call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}
	wireBare = call.Source{Kind: "baresip", Conn: "127.0.0.1:4444", ReportLevel: call.AllStates}
	wireRing = call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}
	wireURL  = call.Source{Kind: call.KindURL, ReportLevel: call.RingOnly}
)

func (w *world) isHeld(now time.Time) bool {
	return w.held || now.Before(w.leftAt.Add(time.Second))
}

func (w *world) ofURL(id CardID) bool {
	for _, c := range w.e.s.cards {
		if c.ID == id {
			return c.source.Kind == call.KindURL
		}
	}
	return false
}

// endOf returns when a card must be gone; zero for never.
func (w *world) endOf(t *truth, c *card) time.Time {
	var end time.Time
	switch {
	case t.over && t.answered.IsZero() && (c.ReportLevel == call.AllStates || t.reason != call.ReasonUnknown):
		end = t.ended
	case t.over:
		end = t.ended.Add(20 * time.Second)
	case c.ReportLevel == call.RingOnly:
		end = later(later(t.person, t.answered).Add(60*time.Second), t.lost).Add(10 * time.Minute)
	default:
		return end
	}
	return later(later(later(end, w.touched.Add(60*time.Second)), w.leftAt.Add(time.Second)), t.undoUntil)
}

func (w *world) truthOf(id call.ID) *truth {
	for _, t := range w.calls {
		if t.id == id {
			return t
		}
	}
	return nil
}

// live returns the calls in progress, as far as can be known.
func (w *world) live() (live []*truth) {
	for _, t := range w.calls {
		if !t.over {
			live = append(live, t)
		}
	}
	return live
}

func (w *world) busy(number string) bool {
	return slices.ContainsFunc(w.live(), func(t *truth) bool { return t.number == number })
}

func (w *world) send(source call.Source, id, number string, s call.State, change func(*call.Event)) {
	ev := call.Event{Source: source, ID: id, Number: number, Name: nameOf(number), State: s, At: time.Now()}
	if change != nil {
		change(&ev)
	}
	if err := w.e.Receive(ev); err != nil {
		w.fail("%v", err)
	}
	synctest.Wait()
}

// tell makes all sources of a call report.
func (w *world) tell(t *truth, s call.State, change func(*call.Event)) {
	for i, source := range t.sources {
		if i == 0 || source.ReportLevel == call.AllStates {
			w.send(source, t.ids[i], t.number, s, change)
		}
	}
}

// freeID returns a phone's id for a new call; phones reuse ids.
func (w *world) freeID(source call.Source) string {
	if source.Kind == call.KindCommand || source.Kind == call.KindURL {
		return ""
	}
	for n := 1; ; n++ {
		id := fmt.Sprint(n)
		if !slices.ContainsFunc(w.calls, func(t *truth) bool {
			return (!t.over || t.slept) && slices.ContainsFunc(t.sources, func(o call.Source) bool { return o == source }) && slices.Contains(t.ids, id)
		}) {
			return id
		}
	}
}

// begin starts a call in truth and reports it.
func (w *world) begin(source call.Source, number string, s call.State, outgoing bool) {
	now := time.Now()
	t := &truth{number: number, sources: []call.Source{source}, ids: []string{w.freeID(source)}, rang: now, person: now, outgoing: outgoing,
		url: source.Kind == call.KindURL, denied: map[string]bool{}}
	if s == call.Answered {
		t.answered = now
	}
	before := map[call.ID]bool{}
	for _, c := range w.e.s.cards {
		before[c.call] = true
	}
	w.calls = append(w.calls, t)
	w.mayMove = false
	w.send(source, t.ids[0], number, s, func(e *call.Event) {
		if outgoing {
			e.Direction = call.Outgoing
		}
	})
	for _, c := range w.e.s.cards {
		if !before[c.call] {
			t.id = c.call
		}
	}
	if t.id == 0 {
		w.calls = w.calls[:len(w.calls)-1] // a launch beyond its limits
		if !t.url {
			w.fail("no call of %s began", number)
		}
	}
}

// overBy ends a call in truth.
func (w *world) overBy(t *truth, r call.Reason) {
	t.over, t.ended, t.reason = true, time.Now(), r
}

func keyOf(number string) string {
	if number == "" {
		return "withheld"
	}
	return number
}

func (w *world) callOf(id CardID) *truth {
	for _, c := range w.e.s.cards {
		if c.ID == id {
			return w.truthOf(c.call)
		}
	}
	return nil
}
