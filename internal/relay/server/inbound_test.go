package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// connects makes an Asterisk connect to the relay by itself.
func (o *office) connects() *simulate.ARI {
	a := simulate.OutboundARI()
	a.Connect(o.t.Context(), "wss"+strings.TrimPrefix(o.at.Web, "https")+"/in/"+o.secret+"/"+registry.ARIOutbound)
	o.t.Cleanup(func() { _ = a.Close() })
	return a
}

func (o *office) linkIs(state string) (is wire.LinkState) {
	o.t.Helper()
	must.Soon(o.t, func() (bool, any) {
		all := o.status().Links
		i := slices.IndexFunc(all, func(l wire.LinkState) bool { return l.State == state })
		if i >= 0 {
			is = all[i]
		}
		return i >= 0, all
	})
	return is
}

// TestInboundLost: an Asterisk that connects by itself is received again as soon as it is
// back, twenty times, even if its previous connection hangs. A call that began meanwhile
// rings, one that ended is over.
func TestInboundLost(t *testing.T) {
	t.Parallel()
	o := start(t)
	a := o.connects()
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	if s := o.linkIs(link.Connected.String()); s.Kind != registry.ARIOutbound {
		t.Errorf("%+v", s)
	}
	for i := range 20 {
		id, possible := fmt.Sprint("17.", i), time.Now()
		var gone *simulate.ARI
		if i%5 < 4 {
			a.With(func() { clear(a.Channels) })
			a.EachSocket(linktest.Cut)
		} else { // it restarts elsewhere, and the previous connection hangs
			a.IgnorePings(true)
			a.EachSocket(linktest.Cut)
			o.linkIs(link.Waiting.String())
			o.linkIs(link.Connected.String())
			gone = a
			possible = time.Now()
			a = o.connects()
		}
		linktest.AtAsterisk(a, id, "101", "0698760011", call.Ringing)
		for rang, over := false, i == 0; !rang || !over; {
			switch e := anna.Next(); {
			case !rang && strings.HasSuffix(e.ID, "/"+id) && e.State == call.Ringing:
				rang = true
				must.Within(t, possible, 2*time.Second+simulate.ReconnectInterval)
			case strings.HasSuffix(e.ID, fmt.Sprint("/17.", i-1)) && e.State == call.Ended:
				over = true
			}
		}
		if gone != nil {
			_ = gone.Close()
		}
	}
}

// TestInboundSecond: while an exchange is connected, no second one is admitted; one without
// the secret never is, and other protocols get an error. If another program takes over the
// exchange's application, the status shows that, with the cause.
func TestInboundSecond(t *testing.T) {
	o := start(t)
	if len(o.status().Links) > 0 {
		t.Errorf("%+v", o.status().Links)
	}
	get := func(path string) int {
		t.Helper()
		a := must.Get(o.http.Get(o.at.Web + path))(t)
		_ = a.Body.Close()
		return a.StatusCode
	}
	for path, want := range map[string]int{"/in/x/": http.StatusNotFound, "/in/" + o.secret + "/": http.StatusBadRequest} {
		if got := get(path + registry.ARIOutbound); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	a := o.connects()
	o.linkIs(link.Connected.String())
	if got := get("/in/" + o.secret + "/" + registry.ARIOutbound); got != http.StatusConflict {
		t.Errorf("a second one: %d", got)
	}
	a.Send(`{"type":"ApplicationUnregistered","application":"wiebelt"}`)
	if s := o.linkIs(link.Kicked.String()); s.Cause != string(link.CauseReplaced) {
		t.Errorf("%+v", s)
	}
	a.Send(`{"type":"ApplicationRegistered","application":"wiebelt"}`)
	o.linkIs(link.Connected.String())
	a.With(func() { a.RejectStatus = http.StatusForbidden })
	a.EachSocket(linktest.Cut)
	if s := o.linkIs(link.Refused.String()); s.Cause != string(link.CauseRights) {
		t.Errorf("%+v", s)
	}
	a.With(func() { a.RejectStatus = 0 })
	o.linkIs(link.Connected.String())
}
