package xtest

import (
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/testutil/must"
)

// Changes returns a channel that receives when something on the screen has been painted.
// Unlike polling, waiting for it takes no time from the painting program.
func (s *Server) Changes() <-chan struct{} {
	s.t.Helper()
	c := must.Get(xgb.NewConnDisplay(s.Display))(s.t)
	s.t.Cleanup(c.Close)
	const name = "DAMAGE"
	r := must.Get(xproto.QueryExtension(c, uint16(len(name)), name).Reply())(s.t)
	c.ExtLock.Lock()
	c.Extensions[name] = r.MajorOpcode
	c.ExtLock.Unlock()
	// The server speaks this extension only with clients that have asked for its version.
	must.Get(damage.QueryVersion(c, 1, 1).Reply())(s.t)
	id := must.Get(damage.NewDamageId(c))(s.t)
	must.Do(s.t, damage.CreateChecked(c, id, xproto.Drawable(s.root), damage.ReportLevelRawRectangles).Check())
	changed := make(chan struct{}, 1)
	go func() {
		for {
			if e, err := c.WaitForEvent(); e == nil && err == nil {
				return // the connection is closed
			}
			wake.Up(changed)
		}
	}()
	return changed
}

// When waits until ok returns true, checking after each change of the screen.
func (s *Server) When(changed <-chan struct{}, what string, ok func() bool) {
	s.t.Helper()
	must.When(s.t, changed, what, func() (bool, any) { return ok(), "another picture" })
}
