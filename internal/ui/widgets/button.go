package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
)

// Button is a button that both Enter and the space bar press. Its window shows that it has
// the focus. A click removes the focus again.
type Button struct {
	widget.Button
	Subject string // what it is about, for screen readers; "" where its words say that
}

// NewButton returns a button with a label.
func NewButton(label string, do func()) *Button { return NewButtonWithIcon(label, nil, do) }

// NewPrimary returns the button for the most likely action; a window has one.
func NewPrimary(label string, do func()) *Button {
	return buttonWithImportance(label, widget.HighImportance, do)
}

// NewQuiet returns a button for a rare action, as wide as its label.
func NewQuiet(label string, do func()) *Button {
	return buttonWithImportance(label, widget.LowImportance, do)
}

func buttonWithImportance(label string, weight widget.Importance, do func()) *Button {
	b := NewButton(label, do)
	b.Importance = weight
	return b
}

// NewButtonWithIcon returns a button with an icon and a label.
func NewButtonWithIcon(label string, icon fyne.Resource, do func()) *Button {
	b := &Button{}
	b.Text, b.Icon, b.OnTapped = label, icon, do
	b.ExtendBaseWidget(b)
	return b
}

// CopyButton returns a button that copies a text, and says so for a moment.
func (h *Host) CopyButton(label, copied text.Key, what func() string) *Button {
	l, said := h.Lang, false
	b := NewButton(l.T(label), nil)
	b.OnTapped = func() {
		h.App.Clipboard().SetContent(what())
		ShowFor(h, CopiedFor, &said, true, func() { b.SetText(l.T(Either(said, copied, label))) })
	}
	return b
}

// FocusGained implements fyne.Focusable. Fyne would paint the button paler.
func (*Button) FocusGained() {}

// FocusLost implements fyne.Focusable.
func (*Button) FocusLost() {}

// TypedKey implements fyne.Focusable.
func (b *Button) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if !b.Disabled() && b.OnTapped != nil {
			b.OnTapped() // Tapped would take the focus from keyboard users
		}
	case fyne.KeyEscape:
		PassEscape(b, e)
	default:
		b.Button.TypedKey(e)
	}
}

// Describe implements explore.Describer.
func (b *Button) Describe() explore.Description {
	s := explore.Button(&b.Button)
	switch {
	case b.Subject != "" && b.Text != "":
		s.Name += ": " + b.Subject
	case b.Subject != "": // it has only an icon
		s.Name = b.Subject
	}
	return s
}
