package theme

import (
	"image/color"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"
)

// Names of colours missing from Fyne's own theme.
const (
	ColorQuiet fyne.ThemeColorName = "wiebelt-quiet" // nothing to do
	ColorSoft  fyne.ThemeColorName = "wiebelt-soft"  // secondary buttons, tags
	ColorMuted                     = base.ColorNamePlaceHolder
	ColorLine                      = base.ColorNameSeparator
)

// Names of text sizes missing from Fyne's own theme. Text has the size base.SizeNameText
// (14), captions base.SizeNameCaptionText (12) and titles base.SizeNameHeadingText (22).
const (
	SizeRow   fyne.ThemeSizeName = "wiebelt-row"   // the name in a row of a list
	SizeHint  fyne.ThemeSizeName = "wiebelt-hint"  // explanations
	SizeStart fyne.ThemeSizeName = "wiebelt-start" // the first line of an empty page
)

// Fyne is the Fyne theme with these colours, for ordinary windows.
type Fyne struct {
	appearance string
	high       bool
}

var _ fyne.Theme = Fyne{}

// New returns the theme of an appearance: "light", "dark", or anything
// else for the desktop's.
func New(appearance string) Fyne { return Fyne{appearance: appearance} }

// HighContrast returns the theme with high contrast on or off.
func (t Fyne) HighContrast(on bool) Fyne {
	t.high = on
	return t
}

// Dark reports whether the theme is dark when the desktop requests variant v.
func (t Fyne) Dark(v fyne.ThemeVariant) bool {
	switch t.appearance {
	case "light":
		return false
	case "dark":
		return true
	}
	return v == base.VariantDark
}

// Color implements fyne.Theme.
func (t Fyne) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	dark := t.Dark(v)
	c := Pick(dark, t.high)
	switch name {
	case base.ColorNameBackground, base.ColorNameOverlayBackground, base.ColorNameHeaderBackground:
		return c.Background
	case base.ColorNameForeground:
		return c.Ink
	case ColorMuted, base.ColorNameDisabled:
		return c.Muted
	case ColorQuiet:
		return c.Quiet
	case ColorLine, base.ColorNameInputBorder:
		return c.Line
	case ColorSoft, base.ColorNameButton, base.ColorNameDisabledButton, base.ColorNameMenuBackground,
		base.ColorNameInputBackground:
		return c.Soft
	case base.ColorNamePrimary, base.ColorNameHyperlink:
		return c.Accent
	case base.ColorNameForegroundOnPrimary, base.ColorNameForegroundOnError, base.ColorNameForegroundOnSuccess,
		base.ColorNameForegroundOnWarning:
		return c.OnAccent
	case base.ColorNameSuccess:
		return c.InCall
	case base.ColorNameWarning:
		return c.Trouble
	case base.ColorNameError:
		return c.Refused
	}
	if over := t.over(name, v, c); over != nil {
		return over
	}
	if v = base.VariantLight; dark {
		v = base.VariantDark
	}
	return base.DefaultTheme().Color(name, v)
}

// over returns the translucent colours that are drawn over something else, nil for others.
func (t Fyne) over(name fyne.ThemeColorName, v fyne.ThemeVariant, c Colours) color.Color {
	switch name {
	case base.ColorNameHover:
		return withAlpha(c.Ink, 0x0f)
	case base.ColorNamePressed:
		return withAlpha(c.Ink, 0x1f)
	case base.ColorNameFocus, base.ColorNameSelection:
		return withAlpha(c.Accent, 0x40)
	case base.ColorNameScrollBar:
		return withAlpha(c.Ink, 0x4d)
	case base.ColorNameShadow: // of menus, which would otherwise merge with what is below them
		switch {
		case t.Dark(v) && t.high:
			return withAlpha(c.Ink, 0x55)
		case t.Dark(v):
			return color.NRGBA{A: 0x90}
		}
		return color.NRGBA{A: 0x38}
	case base.ColorNameScrollBarBackground:
		return color.Transparent
	}
	return nil
}

// Size implements fyne.Theme.
func (t Fyne) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case base.SizeNameText:
		return 14
	case base.SizeNameCaptionText:
		return 12
	case base.SizeNameHeadingText:
		return 22
	case base.SizeNameSubHeadingText, SizeStart:
		return 16
	case SizeRow:
		return 15
	case SizeHint:
		return 13
	case base.SizeNamePadding:
		return 4
	case base.SizeNameInnerPadding:
		return 8
	case base.SizeNameInputRadius, base.SizeNameButtonRadius, base.SizeNameCardRadius, base.SizeNameSelectionRadius,
		base.SizeNameDialogRadius, base.SizeNamePopupRadius, base.SizeNameMenuRadius:
		return 4
	case base.SizeNameSeparatorThickness, base.SizeNameInputBorder:
		return 1
	}
	return base.DefaultTheme().Size(name)
}

// Font implements fyne.Theme with Fyne's own font, which the cards use too.
func (t Fyne) Font(style fyne.TextStyle) fyne.Resource { return base.DefaultTheme().Font(style) }

// Icon implements fyne.Theme.
func (t Fyne) Icon(name fyne.ThemeIconName) fyne.Resource { return base.DefaultTheme().Icon(name) }

func withAlpha(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}
