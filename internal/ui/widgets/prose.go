package widgets

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
)

// Plain returns a label without padding, so that it aligns with the grid.
func Plain(s string, size fyne.ThemeSizeName, i widget.Importance) fyne.CanvasObject {
	return wrapped(s, size, i, fyne.TextStyle{})
}

func wrapped(s string, size fyne.ThemeSizeName, i widget.Importance, style fyne.TextStyle) fyne.CanvasObject {
	label := widget.NewLabelWithStyle(s, fyne.TextAlignLeading, style)
	label.SizeName, label.Importance, label.Wrapping = size, i, fyne.TextWrapWord
	return Padded(-8, -8, -8, -8, label)
}

// BodyText returns running text, wrapped.
func BodyText(s string) fyne.CanvasObject {
	return Plain(s, base.SizeNameText, widget.MediumImportance)
}

// Paragraph returns muted, wrapping text: low importance is muted in our theme.
func Paragraph(s string) fyne.CanvasObject { return Plain(s, theme.SizeHint, widget.LowImportance) }

// Hint returns wrapping text, as large as a paragraph but not muted.
func Hint(s string) fyne.CanvasObject { return Plain(s, theme.SizeHint, widget.MediumImportance) }

// Small returns small, muted, wrapping text.
func Small(s string) fyne.CanvasObject {
	return Plain(s, base.SizeNameCaptionText, widget.LowImportance)
}

// Title returns the title of a window or page.
func Title(s string) *TextLine {
	return NewTextLine(s, base.SizeNameHeadingText, base.ColorNameForeground, true).Truncate()
}

// Subtitle returns the title of a section of a page.
func Subtitle(s string) *TextLine {
	return NewTextLine(s, theme.SizeStart, base.ColorNameForeground, true).Truncate()
}

// Caption returns a small muted line, to be placed above what it describes.
func Caption(s string) *TextLine {
	return NewTextLine(s, base.SizeNameCaptionText, base.ColorNamePlaceHolder, false).Truncate()
}

// Bold returns bold, wrapping text.
func Bold(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	return wrapped(s, size, widget.MediumImportance, fyne.TextStyle{Bold: true})
}

// BigLine returns the answer's first line. It wraps: names are never cut here.
func BigLine(s string) fyne.CanvasObject { return Bold(s, base.SizeNameHeadingText) }

// Listing returns text as it is typed, or as it came, that can be selected.
func Listing(s string) fyne.CanvasObject {
	label := widget.NewLabelWithStyle(s, fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	label.SizeName, label.Wrapping, label.Selectable = theme.SizeHint, fyne.TextWrapWord, true
	return Boxed(Padded(-8, -8, -8, -8, label))
}

// WithMark returns an object with a mark at its left; below is the mark's offset from the
// top, to align it with the first line.
func WithMark(m Mark, below float32, o fyne.CanvasObject) fyne.CanvasObject {
	mark := container.NewVBox(container.NewHBox(NewShape(m)))
	return container.New(Columns(MarkWidth), Padded(below, 0, 0, 0, mark), o)
}

// WithButton returns text with a vertically centred button on its right.
func WithButton(words, button fyne.CanvasObject, gap float32) fyne.CanvasObject {
	return container.NewBorder(nil, nil, nil, Padded(0, 0, gap, 0, container.NewCenter(button)),
		container.New(Middle(), words))
}

// Trouble returns a sentence with the trouble mark, which screen readers announce.
func Trouble(s string) fyne.CanvasObject {
	return explore.Announced(WithMark(MarkTrouble, HintMarkTop, Plain(s, theme.SizeHint, widget.WarningImportance)))
}

// Fact returns a label and its value, side by side.
func Fact(label, s string) fyne.CanvasObject {
	head := NewTextLine(label, theme.SizeHint, base.ColorNamePlaceHolder, false)
	return container.New(Columns(labelWidth), container.NewVBox(head), Hint(s))
}

const separator = " · " // between parts of a line

// Join joins the non-empty parts, separated by dots.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), separator)
}
