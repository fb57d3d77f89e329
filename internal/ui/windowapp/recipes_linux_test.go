package windowapp

import (
	"os"
	"testing"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/instance/windowapi"
)

// clipboard is what another program would paste.
func (s *screen) clipboard() string {
	out, err := s.Command("xclip", "-selection", "clipboard", "-o").Output()
	if err != nil {
		return "" // nothing there yet
	}
	return string(out)
}

// The recipes' window on a real screen, in both languages and appearances. What
// it copies is what another program pastes, token and all, though the window
// shows none.
func TestRecipesWindow(t *testing.T) {
	s := newScreen(t)
	for _, tt := range []struct{ lang, theme, title, name string }{
		{"nl", "light", "Telefoon koppelen", "recipes-nl-light"},
		{"en", "dark", "Connect a phone", "recipes-en-dark"},
		{"en", "light", "Connect a phone", "recipes-en-light"},
		{"nl", "dark", "Telefoon koppelen", "recipes-nl-dark"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := startDesk(t, s, welcome(tt.lang, tt.theme, windowapi.WindowRecipes, ""))
			r.wait(windowapi.KindSources, nil)
			r.wait(windowapi.KindPainted, nil)
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			tokens, err := secret.Token(r.dirs) // as the window made them
			if err != nil {
				t.Fatal(err)
			}
			w := s.window(tt.title)
			back, accent := uint32(0xFFFFFF), uint32(accentLight)
			if tt.theme == "dark" {
				back, accent = backDark, 0x5AA9F2
			}
			s.click(w, 80, 131) // 3CX
			until(t, "a page with numbered steps", func() bool {
				img := s.shot(w, tt.name)
				return count(img, back) > 100_000 && count(img, accent) > 60
			})
			// The first page's program, and a page with a token.
			y := 0
			copied := func(want string) func() bool {
				y = 300 // down the page until the button is met
				return func() bool {
					s.click(w, 668, y)
					y = 300 + (y-300+16)%320
					return s.clipboard() == want
				}
			}
			until(t, "the program on the clipboard", copied(exe))
			s.shot(w, tt.name+"-copied")
			s.click(w, 80, 378) // Enreach
			until(t, "an address with its token on the clipboard",
				copied("http://127.0.0.1:27471/v1/call/"+tokens.Path+"?state=ringing&number=$callerid"))
			s.shot(w, tt.name+"-2")
			r.send(windowapi.KindQuit, nil)
			r.ended(0)
		})
	}
}
