package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/phonetest"
)

// jumping builds a resident whose clock on the wall a test can move: the file
// that asks the system for the time is another one, the rest is as it is shipped.
func jumping(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "internal/native/sleepwatch/clock.go"): filepath.Join(root, "internal/e2e/testdata/jump/clock.go")}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "wiebelt")
	cmd := exec.Command("go", "build", "-overlay", file, "-trimpath", "-tags", "migrated_fynedo", "-ldflags", "-s -w", "-o", bin, "./app/wiebelt")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// bed is a workplace that can be put to sleep.
type bed struct {
	*office
	phone *phonetest.Baresip
	clock string // file that says how far the clock is ahead
	ahead time.Duration
	calls int
}

// sleep stops the resident, lets the world go on without it and wakes it eight
// hours later. It gives the moment of waking.
func (b *bed) sleep(meanwhile func()) time.Time {
	b.t.Helper()
	pid := b.resident.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		b.t.Fatal(err)
	}
	meanwhile()
	b.ahead += 8 * time.Hour
	if err := os.WriteFile(b.clock+".new", []byte(b.ahead.String()), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(b.clock+".new", b.clock); err != nil {
		b.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		b.t.Fatal(err)
	}
	return time.Now()
}

// ring has somebody call whom the hub knows, and waits until the card says who.
func (b *bed) ring(t *testing.T) {
	t.Helper()
	b.calls++
	number := fmt.Sprintf("+3169%07d", 8700000+b.calls)
	k := contact.Contact{ID: "c-nacht-" + strconv.Itoa(b.calls), RelationNumber: strconv.Itoa(300400 + b.calls), Initials: "N.", FamilyName: "Nacht" + strings.Repeat("t", b.calls%7)}
	if _, err := b.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: k}); err != nil {
		t.Fatal(err)
	}
	phonetest.Place(t, b.phone.SIP, phonetest.Scenario{Number: number, Ring: time.Minute})
	b.shows("a card with a name", foundCard(t, number, "sip:101@127.0.0.1", k))
}

// linked reports whether the last that the log says of the link is that it is up.
func (b *bed) linked() bool {
	s := b.log.String()
	i := strings.LastIndex(s, `msg="softphone link"`)
	return i >= 0 && strings.Contains(strings.SplitN(s[i:], "\n", 2)[0], "state=connected")
}

// links is how often the link has come up so far.
func (b *bed) links() int {
	n := 0
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, `msg="softphone link"`) && strings.Contains(line, "state=connected") {
			n++
		}
	}
	return n
}

func (b *bed) noticed() int { return strings.Count(b.log.String(), "the clock has jumped") }

// TestTwentySleeps: whatever happened while the computer slept, within five
// seconds of waking no card of before is on screen, the link is up, and the next
// caller has a name.
func TestTwentySleeps(t *testing.T) {
	t.Parallel()
	bin := jumping(t)
	for place := range 2 {
		t.Run(strconv.Itoa(place), func(t *testing.T) {
			t.Parallel()
			b := &bed{phone: phonetest.New(t)}
			b.office = prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+b.phone.Control+"\"")
			b.bin, b.clock = bin, filepath.Join(b.Dir, "ahead")
			b.start("env", "WIEBELT_TEST_JUMP="+b.clock)
			b.Until("the link is up", b.linked)
			b.Until("the clock was read", func() bool { _, err := os.Stat(b.clock + ".read"); return err == nil })
			for round := range 2 {
				for _, night := range []struct {
					name      string
					rings     bool   // when the computer falls asleep
					anew      bool   // the phone's program is another one by then
					meanwhile func() // while it sleeps
					after     func() // once nothing of before is left
				}{
					{"nothing happens", false, false, func() {}, nil},
					{"the call is over", true, false, func() { b.phone.Hangup(t) }, nil},
					{"the phone is started anew", true, true, func() { b.phone.Stop(); b.phone.Restart(t) }, nil},
					{"the phone ends", true, true, func() { b.phone.Stop() }, nil},
					// The engine's own clock does not jump here, so the night has to be
					// longer than what counts as just after waking.
					{"nobody tells that the call is over", true, false, func() { time.Sleep(3200 * time.Millisecond) }, func() { b.phone.Hangup(t) }},
				} {
					name := fmt.Sprintf("%s, night %d", night.name, round+1)
					if night.rings {
						b.ring(t)
					}
					seen, links := b.noticed(), b.links()
					if night.anew {
						links++ // until then the log says of the link to the phone of before that it is up
					}
					woke := b.sleep(night.meanwhile)
					if night.name == "the phone ends" {
						b.Until("no card without a phone: "+name, b.empty)
						b.phone.Restart(t)
					}
					b.Until("it is awake: "+name, func() bool { return b.noticed() > seen && b.empty() && b.links() >= links && b.linked() })
					recovered := time.Since(woke)
					if night.after != nil {
						night.after()
					}
					b.ring(t)
					t.Logf("%s: recovered after %v, a name on screen after %v", name, recovered.Round(time.Millisecond), time.Since(woke).Round(time.Millisecond))
					if recovered > 5*time.Second {
						t.Errorf("%s: recovered after %v", name, recovered)
					}
					b.phone.Hangup(t)
					b.Until("no card: "+name, b.empty)
				}
			}
		})
	}
}
