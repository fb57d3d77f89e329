package window

import (
	"os"
	"strconv"
	"testing"

	"wiebelt/internal/testutil/winetest"
	"wiebelt/internal/testutil/xtest"
)

// up waits until wine has noticed that no key is down.
func (p wincard) up(s *xtest.Server) {
	p.t.Helper()
	s.Until("the keys are up", func() bool { return p.ask("held") == "false" })
}

// press presses the hotkey and waits until its keys are up again, which wine
// learns from the window that had the keyboard.
func (p wincard) press(s *xtest.Server) {
	p.t.Helper()
	s.Key("ctrl+alt+w")
	p.Wait("pressed")
	p.up(s)
}

// TestWindowsKeyboard presses the hotkey while wine's Notepad has the focus, types
// into the card, and gives the keyboard back.
func TestWindowsKeyboard(t *testing.T) {
	p := winetest.New(t)
	s := p.Screen
	s.Run("setxkbmap", "de") // has letters beyond ASCII, and AltGr
	exe := winetest.Build(t, "./testdata/wincard")
	prog := talk(t, p.Start(exe))
	other := talk(t, p.Start(exe))

	prog.ask("hotkey Ctrl+Alt+W")
	if got := other.fails("hotkey Ctrl+Alt+W"); got != ErrHotkeyTaken.Error() {
		t.Errorf("taken keys: %q", got)
	}
	other.fails("hotkey Shift+W")
	other.ask("hotkey shift + f12")
	other.ask("release")

	id, file := prog.notepad(p)
	s.Type("before ", 8)
	s.Key("ctrl+s")
	saved(t, s, file, "before ")

	prog.ask("show 0 800 300 380 260 c81e28")
	prog.fails("take 1") // not shown
	prog.press(s)
	prog.ask("take 0")
	prog.front(s, "WiebeltCard")
	s.Until("X follows", func() bool { return strconv.Itoa(int(s.FocusedWindow())) != id })
	const plain = " ctrl false shift false alt false"
	for _, k := range []struct{ keys, want string }{
		{"a", `0 "a"` + plain}, {"Z", `0 "Z" ctrl false shift true alt false`}, {"1", `0 "1"` + plain},
		{"Down", `2 ""` + plain}, {"Return", `10 ""` + plain}, {"Tab", `9 ""` + plain},
		{"ctrl+c", `0 "c" ctrl true shift false alt false`}, {"alt+x", `0 "x" ctrl false shift false alt true`},
		{"odiaeresis", `0 "ö"` + plain}, {"BackSpace", `12 ""` + plain},
		{"alt+F4", ""}, {"Escape", `11 ""` + plain},
	} {
		s.Key(k.keys)
		if k.want != "" {
			prog.Wait("key " + k.want)
		}
		prog.up(s)
	}
	s.Run("xdotool", "keydown", "ISO_Level3_Shift")
	s.Key("q")
	s.Run("xdotool", "keyup", "ISO_Level3_Shift")
	prog.Wait(`key 0 "@"` + plain)
	prog.up(s)
	prog.Send("give 0") // the answer and the events arrive in any order
	prog.Wait("keyboard gone")
	// wine leaves the X input focus where it is until the window goes;
	// what Windows itself reports is decisive.
	prog.front(s, "Notepad")
	prog.ask("hide 0")
	// wine and the window manager negotiate the X input
	// focus; keys pressed meanwhile may be lost.
	s.Until("Notepad takes keys again", func() bool {
		s.Key("x", "ctrl+s")
		b, err := os.ReadFile(file)
		return err == nil && len(b) > len("before ")
	})

	// Hiding gives the keyboard back as well; once the hotkey is released, its keys are free.
	prog.ask("show 0 800 300 380 260 c81e28")
	prog.press(s)
	prog.ask("take 0")
	prog.front(s, "WiebeltCard")
	prog.Send("hide 0")
	prog.Wait("keyboard gone")
	prog.front(s, "Notepad")
	prog.ask("release")
	other.ask("hotkey Ctrl+Alt+W")

	// A window in front that covers the screen counts as full screen; Notepad does not.
	if got := prog.ask("fullscreen"); got != "false" {
		t.Errorf("Notepad in front: full screen %s", got)
	}
	other.ask("show 0 0 0 1280 800 c81e28")
	other.ask("take 0") // wine allows this without the hotkey
	if got, own := prog.ask("fullscreen"), other.ask("fullscreen"); got != "true" || own != "false" {
		t.Errorf("a window over all of it: full screen %s, to its own program %s", got, own)
	}
	other.ask("quit")
	prog.ask("hotkey Ctrl+Alt+W")
}

// TestWindowsLayouts types keys by their position into a window of ours and into a system text
// field, and checks that both end up with the same text. It waits for each key: wine takes
// AltGr from the last key that X reported, which may be later than the one that it translates.
func TestWindowsLayouts(t *testing.T) {
	p := winetest.New(t)
	s := p.Screen
	exe := winetest.Build(t, "./testdata/wincard")
	for _, layout := range [][]string{{"us"}, {"nl"}, {"de"}, {"us", "-variant", "intl"}} {
		s.Run("setxkbmap", layout...) // in wine, a running program would not notice this
		prog := talk(t, p.Start(exe))
		keys := 0
		into := func(field, class string) (text string) {
			prog.ask("%s", field)
			s.Run("xdotool", "windowactivate", "--sync", s.FindWindow("^"+field+"$"))
			prog.front(s, class)
			const enter = 36
			s.Until("keys arrive", func() bool { // as in Notepad above
				s.Press(enter)
				return prog.Said("typed ")
			})
			keys += s.PressRows(layout[0] != "us" || len(layout) > 1, func() { prog.Wait("up") })
			s.Press(enter)
			for text == "" || text == `""` {
				text = prog.Wait("typed ")
			}
			return text
		}
		want := into("system", "Static")
		if got := into("ours", "WiebeltWindow"); got != want {
			t.Errorf("%v:\n%s, the system\n%s", layout, got, want)
		}
		t.Logf("%v: %d keys, %s", layout, keys, want)
		prog.ask("quit")
	}
}
