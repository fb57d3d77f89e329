package delivery

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	inspect "wiebelt/internal/message"
	"wiebelt/internal/outbox"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

func deliveryBench(t *testing.T, l text.Language) (*kittest.Bench, *window) {
	b := kittest.New(t, kittest.Greeting(l), map[string]kit.Opener{deskapi.WindowDelivery: Open})
	b.Show(deskapi.WindowDelivery)
	return b, b.Page(deskapi.WindowDelivery).(*window)
}

// deliveryRows is a file in every state, invented.
func deliveryRows() []deskapi.DeliveryRow {
	at := func(m int) time.Time { return kittest.Noon.Add(-time.Duration(m) * time.Minute) }
	return []deskapi.DeliveryRow{
		{ID: "n3", Name: "polissen-september.zip", State: deskapi.DeliveryAdding, Added: at(0)},
		{ID: "n2", Name: "nota-2026-0917.zip", Size: 48_200, State: deskapi.DeliveryQuestion, Reason: "duplicate", Added: at(1), Before: at(90), Was: "delivered"},
		{ID: "n1", Name: "vakantiefoto.zip", Size: 3_480_000, State: string(outbox.Refused), Reason: string(inspect.NoDocument), Findings: 1, Added: at(1)},
		{ID: "i7", Name: "schade-dossier-00412.zip", Size: 500_000_000, State: string(outbox.Sending), Added: at(2), Kept: true},
		{ID: "i6", Name: "mutatie-12.zip", Size: 12_400, State: string(outbox.Waiting), Reason: string(outbox.Busy), Status: 503, Added: at(3), Next: kittest.Noon.Add(12 * time.Minute), Kept: true},
		{ID: "i5", Name: "mutatie-11.zip", Size: 12_390, State: string(outbox.Uncertain), Reason: string(outbox.NoAnswer), Added: at(5), Decided: at(4), Kept: true},
		{ID: "i4", Name: "mutatie-10.zip", Size: 12_380, State: string(outbox.Refused), Reason: string(outbox.ByHub), Status: 422, Added: at(6), Decided: at(6), Kept: true},
		{ID: "i3", Name: "mutatie-09.zip", Size: 12_200, State: string(outbox.Delivered), Status: 201, Added: at(60), Decided: at(59), Code: string(inspect.NoSuchDate), Severity: inspect.Warning, Findings: 2},
		{ID: "i2", Name: "mutatie-08.zip", Size: 812, State: string(outbox.Delivered), Status: 201, Added: at(26 * 60), Decided: at(26 * 60)},
	}
}

func deliveryState() deskapi.DeliveryState {
	rows := deliveryRows()
	return deskapi.DeliveryState{SetUp: true, Support: "Jan (IT), toestel 140", View: deskapi.DeliveryAll, Total: len(rows), Rows: rows, Adding: 1,
		Waiting: 2, Delivered: 2, Refused: 1, Uncertain: 1, Open: 3, Act: 4, Question: &rows[1], Questions: 1}
}

func deliveryReceipts(id string) deskapi.DeliveryReceipts {
	for _, r := range deliveryRows() {
		if r.ID == id {
			m := deskapi.DeliveryReceipts{Row: r}
			if strings.HasPrefix(id, "n") {
				m.Findings = []inspect.Finding{{Code: inspect.NoDocument, Severity: inspect.Refused, Entry: -1}}
				return m
			}
			m.Intermediary, m.SHA256, m.Attempts = "postbus", strings.Repeat("3f9a", 16), 2
			m.Findings = []inspect.Finding{{Code: inspect.NoSuchDate, Severity: inspect.Warning, Entry: 0, Element: "PP[1]/VP[1]/VP_GEBDAT", Line: 12},
				{Code: inspect.AttachmentUnnamed, Severity: inspect.Note, Entry: 2}}
			m.Receipts = []deskapi.DeliveryReceipt{{Ended: kittest.Noon.Add(-4 * time.Minute), Reason: r.Reason, Status: r.Status, Body: `{"melding":"Bericht niet verwerkt","code":"B-17"}`, Cut: true},
				{Ended: kittest.Noon.Add(-5 * time.Minute), Reason: string(outbox.Busy), Status: 503}}
			return m
		}
	}
	return deskapi.DeliveryReceipts{}
}

func tapNamed(t *testing.T, w fyne.Window, label string) {
	t.Helper()
	var found *kit.Button
	kittest.Each(w.Canvas().Content(), func(o any) {
		if b, ok := o.(*kit.Button); ok && b.Text == label && b.Visible() {
			found = b
		}
	})
	switch {
	case found == nil:
		t.Fatalf("no button %q", label)
	case found.Disabled():
		t.Fatalf("the button %q is off", label)
	}
	test.Tap(found)
}

func allTexts(w fyne.Window) string { return strings.Join(kittest.Texts(w), " ") }

// TestDeliveryPictures leaves pictures of the window with WIEBELT_SHOTS set, and
// has what must be written in them.
func TestDeliveryPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b, w := deliveryBench(t, l)
			b.App.Settings().SetTheme(theme.New(look))
			w.win.Resize(windowSize)
			name := "delivery-" + string(l) + "-" + look
			b.Tell(t, deskapi.KindDeliveryState, deskapi.DeliveryState{View: w.view, Support: "Jan (IT), toestel 140"})
			kittest.WantTexts(t, w.win, l.T(text.MessagesSetup))
			if !strings.Contains(allTexts(w.win), "Jan (IT)") || !w.choose.Disabled() {
				t.Error("nobody to ask")
			}
			kittest.Shot(t, w.win, name+"-setup")
			b.Tell(t, deskapi.KindDeliveryState, deskapi.DeliveryState{View: w.view, SetUp: true})
			kittest.WantTexts(t, w.win, l.T(text.MessagesDrop))
			kittest.Shot(t, w.win, name+"-empty")
			b.Tell(t, deskapi.KindDeliveryState, deliveryState())
			b.Tell(t, deskapi.KindDeliveryProgress, deskapi.DeliveryProgress{ID: "i7", Sent: 310, Size: 500})
			kittest.WantTexts(t, w.win, l.T(text.MessagesSending, 62), l.T(text.MessagesAdding, 1)[2:6])
			kittest.Shot(t, w.win, name+"-list")
			held := deliveryState()
			held.Held, held.Question, held.Questions = string(outbox.CredentialsOff), nil, 0
			b.Tell(t, deskapi.KindDeliveryState, held)
			kittest.Shot(t, w.win, name+"-held")
			for _, id := range []string{"i5", "i4", "n1", "n2"} {
				w.openRow(slices.IndexFunc(held.Rows, func(r deskapi.DeliveryRow) bool { return r.ID == id }))
				b.Tell(t, deskapi.KindDeliveryReceipts, deliveryReceipts(id))
				kittest.Shot(t, w.win, name+"-"+id)
			}
			w.back()
			dir := t.TempDir()
			for _, f := range []string{"bericht-1.zip", "bericht-2.ZIP", "brief.docx"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(strings.Repeat("x", 4200)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "Archief"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", dir)
			w.chooseFiles()
			b.Later[len(b.Later)-1]()
			w.chooser.pick(1)
			kittest.Shot(t, w.win, name+"-choose")
			kittest.WantTexts(t, w.win, "Archief", "bericht-1.zip", "bericht-2.ZIP", l.N(text.MessagesChooseSend, 1))
			if strings.Contains(allTexts(w.win), "docx") {
				t.Error("a file that is no ZIP is offered")
			}
		}
	}
}

// TestDeliveryDrop: files that are dropped go to the resident, in messages that
// it can read, wherever the window is.
func TestDeliveryDrop(t *testing.T) {
	b, w := deliveryBench(t, text.Dutch)
	notAFile, err := storage.ParseURI("https://hub.example/x.zip")
	if err != nil {
		t.Fatal(err)
	}
	drop := func(paths ...string) (sent []string) {
		var uris []fyne.URI
		for _, p := range paths {
			uris = append(uris, storage.NewFileURI(p))
		}
		b.Take()
		w.dropped(append(uris, notAFile))
		for _, m := range b.Take() {
			if a, ok := m.M.(deskapi.DeliveryAdd); ok {
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
	b.Tell(t, deskapi.KindDeliveryState, deliveryState())
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

// TestDeliveryActions: every button asks the resident for what it says.
func TestDeliveryActions(t *testing.T) {
	b, w := deliveryBench(t, text.Dutch)
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.DeliveryAsk{View: deskapi.DeliveryAll, Count: deliveryBlock}) {
		t.Fatalf("asked %v", got)
	}
	state := deliveryState()
	b.Tell(t, deskapi.KindDeliveryState, state)
	said := func(want ...kittest.Saying) {
		t.Helper()
		got := slices.DeleteFunc(b.Take(), func(m kittest.Saying) bool { return m.Kind == deskapi.KindDeliveryShow })
		if !slices.Equal(got, want) {
			t.Errorf("said %v, want %v", got, want)
		}
	}
	item := func(kind, id string) kittest.Saying {
		return kittest.Saying{Kind: kind, M: deskapi.DeliveryItem{ID: id}}
	}
	kittest.WantTexts(t, w.win, "Toch versturen")
	tapNamed(t, w.win, "Toch versturen")
	said(item(deskapi.KindDeliverySend, "n2"))
	if strings.Contains(allTexts(w.win), "Toch versturen") {
		t.Error("the question is still asked")
	}
	b.Tell(t, deskapi.KindDeliveryState, state) // nothing new: the answer is on its way
	state.Adding = 2
	b.Tell(t, deskapi.KindDeliveryState, state)
	tapNamed(t, w.win, "Niet versturen")
	said(item(deskapi.KindDeliveryRemove, "n2"))
	state.Question, state.Questions = nil, 0
	b.Tell(t, deskapi.KindDeliveryState, state)

	open := func(id string) {
		t.Helper()
		if w.detail != nil {
			w.back()
		}
		w.openRow(slices.IndexFunc(state.Rows, func(r deskapi.DeliveryRow) bool { return r.ID == id }))
		b.Tell(t, deskapi.KindDeliveryReceipts, deliveryReceipts(id))
		b.Take()
	}
	open("i5") // maybe delivered: only with a note
	kittest.WantTexts(t, w.win, "mutatie-11.zip", "mogelijk aangeleverd", "Element PP[1]/VP[1]/VP_GEBDAT")
	for _, label := range []string{"Het is aangeleverd", "Nog eens versturen"} {
		kittest.Each(w.win.Canvas().Content(), func(o any) {
			if button, ok := o.(*kit.Button); ok && button.Text == label && !button.Disabled() {
				t.Errorf("%q without a note", label)
			}
		})
		test.Type(w.detail.note, "Mw. Smit zag het staan")
		b.Tell(t, deskapi.KindDeliveryReceipts, func() deskapi.DeliveryReceipts { m := deliveryReceipts("i5"); m.Attempts = 3; return m }())
		if w.detail.note.Text != "Mw. Smit zag het staan" {
			t.Errorf("what was typed is gone: %q", w.detail.note.Text)
		}
		tapNamed(t, w.win, label)
		said(kittest.Saying{Kind: deskapi.KindDeliveryResolve, M: deskapi.DeliveryResolve{ID: "i5", Delivered: label == "Het is aangeleverd", Note: "Mw. Smit zag het staan"}})
	}
	open("i4")
	tapNamed(t, w.win, "Opnieuw versturen")
	said(item(deskapi.KindDeliveryRetry, "i4"))
	tapNamed(t, w.win, "Verwijderen")
	said() // asks first
	tapNamed(t, w.win, "Verwijderen")
	said(item(deskapi.KindDeliveryRemove, "i4"))
	open("i6")
	tapNamed(t, w.win, "Nu proberen")
	said(item(deskapi.KindDeliveryRetry, "i6"))
	open("n1")
	kittest.WantTexts(t, w.win, "Er zit geen XML-bericht in het ZIP-bestand.")
	tapNamed(t, w.win, "Opnieuw nakijken")
	said(item(deskapi.KindDeliveryRetry, "n1"))
	open("n1")
	tapNamed(t, w.win, "Verwijderen") // nothing is kept of it
	said(item(deskapi.KindDeliveryRemove, "n1"))
	w.openRow(0) // is being checked: nothing to see yet
	if w.detail != nil {
		t.Error("a file that is being checked was opened")
	}
	state.Held = string(outbox.CredentialsOff)
	b.Tell(t, deskapi.KindDeliveryState, state)
	if s := allTexts(w.win); !strings.Contains(s, "de hub weigert de koppeling") || !strings.Contains(s, "Jan (IT)") {
		t.Error(s)
	}
	tapNamed(t, w.win, "Nu proberen")
	said(item(deskapi.KindDeliveryRetry, ""))
	state.Held, state.Notice = "", "De administratie was beschadigd."
	b.Tell(t, deskapi.KindDeliveryState, state)
	tapNamed(t, w.win, text.Dutch.T(text.CallsNoticeOk))
	said(kittest.Saying{Kind: deskapi.KindDeliveryDismiss, M: nil})
	b.Tell(t, deskapi.KindDeliveryFailed, deskapi.DeliveryFailed{Sentence: "Dat kan nu niet."})
	kittest.WantTexts(t, w.win, "Dat kan nu niet.")
	b.Later[len(b.Later)-1]()
	if strings.Contains(allTexts(w.win), "Dat kan nu niet.") {
		t.Error("the failure stays")
	}
}

// TestDeliveryAsksOneAtATime: changes in quick succession are one question more,
// an answer about another view is none, and rows far below are read when needed.
func TestDeliveryAsksOneAtATime(t *testing.T) {
	b, w := deliveryBench(t, text.Dutch)
	b.Take()
	for range 5 {
		b.Tell(t, deskapi.KindDeliveryChanged, nil)
	}
	if got := b.Take(); len(got) != 0 {
		t.Errorf("asked %v while an answer was on its way", got)
	}
	s := deliveryState()
	s.Total = 1800
	b.Tell(t, deskapi.KindDeliveryState, s)
	if got := b.Take(); len(got) != 1 || got[0].Kind != deskapi.KindDeliveryAsk {
		t.Errorf("asked %v", got)
	}
	b.Tell(t, deskapi.KindDeliveryState, s)
	b.Take()
	w.list.ScrollTo(1500)
	first := -1
	for _, m := range b.Take() {
		if a, ok := m.M.(deskapi.DeliveryAsk); ok {
			first = a.First
		}
	}
	if first < 1350 || first > 1500 {
		t.Errorf("row 1500 is not read: asked from %d", first)
	}
	w.show(deskapi.DeliveryAct)
	b.Tell(t, deskapi.KindDeliveryState, s) // of the view of before
	if w.state.View != deskapi.DeliveryAll || w.view != deskapi.DeliveryAct {
		t.Errorf("%q %q", w.state.View, w.view)
	}
	empty := deskapi.DeliveryState{SetUp: true, View: deskapi.DeliveryAct}
	b.Tell(t, deskapi.KindDeliveryState, empty)
	kittest.WantTexts(t, w.win, text.Dutch.T(text.MessagesNoneAct))
	w.win.Close()
	if b.Page(deskapi.WindowDelivery) != nil {
		t.Error("a closed window is still held")
	}
	b.Tell(t, deskapi.KindDeliveryState, s) // nobody shows it any more
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64][2]string{0: {"0 B", "0 B"}, 999: {"999 B", "999 B"}, 1000: {"1,0 kB", "1.0 kB"}, 12_400: {"12,4 kB", "12.4 kB"},
		999_499: {"999 kB", "999 kB"}, 999_900: {"1,0 MB", "1.0 MB"}, 500_000_000: {"500 MB", "500 MB"}, 7_000_000_000_000_000: {"7000 TB", "7000 TB"}} {
		if nl, en := kit.SizeOf(text.Dutch, n), kit.SizeOf(text.English, n); nl != want[0] || en != want[1] {
			t.Errorf("%d: %q, %q", n, nl, en)
		}
	}
}

// TestDeliveryFollowsTheLanguage: the window is built anew where it stands, and
// asks again.
func TestDeliveryFollowsTheLanguage(t *testing.T) {
	b, w := deliveryBench(t, text.Dutch)
	b.Tell(t, deskapi.KindDeliveryState, deliveryState())
	win := w.win
	b.Take()
	b.Tell(t, deskapi.KindWelcome, kittest.Greeting(text.English))
	now := b.Page(deskapi.WindowDelivery).(*window)
	if now == w || now.win != win || win.Title() != "Deliver messages – Wiebelt" {
		t.Errorf("%q", win.Title())
	}
	b.Tell(t, deskapi.KindDeliveryState, deliveryState())
	kittest.WantTexts(t, win, "maybe delivered", "Send all the same")
}
