// Package theme defines the colours, sizes and fonts of all windows, and the Fyne theme
// built from them. Immutable; safe for concurrent use.
package theme

import "image/color"

// Colours are the colours of one appearance, named by meaning.
type Colours struct {
	Background, Ink, Muted, Line, Soft color.NRGBA
	Accent, OnAccent                   color.NRGBA // ringing, primary button, links
	InCall                             color.NRGBA
	Trouble                            color.NRGBA // lookup failed
	Refused                            color.NRGBA // credentials refused
	Quiet                              color.NRGBA // nothing to do
	Edge                               color.NRGBA // border of buttons, only in high contrast
}

// Light and Dark are the two appearances.
var (
	Light = Colours{
		Background: rgb(0xFFFFFF), Ink: rgb(0x1B2733), Muted: rgb(0x5B6B7B), Line: rgb(0xDDE3E9), Soft: rgb(0xF4F6F8),
		Accent: rgb(0x0B6BCB), OnAccent: rgb(0xFFFFFF),
		InCall: rgb(0x1B7F4B), Trouble: rgb(0x9A5B00), Refused: rgb(0xB3261E), Quiet: rgb(0x6B7785),
	}
	Dark = Colours{
		Background: rgb(0x1E252C), Ink: rgb(0xEEF2F6), Muted: rgb(0xA3B1BF), Line: rgb(0x34404B), Soft: rgb(0x27313A),
		Accent: rgb(0x5AA9F2), OnAccent: rgb(0x0B1A29),
		InCall: rgb(0x5CC28D), Trouble: rgb(0xE2A74A), Refused: rgb(0xF2877F), Quiet: rgb(0x94A1AE),
	}
)

// HighLight and HighDark are their variants for desktops that request high contrast: black
// and white, visible lines, and text at 7 : 1.
var (
	HighLight = Colours{
		Background: rgb(0xFFFFFF), Ink: rgb(0x000000), Muted: rgb(0x2A2A2A), Line: rgb(0x000000), Soft: rgb(0xFFFFFF),
		Accent: rgb(0x003E92), OnAccent: rgb(0xFFFFFF),
		InCall: rgb(0x00522A), Trouble: rgb(0x6B3A00), Refused: rgb(0x8C0009), Quiet: rgb(0x3D3D3D), Edge: rgb(0x000000),
	}
	HighDark = Colours{
		Background: rgb(0x000000), Ink: rgb(0xFFFFFF), Muted: rgb(0xE4E4E4), Line: rgb(0xFFFFFF), Soft: rgb(0x000000),
		Accent: rgb(0x7CC8FF), OnAccent: rgb(0x000000),
		InCall: rgb(0x7DE8AE), Trouble: rgb(0xFFC46B), Refused: rgb(0xFFA9A2), Quiet: rgb(0xD0D0D0), Edge: rgb(0xFFFFFF),
	}
)

// Pick returns the colours of an appearance, normal or high contrast.
func Pick(dark, high bool) Colours {
	switch {
	case dark && high:
		return HighDark
	case dark:
		return Dark
	case high:
		return HighLight
	}
	return Light
}

// UnderPointer returns a background as it is under the pointer.
func (c Colours) UnderPointer(back color.NRGBA) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8(float32(a) + (float32(b)-float32(a))*0.06) }
	return color.NRGBA{R: mix(back.R, c.Ink.R), G: mix(back.G, c.Ink.G), B: mix(back.B, c.Ink.B), A: 255}
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}
