package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// row is a figure in the table.
type row struct {
	What   string  `json:"what"`
	N      int     `json:"n,omitempty"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99,omitempty"`
	Unit   string  `json:"unit"`
	Budget string  `json:"budget,omitempty"`
	Met    bool    `json:"met"`
}

// limit limits a row of durations: p50 and p99 in milliseconds, and spread is how many
// times p50 the p99 may be. 0 means no limit.
type limit struct{ p50, p99, spread float64 }

// table has the measurements of one run. In between, the start of an empty Go program is
// measured repeatedly, as a measure of the machine's speed.
type table struct {
	rows    []row
	value   map[string][2]float64
	nothing string
	empty   []time.Duration
}

func newTable(b testing.TB) *table {
	b.Helper()
	t := &table{value: map[string][2]float64{}, nothing: buildNothing(b)}
	t.yardstick(b, 50)
	return t
}

// yardstick starts the empty program n times.
func (t *table) yardstick(b testing.TB, n int) {
	b.Helper()
	for range n {
		t.empty = append(t.empty, ran(b, exec.Command(t.nothing)))
	}
}

func buildNothing(b testing.TB, env ...string) string {
	b.Helper()
	dir := b.TempDir()
	src := filepath.Join(dir, "main.go")
	must.Do(b, os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600))
	out := filepath.Join(dir, "nothing.exe")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", out, src)
	cmd.Env = append(os.Environ(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	return out
}

// times adds a row of durations, in milliseconds.
func (t *table) times(what string, d []time.Duration, most limit) {
	slices.Sort(d)
	ms := func(q float64) float64 {
		return float64(d[min(len(d)-1, int(q*float64(len(d))))].Microseconds()) / 1000
	}
	r := row{What: what, N: len(d), P50: ms(0.5), P99: ms(0.99), Unit: "ms", Met: true}
	var limits []string
	for _, l := range []struct {
		name     string
		is, most float64
	}{{"p50 ≤ %g", r.P50, most.p50}, {"p99 ≤ %g", r.P99, most.p99}, {"p99 ≤ %g × p50", r.P99 / r.P50, most.spread}} {
		if l.most > 0 {
			limits = append(limits, fmt.Sprintf(l.name, l.most))
			r.Met = r.Met && l.is <= l.most
		}
	}
	r.Budget = strings.Join(limits, ", ")
	t.value[what] = [2]float64{r.P50, r.P99}
	t.rows = append(t.rows, r)
}

// figure adds a value with a limit (0 for none).
func (t *table) figure(what string, v, most float64, unit string) {
	r := row{What: what, P50: v, Unit: unit, Met: most == 0 || v <= most}
	if most > 0 {
		r.Budget = fmt.Sprintf("≤ %g", most)
	}
	t.rows = append(t.rows, r)
}

// below compares two values of the run; v may be at most most times w.
func (t *table) below(what, than string, v, w, most float64) {
	t.rows = append(t.rows, row{What: what + " against " + than, P50: v / w, Unit: "×", Budget: fmt.Sprintf("< %g", most), Met: v/w < most})
}

// print prints the table, writes it to a file in bin, and compares it with
// the accepted figures.
func (t *table) print(b *testing.B, file string) {
	b.Helper()
	t.yardstick(b, 50)
	t.times("the machine: an empty Go program, start → exit", t.empty, limit{})
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
	writeJSON(b, filepath.Join("../../bin", file), map[string]any{"measured": time.Now().UTC().Format(time.RFC3339), "machine": cpu(),
		"cores": runtime.NumCPU(), "go": runtime.Version(), "rows": t.rows})
	t.guard(b)
}

// Accepted figures, and how much worse a new one may be.
const (
	acceptedFile = "accepted.json"
	mostWorse    = 1.15
)

// guard fails if a figure with a budget has become worse than the one accepted on such a
// machine: what is quick on one kind of processor is not on another, whatever it is divided by.
// Durations are compared as multiples of the start of the empty program, since the hours of
// one machine differ too. With WIEBELT_BENCH_ACCEPT=1, this run's figures are accepted instead.
func (t *table) guard(b *testing.B) {
	b.Helper()
	all := map[string]map[string]float64{}
	must.Do(b, json.Unmarshal(must.Get(os.ReadFile(acceptedFile))(b), &all))
	kind := fmt.Sprintf("%s, %d cores", cpu(), runtime.NumCPU())
	accept := os.Getenv("WIEBELT_BENCH_ACCEPT") != ""
	accepted := all[kind]
	if accepted == nil && !accept {
		b.Errorf("nothing was accepted on a machine like this (%s): run it with ACCEPT=1 on the commit to compare with", kind)
		return
	}
	machine := t.value["the machine: an empty Go program, start → exit"][0]
	above, now := "", map[string]float64{}
	for _, r := range t.rows {
		name, is := r.What, r.P50
		if strings.HasPrefix(name, " ") {
			name = above + name
		} else {
			above = name
		}
		switch r.Unit {
		case "ms":
			is /= machine
		case "MB":
		default:
			continue
		}
		if r.Budget == "" {
			continue
		}
		now[name] = math.Round(is*1000) / 1000
		was, known := accepted[name]
		switch {
		case accept:
		case !known:
			b.Errorf("%s: nothing was accepted: make bench ACCEPT=1", name)
		case is > was*mostWorse:
			b.Errorf("%s: %.3f, accepted %.3f: %.0f %% worse", name, is, was, 100*(is/was-1))
		}
	}
	if accept {
		if accepted == nil {
			all[kind] = now
		}
		maps.Copy(all[kind], now)
		writeJSON(b, acceptedFile, all)
	}
}

func writeJSON(b *testing.B, path string, v any) {
	b.Helper()
	doc := must.Get(json.MarshalIndent(v, "", "  "))(b)
	must.Do(b, os.WriteFile(path, append(doc, '\n'), 0o644))
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
