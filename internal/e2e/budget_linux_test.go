package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// BenchmarkBudgets measures the figures in FIGURES.md, in one run and compared with
// alternatives that people could put together, by watching the screen from outside
// the programs. It prints a table and writes bin/bench.json; it fails if a budget
// is exceeded or a figure has become worse than the accepted one. Run it alone on an
// idle machine (make bench).
func BenchmarkBudgets(b *testing.B) {
	for range b.N {
		t := newTable(b)
		hundred := openStage(b, 1, "")
		hundred.calls(t, 200)
		hundred.rings(t, 100)
		notify := notifications(b, t, 100)
		t.below("wiebelt-ring → contact painted, median", "notify-send + dunst, median", t.value["wiebelt-ring → contact painted"][0], notify, 1)
		t.below("event → number painted (100 %), median", "notify-send + dunst, median", t.value["event → number painted (100 %)"][0], notify, 1)
		hundred.coldRings(t, 10)
		hundred.starts(t, 20)
		sipCalls(b, t, 50)
		quiet := openStage(b, 1, "")
		twice := openStage(b, 2, "")
		twice.calls(t, 200)
		idle := quiet.idle()
		twice.memory(t, func() {
			browser(b, t)
			wineRings(b, t, 20)
		})
		idle(t)
		t.print(b, "bench.json")
	}
}

// painted measures event → number, answer → contact, and the duration of a screen check,
// for n calls with a pause in between.
func (s *stage) painted(n int, pause time.Duration) (number, found, poll []time.Duration) {
	s.b.Helper()
	s.hold.Store(true)
	defer s.hold.Store(false)
	ctx := s.b.Context()
	for i := range n + 5 {
		phone := s.phones[i%len(s.phones)]
		p := s.person(pause)
		num := "+31" + p.Numbers[0][1:]
		first, second := s.eye(p, num, engine.OutcomeSearching), s.eye(p, num, engine.OutcomeFound)
		began := time.Now()
		first.sees()
		polled := time.Since(began)
		c := simulate.Call{ID: p.ID, Number: num}
		sent := time.Now()
		go func() { _ = phone.Ring(ctx, c) }()
		rang := first.wait(s.b, "the number").Sub(sent)
		s.release <- struct{}{}
		seen := second.wait(s.b, "the contact")
		if i >= 5 { // the first few warm up
			number, poll = append(number, rang), append(poll, polled)
			found = append(found, seen.Sub((<-s.looked).answered))
		} else {
			<-s.looked
		}
		s.over(phone, c)
	}
	return number, found, poll
}

// calls adds the figures of painted.
func (s *stage) calls(t *table, n int) {
	s.b.Helper()
	number, found, poll := s.painted(n, pause/time.Duration(len(s.phones)))
	percent := fmt.Sprintf(" (%d %%)", int(s.scale*100))
	if s.scale == 1 {
		t.times("one look at the screen"+percent, poll, limit{p50: 0.5})
		t.times("event → number painted"+percent, number, limit{p50: 3, spread: 3})
		t.times("hub's answer → contact painted"+percent, found, limit{p50: 3, spread: 3})
	} else {
		t.times("event → number painted"+percent, number, limit{p50: 6, spread: 3})
		t.times("hub's answer → contact painted"+percent, found, limit{p50: 7, spread: 3})
	}
	s.settled = memory(s.b, s.resident.Process.Pid)
}

// over ends a call and waits until its card is gone.
func (s *stage) over(phone *simulate.Phone, c simulate.Call) {
	s.b.Helper()
	must.Do(s.b, phone.End(s.b.Context(), c, "missed"))
	s.Until("the card is gone", s.empty)
}

// rings measures wiebelt-ring with the resident running, compared with a program that does
// nothing. Its exit is measured without watching the screen, which uses a whole core.
func (s *stage) rings(t *table, n int) {
	s.b.Helper()
	var exit, painted, bare []time.Duration
	for range n {
		p := s.person(pause)
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, engine.OutcomeFound)
		cmd := s.ring("--id", p.ID, "--", num)
		done := make(chan error, 1)
		began := time.Now()
		go func() { done <- cmd.Run() }()
		painted = append(painted, e.wait(s.b, "the contact of a ring").Sub(began))
		must.Do(s.b, <-done)
		ran(s.b, s.ring("--id", p.ID, "--state", "ended", "--", num))
		s.Until("the card is gone", s.empty)
		exit = append(exit, ran(s.b, s.ring("--id", p.ID+"-2", "--", num)))
		ran(s.b, s.ring("--id", p.ID+"-2", "--state", "ended", "--", num))
		s.Until("the card is gone", s.empty)
		bare = append(bare, ran(s.b, s.wiebelt("version")))
		t.yardstick(s.b, 1)
	}
	t.times("wiebelt-ring, start → exit", exit, limit{p50: 3, p99: 8})
	t.times("  the start of the whole program (wiebelt version)", bare, limit{p50: 6})
	t.times("wiebelt-ring → contact painted", painted, limit{})
}

func ran(b testing.TB, cmd *exec.Cmd) time.Duration {
	b.Helper()
	began := time.Now()
	must.Do(b, cmd.Run())
	return time.Since(began)
}

// quit quits the resident as its menu does, and waits until it has exited.
func (s *stage) quit() {
	s.b.Helper()
	_ = s.resident.Process.Signal(os.Interrupt)
	s.Until("the resident has ended", func() bool { return !exists(s.announced()) })
	_ = s.resident.Wait()
}

// coldRings measures a ring that has to start the resident.
func (s *stage) coldRings(t *table, n int) {
	s.b.Helper()
	s.quit()
	var all []time.Duration
	for range n {
		p := s.person(pause)
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, engine.OutcomeFound)
		began := time.Now()
		must.Do(s.b, s.ring("--", num).Run())
		all = append(all, e.wait(s.b, "the contact, from nothing").Sub(began))
		s.Until("it is announced", func() bool { return exists(s.announced()) })
		xtest.End(s.at().PID)
		s.Until("it has ended", func() bool { return !exists(s.announced()) && s.empty() })
	}
	t.times("wiebelt-ring with nothing running → contact painted", all, limit{p50: 60})
}

// starts measures how long the resident takes until it accepts calls.
func (s *stage) starts(t *table, n int) {
	s.b.Helper()
	var all []time.Duration
	for range n {
		cmd := s.wiebelt("run", "--background")
		cmd.Stderr = io.Discard
		began := time.Now()
		must.Do(s.b, cmd.Start())
		for {
			if _, err := os.Stat(s.announced()); err == nil {
				break
			}
			if time.Since(began) > 10*time.Second {
				s.b.Fatal("it does not start")
			}
			time.Sleep(200 * time.Microsecond) // a busy wait would take a core from it
		}
		all = append(all, time.Since(began))
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	t.times("start → ready for calls", all, limit{p50: 30})
}

// atRest is longer than the time without calls after which the resident forgets the last
// callers and frees their cards' memory.
const atRest = 90 * time.Second

// memory measures the growth from 200 calls to 10,000, one after
// another, and the memory used by a flood of the same size, right after
// it and at rest. meanwhile runs while the resident comes to rest.
func (s *stage) memory(t *table, meanwhile func()) {
	s.b.Helper()
	now := func(what string, limit float64) float64 {
		mb := float64(memory(s.b, s.resident.Process.Pid)) / 1024
		t.figure(what, mb, limit, "MB")
		return mb
	}
	t.figure("resident memory after 200 calls (200 %)", float64(s.settled)/1024, 42, "MB")
	var phones []*patient // no more than the listener admits
	for range 8 {
		phones = append(phones, s.patient())
	}
	s.oneByOne(phones, len(phones)) // what more phones take is no growth over calls
	few := now("  after a call from each of 8 phones more", 0)
	s.oneByOne(phones, 10_000)
	many := now("  after 10,000 calls more, one after the other", 64)
	t.figure("  growth over them", 100*(many/few-1), 5, "%")
	s.flood(phones)
	now("  after 10,000 calls more at 160 a second", 64)
	rest := time.After(atRest) // the rest is measured by the clock, whatever meanwhile does
	meanwhile()
	<-rest
	now("resident memory at rest after all that", 64) // a row of its own: others came between
	t.figure("  of which no other program shares", float64(rollup(s.resident.Process.Pid, "Private_"))/1024, 30, "MB")
	phone := s.phones[0]
	p := s.person(pause)
	c := simulate.Call{ID: p.ID, Number: "+31" + p.Numbers[0][1:]}
	e := s.eye(p, c.Number, engine.OutcomeFound)
	began := time.Now()
	go func() { _ = phone.Ring(s.b.Context(), c) }()
	t.times("  event → contact painted, the first after the rest", []time.Duration{e.wait(s.b, "the first after a rest").Sub(began)}, limit{})
	s.over(phone, c)
}

// idle starts measuring a resident without calls, a minute after its start; the
// returned function stops the measurement. Threads that wake within 50 ms count
// once: Go's runtime wakes 12 ms before the system fires a timer of 12 s.
func (s *stage) idle() func(t *table) {
	pid, stop, measured := s.resident.Process.Pid, make(chan struct{}), make(chan func(*table))
	for _, p := range s.phones {
		_ = p.Close() // the listener occasionally checks whether a phone is still there
	}
	go func() {
		time.Sleep(time.Minute)
		const within = 50 * time.Millisecond
		began, cpu, last, times := time.Now(), cpuTime(s.b, pid), wakes(s.b, pid), 0
		woke := began
		for tick := time.NewTicker(within); ; {
			select {
			case <-tick.C:
				now := wakes(s.b, pid)
				if now != last && time.Since(woke) > 2*within {
					woke, times = time.Now(), times+1
				}
				last = now
			case <-stop:
				took := time.Since(began)
				share := 100 * float64(cpuTime(s.b, pid)-cpu) / float64(took)
				measured <- func(t *table) {
					if took < 2*time.Minute {
						s.b.Errorf("idle for %v only", took)
					}
					t.figure("idle, share of a core", share, 0.02, "%")
					t.figure("  times that it woke in a minute", float64(times)/took.Minutes(), 6, "×")
				}
				return
			}
		}
	}()
	return func(t *table) { close(stop); (<-measured)(t) }
}

// oneByOne makes n calls, each of which starts after the card of the previous one has
// come and gone. The phones take turns, since the listener would throttle a single one.
func (s *stage) oneByOne(phones []*patient, n int) {
	s.b.Helper()
	for i := range n {
		phone := phones[i%len(phones)]
		c := simulate.Call{ID: fmt.Sprintf("o%d", i), Number: "+31" + s.people[i%s.next].Numbers[0][1:]}
		must.Do(s.b, phone.report(func(p *simulate.Phone) error { return p.Ring(s.b.Context(), c) }))
		s.Until("a card", func() bool { return !s.empty() })
		must.Do(s.b, phone.report(func(p *simulate.Phone) error { return p.End(s.b.Context(), c, "missed") }))
		s.Until("the card is gone", s.empty)
	}
}

// patient is a phone that reconnects later when it was too fast for the listener, as
// happens after the machine has stalled for a moment.
type patient struct {
	*simulate.Phone
	dial func() (*simulate.Phone, error)
}

func (s *stage) patient() *patient {
	s.b.Helper()
	a := s.at()
	p := &patient{dial: func() (*simulate.Phone, error) { return simulate.Dial(s.b.Context(), a.Port, a.Token) }}
	p.Phone = must.Get(p.dial())(s.b)
	s.b.Cleanup(func() { _ = p.Close() })
	return p
}

func (p *patient) report(say func(*simulate.Phone) error) error {
	for {
		err := say(p.Phone)
		if r, ok := errors.AsType[*simulate.RefusedError](err); !ok || r.Code != "slow_down" {
			return err
		}
		_ = p.Close()
		time.Sleep(time.Second) // the listener disconnects phones that are too fast
		if p.Phone, err = p.dial(); err != nil {
			return err
		}
	}
}

// flood makes 10,000 calls from eight phones at once.
func (s *stage) flood(phones []*patient) {
	s.b.Helper()
	ctx := s.b.Context()
	each := 10_000 / len(phones)
	done := make(chan error, len(phones))
	for n, phone := range phones {
		go func() {
			var err error
			tick := time.NewTicker(50 * time.Millisecond) // below the listener's rate limit
			defer tick.Stop()
			for i := 0; i < each && err == nil; i++ {
				<-tick.C
				c := simulate.Call{ID: fmt.Sprintf("m%d-%d", n, i), Number: fmt.Sprintf("+316970%d%04d", n, i)}
				err = cmp.Or(phone.report(func(p *simulate.Phone) error { return p.Ring(ctx, c) }),
					phone.report(func(p *simulate.Phone) error { return p.End(ctx, c, "missed") }))
			}
			done <- err
		}()
	}
	for range phones {
		must.Do(s.b, <-done)
	}
	s.Until("no card", s.empty)
}
