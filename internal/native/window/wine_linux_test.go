package window

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/native/winetest"
)

// TestWindows runs the Windows window under wine, without OpenGL.
func TestWindows(t *testing.T) {
	p := winetest.New(t)
	s := p.Screen
	s.Move(5, 5)
	prog := p.Start(winetest.Build(t, "./testdata/wincard"))
	prog.Wait("ready")
	ask := func(f string, a ...any) string {
		t.Helper()
		line := fmt.Sprintf(f, a...)
		prog.Send(line)
		return strings.TrimSpace(prog.Wait("ok " + strings.Fields(line)[0]))
	}
	hex := func(c color.RGBA) string { return fmt.Sprintf("%02x%02x%02x", c.R, c.G, c.B) }

	t.Log("monitors:", ask("monitors"))
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
		return s.Run("xclip", "-o", "-selection", "clipboard", "-target", "UTF8_STRING") == name
	})

	// Notepad keeps every key through ten shows over and beside it.
	file := filepath.Join(p.Dir, "drive_c", "keys.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Start("notepad", `C:\keys.txt`)
	id := s.FindWindow("keys")
	s.Run("xdotool", "windowfocus", "--sync", id)
	s.Until("Notepad takes keys", func() bool { return s.FocusedWindow() != 0 })
	var took []int
	text := ""
	for i := range 10 {
		ask("hide 0")
		us, err := strconv.Atoi(ask("show 0 %d 200 380 260 %s", 300+400*(i%2), hex(green)))
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, us)
		part := fmt.Sprintf("show%dabcdefgh", i)
		s.Type(part, 8)
		text += part
	}
	s.Key("ctrl+s")
	var got []byte
	s.Until("Notepad saves every key", func() bool {
		got, _ = os.ReadFile(file)
		return string(got) == text
	}, func() []any { return []any{string(got)} })
	slices.Sort(took)
	t.Logf("Show and Sync under wine: p50 %d us, most %d us", took[5], took[9])

	// Visible above what was opened meanwhile.
	ask("hide 0")
	s.Terminal(image.Rect(700, 300, 1200, 700))
	ask("show 0 800 400 380 260 %s", hex(red))
	s.WaitPixel(900, 500, red)
	if got := ask("quit"); got != "display closed display closed" {
		t.Errorf("after closing: %q", got)
	}
}
