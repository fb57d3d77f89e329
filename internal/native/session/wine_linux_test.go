package session

import (
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows checks that the messages that Windows sends when the screen is locked set the
// state. wine accepts the registration but never locks, so the test sends the messages.
func TestWindows(t *testing.T) {
	p := winetest.New(t)
	w := p.Start(winetest.Build(t, "./testdata/winsession"))
	const free = "{Locked:false Quiet:false Presenting:false Reader:false}"
	const locked = "{Locked:true Quiet:false Presenting:false Reader:false}"
	if got := w.Wait("first "); got != free+" [WTS SHQueryUserNotificationState]" {
		t.Errorf("at first: %s", got)
	}
	for _, c := range []struct{ send, want string }{{"7", locked}, {"8", free}} {
		w.Send(c.send)
		w.Wait("now " + c.want)
	}
	w.Send("end")
	if got := w.Wait("closed "); got != "0" {
		t.Errorf("its window is still there: %s", got)
	}
}
