package window

func (d *desktop) HighContrast() bool { return false }

func (d *desktop) Hotkey(string, func()) (func(), error) { return nil, ErrUnsupported }

func (w *winWindow) TakeKeyboard() error { return ErrUnsupported }

func (w *winWindow) GiveKeyboardBack() error { return nil }

func (w *winWindow) HideFromCapture(bool) error { return ErrUnsupported }
