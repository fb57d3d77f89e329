//go:build linux || freebsd || netbsd || openbsd || dragonfly

package window

func (d *x11) HighContrast() bool { return false }

func (d *x11) Hotkey(string, func()) (func(), error) { return nil, ErrUnsupported }

func (w *x11Window) TakeKeyboard() error { return ErrUnsupported }

func (w *x11Window) GiveKeyboardBack() error { return nil }

func (w *x11Window) HideFromCapture(bool) error { return ErrUnsupported }
