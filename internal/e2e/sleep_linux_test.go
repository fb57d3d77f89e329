package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/testutil/xtest"
)

// jumping builds a resident whose clocks a test can move: the file that reads the
// system's is replaced, the rest is as shipped.
func jumping(t *testing.T) string {
	t.Helper()
	root := must.Get(filepath.Abs("../.."))(t)
	dir := t.TempDir()
	overlay := must.Get(json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "internal/native/sleepwatch/jumps_linux.go"): filepath.Join(root, "internal/e2e/testdata/jump/clock.go")}}))(t)
	file := filepath.Join(dir, "overlay.json")
	must.Do(t, os.WriteFile(file, overlay, 0o600))
	bin := filepath.Join(dir, "wiebelt")
	must.Do(t, build(bin, "-s -w", "./app/wiebelt", "CGO_ENABLED=0", "GOFLAGS=-overlay="+file))
	return bin
}

// sleepingOffice is a workplace that can be put to sleep.
type sleepingOffice struct {
	*office
	phone *phonetest.Baresip
	clock string // file with these two
	slept time.Duration
	set   time.Duration // how far the wall clock was set ahead
	calls int
}

// stop stops the resident, lets the world continue without it, has the computer sleep and its
// clock set ahead, and lets the resident go on. It returns when.
func (b *sleepingOffice) stop(slept, set time.Duration, meanwhile func()) time.Time {
	b.t.Helper()
	pid := b.resident.Process.Pid
	must.Do(b.t, syscall.Kill(pid, syscall.SIGSTOP))
	meanwhile()
	b.slept, b.set = b.slept+slept, b.set+set
	must.Do(b.t, os.WriteFile(b.clock+".new", fmt.Appendf(nil, "%d %d", b.slept, b.set), 0o600))
	must.Do(b.t, os.Rename(b.clock+".new", b.clock))
	must.Do(b.t, syscall.Kill(pid, syscall.SIGCONT))
	return time.Now()
}

// call makes a known caller call, and returns the card.
func (b *sleepingOffice) call(t *testing.T) *image.RGBA {
	t.Helper()
	b.calls++
	number := fmt.Sprintf("+3169%07d", 8700000+b.calls)
	k := contact.Contact{ID: "c-nacht-" + strconv.Itoa(b.calls), RelationNumber: strconv.Itoa(300400 + b.calls), Initials: "N.", FamilyName: "Nacht" + strings.Repeat("t", b.calls%7)}
	must.Get(b.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: k}))(t)
	phonetest.Place(t, b.phone.SIP, phonetest.Scenario{Number: number, Ring: time.Minute})
	return foundCard(t, number, "sip:101@127.0.0.1", k)
}

// ring is call, and waits until the card shows the name.
func (b *sleepingOffice) ring(t *testing.T) *image.RGBA {
	t.Helper()
	card := b.call(t)
	b.shows("a card with a name", card)
	return card
}

// linked reports whether the latest log entry about the link says that it is up.
func (b *sleepingOffice) linked() bool {
	s := b.log.String()
	i := strings.LastIndex(s, `msg="softphone link"`)
	return i >= 0 && strings.Contains(strings.SplitN(s[i:], "\n", 2)[0], "state=connected")
}

// links returns how often the link has come up so far.
func (b *sleepingOffice) links() int {
	n := 0
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, `msg="softphone link"`) && strings.Contains(line, "state=connected") {
			n++
		}
	}
	return n
}

func (b *sleepingOffice) noticed() int { return strings.Count(b.log.String(), "its clock was set") }

// TestSleeps checks that whatever happened while the computer slept, within five seconds
// of waking no earlier card is on screen, the link is up, and the next caller has a name. If
// only the clock was set, the card stays.
func TestSleeps(t *testing.T) {
	t.Parallel()
	b := &sleepingOffice{phone: phonetest.New(t)}
	b.office = prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+b.phone.Control+"\"")
	b.bin, b.clock = jumping(t), filepath.Join(b.Dir, "ahead")
	b.start("env", "WIEBELT_TEST_JUMP="+b.clock)
	b.Until("the link is up", b.linked)
	b.Until("the clock was read", func() bool { return exists(b.clock + ".read") })
	// The engine's own clock does not jump here, so a night has to be longer than the
	// time that counts as just after waking.
	night := func() { time.Sleep(3200 * time.Millisecond) }
	card := b.ring(t)
	b.stop(0, time.Hour, night)
	b.Until("it knows that the clock was set", func() bool { return b.noticed() > 0 })
	b.call(t)
	above := place(card.Rect.Dy() + foundHeight)
	above.Max.Y -= card.Rect.Dy()
	b.Until("a card above that of the first call", func() bool { return xtest.Count(b.Crop(above), accent, 0) > 0 })
	b.shows("the first call's card", card)
	b.phone.Hangup(t)
	b.phone.Hangup(t)
	b.Until("no card after the clock was set", b.empty)
	const anew = "the phone is started anew"
	for name, meanwhile := range map[string]func(){
		anew:                                 func() { b.phone.Stop(); b.phone.Restart(t) },
		"nobody tells that the call is over": night,
	} {
		b.ring(t)
		seen, links := b.noticed(), b.links()
		if name == anew {
			links++ // until then the log says that the link to the earlier phone is up
		}
		woke := b.stop(8*time.Hour, 0, meanwhile)
		b.Until("it is awake: "+name, func() bool { return b.noticed() > seen && b.empty() && b.links() >= links && b.linked() })
		must.Within(t, woke, 5*time.Second)
		if name != anew {
			b.phone.Hangup(t)
		}
		b.ring(t)
		b.phone.Hangup(t)
		b.Until("no card: "+name, b.empty)
	}
}
