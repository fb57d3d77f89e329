package phones

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// here has the values of a computer with two tokens.
var here = localValues{set: settings.Defaults(), values: guide.Values{Exe: `C:\Program Files\Wiebelt\wiebelt.exe`, Ring: `C:\Program Files\Wiebelt\wiebeltw.exe`,
	Settings: `C:\Users\jan\AppData\Roaming\Wiebelt\settings.toml`, Port: 27472,
	PathToken: strings.Repeat("p", 43), SocketToken: strings.Repeat("s", 43)}}

// recipes returns the open window, nil if it is closed.
func recipes(b *uitest.Harness) *window {
	w, _ := b.Page(windowapi.WindowRecipes).(*window)
	return w
}

func openRecipes(t *testing.T, l text.Language, f localValues) *uitest.Harness {
	t.Helper()
	b := uitest.New(t, uitest.Greeting(l), map[string]widgets.Opener{windowapi.WindowRecipes: Open})
	b.Show(windowapi.WindowRecipes)
	b.Sent = nil
	b.Go = func(func(context.Context)) {} // keeps the facts unchanged
	recipes(b).localValues = &f
	recipes(b).page()
	return b
}

// TestRecipesShowNoToken: every page is complete, in both languages, and says what the
// phone reports, so that nobody expects more from the cards. It shows no token until the
// user asks to see it; a copy contains it.
func TestRecipesShowNoToken(t *testing.T) {
	for l, reports := range map[text.Language]map[guide.ReportLevel]string{
		text.Dutch:   {guide.RingOnly: "Kan melden|Alleen dat er een oproep is.", guide.RingAndEnd: "Kan melden|Overgaan en einde.", guide.AllStates: "Kan melden|Overgaan, opnemen en einde."},
		text.English: {guide.RingOnly: "Reports|Only that there is a call.", guide.RingAndEnd: "Reports|Ring and end.", guide.AllStates: "Reports|Ring, answer and end."},
	} {
		b := openRecipes(t, l, here)
		for _, r := range guide.All(l) {
			recipes(b).Choose(r.ID)
			w := recipes(b)
			uitest.WantTexts(t, w.win, r.Title, reports[r.ReportLevel])
			all := strings.Join(uitest.Texts(w.win), "")
			if strings.Contains(all, "ppp") || strings.Contains(all, "sss") || strings.Contains(all, "{{") {
				t.Errorf("%s shows what it should not", r.ID)
			}
			blocks := r.Blocks()
			if len(w.blocks) != len(blocks) {
				t.Fatalf("%s: %d blocks on the page, want %d", r.ID, len(w.blocks), len(blocks))
			}
			for i, p := range w.blocks {
				want, err := blocks[i].Fill(w.localValues.values)
				if err != nil {
					if r.ID != "twinkle" { // a folder with a space
						t.Errorf("%s: %v", r.ID, err)
					}
					uitest.WantTexts(t, w.win, strings.Fields(guide.ExplainError(l, err))[0])
					if p.copying != nil {
						t.Errorf("%s: what cannot be pasted can be copied", r.ID)
					}
					continue
				}
				test.Tap(p.copying)
				if got := b.App.Clipboard().Content(); got != want {
					t.Errorf("%s: copied %q, want %q", r.ID, got, want)
				}
				if (p.show != nil) != blocks[i].HasToken() {
					t.Errorf("%s: block %d and its token", r.ID, i)
				}
			}
		}
		b.WantSent(t) // copying tells the resident nothing
	}
}

func TestRecipesButtons(t *testing.T) {
	b := openRecipes(t, text.Dutch, here)
	recipes(b).Choose("enreach")
	p := recipes(b).blocks[0]
	uitest.WantTexts(t, recipes(b).win, "Kopiëren", "Tonen")
	test.Tap(p.show)
	if !strings.Contains(p.text.Text, here.values.PathToken) || p.show.Text != "Verbergen" {
		t.Errorf("the token is not shown: %q, %q", p.text.Text, p.show.Text)
	}
	if q := recipes(b).blocks[1]; strings.Contains(q.text.Text, here.values.PathToken) {
		t.Error("another block shows its token too")
	}
	test.Tap(p.show)
	if strings.Contains(p.text.Text, here.values.PathToken) || p.show.Text != "Tonen" {
		t.Errorf("the token is still shown: %q, %q", p.text.Text, p.show.Text)
	}
	test.Tap(p.copying)
	if p.copying.Text != "Gekopieerd" {
		t.Errorf("%q", p.copying.Text)
	}
	b.RunDue()
	if p.copying.Text != "Kopiëren" {
		t.Errorf("%q", p.copying.Text)
	}
	// After another page and back, the token is hidden again.
	test.Tap(p.show)
	recipes(b).Choose("8x8")
	recipes(b).Choose("enreach")
	if strings.Contains(recipes(b).blocks[0].text.Text, here.values.PathToken) {
		t.Error("the token is shown without being asked for")
	}
}

// TestRecipesList: the list on the left selects a phone by pointer or keyboard.
func TestRecipesList(t *testing.T) {
	b := openRecipes(t, text.Dutch, here)
	w := recipes(b)
	type line struct {
		fyne.Widget
		back  *canvas.Rectangle
		title *widgets.TextLine
	}
	lines := func() map[string]line {
		all := map[string]line{}
		for _, x := range uitest.All[fyne.Widget](w.list) {
			if parts := test.WidgetRenderer(x).Objects(); len(parts) == 2 {
				back, _ := parts[0].(*canvas.Rectangle)
				if title, ok := parts[1].(*widgets.TextLine); ok && back != nil {
					all[title.Text] = line{x, back, title}
				}
			}
		}
		return all
	}
	tap := func(l line) { test.TapAt(l.Widget.(fyne.Tappable), fyne.NewPos(20, 10)) }
	cursor := func(l line) desktop.Cursor { return l.Widget.(desktop.Cursorable).Cursor() }
	first := lines()["8x8 Work"]
	tap(first)
	if w.shown != "8x8" || first.title.Colour != "primary" {
		t.Errorf("shows %q in %q", w.shown, first.title.Colour)
	}
	head := lines()["Uw telefoon"]
	tap(head)
	if w.shown != "8x8" || cursor(head) != desktop.DefaultCursor || cursor(first) != desktop.PointerCursor {
		t.Error("a heading behaves as a phone")
	}
	other := lines()["Bria"]
	other.Widget.(desktop.Hoverable).MouseIn(&desktop.MouseEvent{})
	if !other.back.Visible() {
		t.Error("nothing shows where the pointer is")
	}
	other.Widget.(desktop.Hoverable).MouseOut()
	if other.back.Visible() {
		t.Error("the pointer left and the line still shows it")
	}
	w.win.Canvas().Focus(w.list)
	w.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown}) // starts at the current page
	w.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if w.shown != "asterisk" {
		t.Errorf("the keyboard chose %q", w.shown)
	}
	for _, k := range []fyne.KeyName{fyne.KeyHome, fyne.KeyUp} { // to the first line below the heading, and no further
		w.list.TypedKey(&fyne.KeyEvent{Name: k})
	}
	w.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if w.shown != sourcesPage {
		t.Errorf("the keyboard chose %q", w.shown)
	}
	n := slices.IndexFunc(w.items, func(i widgets.SideItem) bool { return i.Group == text.Dutch.T(text.RecipesAny) })
	if n < 10 || n != len(w.items)-4 {
		t.Errorf("the first kind of phones is page %d of %d", n, len(w.items))
	}
}

// TestRecipesTrouble checks that whatever keeps a
// recipe from working is shown where it matters.
func TestRecipesTrouble(t *testing.T) {
	const off, web, taken = "listener.enabled", "listener.http", "Poort 27472 is bezet"
	for _, c := range []struct {
		name, id, src string
		taken         bool
		want          string
	}{
		{"all is well", "enreach", "", false, ""},
		{"off", "enreach", "enabled = false", false, off},
		{"off, a program", "microsip", "enabled = false", false, ""},
		{"no HTTP", "enreach", "http = false", false, web},
		{"no HTTP, WebSocket", "any-websocket", "http = false", false, ""},
		{"taken, WebSocket", "any-websocket", "", true, taken},
		{"taken, a link of ours", "bria", "", true, ""},
	} {
		f := here
		f.set, _ = settings.Parse("[listener]\n" + c.src + "\n")
		b := openRecipes(t, text.Dutch, f)
		if c.taken { // reported after the page was created
			b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "http", Phase: windowapi.SourcePortTaken, Port: 27472}}})
		}
		recipes(b).Choose(c.id)
		all := uitest.AllText(recipes(b).win)
		for _, s := range []string{off, web, taken} {
			if strings.Contains(all, s) != (s == c.want) {
				t.Errorf("%s: %q: %s", c.name, s, all)
			}
		}
	}
	office, _ := settings.Parse("[support]\ncontact = \"Jan (IT)\"\n")
	b := openRecipes(t, text.English, localValues{set: office, broken: true})
	if recipes(b).Chosen() != sourcesPage { // users with a working phone look there
		t.Errorf("it opens at %q", recipes(b).Chosen())
	}
	recipes(b).Choose("enreach")
	uitest.WantTexts(t, recipes(b).win, "cannot be read right now", "Jan (IT)")
}

// TestRecipesOfTheProfile: the window reads the values to fill in from the profile, and
// reports if the tokens cannot be read; a closed window gets nothing. No token is logged.
func TestRecipesOfTheProfile(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch), map[string]widgets.Opener{windowapi.WindowRecipes: Open})
	var log bytes.Buffer
	b.Log = slog.New(slog.NewTextHandler(&log, nil))
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[listener]\nport = 27480\n"), 0o600))
	tokens := must.Get(secret.EnsureTokens(b.Dirs))(t)
	b.Show(windowapi.WindowRecipes)
	if v := recipes(b).localValues.values; v.PathToken != tokens.Path || v.SocketToken != tokens.Socket || v.Port != 27480 || v.Settings != settings.Path(b.Dirs) || !filepath.IsAbs(v.Exe) {
		t.Error("other values than the settings and tokens give") // printing them would show tokens
	}
	recipes(b).Choose("enreach")
	shown := recipes(b).blocks[0]
	test.Tap(shown.show)
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
	if recipes(b).blocks[0] != shown {
		t.Error("a page on which nothing is another was made anew, and its token is hidden")
	}
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[listener]\nport = 27481\n"), 0o600))
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
	test.Tap(recipes(b).blocks[0].copying)
	if !strings.Contains(b.App.Clipboard().Content(), ":27481/") {
		t.Error("another port, and the old one is copied")
	}
	recipes(b).win.Close()
	must.Do(t, os.WriteFile(filepath.Join(b.Dirs.State, secret.TokensName), []byte("nonsense"), 0o600))
	var begun func(context.Context)
	b.Go = func(work func(context.Context)) { begun = work }
	b.Show(windowapi.WindowRecipes)
	w := recipes(b)
	begun(t.Context())
	if !w.localValues.broken || w.localValues.values.PathToken != "" {
		t.Error("unreadable tokens are not said")
	}
	if s := log.String(); strings.Contains(s, tokens.Path) || strings.Contains(s, tokens.Socket) || !strings.Contains(s, "tokens") {
		t.Error("tokens are logged, or that they cannot be read is not")
	}
	w.win.Close()
	b.Show(windowapi.WindowRecipes)
	w = recipes(b)
	w.win.Close()
	begun(t.Context())
	if w.localValues != nil {
		t.Error("a closed window was told")
	}
}
