package desk

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// plain is a label without its padding, so that it stands on the grid.
func plain(s string, size fyne.ThemeSizeName, i widget.Importance) fyne.CanvasObject {
	label := widget.NewLabel(s)
	label.SizeName = size
	label.Importance = i
	label.Wrapping = fyne.TextWrapWord
	return container.New(layout.NewCustomPaddedLayout(-8, -8, -8, -8), label)
}

// running is text to read, wrapped.
func running(s string) fyne.CanvasObject { return plain(s, base.SizeNameText, widget.MediumImportance) }

// paragraph is muted text that wraps. A label keeps an inner padding around its
// text, which is taken off so that it stands on the grid.
func paragraph(s string) fyne.CanvasObject {
	label := widget.NewLabel(s)
	label.SizeName = theme.SizeHint
	label.Importance = widget.LowImportance // muted in our theme
	label.Wrapping = fyne.TextWrapWord
	return container.New(layout.NewCustomPaddedLayout(-8, -8, -8, -8), label)
}

// bold is bold text that wraps.
func bold(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	label := widget.NewLabel(s)
	label.SizeName = size
	label.TextStyle.Bold = true
	label.Wrapping = fyne.TextWrapWord
	return container.New(layout.NewCustomPaddedLayout(-8, -8, -8, -8), label)
}

// bigLine is the answer's first line. It wraps: a name is never cut here.
func bigLine(s string) fyne.CanvasObject { return bold(s, base.SizeNameHeadingText) }

// trouble is a sentence with the mark of trouble, on the line of the text above.
func trouble(s string) fyne.CanvasObject {
	sign := newShape(markTrouble)
	return container.NewBorder(nil, nil, container.New(layout.NewCustomPaddedLayout(4, 0, 0, 4), container.NewVBox(sign)), nil,
		plain(s, theme.SizeHint, widget.WarningImportance))
}

// warning is a sentence with the mark of trouble.
func warning(s string) fyne.CanvasObject {
	sign := newShape(markTrouble)
	return container.New(columns(18), container.New(layout.NewCustomPaddedLayout(4, 0, 0, 0), container.NewVBox(sign)),
		plain(s, theme.SizeHint, widget.WarningImportance))
}

// fact is a label and what there is to say, side by side.
func fact(label, s string) fyne.CanvasObject {
	head := newWords(label, theme.SizeHint, base.ColorNamePlaceHolder, false)
	return container.New(columns(labelWidth), container.NewVBox(head), plain(s, theme.SizeHint, widget.MediumImportance))
}

func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " · ")
}

// sizeOf writes a number of bytes: "812 B", "12,4 kB", "500 MB".
func sizeOf(l text.Language, n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	i := 0
	for v >= 999.5 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	s := fmt.Sprintf("%.1f", v)
	if v >= 100 {
		s = fmt.Sprintf("%.0f", v)
	}
	if l == text.Dutch {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s + " " + units[i]
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Local().Date()
	by, bm, bd := b.Local().Date()
	return ay == by && am == bm && ad == bd
}
