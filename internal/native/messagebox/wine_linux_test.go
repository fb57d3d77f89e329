package messagebox

import (
	"slices"
	"strconv"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows checks that the box appears, only once for a repeated message, and that it
// closes once it has been read or nobody waits for it any more.
func TestWindows(t *testing.T) {
	p := winetest.New(t)
	s := p.Screen
	is := func(title string, up bool) {
		t.Helper()
		s.Until("the box "+title, func() bool {
			return (len(s.Windows("^"+title+"$")) > 0) == up
		}, func() []any { return []any{"up", up, "beside", s.Titles("")} })
	}
	m := p.Start(winetest.Build(t, "./testdata/winmessage"))
	m.Send("First|Something does not work.")
	is("First", true)
	m.Send("First|Something does not work.")
	m.Wait("told First <nil>") // the second one returns at once
	s.Until("the box gets the keyboard", func() bool {
		return slices.Contains(s.Windows("^First$"), strconv.Itoa(int(s.FocusedWindow())))
	})
	s.Key("Return")
	m.Wait("told First <nil>")
	is("First", false)
	for _, title := range []string{"Other", "First"} { // which may be shown again
		m.Send(title + "|Something else.")
		is(title, true)
	}
	m.Send("")
	m.Wait("ended context canceled")
	is("First", false)
	is("Other", false)
}
