package xtest

import (
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jezek/xgb/xproto"
	fake "github.com/jezek/xgb/xtest"

	"wiebelt/internal/testutil/must"
)

// Move moves the pointer to a place on the screen.
func (s *Server) Move(x, y int) {
	s.t.Helper()
	s.xdotool("mousemove", strconv.Itoa(x), strconv.Itoa(y))
}

// Click presses and releases a button (1 left, 2 middle, 3 right, 4
// and 5 the wheel) at a place on the screen.
func (s *Server) Click(x, y, button int) {
	s.t.Helper()
	s.xdotool("mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", strconv.Itoa(button))
}

// Type types text into the focused window, one key at a time, delay milliseconds apart,
// and returns when all keys have been sent.
func (s *Server) Type(text string, delay int) {
	s.t.Helper()
	s.xdotool("type", "--delay", strconv.Itoa(delay), "--", text)
}

// Key presses keys by their X names, such as "Return" or "ctrl+c".
func (s *Server) Key(names ...string) {
	s.t.Helper()
	s.xdotool(append([]string{"key", "--"}, names...)...)
}

// Press presses keys by their position on the keyboard (X key codes), all held together, and
// releases them. Unlike Key, it does not affect the active layout.
func (s *Server) Press(codes ...byte) {
	s.t.Helper()
	s.press(func() {}, codes...)
}

// press calls up once only the last key has been released.
func (s *Server) press(up func(), codes ...byte) {
	s.t.Helper()
	for _, c := range codes {
		s.fake(xproto.KeyPress, c)
	}
	for i, c := range slices.Backward(codes) {
		s.fake(xproto.KeyRelease, c)
		if i == len(codes)-1 {
			up()
		}
	}
}

// Turn presses and releases a button where the pointer is: 4 and 5 are the wheel.
func (s *Server) Turn(button byte) {
	s.t.Helper()
	s.fake(xproto.ButtonPress, button)
	s.fake(xproto.ButtonRelease, button)
}

// fake makes the server simulate a key or button event.
func (s *Server) fake(kind, code byte) {
	s.t.Helper()
	must.Do(s.t, fake.Init(s.conn))
	must.Do(s.t, fake.FakeInputChecked(s.conn, kind, code, 0, s.root, 0, 0, 0).Check())
}

// PressRows presses all keys that write, by their positions: the four rows plain, with Shift
// and, if the layout has it, with AltGr, each followed by a space for dead keys; then some
// keys that are dead on many layouts, followed by letters. It calls up whenever a key was
// released, before Shift or AltGr is, and returns how many keys were pressed.
func (s *Server) PressRows(hasAltGr bool, up func()) (n int) {
	s.t.Helper()
	const shift, altgr, space = 50, 108, 65
	press := func(codes ...byte) {
		s.press(up, codes...)
		n++
	}
	held := [][]byte{{}, {shift}}
	if hasAltGr {
		held = append(held, []byte{altgr}, []byte{shift, altgr})
	}
	for _, first := range []byte{10, 24, 38, 52} {
		for code := first; code < first+10; code++ {
			for _, h := range held {
				press(append(slices.Clone(h), code)...)
				press(space)
			}
		}
	}
	for _, letter := range []byte{38, 26, 31, 32, 30, 57, 54, 39} { // a e i o u n c s
		for _, accent := range []byte{48, 49, 21} { // ' ` =
			press(accent)
			press(letter)
			press(shift, accent)
			press(shift, letter)
		}
	}
	return n
}

// FocusedWindow is the id of the window that has the keyboard; 0 and 1 stand
// for none and "where the pointer is".
func (s *Server) FocusedWindow() uint32 {
	s.t.Helper()
	r := must.Get(xproto.GetInputFocus(s.windows).Reply())(s.t)
	return uint32(r.Focus)
}

// Terminal is an xterm that writes every key it gets into a file.
type Terminal struct {
	// ID is the window's id for xdotool and wmctrl.
	ID   string
	s    *Server
	file string
	cmd  *exec.Cmd
}

// Terminal opens a terminal over r and returns when it has the keyboard and
// takes keys.
func (s *Server) Terminal(r image.Rectangle) *Terminal {
	s.t.Helper()
	f := must.Get(os.CreateTemp(s.Dir, "keys"))(s.t)
	f.Close()
	term := &Terminal{s: s, file: f.Name()}
	title := "terminal-" + filepath.Base(f.Name())
	// Raw, so that every key counts at once and none is an editing key.
	term.cmd = s.Spawn("xterm", "-T", title, "-geometry", "40x10+"+strconv.Itoa(r.Min.X)+"+"+strconv.Itoa(r.Min.Y),
		"-e", "sh", "-c", `stty raw -echo && : >"$1".ready && exec cat >"$1"`, "sh", f.Name())
	term.ID = s.FindWindow("^" + title + "$")
	s.Until("terminal ready", func() bool { _, err := os.Stat(f.Name() + ".ready"); return err == nil })
	s.Run("xdotool", "windowsize", "--sync", term.ID, strconv.Itoa(r.Dx()), strconv.Itoa(r.Dy()))
	term.Focus()
	return term
}

// Close ends the terminal and returns when its window has gone.
func (term *Terminal) Close() {
	term.s.t.Helper()
	end(term.cmd)
	id, _ := strconv.ParseUint(term.ID, 10, 32)
	term.s.Until("the terminal's window has gone", func() bool {
		_, err := xproto.GetWindowAttributes(term.s.windows, xproto.Window(id)).Reply()
		return err != nil
	})
}

// Focus gives the terminal the keyboard.
func (term *Terminal) Focus() {
	term.s.t.Helper()
	term.s.Run("xdotool", "windowfocus", "--sync", term.ID)
}

// Text is what was typed into the terminal until now.
func (term *Terminal) Text() string {
	b := must.Get(os.ReadFile(term.file))(term.s.t)
	return string(b)
}

// WaitText waits until the terminal has exactly this text and fails the test if
// it never does.
func (term *Terminal) WaitText(want string) {
	term.s.t.Helper()
	var got string
	term.s.Until("the terminal gets all keys", func() bool {
		got = term.Text()
		return got == want
	}, func() []any { return []any{len(got), "of", len(want), "keys came:", got} })
}
