package linktest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/softphone/link"
)

// Exchange is what the tests of every exchange need of its fake.
type Exchange struct {
	Ring func() // has a call come
	// Listen runs the link, with how often it asks whether the exchange is there and
	// how long that may say nothing; zero is as usual.
	Listen  func(ping, silence time.Duration) *Watch
	Restart func()         // breaks off and comes back, without the call
	HangUp  func()         // ends the call and tells nobody
	Deaf    func(bool)     // from now on it answers nothing, or does again
	Last    func(w *Watch) // has another call come, and sees it told
	Ended   string         // how the link tells of the first call's end
}

// Restarts: the call that was on is over, and the link comes back.
func (x Exchange) Restarts() {
	x.Ring()
	w := x.Listen(0, 0)
	w.Until(link.Connected)
	w.Next()
	x.Restart()
	w.Until(link.Waiting)
	w.Until(link.Connected)
	w.Expect(x.Ended)
	x.Last(w)
}

// Sleeps: the computer has slept, the call that was on is over, and nobody has
// told us.
func (x Exchange) Sleeps() {
	x.Ring()
	w := x.Listen(0, 0)
	w.Until(link.Connected)
	w.Next()
	x.HangUp()
	w.Wake <- struct{}{}
	w.Expect(x.Ended)
	w.Until(link.Connected)
}

// FallsSilent: a connection of which the other end says nothing any more.
func (x Exchange) FallsSilent(t testing.TB) {
	t.Helper()
	x.Deaf(true)
	w := x.Listen(50*time.Millisecond, 500*time.Millisecond)
	w.Until(link.Connected)
	if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), ": it does not answer in time") {
		t.Error(s.Err)
	}
	x.Deaf(false)
	w.Until(link.Connected)
	x.Last(w)
}

// Refused waits until the link is refused, for the reason that is wanted.
func (w *Watch) Refused(want string) {
	w.t.Helper()
	var refusal *link.Refusal
	if s := w.Until(link.Refused); !errors.As(s.Err, &refusal) || s.Err.Error() != want {
		w.t.Errorf("%v", s.Err)
	}
}
