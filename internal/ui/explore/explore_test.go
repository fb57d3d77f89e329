package explore

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
)

// TestTypes checks that Fyne's own widgets have the right roles.
func TestTypes(t *testing.T) {
	test.NewTempApp(t)
	check := widget.NewCheck("On", nil)
	check.SetChecked(true)
	off := widget.NewButton("Off", nil)
	off.Disable()
	choice := widget.NewSelect([]string{"one", "two"}, nil)
	choice.SetSelected("two")
	secret := widget.NewPasswordEntry()
	secret.SetText("geheim")
	lines := widget.NewMultiLineEntry()
	lines.SetPlaceHolder("a hint")
	title := widget.NewLabel("Title")
	title.SizeName = base.SizeNameHeadingText
	for _, tt := range []struct {
		o    fyne.CanvasObject
		want Description
	}{
		{check, Description{Role: screenreader.CheckBox, State: screenreader.Focusable | screenreader.Checked, Name: "On"}},
		{off, Description{Role: screenreader.Button, State: screenreader.Focusable, Name: "Off", Disabled: true}},
		{choice, Description{Role: screenreader.ComboBox, State: screenreader.Focusable, Value: "two"}},
		{secret, Description{Role: screenreader.Entry, State: screenreader.Focusable | screenreader.Password, Value: "••••••"}},
		{lines, Description{Role: screenreader.Entry, State: screenreader.Focusable | screenreader.Multiline, Hint: "a hint"}},
		{title, Description{Role: screenreader.Heading, Name: "Title", Level: 1}},
		{widget.NewLabel("Text"), Description{Role: screenreader.Label, Name: "Text"}},
		{widget.NewRichText(&widget.TextSegment{Text: "One ", Style: widget.RichTextStyleInline}, &widget.TextSegment{Text: "two."},
			&widget.ListSegment{Items: []widget.RichTextSegment{&widget.TextSegment{Text: "three"}, &widget.TextSegment{Text: "four"}}}),
			Description{Role: screenreader.Label, Name: "One two.\nthree\nfour"}},
		{Announced(widget.NewLabel("new")), Description{Role: screenreader.News}},
	} {
		got, ok := DescriptionOf(tt.o)
		if !ok || got.Role != tt.want.Role || got.State != tt.want.State || got.Name != tt.want.Name || got.Value != tt.want.Value ||
			got.Hint != tt.want.Hint || got.Disabled != tt.want.Disabled || got.Level != tt.want.Level {
			t.Errorf("%T says %v %+v, want %+v", tt.o, ok, got, tt.want)
		}
	}
	for _, o := range []fyne.CanvasObject{widget.NewSeparator(), container.NewVBox(), widget.NewLabel(""), widget.NewIcon(nil)} {
		if got, ok := DescriptionOf(o); ok {
			t.Errorf("%T says %+v", o, got)
		}
	}
	field := WithName(widget.NewEntry(), "Name", "Help", func() string { return "Wrong" })
	if got, ok := NameOf(field); !ok || got.Name != "Name" || got.Help != "Help" || got.Fault != "Wrong" {
		t.Errorf("says %v %+v of the entry in it", ok, got)
	}
	if got, ok := DescriptionOf(field); ok {
		t.Errorf("a name says of itself %+v", got)
	}
}

// TestSelection checks the reported caret and selection, however they were set.
func TestSelection(t *testing.T) {
	test.NewTempApp(t)
	e := widget.NewEntry()
	w := test.NewWindow(e)
	defer w.Close()
	e.SetText("één twee")
	w.Canvas().Focus(e)
	press := func(names ...fyne.KeyName) {
		for _, n := range names {
			e.TypedKey(&fyne.KeyEvent{Name: n})
		}
	}
	want := func(caret int, marked [2]int) {
		t.Helper()
		if got := Entry(e); got.Caret != caret || got.Selection != marked {
			t.Errorf("caret %d, selected %v; want %d, %v", got.Caret, got.Selection, caret, marked)
		}
	}
	press(fyne.KeyHome)
	want(0, [2]int{})
	e.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	press(fyne.KeyRight, fyne.KeyRight, fyne.KeyRight)
	want(3, [2]int{0, 3})
	e.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	press(fyne.KeyEnd)
	e.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	press(fyne.KeyLeft, fyne.KeyLeft)
	want(6, [2]int{6, 8})
	e.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
}

// TestMenu checks the lines of a menu and which of them has the focus,
// and thereby that Fyne's private fields still have their names.
func TestMenu(t *testing.T) {
	test.NewTempApp(t)
	w := test.NewWindow(widget.NewLabel(""))
	defer w.Close()
	done := false
	gone := fyne.NewMenuItem("Gone", nil)
	gone.Disabled = true
	m := widget.NewPopUpMenu(fyne.NewMenu("", fyne.NewMenuItem("First", func() { done = true }), fyne.NewMenuItemSeparator(), gone), w.Canvas())
	m.ShowAtPosition(fyne.NewPos(0, 0))
	m.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	if s, ok := DescriptionOf(m); !ok || s.Role != screenreader.Menu {
		t.Errorf("says %+v", s)
	}
	var said []Description
	for _, o := range m.Items {
		if s, ok := DescriptionOf(o); ok {
			said = append(said, s)
		}
	}
	if len(said) != 2 || said[0].Role != screenreader.MenuItem || said[0].Name != "First" || !said[0].Focused || said[1].Name != "Gone" || !said[1].Disabled || said[1].Focused {
		t.Errorf("lines %+v", said)
	}
	m.Items[0].(fyne.Tappable).Tapped(&fyne.PointEvent{})
	if !done {
		t.Error("a press does nothing")
	}
}
