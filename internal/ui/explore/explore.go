// Package explore lets the contents of a window describe themselves to screen readers.
//
// Our widgets implement Speaker. Fyne's are recognised by type, and As and Named
// wrap objects for anything else. internal/ui/driver queries a whole window and
// builds a tree from it.
package explore

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/theme"
)

// Said is an object's description of itself.
type Said struct {
	Role     screenreader.Role
	State    screenreader.State
	Name     string // "" for what is written in it
	Value    string
	About    string
	Hint     string // shown in an entry while it is empty
	Fault    string // what is wrong with its value
	Off      bool
	Focused  bool // it is its container's current item for the arrow keys
	Position [2]int
	Level    int
	Caret    int
	Marked   [2]int
	Key      any    // identifies it, whichever object shows it; nil for the object itself
	Press    func() // nil for the action of a click
	Alone    bool   // its contents are only its looks
	Parts    []Part
	Beside   fyne.CanvasObject // another control in it, reported as its sibling
}

// Part is something in an object that is not an object itself.
type Part struct {
	Said
	At   fyne.Position // in the object
	Size fyne.Size
}

// Speaker is an object that describes itself.
type Speaker interface {
	fyne.CanvasObject
	Explore() Said
}

// around wraps an object that does not describe itself.
type around struct {
	widget.BaseWidget
	o     fyne.CanvasObject
	said  func() Said
	named bool // said describes the controls in it
}

func newAround(o fyne.CanvasObject, said func() Said, named bool) *around {
	a := &around{o: o, said: said, named: named}
	a.ExtendBaseWidget(a)
	return a
}

// As returns o described by said.
func As(o fyne.CanvasObject, said func() Said) fyne.CanvasObject { return newAround(o, said, false) }

// News returns o as an object that readers announce when it appears.
func News(o fyne.CanvasObject) fyne.CanvasObject {
	return As(o, func() Said { return Said{Role: screenreader.News, Alone: true} })
}

// Unsaid returns o without a description: something else describes it.
func Unsaid(o fyne.CanvasObject) fyne.CanvasObject {
	return newAround(o, func() Said { return Said{Alone: true} }, true)
}

// Named returns o with name, help and fault for the controls in it that have none of
// their own. fault may be nil.
func Named(o fyne.CanvasObject, name, help string, fault func() string) fyne.CanvasObject {
	return newAround(o, func() Said {
		s := Said{Name: name, About: help}
		if fault != nil {
			s.Fault = fault()
		}
		return s
	}, true)
}

// NameOf returns a Named's description of the controls in it, false for any other object.
func NameOf(o fyne.CanvasObject) (Said, bool) {
	if a, ok := o.(*around); ok && a.named {
		return a.said(), true
	}
	return Said{}, false
}

// CreateRenderer implements fyne.Widget.
func (a *around) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(layout.NewStackLayout(), a.o))
}

// Explore implements Speaker.
func (a *around) Explore() Said { return a.said() }

// Of returns an object's description, its own or that of its type; false for one that only
// contains others, or has nothing to describe.
func Of(o fyne.CanvasObject) (Said, bool) {
	switch o := o.(type) {
	case *around:
		return o.said(), !o.named
	case Speaker:
		return o.Explore(), true
	case *widget.Button:
		return Button(o), true
	case *widget.Entry:
		return Entry(o), true
	case *widget.SelectEntry:
		s := Entry(&o.Entry)
		s.Beside = o.ActionItem
		return s, true
	case *widget.Check:
		return Check(o), true
	case *widget.Select:
		return Select(o), true
	case *widget.Label:
		return Text(o.Text, LevelOf(o.SizeName)), o.Text != ""
	case *widget.RichText:
		s := written(o.Segments)
		return Text(s, 0), s != ""
	case *widget.Hyperlink:
		return Said{Role: screenreader.Link, State: screenreader.Focusable, Name: o.Text, Alone: true}, true
	case *widget.PopUp:
		return Said{Role: screenreader.Dialog}, true
	case *widget.PopUpMenu:
		return Said{Role: screenreader.Menu, State: screenreader.Focusable}, true
	}
	return menuItem(o)
}

// Text describes plain text; a heading if level is 1 or more.
func Text(s string, level int) Said {
	if level > 0 {
		return Said{Role: screenreader.Heading, Level: level, Name: s, Alone: true}
	}
	return Said{Role: screenreader.Label, Name: s, Alone: true}
}

// written returns all text in rich text, including lists.
func written(all []widget.RichTextSegment) string {
	var b strings.Builder
	for _, s := range all {
		switch s := s.(type) {
		case *widget.ListSegment:
			for _, item := range s.Items {
				b.WriteString("\n" + written([]widget.RichTextSegment{item}))
			}
		case *widget.ParagraphSegment:
			b.WriteString(written(s.Texts))
		default:
			b.WriteString(s.Textual())
		}
	}
	return strings.TrimSpace(b.String())
}

// LevelOf returns the heading level for a text size, 0 for running text.
func LevelOf(size fyne.ThemeSizeName) int {
	switch size {
	case base.SizeNameHeadingText:
		return 1
	case theme.SizeStart, base.SizeNameSubHeadingText:
		return 2
	}
	return 0
}

// Button describes Fyne's button.
func Button(b *widget.Button) Said {
	return Said{Role: screenreader.Button, State: screenreader.Focusable, Name: b.Text, Off: b.Disabled(), Alone: true}
}

// Check describes Fyne's check.
func Check(c *widget.Check) Said {
	s := Said{Role: screenreader.CheckBox, State: screenreader.Focusable, Name: c.Text, Off: c.Disabled(), Alone: true}
	if c.Checked {
		s.State |= screenreader.Checked
	}
	return s
}

// Select describes Fyne's select.
func Select(c *widget.Select) Said {
	s := Said{Role: screenreader.ComboBox, State: screenreader.Focusable, Value: c.Selected, Off: c.Disabled(), Alone: true}
	if c.Selected != "" {
		s.Parts = []Part{{Said: Said{Role: screenreader.Item, State: screenreader.Selected, Name: c.Selected, Key: c.Selected, Alone: true}, Size: c.Size()}}
	}
	return s
}

// Entry describes Fyne's entry; never any text of one that shows dots.
func Entry(e *widget.Entry) Said {
	s := Said{Role: screenreader.Entry, State: screenreader.Focusable, Value: e.Text, Hint: e.PlaceHolder, Off: e.Disabled(), Caret: e.CursorTextOffset(), Alone: true}
	if e.MultiLine {
		s.State |= screenreader.Multiline
	}
	text, marked := []rune(e.Text), len([]rune(e.SelectedText()))
	if s.Caret = min(s.Caret, len(text)); marked > 0 { // Fyne reports what is selected, not where
		s.Marked = [2]int{s.Caret, min(s.Caret+marked, len(text))}
		if from := s.Caret - marked; from >= 0 && string(text[from:s.Caret]) == e.SelectedText() {
			s.Marked = [2]int{from, s.Caret}
		}
	}
	if e.Password {
		s.State |= screenreader.Password
		for i := range text {
			text[i] = '•'
		}
		s.Value = string(text)
	}
	return s
}
