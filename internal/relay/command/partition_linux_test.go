package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wiebelt/internal/relay/server"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// alone runs a test in a process with its own namespaces, and reports whether this is it.
func alone(t *testing.T, namespaces uintptr) bool {
	t.Helper()
	return processtest.Alone(t, func(cmd *exec.Cmd) {
		beside(t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: unix.SIGKILL}
	})
}

// network is three computers, each a network namespace, on a switch to which this program
// is also connected. It ends with the program.
type network struct {
	t      *testing.T
	spaces []*os.File
}

func (n *network) host(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// in runs do on one of the computers. The thread that entered it ends.
func (n *network) in(i int, do func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- errors.Join(unix.Setns(int(n.spaces[i].Fd()), unix.CLONE_NEWNET), do())
	}()
	return <-result
}

// ip runs a command of iproute2.
func ip(line string) error {
	out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, out)
	}
	return nil
}

// newNetwork creates the computers and the switch.
func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t}
	for _, line := range []string{"link set lo up", "link add switch type bridge", "addr add 10.77.0.254/24 dev switch", "link set switch up"} {
		must.Do(n.t, ip(line))
	}
	for i := range 3 {
		made := make(chan error)
		go func() {
			runtime.LockOSThread()
			err := unix.Unshare(unix.CLONE_NEWNET)
			space, open := os.Open("/proc/thread-self/ns/net")
			n.spaces = append(n.spaces, space)
			made <- errors.Join(err, open)
		}()
		must.Do(n.t, <-made)
		t.Cleanup(func() { _ = n.spaces[i].Close() })
		must.Do(n.t, ip(fmt.Sprintf("link add port%d type veth peer name wire%d", i, i)))
		must.Do(n.t, ip(fmt.Sprintf("link set wire%d netns /proc/%d/fd/%d", i, os.Getpid(), n.spaces[i].Fd())))
		must.Do(n.t, ip(fmt.Sprintf("link set port%d master switch up", i)))
		must.Do(n.t, n.in(i, func() error {
			return errors.Join(ip("link set lo up"), ip(fmt.Sprintf("addr add %s/24 dev wire%d", n.host(i), i)), ip(fmt.Sprintf("link set wire%d up", i)))
		}))
	}
	return n
}

// unplug unplugs a computer's cable, or plugs it in.
func (n *network) unplug(i int, out bool) {
	n.t.Helper()
	state := "up"
	if out {
		state = "down"
	}
	must.Do(n.t, ip(fmt.Sprintf("link set port%d %s", i, state)))
}

// split drops the packets between a computer and the two others, but not those of users.
func (n *network) split(i int, lost bool) {
	n.t.Helper()
	do := "del"
	if lost {
		do = "add"
	}
	for j := range n.spaces {
		if j == i {
			continue
		}
		must.Do(n.t, n.in(i, func() error { return ip("route " + do + " blackhole " + n.host(j)) }))
		must.Do(n.t, n.in(j, func() error { return ip("route " + do + " blackhole " + n.host(i)) }))
	}
}

// back waits until a relay participates again.
func (s *site) back(i int) {
	s.t.Helper()
	s.tries(func() error { return s.relays[i].report(s.secret, `{"id":"nobody's","state":"ended"}`) })
}

// TestPartition: while calls ring, a relay is cut off, with or without its users. Every user sees
// their own calls again, each once, and none that is over. The relay reports its own fault.
func TestPartition(t *testing.T) {
	if !alone(t, unix.CLONE_NEWNET) { // without outside connections
		return
	}
	n := newNetwork(t)
	var at []place
	for i := range n.spaces {
		at = append(at, place{n.host(i), func(do func() error) error { return n.in(i, do) }})
	}
	s := newSite(t, 20, at)
	for what, cut := range map[string]func(i int, lost bool){"unplugged": n.unplug, "cut off from the others": n.split} {
		s.during(func() {
			cut(0, true)
			s.answered("r1 is "+what, 2*time.Second)
			s.relays[0].until("its fault is known", func(s server.Status) bool { return s.Fault == "quorum" })
		})
		s.soon("r1 is " + what)
		s.over()
		cut(0, false)
		s.back(0)
		s.soon("r1 is back")
	}
	if soaking {
		long, err := time.ParseDuration(os.Getenv("SOAK"))
		if err != nil {
			long = time.Hour
		}
		s.chaos(n, long)
	}
}

// chaos applies random faults to the relays, one after another, while calls go on.
func (s *site) chaos(n *network, long time.Duration) {
	for round, began := 0, time.Now(); time.Since(began) < long && !s.t.Failed(); round++ {
		i, what, lost := rand.IntN(3), "", func() {}
		var do, undo func()
		switch rand.IntN(4) {
		case 0:
			what = "killed"
			do, undo = s.relays[i].kill, s.relays[i].start
		case 1:
			what, lost = "killed, as are the others", s.lost
			do = func() {
				for _, p := range s.relays {
					p.kill()
				}
				s.start(s.relays...)
			}
			undo = func() {}
		case 2:
			what = "cut off from the others"
			do, undo = func() { n.split(i, true) }, func() { n.split(i, false) }
		case 3:
			what = "unplugged"
			do, undo = func() { n.unplug(i, true) }, func() { n.unplug(i, false) }
		}
		what = fmt.Sprintf("%v, %d: r%d is %s", time.Since(began).Round(time.Second), round, i+1, what)
		s.t.Log(what)
		s.during(do)
		lost()
		s.soon(what)
		if rand.IntN(2) == 0 {
			s.over()
		}
		undo()
		s.back(i)
		s.over()
		s.soon(what + " no more")
		s.with(func() {
			clear(s.calls)
			for _, d := range s.desks {
				clear(d.ended)
				d.states = d.states[len(d.states)-1:]
			}
		})
	}
}
