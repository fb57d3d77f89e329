package resident

import (
	"image"

	"wiebelt/internal/native/window"
)

// noDisplay stands in for a desktop that takes no windows of ours: it has one
// monitor, and nothing can be done on it.
type noDisplay struct{}

func (noDisplay) New(window.Handler) (window.Window, error) { return nil, window.ErrWayland }
func (noDisplay) Monitors() []window.Monitor {
	r := image.Rect(0, 0, 1024, 768)
	return []window.Monitor{{Name: "none", Area: r, Work: r, Scale: 1}}
}
func (noDisplay) Active() int                           { return 0 }
func (noDisplay) Dark() bool                            { return false }
func (noDisplay) HighContrast() bool                    { return false }
func (noDisplay) Hotkey(string, func()) (func(), error) { return nil, window.ErrUnsupported }
func (noDisplay) Copy(string) error                     { return window.ErrUnsupported }
func (noDisplay) Done() <-chan struct{}                 { return nil }
func (noDisplay) Close() error                          { return nil }
