package callactions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

const hubURL = "https://hub.example"

func link(id string) string { return hubURL + "/contacts/viewcontact/" + id }

// fixture is a profile whose history the resident has open, plus the calls as a window has them.
type fixture struct {
	*Calls
	t     *testing.T
	set   *settings.Settings
	store *history.Store // the resident's
	told  []string
	dir   string // of the programs that are started
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dirs := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, dirs.Make())
	b := &fixture{t: t, set: settings.Defaults(), dir: t.TempDir()}
	b.set.Hub.HubURL, b.set.Support.Contact = hubURL, "Jan (IT)"
	b.store = must.Get(history.Open(fromsettings.HistoryFile(dirs), history.KeepFull, 7, time.Now))(t)
	t.Cleanup(func() { _ = b.store.Close() })
	var log bytes.Buffer
	t.Cleanup(func() {
		for _, private := range []string{"98760011", "7650022", "Vries", "Bakker", "100200", "viewcontact", "evil", "0612345678"} {
			if strings.Contains(log.String(), private) {
				t.Errorf("%q is in the log: %s", private, &log)
			}
		}
	})
	b.Calls = New(Params{Dirs: dirs, Instance: instance.Config{RunDir: dirs.Run}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Settings: func() *settings.Settings { return b.set },
		Send: func(kind string, m any) {
			switch m := m.(type) {
			case windowapi.Choice:
				kind += fmt.Sprint(" ", m.What, " ", m.Number, " ", m.Contact)
			case windowapi.Copy:
				kind += " " + m.Text
			case windowapi.Changed:
				kind += fmt.Sprint(" ", m.What, " ", len(m.Removed))
			}
			b.told = append(b.told, kind)
		}})
	for _, p := range []string{"xdg-open", "softphone"} {
		script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + filepath.Join(b.dir, p+".notes") + "\n"
		must.Do(t, os.WriteFile(filepath.Join(b.dir, p), []byte(script), 0o700))
	}
	t.Setenv("PATH", b.dir+":"+os.Getenv("PATH"))
	return b
}

// notes returns the arguments that a program was started with.
func (b *fixture) notes(program string) string {
	s, _ := os.ReadFile(filepath.Join(b.dir, program+".notes"))
	return strings.TrimSpace(string(s))
}

func (b *fixture) put(e history.Entry) int64 {
	b.t.Helper()
	if e.Rang.IsZero() {
		e.Rang = time.Now().Add(-time.Minute)
	}
	return must.Get(b.store.Put(b.t.Context(), e))(b.t)
}

func (b *fixture) at(id int64) history.Entry {
	b.t.Helper()
	return must.Get(b.store.Get(b.t.Context(), id))(b.t)
}

// works checks that an action succeeded, and what it told the resident.
func (b *fixture) works(what string, err error, told ...string) {
	b.t.Helper()
	if err != nil || !slices.Equal(b.told, told) {
		b.t.Errorf("%s: told %q, want %q; %v", what, b.told, told, err)
	}
	b.told = nil
}

// fails checks the sentence that the user gets for an error.
func (b *fixture) fails(what string, err error, sentence string) {
	b.t.Helper()
	if err == nil || !strings.HasPrefix(Describe(text.Dutch, err), sentence) {
		b.t.Errorf("%s: %v", what, err)
	}
	b.told = nil
}

func missedCall() history.Entry {
	return history.Entry{Number: "+31698760011", NumberDisplay: "06 98 76 00 11", Name: "J. de Vries", ContactID: "c-vries",
		RelationNumber: "100200",
		Link:           link("c-vries"), Matches: 1, Outcome: history.OutcomeFound, Result: history.ResultMissed}
}

const changed = "changed history 0"

// TestCalls checks every action on a call, and what it reports if it fails.
func TestCalls(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the fake browser is a script
	}
	b, ctx := newFixture(t), t.Context()
	id := b.put(missedCall())
	b.works("copy", b.Copy(ctx, id, false), "copy 0698760011")
	b.works("copy", b.Copy(ctx, id, true), "copy 100200")
	b.works("open", b.Open(ctx, id), changed)
	if b.notes("xdg-open") != link("c-vries") || b.at(id).Open() {
		t.Errorf("opened %q, the call is %+v", b.notes("xdg-open"), b.at(id))
	}

	for how, want := range map[string]string{`softphone --dial "{number}"`: "--dial\n0698760011", "tel": "tel:+31698760011", "sip": "sip:0698760011"} {
		b.set.Phone.CallBack = how
		b.works(how, b.CallBack(ctx, id))
		if got := b.notes(map[bool]string{true: "softphone", false: "xdg-open"}[strings.HasPrefix(how, "s") && how != "sip"]); got != want {
			t.Errorf("%s: called %q", how, got)
		}
	}
	for _, how := range []string{"/no/such/phone {number}", "off"} {
		b.set.Phone.CallBack = how
		b.fails(how, b.CallBack(ctx, id), "Terugbellen lukt niet")
	}
	// What a phone made up as a number is called only if our rules read it as one.
	b.set.Phone.CallBack = "tel"
	before := b.notes("xdg-open")
	b.fails("a code for the exchange", b.CallBack(ctx, b.put(history.Entry{Number: "*21*0612345678#", NumberDisplay: "x"})),
		"Terugbellen lukt niet")
	foreign := missedCall()
	foreign.Link = "https://evil.example/contacts/viewcontact/c"
	b.fails("a link of another hub", b.Open(ctx, b.put(foreign)), text.Dutch.T(text.CallsTroubleLink))
	b.fails("a link of another hub", b.OpenLink(ctx, foreign.Link, ""), text.Dutch.T(text.CallsTroubleLink))
	if b.notes("xdg-open") != before {
		t.Errorf("opened %q", b.notes("xdg-open"))
	}

	withheld := missedCall()
	withheld.Number = ""
	one, two := b.put(withheld), b.put(withheld)
	b.works("copy a number that is withheld", b.Copy(ctx, one, false)) // the clipboard keeps what is on it
	closed, end := context.WithCancel(ctx)                             // the window has been closed meanwhile
	end()
	b.works("tick", b.Tick(closed, one, two), changed)
	if !b.at(one).Missed() || b.at(one).Open() || b.at(two).Open() {
		t.Error("not ticked off")
	}
	b.works("reopen", b.Reopen(ctx, one), changed)
	if !b.at(one).Open() || b.at(two).Open() {
		t.Error("not open again, or both are")
	}
	b.fails("what is not there", b.Open(ctx, 999), "Deze oproep is er niet meer.")
	b.fails("what is not there", b.Copy(ctx, 999, false), "Deze oproep is er niet meer.")
	b.fails("what is not there", b.CallBack(ctx, 999), "Deze oproep is er niet meer.")
	t.Setenv("PATH", t.TempDir())
	b.fails("no browser", b.Open(ctx, id), text.Dutch.T(text.CallsTroubleOpen))
}

// TestNotThis checks that a rejected person can be
// restored unchanged, along with the remembered choice.
func TestNotThis(t *testing.T) {
	b, ctx := newFixture(t), t.Context()
	e := missedCall()
	e.Matches = 3
	id := b.put(e)
	was, err := b.RemovePerson(ctx, id)
	b.works("not this", err, changed, "choice not +31698760011 c-vries")
	if got := b.at(id); got.ContactID+got.Link+got.RelationNumber != "" || got.Name != e.Name || !got.PersonRejected {
		t.Errorf("still there: %+v", got)
	}
	b.works("this", b.RestorePerson(ctx, was), changed, "choice back +31698760011 c-vries")
	if got := b.at(id); got.PersonRejected || got.Link != e.Link {
		t.Errorf("taken back: %+v", got)
	}
	alone := b.put(missedCall())
	was, err = b.RemovePerson(ctx, alone)
	b.works("not this", err, changed, "choice not +31698760011 c-vries")
	b.works("nobody had to be chosen", b.RestorePerson(ctx, was), changed)
	_, err = b.RemovePerson(ctx, 999)
	b.fails("what is not there", err, "Deze oproep is er niet meer.")
}

// TestRemove checks that no file contains a removed call, and that it can be restored unchanged.
func TestRemove(t *testing.T) {
	b, ctx := newFixture(t), t.Context()
	e := missedCall()
	e.Name = "K. Anarievogel"
	id := b.put(e)
	before := b.at(id)
	was, err := b.Remove(ctx, 999, id)
	if !errors.Is(err, history.ErrGone) || len(was) != 1 || !slices.Equal(b.told, []string{"changed history 1"}) {
		t.Fatalf("%d calls, told %q, %v", len(was), b.told, err)
	}
	b.told = nil
	files, err := filepath.Glob(fromsettings.HistoryFile(b.Dirs) + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		if s, err := os.ReadFile(f); err == nil && bytes.Contains(s, []byte("Anarievogel")) {
			t.Errorf("%s still has the name", filepath.Base(f))
		}
	}
	b.works("restore", b.Restore(ctx, was...), changed)
	if got := b.at(id); got != before {
		t.Errorf("back as %+v, was %+v", got, before)
	}
}

// TestOpenPerson checks that opening one of several contacts
// makes that contact the caller, unless the number is foreign.
func TestOpenPerson(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the fake browser is a script
	}
	b, ctx := newFixture(t), t.Context()
	several := missedCall()
	several.Number, several.Name, several.ContactID, several.RelationNumber, several.Link, several.Matches = "+31207650022", "", "", "", "", 2
	id := b.put(several)
	bakker := windowapi.Contact{ID: "c-bakker", Name: "B. Bakker", Relation: "200201", Link: link("c-bakker")}
	b.works("open", b.OpenPerson(ctx, id, "+31207650022", bakker), changed, "choice made +31207650022 c-bakker", changed)
	if got := b.at(id); b.notes("xdg-open") != bakker.Link || got.ContactID != "c-bakker" || got.Name != "B. Bakker" || got.Open() {
		t.Errorf("opened %q, and the call is %+v", b.notes("xdg-open"), got)
	}
	evil := bakker
	evil.Link = "https://evil.example/contacts/viewcontact/c"
	b.fails("a link of another hub", b.OpenPerson(ctx, id, "+31207650022", evil), text.Dutch.T(text.CallsTroubleLink))
	several.Number = "+49698760011"
	abroad := b.put(several)
	b.works("foreign", b.OpenPerson(ctx, abroad, several.Number, bakker), changed)
	if got := b.at(abroad); got.ContactID+got.Name != "" {
		t.Errorf("only possible, and kept: %+v", got)
	}
	several.Number = "+31207650033"
	transferred := b.put(several)
	before := b.at(transferred)
	if err := b.OpenPerson(ctx, transferred, "+31207650022", bakker); !errors.Is(err, history.ErrGone) {
		t.Errorf("the call has another number: %v", err)
	}
	b.works("another number", nil)
	if got := b.at(transferred); got != before {
		t.Errorf("another caller's person is kept: %+v", got)
	}
}

// TestLooked checks that another lookup fills in what could
// not be looked up before, and never more than may be kept.
func TestLooked(t *testing.T) {
	b := newFixture(t)
	vries := windowapi.Contact{ID: "c-vries", Name: "J. de Vries", Relation: "100200", Link: link("c-vries")}
	bakker := windowapi.Contact{Name: "B. Bakker"} // without an id from the hub
	failed := history.Entry{Number: "+31698760011", NumberDisplay: "06 98 76 00 11", Outcome: history.OutcomeFailed}
	chosen := missedCall()
	nobodyYet := failed
	nobodyYet.Name = "P. Jansen" // as reported by the phone system
	one := windowapi.LookupResult{Outcome: history.OutcomeFound, Contacts: []windowapi.Contact{vries}}
	two := windowapi.LookupResult{Outcome: history.OutcomeSeveral, Contacts: []windowapi.Contact{bakker, vries}, MoreContacts: 1}
	possible := one
	possible.Possible = true
	for _, tt := range []struct {
		what           string
		e              history.Entry
		f              windowapi.LookupResult
		id, name, says string
		outcome        string
		matches, shows int
	}{
		{"one", failed, one, "c-vries", "J. de Vries", "", history.OutcomeFound, 1, 0},
		{"several", failed, two, "", "", "", history.OutcomeSeveral, 3, 2},
		{"several, one chosen then", chosen, two, "c-vries", "J. de Vries", "", history.OutcomeSeveral, 3, 2},
		{"nobody any more", chosen, windowapi.LookupResult{Outcome: history.OutcomeNobody}, "", "", "Nog steeds geen relatie met dit nummer.", history.OutcomeNobody, 0, 0},
		{"nobody, but a name", nobodyYet, windowapi.LookupResult{Outcome: history.OutcomeNobody}, "", "P. Jansen", "Nog steeds", history.OutcomeNobody, 0, 0},
		{"foreign", failed, possible, "", "", text.Dutch.T(text.CallsAgainPossible), history.OutcomeFound, 1, 1},
		{"Wiebelt is not running", failed, windowapi.LookupResult{Outcome: windowapi.LookupNoResident}, "", "", text.Dutch.T(text.WindowNeedsResident), history.OutcomeFailed, 0, 0},
		{"never", failed, windowapi.LookupResult{Outcome: windowapi.LookupNever}, "", "", text.Dutch.T(text.CardNever),
			history.OutcomeFailed, 0, 0},
		{"no answer", failed, windowapi.LookupResult{Outcome: history.OutcomeFailed, Failure: "credentials_refused", Support: "Jan (IT)"}, "", "", "Opzoeken lukt niet: ", history.OutcomeFailed, 0, 0},
		{"no answer yet", failed, windowapi.LookupResult{Outcome: history.OutcomeFailed, Failure: string(contact.HubSlow), Support: "Jan (IT)"}, "", "", "Opzoeken lukt niet: ", history.OutcomeFailed, 0, 0},
	} {
		id := b.put(tt.e)
		m, err := b.StoreLookup(t.Context(), text.Dutch, b.at(id), tt.f)
		if err != nil || m.Entry != id || !strings.HasPrefix(m.Sentence, tt.says) || (m.Sentence == "") != (tt.says == "") ||
			strings.Contains(m.Sentence, "Jan (IT)") != contact.Failure(tt.f.Failure).NeedsAdmin() || len(m.Contacts) != tt.shows {
			t.Errorf("%s: %+v, %v", tt.what, m, err)
		}
		if e := b.at(id); e.ContactID != tt.id || e.Name != tt.name || e.Outcome != tt.outcome || e.Matches != tt.matches || (e.Link != "") != (tt.id != "") {
			t.Errorf("%s: %+v", tt.what, e)
		}
	}
	off := b.put(failed)
	must.Get(b.store.RemovePerson(t.Context(), off))(t)
	if m, err := b.StoreLookup(t.Context(), text.Dutch, b.at(off), one); err != nil || b.at(off).Name != "" || m.Sentence != text.Dutch.T(text.CallsAgainOff) {
		t.Errorf("taken off: %+v, %+v, %v", b.at(off), m, err)
	}
	b.set.History.Keep = string(history.KeepNumbers)
	if m, err := b.StoreLookup(t.Context(), text.Dutch, b.at(b.put(failed)), one); err != nil ||
		m.Sentence != text.Dutch.T(text.CallsAgainOff) {
		t.Errorf("no names are kept: %+v, %v", m, err)
	}
}

// TestLookedDuringTheCall looks a call up again while it continues, and checks that
// what is reported meanwhile stays and that no name ends up with another caller.
func TestLookedDuringTheCall(t *testing.T) {
	b := newFixture(t)
	rang := time.Now().Add(-time.Minute).Truncate(time.Microsecond)
	id := b.put(history.Entry{Number: "+31698760011", NumberDisplay: "06 98 76 00 11", Outcome: history.OutcomeFailed, Rang: rang,
		Kind: "bria"})
	asked := b.at(id)
	f := windowapi.LookupResult{Outcome: history.OutcomeFound, Contacts: []windowapi.Contact{{ID: "c-vries", Name: "J. de Vries"}}}
	over := asked
	over.Ended, over.Result = rang.Add(20*time.Second), history.ResultMissed
	b.put(over)
	must.Get(b.StoreLookup(t.Context(), text.Dutch, asked, f))(t)
	if got := b.at(id); !got.Open() || !got.Ended.Equal(over.Ended) || got.ContactID != "c-vries" || got.Outcome != history.OutcomeFound || !got.Fits("vries") {
		t.Errorf("missed meanwhile: %+v", got)
	}
	passed := b.at(id)
	passed.Number, passed.NumberDisplay, passed.Name, passed.ContactID, passed.Result = "101", "101", "", "", history.ResultLive
	b.put(passed)
	if _, err := b.StoreLookup(t.Context(), text.Dutch, asked, f); !errors.Is(err, history.ErrGone) {
		t.Errorf("passed on meanwhile: %v", err)
	}
	if got := b.at(id); got.Number != "101" || got.Name != "" || got.ContactID != "" {
		t.Errorf("passed on meanwhile: %+v", got)
	}
}

// TestState checks that the actions offered follow the settings.
func TestState(t *testing.T) {
	b := newFixture(t)
	b.set.Phone.CallBack, b.set.Calls.Group, b.set.Hub.Intermediary = "softphone {number}", true, "x"
	if s := b.State(t.Context()); s != (State{Group: true, CallBack: true, Manual: true, Delivery: true}) {
		t.Errorf("%+v", s)
	}
	b.set.Phone.CallBack, b.set.Lookup.Manual, b.set.Calls.Group, b.set.Hub.Intermediary = "off", false, false, ""
	if s := b.State(t.Context()); s != (State{}) {
		t.Errorf("%+v", s)
	}
}

// TestWhatCannotBeWritten checks that nothing is written where nothing is kept, and
// that the user is told if writing fails.
func TestWhatCannotBeWritten(t *testing.T) {
	b := newFixture(t)
	id := b.put(missedCall())
	b.set.History.Keep = string(history.KeepOff)
	b.works("nothing is kept", b.Tick(t.Context(), id), changed)
	if !b.at(id).Open() {
		t.Error("ticked off all the same")
	}
	b.set.History.Keep = string(history.KeepFull)
	b.works("wiped", b.Wipe(t.Context()))
	// The file set aside cannot be removed.
	must.Do(t, os.MkdirAll(filepath.Join(fromsettings.HistoryFile(b.Dirs)+".damaged", "x"), 0o700))
	b.fails("what cannot be deleted", b.Wipe(t.Context()), "Niet alles kon worden gewist. Meld dit bij Jan (IT).")
	must.Do(t, b.store.Close())
	must.Do(t, os.WriteFile(fromsettings.HistoryFile(b.Dirs), []byte(strings.Repeat("no database ", 1000)), 0o600))
	b.fails("a damaged file", b.Tick(t.Context(), id), text.Dutch.T(text.CallsTroubleWrite))
}
