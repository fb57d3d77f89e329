package message

import (
	"strconv"
	"testing"

	"wiebelt/internal/native/winetest"
)

// TestWindows: the box comes up, once for what is said twice, and goes when it
// was read and when nobody waits any more.
func TestWindows(t *testing.T) {
	p := winetest.New(t)
	s := p.Screen
	// A window that goes in the middle of it makes the search fail: as none.
	is := func(title string, up bool) {
		t.Helper()
		s.Until("the box "+title, func() bool {
			return (s.Run("sh", "-c", "xdotool search --onlyvisible --name '^"+title+"$' 2>/dev/null || true") != "") == up
		})
	}
	m := p.Start(winetest.Build(t, "./testdata/winmessage"))
	m.Send("First|Something does not work.")
	is("First", true)
	m.Send("First|Something does not work.")
	m.Wait("told First <nil>") // the second, at once
	s.Until("the box gets the keyboard", func() bool {
		return s.Run("sh", "-c", "xdotool search --onlyvisible --name '^First$'") == strconv.Itoa(int(s.FocusedWindow()))+"\n"
	})
	s.Key("Return")
	m.Wait("told First <nil>")
	is("First", false)
	for _, title := range []string{"Other", "First"} { // which may be said again
		m.Send(title + "|Something else.")
		is(title, true)
	}
	m.Send("")
	m.Wait("ended context canceled")
	is("First", false)
	is("Other", false)
}
