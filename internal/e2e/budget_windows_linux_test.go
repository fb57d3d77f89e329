package e2e

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// BenchmarkWindows measures the windows like BenchmarkBudgets measures the cards: the whole
// program, watched from outside. It writes bin/bench-windows.json.
func BenchmarkWindows(b *testing.B) {
	for range b.N {
		t := newTable(b)
		few, many := measureCalls(b, 200, 10), measureCalls(b, 100_000, 10)
		t.times("click → rows painted, windows' process not running (200 calls)", few.cold, limit{p50: 150})
		t.times("  with 100,000 calls", many.cold, limit{p50: 250})
		t.times("click → rows painted, it runs (200 calls)", few.warm, limit{p50: 40})
		t.times("  with 100,000 calls", many.warm, limit{p50: 40})
		t.times("key in the search field → other rows (100,000 calls)", many.filter, limit{p50: 50})
		t.figure("windows' process, calls window (200 calls)", float64(few.memory)/1024, 75, "MB")
		t.figure("  with 100,000 calls", float64(many.memory)/1024, 75, "MB")

		d := openLarge(b, 1)
		t.times("look at the search field", d.looks(100), limit{})
		t.times("key → letter painted in the search field (100 %)", d.typing(10), limit{p50: 10, p99: 30})
		pictures := d.wheel(300)
		t.rows = append(t.rows, row{What: "the wheel over the calls (900×640)", P50: pictures, Unit: "pictures a second", Budget: "≥ 50", Met: pictures >= 50})
		cpu, woken := d.rest(30 * time.Second)
		t.rows = append(t.rows, row{What: "30 s of an open window, the keyboard elsewhere", P50: float64(cpu), Unit: "ticks", Budget: "0", Met: cpu == 0})
		t.figure("  threads that woke", float64(woken), 0, "×")
		t.times("key → letter painted in the search field (200 %)", openLarge(b, 2).typing(10), limit{p50: 20, p99: 45})
		t.print(b, "bench-windows.json")
	}
}

// largeCalls is a calls window of 900×640 units, with 100,000 calls.
type largeCalls struct {
	*callsWindow
	id    string
	scale int
}

func openLarge(t testing.TB, scale int) *largeCalls {
	t.Helper()
	d := &largeCalls{callsWindow: startCalls(t, prepareOn(t, "openbox",
		xtest.Options{Width: 1000 * scale, Height: 760 * scale, DPI: 96 * scale}, callsSettings), 100_000), scale: scale}
	d.ask()
	d.id = d.find()
	d.Run("xdotool", "windowsize", "--sync", d.id, strconv.Itoa(900*scale), strconv.Itoa(640*scale))
	d.at = d.origin(d.id)
	d.When(d.changed, "rows, down to the end of the window", func() bool { return d.green(0) && d.green(7) })
	return d
}

// in returns a place in the window, given in units.
func (d *largeCalls) in(r image.Rectangle) image.Rectangle {
	return image.Rectangle{r.Min.Mul(d.scale), r.Max.Mul(d.scale)}.Add(d.at)
}

// row returns the part of the list with the names of one of nine rows.
func (d *largeCalls) row(n int) image.Rectangle {
	return d.in(image.Rect(104, 166, 200, 206).Add(image.Pt(0, 48*n)))
}

// green reports whether the mark of an answered call is at row n or the next: there may be
// a day's heading between them.
func (d *largeCalls) green(n int) bool {
	return d.shows(d.in(image.Rect(530, 160, 560, 260).Add(image.Pt(0, 48*n))), answeredGreen)
}

// written returns where the text in the search field ends, without the caret.
func (d *largeCalls) written() (end int) {
	img := d.Crop(d.in(image.Rect(30, 92, 180, 118)))
	for i := 0; i < len(img.Pix); i += 4 {
		if img.Pix[i+2] < 0x60 { // the blue of ink; no other colour in the field has so little
			end = max(end, i%img.Stride/4)
		}
	}
	return end
}

// looks measures how long checking the search field takes.
func (d *largeCalls) looks(n int) (all []time.Duration) {
	for range n {
		began := time.Now()
		d.written()
		all = append(all, time.Since(began))
	}
	return all
}

// letters maps letters to key codes, by position on the keyboard.
var letters = map[rune]byte{'a': 38, 'd': 40, 'e': 26, 'i': 31, 'l': 46, 'm': 58, 'r': 27, 's': 39, 'v': 55, 'z': 52}

// typing types words that filter 100,000 calls, and deletes them, as fast as a good typist;
// it returns for each key the time until the field shows it.
func (d *largeCalls) typing(rounds int) (all []time.Duration) {
	d.t.Helper()
	const pace = time.Second / 10
	d.activate(d.id)
	d.Key("ctrl+f")
	d.Until("the field has the keyboard", func() bool { d.Press(letters['z']); return d.written() > 0 })
	d.Until("it is empty", func() bool { d.Press(keyBackspace); return d.written() == 0 })
	for range rounds {
		var keys []byte
		for _, word := range []string{"vries", "zeldzaam"} {
			for _, r := range word {
				keys = append(keys, letters[r])
			}
			for range word {
				keys = append(keys, keyBackspace)
			}
		}
		for _, key := range keys {
			before, next := d.written(), time.Now().Add(pace)
			all = append(all, d.took("the field shows the key", func() { d.Press(key) }, func() bool { return d.written() != before }))
			time.Sleep(time.Until(next))
		}
	}
	return all
}

// wheel turns the wheel over the list, each step once the previous one is on screen with
// its new rows, and returns how many were painted per second.
func (d *largeCalls) wheel(steps int) float64 {
	d.t.Helper()
	middle := d.in(image.Rect(400, 400, 401, 401)).Min
	d.Move(middle.X, middle.Y)
	const down = 5
	var all time.Duration
	for range steps {
		first, last := d.Crop(d.row(0)).Pix, d.Crop(d.row(8)).Pix
		all += d.took("the list a step further", func() { d.Turn(down) }, func() bool {
			return !slices.Equal(first, d.Crop(d.row(0)).Pix) && !slices.Equal(last, d.Crop(d.row(8)).Pix) && d.green(0) && d.green(7)
		})
	}
	return float64(steps) / all.Seconds()
}

// rest gives the focus to another window, waits a moment, and measures how busy the idle
// windows' process is: clock ticks of the processor, and how often one of its threads woke.
func (d *largeCalls) rest(long time.Duration) (cpu, woken int) {
	d.t.Helper()
	d.Move(1, 1)
	d.Terminal(image.Rect(0, 700, 300, 760))
	time.Sleep(5 * time.Second) // for the effects of being used, such as the caret's last second
	cpu, woken = ticks(d.t, d.pid()), wakes(d.t, d.pid())
	time.Sleep(long) // this is what is measured
	return ticks(d.t, d.pid()) - cpu, wakes(d.t, d.pid()) - woken
}

// wakes returns how often the threads of a process have slept, or had to wait.
func wakes(t testing.TB, pid int) (n int) {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(all) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	for _, f := range all {
		b := must.Get(os.ReadFile(f))(t)
		for l := range strings.Lines(string(b)) {
			if k, v, _ := strings.Cut(l, ":"); strings.HasSuffix(k, "voluntary_ctxt_switches") {
				i, _ := strconv.Atoi(strings.TrimSpace(v))
				n += i
			}
		}
	}
	return n
}
