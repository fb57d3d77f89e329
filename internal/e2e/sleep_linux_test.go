package e2e

import (
	"encoding/json"
	"fmt"
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
)

// jumping builds a resident whose wall clock a test can move: the file that reads the
// system's time is replaced, the rest is as shipped.
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
	clock string // file with how far the clock is ahead
	ahead time.Duration
	calls int
}

// sleep stops the resident, lets the world continue without it and wakes it eight hours
// later. It returns the time of waking.
func (b *sleepingOffice) sleep(meanwhile func()) time.Time {
	b.t.Helper()
	pid := b.resident.Process.Pid
	must.Do(b.t, syscall.Kill(pid, syscall.SIGSTOP))
	meanwhile()
	b.ahead += 8 * time.Hour
	must.Do(b.t, os.WriteFile(b.clock+".new", []byte(b.ahead.String()), 0o600))
	must.Do(b.t, os.Rename(b.clock+".new", b.clock))
	must.Do(b.t, syscall.Kill(pid, syscall.SIGCONT))
	return time.Now()
}

// ring makes a known caller call, and waits until the card shows the name.
func (b *sleepingOffice) ring(t *testing.T) {
	t.Helper()
	b.calls++
	number := fmt.Sprintf("+3169%07d", 8700000+b.calls)
	k := contact.Contact{ID: "c-nacht-" + strconv.Itoa(b.calls), RelationNumber: strconv.Itoa(300400 + b.calls), Initials: "N.", FamilyName: "Nacht" + strings.Repeat("t", b.calls%7)}
	must.Get(b.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: k}))(t)
	phonetest.Place(t, b.phone.SIP, phonetest.Scenario{Number: number, Ring: time.Minute})
	b.shows("a card with a name", foundCard(t, number, "sip:101@127.0.0.1", k))
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

func (b *sleepingOffice) noticed() int { return strings.Count(b.log.String(), "the clock has jumped") }

// TestSleeps checks that whatever happened while the computer slept, within five seconds
// of waking no earlier card is on screen, the link is up, and the next caller has a name.
func TestSleeps(t *testing.T) {
	t.Parallel()
	b := &sleepingOffice{phone: phonetest.New(t)}
	b.office = prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+b.phone.Control+"\"")
	b.bin, b.clock = jumping(t), filepath.Join(b.Dir, "ahead")
	b.start("env", "WIEBELT_TEST_JUMP="+b.clock)
	b.Until("the link is up", b.linked)
	b.Until("the clock was read", func() bool { return exists(b.clock + ".read") })
	const anew = "the phone is started anew"
	for name, meanwhile := range map[string]func(){
		anew: func() { b.phone.Stop(); b.phone.Restart(t) },
		// The engine's own clock does not jump here, so the night has to be longer than the
		// time that counts as just after waking.
		"nobody tells that the call is over": func() { time.Sleep(3200 * time.Millisecond) },
	} {
		b.ring(t)
		seen, links := b.noticed(), b.links()
		if name == anew {
			links++ // until then the log says that the link to the earlier phone is up
		}
		woke := b.sleep(meanwhile)
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
