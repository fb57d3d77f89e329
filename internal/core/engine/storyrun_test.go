package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
)

// storyRun is the world in which a story runs.
type storyRun struct {
	*harness
	answers *gate // of the hub
	browser *gate
	choices choices
	first   CardID
}

// gate holds back what comes through it, or has it fail, as the story says.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while nothing is held back
	err  error
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

// set sets the gate: it holds, goes on, fails, for a reason, or works again.
func (g *gate) set(how ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch how[0] {
	case "holds":
		g.open = make(chan struct{})
	case "goes":
		close(g.open)
	case "fails":
		g.err = &contact.LookupError{Failure: contact.Failure(how[len(how)-1])}
	default:
		g.err = nil
	}
}

// pass waits until the gate lets something through.
func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open, err := g.open, g.err
	g.mu.Unlock()
	select {
	case <-open:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newStoryRun(t *testing.T) *storyRun {
	s := &storyRun{answers: newGate(), browser: newGate(), choices: choices{}}
	s.harness = start(t, func(p *Params) {
		p.Choices, p.Outgoing = s.choices, OutgoingStrip
		open := p.Browse
		p.Browse = func(ctx context.Context, a string) error { return cmp.Or(open(ctx, a), s.browser.pass(ctx)) }
	})
	var crowd []string
	for i := range ManyContacts + 1 {
		crowd = append(crowd, fmt.Sprintf("P%02d", i))
	}
	for number, names := range map[string][]string{known: {"Vries"}, family: {"Zwart", "Bakker", "Aalst"}, "+31687654321": {"Jansen"},
		"+31203333333": {"Een", "Twee"}, "+31881234567": crowd, "+493090182008": {"Muster"}} {
		answer := people(names...)
		s.hub.reply[number] = func(ctx context.Context) ([]contact.Contact, error) {
			if err := s.answers.pass(ctx); err != nil {
				return nil, err
			}
			return answer(ctx)
		}
	}
	return s
}

var sourceNames = map[string]call.Source{"": wireAll, "bare": wireBare, "cmd": wireRing, "url": wireURL,
	"http": {Kind: call.KindHTTP, ReportLevel: call.AllStates}}

func (s *storyRun) tell(words []string) error {
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "ring", "call", "caller", "answer", "end":
		return s.report(words)
	case "hub":
		s.answers.set(words[1:]...)
	case "browser":
		s.browser.set(words[1:]...)
	case "asked":
		return differ(fmt.Sprint(s.hub.asked.Load()), rest)
	case "crowd": // so many callers, one after another
		n, err := strconv.Atoi(rest)
		for i := range n {
			s.event(wireAll, "crowd", crowdNumber(i), call.Ringing)
			s.event(wireAll, "crowd", "", call.Ended)
		}
		return err
	case "on":
		return differ(fmt.Sprint(s.e.Snapshot().Ongoing), rest)
	case "outgoing":
		s.e.Reconfigure(func(p *Params) { p.Outgoing = OutgoingDisplay(rest) })
	case "forget":
		s.e.Forget(func(LastCall) bool { return false }, s.e.Snapshot().LastCall.Number)
	case "auto-open":
		s.e.Reconfigure(func(p *Params) { p.AutoOpen = AutoOpenAnswered })
	case "links":
		s.e.Reconfigure(func(p *Params) {
			p.SchemeLookup = map[string]SchemeLookup{"are paired": SchemeAlways, "are off": SchemeOff}[rest]
		})
	case "wait", "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		if words[0] == "wait" {
			time.Sleep(d)
		} else {
			s.sleep(d)
			s.e.Resumed(d)
		}
	case "lost":
		s.e.SourceGone(sourceNames[strings.TrimPrefix(rest, "@")])
	case "show":
		n, err := strconv.Atoi(rest)
		if err != nil || n > len(s.e.s.recent) {
			return fmt.Errorf("cannot be shown")
		}
		s.e.Do(Action{Kind: ActionShow, Card: s.e.s.recent[n-1].ID})
	case "first":
		got := "nobody"
		for _, c := range s.e.s.cards {
			if c.ID == s.e.Snapshot().HotkeyCard() {
				got = c.Number.ClipboardText()
			}
		}
		return differ(got, rest)
	case "last":
		got := "nobody"
		if last := s.e.Snapshot().LastCall; last != nil {
			got = last.Number.ClipboardText()
		}
		return differ(got, rest)
	case "show-last":
		if last := s.e.Snapshot().LastCall; last != nil {
			s.e.Do(Action{Kind: ActionShow, Card: last.Card})
		}
	case "shows":
		return differ(s.cards(), rest)
	case "opened":
		var got []string
		for len(s.opened) > 0 {
			got = append(got, strings.TrimPrefix(<-s.opened, "ok:"))
		}
		return differ(orNothing(strings.Join(got, " ")), rest)
	case "history":
		return differ(s.last(), rest)
	case "remembered":
		got := s.choices[s.e.Snapshot().Cards[0].Number.Key()]
		got = cmp.Or(got, "-")
		return differ(got, rest)
	case "chosen":
		s.choices[words[1]] = words[2]
	case "same", "another":
		if first := s.e.Snapshot().Cards[0].ID == s.first; first != (words[0] == "same") {
			return fmt.Errorf("the first card: %t", first)
		}
	case "nobody":
		if c := s.e.s.recent[0]; len(c.Contacts)+len(c.found) > 0 {
			return fmt.Errorf("%d contacts are", len(c.found))
		}
	default:
		return s.user(words)
	}
	return nil
}

func differ(got, want string) error {
	if got != want {
		return fmt.Errorf("have %q", got)
	}
	return nil
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (s *storyRun) user(words []string) error {
	do, ok := map[string]ActionKind{"hover": ActionHover, "leave": ActionLeave, "open": ActionOpen, "not-this": ActionRemoveContact, "close": ActionClose, "undo": ActionUndo, "unfold": ActionUnfold,
		"look-up": ActionRetry, "keyboard": ActionKeyboard, "keyboard-gone": ActionKeyboardGone}[words[0]]
	n, err := strconv.Atoi(words[1])
	if cards := s.e.Snapshot().Cards; !ok || err != nil || n > len(cards) {
		return fmt.Errorf("cannot be done: %d cards", len(cards))
	}
	c := s.e.Snapshot().Cards[n-1]
	a := Action{Card: c.ID, Kind: do, Edition: c.Edition}
	if len(words) > 2 {
		a.Index, err = strconv.Atoi(words[2])
	}
	s.e.Do(a)
	return err
}

func (s *storyRun) report(words []string) error {
	id, source, _ := strings.Cut(words[1], "@")
	ev := call.Event{Source: sourceNames[source], ID: id, At: time.Now()}
	if source == "cmd" || source == "url" || source == "http" {
		ev.ID = ""
	}
	switch words[0] {
	case "call":
		ev.Direction = call.Outgoing
	case "answer":
		ev.State = call.Answered
	case "end":
		ev.State = call.Ended
	}
	for _, w := range words[2:] {
		key, value, named := strings.Cut(w, "=")
		switch {
		case key == "name":
			ev.Name = value
		case key == "via":
			ev.Via = value
		case key == "queue":
			ev.Queue = value
		case key == "by":
			ev.AnsweredBy = value
		case named:
			return fmt.Errorf("what is %q?", key)
		case ev.State == call.Ended:
			ev.Reason = call.ParseReason(w)
		case w != "-":
			ev.Number = w
		}
	}
	if ev.ID == "" && ev.Number == "" { // such phones repeat the number
		for _, c := range s.e.Snapshot().Cards {
			if c.Phase != PhaseOver {
				ev.Number = c.Number.ClipboardText()
				break
			}
		}
	}
	err := s.e.Receive(ev)
	synctest.Wait()
	if cards := s.e.Snapshot().Cards; s.first == 0 && len(cards) > 0 {
		s.first = cards[0].ID
	}
	return err
}

// cards returns what is shown as text.
func (s *storyRun) cards() string {
	snap := s.e.Snapshot()
	var all []string
	for _, c := range snap.Cards {
		w := []string{orWithheld(c), who(c), map[Phase]string{PhaseRinging: "ringing", PhaseAnswered: "answered", PhaseOver: "over", PhaseReported: "reported"}[c.Phase]}
		for word, on := range map[string]bool{"strip": c.Strip && !c.SingleLine, "line": c.SingleLine} {
			if on {
				w = append(w, word)
			}
		}
		if c.RingsToday > 1 {
			w = append(w, fmt.Sprint("x", c.RingsToday))
		}
		if c.Via != "" {
			w = append(w, "via="+c.Via)
		}
		if c.LineName != "" {
			w = append(w, "on="+c.LineName)
		}
		if c.EarlierChoice >= 0 {
			w = append(w, "earlier")
		}
		if c.GeneralNumber {
			w = append(w, "many")
		}
		if c.OpenedIndex >= 0 {
			w = append(w, "opened="+c.Contacts[c.OpenedIndex].FamilyName)
		}
		for word, on := range map[string]bool{"no-browser": c.OpenError, "retrying": c.Retrying, "mentioned": c.ShowSearching && c.Outcome == OutcomeSearching} {
			if on {
				w = append(w, word)
			}
		}
		if c.RemovedCount > 0 {
			w = append(w, "not-this")
		}
		if c.CanUndo {
			w = append(w, "undo")
		}
		w = slices.DeleteFunc(w, func(s string) bool { return s == "" })
		all = append(all, strings.Join(w, " "))
	}
	return orNothing(strings.Join(all, " / "))
}

func orWithheld(c Card) string {
	if c.Outcome == OutcomeWithheld {
		return "withheld"
	}
	return c.Number.ClipboardText()
}

func who(c Card) string {
	if c.GeneralNumber {
		return fmt.Sprint(len(c.Contacts))
	}
	var names []string
	for _, k := range c.Contacts {
		names = append(names, k.FamilyName)
	}
	if names != nil {
		return strings.Join(names, "+")
	}
	return map[Outcome]string{OutcomeSearching: "searching", OutcomeNobody: "nobody", OutcomeFailed: "failed=" + string(c.Failure), OutcomeInternal: "internal", OutcomeOffered: "offered", OutcomeShort: "short"}[c.Outcome]
}

// last returns the newest entry of the history as text.
func (s *storyRun) last() string {
	if len(s.entries) == 0 {
		return "nothing"
	}
	en := s.entries[len(s.entries)-1]
	name, end := en.Card.PhoneName, "live"
	if en.ContactIndex >= 0 {
		name = en.Card.Contacts[en.ContactIndex].FamilyName
	}
	name = cmp.Or(name, "-")
	if !en.Ended.IsZero() {
		if end = en.Reason.String(); end == "" {
			end = "ended"
		}
	}
	if en.AnsweredBy != "" {
		end += " by=" + en.AnsweredBy
	}
	if en.BrowserStarted {
		end += " opened"
	}
	return name + " " + end
}
