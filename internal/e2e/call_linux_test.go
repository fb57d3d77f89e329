package e2e

import (
	"image"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

// TestRealCall tests the whole product: sipp calls baresip, the card shows the caller, and
// only a click opens the file.
func TestRealCall(t *testing.T) {
	t.Parallel()
	sip, control := phonetest.StartBaresip(t)
	o := prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+control+"\"")
	notes := o.opener()
	o.start()
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })

	phonetest.Place(t, sip, phonetest.Scenario{Number: "+31698760011", Name: "Iemand Anders", Ring: 90 * time.Second})
	o.shows("the card of the caller", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
	if n := len(opened(notes)); n != 0 {
		t.Fatalf("%d pages were opened by themselves", n)
	}
	button := place(foundHeight).Min.Add(image.Pt(122, 230))
	// Wait out the moment in which a click cannot have been intentional.
	o.Move(button.X, button.Y)
	meant()
	o.Click(button.X, button.Y, 1)

	want := o.hub.HubURL() + "/contacts/viewcontact/c-vries"
	o.Until("the browser is started with the link", func() bool { return len(opened(notes)) == 1 })
	if got := opened(notes)[0]; got != want {
		t.Fatalf("opened %q, want %q", got, want)
	}
}

// dial connects a phone to the listener.
func dial(o *office) *simulate.Phone {
	o.t.Helper()
	a := o.at()
	p := must.Get(simulate.Dial(o.t.Context(), a.Port, a.Token))(o.t)
	o.t.Cleanup(func() { _ = p.Close() })
	return p
}
