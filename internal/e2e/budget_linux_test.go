package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/native/xtest"
	"wiebelt/internal/phone"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/phonetest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// BenchmarkBudgets measures what product.md promises ("Budgets"), in one run and
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
		t.below("event → number painted (100 %), median", "notify-send + dunst, median", t.value["event → number painted (100 %)"][0], notify)
		hundred.coldRings(t, 10)
		hundred.starts(t, 10)
		sipCalls(b, t, 50)
		twice := openStage(b, 2)
		twice.calls(t, 200)
		twice.memory(t)
		others(b, t, twice.settled)
		t.print(b)
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

func (t *table) print(b *testing.B) {
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
		err = os.WriteFile("../../bin/bench.json", append(doc, '\n'), 0o644)
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

// stage is an office whose hub answers when it is told to, and a phone.
type stage struct {
	*office
	b       testing.TB
	scale   float32
	phone   *simulate.Phone
	people  []localhub.Record
	next    int
	last    time.Time // when the last one called
	hold    atomic.Bool
	release chan struct{}
	// answered is when the hub's answer had gone out.
	answered chan time.Time
	settled  int // kB resident after the calls
}

// quick lets cards go as soon as their call is over, so that the next can come.
const quick = "[card]\nafter_call = \"0s\"\n"

// openStage starts an office at a scale.
func openStage(b testing.TB, scale float32) *stage {
	b.Helper()
	h, value := startHub(b)
	s := &stage{b: b, scale: scale, release: make(chan struct{}), answered: make(chan time.Time, 1)}
	for i := range 600 {
		s.people = append(s.people, localhub.Record{Numbers: []string{fmt.Sprintf("0698%06d", i)}, Contact: contact.Contact{
			ID: fmt.Sprintf("b-%d", i), RelationNumber: strconv.Itoa(300000 + i), Initials: "B.", FamilyName: fmt.Sprintf("Meting%03d", i),
			Address: contact.Address{Street: "Dorpsstraat", Number: strconv.Itoa(i), PostalCode: "1234AB", City: "Ons Dorp"}}})
	}
	if _, err := h.AddInvented(b.Context(), s.people...); err != nil {
		b.Fatal(err)
	}
	base, err := url.Parse(h.BaseURL())
	if err != nil {
		b.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(base) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }} // a lookup whose call was over
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/identity/token" || !s.hold.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		select {
		case <-s.release:
		case <-r.Context().Done():
			return
		}
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
		_ = http.NewResponseController(w).Flush()
		s.answered <- time.Now()
	}))
	b.Cleanup(front.Close)
	dpi := 0
	if scale != 1 {
		dpi = int(96 * scale)
	}
	s.office = prepareAt(b, h, front.URL, value, dpi, quick)
	s.start()
	s.dial()
	s.Move(1, 1) // a card does not go while the pointer is on it
	return s
}

func (s *stage) dial() {
	a := s.at()
	p, err := simulate.Dial(s.b.Context(), a.Port, a.Token)
	if err != nil {
		s.b.Fatal(err)
	}
	s.b.Cleanup(func() { _ = p.Close() })
	s.phone = p
}

// pause is the least between two calls: a way in may cause three lookups a
// second, and a queue is not what is measured here.
const pause = 400 * time.Millisecond

// person is the next caller; none calls twice, and none before the way in may
// cause another lookup.
func (s *stage) person() localhub.Record {
	time.Sleep(time.Until(s.last.Add(pause)))
	s.last = time.Now()
	p := s.people[s.next]
	s.next++
	return p
}

// picture is what a card must look like.
func (s *stage) picture(p localhub.Record, number string, o companion.Outcome) *image.RGBA {
	fonts.Lock()
	defer fonts.Unlock()
	rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4})
	if err != nil {
		s.b.Fatal(err)
	}
	c := companion.Card{Outcome: o, Number: rules.Parse(number, ""), Opened: -1, Earlier: -1, Times: 1, Tells: call.TellsAll, Rang: time.Now()}
	if o == companion.Found {
		c.Contacts, c.LinkOK = []contact.Contact{p.Contact}, []bool{true}
	}
	return card.Picture(c, card.Look{Language: text.Dutch}, s.scale)
}

// eye is the box of the screen that is watched, and what must stand there.
type eye struct {
	s    *xtest.Server
	box  image.Rectangle
	want *image.RGBA
}

// eye looks at the big line of the first card.
func (s *stage) eye(p localhub.Record, number string, o companion.Outcome) eye {
	pic := s.picture(p, number, o)
	at := image.Pt(width-int(16*s.scale)-pic.Rect.Dx(), height-int(16*s.scale)-pic.Rect.Dy())
	from := image.Pt(int(20*s.scale), int(36*s.scale))
	part := image.Rectangle{from, from.Add(image.Pt(200, 60))}
	want := image.NewRGBA(image.Rect(0, 0, 200, 60))
	for y := range 60 {
		for x := range 200 {
			want.SetRGBA(x, y, pic.RGBAAt(part.Min.X+x, part.Min.Y+y))
		}
	}
	return eye{s.Server, part.Add(at), want}
}

func (e eye) sees() bool { return bytes.Equal(e.s.Crop(e.box).Pix, e.want.Pix) }

// wait watches without a pause until the box shows what it must.
func (e eye) wait(b testing.TB, what string) time.Time {
	b.Helper()
	for late := time.Now().Add(10 * time.Second); time.Now().Before(late); {
		if e.sees() {
			return time.Now()
		}
	}
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(b, filepath.Join(dir, "bench-wanted.png"), e.want)
		keep(b, filepath.Join(dir, "bench-seen.png"), e.s.Screenshot())
	}
	b.Fatalf("never on screen: %s", what)
	return time.Time{}
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
		first, second := s.eye(p, num, companion.Searching), s.eye(p, num, companion.Found)
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

// rings measures "wiebelt ring" with the resident running, beside the start of a
// program that does nothing.
func (s *stage) rings(t *table, n int) {
	s.b.Helper()
	var exit, painted, bare, empty []time.Duration
	nothing := buildNothing(s.b)
	for range n {
		p := s.person()
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, companion.Found)
		cmd := s.wiebelt("ring", "--id", p.ID, "--", num)
		done := make(chan time.Time, 1)
		began := time.Now()
		go func() { _ = cmd.Run(); done <- time.Now() }()
		seen := e.wait(s.b, "the contact of a ring")
		painted, exit = append(painted, seen.Sub(began)), append(exit, (<-done).Sub(began))
		if err := s.wiebelt("ring", "--id", p.ID, "--state", "ended", "--", num).Run(); err != nil {
			s.b.Fatal(err)
		}
		s.Until("the card is gone", s.empty)
		bare = append(bare, ran(s.b, s.wiebelt("version")))
		empty = append(empty, ran(s.b, exec.Command(nothing)))
	}
	t.times("wiebelt ring, start → exit", exit, 20, 40)
	t.times("  of which the program's start (wiebelt version)", bare, 0, 0)
	t.times("  an empty Go program", empty, 0, 0)
	t.times("wiebelt ring → contact painted", painted, 0, 0)
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
		e := s.eye(p, num, companion.Found)
		began := time.Now()
		if err := s.wiebelt("ring", "--", num).Run(); err != nil {
			s.b.Fatal(err)
		}
		all = append(all, e.wait(s.b, "the contact, from nothing").Sub(began))
		s.Until("it is announced", func() bool { _, err := os.Stat(s.announced()); return err == nil })
		end(s.at().PID)
		s.Until("it has ended", func() bool { _, err := os.Stat(s.announced()); return err != nil && s.empty() })
	}
	t.times("wiebelt ring with nothing running → contact painted", all, 500, 0)
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
// before (corrections.md 6), and what a flood of as many takes, right after and at
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

// notifications measures notify-send with dunst, in the same way.
func notifications(b *testing.B, t *table, n int) (median float64) {
	b.Helper()
	s := xtest.Start(b, "openbox", xtest.Options{Width: width, Height: height})
	s.Bus()
	config := filepath.Join(s.Dir, "dunstrc")
	const colours = "[global]\ngeometry = \"380x100-16+16\"\norigin = top-right\noffset = 16x16\nwidth = 380\nframe_width = 0\nfont = Sans 12\n" +
		"[urgency_normal]\nbackground = \"#0B6BCB\"\nforeground = \"#FFFFFF\"\ntimeout = 0\n"
	if err := os.WriteFile(config, []byte(colours), 0o600); err != nil {
		b.Fatal(err)
	}
	dunst := s.Spawn("dunst", "-config", config)
	s.Until("dunst answers", func() bool { return s.Command("dunstctl", "is-paused").Run() == nil })
	box := image.Rect(width-16-200, 16, width-16, 16+60)
	blue := color.RGBA{0x0b, 0x6b, 0xcb, 255}
	shown := func() bool {
		img := s.Crop(box)
		return xtest.Near(img.RGBAAt(width-18, 20), blue, 3)
	}
	var all []time.Duration
	for i := range n {
		cmd := s.Command("notify-send", "Inkomende oproep", fmt.Sprintf("0698%06d", i))
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for !shown() {
			if time.Since(began) > 10*time.Second {
				b.Fatal("dunst shows nothing")
			}
		}
		all = append(all, time.Since(began))
		_ = cmd.Wait()
		s.Run("dunstctl", "close-all")
		s.Until("the notification is gone", func() bool { return !shown() })
	}
	t.times("notify-send → painted by dunst", all, 0, 0)
	t.figure("dunst, resident memory", float64(memory(b, dunst.Process.Pid))/1024, 0, "MB")
	return t.value["notify-send → painted by dunst"][0]
}

// sipCalls measures from the INVITE at baresip to the contact on screen.
func sipCalls(b *testing.B, t *table, n int) {
	b.Helper()
	sip, control := phonetest.StartBaresip(b)
	h, value := startHub(b)
	s := &stage{b: b, scale: 1}
	for i := range n {
		s.people = append(s.people, localhub.Record{Numbers: []string{fmt.Sprintf("0698%06d", i)}, Contact: contact.Contact{
			ID: fmt.Sprintf("s-%d", i), RelationNumber: strconv.Itoa(400000 + i), Initials: "S.", FamilyName: fmt.Sprintf("Toestel%03d", i)}})
	}
	if _, err := h.AddInvented(b.Context(), s.people...); err != nil {
		b.Fatal(err)
	}
	s.office = prepareAt(b, h, h.BaseURL(), value, 0, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+control+"\"\n"+quick)
	s.start()
	s.Until("the link is up", func() bool { return strings.Contains(s.log.String(), "state=connected") })
	line, err := net.Dial("udp", sip)
	if err != nil {
		b.Fatal(err)
	}
	defer line.Close()
	var all []time.Duration
	for i := range n {
		p := s.person()
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, companion.Found)
		c := invitation{line: line, sip: sip, number: num, id: fmt.Sprintf("bench-%d-%d", os.Getpid(), i)}
		began := time.Now()
		c.invite(b)
		all = append(all, e.wait(b, "the caller of an INVITE").Sub(began))
		c.cancel(b)
		s.Until("the card is gone", s.empty)
	}
	t.times("SIP INVITE at baresip → contact painted", all, 25, 0)
}

// invitation is one call as it goes over the wire.
type invitation struct {
	line            net.Conn
	sip, number, id string
}

func (c invitation) send(b testing.TB, method, to, body string) {
	b.Helper()
	me := c.line.LocalAddr().String()
	m := method + " sip:101@" + c.sip + " SIP/2.0\r\nVia: SIP/2.0/UDP " + me + ";branch=z9hG4bK" + c.id + "\r\nMax-Forwards: 70\r\n" +
		"From: <sip:" + c.number + "@127.0.0.1>;tag=f" + c.id + "\r\nTo: <sip:101@" + c.sip + ">" + to + "\r\nCall-ID: " + c.id + "\r\nCSeq: 1 " + method +
		"\r\nContact: <sip:bench@" + me + ">\r\n"
	if body != "" {
		m += "Content-Type: application/sdp\r\n"
	}
	m += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := c.line.Write([]byte(m)); err != nil {
		b.Fatal(err)
	}
}

func (c invitation) invite(b testing.TB) {
	c.send(b, "INVITE", "", "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0 8\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n")
}

// cancel takes the call back and acknowledges the phone's answer.
func (c invitation) cancel(b testing.TB) {
	b.Helper()
	c.send(b, "CANCEL", "", "")
	buf := make([]byte, 8192)
	for {
		_ = c.line.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, err := c.line.Read(buf)
		if err != nil {
			b.Fatalf("the phone does not give the call up: %v", err)
		}
		m := string(buf[:n])
		if !strings.HasPrefix(m, "SIP/2.0 487") || !strings.Contains(m, c.id) {
			continue
		}
		tag := ""
		for l := range strings.SplitSeq(m, "\r\n") {
			if v, ok := strings.CutPrefix(l, "To: "); ok {
				if _, after, ok := strings.Cut(v, ";tag="); ok {
					tag = ";tag=" + after
				}
			}
		}
		c.send(b, "ACK", tag, "")
		return
	}
}

// others measures the empty Fyne program and a browser's window.
func others(b *testing.B, t *table, resident int) {
	b.Helper()
	dir := b.TempDir()
	empty := filepath.Join(dir, "emptyfyne")
	if out, err := exec.Command("go", "build", "-tags", "migrated_fynedo", "-ldflags", "-s -w", "-o", empty, "./testdata/emptyfyne").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	s := xtest.Start(b, "openbox", xtest.Options{Width: width, Height: height})
	s.Bus()
	app := s.Spawn(empty)
	s.FindWindow("^empty$")
	before := ticks(b, app.Process.Pid)
	time.Sleep(60 * time.Second) // this is what is measured
	t.figure("empty Fyne tray app, share of a core over 60 s", 100*float64(ticks(b, app.Process.Pid)-before)/6000, 0, "%")
	rss := memory(b, app.Process.Pid)
	t.figure("empty Fyne tray app with one window, resident memory", float64(rss)/1024, 0, "MB")
	t.figure("resident after 200 calls (200 %) against it", float64(resident)/float64(rss), 0.45, "×")

	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte("<!doctype html><title>page</title><style>html{background:#1b7f4b}</style>"), 0o600); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	var all []time.Duration
	var most int
	for i := range 4 {
		cmd := s.Command("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--password-store=basic", "--user-data-dir="+filepath.Join(dir, "chromium"), "--window-position=700,100", "--window-size=500,400", "--app=file://"+page)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for !xtest.Near(s.Pixel(900, 300), color.RGBA{0x1b, 0x7f, 0x4b, 255}, 3) {
			if ctx.Err() != nil {
				b.Fatal("the browser shows nothing")
			}
		}
		if i > 0 { // the first start makes its profile
			all = append(all, time.Since(began))
		}
		most = max(most, family(b, cmd.Process.Pid))
		end(cmd.Process.Pid)
		_ = cmd.Wait()
		s.Until("the browser's window is gone", func() bool { return !xtest.Near(s.Pixel(900, 300), color.RGBA{0x1b, 0x7f, 0x4b, 255}, 3) })
	}
	t.times("Chromium --app window, start → painted", all, 0, 0)
	t.figure("Chromium --app window, memory of its processes", float64(most)/1024, 0, "MB")
}

// family is the memory of a process and all below it, shared pages counted once
// (PSS), in kB.
func family(b testing.TB, root int) int {
	b.Helper()
	parent := map[int]int{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range all {
		s, err := os.ReadFile(f)
		if err != nil {
			continue // gone meanwhile
		}
		_, rest, _ := strings.Cut(string(s), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
			parent[pid], _ = strconv.Atoi(fields[1])
		}
	}
	sum := 0
	for pid := range parent {
		for p := pid; p > 1; p = parent[p] {
			if p != root {
				continue
			}
			s, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
			for l := range strings.Lines(string(s)) {
				if v, ok := strings.CutPrefix(l, "Pss:"); ok {
					n, _ := strconv.Atoi(strings.Fields(v)[0])
					sum += n
				}
			}
			break
		}
	}
	return sum
}
