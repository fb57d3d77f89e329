// Package theme holds the colours, sizes and fonts of every window, and the Fyne
// theme made of them. Immutable; safe for concurrent use.
package theme

import "image/color"

// Colours are the colours of one appearance, named by what they mean.
type Colours struct {
	Background, Ink, Muted, Line, Soft color.NRGBA
	Accent, OnAccent                   color.NRGBA // ringing, primary button, links
	InCall                             color.NRGBA
	Trouble                            color.NRGBA // could not look up
	Refused                            color.NRGBA // credentials refused
	Quiet                              color.NRGBA // nothing to act on
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

// Of gives the colours of an appearance.
func Of(dark bool) Colours {
	if dark {
		return Dark
	}
	return Light
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}
