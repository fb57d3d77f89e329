package secret

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/windows"

	"wiebelt/internal/config/profile"
)

// TestRealStore goes through the Credential Manager of this user.
func TestRealStore(t *testing.T) {
	s := newRotatingStore(newOSStore(profile.Dirs{State: `C:\wiebelt-test`})) // it needs only a name from the profile
	defer func() { _ = s.Clear(t.Context()) }()
	everyStore(t, s)
	rotation(t, s)
}

// TestNoSession: error 1312 has its own state.
func TestNoSession(t *testing.T) {
	err := classify(fmt.Errorf("write: %w", windows.Errno(1312)))
	if !errors.Is(err, ErrNoSession) || StateOf(err) != NoSession {
		t.Error(err)
	}
}
