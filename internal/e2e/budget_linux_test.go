package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/simulate"
)

// BenchmarkBudgets measures what FIGURES.md shows, in one run and
// beside what people could put together instead, by watching the screen from
// outside the programs. It prints a table and writes bin/bench.json; a budget
// that is not met fails it. Run it alone on a quiet machine (make bench).
func BenchmarkBudgets(b *testing.B) {
	for range b.N {
		t := newTable()
		hundred := openStage(b, 1)
		hundred.calls(t, 200)
		hundred.rings(t, 100)
		notify := notifications(b, t, 100)
		t.below("wiebelt-ring → contact painted, median", "notify-send + dunst, median", t.value["wiebelt-ring → contact painted"][0], notify)
		t.below("event → number painted (100 %), median", "notify-send + dunst, median", t.value["event → number painted (100 %)"][0], notify)
		hundred.coldRings(t, 10)
		hundred.starts(t, 10)
		sipCalls(b, t, 50)
		twice := openStage(b, 2)
		twice.calls(t, 200)
		twice.memory(t)
		browser(b, t)
		t.print(b, "bench.json")
	}
}

// row is a figure of the table.
type row struct {
	What   string  `json:"what"`
	N      int     `json:"n,omitempty"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99,omitempty"`
	Unit   string  `json:"unit"`
	Budget string  `json:"budget,omitempty"`
	Met    bool    `json:"met"`
}

type table struct {
	rows  []row
	value map[string][2]float64
}

func newTable() *table { return &table{value: map[string][2]float64{}} }

// times adds a row of durations, in milliseconds. A limit of 0 is none.
func (t *table) times(what string, d []time.Duration, p50, p99 float64) {
	slices.Sort(d)
	ms := func(q float64) float64 {
		return float64(d[min(len(d)-1, int(q*float64(len(d))))].Microseconds()) / 1000
	}
	r := row{What: what, N: len(d), P50: ms(0.5), P99: ms(0.99), Unit: "ms", Met: true}
	var limits []string
	if p50 > 0 {
		limits = append(limits, fmt.Sprintf("p50 ≤ %g", p50))
		r.Met = r.Met && r.P50 <= p50
	}
	if p99 > 0 {
		limits = append(limits, fmt.Sprintf("p99 ≤ %g", p99))
		r.Met = r.Met && r.P99 <= p99
	}
	r.Budget = strings.Join(limits, ", ")
	t.value[what] = [2]float64{r.P50, r.P99}
	t.rows = append(t.rows, r)
}

// figure adds one value with a limit (0 for none).
func (t *table) figure(what string, v, limit float64, unit string) {
	r := row{What: what, P50: v, Unit: unit, Met: limit == 0 || v <= limit}
	if limit > 0 {
		r.Budget = fmt.Sprintf("≤ %g", limit)
	}
	t.rows = append(t.rows, r)
}

// below adds the comparison of two values of the run.
func (t *table) below(what, than string, v, w float64) {
	t.rows = append(t.rows, row{What: what + " against " + than, P50: v / w, Unit: "×", Budget: "< 1", Met: v < w})
}

// print prints the table, and writes it to a file in bin.
func (t *table) print(b *testing.B, file string) {
	b.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "\nMeasured %s on %s (%d cores, %s)\n\n", time.Now().Format(time.DateOnly), cpu(), runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(&out, "| what | n | p50 | p99 | budget | |\n|---|---|---|---|---|---|\n")
	for _, r := range t.rows {
		mark, n, p99 := "met", "", ""
		if r.Budget == "" {
			mark = ""
		}
		if !r.Met {
			mark = "NOT met"
			b.Errorf("%s: p50 %.4g, p99 %.4g %s, budget %s", r.What, r.P50, r.P99, r.Unit, r.Budget)
		}
		if r.N > 0 {
			n, p99 = strconv.Itoa(r.N), fmt.Sprintf("%.4g", r.P99)
		}
		fmt.Fprintf(&out, "| %s | %s | %.4g %s | %s | %s | %s |\n", r.What, n, r.P50, r.Unit, p99, r.Budget, mark)
	}
	fmt.Print(out.String())
	doc, err := json.MarshalIndent(map[string]any{"measured": time.Now().UTC().Format(time.RFC3339), "machine": cpu(),
		"cores": runtime.NumCPU(), "go": runtime.Version(), "rows": t.rows}, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join("../../bin", file), append(doc, '\n'), 0o644)
	}
	if err != nil {
		b.Error(err)
	}
}

func cpu() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}

// calls measures event → number and answer → contact.
func (s *stage) calls(t *table, n int) {
	s.b.Helper()
	s.hold.Store(true)
	defer s.hold.Store(false)
	ctx := s.b.Context()
	var number, found, poll []time.Duration
	for i := range n + 5 {
		p := s.person()
		num := "+31" + p.Numbers[0][1:]
		first, second := s.eye(p, num, engine.Searching), s.eye(p, num, engine.Found)
		began := time.Now()
		first.sees()
		polled := time.Since(began)
		c := simulate.Call{ID: p.ID, Number: num}
		sent := time.Now()
		go func() { _ = s.phone.Ring(ctx, c) }()
		rang := first.wait(s.b, "the number").Sub(sent)
		s.release <- struct{}{}
		seen := second.wait(s.b, "the contact")
		if i >= 5 { // the first few warm up
			number, poll = append(number, rang), append(poll, polled)
			found = append(found, seen.Sub(<-s.answered))
		} else {
			<-s.answered
		}
		s.over(c)
	}
	percent := fmt.Sprintf(" (%d %%)", int(s.scale*100))
	if s.scale == 1 {
		t.times("one look at the screen"+percent, poll, 0.5, 0)
		t.times("event → number painted"+percent, number, 8, 20)
		t.times("hub's answer → contact painted"+percent, found, 10, 35)
	} else {
		t.times("event → number painted"+percent, number, 20, 35)
		t.times("hub's answer → contact painted"+percent, found, 0, 0)
	}
	s.settled = memory(s.b, s.resident.Process.Pid)
}

// over ends a call and waits until its card is gone.
func (s *stage) over(c simulate.Call) {
	s.b.Helper()
	if err := s.phone.End(s.b.Context(), c, "missed"); err != nil {
		s.b.Fatal(err)
	}
	s.Until("the card is gone", s.empty)
}

// rings measures wiebelt-ring with the resident running, beside the start of a
// program that does nothing.
func (s *stage) rings(t *table, n int) {
	s.b.Helper()
	var exit, painted, bare, empty []time.Duration
	nothing := buildNothing(s.b)
	for range n {
		p := s.person()
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, engine.Found)
		cmd := s.ring("--id", p.ID, "--", num)
		done := make(chan time.Time, 1)
		began := time.Now()
		go func() { _ = cmd.Run(); done <- time.Now() }()
		seen := e.wait(s.b, "the contact of a ring")
		painted, exit = append(painted, seen.Sub(began)), append(exit, (<-done).Sub(began))
		if err := s.ring("--id", p.ID, "--state", "ended", "--", num).Run(); err != nil {
			s.b.Fatal(err)
		}
		s.Until("the card is gone", s.empty)
		bare = append(bare, ran(s.b, s.wiebelt("version")))
		empty = append(empty, ran(s.b, exec.Command(nothing)))
	}
	t.times("wiebelt-ring, start → exit", exit, 3, 8)
	t.times("  an empty Go program", empty, 0, 0)
	t.times("  the start of the whole program (wiebelt version)", bare, 0, 0)
	t.times("wiebelt-ring → contact painted", painted, 0, 0)
}

func ran(b testing.TB, cmd *exec.Cmd) time.Duration {
	b.Helper()
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func buildNothing(b testing.TB) string {
	b.Helper()
	dir := b.TempDir()
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(dir, "nothing")
	if said, err := exec.Command("go", "build", "-o", out, src).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	return out
}

// quit ends the resident as its menu does, and waits.
func (s *stage) quit() {
	s.b.Helper()
	_ = s.resident.Process.Signal(os.Interrupt)
	s.Until("the resident has ended", func() bool { _, err := os.Stat(s.announced()); return err != nil })
	_ = s.resident.Wait()
}

// coldRings measures a ring that has to start the resident.
func (s *stage) coldRings(t *table, n int) {
	s.b.Helper()
	s.quit()
	var all []time.Duration
	for range n {
		p := s.person()
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, engine.Found)
		began := time.Now()
		if err := s.ring("--", num).Run(); err != nil {
			s.b.Fatal(err)
		}
		all = append(all, e.wait(s.b, "the contact, from nothing").Sub(began))
		s.Until("it is announced", func() bool { _, err := os.Stat(s.announced()); return err == nil })
		end(s.at().PID)
		s.Until("it has ended", func() bool { _, err := os.Stat(s.announced()); return err != nil && s.empty() })
	}
	t.times("wiebelt-ring with nothing running → contact painted", all, 500, 0)
}

// starts measures how long the resident takes until it takes calls.
func (s *stage) starts(t *table, n int) {
	s.b.Helper()
	var all []time.Duration
	for range n {
		cmd := s.wiebelt("run", "--background")
		cmd.Stderr = io.Discard
		began := time.Now()
		if err := cmd.Start(); err != nil {
			s.b.Fatal(err)
		}
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
	t.times("start → ready for calls", all, 150, 0)
}

// atRest is longer than nobody must have called before the resident forgets the
// last callers and gives back what their cards took.
const atRest = 90 * time.Second

// memory measures growth from 200 calls to 10,000, one after the other like those
// before, and what a flood of as many takes, right after and at
// rest.
func (s *stage) memory(t *table) {
	s.b.Helper()
	now := func(what string, limit float64) float64 {
		mb := float64(memory(s.b, s.resident.Process.Pid)) / 1024
		t.figure(what, mb, limit, "MB")
		return mb
	}
	few := float64(s.settled) / 1024
	t.figure("resident memory after 200 calls (200 %)", few, 64, "MB")
	s.oneByOne(10_000)
	many := now("  after 10,000 calls more, one after the other", 64)
	t.figure("  growth over them", 100*(many/few-1), 5, "%")
	s.flood()
	now("  after 10,000 calls more at 160 a second", 64)
	time.Sleep(atRest) // it rests by the clock
	now("  at rest after all that", 64)
	before := ticks(s.b, s.resident.Process.Pid)
	time.Sleep(60 * time.Second) // this is what is measured
	t.figure("idle, share of a core over 60 s", 100*float64(ticks(s.b, s.resident.Process.Pid)-before)/6000, 0.05, "%")
}

// oneByOne has n calls come, each until its card has been on screen and is gone.
// Eight phones take turns, or the listener would slow one down.
func (s *stage) oneByOne(n int) {
	s.b.Helper()
	a := s.at()
	var phones []*simulate.Phone
	for range 8 {
		p, err := simulate.Dial(s.b.Context(), a.Port, a.Token)
		if err != nil {
			s.b.Fatal(err)
		}
		defer p.Close()
		phones = append(phones, p)
	}
	for i := range n {
		phone := phones[i%len(phones)]
		c := simulate.Call{ID: fmt.Sprintf("o%d", i), Number: "+31" + s.people[i%s.next].Numbers[0][1:]}
		if err := phone.Ring(s.b.Context(), c); err != nil {
			s.b.Fatal(err)
		}
		s.Until("a card", func() bool { return !s.empty() })
		if err := phone.End(s.b.Context(), c, "missed"); err != nil {
			s.b.Fatal(err)
		}
		s.Until("the card is gone", s.empty)
	}
}

// flood has 10,000 calls come from eight phones at once.
func (s *stage) flood() {
	s.b.Helper()
	ctx := s.b.Context()
	a := s.at()
	const phones, each = 8, 1250
	done := make(chan error, phones)
	for n := range phones {
		go func() {
			p, err := simulate.Dial(ctx, a.Port, a.Token)
			if err != nil {
				done <- err
				return
			}
			defer p.Close()
			tick := time.NewTicker(50 * time.Millisecond) // below the listener's limit of events
			defer tick.Stop()
			for i := range each {
				<-tick.C
				c := simulate.Call{ID: fmt.Sprintf("m%d-%d", n, i), Number: fmt.Sprintf("+316970%d%04d", n, i)}
				if err = p.Ring(ctx, c); err == nil {
					err = p.End(ctx, c, "missed")
				}
				if err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for range phones {
		if err := <-done; err != nil {
			s.b.Fatal(err)
		}
	}
	s.Until("no card", s.empty)
}
