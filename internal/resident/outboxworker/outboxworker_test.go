package outboxworker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/testutil/must"
)

// TestDeliveriesStartLazily checks that nothing is opened on a computer that delivers
// nothing, and that whatever is handed over is delivered, folders with their contents.
func TestDeliveriesStartLazily(t *testing.T) {
	d := newDeliverer(t)
	d.now()
	d.say(windowapi.DeliveryRequest{Release: true})
	if _, err := os.Stat(d.deliveries.dir); !errors.Is(err, os.ErrNotExist) || d.deliveries.current() != nil {
		t.Fatalf("an outbox was opened: %v", err)
	}
	d.file("a.zip", "a")
	d.file("b.ZIP", "b")
	must.Do(t, os.WriteFile(filepath.Join(d.in, "brief.txt"), []byte("no ZIP"), 0o600))
	empty := t.TempDir()
	d.add(d.in, empty, filepath.Join(d.in, "brief.txt"))
	s := d.until("two files delivered", decided(2))
	reasons := map[string]string{}
	for _, it := range s.Items {
		reasons[it.Name] = string(it.State) + " " + string(it.Reason)
	}
	for _, f := range s.Files {
		reasons[f.Name] = f.State + " " + f.Reason
	}
	if len(reasons) != 4 || reasons["a.zip"] != "delivered " || reasons["b.ZIP"] != "delivered " || reasons["brief.txt"] != "refused not_zip" || reasons[filepath.Base(empty)] != "refused no_files" {
		t.Errorf("%v", reasons)
	}
	if d.asked.Stats().Messages != 2 || len(s.Files) != 2 {
		t.Errorf("%d messages; %d files are not taken", d.asked.Stats().Messages, len(s.Files))
	}
	for _, f := range s.Files { // a file not taken is checked again and disappears without a trace
		if f.Name != "brief.txt" {
			continue
		}
		d.file("brief.txt", "now it is one")
		d.say(windowapi.DeliveryRequest{ID: f.ID})
		d.until("the mended file is delivered", decided(3))
	}
	d.stop()
	d.begin() // the outbox exists now: it is opened at once and knows them
	d.until("the list of before", func(s seen) bool { return s.Delivered == 3 })
}

// TestDeliveriesAskAboutDuplicates checks that a delivered file is sent again only on
// request; if the settings decide, nobody is asked.
func TestDeliveriesAskAboutDuplicates(t *testing.T) {
	d := newDeliverer(t)
	path := d.file("a.zip", "a")
	d.add(path)
	d.until("delivered", decided(1))
	d.add(path)
	s := d.until("a question", func(s seen) bool { return s.Questions == 1 })
	if q := s.Question; q.EarlierState != string(outbox.Delivered) || time.Since(q.EarlierTime) > time.Minute {
		t.Errorf("%+v", q)
	}
	d.say(windowapi.DeliveryRequest{ID: s.Question.ID, Drop: true})
	d.until("no question", func(s seen) bool { return s.Questions == 0 && len(s.Files) == 0 })
	d.add(path)
	s = d.until("a question", func(s seen) bool { return s.Questions == 1 })
	d.say(windowapi.DeliveryRequest{ID: s.Question.ID, Again: true})
	d.until("sent all the same", decided(2))
	if n := d.asked.Stats().Messages; n != 2 {
		t.Errorf("%d messages", n)
	}
	if !d.say(windowapi.DeliveryRequest{ID: s.Question.ID, Again: true}).Failed {
		t.Error("twice")
	}
	next := *d.set
	next.Delivery.Duplicate, next.Delivery.KeepSent = outbox.DuplicateSend, 3
	d.hold(&next)
	d.deliveries.SettingsChanged(&next)
	d.add(path)
	s = d.until("sent unasked", decided(3))
	if !s.Items[0].HasCopy {
		t.Error("delivery.keep_sent is not obeyed")
	}
	next.Delivery.Duplicate = outbox.DuplicateRefuse
	d.deliveries.SettingsChanged(&next)
	d.add(path)
	s = d.until("refused", func(s seen) bool { return len(s.Files) == 1 && s.Adding == 0 })
	if s.Questions != 0 || s.Files[0].Reason != "duplicate" || d.asked.Stats().Messages != 3 {
		t.Errorf("%+v", s.Files[0])
	}
}

// TestDeliveriesHold checks that refused credentials hold the queue without using up
// attempts, that the tray reports it, and that a new secret resumes it.
func TestDeliveriesHold(t *testing.T) {
	d := newDeliverer(t)
	d.asked.Faults().RefuseCredentials(true)
	for i := range 5 {
		d.file(fmt.Sprintf("%d.zip", i), fmt.Sprint(i))
	}
	d.add(d.in)
	s := d.until("on hold", func(s seen) bool { return s.Held != "" && s.Waiting == 5 && s.Adding == 0 })
	if s.Held != string(outbox.CredentialsRefused) || d.asked.Stats().Messages != 0 {
		t.Errorf("held %q, %d messages", s.Held, d.asked.Stats().Messages)
	}
	asked := d.asked.Stats().Tokens
	for _, r := range s.Items {
		it, err := d.deliveries.current().Get(t.Context(), r.ID)
		if err != nil || it.Tries != 0 || it.Attempts != 0 || it.State != outbox.Waiting {
			t.Errorf("%+v, %v", it, err)
		}
	}
	if r := d.sentence(); r.State != health.NotSetUp && r.State < health.CredentialsRefused || !strings.Contains(r.Sentence, "Aanleveren staat stil: de hub weigert de koppeling. Meld dit bij Jan (IT).") {
		t.Errorf("the tray says: %d %s", r.State, r.Sentence)
	}
	if n := d.asked.Stats().Tokens - asked; n > 1 {
		t.Errorf("asked for a token %d times while on hold", n)
	}
	d.asked.Faults().RefuseCredentials(false)
	d.deliveries.SettingsChanged(d.set)
	d.until("delivered after the settings were written", decided(5))
	if r := d.sentence(); strings.Contains(r.Sentence, "Aanleveren") {
		t.Errorf("the tray still says: %s", r.Sentence)
	}
	if n := d.asked.Stats().Messages; n != 5 {
		t.Errorf("%d messages", n)
	}
	// Items that the hub forbids wait as well, until the user releases the queue.
	d.asked.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Status: 403, Times: 1})
	d.add(d.file("5.zip", "5"))
	d.until("forbidden", func(s seen) bool { return s.Held == string(outbox.Forbidden) })
	d.say(windowapi.DeliveryRequest{Release: true})
	d.until("delivered after it was released", decided(6))
}

// TestDeliveriesResolve checks that a possibly delivered message waits for a person, that
// the tray reports it, and that a person decides with a note.
func TestDeliveriesResolve(t *testing.T) {
	t.Parallel()
	d := newDeliverer(t)
	d.asked.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Body: localhub.BodyCut, Times: 2})
	d.add(d.file("a.zip", "a"), d.file("b.zip", "b"))
	s := d.until("maybe delivered", func(s seen) bool { return s.Uncertain == 2 })
	if r := d.sentence(); r.State < health.Doubt || !strings.Contains(r.Sentence, "2 berichten zijn mogelijk aangeleverd") {
		t.Errorf("the tray says: %d %s", r.State, r.Sentence)
	}
	d.changes(func(box *outbox.Outbox) error {
		_, err := box.Resolve(t.Context(), s.Items[0].ID, true, "Mw. Smit zag het staan")
		return err
	})
	d.changes(func(box *outbox.Outbox) error { // sent at once, not at the next poll
		_, err := box.Resolve(t.Context(), s.Items[1].ID, false, "Stond er niet")
		return err
	})
	d.until("decided", decided(2))
	d.changes(func(box *outbox.Outbox) error { return box.Forget(t.Context(), s.Items[0].ID, true) })
	d.until("removed", func(s seen) bool { return len(s.Items) == 1 })
}

// TestDeliveriesBesideACommand checks that while a command delivers, the resident hands
// over and waits, and continues when the command ends.
func TestDeliveriesBesideACommand(t *testing.T) {
	t.Parallel()
	d := newDeliverer(t)
	d.stop() // otherwise it could deliver first
	options := d.deliveries.options()
	sent := make(chan string, 10)
	options.Hub = func(string) (outbox.Deliverer, error) { // the command's own hub
		sent <- "command"
		return d.deliveries.senders.Client(localhub.DefaultIntermediary)
	}
	command := must.Get(outbox.Open(t.Context(), options))(t)
	defer command.Close()
	ctx, cancel := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	started := make(chan struct{})
	go func() { close(started); worked <- command.WorkWhenFree(ctx, nil) }()
	<-started
	for !command.Busy() {
		if t.Context().Err() != nil {
			t.Fatal("no worker")
		}
	}
	d.begin()
	d.add(d.file("a.zip", "a"))
	d.until("delivered by the command", decided(1))
	if len(sent) != 1 {
		t.Errorf("the command sent %d", len(sent))
	}
	cancel()
	if err := <-worked; err != nil {
		t.Error(err)
	}
	d.add(d.file("b.zip", "b"))
	d.until("delivered by the resident", decided(2))
	if len(sent) != 1 {
		t.Error("the command sent what came after it")
	}
}

// TestDeliveriesOfManyFiles checks that reports about files that were not taken fit into
// messages, whatever the files are called, and that their number is limited.
func TestDeliveriesOfManyFiles(t *testing.T) {
	d := newDeliverer(t)
	const n = 150
	for i := range n {
		path := filepath.Join(d.in, fmt.Sprintf("%s%03d.zip", strings.Repeat("&<é>", 40), i))
		must.Do(t, os.WriteFile(path, []byte("no ZIP"), 0o600))
	}
	d.add(d.in)
	s := d.until("none taken", func(s seen) bool { return len(s.Files) == n && s.Adding == 0 })
	names := map[string]bool{}
	for _, f := range s.Files {
		names[f.Name] = f.State == string(outbox.Refused) && len(f.Findings) > 0
	}
	if len(names) != n || !names[s.Files[n-1].Name] {
		t.Errorf("%d files, the last %+v", len(names), s.Files[n-1])
	}
	if told := d.say(windowapi.DeliveryRequest{ID: s.Files[0].ID, Drop: true}); told.Total != n-1 {
		t.Errorf("%d files after one was removed", told.Total)
	}
	many := slices.Repeat([]string{filepath.Join(d.in, "none.zip")}, maxCandidates+5)
	if told := d.say(windowapi.DeliveryRequest{Paths: many}); told.Total != maxCandidates+1 || told.Files[0].Reason != codeTooMany {
		t.Errorf("%d files of too many", told.Total)
	}
}

// TestDeliveriesOnABadDisk checks that a file that cannot be taken is
// named and can be handed over again.
func TestDeliveriesOnABadDisk(t *testing.T) {
	d := newDeliverer(t)
	must.Do(t, os.WriteFile(d.deliveries.dir, []byte("a file in its place"), 0o600))
	d.add(d.file("a.zip", "a"))
	s := d.until("not taken", func(s seen) bool { return len(s.Files) == 1 && s.Adding == 0 })
	for range 3 { // checked repeatedly, logged once
		if _, err := d.deliveries.open(t.Context(), true); err == nil {
			t.Error("a file was opened as a folder")
		}
	}
	if n := strings.Count(d.log.String(), "cannot be opened"); n != 1 {
		t.Errorf("the log was told %d times", n)
	}
	if s.Files[0].State != windowapi.DeliveryNotTaken || s.Trouble == "" || d.sentence().State < health.Doubt {
		t.Errorf("%+v, trouble %q", s.Files[0], s.Trouble)
	}
	must.Do(t, os.Remove(d.deliveries.dir))
	d.say(windowapi.DeliveryRequest{ID: s.Files[0].ID})
	s = d.until("delivered", decided(1))
	if s.Trouble != "" || strings.Contains(d.sentence().Sentence, "Aanleveren") {
		t.Errorf("trouble %q, %s", s.Trouble, d.sentence().Sentence)
	}
}

// TestLateSnapshot checks that a snapshot that comes after a newer one is dropped, unless the clock
// was set back meanwhile.
func TestLateSnapshot(t *testing.T) {
	d, now := New(Params{OnState: func(health.Delivery) {}}), time.Now()
	for _, c := range []struct{ at, last int }{{0, 0}, {-59, 0}, {1, 1}, {-59, -59}} { // in seconds
		d.setSnapshot(&outbox.Snapshot{At: now.Add(time.Duration(c.at) * time.Second)})
		if last := int(d.last.At.Sub(now).Seconds()); last != c.last {
			t.Errorf("one of %d s: the last one is of %d s, want %d", c.at, last, c.last)
		}
	}
}

// TestDeliveriesNotSetUp checks that nothing is taken before deliveries are set up, and
// that the demo, which has none, answers nothing.
func TestDeliveriesNotSetUp(t *testing.T) {
	d := newDeliverer(t)
	next := *d.set
	next.Hub.Intermediary = ""
	d.hold(&next)
	d.add(d.file("a.zip", "a"))
	if s := d.now(); len(s.Files) != 0 {
		t.Errorf("%+v", s.Files)
	}
	if _, err := os.Stat(d.deliveries.dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("an outbox was made")
	}
	var none *Worker
	none.Answer(request.Request{Kind: windowapi.KindDelivery})
	none.SettingsChanged(&next)
	none.Recheck()
}

// TestDeliveriesFolderRemoved checks that removing the outbox while the program runs is
// reported with what was lost, and that the next file is delivered without a restart.
func TestDeliveriesFolderRemoved(t *testing.T) {
	d := newDeliverer(t)
	d.add(d.file("a.zip", "a"))
	d.until("delivered", decided(1))
	d.asked.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Status: 503})
	d.add(d.file("b.zip", "b"), d.file("c.zip", "c"))
	d.until("two wait", func(s seen) bool { return s.Waiting == 2 && s.Adding == 0 })
	must.Do(t, os.RemoveAll(d.deliveries.dir))
	d.deliveries.TriggerCheck()
	s := d.until("it is said", func(s seen) bool {
		return s.Notice != "" && strings.Contains(d.sentence().Sentence, "verwijderd")
	})
	if !strings.Contains(s.Notice, "2 bestanden") || s.Trouble != "" || s.Waiting != 0 || len(s.Items)+len(s.Files) != 0 {
		t.Errorf("%+v", s)
	}
	if r := d.sentence(); r.State < health.Doubt || !strings.Contains(r.Sentence, "verwijderd, met 2 bestanden") || strings.Contains(r.Sentence, "verdwenen") {
		t.Errorf("the tray says %d %s", r.State, r.Sentence)
	}
	if _, err := os.Stat(d.deliveries.dir); err == nil || d.deliveries.current() != nil {
		t.Error("another one was made before anybody needed it")
	}
	d.asked.Faults().Clear(localhub.EndpointTransaction)
	d.add(d.file("b.zip", "b"))
	s = d.until("delivered into the new one", decided(1))
	if s.Items[0].Name != "b.zip" || s.Items[0].State != outbox.Delivered || s.Notice == "" {
		t.Errorf("%+v", s)
	}
	d.say(windowapi.DeliveryRequest{Read: true})
	if r := d.sentence(); strings.Contains(r.Sentence, "verwijderd") || d.now().Notice != "" {
		t.Errorf("still said: %s", r.Sentence)
	}
}
