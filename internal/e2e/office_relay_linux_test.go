package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

// TestOfficeRelay: a running computer joins the office's relay, and then has no hub secret. A
// call that a real exchange with the guide's configuration reports to the relay gets its card
// and contact here, is answered and ends here; a call that its caller gives up is missed, and a
// refused one is not; who else took a call is known. A call that began while the computer was
// off has a card as soon as it is back, with the right start time; a missed one is in the history.
func TestOfficeRelay(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nafter_call = \"0s\"\n")
	o.Move(250, 600) // a card under the pointer stays
	o.start()
	r := startRelay(o, o.hub.BaseURL(), "101")
	r.run("", "user", "add", "bob", "--label", "Bob Smit", "--extension", "102")
	phone, _ := phonetest.StartBaresip(t)
	exchange := r.kamailio(phone)
	o.Until("the computer hears the relay", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	var all []history.Entry
	is := func(what string, ok func(history.Entry) bool) {
		t.Helper()
		o.Until(what, func() bool {
			all = callsOf(t, o)
			return len(all) > 0 && ok(all[0])
		}, func() []any { return []any{fmt.Sprintf("%+v", all)} })
	}
	for i, c := range []struct {
		what string
		phonetest.Scenario
		ok func(history.Entry) bool
	}{
		{"answered", phonetest.Scenario{Number: vries.Numbers[0], Name: `J. "de" Vries`, Answer: true}, func(e history.Entry) bool { return e.ContactID == vries.Contact.ID && !e.Answered.IsZero() }},
		{"missed", phonetest.Scenario{Number: "0698760012"}, func(e history.Entry) bool { return e.Number == "+31698760012" && e.Answered.IsZero() && e.Open() }},
		{"refused", phonetest.Scenario{Number: "0698760013", Reject: true}, func(e history.Entry) bool { return e.Answered.IsZero() && !e.Open() }},
	} {
		c.Ring, c.Talk = 500*time.Millisecond, 500*time.Millisecond
		phonetest.Call(t, exchange, c.Scenario)
		is(c.what, func(e history.Entry) bool { return len(all) == i+1 && !e.Ended.IsZero() })
		if !c.ok(all[0]) || all[0].Kind != registry.Relay {
			t.Errorf("%s: %+v", c.what, all[0])
		}
	}
	o.Until("no card", o.empty)
	if got := o.hub.Stats().Lookups; got != int64(len(all)) {
		t.Errorf("the hub counts %d look-ups of %d calls", got, len(all))
	}
	if resident := o.resident.Process.Pid; !inMemory(t, resident, r.address) || inMemory(t, resident, r.secret) {
		t.Error("the hub's secret is in the resident's memory, or the test does not look into it")
	}
	must.Do(t, filepath.WalkDir(o.profile, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(r.secret)) {
			t.Errorf("the hub's secret is in %s", filepath.Base(path))
		}
		return err
	}))
	r.report(`{"id":"5","state":"ringing","number":"0698760014","extension":"101"}`)
	r.report(`{"id":"5","state":"answered","extension":"102"}`)
	r.report(`{"id":"5","state":"ended"}`)
	is("who took it", func(e history.Entry) bool {
		return e.Result == history.ResultAnsweredElsewhere && e.AnsweredBy == "Bob Smit"
	})
	o.stop()
	r.report(`{"id":"6","state":"ringing","number":"0698760016","extension":"101","queue":"Schade"}`)
	r.report(`{"id":"6","state":"ended","reason":"missed"}`)
	before := time.Now()
	r.report(`{"id":"8","state":"ringing","number":"0698760018","extension":"101"}`)
	after := time.Now()
	o.start()
	after = after.Add(time.Since(after) / 2) // part of that is the message's transit
	// Both are reported with the message's transit time, so that either may seem the later.
	var on, missed history.Entry
	is("the call that began before and the missed one", func(history.Entry) bool {
		of := func(number string) (e history.Entry) {
			if i := slices.IndexFunc(all, func(e history.Entry) bool { return e.Number == number }); i >= 0 {
				e = all[i]
			}
			return e
		}
		on, missed = of("+31698760018"), of("+31698760016")
		return on.ID != 0 && missed.ID != 0
	})
	if len(all) != 6 || !on.Ended.IsZero() || on.Rang.Before(before.Truncate(time.Microsecond)) || on.Rang.After(after) {
		t.Errorf("it was reported between %v and %v: %+v", before, after, on)
	}
	if !missed.WhileOff() || !missed.Open() || missed.Rang.After(after) || missed.Line != "Schade" {
		t.Errorf("while it was off: %+v", missed)
	}
	o.Until("its card", func() bool { return !o.empty() })
	if work := o.goroutines(); !strings.Contains(work, "nats-io") || !strings.Contains(work, "relaylink") {
		t.Error("the link to the relay is not seen")
	}
}

// TestNoRelay: a computer without a relay only listens to phones, and has no file and
// no goroutine for a relay.
func TestNoRelay(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	own := o.at().Port
	pid := o.resident.Process.Pid
	sockets := map[string]bool{}
	files := must.Get(filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)))(t)
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil {
			sockets[to] = true
		}
	}
	listens := 0
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		for line := range strings.Lines(string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table)))(t))) {
			f := strings.Fields(line)
			if len(f) < 10 || !sockets["socket:["+f[9]+"]"] || table[:3] == "tcp" && f[3] != "0A" {
				continue
			}
			if listens++; !strings.HasSuffix(f[1], fmt.Sprintf(":%04X", own)) {
				t.Errorf("it listens on %s", f[1])
			}
		}
	}
	if listens == 0 {
		t.Error("it listens nowhere")
	}
	must.Do(t, filepath.WalkDir(o.profile, func(path string, d fs.DirEntry, err error) error {
		if strings.Contains(d.Name(), "relay") || strings.Contains(d.Name(), "nats") {
			t.Errorf("there is %s", d.Name())
		}
		return err
	}))
	if work := o.goroutines(); !strings.Contains(work, "listener.") || strings.Contains(work, "nats-io") || strings.Contains(work, "relay") {
		t.Errorf("it works for a relay, or its work is not seen:\n%s", work)
	}
}

// goroutines ends the resident and returns its goroutines.
func (o *office) goroutines() string {
	o.t.Helper()
	before := len(o.log.String())
	must.Do(o.t, o.resident.Process.Signal(syscall.SIGQUIT))
	o.Until("it says what it does", func() bool { return strings.Contains(o.log.String()[before:], "\nrip ") })
	return o.log.String()[before:]
}

// inMemory searches for a text in everything that a process can read of its own memory.
func inMemory(t *testing.T, pid int, words string) bool {
	t.Helper()
	maps := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)))(t)
	mem := must.Get(os.Open(fmt.Sprintf("/proc/%d/mem", pid)))(t)
	defer mem.Close()
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var rights string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n < 3 || rights[0] != 'r' {
			continue
		}
		b := make([]byte, to-from)
		n, _ := mem.ReadAt(b, from) // the kernel's own parts cannot be read
		if bytes.Contains(b[:n], []byte(words)) {
			return true
		}
	}
	return false
}
