package e2e

import (
	"fmt"
	"image"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/localhub"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

// headline is the part of a card that shows the caller's name or number.
var headline = image.Rect(16, 36, 250, 80)

// same reports whether the screen's pixels equal a part of a picture.
func same(data []byte, img *image.RGBA, part image.Rectangle) bool {
	if len(data) != 4*part.Dx()*part.Dy() {
		return false
	}
	i := 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			c := img.RGBAAt(x, y)
			if data[i] != c.B || data[i+1] != c.G || data[i+2] != c.R {
				return false
			}
			i += 4
		}
	}
	return true
}

// caller is a caller known to the hub, with the headlines of the card before
// and after the answer.
type caller struct {
	number           string
	searching, found *image.RGBA
}

func newCaller(t *testing.T, o *office, n int) caller {
	t.Helper()
	number := fmt.Sprintf("%s%05d", realCall, n)
	k := contact.Contact{ID: "c-real-" + strconv.Itoa(n), RelationNumber: strconv.Itoa(200300 + n), Initials: "A.", FamilyName: "Echt" + strings.Repeat("e", n)}
	must.Get(o.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: k}))(t)
	return caller{number: number, found: foundCard(t, number, "", k), searching: searchingCard(t, number)}
}

// callTimes are the durations of a real call to the softphone: from the phone's event until
// its card was on screen, and until its answer was; never if it was not.
type callTimes struct{ shown, found time.Duration }

const never = time.Duration(-1)

func (r callTimes) String() string {
	say := func(d time.Duration) string {
		if d == never {
			return "never"
		}
		return d.Round(time.Millisecond).String()
	}
	return say(r.shown) + "/" + say(r.found)
}

// machineLoad returns how long a fixed piece of work currently takes another
// program on this machine.
func (f *flooded) machineLoad() time.Duration {
	f.t.Helper()
	began := time.Now()
	must.Do(f.t, exec.Command("sha256sum", must.Get(binary())(f.t)).Run())
	return time.Since(began)
}

// place makes a call and watches the screen until
// the card shows the caller, or the caller gives up.
func (f *flooded) place(c caller) callTimes {
	f.t.Helper()
	const ring = 2500 * time.Millisecond
	select {
	case <-f.rang: // of an earlier call
	default:
	}
	running := phonetest.Place(f.t, f.sip, phonetest.Scenario{Number: c.number, Ring: ring})
	r := callTimes{never, never}
	began := must.Receive(f.t, f.rang, "the call")
	for r.found == never && time.Since(began) < ring-100*time.Millisecond {
		for _, at := range f.cards.columns() {
			if at.Dy() < headline.Max.Y {
				continue
			}
			data := f.cards.crop(headline.Add(at.Min))
			now := time.Since(began)
			found := same(data, c.found, headline)
			if r.shown == never && (found || same(data, c.searching, headline)) {
				r.shown = now
			}
			if found {
				r.found = now
			}
		}
		time.Sleep(2 * time.Millisecond) // checking has a cost too
	}
	running.Wait()
	return r
}

type flooded struct {
	t     *testing.T
	o     *office
	sip   string
	rang  <-chan time.Time // times of the rings that the softphone reports
	cards *cardWatcher
}

// TestRealCallsInAFlood: ten thousand calls from all other sources at once cost the hub ten
// lookups and three a second for each source, and the screen a handful of cards and lines;
// hand-overs work as usual. During and right after it, a real call to the softphone is on
// screen as fast as usual, with the caller's name, and is in the history.
func TestRealCallsInAFlood(t *testing.T) {
	t.Parallel()
	f := &flooded{t: t}
	var control string
	f.sip, control = phonetest.StartBaresip(t)
	control, f.rang = listenIn(t, control, "CALL_INCOMING")
	o := prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+control+"\"")
	f.o = o
	asked := countLookups(t, o)
	var callers []caller
	for n := range 5 {
		callers = append(callers, newCaller(t, o, n))
	}
	o.start()
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	f.cards = newCardWatcher(t, o)
	before := f.machineLoad()
	quiet := f.place(callers[0])
	o.Until("no card", o.empty)

	watch := watchCards(t, o)
	done := make(chan floodResult)
	go func() { done <- flood(t, o, asked) }()
	var all []callTimes
	var during []time.Duration
	for _, c := range callers[1:4] {
		during = append(during, f.machineLoad())
		all = append(all, f.place(c))
	}
	p := <-done
	seen := watch.stop()
	all = append(all, f.place(callers[4]))
	slices.Sort(during)
	if p.took[len(p.took)/2] > during[1]/5 { // a 25th if nothing else runs
		t.Error("hand-overs took too long")
	}
	if p.full > 0 && during[2] < 2*before { // excused if no program gets the processor
		t.Errorf("the inbox was full %d times", p.full)
	}
	for road, n := range p.lookups {
		if may := 10 + int(3*p.lasted.Seconds()) + 1; n > may || n < 10 {
			t.Errorf("%s: %d lookups, at most %d are allowed", road, n, may)
		}
	}
	// These are cards, lines, and the line that counts the others. A flood from one
	// source has three cards; the first call of each of the three others still has one.
	if seen.most != engine.MaxShown+1 || seen.whole > engine.MaxCards+3 {
		t.Errorf("%d windows at once, %d of them whole cards", seen.most, seen.whole)
	}
	// The flood uses most of the machine, as other programs may: a wait that any
	// program would have now is not our fault. No one notices a tenth of a second.
	slower := max(1, float64(during[1])/float64(before))
	usual := max(150*time.Millisecond, time.Duration(20*slower*float64(quiet.shown)))
	shown := []time.Duration{all[0].shown, all[1].shown, all[2].shown}
	slices.Sort(shown)
	if shown[1] > usual {
		t.Errorf("in the flood on screen within %v at the median, %v in quiet; other programs take %.1f times as long", shown[1], quiet.shown, slower)
	}
	for _, r := range append(all, quiet) {
		if r.found == never { // while it rang
			t.Errorf("on screen and with a name: %v", r)
		}
	}
	o.Until("the last real call in the history", func() bool { return recorded(t, o, callers[4].number) })
	for _, c := range callers {
		if !recorded(t, o, c.number) {
			t.Error("a real call is not in the history")
		}
	}
}

func recorded(t *testing.T, o *office, number string) bool {
	t.Helper()
	return slices.ContainsFunc(callsOf(t, o), func(e history.Entry) bool { return e.Number == number })
}
