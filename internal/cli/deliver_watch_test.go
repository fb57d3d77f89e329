package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// watch runs "wiebelt deliver --watch" on the folder until it is stopped.
func (s *sender) watch(json bool, out, errOut io.Writer) (stop func(), done chan error) {
	ctx, stop := context.WithCancel(s.t.Context())
	done = make(chan error, 1)
	go func() {
		done <- (&deliverSendCmd{Wait: true, Watch: s.in, JSON: json}).Run(&env{ctx: ctx, out: out, err: errOut, profileDir: s.profile})
	}()
	return stop, done
}

// TestDeliverWatch delivers and moves files put into a folder once they are complete,
// including those left when the last watcher was stopped.
func TestDeliverWatch(t *testing.T) {
	s := newSender(t)
	var out, errOut logtest.Buffer
	whole := string(zipOf(t, "groeit"))
	s.file("groeit.zip", whole[:100])
	s.file("a.zip")
	s.file("slecht.zip", "geen zip")
	stop, done := s.watch(false, &out, &errOut)
	s.there("sent/a.zip", "refused/slecht.zip", "refused/slecht.zip.txt")
	if len(s.read("refused/slecht.zip.txt")) < 10 {
		t.Error("no reason beside the file")
	}
	if !s.has("groeit.zip") || s.has("a.zip") || s.has("slecht.zip") {
		t.Error("the folder is not as it should be")
	}
	s.file("groeit.zip", whole)
	s.there("sent/groeit.zip")
	// The same contents again: recognized, and moved to the others. A hub that refuses: the
	// reason is written beside the file.
	s.broken(localhub.Fault{Status: 422, Times: 1})
	s.file("a.zip")
	s.file("b.zip")
	s.there("sent/a-2.zip", "sent/a-2.zip.txt", "refused/b.zip")
	if why := s.read("refused/b.zip.txt"); !strings.Contains(why, "antwoordcode 422") || !strings.Contains(why, "broken on purpose") {
		t.Errorf("%q", why)
	}
	// Stopped while the hub is gone; the next watcher continues and delivers once.
	must.Do(t, s.hub.Faults().SetGone(true))
	s.file("c.zip")
	eventually(t, "c.zip taken", func() bool { return strings.Contains(s.exits(0, "list").out, "c.zip") })
	stop()
	must.Do(t, <-done)
	if !s.has("c.zip") {
		t.Error("c.zip was moved")
	}
	must.Do(t, s.hub.Faults().SetGone(false))
	before := s.hub.Stats().Messages
	stop, done = s.watch(true, &out, &errOut)
	s.there("sent/c.zip")
	stop()
	must.Do(t, <-done)
	s.arrived(before + 1)
	log, _, _ := strings.Cut(out.String(), "{")
	for content, line := range map[string]string{string(zipOf(t, "a.zip")): `(?m)^[0-9a-f-]{36} %x: aangeleverd: antwoordcode 200$`, "geen zip": `(?m)^- %x: geweigerd: `} {
		if line = fmt.Sprintf(line, sha256.Sum256([]byte(content))); !regexp.MustCompile(line).MatchString(log) {
			t.Errorf("no line %s in %s", line, log)
		}
	}
	if strings.Contains(log, "a.zip") || !strings.Contains(out.String(), `"outcome":"delivered"`) {
		t.Errorf("said %s", out.String())
	}
	if s := errOut.String(); strings.Contains(s, "slecht") || strings.Contains(s, "a.zip") {
		t.Errorf("names in the log: %s", s)
	}
}

// TestDeliverWatchFollows checks that a service watching a folder uses the
// current settings, as a running Wiebelt does.
func TestDeliverWatchFollows(t *testing.T) {
	s := newSender(t)
	set := func(key, value string) {
		exits(t, 0, "", "settings", "set", key, value, "--profile", s.profile)
	}
	set("hub.client_id", "another")
	s.file("a.zip")
	stop, done := s.watch(false, io.Discard, io.Discard)
	eventually(t, "queue on hold", func() bool {
		sum, err := outbox.Summarize(t.Context(), filepath.Join(s.profile, "outbox"))
		return err == nil && sum.HoldReason != ""
	})
	set("hub.client_id", "office")
	s.there("sent/a.zip")
	stop()
	must.Do(t, <-done)
}

// TestDeliverWatchKeeps: what copies are kept, and which hub gets the files, stays while the
// settings are replaced or cannot be read. If they are gone a tick later, the defaults count.
func TestDeliverWatchKeeps(t *testing.T) {
	s := newSender(t)
	at := filepath.Join(s.profile, "settings.toml")
	exits(t, 0, "", "settings", "set", "delivery.keep_sent", "365", "--profile", s.profile)
	good := must.Get(os.ReadFile(at))(t)
	e := &env{ctx: t.Context(), out: io.Discard, err: io.Discard, profileDir: s.profile}
	p := must.Get(e.prepareDeliver())(t)
	c := &deliverSendCmd{}
	must.Do(t, c.withDelivery(e, p, func(r *delivery) error {
		w := &watcher{delivery: r}
		w.settingsStamp = w.fingerprint()
		follow := func(what string, applies bool, keep int) {
			t.Helper()
			if got := w.applySettings(t.Context()); got != applies || w.p.s.Delivery.KeepSent != keep || (w.hub.Load().ClientID != "") != (keep > 0) {
				t.Errorf("%s: applied %v, copies for %d days, hub %+v", what, got, w.p.s.Delivery.KeepSent, w.hub.Load())
			}
		}
		must.Do(t, os.Remove(at))
		follow("missing", false, 365)
		must.Do(t, os.WriteFile(at, good, 0o600))
		follow("replaced", true, 365)
		must.Do(t, os.WriteFile(at, []byte("[\x00h\x00"), 0o600))
		follow("unreadable", true, 365)
		follow("still unreadable", false, 365)
		must.Do(t, os.Remove(at))
		follow("missing", false, 365)
		follow("gone", true, 0)
		return nil
	}))
}

// TestDeliverWatchFolderRemoved checks that a service whose outbox is removed exits, so
// that its supervisor restarts it; then the files in the folder are delivered.
func TestDeliverWatchFolderRemoved(t *testing.T) {
	s := newSender(t)
	must.Do(t, s.hub.Faults().SetGone(true))
	s.file("a.zip")
	_, done := s.watch(false, io.Discard, io.Discard)
	at := filepath.Join(s.profile, "outbox")
	eventually(t, "a.zip taken", func() bool {
		taken, _ := filepath.Glob(filepath.Join(at, "spool", "*.zip"))
		return len(taken) == 1
	})
	must.Do(t, os.RemoveAll(at))
	var failed *failure
	if err := <-done; !errors.As(err, &failed) || failed.code != exitFailed || !strings.Contains(text.Dutch.Error(failed.error), "opnieuw") {
		t.Fatalf("%v", err)
	}
	must.Do(t, s.hub.Faults().SetGone(false))
	stop, done := s.watch(false, io.Discard, io.Discard)
	s.there("sent/a.zip")
	stop()
	must.Do(t, <-done)
}
