package outboxworker

import (
	"os"
	"strings"
	"testing"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
)

// TestDeliveriesFolderRemoved: whoever removes the outbox while the program runs
// is told what went with it, and the next file is delivered without a restart.
func TestDeliveriesFolderRemoved(t *testing.T) {
	d := newDeliverer(t)
	d.add(d.file("a.zip", "a"))
	d.until("delivered", decided(1))
	d.asked.Faults().Set(localhub.AtTransaction, localhub.Fault{Status: 503})
	d.add(d.file("b.zip", "b"), d.file("c.zip", "c"))
	d.until("two wait", func(s seen) bool { return s.Waiting == 2 && s.Adding == 0 })
	must.Do(t, os.RemoveAll(d.deliveries.dir))
	d.deliveries.Look()
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
	d.asked.Faults().Clear(localhub.AtTransaction)
	d.add(d.file("b.zip", "b"))
	s = d.until("delivered into the new one", decided(1))
	if s.Items[0].Name != "b.zip" || s.Items[0].State != outbox.Delivered || s.Notice == "" {
		t.Errorf("%+v", s)
	}
	d.say(windowapi.DeliveryDo{Read: true})
	if r := d.sentence(); strings.Contains(r.Sentence, "verwijderd") || d.now().Notice != "" {
		t.Errorf("still said: %s", r.Sentence)
	}
}
