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

// Plain is a label without its padding, so that it stands on the grid.
func Plain(s string, size fyne.ThemeSizeName, i widget.Importance) fyne.CanvasObject {
	return wrapped(s, size, i, fyne.TextStyle{})
}

func wrapped(s string, size fyne.ThemeSizeName, i widget.Importance, style fyne.TextStyle) fyne.CanvasObject {
	label := widget.NewLabelWithStyle(s, fyne.TextAlignLeading, style)
	label.SizeName, label.Importance, label.Wrapping = size, i, fyne.TextWrapWord
	return Padded(-8, -8, -8, -8, label)
}

// Running is text to read, wrapped.
func Running(s string) fyne.CanvasObject { return Plain(s, base.SizeNameText, widget.MediumImportance) }

// Paragraph is muted text that wraps: low importance is muted in our theme.
func Paragraph(s string) fyne.CanvasObject { return Plain(s, theme.SizeHint, widget.LowImportance) }

// Hint is text that wraps, as large as a paragraph and not muted.
func Hint(s string) fyne.CanvasObject { return Plain(s, theme.SizeHint, widget.MediumImportance) }

// Small is small muted text that wraps.
func Small(s string) fyne.CanvasObject {
	return Plain(s, base.SizeNameCaptionText, widget.LowImportance)
}

// Title is the title of a window or a page.
func Title(s string) *TextLine {
	return NewTextLine(s, base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting()
}

// Subtitle is the title of a part of a page.
func Subtitle(s string) *TextLine {
	return NewTextLine(s, theme.SizeStart, base.ColorNameForeground, true).Cutting()
}

// Caption is a small muted line above what it is about.
func Caption(s string) *TextLine {
	return NewTextLine(s, base.SizeNameCaptionText, base.ColorNamePlaceHolder, false).Cutting()
}

// Bold is bold text that wraps.
func Bold(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	return wrapped(s, size, widget.MediumImportance, fyne.TextStyle{Bold: true})
}

// BigLine is the answer's first line. It wraps: a name is never cut here.
func BigLine(s string) fyne.CanvasObject { return Bold(s, base.SizeNameHeadingText) }

// Marked is a mark and what it stands for, the mark on the first line.
func Marked(m Mark, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(Columns(SignWidth), Padded(4, 0, 0, 0, container.NewVBox(NewShape(m))), o)
}

// Signed is a mark at the left border and what it stands for; the mark stands a little
// below the top, beside the first line.
func Signed(m Mark, below float32, o fyne.CanvasObject) fyne.CanvasObject {
	mark := container.NewVBox(container.NewHBox(NewShape(m)))
	return container.New(Columns(SignWidth), Padded(below, 0, 0, 0, mark), o)
}

// Beside is words and a button at their right, at half height.
func Beside(words, button fyne.CanvasObject, gap float32) fyne.CanvasObject {
	return container.NewBorder(nil, nil, nil, Padded(0, 0, gap, 0, container.NewCenter(button)),
		container.New(Middle(), words))
}

// Trouble is a sentence with the mark of trouble, which screen readers say.
func Trouble(s string) fyne.CanvasObject {
	return explore.News(Marked(MarkTrouble, Plain(s, theme.SizeHint, widget.WarningImportance)))
}

// Fact is a label and what there is to say, side by side.
func Fact(label, s string) fyne.CanvasObject {
	head := NewTextLine(label, theme.SizeHint, base.ColorNamePlaceHolder, false)
	return container.New(Columns(labelWidth), container.NewVBox(head), Hint(s))
}

// Join puts what is not empty behind each other, with dots between.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}
