package resident

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/choices"
	"wiebelt/internal/contact"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/native/window"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/resident/desks"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// clipboard is all of a display that these tests look at.
type clipboard struct {
	window.Display
	mu   sync.Mutex
	text string
	fail error
}

func (c *clipboard) Copy(s string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = s
	return c.fail
}

// desktop is a resident with a hub, a history and nothing on screen.
type desktop struct {
	*Resident
	t     *testing.T
	set   *settings.Settings
	board *clipboard
	notes func(program string) string // what a program was given
	asked *localhub.Hub
}

var vries = localhub.Record{Numbers: []string{"06-98760011"}, Contact: contact.Contact{ID: "c-vries", RelationNumber: "100200",
	Initials: "J.", Prefix: "de", FamilyName: "Vries", Address: contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"},
	Producer: contact.Coded{Code: "P", Description: "Producent Een"}, LastModifiedBy: contact.Coded{Code: "M", Description: "Medewerker"}}}

func newDesktop(t *testing.T) *desktop {
	t.Helper()
	h, err := localhub.Start(context.Background(), localhub.Config{Synthetic: 20, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	family := vries
	family.Numbers = []string{"020 765 00 22"}
	for i, name := range []string{"Bakker", "Özdemir", "Aarts"} {
		r := family
		r.Contact.ID, r.Contact.FamilyName, r.Contact.Prefix = "c-"+strings.TrimLeft(name, "Ö"), name, ""
		r.Contact.RelationNumber = "20020" + string(rune('0'+i))
		if _, err := h.AddInvented(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.AddInvented(t.Context(), vries); err != nil {
		t.Fatal(err)
	}
	key, err := h.AddClient(t.Context(), "office", "1234")
	if err != nil {
		t.Fatal(err)
	}
	client, err := hub.New(hub.Config{BaseURL: h.BaseURL(), ClientID: "office", OrganisationCode: "1234", Now: time.Now,
		Secret: func(context.Context) (string, error) { return key, nil }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	links, err := hub.NewLinks(h.HubURL())
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
	s := settings.Defaults()
	s.UI.Language, s.Support.Contact = "nl", "Jan (IT)"
	s.Lines = []settings.Line{{Number: "020 123 45 67", Name: "Schade"}}
	s.Phone.NeverLookup = []string{"0612340000"}
	d := &desktop{t: t, set: s, board: &clipboard{}, asked: h}
	d.Resident = &Resident{o: Options{Dirs: dirs, Settings: s, Log: slog.New(slog.DiscardHandler)}, display: d.board, retell: make(chan struct{}, 1)}
	d.effective.Store(&effective{settings: s, lang: text.Dutch, client: client, links: links})
	d.desks = desks.New(t.Context(), d.deskParams())
	if d.store, err = history.Open(historyPath(d.o.Dirs), history.KeepFull, 7, time.Now); err != nil {
		t.Fatal(err)
	}
	store := d.store
	t.Cleanup(func() { _ = store.Close() })
	d.chosenBefore = choices.New(choices.Params{Path: filepath.Join(dirs.State, choices.FileName), Keep: true, Now: time.Now, Log: d.o.Log})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); d.chosenBefore.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	dir := t.TempDir()
	d.notes = func(program string) string {
		b, _ := os.ReadFile(filepath.Join(dir, program+".notes"))
		return strings.TrimSpace(string(b))
	}
	for _, p := range []string{"xdg-open", "softphone"} {
		script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + filepath.Join(dir, p+".notes") + "\n"
		if err := os.WriteFile(filepath.Join(dir, p), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return d
}

// put keeps a call; its link is that of the hub.
func (d *desktop) put(e history.Entry) int64 {
	d.t.Helper()
	if e.Rang.IsZero() {
		e.Rang = time.Now().Add(-time.Minute)
	}
	id, err := d.store.Put(d.t.Context(), e)
	if err != nil {
		d.t.Fatal(err)
	}
	return id
}

func (d *desktop) get(id int64) history.Entry {
	d.t.Helper()
	e, err := d.store.Get(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

// ask asks what a window would, and gives the answer, "" if there was none.
func (d *desktop) ask(kind string, m any, into any) (answer string) {
	d.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		d.t.Fatal(err)
	}
	area, _, _ := strings.Cut(kind, ".")
	areas[area](d.Resident, ask.Request{Ctx: d.t.Context(), Kind: kind, Raw: raw, Reply: func(kind string, m any) {
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
	case <-d.retell:
		return true
	default:
		return false
	}
}

func (d *desktop) link(id string) string { return d.asked.HubURL() + "/contacts/viewcontact/" + id }

func missedCall() history.Entry {
	return history.Entry{Number: "+31698760011", Shown: "06 98 76 00 11", Name: "J. de Vries", ContactID: "c-vries", RelationNumber: "100200",
		Matches: 1, Outcome: history.OutcomeFound, Result: history.ResultMissed}
}

// Everything that can be done with a call, and what is said when it cannot.
func TestCallsRequests(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // its browser is a script
	}
	d := newDesktop(t)
	e := missedCall()
	e.Link = d.link("c-vries")
	id := d.put(e)
	at := deskapi.CallsEntry{Entry: id}
	var failed deskapi.CallsFailed

	if a := d.ask(deskapi.KindCallsCopy, deskapi.CallsCopy{Entry: id}, nil); a != "" || d.board.text != "0698760011" {
		t.Errorf("copied %q, %s", d.board.text, a)
	}
	if a := d.ask(deskapi.KindCallsCopy, deskapi.CallsCopy{Entry: id, Relation: true}, nil); a != "" || d.board.text != "100200" {
		t.Errorf("copied %q, %s", d.board.text, a)
	}
	d.board.fail = errors.New("nobody serves it")
	if a := d.ask(deskapi.KindCallsCopy, deskapi.CallsCopy{Entry: id}, &failed); a != deskapi.KindCallsFailed || failed.Sentence != "Kopiëren lukt niet." {
		t.Errorf("%s %+v", a, failed)
	}

	if d.missed() != 1 {
		t.Fatalf("%d missed", d.missed())
	}
	if a := d.ask(deskapi.KindCallsOpen, at, nil); a != "" || d.notes("xdg-open") != e.Link {
		t.Errorf("opened %q, %s", d.notes("xdg-open"), a)
	}
	if d.missed() != 0 || !d.retold() {
		t.Error("opening the file did not tick the call off, or nobody was told")
	}

	d.set.Phone.CallBack = `softphone --dial "{number}"`
	if a := d.ask(deskapi.KindCallsCall, at, nil); a != "" || d.notes("softphone") != "--dial\n0698760011" {
		t.Errorf("called with %q, %s", d.notes("softphone"), a)
	}
	d.set.Phone.CallBack = "tel"
	if a := d.ask(deskapi.KindCallsCall, at, nil); a != "" || d.notes("xdg-open") != "tel:+31698760011" {
		t.Errorf("called %q, %s", d.notes("xdg-open"), a)
	}
	d.set.Phone.CallBack = "sip"
	if a := d.ask(deskapi.KindCallsCall, at, nil); a != "" || d.notes("xdg-open") != "sip:0698760011" {
		t.Errorf("called %q, %s", d.notes("xdg-open"), a)
	}
	d.set.Phone.CallBack = "/no/such/phone {number}"
	if a := d.ask(deskapi.KindCallsCall, at, &failed); a != deskapi.KindCallsFailed || !strings.HasPrefix(failed.Sentence, "Terugbellen lukt niet") {
		t.Errorf("%s %+v", a, failed)
	}
	d.set.Phone.CallBack = "off"
	if a := d.ask(deskapi.KindCallsCall, at, nil); a != deskapi.KindCallsFailed {
		t.Errorf("switched off: %s", a)
	}
	// A number that the phone has made up calls nobody but what our rules read.
	evil := d.put(history.Entry{Number: "*21*0612345678#", Shown: "x"})
	d.set.Phone.CallBack = "tel"
	if a := d.ask(deskapi.KindCallsCall, deskapi.CallsEntry{Entry: evil}, nil); a != deskapi.KindCallsFailed || d.notes("xdg-open") != "sip:0698760011" {
		t.Errorf("a code for the exchange: %s, %q", a, d.notes("xdg-open"))
	}

	foreign := missedCall()
	foreign.Link = "https://evil.example/contacts/viewcontact/c"
	if a := d.ask(deskapi.KindCallsOpen, deskapi.CallsEntry{Entry: d.put(foreign)}, &failed); a != deskapi.KindCallsFailed || !strings.Contains(failed.Sentence, "past niet") {
		t.Errorf("a link of another hub: %s %+v", a, failed)
	}

	d.chosenBefore.Chose(e.Number, "c-vries")
	if a := d.ask(deskapi.KindCallsNotThis, at, nil); a != "" {
		t.Errorf("answered %s", a)
	}
	if got := d.get(id); got.ContactID+got.Link+got.RelationNumber != "" || got.Name != e.Name || !got.TakenOff {
		t.Errorf("still there: %+v", got)
	}
	if _, still := d.chosenBefore.Earlier(e.Number); still {
		t.Error("the choice is still remembered")
	}
	these := deskapi.CallsEntries{Entries: []int64{id}}
	if a := d.ask(deskapi.KindCallsThis, these, nil); a != "" {
		t.Errorf("answered %s", a)
	}
	if _, again := d.chosenBefore.Earlier(e.Number); !again || d.get(id).TakenOff || d.get(id).Link != e.Link {
		t.Errorf("taken back: %+v, the choice %v", d.get(id), again)
	}
	if a := d.ask(deskapi.KindCallsThis, these, nil); a != deskapi.KindCallsFailed {
		t.Errorf("twice: %s", a)
	}

	again := missedCall()
	again.Number = ""
	tick := d.put(again)
	d.ask(deskapi.KindCallsTick, deskapi.CallsEntries{Entries: []int64{tick}}, nil)
	if !d.get(tick).Missed() || d.get(tick).Open() {
		t.Error("not ticked off")
	}
	d.ask(deskapi.KindCallsReopen, deskapi.CallsEntries{Entries: []int64{tick}}, nil)
	if !d.get(tick).Open() {
		t.Error("not open again")
	}

	several := missedCall()
	several.Number, several.Name, several.ContactID, several.RelationNumber, several.Link = "+31207650022", "", "", "", ""
	one := d.put(several)
	var found deskapi.CallsLooked
	d.ask(deskapi.KindCallsLookup, deskapi.CallsEntry{Entry: one}, &found)
	if len(found.Contacts) != 3 || found.Contacts[0].ID != "c-Aarts" || found.Contacts[0].Earlier {
		t.Fatalf("%d people, the first %+v", len(found.Contacts), found.Contacts)
	}
	if a := d.ask(deskapi.KindCallsPerson, deskapi.CallsPerson{Entry: one, Contact: found.Contacts[1]}, nil); a != "" || d.notes("xdg-open") != d.link("c-Bakker") {
		t.Errorf("%s; opened %q", a, d.notes("xdg-open"))
	}
	if got := d.get(one); got.ContactID != "c-Bakker" || got.Open() {
		t.Errorf("opened and is %+v", got)
	}
	var next deskapi.CallsLooked
	d.ask(deskapi.KindCallsLookup, deskapi.CallsEntry{Entry: d.put(several)}, &next)
	if len(next.Contacts) != 3 || next.Contacts[0].ID != "c-Bakker" || !next.Contacts[0].Earlier || next.Contacts[1].ID != "c-Aarts" {
		t.Errorf("then %+v", next.Contacts)
	}
	found.Contacts[0].Link = "https://evil.example/contacts/viewcontact/c"
	if a := d.ask(deskapi.KindCallsPerson, deskapi.CallsPerson{Entry: one, Contact: found.Contacts[0]}, nil); a != deskapi.KindCallsFailed {
		t.Errorf("a link of another hub: %s", a)
	}
	d.ask(deskapi.KindCallsRemove, deskapi.CallsEntries{Entries: []int64{at.Entry}}, nil)
	if _, err := d.store.Get(t.Context(), id); !errors.Is(err, history.ErrGone) {
		t.Errorf("not removed: %v", err)
	}
	if a := d.ask(deskapi.KindCallsOpen, at, &failed); a != deskapi.KindCallsFailed || failed.Sentence != "Deze oproep is er niet meer." {
		t.Errorf("%s %+v", a, failed)
	}
	for _, raw := range []string{"", "null", "[]", `{"entry":"x"}`, `{"entry":-1}`, `{}`} {
		answerCalls(d.Resident, ask.Request{Ctx: t.Context(), Kind: deskapi.KindCallsRemove, Raw: json.RawMessage(raw), Reply: func(string, any) {}})
	}
	answerCalls(d.Resident, ask.Request{Ctx: t.Context(), Kind: "calls.unheard-of", Reply: func(string, any) {}})
}

func TestCallsStateOfTheResident(t *testing.T) {
	d := newDesktop(t)
	var m deskapi.CallsState
	state := func() deskapi.CallsState {
		m = deskapi.CallsState{}
		if a := d.ask(deskapi.KindCallsAsk, nil, &m); a != deskapi.KindCallsState {
			t.Fatalf("answered %q", a)
		}
		return m
	}
	d.set.Phone.CallBack, d.set.Calls.Group = "softphone {number}", true
	d.put(missedCall())
	if s := state(); s != (deskapi.CallsState{Group: true, CallBack: true, Manual: true}) {
		t.Errorf("%+v", s)
	}
	d.set.Phone.CallBack, d.set.Lookup.Manual, d.set.Calls.Group = "off", false, false
	if s := state(); s != (deskapi.CallsState{}) {
		t.Errorf("%+v", s)
	}
	if runtime.GOOS != "windows" {
		if err := os.Remove(historyPath(d.o.Dirs)); err != nil {
			t.Fatal(err)
		}
		d.put(missedCall())
		if s := state(); s.Notice != text.Dutch.T(text.CallsNotice("gone")) || s.Fault != "" {
			t.Errorf("%+v", s)
		}
		d.ask(deskapi.KindCallsDismiss, nil, nil)
		if s := state(); s.Notice != "" {
			t.Errorf("%+v", s)
		}
	}
	// It could not be opened at all.
	_ = d.store.Close()
	d.store = nil
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

// Looking up again fills in what could not be looked up then, and never more than
// may be kept.
func TestLookAgain(t *testing.T) {
	d := newDesktop(t)
	var m deskapi.CallsLooked
	again := func(e history.Entry) history.Entry {
		t.Helper()
		id := d.put(e)
		m = deskapi.CallsLooked{}
		if a := d.ask(deskapi.KindCallsLookup, deskapi.CallsEntry{Entry: id}, &m); a != deskapi.KindCallsLooked || m.Entry != id {
			t.Fatalf("answered %q %+v", a, m)
		}
		return d.get(id)
	}
	failed := history.Entry{Number: "+31698760011", Shown: "06 98 76 00 11", Outcome: history.OutcomeFailed}
	if e := again(failed); e.Name != "J. de Vries" || e.ContactID != "c-vries" || e.Outcome != history.OutcomeFound || e.Link != d.link("c-vries") || m.Sentence != "" {
		t.Errorf("%+v, %+v", e, m)
	}
	several := failed
	several.Number = "+31207650022"
	if e := again(several); e.Name != "" || e.Matches != 3 || e.Outcome != history.OutcomeSeveral || len(m.Contacts) != 3 {
		t.Errorf("%+v, %+v", e, m)
	}
	several.Name, several.ContactID = "Bakker", "c-Bakker" // chosen then
	if e := again(several); e.ContactID != "c-Bakker" || e.Link != d.link("c-Bakker") {
		t.Errorf("%+v", e)
	}
	nobody := missedCall()
	nobody.Number = "+31655550000"
	if e := again(nobody); e.Name != "" || e.ContactID != "" || e.Outcome != history.OutcomeNobody || m.Sentence != "Nog steeds geen relatie met dit nummer." {
		t.Errorf("%+v, %+v", e, m)
	}
	foreign := failed
	foreign.Number = "+49698760011"
	if e := again(foreign); e.Name != "" || e.ContactID != "" || !strings.Contains(m.Sentence, "Buitenlands nummer") {
		t.Errorf("%+v, %+v", e, m)
	}
	never := failed
	never.Number = "+31612340000"
	if again(never); m.Sentence != text.Dutch.T(text.CardNever) {
		t.Errorf("%+v", m)
	}
	off := d.put(failed)
	if _, err := d.store.TakeOff(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	d.ask(deskapi.KindCallsLookup, deskapi.CallsEntry{Entry: off}, &m)
	if e := d.get(off); e.Name != "" || m.Sentence != text.Dutch.T(text.CallsAgainOff) {
		t.Errorf("%+v, %+v", e, m)
	}
	_ = d.asked.Close()
	if e := again(history.Entry{Number: "+31698760099", Outcome: history.OutcomeFailed}); e.Outcome != history.OutcomeFailed || !strings.HasPrefix(m.Sentence, "Opzoeken lukt niet: ") {
		t.Errorf("%+v, %+v", e, m)
	}
}

// The box takes a number in any notation, and the answer has the outcomes of the
// card. Nothing of it reaches the disk.
func TestLookUpByHand(t *testing.T) {
	d := newDesktop(t)
	for typed, want := range map[string]deskapi.LookupFound{
		"06-98760011":            {Outcome: history.OutcomeFound, Number: "+31698760011", Shown: "06 98 76 00 11", Copy: "0698760011"},
		"+31 6 9876 0011":        {Outcome: history.OutcomeFound, Number: "+31698760011", Shown: "06 98 76 00 11", Copy: "0698760011"},
		"tel:0031698760011":      {Outcome: history.OutcomeFound, Number: "+31698760011", Shown: "06 98 76 00 11", Copy: "0698760011"},
		"020 765 00 22":          {Outcome: history.OutcomeSeveral, Number: "+31207650022", Shown: "020 765 00 22", Copy: "0207650022"},
		"06 55 55 00 00":         {Outcome: history.OutcomeNobody, Number: "+31655550000", Shown: "06 55 55 00 00", Copy: "0655550000"},
		"+49 698 760 011":        {Outcome: history.OutcomeFound, Number: "+49698760011", Possible: true, Shown: "+49 69 8760011", Copy: "0049698760011"},
		"T 06-98760011 (mobiel)": {Outcome: history.OutcomeFound, Number: "+31698760011", Shown: "06 98 76 00 11", Copy: "0698760011"},
		"0698760011 0207650022":  {Outcome: deskapi.LookupNumbers, Numbers: []string{"06 98 76 00 11", "020 765 00 22"}},
		"101":                    {Outcome: history.OutcomeInternal, Shown: "101", Copy: "101"},
		"0800 1234":              {Outcome: history.OutcomeShort, Shown: "0800 12 34", Copy: "08001234"},
		"020 123 45 67":          {Outcome: history.OutcomeOwn, Shown: "020 123 45 67", Copy: "0201234567", LineName: "Schade"},
		"0612340000":             {Outcome: deskapi.LookupNever, Shown: "06 12 34 00 00", Copy: "0612340000"},
		"anonymous":              {Outcome: history.OutcomeWithheld},
		"de Vries":               {Outcome: deskapi.LookupNoNumber, Shown: "de Vries"},
		"%CallerNumber%":         {Outcome: deskapi.LookupNoNumber},
	} {
		var f deskapi.LookupFound
		if a := d.ask(deskapi.KindLookupFind, deskapi.LookupFind{Seq: 7, Text: typed}, &f); a != deskapi.KindLookupFound || f.Seq != 7 {
			t.Fatalf("%q: answered %q", typed, a)
		}
		contacts := f.Contacts
		f.Seq, f.Contacts, f.Support = 0, nil, ""
		if b, _ := json.Marshal(f); string(b) != string(must(json.Marshal(want))) {
			t.Errorf("%q: %s", typed, b)
		}
		if n := map[string]int{history.OutcomeFound: 1, history.OutcomeSeveral: 3}[want.Outcome]; len(contacts) != n {
			t.Errorf("%q: %d contacts", typed, len(contacts))
		}
		switch len(contacts) {
		case 1:
			if contacts[0] != (deskapi.LookupContact{ID: "c-vries", Name: "J. de Vries", Relation: "100200", Address: "Dorpsstraat 1, 1234 AB Ons Dorp",
				Producer: "Producent Een", Modified: "Medewerker", Link: d.link("c-vries")}) {
				t.Errorf("%+v", contacts[0])
			}
		case 3:
			if contacts[0].Name != "J. Aarts" || contacts[2].Name != "J. Özdemir" {
				t.Errorf("in another order: %+v", contacts)
			}
		}
	}
	if a := d.ask(deskapi.KindLookupFind, deskapi.LookupFind{Text: strings.Repeat("0", 300)}, nil); a != "" {
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
	var f deskapi.LookupFound
	d.set.Lookup.Manual = false
	if d.ask(deskapi.KindLookupFind, deskapi.LookupFind{Text: "0698760011"}, &f); f.Outcome != deskapi.LookupOff || len(f.Contacts) != 0 {
		t.Errorf("switched off: %+v", f)
	}
	d.set.Lookup.Manual = true
	e := *d.current()
	e.client = nil
	d.effective.Store(&e)
	f = deskapi.LookupFound{}
	if d.ask(deskapi.KindLookupFind, deskapi.LookupFind{Text: "0698760011"}, &f); f.Outcome != history.OutcomeFailed || f.Failure != string(contact.NotSetUp) || f.Support != "Jan (IT)" {
		t.Errorf("not set up: %+v", f)
	}
	var said deskapi.LookupSaid
	if a := d.ask(deskapi.KindLookupOpen, deskapi.LookupOpen{Link: "https://evil.example/contacts/viewcontact/c"}, &said); a != deskapi.KindLookupSaid || said.Sentence == "" {
		t.Errorf("a link of another hub: %q %+v", a, said)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestForget(t *testing.T) {
	days := func(n int) *int { return &n }
	old := missedCall()
	old.Rang, old.Number = time.Now().AddDate(0, 0, -3), "+31207650022"
	for _, tt := range []struct {
		name  string
		what  deskapi.Forget
		calls int // left
		fails bool
	}{
		{"all", deskapi.Forget{All: true}, 0, false},
		{"a number in any notation", deskapi.Forget{Number: "06-98 76 00 11"}, 1, false},
		{"older", deskapi.Forget{Days: days(2)}, 1, false},
		{"nothing that old", deskapi.Forget{Days: days(30)}, 2, false},
		{"all, however new", deskapi.Forget{Days: days(0)}, 0, false},
		{"nothing said", deskapi.Forget{}, 2, true},
		{"two things said", deskapi.Forget{All: true, Number: "06"}, 2, true},
		{"the future", deskapi.Forget{Days: days(-1)}, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesktop(t)
			d.put(missedCall())
			d.put(old)
			d.chosenBefore.Chose(missedCall().Number, "c-vries")
			done := d.forget(t.Context(), must(json.Marshal(tt.what)))
			if failed := done.Error != ""; failed != tt.fails {
				t.Errorf("%+v", done)
			}
			r, err := history.OpenReadOnly(historyPath(d.o.Dirs))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if open, err := r.Open(t.Context(), 10); len(open) != tt.calls || err != nil {
				t.Errorf("%d calls left, %v, want %d", len(open), err, tt.calls)
			}
		})
	}
}
