//go:build linux

package window

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// keys is a recorder that writes every key press as "key WHAT held".
type keys struct{ *recorder }

func (k keys) KeyPressed(p KeyPress) {
	what := p.Text
	if p.Key != KeyText {
		what = fmt.Sprintf("#%d", p.Key)
	}
	for _, held := range []struct {
		is   bool
		name string
	}{{p.Ctrl, " ctrl"}, {p.Alt, " alt"}, {p.Shift, " shift"}} {
		if held.is {
			what += held.name
		}
	}
	k.say("key %s", what)
}

// next returns the next reported key.
func (k keys) next(t *testing.T) string {
	t.Helper()
	line := must.Until(t, k.lines, "a key", func(line string) bool { return strings.HasPrefix(line, "key ") })
	return strings.TrimPrefix(line, "key ")
}

var cardPlace = image.Rect(850, 500, 1230, 760)

func TestKeyboard(t *testing.T) {
	underEach(t, func(t *testing.T, s *xtest.Server, d *x11) {
		rec := keys{newRecorder()}
		w := newWindow(t, d, rec)
		if err := w.TakeKeyboard(); !errors.Is(err, errNotShown) {
			t.Errorf("before the first show: %v", err)
		}
		pressed := make(chan struct{}, 100)
		release, err := d.Hotkey("Ctrl+Alt+W", "", func() { pressed <- struct{}{} }, nil)
		must.Do(t, err)
		defer release()
		other := s.Terminal(image.Rect(20, 400, 500, 700))
		term := s.Terminal(image.Rect(20, 20, 500, 300))
		focus := s.FocusedWindow()
		pic := plain(380, 260, green)

		// The text is typed in 50 pieces of 10 letters. After each, a card that was shown
		// takes the keyboard and receives a letter and Esc.
		text, typed := strings.Repeat("abcdefghij0123456789", 25), ""
		for i := range 50 {
			must.Do(t, w.Show(cardPlace, pic))
			piece := text[10*i : 10*i+10]
			s.Type(piece, 0)
			typed += piece
			s.Key("ctrl+alt+w")
			must.Receive(t, pressed, "the hotkey")
			must.Do(t, w.TakeKeyboard())
			if got := s.FocusedWindow(); got != uint32(w.(*x11Card).id) {
				t.Fatalf("round %d: the keyboard is with %#x", i, got)
			}
			s.Key("x", "Escape")
			rec.wait(t, "key x")
			rec.wait(t, fmt.Sprintf("key #%d", KeyEscape))
			if i%2 == 0 {
				must.Do(t, w.GiveKeyboardBack())
			} else {
				must.Do(t, w.Hide())
			}
			rec.wait(t, "keyboard gone")
			if got := s.FocusedWindow(); got != focus {
				t.Fatalf("round %d: the keyboard went to %#x, not back to %#x", i, got, focus)
			}
		}
		term.WaitText(typed)
		if len(pressed) != 0 {
			t.Errorf("%d presses of the hotkey too many", len(pressed))
		}

		// The user takes the keyboard away by clicking another window.
		must.Do(t, w.Show(cardPlace, pic))
		must.Do(t, w.TakeKeyboard())
		other.Focus()
		rec.wait(t, "keyboard gone")
		now := s.FocusedWindow()
		must.Do(t, w.GiveKeyboardBack())
		if got := s.FocusedWindow(); got != now {
			t.Errorf("given away what it did not have: %#x, not %#x", got, now)
		}
		s.Type("to the other", 0)
		other.WaitText("to the other")

		// The window that had the keyboard is gone, so another one gets it.
		term.Focus()
		must.Do(t, w.TakeKeyboard())
		term.Close()
		must.Do(t, w.Hide())
		s.Until("another window has the keyboard", func() bool { return s.FocusedWindow() == now })
		s.Type("!", 0)
		other.WaitText("to the other!")
		t.Logf("%d keys through 50 cards and hotkeys", len(typed))
	})
}

// TestKeyboardHandedOver checks that a second card takes the keyboard from the first and gives
// it back to the window that had it before the first.
func TestKeyboardHandedOver(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{})
	d := open(t, s)
	one, two := keys{newRecorder()}, keys{newRecorder()}
	a, b := newWindow(t, d, one), newWindow(t, d, two)
	term := s.Terminal(image.Rect(20, 20, 500, 300))
	focus := s.FocusedWindow()
	must.Do(t, a.Show(image.Rect(600, 100, 700, 200), plain(100, 100, red)))
	must.Do(t, b.Show(image.Rect(600, 300, 700, 400), plain(100, 100, blue)))
	must.Do(t, a.TakeKeyboard())
	s.Key("a")
	one.wait(t, "key a")
	must.Do(t, b.TakeKeyboard())
	one.wait(t, "keyboard gone")
	s.Key("b")
	two.wait(t, "key b")
	must.Do(t, a.GiveKeyboardBack()) // it has nothing to give back
	if got := s.FocusedWindow(); got != uint32(b.(*x11Card).id) {
		t.Errorf("the keyboard is with %#x", got)
	}
	must.Do(t, b.Close())
	if got := s.FocusedWindow(); got != focus {
		t.Errorf("the keyboard went to %#x, not back to %#x", got, focus)
	}
	s.Type("c", 0)
	term.WaitText("c")
}

// TestNoKeysUnasked checks that our window gets no keys where
// they go to the window under the pointer.
func TestNoKeysUnasked(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{})
	d := open(t, s)
	rec := keys{newRecorder()}
	w := newWindow(t, d, rec)
	must.Do(t, w.Show(cardPlace, plain(380, 260, red)))
	must.Do(t, w.Sync())
	s.Move(900, 600)
	// They do go to any other window that listens.
	other := must.Get(xgb.NewConnDisplay(s.Display))(t)
	t.Cleanup(other.Close)
	must.Do(t, xproto.ChangeWindowAttributesChecked(other, d.root, xproto.CwEventMask, []uint32{xproto.EventMaskKeyPress}).Check())
	got := make(chan struct{}, 100)
	go func() { // ends with the connection
		for {
			ev, err := other.WaitForEvent()
			if ev == nil && err == nil {
				return
			}
			if _, ok := ev.(xproto.KeyPressEvent); ok {
				got <- struct{}{}
			}
		}
	}()
	s.Type("secret", 0)
	for range "secret" {
		must.Receive(t, got, "a letter")
	}
	must.Do(t, w.TakeKeyboard())
	s.Type("x", 0)
	if got := rec.next(t); got != "x" {
		t.Errorf("got the key %q", got)
	}
	before := s.FocusedWindow()
	must.Do(t, w.GiveKeyboardBack())
	if got := s.FocusedWindow(); before == got || got != xproto.InputFocusPointerRoot {
		t.Errorf("the keyboard went to %d, not back to the pointer", got)
	}
	rec.wait(t, "keyboard gone")
	s.Type("secret", 0)
	must.Do(t, w.TakeKeyboard())
	s.Type("y", 0)
	if got := rec.next(t); got != "y" {
		t.Errorf("got the key %q", got)
	}
}

func TestLayouts(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{})
	d := open(t, s)
	rec := keys{newRecorder()}
	w := newWindow(t, d, rec)
	must.Do(t, w.Show(cardPlace, plain(380, 260, red)))
	must.Do(t, w.TakeKeyboard())
	// Keys are given by their position: 24 is right of Tab, 10 is "1".
	for _, c := range []struct {
		layout string
		keys   []string
		want   []string
	}{
		{"-layout us", []string{"24", "shift+24", "10", "shift+10", "65", "ctrl+54", "alt+53", "ctrl+shift+54"},
			[]string{"q", "Q shift", "1", "! shift", " ", "c ctrl", "x alt", "c ctrl shift"}},
		{"-layout nl", []string{"24", "21", "shift+20", "34", "26", "ISO_Level3_Shift+26"}, []string{"q", "°", "? shift", "", "ë", "€"}},
		{"-layout us -variant intl", []string{"ISO_Level3_Shift+26", "ISO_Level3_Shift+14", "48", "26", "48", "24"}, []string{"é", "€", "", "é", "", "´q"}},
		{"-layout fr", []string{"24", "52", "10", "shift+10", "11", "ISO_Level3_Shift+19", "ctrl+24", "ISO_Level3_Shift+26"},
			[]string{"a", "w", "&", "1 shift", "é", "@", "a ctrl", "€"}},
		{"-layout ru", []string{"24", "25", "shift+25", "ctrl+54", "ctrl+25"}, []string{"й", "ц", "Ц shift", "c ctrl", "w ctrl"}},
		{"-layout gr", []string{"38", "shift+40"}, []string{"α", "Δ shift"}},
		{"-layout il", []string{"38"}, []string{"ש"}},
		{"-layout pl", []string{"ISO_Level3_Shift+38", "ISO_Level3_Shift+46"}, []string{"ą", "ł"}},
		{"-layout us", []string{"66", "24", "shift+24", "10", "66", "Num_Lock", "87", "Num_Lock", "87", "22", "36", "104", "119", "23", "shift+23", "116", "111", "112", "117", "110", "115", "113", "114", "Escape"},
			[]string{"", "Q", "q shift", "1", "", "", "1", "", "#6", "#12", "#10", "#10", "#13", "#9", "#9 shift", "#2", "#1", "#7", "#8", "#5", "#6", "#3", "#4", "#11"}},
	} {
		t.Run(c.layout, func(t *testing.T) {
			s.Run("setxkbmap", append([]string{"-option", ""}, strings.Fields(c.layout)...)...)
			for len(rec.lines) > 0 {
				<-rec.lines // left over from a layout that failed
			}
			for i, k := range c.keys {
				s.Key(k)
				if c.want[i] == "" { // nothing, or the next key's comparison would fail
					continue
				}
				if got := rec.next(t); got != c.want[i] {
					t.Fatalf("%s gives %q, want %q", k, got, c.want[i])
				}
			}
		})
	}
	// Two layouts, and a key that switches between them.
	s.Run("setxkbmap", "-option", "", "-layout", "us,ru", "-option", "grp:caps_toggle")
	const q, c, capsLock, control = 24, 54, 66, 37
	for _, k := range []struct {
		codes []byte
		want  string
	}{{[]byte{q}, "q"}, {[]byte{capsLock}, ""}, {[]byte{q}, "й"}, {[]byte{control, c}, "c ctrl"}, {[]byte{capsLock}, ""}, {[]byte{q}, "q"}} {
		s.Press(k.codes...)
		if k.want == "" {
			continue
		}
		if got := rec.next(t); got != k.want {
			t.Errorf("with two layouts, %d gives %q, want %q", k.codes, got, k.want)
		}
	}
	// A key that is held repeats.
	s.Run("xset", "r", "rate", "150", "60")
	s.Run("xdotool", "keydown", "a")
	for range 5 {
		if got := rec.next(t); got != "a" {
			t.Errorf("held: %q", got)
		}
	}
	s.Run("xdotool", "keyup", "a")
}

func TestHotkey(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{})
	d := open(t, s)
	for _, bad := range []string{"", "W", "Shift+W", "Ctrl+", "Ctrl+Alt", "Ctrl+Ctrl+W", "Ctrl+Ü", "Ctrl+F0", "Ctrl+F25", "Ctrl+F01", "F1+W", "Hyper+W", "Ctrl+Alt+WW", strings.Repeat("Ctrl+", 20) + "W"} {
		if release, err := d.Hotkey(bad, "", nil, nil); err == nil || errors.Is(err, ErrUnsupported) || release != nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
	// Another program has grabbed the keys, with one lock only.
	other := open(t, s)
	const w = 25
	mods := uint16(xproto.ModMaskControl | xproto.ModMask1 | xproto.ModMaskLock)
	must.Do(t, xproto.GrabKeyChecked(other.conn, false, d.root, mods, w, xproto.GrabModeAsync, xproto.GrabModeAsync).Check())
	if _, err := d.Hotkey("Ctrl+Alt+W", "", nil, nil); !errors.Is(err, ErrHotkeyTaken) {
		t.Fatalf("taken keys: %v", err)
	}
	must.Do(t, xproto.UngrabKeyChecked(other.conn, w, d.root, mods).Check())

	pressed := make(chan struct{}, 100)
	release, err := d.Hotkey("Ctrl+Alt+W", "", func() { pressed <- struct{}{} }, nil)
	must.Do(t, err)
	if _, err := d.Hotkey("alt + control + w", "", nil, nil); !errors.Is(err, ErrHotkeyTaken) {
		t.Errorf("our own keys once more: %v", err)
	}
	must.Get(d.Hotkey("shift + F12", "", func() { pressed <- struct{}{} }, nil))(t)
	count := func(what string, keys ...string) {
		t.Helper()
		s.Key(keys...)
		must.Receive(t, pressed, "the hotkey")
		s.Key("shift+F12") // arrives after everything else
		must.Receive(t, pressed, "the hotkey")
		if n := len(pressed); n != 0 {
			t.Errorf("%s: %d presses too many", what, n)
			for range n {
				<-pressed
			}
		}
	}
	count("plain", "ctrl+alt+w")
	s.Key("Caps_Lock")
	count("with Caps Lock", "ctrl+alt+w")
	s.Key("Num_Lock")
	count("with both locks", "ctrl+alt+w")
	s.Key("Caps_Lock", "Num_Lock")
	s.Key("ctrl+w", "alt+w", "ctrl+alt+shift+w", "ctrl+alt+q")
	count("others do not count", "ctrl+alt+w")

	// The hotkey moves with the layout: on a French keyboard W is where Z is; on a Russian
	// one without Latin letters it is where it is on most keyboards.
	onceOn := func(layout string, code byte) {
		t.Helper()
		s.Run("setxkbmap", strings.Fields(layout)...)
		s.Until("the hotkey has moved", func() bool {
			d.keyboard.Lock()
			defer d.keyboard.Unlock()
			return d.hotkeys[0].code == code
		})
		count(layout, fmt.Sprintf("ctrl+alt+%d", code))
	}
	onceOn("fr", 52)
	onceOn("ru", 25)
	onceOn("us,ru", 25)

	// Holding the keys down counts once.
	d.keyboard.Lock()
	h := d.hotkeys[0]
	press := xproto.KeyPressEvent{Detail: xproto.Keycode(h.code), State: h.mods[0], Event: d.root, Time: 1000}
	d.keyboard.Unlock()
	for _, c := range []struct {
		after xproto.Timestamp
		up    bool
		want  int
	}{{0, false, 1}, {600, false, 0}, {40, false, 0}, {40, true, 1}, {40, false, 0}, {5000, false, 1}} {
		press.Time += c.after
		if c.up {
			d.handleKeyRelease(byte(press.Detail))
		}
		if !d.hotkey(press) || len(pressed) != c.want {
			t.Errorf("%+v: %d presses", c, len(pressed))
		}
		for len(pressed) > 0 {
			<-pressed
		}
	}

	release()
	release()
	must.Do(t, xproto.GrabKeyChecked(other.conn, false, d.root, mods, w, xproto.GrabModeAsync, xproto.GrabModeAsync).Check())
	must.Do(t, d.Close())
	<-d.Done()
	if _, err := d.Hotkey("Ctrl+Alt+W", "", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestNotInTaskbar checks that window managers do not manage the window, so that
// neither the task bar nor Alt+Tab shows it.
func TestNotInTaskbar(t *testing.T) {
	underEach(t, func(t *testing.T, s *xtest.Server, d *x11) {
		w := newWindow(t, d, newRecorder())
		must.Do(t, w.Show(cardPlace, plain(380, 260, red)))
		must.Do(t, w.Sync())
		// A window opened later is listed; by then the card would be listed too.
		term := s.Terminal(image.Rect(20, 20, 500, 300))
		list := func() []uint32 {
			return xconn.Values(xproto.GetProperty(d.conn, false, d.root, d.atoms.clients, xproto.AtomWindow, 0, 100).Reply())
		}
		var id uint32
		fmt.Sscan(term.ID, &id)
		s.Until("the terminal is listed", func() bool { return slices.Contains(list(), id) })
		if slices.Contains(list(), uint32(w.(*x11Card).id)) {
			t.Error("the card is in the list of windows")
		}
		a, err := xproto.GetWindowAttributes(d.conn, w.(*x11Card).id).Reply()
		must.Do(t, err)
		if !a.OverrideRedirect {
			t.Error("the card is one for the window manager")
		}
		s.Key("alt+Tab")
		if got := s.FocusedWindow(); got == uint32(w.(*x11Card).id) {
			t.Error("Alt+Tab reaches the card")
		}
		if err := w.HideFromCapture(true); !errors.Is(err, ErrUnsupported) {
			t.Errorf("HideFromCapture: %v", err)
		}
	})
}
