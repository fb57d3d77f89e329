package baresip_test

import (
	"testing"
	"time"

	"wiebelt/internal/softphone/baresip"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

func connect(t *testing.T, address string) *linktest.Watch {
	t.Helper()
	return linktest.Run(t, must.Get(baresip.New(address))(t))
}

func TestReal(t *testing.T) {
	t.Parallel()
	b := phonetest.New(t)
	linktest.RealPhone{Phone: b, Link: func() *linktest.Watch { return connect(t, b.Control) }, Line: "sip:101@127.0.0.1", Refuses: true}.Run(t)
}

// TestRealSecondClient: with two programs on one phone, baresip
// only serves the newer one. The link must stand back, not compete.
func TestRealSecondClient(t *testing.T) {
	t.Parallel()
	_, ctrl := phonetest.StartBaresip(t)
	first := connect(t, ctrl)
	first.Until(link.Connected)
	second := connect(t, ctrl)
	// Whichever is kicked twice first stands back, and the other stays connected.
	limit := time.After(must.Patience)
	for {
		select {
		case s := <-first.States:
			if s.Phase == link.Kicked {
				return
			}
		case s := <-second.States:
			if s.Phase == link.Kicked {
				return
			}
		case <-limit:
			t.Fatal("neither stood back")
		}
	}
}
