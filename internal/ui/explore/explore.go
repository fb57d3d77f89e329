// Package explore lets the contents of a window describe themselves to screen readers.
//
// Our widgets implement Describer. Fyne's are recognised by type, and WithDescription and
// WithName wrap objects for anything else. internal/ui/driver queries a whole window and
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

// Description is an object's description of itself.
type Description struct {
	Role      screenreader.Role
	State     screenreader.State
	Name      string // "" for what is written in it
	Value     string
	Help      string
	Hint      string // shown in an entry while it is empty
	Fault     string // what is wrong with its value
	Disabled  bool
	Focused   bool // it is its container's current item for the arrow keys
	Position  [2]int
	Level     int
	Caret     int
	Selection [2]int
	Key       any    // identifies it, whichever object shows it; nil for the object itself
	Press     func() // nil for the action of a click
	Leaf      bool   // its contents are only its looks
	Parts     []Part
	Sibling   fyne.CanvasObject // another control in it, reported as its sibling
}

// Part is something in an object that is not an object itself.
type Part struct {
	Description
	At   fyne.Position // in the object
	Size fyne.Size
}

// Describer is an object that describes itself.
type Describer interface {
	fyne.CanvasObject
	Describe() Description
}

// wrapper wraps an object that does not describe itself.
type wrapper struct {
	widget.BaseWidget
	o        fyne.CanvasObject
	describe func() Description
	named    bool // describe describes the controls in it
}

func newWrapper(o fyne.CanvasObject, said func() Description, named bool) *wrapper {
	a := &wrapper{o: o, describe: said, named: named}
	a.ExtendBaseWidget(a)
	return a
}

// WithDescription returns o described by said.
func WithDescription(o fyne.CanvasObject, said func() Description) fyne.CanvasObject {
	return newWrapper(o, said, false)
}

// Announced returns o as an object that readers announce when it appears.
func Announced(o fyne.CanvasObject) fyne.CanvasObject {
	return WithDescription(o, func() Description { return Description{Role: screenreader.News, Leaf: true} })
}

// Undescribed returns o without a description: something else describes it.
func Undescribed(o fyne.CanvasObject) fyne.CanvasObject {
	return newWrapper(o, func() Description { return Description{Leaf: true} }, true)
}

// WithName returns o with name, help and fault for the controls in it that have none of
// their own. fault may be nil.
func WithName(o fyne.CanvasObject, name, help string, fault func() string) fyne.CanvasObject {
	return newWrapper(o, func() Description {
		s := Description{Name: name, Help: help}
		if fault != nil {
			s.Fault = fault()
		}
		return s
	}, true)
}

// NameOf returns the description that WithName gave the controls in o, false for any other object.
func NameOf(o fyne.CanvasObject) (Description, bool) {
	if a, ok := o.(*wrapper); ok && a.named {
		return a.describe(), true
	}
	return Description{}, false
}

// CreateRenderer implements fyne.Widget.
func (a *wrapper) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(layout.NewStackLayout(), a.o))
}

// Describe implements Describer.
func (a *wrapper) Describe() Description { return a.describe() }

// DescriptionOf returns an object's description, its own or that of its type; false for one that only
// contains others, or has nothing to describe.
func DescriptionOf(o fyne.CanvasObject) (Description, bool) {
	switch o := o.(type) {
	case *wrapper:
		return o.describe(), !o.named
	case Describer:
		return o.Describe(), true
	case *widget.Button:
		return Button(o), true
	case *widget.Entry:
		return Entry(o), true
	case *widget.SelectEntry:
		s := Entry(&o.Entry)
		s.Sibling = o.ActionItem
		return s, true
	case *widget.Check:
		return Check(o), true
	case *widget.Select:
		return Select(o), true
	case *widget.Label:
		return Text(o.Text, LevelOf(o.SizeName)), o.Text != ""
	case *widget.RichText:
		s := richText(o.Segments)
		return Text(s, 0), s != ""
	case *widget.PopUp:
		return Description{Role: screenreader.Dialog}, true
	case *widget.PopUpMenu:
		return Description{Role: screenreader.Menu, State: screenreader.Focusable}, true
	}
	return menuItem(o)
}

// Text describes plain text; a heading if level is 1 or more.
func Text(s string, level int) Description {
	if level > 0 {
		return Description{Role: screenreader.Heading, Level: level, Name: s, Leaf: true}
	}
	return Description{Role: screenreader.Label, Name: s, Leaf: true}
}

func richText(all []widget.RichTextSegment) string {
	var b strings.Builder
	for _, s := range all {
		switch s := s.(type) {
		case *widget.ListSegment:
			for _, item := range s.Items {
				b.WriteString("\n" + richText([]widget.RichTextSegment{item}))
			}
		case *widget.ParagraphSegment:
			b.WriteString(richText(s.Texts))
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
func Button(b *widget.Button) Description {
	return Description{Role: screenreader.Button, State: screenreader.Focusable, Name: b.Text, Disabled: b.Disabled(), Leaf: true}
}

// Check describes Fyne's check.
func Check(c *widget.Check) Description {
	s := Description{Role: screenreader.CheckBox, State: screenreader.Focusable, Name: c.Text, Disabled: c.Disabled(), Leaf: true}
	if c.Checked {
		s.State |= screenreader.Checked
	}
	return s
}

// Select describes Fyne's select.
func Select(c *widget.Select) Description {
	s := Description{Role: screenreader.ComboBox, State: screenreader.Focusable, Value: c.Selected, Disabled: c.Disabled(), Leaf: true}
	if c.Selected != "" {
		s.Parts = []Part{{Description: Description{Role: screenreader.Item, State: screenreader.Selected, Name: c.Selected,
			Key: c.Selected, Leaf: true}, Size: c.Size()}}
	}
	return s
}

// Entry describes Fyne's entry; never any text of one that shows dots.
func Entry(e *widget.Entry) Description {
	s := Description{Role: screenreader.Entry, State: screenreader.Focusable, Value: e.Text, Hint: e.PlaceHolder,
		Disabled: e.Disabled(), Caret: e.CursorTextOffset(), Leaf: true}
	if e.MultiLine {
		s.State |= screenreader.Multiline
	}
	text, marked := []rune(e.Text), len([]rune(e.SelectedText()))
	if s.Caret = min(s.Caret, len(text)); marked > 0 { // Fyne reports what is selected, not where
		s.Selection = [2]int{s.Caret, min(s.Caret+marked, len(text))}
		if from := s.Caret - marked; from >= 0 && string(text[from:s.Caret]) == e.SelectedText() {
			s.Selection = [2]int{from, s.Caret}
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
