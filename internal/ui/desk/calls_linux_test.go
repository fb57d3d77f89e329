package desk

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
)

// Places in the calls window, at 100 %.
const (
	firstRow = 266 // the middle of the newest call, below the one to be called back
	rowStep  = 48
	filterAt = 104
	nameAt   = 130 // in a row,
	nameUp   = 10  // so far above its middle
)

// says waits until something is said that does not merely ask for the state, and
// gives its kind; act is done again and again until then.
func (r *resident) says(act func(), m any) string {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		act()
		until := time.After(300 * time.Millisecond)
	wait:
		for {
			select {
			case l, ok := <-r.got:
				if !ok {
					r.t.Fatalf("the windows' process went: %s", r.err)
				}
				if l.Kind == deskapi.KindCallsAsk {
					continue
				}
				if m != nil {
					if err := json.Unmarshal(l.Msg, m); err != nil {
						r.t.Fatal(err)
					}
				}
				return l.Kind
			case <-until:
				break wait
			}
		}
	}
	r.t.Fatal("nothing was said")
	return ""
}

// The calls window: rows from the file, a click opens and another copies, the
// keyboard does all of it, new calls appear by themselves.
func TestCallsWindow(t *testing.T) {
	s := newScreen(t)
	path := filepath.Join(t.TempDir(), "history.db")
	store, newest := fill(t, path)
	r := startDesk(t, s, welcome("nl", "light", deskapi.WindowCalls, path))
	r.wait(deskapi.KindPainted, nil)
	r.send(deskapi.KindCallsState, deskapi.CallsState{CallBack: true, Manual: true})
	w := s.window("Oproepen")
	until(t, "an accented row under the pointer", func() bool {
		s.move(w, nameAt, firstRow-nameUp)
		return count(s.shot(w, "calls-nl-light-hover"), accentLight) > 100
	})
	var e deskapi.CallsEntry
	if k := r.says(func() { s.click(w, nameAt, firstRow-nameUp) }, &e); k != deskapi.KindCallsOpen || e.Entry != newest {
		t.Errorf("a click said %s %+v, want %d", k, e, newest)
	}
	var c deskapi.CallsCopy
	if k := r.says(func() { s.click(w, 660, firstRow) }, &c); k != deskapi.KindCallsCopy || c.Entry != newest || c.Relation {
		t.Errorf("a click on the sheets said %s %+v", k, c)
	}
	s.shot(w, "calls-nl-light-copied")
	if k := r.says(func() { s.click(w, 628, firstRow+rowStep) }, &e); k != deskapi.KindCallsCall || e.Entry != newest-1 {
		t.Errorf("a click on the receiver said %s %+v", k, e)
	}

	id, err := store.Put(t.Context(), history.Entry{Rang: time.Now(), Number: "+31201112223", Shown: "020 111 22 23",
		Name: "B. Nieuw", ContactID: "c-nieuw", Link: "x", Matches: 1, Outcome: history.OutcomeFound, Line: "Schade"})
	if err != nil {
		t.Fatal(err)
	}
	r.send(deskapi.KindChanged, deskapi.Changed{What: deskapi.ChangedHistory})
	until(t, "the new call as first row", func() bool {
		return r.says(func() { s.click(w, nameAt, firstRow-nameUp) }, &e) == deskapi.KindCallsOpen && e.Entry == id
	})

	// The keyboard alone, from the filter on.
	s.move(w, 400, 20)
	s.xdotool("key", "--window", w, "ctrl+f")
	s.xdotool("type", "--window", w, "de vries")
	until(t, "the filtered list", func() bool { return count(s.shot(w, "calls-nl-light-filter"), 0x1B7F4B) < 400 })
	s.xdotool("key", "--window", w, "Down")
	if k := r.says(func() { s.xdotool("key", "--window", w, "Return") }, &e); k != deskapi.KindCallsOpen || e.Entry != newest {
		t.Errorf("Enter said %s %+v", k, e)
	}
	if k := r.says(func() { s.xdotool("key", "--window", w, "ctrl+c") }, &c); k != deskapi.KindCallsCopy || c.Entry != newest {
		t.Errorf("Ctrl+C said %s %+v", k, c)
	}
	s.shot(w, "calls-nl-light-keyboard")
	s.xdotool("key", "--window", w, "Menu")
	until(t, "a menu", func() bool { return count(s.shot(w, "calls-nl-light-menu"), 0xF4F6F8) > 20_000 })
	s.xdotool("key", "--window", w, "Escape")
	until(t, "no menu", func() bool { return count(s.shot(w, "calls-nl-light-menu-gone"), 0xF4F6F8) < 20_000 })
	var gone deskapi.CallsEntries
	if k := r.says(func() { s.xdotool("key", "--window", w, "Delete") }, &gone); k != deskapi.KindCallsRemove || !slices.Equal(gone.Entries, []int64{newest}) {
		t.Errorf("Delete said %s %+v", k, gone)
	}
	s.click(w, 534, 34)
	s.window("Nummer opzoeken")
	r.send(deskapi.KindShow, deskapi.Show{Window: deskapi.WindowDemo})
	s.window("Demo")
	r.send(deskapi.KindQuit, nil)
	r.ended(0)
}

// The window to look a number up: what is typed is asked, the answer is shown,
// its buttons do what they say.
func TestLookupWindow(t *testing.T) {
	s := newScreen(t)
	r := startDesk(t, s, welcome("nl", "light", deskapi.WindowLookup, ""))
	r.wait(deskapi.KindPainted, nil)
	w := s.window("Nummer opzoeken")
	var f deskapi.LookupFind
	k := r.says(func() { // the box has the keyboard from the start
		s.xdotool("windowfocus", "--sync", w, "key", "--window", w, "ctrl+a", "type", "--window", w, "06-12345678")
		s.xdotool("key", "--window", w, "Return")
	}, &f)
	if k != deskapi.KindLookupFind || f.Text != "06-12345678" {
		t.Fatalf("said %s %+v", k, f)
	}
	a := lookups["found"]
	a.Seq = f.Seq
	r.send(deskapi.KindLookupFound, a)
	until(t, "the primary button in accent", func() bool { return count(s.shot(w, "lookup-nl-light-found"), accentLight) > 3000 })
	var open deskapi.LookupOpen
	if k := r.says(func() { s.click(w, 80, 320) }, &open); k != deskapi.KindLookupOpen || open.Link != a.Contacts[0].Link || open.Number != a.Number {
		t.Errorf("said %s %+v", k, open)
	}
	r.send(deskapi.KindQuit, nil)
	r.ended(0)
}

var somebody = deskapi.LookupContact{Name: "J. de Vries", Relation: "100200", Address: "Dorpsstraat 1, 1234 AB Ons Dorp",
	Producer: "Producent Een", Modified: "Medewerker", Link: "https://hub.example/contacts/viewcontact/c-1"}

// lookups are answers of every kind.
var lookups = func() map[string]deskapi.LookupFound {
	long := somebody
	long.Name, long.Relation, long.Address = "Mw. A.E. van der Meulen-Oosterhuis tot Nederhorst den Berg", "100201", "Burgemeester van Stamplein 1234 bis, 1234 AB Alphen aan den Rijn"
	third := somebody
	third.Name, third.Relation, third.Link = "K. de Vries", "100202", ""
	all := map[string]deskapi.LookupFound{
		"found":    {Outcome: history.OutcomeFound, Contacts: []deskapi.LookupContact{somebody}},
		"possible": {Outcome: history.OutcomeFound, Possible: true, Contacts: []deskapi.LookupContact{long}},
		"several":  {Outcome: history.OutcomeSeveral, Contacts: []deskapi.LookupContact{somebody, long, third}},
		"nobody":   {Outcome: history.OutcomeNobody},
		"failed":   {Outcome: history.OutcomeFailed, Failure: "credentials_refused", Support: "Jan (IT), toestel 140"},
		"own":      {Outcome: history.OutcomeOwn, LineName: "Schade"},
		"text":     {Outcome: deskapi.LookupNoNumber},
	}
	for k, f := range all {
		f.Number, f.Shown, f.Copy = "+31612345678", "06 12 34 56 78", "0612345678"
		if f.Possible {
			f.Number, f.Shown, f.Copy = "+493012345678", "+49 30 12345678", "00493012345678"
		}
		all[k] = f
	}
	return all
}()

// same tells whether two pictures are the same.
func same(a, b image.Image) bool {
	if a == nil || a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}

// Every state of both windows in both languages and appearances has its colours;
// with WIEBELT_SHOTS=DIR its picture is kept to be looked at.
func TestCallsAppearances(t *testing.T) {
	s := newScreen(t)
	path := filepath.Join(t.TempDir(), "history.db")
	fill(t, path)
	for _, lang := range []string{"nl", "en"} {
		for _, theme := range []string{"light", "dark"} {
			back := uint32(0xFFFFFF)
			if theme == "dark" {
				back = backDark
			}
			calls, lookup := "Oproepen", "Nummer opzoeken"
			if lang == "en" {
				calls, lookup = "Calls", "Look up a number"
			}
			name := func(what string) string { return what + "-" + lang + "-" + theme }
			t.Run(name("calls"), func(t *testing.T) {
				r := startDesk(t, s, welcome(lang, theme, deskapi.WindowCalls, path))
				r.wait(deskapi.KindPainted, nil)
				w := s.window(calls)
				state := deskapi.CallsState{CallBack: true, Manual: true}
				var before image.Image
				shot := func(what string) { // once it is another picture, and stays the same
					t.Helper()
					last := before
					until(t, what, func() bool {
						now := s.shot(w, name("calls-"+what))
						settled := same(last, now) && !same(before, now) && count(now, back) > 100_000
						last = now
						return settled
					})
					before = last
				}
				r.send(deskapi.KindCallsState, state)
				shot("list")
				state.Group, state.Fault = true, "De schijf is vol: nieuwe oproepen worden nu niet bewaard."
				r.send(deskapi.KindCallsState, state)
				shot("group-fault")
				state.Group, state.Fault, state.Notice = false, "", "Het bestand met oproepen was beschadigd en is apart gezet. Er is een nieuw begonnen."
				r.send(deskapi.KindCallsState, state)
				shot("notice")
				state.Notice = ""
				r.send(deskapi.KindCallsState, state)
				s.move(w, 300, firstRow+3*rowStep)
				s.xdotool("click", "3")
				shot("menu")
				s.xdotool("key", "--window", w, "Escape", "ctrl+f")
				s.xdotool("type", "--window", w, "zzz")
				shot("none")
				s.xdotool("key", "--window", w, "Escape")
				s.click(w, 407, filterAt)
				shot("missed")
				r.send(deskapi.KindQuit, nil)
				r.ended(0)
			})
			for what, history := range map[string]string{"empty": path + ".none", "off": ""} {
				t.Run(name(what), func(t *testing.T) {
					m := welcome(lang, theme, deskapi.WindowCalls, history)
					m.Demo = nil
					r := startDesk(t, s, m)
					r.wait(deskapi.KindPainted, nil)
					w := s.window(calls)
					r.send(deskapi.KindCallsState, deskapi.CallsState{Manual: true})
					until(t, "the background", func() bool { return count(s.shot(w, name("calls-"+what)), back) > 100_000 })
					r.send(deskapi.KindQuit, nil)
					r.ended(0)
				})
			}
			t.Run(name("lookup"), func(t *testing.T) {
				r := startDesk(t, s, welcome(lang, theme, deskapi.WindowLookup, ""))
				r.wait(deskapi.KindPainted, nil)
				w := s.window(lookup)
				until(t, "the background", func() bool { return count(s.shot(w, name("lookup-start")), back) > 100_000 })
				for what, f := range lookups {
					var find deskapi.LookupFind
					if k := r.says(func() {
						s.xdotool("windowfocus", "--sync", w, "key", "--window", w, "ctrl+a", "type", "--window", w, "0612345678")
						s.xdotool("key", "--window", w, "Return")
					}, &find); k != deskapi.KindLookupFind {
						t.Fatalf("said %s", k)
					}
					f.Seq = find.Seq
					before := s.shot(w, name("lookup-"+what))
					last := before
					r.send(deskapi.KindLookupFound, f)
					until(t, what, func() bool {
						now := s.shot(w, name("lookup-"+what))
						settled := same(last, now) && !same(before, now)
						last = now
						return settled
					})
				}
				r.send(deskapi.KindQuit, nil)
				r.ended(0)
			})
		}
	}
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		all, _ := filepath.Glob(filepath.Join(dir, "*.png"))
		t.Logf("%d pictures in %s", len(all), strings.TrimSuffix(dir, "/"))
	}
}
