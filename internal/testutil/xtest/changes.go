package xtest

import (
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xproto"
)

// Changes tells when something on the screen has been painted. Who waits for it
// takes nothing from the program that paints, as one who looks without a pause
// does.
func (s *Server) Changes() <-chan struct{} {
	s.t.Helper()
	c, err := xgb.NewConnDisplay(s.Display)
	if err != nil {
		s.t.Fatalf("xtest: %v", err)
	}
	s.t.Cleanup(c.Close)
	id := damage.Damage(0)
	const name = "DAMAGE"
	r, err := xproto.QueryExtension(c, uint16(len(name)), name).Reply()
	if err == nil {
		c.ExtLock.Lock()
		c.Extensions[name] = r.MajorOpcode
		c.ExtLock.Unlock()
		// The server speaks it only with those who have asked for its version.
		if _, err = damage.QueryVersion(c, 1, 1).Reply(); err == nil {
			if id, err = damage.NewDamageId(c); err == nil {
				err = damage.CreateChecked(c, id, xproto.Drawable(s.root), damage.ReportLevelRawRectangles).Check()
			}
		}
	}
	if err != nil {
		s.t.Fatalf("xtest: damage: %v", err)
	}
	changed := make(chan struct{}, 1)
	go func() {
		for {
			if e, err := c.WaitForEvent(); e == nil && err == nil {
				return // closed
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed
}

// When waits until ok answers true, asking after each change of the screen, and
// fails the test after Patience.
func (s *Server) When(changed <-chan struct{}, what string, ok func() bool) {
	s.t.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	for !ok() {
		select {
		case <-changed:
		case <-late.C:
			s.t.Fatal("never:", what)
		}
	}
}
