package uitest

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// Shot saves pictures of a window for review, light and dark, in the folder named by
// WIEBELT_SHOTS; without it, Shot does nothing.
func Shot(t testing.TB, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("WIEBELT_SHOTS")
	if dir == "" {
		return
	}
	// Wrapping text knows its height only once it has a width: a window on a
	// screen is laid out again before it is painted, a test's window is not.
	size := w.Canvas().Size()
	w.Resize(size.AddWidthHeight(1, 1))
	w.Resize(size)
	app := fyne.CurrentApp().Settings()
	defer app.SetTheme(app.Theme())
	for _, look := range []string{"light", "dark"} {
		app.SetTheme(theme.New(look))
		var b bytes.Buffer
		if err := png.Encode(&b, w.Canvas().Capture()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-"+look+".png"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Examine checks a window at every scale, at its own size and at others.
func Examine(t testing.TB, name string, w fyne.Window, sizes []fyne.Size, data ...string) {
	t.Helper()
	for _, scale := range Scales {
		ExamineAt(t, name, w, scale, sizes, data...)
	}
}

// ExamineAt checks a window at a scale with UncutAt. At scale 1 it also checks that the
// window fits on the smallest screen, and saves pictures.
func ExamineAt(t testing.TB, name string, w fyne.Window, scale float32, sizes []fyne.Size, data ...string) {
	t.Helper()
	UncutAt(t, name, w, scale, sizes, data...)
	if scale == 1 {
		Fits(t, name, w)
		Shot(t, w, name)
	}
}

// UncutAt checks a window at a scale and several sizes with Uncut, and leaves it at the first.
func UncutAt(t testing.TB, name string, w fyne.Window, scale float32, sizes []fyne.Size, data ...string) {
	t.Helper()
	for _, size := range sizes {
		Scaled(w, size.AddWidthHeight(1, 1), scale) // wrapping text knows its height only once it has a width
		Scaled(w, size, scale)
		Uncut(t, fmt.Sprintf("%s at %v in %v", name, scale, size), w, data...)
	}
	Scaled(w, sizes[0], scale)
}

// Texts returns every text in a window, in the order of its tree.
func Texts(w fyne.Window) (all []string) {
	for _, line := range All[*canvas.Text](w.Canvas().Content()) {
		if line.Text != "" {
			all = append(all, line.Text)
		}
	}
	return all
}

// AllText returns all text in a window, wrapped or not, separated by spaces.
func AllText(w fyne.Window) string {
	return strings.ReplaceAll(strings.Join(Texts(w), " "), "  ", " ")
}

// WantTexts fails for each text that is not in a window.
func WantTexts(t *testing.T, w fyne.Window, want ...string) {
	t.Helper()
	all, wrapped := strings.Join(Texts(w), "|"), AllText(w)
	for _, s := range want {
		if !strings.Contains(all, s) && !strings.Contains(wrapped, s) {
			t.Errorf("%q is not written; there is: %s", s, all)
		}
	}
}

// WantNoTexts fails for each text that is in a window.
func WantNoTexts(t *testing.T, w fyne.Window, unwanted ...string) {
	t.Helper()
	all := AllText(w)
	for _, s := range unwanted {
		if strings.Contains(all, s) {
			t.Errorf("%q is written; there is: %s", s, all)
		}
	}
}

// Uncut fails if one of our own words is cut or extends beyond the
// window's border; names and numbers, of any length, end in an
// ellipsis. It also fails if text touches what precedes it in its line.
func Uncut(t testing.TB, what string, w fyne.Window, data ...string) {
	t.Helper()
	for _, o := range append(w.Canvas().Overlays().List(), w.Canvas().Content()) {
		apart(t, what, o)
		uncut(t, what, o, w.Canvas().Size().Width, data)
	}
}

// uncut fails for words in a tree that are cut or extend beyond a window of a width.
func uncut(t testing.TB, what string, o fyne.CanvasObject, width float32, data []string) {
	t.Helper()
	walk(o, fyne.Position{}, func(o fyne.CanvasObject, at fyne.Position) bool {
		switch o := o.(type) {
		case *canvas.Text:
			if need := o.MinSize().Width; o.Text != "" && at.X+need > width+1 && o.Alignment == fyne.TextAlignLeading {
				t.Errorf("%s: %q reaches to %v of %v", what, o.Text, at.X+need, width)
			}
		case *widgets.Button:
			if o.Size().Width+0.5 < o.MinSize().Width {
				t.Errorf("%s: the button %q is %v wide and needs %v", what, o.Text, o.Size().Width, o.MinSize().Width)
			}
			return false
		case *widgets.TextLine:
			said := test.WidgetRenderer(o).Objects()[0].(*canvas.Text).Text
			named := func(d string) bool { return strings.Contains(d, o.Text) || strings.HasPrefix(o.Text, d) }
			if said != o.Text && !slices.ContainsFunc(data, named) {
				t.Errorf("%s: %q is cut: %q", what, o.Text, said)
			}
		}
		return true
	})
}

// apart fails if a text begins too close to a mark or text before it in its line.
func apart(t testing.TB, what string, in fyne.CanvasObject) {
	t.Helper()
	type piece struct {
		fyne.Position
		end, apart float32
		said       string
	}
	var before, texts []piece
	walk(in, fyne.Position{}, func(o fyne.CanvasObject, at fyne.Position) bool {
		switch o := o.(type) {
		case *container.Scroll: // part of its content is under something else
			apart(t, what, o.Content)
			return false
		case *widgets.Shape:
			before = append(before, piece{at, at.X + (o.Size().Width+widgets.ShapeSize)/2, 6, "a mark"})
		case *widgets.TextLine:
			if s := test.WidgetRenderer(o).Objects()[0].(*canvas.Text); s.Text != "" && s.Alignment == fyne.TextAlignLeading {
				before = append(before, piece{at, at.X + s.MinSize().Width, 4, s.Text})
			}
		case *canvas.Text:
			if o.Text != "" {
				texts = append(texts, piece{Position: at, said: o.Text})
			}
		}
		return true
	})
	for _, b := range before {
		for _, s := range texts {
			if s.X > b.X && s.X < b.end+b.apart && s.Y > b.Y-8 && s.Y < b.Y+8 {
				t.Errorf("%s: %q at %v touches %q, which ends at %v", what, s.said, s.X, b.said, b.end)
			}
		}
	}
}

// Scaled gives a window its size on a screen with a scale.
func Scaled(w fyne.Window, size fyne.Size, scale float32) {
	if c, ok := w.Canvas().(software.WindowlessCanvas); ok {
		c.SetScale(scale)
	}
	w.Resize(size)
}

// Scales lists the scales of the tested screens; the last
// two are text at 200 % on screens at 200 and 300 %.
var Scales = []float32{1, 1.25, 1.5, 1.75, 2, 4, 6}

// All returns the visible objects of a type in a tree.
func All[T fyne.CanvasObject](o fyne.CanvasObject) (all []T) {
	walk(o, fyne.Position{}, func(o fyne.CanvasObject, _ fyne.Position) bool {
		if one, ok := o.(T); ok {
			all = append(all, one)
		}
		return true
	})
	return all
}

// walk visits the visible objects of a tree, with their
// positions, and an object's parts only if visit returns true.
func walk(o fyne.CanvasObject, at fyne.Position, visit func(fyne.CanvasObject, fyne.Position) (within bool)) {
	if !o.Visible() {
		return
	}
	at = at.Add(o.Position())
	if !visit(o, at) {
		return
	}
	var parts []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		parts = o.Objects
	case fyne.Widget:
		parts = test.WidgetRenderer(o).Objects()
	}
	for _, part := range parts {
		walk(part, at, visit)
	}
}

// ButtonOf returns a window's button with a label, nil if there is none.
func ButtonOf(w fyne.Window, label string) *widgets.Button {
	return buttonIn(w.Canvas().Content(), label)
}

// buttonIn returns the first button in a tree with a label.
func buttonIn(o fyne.CanvasObject, label string) *widgets.Button {
	for _, b := range All[*widgets.Button](o) {
		if b.Text == label {
			return b
		}
	}
	return nil
}

// Press presses a window's button with a label.
func Press(t *testing.T, w fyne.Window, label string) {
	t.Helper()
	PressIn(t, w.Canvas().Content(), label)
}

// PressIn presses the button with a label somewhere in a tree.
func PressIn(t *testing.T, o fyne.CanvasObject, label string) {
	t.Helper()
	b := buttonIn(o, label)
	switch {
	case b == nil:
		t.Fatalf("no button %q", label)
	case b.Disabled():
		t.Fatalf("the button %q is off", label)
	}
	test.Tap(b)
}

// Smallest lists the content sizes of windows that fill a screen of 1366 by
// 768 at 300 %, with a task bar below or at the side: no window may need more.
var Smallest = []fyne.Size{fyne.NewSize(439, 176), fyne.NewSize(399, 216)}

// Fits fails if a window needs more space than it has at some size, or if its
// buttons are not visible then, except those in scrolling content. It checks the
// smallest sizes, some in between, and the window's own size, which it restores.
func Fits(t testing.TB, what string, w fyne.Window) {
	t.Helper()
	own := w.Canvas().Size()
	for _, size := range append(Smallest, fyne.NewSize(531, 226), fyne.NewSize(624, 280), fyne.NewSize(720, 352), own) {
		w.Resize(size.AddWidthHeight(1, 1)) // wrapping text knows its height only once it has a width
		w.Resize(size)
		if min := w.Content().MinSize(); min.Width > size.Width+0.5 || min.Height > size.Height+0.5 {
			t.Errorf("%s: %v needs %v", what, size, min)
		}
		for _, o := range append(w.Canvas().Overlays().List(), w.Content()) {
			buttons(t, what, o, size)
		}
	}
}

// buttons fails for buttons in a tree that are not visible in a window of a size.
func buttons(t testing.TB, what string, o fyne.CanvasObject, size fyne.Size) {
	t.Helper()
	walk(o, fyne.Position{}, func(o fyne.CanvasObject, at fyne.Position) bool {
		switch o := o.(type) {
		case *container.Scroll:
			return false
		case *widgets.Button:
			if at.X < -0.5 || at.Y < -0.5 || at.X+o.Size().Width > size.Width+0.5 || at.Y+o.Size().Height > size.Height+0.5 || o.Size().Width+0.5 < o.MinSize().Width {
				t.Errorf("%s: in %v the button %q, %v large at %v, cannot be seen", what, size, o.Text, o.Size(), at)
			}
			return false
		}
		return true
	})
}
