package window

import (
	"image"
	"math"
)

// cardAsFrame receives the events of an ordinary window and calls a card's handler.
type cardAsFrame struct {
	CardHandler
	inside    bool
	wheelRest int // of the wheel's movement, in fractions of a step
}

func (h *cardAsFrame) FramePointer(p image.Point) {
	h.inside = true
	h.PointerMoved(p)
}

// FrameLeft calls PointerLeft once, however often the system reports it.
func (h *cardAsFrame) FrameLeft() {
	if h.inside {
		h.inside = false
		h.PointerLeft()
	}
}

func (h *cardAsFrame) FrameButton(p image.Point, b Button, down bool, _ Modifiers) {
	if down {
		h.PointerPressed(p, b)
	} else {
		h.PointerReleased(p, b)
	}
}

// FrameScrolled accumulates the small steps of fine wheels into whole ones.
func (h *cardAsFrame) FrameScrolled(p image.Point, _, dy float32) {
	const parts = 120 // Windows' units per step
	h.wheelRest += int(math.Round(float64(dy) * parts))
	if n := h.wheelRest / parts; n != 0 {
		h.wheelRest -= n * parts
		h.Scrolled(p, n)
	}
}

// FrameKey passes on presses of keys that write or have a meaning for a card. On Windows, Ctrl
// and Alt with a letter are AltGr, which arrives as the text that it writes.
func (h *cardAsFrame) FrameKey(e KeyEvent) {
	k := KeyPress{Key: e.Key, Text: e.Text, Ctrl: e.Held&ModCtrl != 0, Shift: e.Held&ModShift != 0, Alt: e.Held&ModAlt != 0}
	if k.Key == KeySpace {
		k.Key = KeyText
	}
	if k.Key == KeyText && k.Ctrl != k.Alt && k.Text == "" && e.Letter != 0 {
		k.Text = string(e.Letter)
	}
	switch {
	case !e.Down, k.Key >= KeyInsert, k.Key == KeyText && (k.Text == "" || e.Held&ModSuper != 0):
	default:
		h.KeyPressed(k)
	}
}

// FrameFocus passes on the loss of focus; gaining it is not reported.
func (h *cardAsFrame) FrameFocus(has bool) {
	if !has {
		h.KeyboardGone()
	}
}

func (h *cardAsFrame) FrameDisplayChanged() { h.DisplayChanged() }

// Events that cards do not have.
func (*cardAsFrame) FrameResized(image.Point)           {}
func (*cardAsFrame) FrameClosing()                      {}
func (*cardAsFrame) FrameDropped(image.Point, []string) {}
