package secret

import "testing"

// TestRealStore goes through the Credential Manager of this user.
func TestRealStore(t *testing.T) {
	s := newOSStore(dirs(t))
	defer func() { _ = s.Clear(t.Context()) }()
	everyStore(t, s)
}
