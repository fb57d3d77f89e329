package desk

import (
	"testing"
	"time"

	"wiebelt/internal/deskapi"
)

// began is the first start on a PC where baresip runs and Twinkle reports to
// another program.
func began(lang string) deskapi.StartState {
	s := deskapi.StartState{Corner: "bottom-right", Language: lang, Support: "Jan (IT), toestel 140", Phones: []deskapi.StartPhone{
		{ID: "baresip 127.0.0.1:4444", Name: "baresip", Sentence: "Gevonden op deze pc, nog niet gekoppeld.", Can: true, Recipe: "baresip"},
		{ID: "twinkle x", Name: "Twinkle", Sentence: "Meldt oproepen al aan een ander programma. Telefoon koppelen zegt hoe dat te veranderen is.", Recipe: "twinkle"},
	}}
	if lang == "en" {
		s.Phones[0].Sentence = "Found on this PC, not connected yet."
		s.Phones[1].Sentence = "Already reports calls to another program. Connect a phone says how to change that."
	}
	return s
}

// checks is what there is to check when no call came.
func checks(lang string) deskapi.TestNothing {
	n := deskapi.TestNothing{Seq: 1, Checks: []deskapi.TestCheck{
		{Name: "baresip", Sentence: "Verbonden, maar er kwam geen oproep. Is de telefoon aangemeld bij de centrale, en belde u het nummer van dit toestel?"},
		{Name: "Telefoons met een webadres", Sentence: "De laatste oproep hierover: do 19 nov 16:12. Staat wat Telefoon koppelen noemt nog in de telefoon?"},
	}}
	if lang == "en" {
		n.Checks = []deskapi.TestCheck{
			{Name: "baresip", Sentence: "Connected, but no call came. Is the phone registered with the exchange, and did you call the number of this extension?"},
			{Name: "Phones with a web address", Sentence: "The last call this way: Thu 19 Nov 16:12. Does the phone still have what Connect a phone names?"},
		}
	}
	return n
}

var looks = []struct{ lang, theme, start, test string }{
	{"nl", "light", "Welkom", "Testen met een echte oproep"}, {"en", "dark", "Welcome", "Test with a real call"},
	{"en", "light", "Welcome", "Test with a real call"}, {"nl", "dark", "Welkom", "Testen met een echte oproep"},
}

// The first start's window on a real screen: a corner that is clicked is asked
// for, a phone is connected at a click, and a test call is waited for.
func TestStartWindow(t *testing.T) {
	s := newScreen(t)
	for _, tt := range looks {
		t.Run(tt.lang+"-"+tt.theme, func(t *testing.T) {
			name := "start-" + tt.lang + "-" + tt.theme
			r := startDesk(t, s, welcome(tt.lang, tt.theme, deskapi.WindowStart, ""))
			r.wait(deskapi.KindWaysAsk, nil)
			r.wait(deskapi.KindStartAsk, nil)
			r.wait(deskapi.KindPainted, nil)
			r.send(deskapi.KindStartState, began(tt.lang))
			w := s.window(tt.start)
			accent := uint32(accentLight)
			if tt.theme == "dark" {
				accent = 0x5AA9F2
			}
			until(t, "the corner that is chosen", func() bool { return count(s.shot(w, name), accent) > 2000 })
			var c deskapi.StartCorner
			if kind := r.says(func() { s.click(w, 80, 215) }, &c); kind != deskapi.KindStartCorner || c.Corner != "top-left" {
				t.Errorf("the click said %s %+v", kind, c)
			}
			state := began(tt.lang)
			state.Corner = c.Corner
			r.send(deskapi.KindStartState, state)
			until(t, "the other corner", func() bool { return count(s.shot(w, name+"-corner"), accent) > 2000 })
			s.click(w, 80, 668) // for administrators
			s.shot(w, name+"-admins")
			r.send(deskapi.KindQuit, nil)
			r.ended(0)
		})
	}
}

// The window of a test call on a real screen: waiting, what came, what to check.
func TestTestWindow(t *testing.T) {
	s := newScreen(t)
	for _, tt := range looks {
		t.Run(tt.lang+"-"+tt.theme, func(t *testing.T) {
			name := "test-" + tt.lang + "-" + tt.theme
			r := startDesk(t, s, welcome(tt.lang, tt.theme, deskapi.WindowTest, ""))
			r.wait(deskapi.KindPainted, nil)
			w := s.window(tt.test)
			s.shot(w, name)
			var b deskapi.TestBegin
			if kind := r.says(func() { s.click(w, 80, 450) }, &b); kind != "test.begin" || b.Seq != 1 {
				t.Fatalf("the click said %s %+v", kind, b)
			}
			s.shot(w, name+"-waiting")
			seen := deskapi.TestSeen{Seq: 1, Kind: "baresip", Name: "baresip", At: time.Now(), Tells: deskapi.TellsAll, Answered: true}
			r.send("test.seen", seen)
			taken, trouble := uint32(0x1B7F4B), uint32(0x9A5B00)
			if tt.theme == "dark" {
				taken, trouble = 0x5CC28D, 0xE2A74A
			}
			until(t, "the full dot of a call", func() bool { return count(s.shot(w, name+"-seen"), taken) > 100 })
			if kind := r.says(func() { s.click(w, 80, 450) }, &b); kind != "test.begin" || b.Seq != 2 {
				t.Fatalf("the click said %s %+v", kind, b)
			}
			none := checks(tt.lang)
			none.Seq = b.Seq
			r.send("test.nothing", none)
			until(t, "what to check", func() bool { return count(s.shot(w, name+"-nothing"), trouble) > 20 })
			r.send(deskapi.KindQuit, nil)
			r.ended(0)
		})
	}
}

// How things are, on a page of its own and beside the instructions of a phone.
func TestWaysWindow(t *testing.T) {
	s := newScreen(t)
	now := time.Now()
	for _, tt := range []struct{ lang, theme, title string }{
		{"nl", "light", "Telefoon koppelen"}, {"en", "dark", "Connect a phone"}, {"en", "light", "Connect a phone"}, {"nl", "dark", "Telefoon koppelen"},
	} {
		t.Run(tt.lang+"-"+tt.theme, func(t *testing.T) {
			name := "ways-" + tt.lang + "-" + tt.theme
			r := startDesk(t, s, welcome(tt.lang, tt.theme, deskapi.WindowRecipes, ""))
			r.wait(deskapi.KindRecipe, nil)
			r.wait(deskapi.KindWaysAsk, nil)
			r.wait(deskapi.KindPainted, nil)
			r.send(deskapi.KindRecipes, office)
			m := deskapi.Ways{Ways: []deskapi.WayState{
				{Kind: "websocket", Phase: deskapi.WayListens, Port: 27471}, {Kind: "http", Phase: deskapi.WayListens, Port: 27471, Last: now.Add(-26 * time.Hour)},
				{Kind: "url", Phase: deskapi.WayListens}, {Kind: "command", Phase: deskapi.WayListens, Last: now.Add(-time.Second)},
				{Kind: "baresip", Name: "baresip", Phase: deskapi.LinkUp, Since: now, Last: now},
				{Kind: "bria", Name: "Balie", Phase: deskapi.LinkDown, Since: now},
			}}
			r.send(deskapi.KindWays, m)
			w := s.window(tt.title)
			taken, trouble := uint32(0x1B7F4B), uint32(0x9A5B00)
			if tt.theme == "dark" {
				taken, trouble = 0x5CC28D, 0xE2A74A
			}
			s.click(w, 80, 58)
			until(t, "a link that is up and one that is down", func() bool {
				img := s.shot(w, name)
				return count(img, taken) > 20 && count(img, trouble) > 20
			})
			s.click(w, 80, 322) // baresip
			until(t, "its state beside its instructions", func() bool {
				img := s.shot(w, name+"-phone")
				return count(img, taken) > 20 && count(img, trouble) == 0
			})
			m.Ways[4].Phase = deskapi.LinkDown
			r.send(deskapi.KindWays, m)
			until(t, "the state as it has become", func() bool { return count(s.shot(w, name+"-lost"), trouble) > 20 })
			r.send(deskapi.KindQuit, nil)
			r.ended(0)
		})
	}
}
