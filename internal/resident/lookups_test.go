package resident

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/resident/activity"
	"wiebelt/internal/resident/audit"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/resident/windowlauncher"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/chosencontacts"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// desktop is a resident with a hub, a history and an empty screen.
type desktop struct {
	*Resident
	t     *testing.T
	set   *settings.Settings
	asked *localhub.Hub
}

var vries = localhub.Record{Numbers: []string{"06-98760011"}, Contact: contact.Contact{ID: "c-vries", RelationNumber: "100200",
	Initials: "J.", Prefix: "de", FamilyName: "Vries", Address: contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"},
	Producer: contact.CodedValue{Code: "P", Description: "Producent Een"}, LastModifiedBy: contact.CodedValue{Code: "M",
		Description: "Medewerker"}}}

func newDesktop(t *testing.T) *desktop {
	t.Helper()
	h := must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 20, Demo: true}))(t)
	t.Cleanup(func() { _ = h.Close() })
	family := vries
	family.Numbers = []string{"020 765 00 22"}
	for i, name := range []string{"Bakker", "Özdemir", "Aarts"} {
		r := family
		r.Contact.ID, r.Contact.FamilyName, r.Contact.Prefix = "c-"+strings.TrimLeft(name, "Ö"), name, ""
		r.Contact.RelationNumber = "20020" + string(rune('0'+i))
		must.Get(h.AddInvented(t.Context(), r))(t)
	}
	must.Get(h.AddInvented(t.Context(), vries))(t)
	key := must.Get(h.AddClient(t.Context(), "office", "1234"))(t)
	client, err := hub.New(hub.Config{BaseURL: h.BaseURL(), ClientID: "office", OrganisationCode: "1234", Now: time.Now,
		Secret: func(context.Context) (string, error) { return key, nil }})
	must.Do(t, err)
	t.Cleanup(client.Close)
	links := must.Get(hub.NewLinkChecker(h.HubURL()))(t)
	dirs, err := profile.Find(t.TempDir())
	must.Do(t, err)
	must.Do(t, dirs.Make())
	s := settings.Defaults()
	s.UI.Language, s.Support.Contact = "nl", "Jan (IT)"
	s.Lines = []settings.Line{{Number: "020 123 45 67", Name: "Schade"}}
	s.Phone.NeverLookup = []string{"0612340000"}
	d := &desktop{t: t, set: s, asked: h}
	d.Resident = &Resident{o: Options{Dirs: dirs, Settings: s, Log: slog.New(slog.DiscardHandler)}, refresher: refresher{refreshRequested: make(chan struct{}, 1)}, activity: activity.New()}
	d.effective.Store(&effective{settings: s, lang: text.Dutch, client: client, links: links})
	d.windows = windowlauncher.New(t.Context(), d.windowParams())
	if d.store, err = history.Open(fromsettings.HistoryFile(d.o.Dirs), history.KeepFull, 7, time.Now); err != nil {
		t.Fatal(err)
	}
	store := d.store
	t.Cleanup(func() { _ = store.Close() })
	d.choices = chosencontacts.New(chosencontacts.Params{Path: filepath.Join(dirs.State, chosencontacts.FileName), Keep: true, Log: d.o.Log})
	must.Run(t, d.choices.Run)
	return d
}

// put keeps a call whose link is the hub's.
func (d *desktop) put(e history.Entry) int64 {
	d.t.Helper()
	if e.Rang.IsZero() {
		e.Rang = time.Now().Add(-time.Minute)
	}
	return must.Get(d.store.Put(d.t.Context(), e))(d.t)
}

// ask sends a request as a window would and returns the answer, "" if there was none.
func (d *desktop) ask(kind string, m any, into any) (answer string) {
	d.t.Helper()
	raw := must.Get(json.Marshal(m))(d.t)
	d.answerWindow(request.Request{Ctx: d.t.Context(), Kind: kind, Raw: raw, Reply: func(kind string, m any) {
		if answer != "" {
			d.t.Errorf("answered %s after %s", kind, answer)
		}
		answer = kind
		if b, err := json.Marshal(m); err != nil || into != nil && json.Unmarshal(b, into) != nil {
			d.t.Errorf("answer %s: %s, %v", kind, b, err)
		}
	}})
	return answer
}

func (d *desktop) retold() bool {
	select {
	case <-d.refreshRequested:
		return true
	default:
		return false
	}
}

func (d *desktop) link(id string) string { return d.asked.HubURL() + "/contacts/viewcontact/" + id }

func missedCall() history.Entry {
	return history.Entry{Number: "+31698760011", NumberDisplay: "06 98 76 00 11", Name: "J. de Vries", ContactID: "c-vries",
		RelationNumber: "100200",
		Matches:        1, Outcome: history.OutcomeFound, Result: history.ResultMissed}
}

// TestUnreadablePolicy: what a policy hides because it cannot be read is there again afterwards.
func TestUnreadablePolicy(t *testing.T) {
	d := newDesktop(t)
	id := d.put(missedCall())
	d.choices.SetChoice("+31207650022", "c-vries")
	path := filepath.Join(t.TempDir(), settings.PolicyFile)
	must.Do(t, os.WriteFile(path, []byte("[\x00h\x00"), 0o600))
	strict, _ := settings.CheckPolicy(path)
	for _, change := range []struct{ from, to *settings.Settings }{{d.set, strict}, {strict, d.set}} {
		d.applyRetention(t.Context(), change.from, change.to)
		_, err := d.store.Get(t.Context(), id)
		_, chosen := d.choices.LastChoice("+31207650022")
		if chosen != (change.to == d.set) || (err == nil) != chosen || d.store.Missed() > 0 != chosen {
			t.Errorf("kept %q: %v, %d missed, chosen %v", change.to.History.Keep, err, d.store.Missed(), chosen)
		}
	}
}

// TestHistoryState checks that the status describes the state of the history, and
// what happened to it until it was read.
func TestHistoryState(t *testing.T) {
	d := newDesktop(t)
	state := func() windowapi.Status { return d.status(health.Report{}) }
	d.put(missedCall())
	if s := state(); !reflect.DeepEqual(s, windowapi.Status{OK: true}) {
		t.Errorf("%+v", s)
	}
	if runtime.GOOS != "windows" {
		must.Do(t, os.Remove(fromsettings.HistoryFile(d.o.Dirs)))
		d.put(missedCall())
		if s := state(); s.Notice != text.Dutch.T(text.CallsNotice("gone")) || s.Fault != "" {
			t.Errorf("%+v", s)
		}
		d.ask(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedNoticeRead}, nil)
		if s := state(); s.Notice != "" || !d.retold() {
			t.Errorf("%+v", s)
		}
	}
	// It cannot be opened at all.
	_ = d.store.Close()
	d.store, _ = history.Open(filepath.Join(fromsettings.HistoryFile(d.o.Dirs), "below"), history.KeepFull, 7, time.Now)
	if s := state(); s.Fault != "Nieuwe oproepen worden nu niet bewaard. Meld dit bij Jan (IT)." {
		t.Errorf("%+v", s)
	}
	d.set.History.Keep = "off"
	if s := state(); s.Fault != "" {
		t.Errorf("nothing is to be kept: %+v", s)
	}
	for _, f := range []history.Fault{history.FaultFull, history.FaultReadOnly, history.FaultNewer, history.FaultOther} {
		for _, l := range []text.Language{text.Dutch, text.English} {
			if s := l.T(text.CallsFault(string(f))); strings.HasPrefix(s, "calls.") {
				t.Errorf("%s has no words for %q", l, f)
			}
		}
	}
	for _, n := range []history.Notice{history.NoticeDamaged, history.NoticeGone} {
		if s := text.English.T(text.CallsNotice(string(n))); strings.HasPrefix(s, "calls.") {
			t.Errorf("no words for %q", n)
		}
	}
}

// TestFollowsTheWindows checks that what the windows write takes effect at once.
func TestFollowsTheWindows(t *testing.T) {
	d := newDesktop(t)
	id := d.put(missedCall())
	beside := must.Get(history.OpenBeside(t.Context(), fromsettings.HistoryFile(d.o.Dirs), history.KeepFull, time.Now))(t)
	must.Do(t, errors.Join(beside.Handle(t.Context(), id), beside.Close()))
	if d.store.Missed() != 1 {
		t.Fatalf("%d missed", d.store.Missed())
	}
	d.ask(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedHistory}, nil)
	if d.store.Missed() != 0 || !d.retold() {
		t.Errorf("%d missed, or nobody was told", d.store.Missed())
	}
}

// TestChoices checks that the contact the user chose comes first when the number is looked
// up again, until the user rejects it; that can be undone, but not over another choice.
func TestChoices(t *testing.T) {
	const number = "+31207650022"
	d := newDesktop(t)
	d.set.Lookup.Manual = false // only for numbers typed by hand
	first := func() windowapi.Contact {
		t.Helper()
		var f windowapi.LookupResult
		if a := d.ask(windowapi.KindLookup, windowapi.Lookup{Seq: 3, Entry: 9, Text: number}, &f); a != windowapi.KindLookup || f.Seq != 3 || f.Entry != 9 ||
			f.Outcome != history.OutcomeSeveral || len(f.Contacts) != 3 {
			t.Fatalf("%s: %#v", a, f)
		}
		return f.Contacts[0]
	}
	choose := func(id, what string) {
		d.ask(windowapi.KindChoice, windowapi.Choice{Number: number, Contact: id, What: what}, nil)
	}
	for i, tt := range []struct {
		id, what, first string
		earlier         bool
	}{
		{"", "", "c-Aarts", false},
		{"c-Bakker", windowapi.ChoiceMade, "c-Bakker", true},
		{"c-Bakker", windowapi.ChoiceRejected, "c-Aarts", false},
		{"c-Bakker", windowapi.ChoiceRestored, "c-Bakker", true},
		{"c-Aarts", windowapi.ChoiceRejected, "c-Bakker", true},
		{"c-Aarts", windowapi.ChoiceRestored, "c-Bakker", true},
		{"c-Aarts", "of a newer window", "c-Bakker", true},
	} {
		choose(tt.id, tt.what)
		if k := first(); k.ID != tt.first || k.ChosenEarlier != tt.earlier {
			t.Errorf("%d: %s is first, earlier %v", i, k.ID, k.ChosenEarlier)
		}
	}
	for _, raw := range []string{"", "null", "[]", `{"number":1}`, "{}"} {
		for _, kind := range []string{windowapi.KindChoice, windowapi.KindChanged, "calls.unheard-of"} {
			d.answerWindow(request.Request{Ctx: t.Context(), Kind: kind, Raw: json.RawMessage(raw), Reply: func(string, any) {}})
		}
	}
}

// TestLookUpByHand checks that the box takes a number in any notation, that the answer has
// the same outcomes as the card, and that nothing of it reaches the disk.
func TestLookUpByHand(t *testing.T) {
	d := newDesktop(t)
	for typed, want := range map[string]windowapi.LookupResult{
		"06-98760011": {Outcome: history.OutcomeFound, Number: "+31698760011", NumberDisplay: "06 98 76 00 11",
			ClipboardText: "0698760011"},
		"020 765 00 22": {Outcome: history.OutcomeSeveral, Number: "+31207650022", NumberDisplay: "020 765 00 22",
			ClipboardText: "0207650022"},
		"06 55 55 00 00": {Outcome: history.OutcomeNobody, Number: "+31655550000", NumberDisplay: "06 55 55 00 00",
			ClipboardText: "0655550000"},
		"+49 698 760 011": {Outcome: history.OutcomeFound, Number: "+49698760011", Possible: true, NumberDisplay: "+49 69 8760011", ClipboardText: "0049698760011"},
		"T 06-98760011 (mobiel)": {Outcome: history.OutcomeFound, Number: "+31698760011", NumberDisplay: "06 98 76 00 11",
			ClipboardText: "0698760011"},
		"0698760011 0207650022": {Outcome: windowapi.LookupNumbers, Numbers: []string{"06 98 76 00 11", "020 765 00 22"}},
		"101":                   {Outcome: history.OutcomeInternal, NumberDisplay: "101", ClipboardText: "101"},
		"0800 1234":             {Outcome: history.OutcomeShort, NumberDisplay: "0800 12 34", ClipboardText: "08001234"},
		"020 123 45 67":         {Outcome: history.OutcomeOwn, NumberDisplay: "020 123 45 67", ClipboardText: "0201234567", LineName: "Schade"},
		"0612340000":            {Outcome: windowapi.LookupNever, NumberDisplay: "06 12 34 00 00", ClipboardText: "0612340000"},
		"anonymous":             {Outcome: history.OutcomeWithheld},
		"de Vries":              {Outcome: windowapi.LookupNoNumber, NumberDisplay: "de Vries"},
		"%CallerNumber%":        {Outcome: windowapi.LookupNoNumber},
	} {
		var f windowapi.LookupResult
		if a := d.ask(windowapi.KindLookup, windowapi.Lookup{Seq: 7, Text: typed}, &f); a != windowapi.KindLookup || f.Seq != 7 {
			t.Fatalf("%q: answered %q", typed, a)
		}
		contacts := f.Contacts
		f.Seq, f.Contacts, f.Support = 0, nil, ""
		if b, _ := json.Marshal(f); string(b) != string(must.Get(json.Marshal(want))(t)) {
			t.Errorf("%q: %s", typed, b)
		}
		if n := map[string]int{history.OutcomeFound: 1, history.OutcomeSeveral: 3}[want.Outcome]; len(contacts) != n {
			t.Errorf("%q: %d contacts", typed, len(contacts))
		}
		switch len(contacts) {
		case 1:
			if contacts[0] != (windowapi.Contact{ID: "c-vries", Name: "J. de Vries", Relation: "100200", Address: "Dorpsstraat 1, 1234 AB Ons Dorp",
				Producer: "Producent Een", Modified: "Medewerker", Link: d.link("c-vries")}) {
				t.Errorf("%+v", contacts[0])
			}
		case 3:
			if contacts[0].Name != "J. Aarts" || contacts[2].Name != "J. Özdemir" {
				t.Errorf("in another order: %+v", contacts)
			}
		}
	}
	if a := d.ask(windowapi.KindLookup, windowapi.Lookup{Text: strings.Repeat("0", 300)}, nil); a != "" {
		t.Errorf("a text as long as that was answered: %s", a)
	}
	err := filepath.WalkDir(d.o.Dirs.State, func(p string, f os.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		for _, w := range []string{"Vries", "98760011", "c-vries", "100200", "Aarts", "7650022", "Dorpsstraat"} {
			if strings.Contains(string(b), w) {
				t.Errorf("%s holds %q", filepath.Base(p), w)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	var f windowapi.LookupResult
	d.set.Lookup.Manual = false
	if d.ask(windowapi.KindLookup, windowapi.Lookup{Text: "0698760011"}, &f); f.Outcome != windowapi.LookupOff || len(f.Contacts) != 0 {
		t.Errorf("switched off: %+v", f)
	}
	d.set.Lookup.Manual = true
	e := *d.current()
	e.client = nil
	d.effective.Store(&e)
	f = windowapi.LookupResult{}
	if d.ask(windowapi.KindLookup, windowapi.Lookup{Text: "0698760011"}, &f); f.Outcome != history.OutcomeFailed || f.Failure != string(contact.NotSetUp) || f.Support != "Jan (IT)" {
		t.Errorf("not set up: %+v", f)
	}
}

// theRelay answers like a link to a relay.
type theRelay struct{}

func (theRelay) Lookup(context.Context, string) ([]contact.Contact, error) {
	return []contact.Contact{{FamilyName: "Vries"}}, nil
}

// TestRelayLooksUp checks that the relay is asked only if there is a link to one and no
// hub is set up on this computer; otherwise the hub is.
func TestRelayLooksUp(t *testing.T) {
	var l engine.Lookup = theRelay{}
	linked := &settings.Settings{Softphones: []settings.Softphone{{Kind: registry.Relay}}}
	client := must.Get(hub.New(hub.Config{BaseURL: "https://hub.example", ClientID: "x", Secret: func(context.Context) (string, error) { return "", nil }}))(t)
	defer client.Close()
	for name, tt := range map[string]struct {
		e    effective
		want engine.Lookup
	}{
		"nothing":   {effective{settings: &settings.Settings{}}, nil},
		"a relay":   {effective{settings: linked}, l},
		"a hub too": {effective{settings: linked, client: client}, client},
	} {
		r := &Resident{lookups: lookups{audit: audit.New(func() *settings.Settings { return tt.e.settings }, slog.New(slog.DiscardHandler))}}
		r.relay.link.Store(&l)
		got := r.lookup(&tt.e)
		if (got == nil) != (tt.want == nil) {
			t.Errorf("%s: %v", name, got)
			continue
		}
		if tt.want == l {
			if found, err := got.Lookup(t.Context(), "+31698760011"); err != nil || len(found) != 1 {
				t.Errorf("%s: %v, %v", name, found, err)
			}
		}
		if tt.want == client && got != r.audit.WrapLookup(client) {
			t.Errorf("%s: the relay is asked", name)
		}
	}
	if _, err := (&relayLookup{}).Lookup(t.Context(), "+31698760011"); contact.FailureOf(err) != contact.NotSetUp {
		t.Errorf("no link: %v", err)
	}
}

// TestForget checks that a request to forget that does not say what deletes nothing;
// callactions.Delete, which gets the others, has its own tests.
func TestForget(t *testing.T) {
	d := newDesktop(t)
	d.put(missedCall())
	future := -1
	for i, m := range []windowapi.Forget{{}, {All: true, Number: "06"}, {Days: &future}, {All: true}} {
		done := d.forget(t.Context(), must.Get(json.Marshal(m))(t))
		last := m == windowapi.Forget{All: true}
		if missed := d.store.Missed(); (done.Error == "") != last || (missed == 0) != last {
			t.Errorf("%d: %+v, %d missed", i, done, missed)
		}
	}
}
