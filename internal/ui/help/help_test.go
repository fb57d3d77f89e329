package help

import (
	"cmp"
	"strings"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"

	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// letters returns the letters and digits of a text.
func letters(s string) string {
	return strings.Map(func(r rune) rune { return widgets.Either(unicode.IsLetter(r) || unicode.IsDigit(r), r, -1) }, s)
}

// TestHelpWindow: every page of the guide opens with all its text, in both languages, and
// stays within its window. If WIEBELT_SHOTS is set, pictures of the pages are saved there.
func TestHelpWindow(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b := uitest.New(t, uitest.Greeting(l), map[string]widgets.Opener{windowapi.WindowHelp: Open})
		b.Show(windowapi.WindowHelp)
		w := b.Page(windowapi.WindowHelp).(*window)
		w.win.Resize(fyne.NewSize(720, 640))
		uitest.WantTexts(t, w.win, l.T(text.HelpEverybody), l.T(text.HelpAdmins))
		for _, p := range guide.Help(l) {
			w.Choose(p.ID)
			if w.Chosen() != p.ID {
				t.Fatalf("%s is not shown", p.ID)
			}
			uitest.WantTexts(t, w.win, p.Title)
			uitest.WantNoTexts(t, w.win, "**", "`", "## ")
			shown := letters(uitest.AllText(w.win))
			for line := range strings.SplitSeq(p.Text, "\n") {
				if _, after, is := strings.Cut(line, "!["); is { // a picture
					_, line, _ = strings.Cut(after, ")")
				}
				if !strings.Contains(shown, letters(line)) {
					t.Errorf("%s, %s: %q is not shown", l, p.ID, line)
				}
			}
			if got := w.pages.MinSize().Width; got > 720-topicsWidth {
				t.Errorf("%s, %s: %g wide", l, p.ID, got)
			}
			uitest.Shot(t, w.win, "help-"+p.ID+"-"+string(l))
		}
	}
}

// TestHelpByKeyboard: the page is the second thing that Tab reaches, and keys scroll it.
func TestHelpByKeyboard(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch), map[string]widgets.Opener{windowapi.WindowHelp: Open})
	b.Show(windowapi.WindowHelp)
	w := b.Page(windowapi.WindowHelp).(*window)
	for _, width := range []float32{721, 720} { // wrapping text knows its height only once it has a width
		uitest.Scaled(w.win, fyne.NewSize(width, 640), 1)
	}
	c := w.win.Canvas()
	c.FocusNext()
	c.FocusNext()
	for _, k := range []struct {
		name fyne.KeyName
		down int
	}{{fyne.KeyDown, 1}, {fyne.KeyPageDown, 1}, {fyne.KeyUp, -1}, {fyne.KeyPageUp, -1}, {fyne.KeyEnd, 1}, {fyne.KeyHome, -1}, {fyne.KeySpace, 1}} {
		before := w.scroll.Offset.Y
		if c.Focused().TypedKey(&fyne.KeyEvent{Name: k.name}); cmp.Compare(w.scroll.Offset.Y, before) != k.down {
			t.Errorf("%s scrolls from %v to %v", k.name, before, w.scroll.Offset.Y)
		}
	}
}
