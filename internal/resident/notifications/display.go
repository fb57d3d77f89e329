package notifications

import (
	"image"

	"wiebelt/internal/native/window"
)

// Display replaces a desktop that accepts none of our windows: it has one monitor
// and supports nothing.
type Display struct{}

func (Display) NewCard(window.CardHandler) (window.Card, error) { return nil, window.ErrWayland }
func (Display) Monitors() []window.Monitor {
	r := image.Rect(0, 0, 1024, 768)
	return []window.Monitor{{Name: "none", Area: r, Work: r, Scale: 1}}
}
func (Display) Active() int                     { return 0 }
func (Display) Appearance() window.Appearance   { return window.Appearance{} }
func (Display) FullScreen(image.Rectangle) bool { return false }
func (Display) Kind() window.Kind               { return "" }
func (Display) Hotkey(string, string, func(), func(error)) (func(), error) {
	return nil, window.ErrUnsupported
}
func (Display) Copy(string) error     { return window.ErrUnsupported }
func (Display) Done() <-chan struct{} { return nil }
func (Display) Close() error          { return nil }
