package windowapp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
	nativewindow "wiebelt/internal/native/window"
)

const accentLight, softDark, backDark = 0x0B6BCB, 0x27313A, 0x1E252C

// The demo window on a real screen: painted is said, a click plays, the result
// is shown, and closing the only window ends the program.
func TestDemoWindow(t *testing.T) {
	s := newScreen(t)
	began := time.Now()
	r := startDesk(t, s, welcome("nl", "light", windowapi.WindowDemo, ""))
	r.wait(windowapi.KindPainted, nil)
	t.Logf("painted after %v", time.Since(began).Round(time.Millisecond))
	w := s.window("Demo")
	until(t, "the primary button in accent", func() bool { return count(s.shot(w, "demo-nl-light"), accentLight) > 4000 })

	var play windowapi.Play
	s.click(w, 100, 150)
	r.wait(windowapi.KindPlay, &play)
	if play.ID != "call-0" {
		t.Errorf("the first button played %q", play.ID)
	}
	s.shot(w, "demo-nl-playing")
	before := count(s.shot(w, "demo-nl-playing"), 0x1B7F4B)
	r.send(windowapi.KindPlay, windowapi.Played{ID: play.ID, Line: "Bekende klant: in 6 ms op het scherm, relatie na 11 ms", Painted: 6 * time.Millisecond})
	until(t, "the full dot of a result", func() bool { return count(s.shot(w, "demo-nl-played"), 0x1B7F4B) > before+20 })

	s.xdotool("windowactivate", "--sync", w, "key", "alt+F4")
	r.ended(0)
}

// Every window in both languages and appearances really has its colours.
func TestAppearances(t *testing.T) {
	s := newScreen(t)
	path := filepath.Join(t.TempDir(), "history.db")
	fill(t, path)
	for _, tt := range []struct{ lang, theme, window, history, title, name string }{
		{"en", "dark", windowapi.WindowCalls, path, "Calls", "calls-en-dark"},
		{"en", "dark", windowapi.WindowDemo, "", "Demo", "demo-en-dark"},
		{"nl", "dark", windowapi.WindowCalls, path + ".none", "Oproepen", "empty-nl-dark"},
		{"en", "light", windowapi.WindowCalls, "", "Calls", "off-en-light"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := startDesk(t, s, welcome(tt.lang, tt.theme, tt.window, tt.history))
			r.wait(windowapi.KindPainted, nil)
			w := s.window(tt.title)
			back := uint32(0xFFFFFF)
			if tt.theme == "dark" {
				back = backDark
			}
			until(t, "the background", func() bool { return count(s.shot(w, tt.name), back) > 100_000 })
			r.conn.Close() // the resident is gone
			r.ended(0)
		})
	}
}

// Nothing of ours is left behind in the user's folders.
func TestLeavesNothing(t *testing.T) {
	s := newScreen(t)
	before := files(t, s.Dir) // the window manager's
	r := startDesk(t, s, welcome("nl", "light", windowapi.WindowDemo, ""))
	r.wait(windowapi.KindPainted, nil)
	r.send(windowapi.KindQuit, nil)
	r.ended(0)
	for _, p := range files(t, s.Dir) {
		// The index of the fonts is the machine's own cache.
		if !slices.Contains(before, p) && !strings.Contains(p, "font_index") {
			t.Errorf("left behind: %s", strings.TrimPrefix(p, s.Dir))
		}
	}
}

// files are those in a folder and below it.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.Walk(dir, func(p string, fi os.FileInfo, err error) error {
		if err == nil && !fi.IsDir() {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// Without a screen there is no application.
func TestWithoutScreen(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if _, err := newApp(); !errors.Is(err, nativewindow.ErrNoDisplay) {
		t.Errorf("%v", err)
	}
}
