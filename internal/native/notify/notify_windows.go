package notify

import "context"

// Notifier shows nothing on this system: cards always have a window here.
type Notifier struct{}

// Open says that there is none.
func Open(context.Context, func(tag, action string)) (*Notifier, error) {
	return nil, ErrUnsupported
}

// Show cannot be called: there is no Notifier.
func (*Notifier) Show(string, Notice) error { return ErrClosed }

// Withdraw has nothing to take away.
func (*Notifier) Withdraw(string) error { return nil }

// Close has nothing to end.
func (*Notifier) Close() {}
