package e2e

import (
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/phonetest"
)

// TestQuickRestarts: a softphone that is started anew at once, again and again,
// as by a script or after a crash, is linked again within two seconds each time,
// and is never taken for one that another program uses.
func TestQuickRestarts(t *testing.T) {
	t.Parallel()
	b := phonetest.New(t)
	o := newOffice(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+b.Control+"\"")
	ups := func() int { return strings.Count(o.log.String(), "state=connected") }
	o.Until("the link is up", func() bool { return ups() == 1 })
	for n := 1; n <= 4; n++ {
		before := ups()
		b.Stop()
		stopped := time.Now()
		b.Restart(t)
		back := time.Now()
		o.Until("the link is up again", func() bool { return ups() > before })
		d := time.Since(back)
		t.Logf("restarted in %v, linked %v later", back.Sub(stopped).Round(time.Millisecond), d.Round(time.Millisecond))
		if d > 2*time.Second {
			t.Errorf("the link came back after %v", d)
		}
	}
	if strings.Contains(o.log.String(), "state=kicked") {
		t.Error("taken for a phone that another program uses")
	}
	phonetest.Place(t, b.SIP, phonetest.Scenario{Number: "+31698760011", Ring: time.Minute})
	o.shows("a card by the link", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
}
