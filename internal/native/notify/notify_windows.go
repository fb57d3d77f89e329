package notify

import "context"

// Notifier is unused on this system: cards always have a window here.
type Notifier struct{}

// Open returns ErrUnsupported.
func Open(context.Context, func(tag, action string)) (*Notifier, error) {
	return nil, ErrUnsupported
}

// Show cannot be called: there is no Notifier.
func (*Notifier) Show(string, Notice) error { return ErrClosed }

// Withdraw does nothing.
func (*Notifier) Withdraw(string) error { return nil }

// Close does nothing.
func (*Notifier) Close() {}
