package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	inspect "wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

func openDelivery(t *testing.T, l text.Language) (*uitest.Harness, *window) {
	b := uitest.New(t, uitest.Greeting(l), map[string]widgets.Opener{windowapi.WindowDelivery: Open})
	b.Show(windowapi.WindowDelivery)
	w := b.Page(windowapi.WindowDelivery).(*window)
	w.outbox.open = func(context.Context, *settings.Settings) (outboxStore, error) { return &paper{}, nil }
	return b, w
}

// paper is an outbox that records what is done with it.
type paper struct {
	did  []string
	fail error
}

func (p *paper) note(what string, m ...any) error {
	p.did = append(p.did, strings.TrimSpace(fmt.Sprint(append([]any{what + " "}, m...)...)))
	return p.fail
}

func (p *paper) Snapshot(context.Context) (*outbox.Snapshot, error) { return &outbox.Snapshot{}, nil }
func (p *paper) Get(_ context.Context, id string) (outbox.Item, error) {
	return outbox.Item{ID: id, State: outbox.Waiting}, nil
}
func (p *paper) Receipts(context.Context, string) ([]outbox.Receipt, error) { return nil, nil }
func (p *paper) Retry(_ context.Context, id string) (outbox.Item, error) {
	return outbox.Item{}, p.note("retry", id)
}
func (p *paper) Resolve(_ context.Context, id string, delivered bool, note string) (outbox.Item, error) {
	return outbox.Item{}, p.note("resolve", id, delivered, " ", note)
}
func (p *paper) Forget(_ context.Context, id string, force bool) error {
	return p.note("forget", id, force)
}
func (p *paper) Gone() bool   { return false }
func (p *paper) Close() error { return p.note("close") }

// deliveryRows returns a made-up file in every state.
func deliveryRows() []row {
	at := func(m int) time.Time { return uitest.Noon.Add(-time.Duration(m) * time.Minute) }
	return []row{
		{Item: outbox.Item{ID: "n3", Name: "polissen-september.zip", State: windowapi.DeliveryAdding, Added: at(0)}},
		{Item: outbox.Item{ID: "n2", Name: "nota-2026-0917.zip", Size: 48_200, State: windowapi.DeliveryQuestion, Reason: "duplicate", Added: at(1)}, EarlierTime: at(90), EarlierState: "delivered"},
		{Item: outbox.Item{ID: "n1", Name: "vakantiefoto.zip", Size: 3_480_000, State: outbox.Refused, Reason: outbox.Reason(inspect.NoDocument), Added: at(1)}, Found: []inspect.Finding{{Code: inspect.NoDocument, Severity: inspect.Refused, Entry: -1}}},
		{Item: outbox.Item{ID: "i7", Name: "schade-dossier-00412.zip", Size: 500_000_000, State: outbox.Sending, Added: at(2), HasCopy: true}},
		{Item: outbox.Item{ID: "i6", Name: "mutatie-12.zip", Size: 12_400, State: outbox.Waiting, Reason: outbox.RetryLater, Status: 503, Added: at(3), NextTry: uitest.Noon.Add(12 * time.Minute), HasCopy: true}},
		{Item: outbox.Item{ID: "i5", Name: "mutatie-11.zip", Size: 12_390, State: outbox.Uncertain, Reason: outbox.NoAnswer, Added: at(5), Decided: at(4), HasCopy: true}},
		{Item: outbox.Item{ID: "i4", Name: "mutatie-10.zip", Size: 12_380, State: outbox.Refused, Reason: outbox.RefusedByHub, Status: 422, Added: at(6), Decided: at(6), HasCopy: true}},
		{Item: outbox.Item{ID: "i3", Name: "mutatie-09.zip", Size: 12_200, State: outbox.Delivered, Status: 201, Added: at(60), Decided: at(59)}, Found: []inspect.Finding{{Code: inspect.NoSuchDate, Severity: inspect.Warning}, {Code: inspect.AttachmentUnnamed, Severity: inspect.Note}}},
		{Item: outbox.Item{ID: "i2", Name: "mutatie-08.zip", Size: 812, State: outbox.Delivered, Status: 201, Added: at(26 * 60), Decided: at(26 * 60)}},
	}
}

func deliveryState() state {
	rows := deliveryRows()
	return state{SetUp: true, Support: "Jan (IT), toestel 140", View: viewAll, Rows: rows, Adding: 1,
		Waiting: 2, Delivered: 2, Refused: 1, Uncertain: 1, Open: 3, NeedAction: 4, Question: &rows[1], Questions: 1}
}

func deliveryReceipts(id string) receipts {
	for _, r := range deliveryRows() {
		if r.ID == id {
			m := receipts{Row: r}
			if strings.HasPrefix(id, "n") {
				return m
			}
			m.Row.Intermediary, m.Row.SHA256, m.Row.Attempts = "postbus", strings.Repeat("3f9a", 16), 2
			m.Row.Found = []inspect.Finding{{Code: inspect.NoSuchDate, Severity: inspect.Warning, Entry: 0, Element: "PP[1]/VP[1]/VP_GEBDAT", Line: 12},
				{Code: inspect.AttachmentUnnamed, Severity: inspect.Note, Entry: 2}}
			m.Receipts = []outbox.Receipt{{Ended: uitest.Noon.Add(-4 * time.Minute), Reason: r.Reason, Status: r.Status, Body: `{"melding":"Bericht niet verwerkt","code":"B-17"}`, Truncated: true},
				{Ended: uitest.Noon.Add(-5 * time.Minute), Reason: outbox.RetryLater, Status: 503}}
			return m
		}
	}
	return receipts{}
}

// TestDeliveryShows: who helps, how many files wait for what, and how far a sending is.
func TestDeliveryShows(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b, w := openDelivery(t, l)
		for _, who := range []string{"Jan (IT), toestel 140", "Piet, toestel 12"} {
			w.setState(state{View: w.view, Support: who})
			uitest.WantTexts(t, w.win, l.T(text.DeliveryWindowSetup), who)
		}
		if !w.choose.Disabled() {
			t.Error("files can be chosen")
		}
		w.setState(state{View: w.view, SetUp: true})
		uitest.WantTexts(t, w.win, l.T(text.DeliveryWindowDrop))
		now := deliveryState()
		now.More = 12
		w.setState(now)
		b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Progress: &windowapi.Progress{ID: "i7", Sent: 310, Size: 500}})
		uitest.WantTexts(t, w.win, l.T(text.DeliveryWindowViewOpenCount, 3), l.T(text.DeliveryWindowViewActCount, 4),
			l.N(text.DeliveryWindowMore, 12), l.T(text.DeliveryWindowSending, 62), l.T(text.DeliveryWindowAdding, 1)[2:6])
		uitest.Shot(t, w.win, "delivery-"+string(l))
	}
}

// TestDeliveryDrop: dropped files are sent to the resident
// in messages that it can read, whatever the window shows.
func TestDeliveryDrop(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	notAFile := must.Get(storage.ParseURI("https://hub.example/x.zip"))(t)
	drop := func(paths ...string) (sent []string) {
		var uris []fyne.URI
		for _, p := range paths {
			uris = append(uris, storage.NewFileURI(p))
		}
		b.DrainSent()
		w.dropped(append(uris, notAFile))
		for _, m := range b.DrainSent() {
			if a, ok := m.M.(windowapi.DeliveryRequest); ok {
				raw, _ := json.Marshal(a)
				if len(raw) > 60<<10 {
					t.Errorf("a message of %d bytes", len(raw))
				}
				sent = append(sent, a.Paths...)
			}
		}
		return sent
	}
	if got := drop("/in/a.zip"); len(got) != 0 {
		t.Errorf("not set up, and sent %v", got)
	}
	w.setState(deliveryState())
	if got := drop("/in/a.zip", "/in/één map/b c.zip"); !slices.Equal(got, []string{"/in/a.zip", "/in/één map/b c.zip"}) {
		t.Errorf("sent %v", got)
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("/in/%s/%d.zip", strings.Repeat("map", 40), i))
	}
	w.openRow(4)
	if got := drop(many...); !slices.Equal(got, many) || w.detail != nil {
		t.Errorf("sent %d of them", len(got))
	}
}

// TestDeliveryFollowsTheLanguage: in another language, the window
// is rebuilt in place, and its outbox stays open.
func TestDeliveryFollowsTheLanguage(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	p, opened := &paper{}, 0
	w.outbox.open = func(context.Context, *settings.Settings) (outboxStore, error) { opened++; return p, nil }
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{})
	b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English))
	now := b.Page(windowapi.WindowDelivery).(*window)
	if now == w || now.win != w.win || now.win.Title() != "Deliver messages – Wiebelt" {
		t.Errorf("not rebuilt in place: %q", now.win.Title())
	}
	if now.remove("i4"); opened != 1 || !slices.Equal(p.did, []string{"forget i4true"}) {
		t.Errorf("the outbox was opened %d times, and did %q", opened, p.did)
	}
	now.setState(deliveryState())
	uitest.WantTexts(t, now.win, "maybe delivered", "Send all the same")
}

// TestDeliveryActions: items in the outbox are changed there, and the
// resident continues from them; files not yet in it belong to the resident.
func TestDeliveryActions(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	b.WantSent(t, windowapi.DeliveryRequest{})
	p := &paper{}
	w.outbox.open = func(context.Context, *settings.Settings) (outboxStore, error) { return p, nil }
	now := deliveryState()
	w.setState(now)
	// does checks what was done with the outbox, "" for nothing, and what the resident was asked for.
	does := func(what string, asked ...any) {
		t.Helper()
		if got := strings.Join(p.did, ", "); got != what {
			t.Errorf("did %q, want %q", got, what)
		}
		b.WantSent(t, asked...)
		p.did = nil
	}
	release, changed := windowapi.DeliveryRequest{Release: true}, windowapi.DeliveryRequest{Changed: true}
	uitest.WantTexts(t, w.win, "Toch versturen")
	uitest.Press(t, w.win, "Toch versturen")
	does("", windowapi.DeliveryRequest{ID: "n2", Again: true})
	uitest.WantNoTexts(t, w.win, "Toch versturen")
	w.setState(now) // nothing new: the answer is under way
	now.Adding = 2
	w.setState(now)
	uitest.Press(t, w.win, "Niet versturen")
	does("", windowapi.DeliveryRequest{ID: "n2", Drop: true})
	now.Question, now.Questions = nil, 0
	w.setState(now)

	open := func(id string) {
		t.Helper()
		if w.detail != nil {
			w.back()
		}
		w.openRow(slices.IndexFunc(now.Rows, func(r row) bool { return r.ID == id }))
		w.detail.setReceipts(deliveryReceipts(id))
		b.DrainSent()
	}
	open("i5") // uncertain: needs a note
	uitest.WantTexts(t, w.win, "mutatie-11.zip", "mogelijk aangeleverd", "Element PP[1]/VP[1]/VP_GEBDAT")
	for _, label := range []string{"Het is aangeleverd", "Nog eens versturen"} {
		if !uitest.ButtonOf(w.win, label).Disabled() {
			t.Errorf("%q without a note", label)
		}
		test.Type(w.detail.note, "Mw. Smit zag het staan")
		w.detail.setReceipts(func() receipts { m := deliveryReceipts("i5"); m.Row.Attempts = 3; return m }())
		if w.detail.note.Text != "Mw. Smit zag het staan" {
			t.Errorf("what was typed is gone: %q", w.detail.note.Text)
		}
		uitest.Press(t, w.win, label)
		does(fmt.Sprint("resolve i5", label == "Het is aangeleverd", " Mw. Smit zag het staan"), changed)
	}
	p.fail = outbox.ErrState
	test.Type(w.detail.note, "Niet gevonden")
	uitest.Press(t, w.win, "Nog eens versturen")
	does("resolve i5false Niet gevonden", changed)
	if w.detail.note.Text != "Niet gevonden" {
		t.Errorf("a decision that was not kept leaves the note %q", w.detail.note.Text)
	}
	w.win.Canvas().Focus(w.detail.note)
	w.detail.note.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.detail != nil {
		t.Error("Escape in the note does not lead back to the list")
	}
	open("i4")
	p.fail = outbox.ErrDuplicate
	uitest.Press(t, w.win, "Opnieuw versturen")
	does("retry i4", release)
	uitest.WantTexts(t, w.win, text.Dutch.T(text.DeliveryWindowTwin))
	b.Later[len(b.Later)-1]()
	uitest.WantNoTexts(t, w.win, text.Dutch.T(text.DeliveryWindowTwin))
	p.fail = nil
	uitest.Press(t, w.win, "Verwijderen")
	does("") // asks first
	uitest.Press(t, w.win, "Verwijderen")
	does("forget i4true", changed)
	open("i6")
	p.fail = outbox.ErrState
	uitest.Press(t, w.win, "Nu proberen")
	does("retry i6", release)
	p.fail = nil
	w.back()
	uitest.WantTexts(t, w.win, text.Dutch.T(text.DeliveryWindowConflict))
	b.Later[len(b.Later)-1]()
	uitest.WantNoTexts(t, w.win, text.Dutch.T(text.DeliveryWindowConflict))
	open("n1")
	uitest.WantTexts(t, w.win, "Er zit geen XML-bericht in het ZIP-bestand.")
	uitest.Press(t, w.win, "Opnieuw nakijken")
	does("", windowapi.DeliveryRequest{ID: "n1"})
	open("n1")
	uitest.Press(t, w.win, "Verwijderen") // nothing of it is kept
	does("", windowapi.DeliveryRequest{ID: "n1", Drop: true})
	w.openRow(0) // still being checked: nothing to see yet
	if w.detail != nil {
		t.Error("a file that is being checked was opened")
	}
	now.HoldReason = string(outbox.CredentialsRefused)
	w.setState(now)
	uitest.WantTexts(t, w.win, "de hub weigert de koppeling", "Jan (IT)")
	uitest.Press(t, w.win, "Nu proberen")
	does("", release)
	now.HoldReason, now.Notice = "", "De administratie was beschadigd."
	w.setState(now)
	uitest.Press(t, w.win, text.Dutch.T(text.CallsNoticeOK))
	does("", windowapi.DeliveryRequest{Read: true})
	uitest.WantNoTexts(t, w.win, "De administratie was beschadigd.")
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Failed: true})
	uitest.WantTexts(t, w.win, text.Dutch.T(text.DeliveryWindowConflict))
	w.win.Close()
	does("close")
	if w.remove("i4"); !slices.Equal(p.did, []string{"forget i4true", "close"}) { // clicked, and then the window closed
		t.Errorf("did %q", p.did)
	}
	if b.Page(windowapi.WindowDelivery) != nil {
		t.Error("a closed window is still held")
	}
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{}) // no window shows it any more
}

// TestDeliveryOffers: the page of a file offers what its state allows.
func TestDeliveryOffers(t *testing.T) {
	_, w := openDelivery(t, text.Dutch)
	for _, tt := range []struct {
		name string
		item outbox.Item
		want []text.Key
	}{
		{"refused", outbox.Item{State: outbox.Refused, HasCopy: true}, []text.Key{text.DeliveryWindowRetry, text.DeliveryWindowRemove}},
		{"refused, our copy is gone", outbox.Item{State: outbox.Refused}, []text.Key{text.DeliveryWindowRemove}},
		{"maybe delivered", outbox.Item{State: outbox.Uncertain, HasCopy: true},
			[]text.Key{text.DeliveryWindowResolveDelivered, text.DeliveryWindowResolveAgain, text.DeliveryWindowRemove}},
		{"maybe delivered, our copy is gone", outbox.Item{State: outbox.Uncertain},
			[]text.Key{text.DeliveryWindowResolveDelivered, text.DeliveryWindowRemove}},
		{"waiting", outbox.Item{State: outbox.Waiting, HasCopy: true}, []text.Key{text.DeliveryWindowNow, text.DeliveryWindowRemove}},
		{"being sent", outbox.Item{State: outbox.Sending, HasCopy: true}, nil},
		{"delivered", outbox.Item{State: outbox.Delivered}, []text.Key{text.DeliveryWindowRemove}},
	} {
		tt.item.ID = "i1"
		w.setState(state{View: w.view, SetUp: true, Rows: []row{{Item: tt.item}}})
		w.openRow(0)
		w.detail.setReceipts(receipts{Row: row{Item: tt.item}})
		w.detail.note.SetText("Nagevraagd")
		var want, got []string
		for _, key := range tt.want {
			want = append(want, text.Dutch.T(key))
		}
		for _, button := range uitest.All[*widgets.Button](w.detail.body) {
			if !button.Disabled() {
				got = append(got, button.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: offers %q, want %q", tt.name, got, want)
		}
		if uitest.Press(t, w.win, text.Dutch.T(text.DeliveryWindowBack)); w.detail != nil {
			t.Fatalf("%s: does not lead back", tt.name)
		}
	}
}

// TestDeliveryDetail: the page of a file follows what becomes of it.
func TestDeliveryDetail(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	now := deliveryState()
	w.setState(now)
	at := func(id string) int { return slices.IndexFunc(now.Rows, func(r row) bool { return r.ID == id }) }
	w.openRow(at("i7"))
	w.detail.setReceipts(deliveryReceipts("i7"))
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Progress: &windowapi.Progress{ID: "i7", Sent: 310, Size: 500}})
	if want := text.Dutch.T(text.DeliveryWindowSending, 62); w.detail.state.Text != want {
		t.Errorf("sent in part: %q", w.detail.state.Text)
	}
	refused := deliveryReceipts("i4")
	refused.Row.NextTry, refused.Receipts[0].Truncated, refused.Row.Found[1].Entry = uitest.Noon.Add(-time.Minute), false, -1
	w.openRow(at("i4"))
	w.detail.setReceipts(refused)
	w.detail.removing = true
	uitest.WantNoTexts(t, w.win, "[…]", text.Dutch.T(text.MessageAtFile, 0))
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{}) // sent again
	if w.detail.all.Row.State != outbox.Waiting || w.detail.removing {
		t.Errorf("%+v, removing %v", w.detail.all.Row, w.detail.removing)
	}
	refused.Row.State = outbox.Waiting // and tried a moment ago
	w.detail.setReceipts(refused)
	uitest.WantNoTexts(t, w.win, text.Dutch.T(text.DeliveryWindowFieldNext))
	if got := w.remark(refused.Row); strings.Contains(got, text.Dutch.T(text.DeliveryWindowNext, "")) {
		t.Errorf("will be tried in the past: %q", got)
	}
	w.setState(now)
	w.openRow(at("n1"))
	taken := deliveryReceipts("i6")
	if w.detail.setReceipts(taken); w.detail.id != "i6" || w.detail.all.Row.Name != taken.Row.Name {
		t.Errorf("now in the outbox, it is %s", w.detail.id)
	}
	w.outbox.close()
	w.outbox.open = func(context.Context, *settings.Settings) (outboxStore, error) { return nil, os.ErrNotExist }
	w.openRow(at("i4"))
	uitest.WantTexts(t, w.win, text.Dutch.T(text.DeliveryWindowGone))
	w.back()
	b.Welcome.NoResident = true
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Failed: true})
	uitest.WantTexts(t, w.win, text.Dutch.T(text.WindowNeedsResident))
}

// TestDeliveryClick: a click that was meant for the row there before opens nothing.
func TestDeliveryClick(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	w.setState(deliveryState())
	first := uitest.All[*line](w.list)[1]
	if test.Tap(first); w.detail != nil {
		t.Error("opened at once")
	}
	b.Clock = b.Clock.Add(widgets.SettleTime)
	if test.Tap(first); w.detail == nil || w.detail.id != first.id {
		t.Error("not opened")
	}
}

// TestDeliveryNotes: what is wrong is said above the list, the worst first.
func TestDeliveryNotes(t *testing.T) {
	l := text.Dutch
	_, w := openDelivery(t, l)
	busy := l.T(text.DeliveryReason(string(outbox.RetryLater)))
	for _, tt := range []struct {
		name   string
		change func(*state)
		want   string
	}{
		{"nothing", func(*state) {}, ""},
		{"a pause", func(s *state) { s.PauseReason = string(outbox.RetryLater) }, l.T(text.DeliveryWindowPaused, busy)},
		{"a pause, with nothing to send", func(s *state) { s.PauseReason, s.Waiting = string(outbox.RetryLater), 0 }, ""},
		{"a notice", func(s *state) { s.PauseReason, s.Notice = string(outbox.RetryLater), "Iets." }, "Iets."},
		{"not set up any more", func(s *state) { s.SetUp, s.Notice = false, "Iets." },
			l.T(text.DeliveryWindowSetup) + ". " + l.T(text.DeliveryWindowSetupHint, "Jan (IT), toestel 140")},
		{"the disk", func(s *state) { s.SetUp, s.Trouble = false, outbox.DiskFull }, l.DeliveryTrouble(outbox.DiskFull)},
	} {
		s := deliveryState()
		tt.change(&s)
		if w.setState(s); w.note.ContentName != tt.want {
			t.Errorf("%s: says %q, want %q", tt.name, w.note.ContentName, tt.want)
		}
	}
	before := deliveryRows()[1]
	for earlier, key := range map[outbox.State]text.Key{outbox.Delivered: text.DeliveryWindowQuestionDelivered,
		outbox.Uncertain: text.DeliveryWindowQuestionTaken} {
		before.EarlierState = earlier
		if got, want := w.questionOf(before), l.T(key, before.Name, w.moment(before.EarlierTime)); got != want {
			t.Errorf("%s before: asks %q, want %q", earlier, got, want)
		}
	}
}

// TestDeliveryChooser: files are chosen with a click or by typing their path,
// and not any more after another click. Each folder is shown as last asked for.
func TestDeliveryChooser(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	w.setState(state{View: w.view, SetUp: true})
	dir := t.TempDir()
	archive := filepath.Join(dir, "Archief")
	first, second := filepath.Join(dir, "a.zip"), filepath.Join(archive, "b.ZIP")
	must.Do(t, os.Mkdir(archive, 0o700))
	for _, path := range []string{first, second, filepath.Join(dir, "brief.docx")} {
		must.Do(t, os.WriteFile(path, nil, 0o600))
	}
	t.Setenv("HOME", dir)
	w.chooseFiles()
	b.RunDue()
	c := w.chooser
	uitest.Shot(t, w.win, "delivery-choose")
	uitest.WantTexts(t, w.win, "Archief", "a.zip")
	uitest.WantNoTexts(t, w.win, "docx")
	failed := text.Dutch.T(text.DeliveryWindowChooseFailed)
	for _, step := range []struct {
		name string
		do   func()
		dir  string
		said string
		want []string
	}{
		{"a click", func() { c.pick(1) }, dir, "", []string{first}},
		{"another click", func() { c.pick(1) }, dir, "", nil},
		{"a folder", func() { c.pick(0) }, archive, "", nil},
		{"a path from here", func() { c.openTyped(" b.ZIP ") }, archive, "", []string{second}},
		{"a whole path", func() { c.openTyped(first) }, dir, "", []string{second, first}},
		{"the same, in quotes", func() { c.openTyped(`"` + archive + `/./b.ZIP"`) }, archive, "", []string{second, first}},
		{"nothing", func() { c.open(dir); b.RunDue(); c.openTyped(" ") }, dir, "", []string{second, first}},
		{"what is not there", func() { c.openTyped("nergens") }, dir, failed, []string{second, first}},
	} {
		step.do()
		b.RunDue()
		if got := slices.Sorted(maps.Keys(c.chosen)); c.dir != step.dir || c.status.Text != step.said || !slices.Equal(got, step.want) {
			t.Errorf("%s: %q is chosen in %s, it says %q", step.name, got, c.dir, c.status.Text)
		}
	}
	c.open(archive)
	c.path.SetText("/srv/ber")
	if b.RunDue(); c.dir != archive || c.path.Text != "/srv/ber" {
		t.Errorf("shows %s, and what was being typed is %q", c.dir, c.path.Text)
	}
	c.open(archive)
	c.open(dir)
	slices.Reverse(b.Later) // the folder that was asked for before takes longer
	if b.RunDue(); c.dir != dir {
		t.Errorf("shows %s", c.dir)
	}
	b.DrainSent()
	uitest.Press(t, w.win, text.Dutch.N(text.DeliveryWindowChooseSend, 2))
	if b.WantSent(t, windowapi.DeliveryRequest{Paths: []string{second, first}}); w.chooser != nil {
		t.Error("still choosing")
	}
}

// TestDeliveryReadsOneAtATime: while the outbox is being read, changes
// cause only one more reading, and a result for another view is ignored.
func TestDeliveryReadsOneAtATime(t *testing.T) {
	b, w := openDelivery(t, text.Dutch)
	var works []func(context.Context)
	w.host.Go = func(do func(context.Context)) { works = append(works, do) }
	for range 5 {
		b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{})
	}
	if len(works) != 1 {
		t.Fatalf("%d readings at one time", len(works))
	}
	works[0](t.Context())
	if len(works) != 2 {
		t.Fatalf("%d readings after the first", len(works))
	}
	w.view = viewNeedAction
	works[1](t.Context())
	if w.state.View == viewNeedAction {
		t.Error("what was read of another view is shown")
	}
	w.outbox.settings = func() *settings.Settings {
		s := settings.Defaults()
		s.Hub.BaseURL, s.Hub.HubURL, s.Hub.ClientID, s.Hub.OrganisationCode, s.Hub.Intermediary = "x", "x", "x", "x", "x"
		return s
	}
	w.show(viewNeedAction)
	works[len(works)-1](t.Context())
	uitest.WantTexts(t, w.win, text.Dutch.T(text.DeliveryWindowNoneAct))
}

// TestDeliveryBesideTheResident: the list combines what is in the outbox with what
// the resident has not yet added to it; if nothing was delivered, nothing is created.
func TestDeliveryBesideTheResident(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch), map[string]widgets.Opener{windowapi.WindowDelivery: Open})
	dir := fromsettings.OutboxFolder(b.Dirs)
	b.Show(windowapi.WindowDelivery)
	w := b.Page(windowapi.WindowDelivery).(*window)
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{})
	if _, err := os.Stat(dir); err == nil || !w.reading.done || w.state.SetUp {
		t.Fatalf("an outbox was made, or it is set up: %+v", w.state)
	}
	o := must.Get(outbox.Open(t.Context(), outbox.Options{Dir: dir}))(t)
	defer o.Close()
	var ids []string
	for i := range 3 {
		path := filepath.Join(t.TempDir(), fmt.Sprint("bericht-", i, ".zip"))
		must.Do(t, os.WriteFile(path, []byte(path), 0o600))
		a := must.Get(o.Add(t.Context(), outbox.Source{Path: path, Intermediary: "postbus"}))(t)
		ids = append(ids, a.Item.ID)
	}
	files := []windowapi.DeliveryFile{
		{ID: "n5", Name: "e.zip", State: windowapi.DeliveryAdding, Added: time.Now().Add(time.Minute)},
		{ID: "n4", Name: "d.zip", State: windowapi.DeliveryQuestion, Added: time.Now()},
		{ID: "n3", Name: "c.zip", State: string(outbox.Refused), Reason: "not_zip", Findings: []inspect.Finding{{Code: inspect.NoDocument, Severity: inspect.Refused}}},
		{ID: "n2", Item: ids[2], Name: "bericht-2.zip", State: string(outbox.Waiting)},
	}
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Total: 4, Files: files[:3], Notice: "Iets."})
	if len(w.state.Rows) != 0 {
		t.Error("half of it is shown")
	}
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Total: 4, First: 2, Files: files[2:]}) // one in between was lost
	b.SendFromResident(t, windowapi.KindDelivery, windowapi.Delivery{Total: 4, First: 3, Files: files[3:]})
	s := w.state
	if len(s.Rows) != 6 || s.Rows[0].ID != "n5" || s.Waiting != 3 || s.Adding != 1 || s.Questions != 1 || s.Question.ID != "n4" ||
		s.Refused != 1 || s.Open != 4 || s.NeedAction != 2 || s.Notice != "Iets." || s.More != 0 {
		t.Errorf("%+v", s)
	}
	w.openRow(slices.IndexFunc(s.Rows, func(r row) bool { return r.ID == "n3" }))
	if len(w.detail.all.Row.Found) != 1 {
		t.Errorf("%+v", w.detail.all)
	}
	w.back()
	w.openRow(slices.IndexFunc(s.Rows, func(r row) bool { return r.ID == ids[1] }))
	if a := w.detail.all.Row; a.Intermediary != "postbus" || a.SHA256 == "" || a.Name != "bericht-1.zip" {
		t.Errorf("%+v", a)
	}
	w.remove(ids[1])
	if _, err := o.Get(t.Context(), ids[1]); !errors.Is(err, outbox.ErrNoItem) {
		t.Errorf("not removed: %v", err)
	}
	w.win.Close()
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64][2]string{0: {"0 B", "0 B"}, 999: {"999 B", "999 B"}, 1000: {"1,0 kB", "1.0 kB"}, 12_400: {"12,4 kB", "12.4 kB"},
		999_499: {"999 kB", "999 kB"}, 999_900: {"1,0 MB", "1.0 MB"}, 500_000_000: {"500 MB", "500 MB"}, 7_000_000_000_000_000: {"7000 TB", "7000 TB"}} {
		if nl, en := text.Dutch.Size(n), text.English.Size(n); nl != want[0] || en != want[1] {
			t.Errorf("%d: %q, %q", n, nl, en)
		}
	}
}

// TestViews checks which views show each state.
func TestViews(t *testing.T) {
	for state, want := range map[outbox.State]string{
		windowapi.DeliveryAdding: "all open", outbox.Waiting: "all open", outbox.Sending: "all open", outbox.Delivered: "all",
		outbox.Refused: "all act", outbox.Uncertain: "all act", windowapi.DeliveryQuestion: "all act", windowapi.DeliveryNotTaken: "all act",
	} {
		var in []string
		for _, view := range []string{viewAll, viewOpen, viewNeedAction} {
			if inView(row{Item: outbox.Item{State: state}}, view) {
				in = append(in, view)
			}
		}
		if got := strings.Join(in, " "); got != want {
			t.Errorf("%s is in %s, want %s", state, got, want)
		}
	}
}
