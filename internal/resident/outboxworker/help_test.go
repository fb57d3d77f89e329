package outboxworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deliverer is a delivery worker with a hub and a folder of files.
type deliverer struct {
	log        logtest.Buffer
	t          *testing.T
	asked      *localhub.Hub
	dirs       profile.Dirs
	deliveries *Worker
	in         string
	stop       func() // ends the deliveries as the resident's end does

	mu   sync.Mutex
	set  *settings.Settings // in effect
	told health.Delivery    // last reported to the tray
}

func newDeliverer(t *testing.T) *deliverer {
	t.Helper()
	h := must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 20, Demo: true}))(t)
	t.Cleanup(func() { _ = h.Close() })
	key := must.Get(h.AddClient(t.Context(), "sender", "1234"))(t)
	dirs := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, dirs.Make())
	d := &deliverer{t: t, asked: h, dirs: dirs, in: t.TempDir()}
	s := settings.Defaults()
	s.UI.Language, s.Support.Contact = "nl", "Jan (IT)"
	s.Hub.BaseURL, s.Hub.HubURL, s.Hub.ClientID, s.Hub.OrganisationCode = h.BaseURL(), h.HubURL(), "sender", "1234"
	s.Hub.SecretStore, s.Hub.Intermediary = "file", localhub.DefaultIntermediary
	d.keep(key, s)
	d.hold(s)
	d.begin()
	return d
}

// keep stores the secret.
func (d *deliverer) keep(value string, s *settings.Settings) {
	d.t.Helper()
	store := secret.Open(s.Hub.SecretStore, d.dirs)
	ref, err := secret.HubRef(s.Hub.BaseURL, s.Hub.ClientID)
	if err == nil {
		err = store.Set(d.t.Context(), ref, value)
	}
	must.Do(d.t, err)
}

// hold puts settings into effect without notifying the deliveries.
func (d *deliverer) hold(s *settings.Settings) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set = s
}

// params returns what the resident gives the deliveries.
func (d *deliverer) params() Params {
	return Params{Dirs: d.dirs, Log: slog.New(slog.NewTextHandler(&d.log, nil)), Send: func(string, any) {},
		Settings: func() *settings.Settings { d.mu.Lock(); defer d.mu.Unlock(); return d.set },
		Language: func() text.Language { return text.Dutch },
		OnState:  func(now health.Delivery) { d.mu.Lock(); defer d.mu.Unlock(); d.told = now }}
}

// begin starts the deliveries and stops them when the test ends.
func (d *deliverer) begin() {
	v := New(d.params())
	d.deliveries = v
	stop := must.Run(d.t, v.Run)
	d.stop = func() { stop(); v.Close(); v.box = nil }
	d.t.Cleanup(func() { d.stop() })
}

func (d *deliverer) file(name, who string) string {
	d.t.Helper()
	content := messagetest.ZIP(d.t, "bericht.xml", fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Contractdocument><UN><UN_ZENDER>%s</UN_ZENDER><UN_ONTVAN>Kantoor</UN_ONTVAN></UN></Contractdocument>`, who))
	path := filepath.Join(d.in, name)
	must.Do(d.t, os.WriteFile(path, content, 0o600))
	return path
}

// say sends a request as the window does and returns the answer.
func (d *deliverer) say(m windowapi.DeliveryRequest) (told windowapi.Delivery) {
	d.t.Helper()
	raw := must.Get(json.Marshal(m))(d.t)
	first := true
	d.deliveries.Answer(request.Request{Ctx: d.t.Context(), Kind: windowapi.KindDelivery, Raw: raw, Reply: func(_ string, msg any) {
		b, err := json.Marshal(msg)
		if err != nil || len(b) > 60<<10 {
			d.t.Errorf("a message of %d bytes, %v", len(b), err)
		}
		m := msg.(windowapi.Delivery)
		if m.First != len(told.Files) || first != (m.First == 0) {
			d.t.Errorf("a part from %d after %d files", m.First, len(told.Files))
		}
		if m.Files = append(told.Files, m.Files...); first {
			told, first = m, false
		}
		told.Files = m.Files
	}})
	if len(told.Files) != told.Total {
		d.t.Errorf("%d of %d files", len(told.Files), told.Total)
	}
	return told
}

// seen is what the window would show: the reported state and the outbox.
type seen struct {
	windowapi.Delivery
	Held                                   string
	Waiting, Delivered, Refused, Uncertain int
	Adding, Questions                      int
	Items                                  []outbox.Item
	Question                               windowapi.DeliveryFile
}

func (d *deliverer) now() seen {
	d.t.Helper()
	s := seen{Delivery: d.say(windowapi.DeliveryRequest{})}
	d.deliveries.mu.Lock()
	defer d.deliveries.mu.Unlock()
	if n := d.deliveries.last; n != nil {
		s.Held, s.Items = string(n.Queue.HoldReason), n.Items
		s.Waiting, s.Delivered = n.Counts[outbox.Waiting]+n.Counts[outbox.Sending], n.Counts[outbox.Delivered]
		s.Refused, s.Uncertain = n.Counts[outbox.Refused], n.Counts[outbox.Uncertain]
	}
	for _, f := range s.Files {
		switch {
		case f.Item != "" || f.State == windowapi.DeliveryAdding:
			s.Adding++ // the outbox may not list it yet
		case f.State == windowapi.DeliveryQuestion:
			s.Questions++
			s.Question = f
		}
	}
	return s
}

// changes modifies the outbox as the window does.
func (d *deliverer) changes(do func(*outbox.Outbox) error) {
	d.t.Helper()
	box, err := outbox.Open(d.t.Context(), outbox.Options{Dir: d.deliveries.dir})
	if err == nil {
		err = errors.Join(do(box), box.Close())
	}
	if err != nil {
		d.t.Error(err)
	}
	d.say(windowapi.DeliveryRequest{Changed: true})
}

func (d *deliverer) until(what string, ok func(seen) bool) seen {
	d.t.Helper()
	var s seen
	must.Soon(d.t, func() (bool, any) {
		s = d.now()
		return ok(s), fmt.Sprintf("no %s, but %+v", what, s.Files)
	})
	return s
}

// sentence returns what the tray reports.
func (d *deliverer) sentence() health.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return health.Assess(health.Facts{Delivery: d.told}, text.Dutch, "Jan (IT)", time.Now())
}

func (d *deliverer) add(paths ...string) {
	d.say(windowapi.DeliveryRequest{Paths: paths})
}

func decided(n int) func(seen) bool {
	return func(s seen) bool { return s.Delivered == n && s.Adding == 0 && s.Waiting == 0 }
}
