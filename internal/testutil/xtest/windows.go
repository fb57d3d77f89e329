package xtest

import (
	"regexp"
	"strconv"

	"github.com/jezek/xgb/xproto"
)

// FindWindow waits for a visible window whose title matches the regular expression and
// returns its id, as used by xdotool and wmctrl.
func (s *Server) FindWindow(title string) string {
	s.t.Helper()
	var found []string
	s.Until("a window "+title, func() bool { found = s.Windows(title); return len(found) > 0 })
	return found[0]
}

// Windows returns the ids of the visible windows whose titles match the regular expression.
// Windows that appear or disappear meanwhile may be missing.
func (s *Server) Windows(title string) []string {
	var ids []string
	for _, w := range s.titled(title) {
		ids = append(ids, strconv.Itoa(int(w.id)))
	}
	return ids
}

// Titles returns the titles of the windows that Windows finds.
func (s *Server) Titles(title string) []string {
	var titles []string
	for _, w := range s.titled(title) {
		titles = append(titles, w.title)
	}
	return titles
}

type titled struct {
	id    xproto.Window
	title string
}

func (s *Server) titled(pattern string) []titled {
	match := regexp.MustCompile(pattern)
	var found []titled
	var below func(xproto.Window)
	below = func(w xproto.Window) {
		if a, err := xproto.GetWindowAttributes(s.windows, w).Reply(); err != nil || a.MapState != xproto.MapStateViewable {
			return // nor is anything inside it visible
		}
		if title := s.title(w); title != "" && match.MatchString(title) {
			found = append(found, titled{w, title})
		}
		if r, err := xproto.QueryTree(s.windows, w).Reply(); err == nil {
			for _, c := range r.Children {
				below(c)
			}
		}
	}
	below(s.desk)
	return found
}

// title returns the title of a window, empty if it has none or is gone.
func (s *Server) title(w xproto.Window) string {
	for _, property := range []string{"_NET_WM_NAME", "WM_NAME"} {
		a, err := xproto.InternAtom(s.windows, false, uint16(len(property)), property).Reply()
		if err != nil {
			return ""
		}
		if r, err := xproto.GetProperty(s.windows, false, w, a.Atom, xproto.GetPropertyTypeAny, 0, 1<<10).Reply(); err == nil && r.ValueLen > 0 {
			return string(r.Value)
		}
	}
	return ""
}
