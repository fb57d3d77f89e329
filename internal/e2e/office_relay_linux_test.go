package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/hub"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/testutil/relaytest"
)

// TestOfficeRelay: a running computer with neither an exchange nor a hub secret joins
// the office's relay; a call that the exchange reports there gets its card and its
// contact here, and ends here. A call that began while the computer was off has a card
// as soon as it is back, with the right start time; a missed one is in the history.
func TestOfficeRelay(t *testing.T) {
	t.Parallel()
	h, value := startHub(t)
	client := must.Get(hub.New(hub.Config{BaseURL: h.BaseURL(), ClientID: "office", OrganisationCode: "1234", Secret: func(context.Context) (string, error) { return value, nil }}))(t)
	t.Cleanup(client.Close)
	r := relaytest.Start(t, client)
	o := prepareAt(t, h, h.BaseURL(), value, "")
	o.run("secret", "remove", "hub")
	must.Do(t, os.WriteFile(filepath.Join(o.profile, settings.FileName), fmt.Appendf(nil, "[hub]\nsecret_store = \"file\"\n[card]\nafter_call = \"0s\"\n[listener]\nport = %d\n", nettest.Port(t)), 0o600))
	o.Move(250, 600) // a card under the pointer stays
	o.start()
	r.Invite(users.Entry{User: "bob", Name: "Bob Smit", Extensions: []string{"102"}})
	o.run("join", r.Address, r.Invite(users.Entry{User: "anna", Extensions: []string{"101"}}), "--fingerprint", r.Fingerprint)
	var all []history.Entry
	is := func(what string, ok func(history.Entry) bool) {
		t.Helper()
		o.Until(what, func() bool {
			all = callsOf(t, o)
			return len(all) > 0 && ok(all[0])
		}, func() []any { return []any{fmt.Sprintf("%+v", all)} })
	}
	r.Report(`{"id":"7","state":"ringing","number":"` + vries.Numbers[0] + `","extension":"101"}`)
	is("the call with its contact", func(e history.Entry) bool {
		return e.Kind == registry.Relay && e.ContactID == vries.Contact.ID && e.Ended.IsZero()
	})
	o.Until("a card", func() bool { return !o.empty() })
	r.Report(`{"id":"7","state":"answered","extension":"101"}`)
	r.Report(`{"id":"7","state":"ended"}`)
	is("the end", func(e history.Entry) bool { return !e.Answered.IsZero() && !e.Ended.IsZero() })
	o.Until("no card", o.empty)
	if got := h.Stats().Lookups; got != 1 || len(all) != 1 {
		t.Errorf("the hub counts %d look-ups of %d calls", got, len(all))
	}
	if resident := o.resident.Process.Pid; !inMemory(t, resident, r.Address) || inMemory(t, resident, value) {
		t.Error("the hub's secret is in the resident's memory, or the test does not look into it")
	}
	must.Do(t, filepath.WalkDir(o.profile, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(value)) {
			t.Errorf("the hub's secret is in %s", filepath.Base(path))
		}
		return err
	}))
	r.Report(`{"id":"5","state":"ringing","number":"0698760014","extension":"101"}`)
	r.Report(`{"id":"5","state":"answered","extension":"102"}`)
	r.Report(`{"id":"5","state":"ended"}`)
	is("who took it", func(e history.Entry) bool {
		return e.Result == history.ResultAnsweredElsewhere && e.AnsweredBy == "Bob Smit"
	})
	o.stop()
	r.Report(`{"id":"6","state":"ringing","number":"0698760013","extension":"101","queue":"Schade"}`)
	r.Report(`{"id":"6","state":"ended","reason":"missed"}`)
	before := time.Now()
	r.Report(`{"id":"8","state":"ringing","number":"0698760012","extension":"101"}`)
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
		on, missed = of("+31698760012"), of("+31698760013")
		return on.ID != 0 && missed.ID != 0
	})
	if len(all) != 4 || !on.Ended.IsZero() || on.Rang.Before(before.Truncate(time.Microsecond)) || on.Rang.After(after) {
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
