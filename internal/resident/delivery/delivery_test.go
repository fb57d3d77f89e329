package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/localhub"
	"wiebelt/internal/messagetest"
	"wiebelt/internal/outbox"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deliverer is deliveries with a hub, and a folder with files.
type deliverer struct {
	t          *testing.T
	asked      *localhub.Hub
	dirs       profile.Dirs
	deliveries *Deliveries
	in         string
	stop       func() // ends the deliveries, as the end of the resident does

	mu   sync.Mutex
	set  *settings.Settings // that hold
	told health.Delivery    // to the tray
}

func newDeliverer(t *testing.T) *deliverer {
	t.Helper()
	h, err := localhub.Start(context.Background(), localhub.Config{Synthetic: 20, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	key, err := h.AddClient(t.Context(), "sender", "1234")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
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

// keep puts the secret into its store.
func (d *deliverer) keep(value string, s *settings.Settings) {
	d.t.Helper()
	store, err := secret.Open(s.Hub.SecretStore, d.dirs)
	if err != nil {
		d.t.Fatal(err)
	}
	ref, err := secret.Hub(s.Hub.BaseURL, s.Hub.ClientID)
	if err == nil {
		err = store.Set(d.t.Context(), ref, value)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// hold makes settings hold, without telling the deliveries.
func (d *deliverer) hold(s *settings.Settings) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set = s
}

// params is what the deliveries have of the resident.
func (d *deliverer) params() Params {
	return Params{Dirs: d.dirs, Log: slog.New(slog.DiscardHandler), Send: func(string, any) {},
		Settings: func() *settings.Settings { d.mu.Lock(); defer d.mu.Unlock(); return d.set },
		Language: func() text.Language { return text.Dutch },
		Support:  func() string { return "Jan (IT)" },
		Told:     func(now health.Delivery) { d.mu.Lock(); defer d.mu.Unlock(); d.told = now }}
}

// begin starts the deliveries, and ends them with the test.
func (d *deliverer) begin() {
	v := New(d.params())
	d.deliveries = v
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); v.Run(ctx) }()
	d.stop = func() { cancel(); <-ended; v.Close(); v.box = nil }
	d.t.Cleanup(func() { d.stop() })
}

func (d *deliverer) file(name, who string) string {
	d.t.Helper()
	content := messagetest.ZIP(d.t, "bericht.xml", fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Contractdocument><UN><UN_ZENDER>%s</UN_ZENDER><UN_ONTVAN>Kantoor</UN_ONTVAN></UN></Contractdocument>`, who))
	path := filepath.Join(d.in, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

type answer struct {
	kind string
	msg  any
}

// say sends a request as the window does, and gives the answers.
func (d *deliverer) say(kind string, m any) (answers []answer) {
	d.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		d.t.Fatal(err)
	}
	d.deliveries.Answer(ask.Request{Ctx: d.t.Context(), Kind: kind, Raw: raw, Reply: func(kind string, msg any) {
		b, err := json.Marshal(msg)
		if err != nil || len(b) > 60<<10 {
			d.t.Errorf("an answer of %d bytes, %v", len(b), err)
		}
		answers = append(answers, answer{kind, msg})
	}})
	return answers
}

// now is what the window would show.
func (d *deliverer) now() deskapi.DeliveryState {
	d.t.Helper()
	return d.say(deskapi.KindDeliveryAsk, deskapi.DeliveryAsk{View: deskapi.DeliveryAll, Count: 100})[0].msg.(deskapi.DeliveryState)
}

func (d *deliverer) until(what string, ok func(deskapi.DeliveryState) bool) deskapi.DeliveryState {
	d.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for {
		s := d.now()
		if ok(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-late:
			d.t.Fatalf("waited in vain for: %s; %+v", what, struct{ deskapi.DeliveryState }{s}.Rows)
		}
	}
}

// sentence is what the tray says.
func (d *deliverer) sentence() health.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return health.Assess(health.Facts{Delivery: d.told}, text.Dutch, "Jan (IT)", time.Now())
}

func (d *deliverer) add(paths ...string) {
	d.say(deskapi.KindDeliveryAdd, deskapi.DeliveryAdd{Paths: paths})
}

func decided(n int) func(deskapi.DeliveryState) bool {
	return func(s deskapi.DeliveryState) bool { return s.Delivered == n && s.Adding == 0 && s.Waiting == 0 }
}

// TestDeliveriesStartLazily: nothing is opened on a computer that delivers
// nothing, and what is given is delivered, folders with what lies in them.
func TestDeliveriesStartLazily(t *testing.T) {
	d := newDeliverer(t)
	d.now()
	d.say(deskapi.KindDeliveryRetry, deskapi.DeliveryItem{})
	if _, err := os.Stat(d.deliveries.dir); !errors.Is(err, os.ErrNotExist) || d.deliveries.current() != nil {
		t.Fatalf("an outbox was opened: %v", err)
	}
	d.file("a.zip", "a")
	d.file("b.ZIP", "b")
	if err := os.WriteFile(filepath.Join(d.in, "brief.txt"), []byte("no ZIP"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	d.add(d.in, empty, filepath.Join(d.in, "brief.txt"))
	s := d.until("two files delivered", decided(2))
	reasons := map[string]string{}
	for _, r := range s.Rows {
		reasons[r.Name] = r.State + " " + r.Reason
	}
	if len(s.Rows) != 4 || reasons["a.zip"] != "delivered " || reasons["b.ZIP"] != "delivered " || reasons["brief.txt"] != "refused not_zip" || reasons[filepath.Base(empty)] != "refused no_files" {
		t.Errorf("%v", reasons)
	}
	if d.asked.Stats().Messages != 2 || s.Act != 2 || s.Open != 0 {
		t.Errorf("%d messages; %d need attention, %d open", d.asked.Stats().Messages, s.Act, s.Open)
	}
	for _, r := range s.Rows { // an untaken one is checked again, and goes without a trace
		if r.Name != "brief.txt" {
			continue
		}
		d.file("brief.txt", "now it is one")
		d.say(deskapi.KindDeliveryRetry, deskapi.DeliveryItem{ID: r.ID})
		d.until("the mended file is delivered", decided(3))
	}
	d.stop()
	d.begin() // there is an outbox now: it is opened at once, and knows them
	d.until("the list of before", func(s deskapi.DeliveryState) bool { return s.Delivered == 3 })
}

// TestDeliveriesAskAboutDuplicates: a file that was delivered is sent once more
// only if somebody says so; where the settings say it, nobody is asked.
func TestDeliveriesAskAboutDuplicates(t *testing.T) {
	d := newDeliverer(t)
	path := d.file("a.zip", "a")
	d.add(path)
	d.until("delivered", decided(1))
	d.add(path)
	s := d.until("a question", func(s deskapi.DeliveryState) bool { return s.Questions == 1 })
	if q := s.Question; q.State != deskapi.DeliveryQuestion || q.Was != string(outbox.Delivered) || time.Since(q.Before) > time.Minute || s.Act != 1 {
		t.Errorf("%+v", q)
	}
	d.say(deskapi.KindDeliveryRemove, deskapi.DeliveryItem{ID: s.Question.ID})
	d.until("no question", func(s deskapi.DeliveryState) bool { return s.Questions == 0 && s.Total == 1 })
	d.add(path)
	s = d.until("a question", func(s deskapi.DeliveryState) bool { return s.Questions == 1 })
	if all := d.say(deskapi.KindDeliveryShow, deskapi.DeliveryItem{ID: s.Question.ID}); all[0].msg.(deskapi.DeliveryReceipts).Row.State != deskapi.DeliveryQuestion {
		t.Errorf("%+v", all)
	}
	d.say(deskapi.KindDeliverySend, deskapi.DeliveryItem{ID: s.Question.ID})
	d.until("sent all the same", decided(2))
	if n := d.asked.Stats().Messages; n != 2 {
		t.Errorf("%d messages", n)
	}
	if a := d.say(deskapi.KindDeliverySend, deskapi.DeliveryItem{ID: s.Question.ID}); len(a) != 1 || a[0].kind != deskapi.KindDeliveryFailed {
		t.Errorf("twice: %v", a)
	}
	next := *d.set
	next.Delivery.Duplicate, next.Delivery.KeepSent = outbox.DuplicateSend, 3
	d.hold(&next)
	d.deliveries.SettingsChanged(&next)
	d.add(path)
	s = d.until("sent unasked", decided(3))
	if !s.Rows[0].Kept {
		t.Error("delivery.keep_sent is not obeyed")
	}
	next.Delivery.Duplicate = outbox.DuplicateRefuse
	d.deliveries.SettingsChanged(&next)
	d.add(path)
	s = d.until("refused", func(s deskapi.DeliveryState) bool { return s.Act == 1 && s.Adding == 0 })
	if s.Questions != 0 || s.Rows[0].Reason != "duplicate" || d.asked.Stats().Messages != 3 {
		t.Errorf("%+v", s.Rows[0])
	}
}

// TestDeliveriesHold: refused credentials hold the queue and burn nothing, the
// tray says so, and a new secret lets it go on.
func TestDeliveriesHold(t *testing.T) {
	d := newDeliverer(t)
	d.asked.Faults().RefuseCredentials(true)
	for i := range 5 {
		d.file(fmt.Sprintf("%d.zip", i), fmt.Sprint(i))
	}
	d.add(d.in)
	s := d.until("on hold", func(s deskapi.DeliveryState) bool { return s.Held != "" && s.Waiting == 5 && s.Adding == 0 })
	if s.Held != string(outbox.CredentialsOff) || d.asked.Stats().Messages != 0 {
		t.Errorf("held %q, %d messages", s.Held, d.asked.Stats().Messages)
	}
	asked := d.asked.Stats().Tokens
	for _, r := range s.Rows {
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
}

// TestDeliveriesResolve: what is maybe delivered waits for a person, the tray
// says so, and a person decides with a note.
func TestDeliveriesResolve(t *testing.T) {
	d := newDeliverer(t)
	d.asked.Faults().Set(localhub.AtTransaction, localhub.Fault{Body: localhub.BodyCut, Times: 2})
	d.add(d.file("a.zip", "a"), d.file("b.zip", "b"))
	s := d.until("maybe delivered", func(s deskapi.DeliveryState) bool { return s.Uncertain == 2 })
	if r := d.sentence(); r.State < health.Doubt || !strings.Contains(r.Sentence, "2 berichten zijn mogelijk aangeleverd") {
		t.Errorf("the tray says: %d %s", r.State, r.Sentence)
	}
	d.say(deskapi.KindDeliveryResolve, deskapi.DeliveryResolve{ID: s.Rows[0].ID, Delivered: true, Note: "Mw. Smit zag het staan"})
	d.say(deskapi.KindDeliveryResolve, deskapi.DeliveryResolve{ID: s.Rows[1].ID, Note: "Stond er niet"})
	s = d.until("decided", decided(2))
	for _, r := range s.Rows {
		all := d.say(deskapi.KindDeliveryShow, deskapi.DeliveryItem{ID: r.ID})[0].msg.(deskapi.DeliveryReceipts)
		if all.Note == "" || len(all.Receipts) == 0 || all.SHA256 == "" || all.Intermediary != localhub.DefaultIntermediary {
			t.Errorf("%+v", all.Receipts)
		}
	}
	if a := d.say(deskapi.KindDeliveryResolve, deskapi.DeliveryResolve{ID: s.Rows[0].ID, Delivered: true, Note: "x"}); len(a) != 1 || a[0].msg.(deskapi.DeliveryFailed).Sentence != text.Dutch.T(text.MessagesState) {
		t.Errorf("decided twice: %v", a)
	}
	d.say(deskapi.KindDeliveryRemove, deskapi.DeliveryItem{ID: s.Rows[0].ID})
	d.until("removed", func(s deskapi.DeliveryState) bool { return s.Total == 1 })
	if a := d.say(deskapi.KindDeliveryShow, deskapi.DeliveryItem{ID: s.Rows[0].ID}); len(a) != 1 || a[0].kind != deskapi.KindDeliveryFailed {
		t.Errorf("a removed one: %v", a)
	}
}

// TestDeliveriesBesideACommand: while a command delivers, the resident hands over
// and waits; when the command ends it goes on.
func TestDeliveriesBesideACommand(t *testing.T) {
	d := newDeliverer(t)
	d.stop() // or it could be the first to deliver
	options := d.deliveries.options()
	sent := make(chan string, 10)
	options.Hub = func(string) (outbox.Deliverer, error) { // the command's own hub
		sent <- "command"
		return (&senders{p: d.params()}).to(localhub.DefaultIntermediary)
	}
	command, err := outbox.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	ctx, cancel := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	started := make(chan struct{})
	go func() { close(started); worked <- command.Join(ctx, nil) }()
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

// TestDeliveriesOfManyFiles: what is told fits a message, whatever the files are
// called, and the list can be read from any place.
func TestDeliveriesOfManyFiles(t *testing.T) {
	d := newDeliverer(t)
	d.asked.Faults().RefuseCredentials(true)
	const n = 150
	for i := range n {
		d.add(d.file(fmt.Sprintf("%s%03d.zip", strings.Repeat("&<é>", 40), i), fmt.Sprint(i)))
	}
	d.until("all taken", func(s deskapi.DeliveryState) bool { return s.Waiting == n && s.Adding == 0 })
	seen := map[string]bool{}
	for first := 0; first < n; {
		s := d.say(deskapi.KindDeliveryAsk, deskapi.DeliveryAsk{View: deskapi.DeliveryOpen, First: first, Count: 100})[0].msg.(deskapi.DeliveryState)
		if s.First != first || s.Total != n || len(s.Rows) == 0 {
			t.Fatalf("from %d: %d of %d", s.First, len(s.Rows), s.Total)
		}
		for _, r := range s.Rows {
			seen[r.ID] = true
		}
		first += len(s.Rows)
	}
	if len(seen) != n {
		t.Errorf("%d rows", len(seen))
	}
	for _, bad := range []deskapi.DeliveryAsk{{First: -5, Count: -1}, {First: 1 << 40, Count: 1 << 40, View: "?"}} {
		if s := d.say(deskapi.KindDeliveryAsk, bad)[0].msg.(deskapi.DeliveryState); len(s.Rows) != 0 {
			t.Errorf("%+v gives %d rows", bad, len(s.Rows))
		}
	}
}

// TestDeliveriesOnABadDisk: what cannot be taken is named and can be given again.
func TestDeliveriesOnABadDisk(t *testing.T) {
	d := newDeliverer(t)
	if err := os.WriteFile(d.deliveries.dir, []byte("a file in its place"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.add(d.file("a.zip", "a"))
	s := d.until("not taken", func(s deskapi.DeliveryState) bool { return s.Total == 1 && s.Adding == 0 })
	if s.Rows[0].State != deskapi.DeliveryNotTaken || s.Trouble == "" || d.sentence().State < health.Doubt {
		t.Errorf("%+v, trouble %q", s.Rows[0], s.Trouble)
	}
	if err := os.Remove(d.deliveries.dir); err != nil {
		t.Fatal(err)
	}
	d.say(deskapi.KindDeliveryRetry, deskapi.DeliveryItem{ID: s.Rows[0].ID})
	s = d.until("delivered", decided(1))
	if s.Trouble != "" || strings.Contains(d.sentence().Sentence, "Aanleveren") {
		t.Errorf("trouble %q, %s", s.Trouble, d.sentence().Sentence)
	}
}

// TestDeliveriesNotSetUp: nothing is taken before deliveries are set up, and the
// demo, which has none, answers nothing.
func TestDeliveriesNotSetUp(t *testing.T) {
	d := newDeliverer(t)
	if !d.now().SetUp {
		t.Error("set up, and not said so")
	}
	next := *d.set
	next.Hub.Intermediary = ""
	d.hold(&next)
	if d.now().SetUp {
		t.Error("nothing is set up")
	}
	d.add(d.file("a.zip", "a"))
	if s := d.now(); s.Total != 0 || s.Support != "Jan (IT)" {
		t.Errorf("%+v", s.Rows)
	}
	if _, err := os.Stat(d.deliveries.dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("an outbox was made")
	}
	var none *Deliveries
	none.Answer(ask.Request{Kind: deskapi.KindDeliveryAsk})
	none.SettingsChanged(&next)
	none.Mended()
}

// TestDeliveriesRenewTheToken: a token that is refused in the middle of the queue
// is renewed once, and the queue goes on.
func TestDeliveriesRenewTheToken(t *testing.T) {
	d := newDeliverer(t)
	d.add(d.file("0.zip", "first"))
	d.until("the first", decided(1))
	tokens, messages := d.asked.Stats().Tokens, d.asked.Stats().Messages
	d.asked.Faults().Set(localhub.AtTransaction, localhub.Fault{Expired: true, Times: 1})
	var all []string
	for i := range 5 {
		all = append(all, d.file(fmt.Sprintf("later-%d.zip", i), fmt.Sprint("later ", i)))
	}
	d.add(all...)
	d.until("all of them", decided(6))
	if n := d.asked.Stats().Tokens - tokens; n != 1 {
		t.Errorf("%d tokens", n)
	}
	if n := d.asked.Stats().Messages - messages; n != 5 {
		t.Errorf("%d messages", n)
	}
	if f := d.asked.Stats().Faults; f != 1 {
		t.Errorf("%d refusals", f)
	}
}
