package window

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
	"wiebelt/internal/testutil/xtest"
)

// wincard is the program of testdata/wincard.
type wincard struct {
	t *testing.T
	*winetest.Process
}

func talk(t *testing.T, p *winetest.Process) wincard {
	t.Helper()
	p.Wait("ready")
	return wincard{t, p}
}

// ask sends a command and returns the answer.
func (p wincard) ask(f string, a ...any) string {
	p.t.Helper()
	line := fmt.Sprintf(f, a...)
	p.Send(line)
	return strings.TrimSpace(p.Wait("ok " + strings.Fields(line)[0]))
}

// fails sends a command that must fail and returns why.
func (p wincard) fails(line string) string {
	p.t.Helper()
	p.Send(line)
	return strings.TrimSpace(p.Wait("error " + strings.Fields(line)[0]))
}

// front waits until Windows gives the keyboard to a window of that class, which takes a moment
// if the window belongs to another program.
func (p wincard) front(s *xtest.Server, class string) {
	p.t.Helper()
	got := ""
	s.Until("the keyboard is where it belongs", func() bool {
		got = p.ask("foreground")
		return got == class
	}, func() []any { return []any{class, "but", got} })
}

// notepad starts Notepad with an empty file and gives it the keyboard.
func (p wincard) notepad(in *winetest.Prefix) (id, file string) {
	p.t.Helper()
	file = filepath.Join(in.Dir, "drive_c", "keys.txt")
	must.Do(p.t, os.WriteFile(file, nil, 0o600))
	in.Start("notepad", `C:\keys.txt`)
	id = in.Screen.FindWindow("keys")
	in.Screen.Run("xdotool", "windowfocus", "--sync", id)
	p.front(in.Screen, "Notepad")
	return id, file
}

// saved waits until Notepad has saved every key to its file.
func saved(t *testing.T, s *xtest.Server, file, want string) {
	t.Helper()
	var got []byte
	s.Until("Notepad saves every key", func() bool {
		got, _ = os.ReadFile(file)
		return string(got) == want
	}, func() []any { return []any{string(got), "instead of", want} })
}

// TestWindows tests the Windows implementation under wine.
func TestWindows(t *testing.T) {
	p := winetest.New(t)
	s := p.Screen
	s.Move(5, 5)
	for _, v := range [][]string{
		{`HKCU\Software\Microsoft\Accessibility`, "TextScaleFactor", "150"},
		{`HKCU\Control Panel\Desktop`, "LogPixels", "192"},
		{`HKCU\Software\Microsoft\Windows\CurrentVersion\Themes\Personalize`, "AppsUseLightTheme", "0"},
	} {
		if out, code := p.Run("reg", "add", v[0], "/v", v[1], "/t", "REG_DWORD", "/d", v[2], "/f"); code != 0 {
			t.Fatalf("reg add: code %d, %s", code, out)
		}
	}
	exe := winetest.Build(t, "./testdata/wincard")
	prog := talk(t, p.Start(exe))
	ask := prog.ask
	hex := func(c color.RGBA) string { return fmt.Sprintf("%02x%02x%02x", c.R, c.G, c.B) }

	if got := ask("monitors"); got != "1 0 {Name:DISPLAY1 Area:(0,0)-(1280,800) Work:(0,0)-(1280,800) Scale:3} "+
		"{Dark:true HighContrast:false LessMotion:false}" {
		t.Errorf("monitors: %s", got)
	}
	ask("show 0 800 300 380 260 %s", hex(red))
	s.WaitPixel(801, 301, red)
	s.WaitPixel(1179, 559, red)
	ask("show 1 800 570 380 100 %s", hex(blue))
	s.WaitPixel(1000, 600, blue)
	ask("update 0 10 20 40 16 %s", hex(green))
	s.WaitPixel(811, 321, green)
	if got := s.Pixel(851, 321); got != red {
		t.Errorf("beside the update: %v", got)
	}
	if got := ask("onscreen 0 10 20"); got != "(380,260) "+hex(green) {
		t.Errorf("read back: %q", got)
	}
	s.Click(830, 340, 1)
	prog.Wait("press (30,40) 1")
	prog.Wait("release (30,40) 1")
	s.Click(831, 340, 3)
	prog.Wait("press (31,40) 3")
	s.Click(831, 340, 4)
	prog.Wait("scroll (31,40) 1")
	s.Move(5, 5)
	prog.Wait("left")
	ask("hide 1")
	ask("close 1")

	const name = "Zoë — 12 €"
	ask("copy %s", name)
	s.Until("the clipboard reaches X", func() bool {
		return s.Run("sh", "-c", "xclip -o -selection clipboard -target UTF8_STRING 2>/dev/null || true") == name
	})

	if ask("busy") != "true" {
		t.Error("a paste does not wait for who has the clipboard")
	}

	// wine cannot exclude windows from capture; the card is shown all the same.
	if got := prog.fails("private 0"); !strings.Contains(got, "SetWindowDisplayAffinity") {
		t.Errorf("hidden from capture: %q", got)
	}
	ask("hide 0")
	ask("show 0 800 300 380 260 %s", hex(green))
	s.WaitPixel(801, 301, green)

	other := talk(t, p.Start(exe))
	other.ask("settings")
	prog.Wait("changed")
	other.ask("colours") // high contrast comes and goes with a theme
	prog.Wait("changed")
	was := ask("still")
	prog.Send("animate 0") // the answer and the event arrive in any order
	prog.Wait("changed")
	if now := ask("still"); was != "false" || now != "true" {
		t.Errorf("less motion: %s, and once animations are off %s", was, now)
	}

	// When the scale changes, a window moves to where Windows suggests;
	// one that fills its monitor keeps its size.
	other.ask("ours")
	other.Send("rescale 100 150 700 450")
	other.Wait("frame: changed")
	other.Wait("frame: resized")
	if got := strings.TrimSpace(other.Wait("ok rescale")); got != "(100,150)-(700,450) 3" {
		t.Errorf("at another scale: %s", got)
	}
	other.Send("maximize")
	other.Wait("frame: full")
	other.Wait("frame: resized (1280,") // its height follows the X server's window later
	other.Wait("ok maximize")
	other.ask("quit")

	// Notepad receives every key while a card is shown ten times over and beside it.
	_, file := prog.notepad(p)
	text := ""
	for i := range 10 {
		ask("hide 0")
		ask("show 0 %d 200 380 260 %s", 300+400*(i%2), hex(green))
		part := fmt.Sprintf("show%dabcdefgh", i)
		s.Type(part, 8)
		text += part
	}
	s.Key("ctrl+s")
	saved(t, s, file, text)

	// The card is visible above a window opened meanwhile.
	ask("hide 0")
	s.Terminal(image.Rect(700, 300, 1200, 700))
	ask("show 0 800 400 380 260 %s", hex(red))
	s.WaitPixel(900, 500, red)
	if got := ask("quit"); got != "display closed display closed" {
		t.Errorf("after closing: %q", got)
	}
}
