package lookup

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

var dorp = windowapi.Contact{Name: "J. de Vries", Relation: "100200", Address: "Dorpsstraat 1, 1234 AB Ons Dorp",
	Producer: "Producent Een", Modified: "Medewerker", Link: "https://hub.example/contacts/viewcontact/c"}

func lookupHarness(t *testing.T, l text.Language) (*uitest.Harness, *window) {
	b := uitest.New(t, uitest.Greeting(l), map[string]widgets.Opener{windowapi.WindowLookup: Open})
	b.Show(windowapi.WindowLookup)
	return b, b.Page(windowapi.WindowLookup).(*window)
}

func found(t *testing.T, b *uitest.Harness, f windowapi.LookupResult) {
	t.Helper()
	raw := must.Get(json.Marshal(f))(t)
	b.Handle(windowapi.KindLookup, raw)
}

// answers lists the resident's answers of every kind, with the expected texts.
var answers = []struct {
	name   string
	f      windowapi.LookupResult
	nl, en []string
}{
	{"found", windowapi.LookupResult{Outcome: history.OutcomeFound, Contacts: []windowapi.Contact{dorp}},
		[]string{"J. de Vries", "06 12 34 56 78", "100 200", "Dorpsstraat 1, 1234 AB Ons Dorp", "Producent Een", "door Medewerker", "Relatie openen", "Nummer kopiëren", "Relatienummer kopiëren"},
		[]string{"J. de Vries", "Contact no.", "Open contact", "Copy number"}},
	{"possible", windowapi.LookupResult{Outcome: history.OutcomeFound, Possible: true, Contacts: []windowapi.Contact{dorp}},
		[]string{"Mogelijk: J. de Vries", "Buitenlands nummer"}, []string{"Possibly: J. de Vries"}},
	{"bad link", windowapi.LookupResult{Outcome: history.OutcomeFound, Contacts: []windowapi.Contact{{Name: "J. de Vries"}}},
		[]string{"J. de Vries", "niet geldig"}, []string{"not valid"}},
	{"several", windowapi.LookupResult{Outcome: history.OutcomeSeveral, Contacts: []windowapi.Contact{dorp, {Name: "M. de Vries", Relation: "100201"}, {Relation: "100202", Link: "x"}}},
		[]string{"3 relaties met dit nummer", "J. de Vries", "M. de Vries", "Relatie zonder naam", "Openen"}, []string{"3 contacts", "Open"}},
	{"several, one opened before", windowapi.LookupResult{Outcome: history.OutcomeSeveral, Contacts: []windowapi.Contact{{Name: "B. Bakker", ChosenEarlier: true, Link: "x"}, dorp}},
		[]string{"2 relaties met dit nummer", "B. Bakker", text.Dutch.T(text.CardEarlier)}, []string{text.English.T(text.CardEarlier)}},
	{"several numbers", windowapi.LookupResult{Outcome: windowapi.LookupNumbers, Numbers: []string{"020 123 45 67", "06 98 76 00 11"}},
		[]string{"2 nummers: welk bedoelt u?", "020 123 45 67", "06 98 76 00 11"}, []string{"which do you mean"}},
	{"nobody", windowapi.LookupResult{Outcome: history.OutcomeNobody}, []string{"06 12 34 56 78", "Geen relatie met dit nummer"}, []string{"No contact"}},
	{"failed", windowapi.LookupResult{Outcome: history.OutcomeFailed, Failure: "credentials_refused", Support: "Jan (IT)"},
		[]string{"Opzoeken lukt niet: de hub weigert de koppeling.", "Meld dit bij Jan (IT).", "Opnieuw zoeken"}, []string{"Lookup failed: the hub refuses", "Please tell Jan (IT)."}},
	{"slow", windowapi.LookupResult{Outcome: history.OutcomeFailed, Failure: "hub_slow"}, []string{"de hub reageert niet"}, []string{"does not answer"}},
	{"withheld", windowapi.LookupResult{Outcome: history.OutcomeWithheld}, []string{"Dit is geen nummer"}, []string{"not a number"}},
	{"internal", windowapi.LookupResult{Outcome: history.OutcomeInternal}, []string{"Toestel 06 12 34 56 78", "toestel van kantoor"}, []string{"extension of the office"}},
	{"short", windowapi.LookupResult{Outcome: history.OutcomeShort}, []string{"Servicenummer"}, []string{"Service number"}},
	{"own", windowapi.LookupResult{Outcome: history.OutcomeOwn, LineName: "Schade"}, []string{"Eigen nummer: Schade"}, []string{"Own number: Schade"}},
	{"never", windowapi.LookupResult{Outcome: windowapi.LookupNever}, []string{"wordt niet opgezocht"}, []string{"is not looked up"}},
	{"no number", windowapi.LookupResult{Outcome: windowapi.LookupNoNumber}, []string{"niet op naam"}, []string{"not names"}},
	{"off", windowapi.LookupResult{Outcome: windowapi.LookupOff}, []string{"Zelf opzoeken staat uit"}, []string{"switched off"}},
	{"a newer word", windowapi.LookupResult{Outcome: "guessed"}, []string{"Dit is geen nummer"}, []string{"not a number"}},
}

func TestLookupAnswers(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b, w := lookupHarness(t, l)
		for n, tt := range answers {
			t.Run(string(l)+" "+tt.name, func(t *testing.T) {
				w.box.SetText("06-12345678")
				test.Tap(w.button)
				b.WantSent(t, windowapi.Lookup{Seq: n + 1, Text: "06-12345678"})
				f := tt.f
				f.Seq, f.NumberDisplay, f.ClipboardText, f.Number = w.seq, "06 12 34 56 78", "0612345678", "+31612345678"
				found(t, b, f)
				uitest.WantTexts(t, w.win, widgets.Either(l == text.English, tt.en, tt.nl)...)
				primary := 0
				for _, button := range uitest.All[*widgets.Button](w.win.Canvas().Content()) {
					if button.Importance == widget.HighImportance {
						primary++
					}
				}
				if primary != 1 {
					t.Errorf("%d primary buttons", primary)
				}
			})
		}
	}
}

func TestLookupLife(t *testing.T) {
	b, w := lookupHarness(t, text.Dutch)
	uitest.WantTexts(t, w.win, "Van wie is dit nummer?")
	w.sendLookup() // nothing typed
	b.WantSent(t)
	test.Type(w.box, "0612345678")
	w.sendLookup()
	b.DrainSent()
	uitest.WantNoTexts(t, w.win, "opzoeken…")
	b.Later[0]() // 300 ms
	uitest.WantTexts(t, w.win, "Relatie opzoeken…")
	found(t, b, windowapi.LookupResult{Seq: 99, Outcome: history.OutcomeNobody}) // of another request
	uitest.WantTexts(t, w.win, "Relatie opzoeken…")
	f := windowapi.LookupResult{Seq: w.seq, Outcome: history.OutcomeFound, NumberDisplay: "06 12 34 56 78", ClipboardText: "0612345678", Number: "+31612345678", Contacts: []windowapi.Contact{dorp}}
	found(t, b, f)
	b.Later[1]() // the timeout of a request already answered
	var opened []string
	w.openLink = func(_ context.Context, link, number string) error {
		opened = append(opened, link, number)
		return history.ErrGone
	}
	uitest.WantTexts(t, w.win, "J. de Vries")
	for _, button := range uitest.All[*widgets.Button](w.win.Canvas().Content()) {
		if button.Text == "Opzoeken" {
			continue
		}
		opens := button.Text == "Relatie openen"
		test.Tap(button)
		button.OnTapped = nil
		if opens != strings.Contains(uitest.AllText(w.win), text.Dutch.T(text.CallsTroubleGone)) {
			t.Errorf("after %q: %s", button.Text, uitest.AllText(w.win))
		}
	}
	b.WantSent(t, windowapi.Copy{Text: "0612345678"}, windowapi.Copy{Text: "100200"})
	if !slices.Equal(opened, []string{dorp.Link, "+31612345678"}) {
		t.Errorf("opened %v", opened)
	}
	// A failed copy shows nothing else, and only until one succeeds.
	b.Handle(windowapi.KindCopy, nil)
	uitest.WantTexts(t, w.win, text.Dutch.T(text.CallsTroubleCopy))
	uitest.WantNoTexts(t, w.win, "Gekopieerd")
	number := uitest.ButtonOf(w.win, "Nummer kopiëren")
	w.win.Canvas().Focus(number)
	w.copy("0612345678")
	uitest.WantNoTexts(t, w.win, text.Dutch.T(text.CallsTroubleCopy))
	if uitest.ButtonOf(w.win, "Gekopieerd") != number {
		t.Error("the keyboard's button is gone")
	}
	b.RunDue()
	if uitest.ButtonOf(w.win, "Nummer kopiëren") != number {
		t.Error(uitest.AllText(w.win))
	}
	// When the number changes, the name disappears at once.
	test.Type(w.box, "9")
	uitest.WantNoTexts(t, w.win, "J. de Vries")
	found(t, b, f) // too late
	uitest.WantNoTexts(t, w.win, "J. de Vries")
	w.sendLookup()
	b.Later[len(b.Later)-1]() // no answer
	uitest.WantTexts(t, w.win, "Er komt geen antwoord")
	// Nothing is remembered once the window is closed.
	w.win.Close()
	if b.Page(windowapi.WindowLookup) != nil {
		t.Error("a closed window is still held")
	}
	b.Show(windowapi.WindowLookup)
	if again := b.Page(windowapi.WindowLookup).(*window); again.box.Text != "" || strings.Contains(uitest.AllText(again.win), "Vries") {
		t.Error("it remembers")
	}
}

// TestLookupShowAt: another window can request a lookup.
func TestLookupShowAt(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch), map[string]widgets.Opener{windowapi.WindowLookup: Open})
	b.ShowAt(windowapi.WindowLookup, "+31612345678")
	b.WantSent(t, nil, windowapi.Lookup{Seq: 1, Text: "+31612345678"}) // the first says that it is shown
}

// TestAnswerForClosedWindow: what a closed window asked does not answer the next one's question.
func TestAnswerForClosedWindow(t *testing.T) {
	b, w := lookupHarness(t, text.Dutch)
	w.ShowAt("0612345678")
	late := windowapi.LookupResult{Seq: w.seq, Outcome: history.OutcomeFound, Contacts: []windowapi.Contact{dorp}}
	w.win.Close()
	b.Show(windowapi.WindowLookup)
	w = b.Page(windowapi.WindowLookup).(*window)
	w.ShowAt("0201234567")
	found(t, b, late)
	uitest.WantNoTexts(t, w.win, "J. de Vries")
	if !w.asking {
		t.Error("the question is no longer open")
	}
}

// TestSeveralNumbers: if a text contains several numbers, the one that is clicked is looked up.
func TestSeveralNumbers(t *testing.T) {
	b, w := lookupHarness(t, text.Dutch)
	w.box.SetText("020-1234567 / 06-98760011")
	w.sendLookup()
	found(t, b, windowapi.LookupResult{Seq: 1, Outcome: windowapi.LookupNumbers, Numbers: []string{"020 123 45 67", "06 98 76 00 11"}})
	b.DrainSent()
	uitest.Press(t, w.win, "06 98 76 00 11")
	if b.WantSent(t, windowapi.Lookup{Seq: w.seq, Text: "06 98 76 00 11"}); w.box.Text != "06 98 76 00 11" {
		t.Errorf("the box has %q", w.box.Text)
	}
}

// TestLookupByKeys: among several contacts the arrow keys select one, starting
// in the field, and Enter opens it; one without a file opens nothing.
func TestLookupByKeys(t *testing.T) {
	b, w := lookupHarness(t, text.Dutch)
	var opened []string
	w.openLink = func(_ context.Context, link, number string) error {
		opened = append(opened, link)
		return nil
	}
	w.box.SetText("06-12345678")
	w.sendLookup()
	found(t, b, windowapi.LookupResult{Seq: w.seq, Outcome: history.OutcomeSeveral, Contacts: []windowapi.Contact{{Name: "A", Link: "a"}, {Name: "B"}, {Name: "C", Link: "c"}}})
	w.win.Canvas().Focus(w.box)
	for _, key := range []fyne.KeyName{fyne.KeyDown, fyne.KeyReturn, fyne.KeyDown, fyne.KeyReturn, fyne.KeyDown, fyne.KeyReturn, fyne.KeyEscape} {
		w.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: key})
	}
	if strings.Join(opened, " ") != "a c" {
		t.Errorf("opened %q", opened)
	}
	if b.Page(windowapi.WindowLookup) != nil {
		t.Error("Escape does not close the window")
	}
}

func TestLookupWindowFits(t *testing.T) {
	long := dorp
	long.Name, long.Address = "Mw. A.E. van der Meulen-Oosterhuis tot Nederhorst den Berg", "Burgemeester van Stamplein 1234 bis, 1234 AB Alphen aan den Rijn"
	for _, l := range []text.Language{text.Dutch, text.English} {
		b, w := lookupHarness(t, l)
		for _, tt := range answers {
			w.box.SetText("0612345678")
			w.sendLookup()
			f := tt.f
			f.Seq, f.NumberDisplay, f.ClipboardText = w.seq, "06 12 34 56 78", "0612345678"
			if len(f.Contacts) > 0 {
				f.Contacts = append([]windowapi.Contact{long}, f.Contacts[1:]...)
			}
			found(t, b, f)
			uitest.Examine(t, "lookup-"+string(l)+"-"+tt.name, w.win, []fyne.Size{{Width: 560, Height: 520}})
		}
		w.win.Close()
	}
}

// TestLookupGuideShots checks that the guide's pictures show the lookup window as it is.
func TestLookupGuideShots(t *testing.T) {
	for _, s := range shottest.All {
		b, w := lookupHarness(t, s.Language)
		b.App.Settings().SetTheme(theme.New(s.Look))
		w.box.SetText("06 12 34 56 78")
		w.box.CursorColumn = len(w.box.Text)
		w.sendLookup()
		found(t, b, windowapi.LookupResult{Seq: w.seq, Outcome: history.OutcomeFound, Number: "+31612345678", NumberDisplay: "06 12 34 56 78", ClipboardText: "0612345678", Contacts: []windowapi.Contact{dorp}})
		uitest.Scaled(w.win, fyne.NewSize(560, 400), 2)
		shottest.UpToDate(t, "lookup"+s.Suffix, string(s.Language), w.win.Canvas().Capture())
		w.win.Close()
	}
}
