package resident

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/resident/cardcorners"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// fakeCards stands in for the cards and keeps their last configuration.
type fakeCards struct {
	config func() card.Config
	mu     sync.Mutex
	c      card.Config
	told   chan struct{}
}

func (s *fakeCards) Run(context.Context) {}
func (s *fakeCards) ConfigChanged() {
	s.mu.Lock()
	s.c = s.config()
	s.mu.Unlock()
	wake.Up(s.told)
}

func (s *fakeCards) hidden() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.Hidden
}

// running returns a desktop with an engine, a tray and cards.
func running(t *testing.T) (*desktop, *fakeCards) {
	t.Helper()
	d := newDesktop(t)
	d.facts.known.StartedAt = time.Now()
	d.facts.known.SetUp = true
	d.engine = engine.New(engine.Params{Rules: d.rules(d.set), Log: d.o.Log, FullFor: time.Minute, AfterCall: time.Second})
	d.testCard = &testCard{Engine: d.engine, changed: func() {}}
	d.tray = tray.New(tray.Params{Log: d.o.Log})
	d.hubWatch = hubwatch.NewHub(d.hubParams(), &d.facts.hubState)
	d.corners = cardcorners.Open(d.o.Dirs, d.o.Log)
	s := &fakeCards{config: d.cardConfig, told: make(chan struct{}, 1)}
	d.cards = s
	must.Run(t, d.engine.Run)
	return d, s
}

// lists checks whom the menu lists.
func (d *desktop) lists(want ...string) {
	d.t.Helper()
	var all []string
	for _, i := range d.menu(health.Report{Sentence: "Klaar."}, d.facts.lastCalls(d.engine.Snapshot()), time.Now()) {
		if strings.HasPrefix(i.ID, menuCall) {
			_, who, _ := strings.Cut(i.Title, " · ") // after time and any date
			all = append(all, who)
		}
	}
	if !slices.Equal(all, want) {
		d.t.Errorf("the menu lists %q, want %q", all, want)
	}
}

// TestCallsOfBeforeTheStart checks that after a start during
// the day the icon knows that day's calls.
func TestCallsOfBeforeTheStart(t *testing.T) {
	d, _ := running(t)
	now := d.facts.read().StartedAt
	for i, e := range []history.Entry{
		{Number: "+31698760001", Rang: now.Add(-2 * time.Hour)},
		{Number: "", Outcome: history.OutcomeWithheld, Rang: now.Add(-90 * time.Minute)},
		{Number: "+31698760003", Rang: now.Add(-80 * time.Minute), Outgoing: true},
		{Number: "+31698760004", Rang: now.Add(-time.Minute)},
		{Number: "+31698760005", Rang: now.Add(time.Second)}, // since then, the engine reports it
	} {
		e.Kind, e.Result = "3cx", history.ResultAnswered
		if _, err := d.store.Put(t.Context(), e); err != nil {
			t.Fatal(i, err)
		}
	}
	none := d.facts.assemble(d.engine.Snapshot())
	if none.LastCall != nil {
		t.Fatalf("knew of %+v", none.LastCall)
	}
	d.readHistory(t.Context())
	if got := d.facts.assemble(d.engine.Snapshot()).LastCall; got == nil || got.Kind != "3cx" || !got.At.Equal(now.Add(-time.Minute).Truncate(time.Microsecond)) {
		t.Errorf("the last call is %+v", got)
	}
	var all []string
	for _, c := range d.facts.read().calls {
		all = append(all, callLine(c, text.Dutch, c.At)[len("15:04 · "):])
	}
	if want := []string{"06 98 76 00 04", "anoniem", "06 98 76 00 01"}; !slices.Equal(all, want) {
		t.Errorf("the menu lists %q, want %q", all, want)
	}
}

// unanswered makes numbers call one after the other without anybody answering. The function
// it returns waits for a snapshot.
func (d *desktop) unanswered(t *testing.T, numbers ...string) (until func(what string, ok func(*engine.Snapshot) bool)) {
	t.Helper()
	watch := d.engine.Watch()
	until = func(what string, ok func(*engine.Snapshot) bool) {
		t.Helper()
		must.When(t, watch, what, func() (bool, any) {
			s := d.engine.Snapshot()
			return ok(s), s.Cards
		})
	}
	source := call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}
	for _, n := range numbers {
		must.Do(t, d.engine.Receive(call.Event{Source: source, ID: n, Number: n, State: call.Ringing}))
		until("a card of "+n, func(s *engine.Snapshot) bool { return len(s.Cards) == 1 })
		must.Do(t, d.engine.Receive(call.Event{Source: source, ID: n, State: call.Ended, Reason: call.Missed}))
		until("no card", func(s *engine.Snapshot) bool { return len(s.Cards) == 0 })
	}
	return until
}

// TestEachCallInTheMenuComesBack checks that every call in the menu, not
// just the newest, brings its card back.
func TestEachCallInTheMenuComesBack(t *testing.T) {
	d, _ := running(t)
	var numbers []string
	for i := range engine.MaxRecentCalls {
		numbers = append(numbers, fmt.Sprint("+3169876001", i))
	}
	until := d.unanswered(t, numbers...)
	slices.Reverse(numbers) // the menu has the newest first
	for _, item := range d.menu(health.Report{}, d.facts.lastCalls(d.engine.Snapshot()), time.Now()) {
		if strings.HasPrefix(item.ID, menuCall) && len(numbers) > 0 {
			d.performMenuEntry(item.ID)
			until(item.Title+" brought no card", func(s *engine.Snapshot) bool {
				return slices.ContainsFunc(s.Cards, func(c engine.Card) bool { return c.Number.Key() == numbers[0] })
			})
			numbers = numbers[1:]
		}
	}
	if len(numbers) > 0 {
		t.Errorf("the menu does not list %v", numbers)
	}
}

// TestForgottenCallsLeaveTheMenu checks that a forgotten call is no
// longer listed and no card brings it back.
func TestForgottenCallsLeaveTheMenu(t *testing.T) {
	days := 0
	for name, tt := range map[string]struct {
		m    windowapi.Forget
		left []string
		back bool // the last call's card comes back
	}{
		"all":           {windowapi.Forget{All: true}, nil, false},
		"old":           {windowapi.Forget{Days: &days}, nil, false},
		"the last":      {windowapi.Forget{Number: "06-98 76 00 12"}, []string{"06 98 76 00 11"}, false},
		"one before it": {windowapi.Forget{Number: "+31698760011"}, []string{"06 98 76 00 12"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := running(t)
			until := d.unanswered(t, "+31698760011", "+31698760012")
			d.lists("06 98 76 00 12", "06 98 76 00 11")
			newest := d.engine.Snapshot().LastCall.Card
			raw := must.Get(json.Marshal(tt.m))(t)
			if done := d.forget(t.Context(), raw); done.Error != "" {
				t.Fatal(done.Error)
			}
			until("forgotten", func(s *engine.Snapshot) bool {
				return (s.LastCall.Number.Key() == "+31698760012") == tt.back && len(s.RecentCalls) == len(tt.left)
			})
			d.lists(tt.left...)
			if d.facts.assemble(d.engine.Snapshot()).LastCall == nil {
				t.Error("it says that no call has come")
			}
			rev := d.engine.Snapshot().Rev
			d.engine.Do(engine.Action{Kind: engine.ActionShow, Card: newest})
			until("done", func(s *engine.Snapshot) bool { return s.Rev > rev })
			if got := len(d.engine.Snapshot().Cards) == 1; got != tt.back {
				t.Errorf("a card came back: %v", got)
			}
		})
	}
}

// TestMenuFollowsTheCall checks that a call removed by hand also leaves the menu, and that
// a transferred one shows whoever was on it last, whether or not another call came since.
func TestMenuFollowsTheCall(t *testing.T) {
	d, _ := running(t)
	until := d.unanswered(t, "+31698760001")
	source := call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}
	for _, e := range []call.Event{{ID: "a", Number: "101"}, {ID: "b", Number: "+31698760003"}, {ID: "a", Number: "+31698760002"}} {
		e.Source, e.State = source, call.Ringing
		must.Do(t, d.engine.Receive(e))
	}
	until("passed on", func(s *engine.Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c engine.Card) bool { return c.Number.Key() == "+31698760002" })
	})
	d.lists("06 98 76 00 03", "06 98 76 00 02", "06 98 76 00 01")
	e := missedCall()
	e.Rang, e.Number = d.engine.Snapshot().RecentCalls[1].At, "+31698760002"
	id := must.Get(d.store.Put(t.Context(), e))(t)
	was := must.Get(d.store.Remove(t.Context(), id))(t)
	d.ask(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedHistory, Removed: []time.Time{was.Rang}}, nil)
	until("removed", func(s *engine.Snapshot) bool { return len(s.RecentCalls) == 2 })
	d.lists("06 98 76 00 03", "06 98 76 00 01")
}

// TestDoctorTooQuiet checks that the doctor is told that calls
// are missing if they are, and not for another doubt.
func TestDoctorTooQuiet(t *testing.T) {
	d, _ := running(t)
	now := time.Now()
	d.facts.change(func(k *knownState) { k.Delivery.Uncertain = 1 })
	if d.doctorFacts(now).TooQuiet {
		t.Error("calls are missing while a message is maybe delivered")
	}
	d.facts.change(func(k *knownState) { k.UsualCalls, k.StartedAt = 20, now.AddDate(0, 0, -7) })
	if !d.doctorFacts(now).TooQuiet {
		t.Error("no call came for a week, and none is missing")
	}
}
