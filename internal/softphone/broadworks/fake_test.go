package broadworks

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

// me is the account's user.
var me = linktest.Known.User

// exchange is a BroadWorks that can be stopped and started.
type exchange struct {
	*simulate.BroadWorks
	t testing.TB
}

func newExchange(t testing.TB) *exchange {
	return &exchange{linktest.Start(t, nil, simulate.StartBroadWorks), t}
}

func (x *exchange) restart() {
	x.BroadWorks = linktest.Start(x.t, &x.BroadWorks, simulate.StartBroadWorks)
}

// has sets a user's call by its id; an empty call removes it.
func (x *exchange) has(user, id, call string) {
	x.With(func() {
		if x.Calls[user] == nil {
			x.Calls[user] = map[string]string{}
		}
		if x.Calls[user][id] = call; call == "" {
			delete(x.Calls[user], id)
		}
	})
}

// office adds users to the group, and returns an account that follows the extensions 1xx.
func (x *exchange) office() exchangelink.Account {
	x.With(func() {
		x.Users = append(x.Users, simulate.BroadWorksUser{ID: "bob@kantoor.example", Extension: "102"}, simulate.BroadWorksUser{ID: "buur@kantoor.example", Extension: "201"}, simulate.BroadWorksUser{ID: "deur@kantoor.example"})
	})
	a := linktest.Account(x.Address())
	a.Extension, a.Hears = "", func(e string) bool { return strings.HasPrefix(e, "1") }
	return a
}

func (x *exchange) link() *linktest.Watch { return listen(x.t, linktest.Account(x.Address())) }

// listen runs a link until the test ends.
var listen = linktest.Listen(New, func(p *phone) { p.again = 0 })

// half1 returns a call of the user, with its remote party and further elements.
func half1(state string, more ...string) string {
	return simulate.BroadWorksCall("callhalf-1:0", "1:1", "Terminator", state, customer, strings.Join(more, ""))
}

var (
	customer  = simulate.BroadWorksParty("J. de Vries", "+31612345678")
	reception = simulate.BroadWorksParty("Receptie", "100")
)

const (
	rings = "ringing incoming #callhalf-1:0 +31612345678 (J. de Vries)"
	lastr = "ringing incoming #callhalf-last:0 0201234599"
)

// last marks the end: once this call arrives, everything before it has been received.
func (x *exchange) last(w *linktest.Watch) {
	x.t.Helper()
	x.Report(me, "CallReceivedEvent", simulate.BroadWorksCall("callhalf-last:0", "99:1", "Terminator", "Alerting", simulate.BroadWorksParty("", "0201234599"), ""))
	w.Expect(lastr)
}

// TestExchange runs the common tests of links to exchanges.
func TestExchange(t *testing.T) {
	t.Parallel()
	linktest.ExchangeTests{
		Ended:   strings.Replace(rings, "ringing", "ended", 1),
		Hostile: hostile(330),
		Breaks: map[string]func(*linktest.Exchange){
			"document too large": func(e *linktest.Exchange) { e.Send("<xsi:Event>" + strings.Repeat("y", 300<<10)) },
			"cut":                func(e *linktest.Exchange) { e.Fake.(*exchange).Break() },
			"ended":              func(e *linktest.Exchange) { e.Fake.(*exchange).EndChannels("NonResponsiveChannel") },
			"ended with words":   func(e *linktest.Exchange) { e.Fake.(*exchange).EndChannels("number " + linktest.Number) },
			"unsubscribed":       func(e *linktest.Exchange) { e.Fake.(*exchange).Drop() },
		},
		Losses: []func(*linktest.Exchange){
			func(e *linktest.Exchange) { e.Fake.(*exchange).Break() },
			func(e *linktest.Exchange) { e.Fake.(*exchange).EndChannels("Expired") },
			func(e *linktest.Exchange) { e.Fake.(*exchange).Drop() },
		},
		Denied: "BroadWorks does not accept the user and password (401)", NoSecret: "no password of BroadWorks is stored",
		Refusals: map[string]linktest.Refusal{
			"no rights": {Answer: linktest.Status(events+"/user", http.StatusForbidden),
				Want: "BroadWorks does not let this user follow the calls (403)", Cause: link.CauseRights},
			"no channels": {Answer: linktest.Status(comet, http.StatusForbidden),
				Want: "BroadWorks does not let this user follow the calls (403)", Cause: link.CauseRights},
			"another version": {Answer: linktest.Status(comet, http.StatusNotFound), Waits: true,
				Want: "it does not offer version 2.0 of Xsi-Events there (404)", Cause: link.CauseVersion},
			"overloaded": {Answer: linktest.Status(comet, http.StatusServiceUnavailable), Waits: true,
				Want: "it answers with status 503", Cause: link.CauseFault},
			"another program": {Answer: linktest.Says(comet+"/channel", "<html><body/></html>"), Waits: true,
				Want: "what it answers is no channel", Cause: link.CauseUnexpected},
			"no subscription": {Answer: linktest.Says(events+user(me), "<Subscription/>"), Waits: true,
				Want: "what it answers is no subscription", Cause: link.CauseUnexpected},
			"nobody tells a thing": {Answer: linktest.Says(events+user(me), "not XML"), Waits: true,
				Want: "its answer cannot be read", Cause: link.CauseUnexpected},
		},
		Paths:   []string{"/com.broadsoft.xsi-actions", "/com.broadsoft.xsi-events", "/com.broadsoft.async"},
		Private: []string{"/com.broadsoft", "JSESSIONID"},
		New: func(t testing.TB) *linktest.Exchange {
			x := newExchange(t)
			return &linktest.Exchange{
				Fake: x, Restart: x.restart,
				Link:   func(a exchangelink.Account) *linktest.Watch { return listen(t, a) },
				Ring:   func() { x.has(me, "callhalf-1:0", half1("Alerting")) },
				HangUp: func() { x.has(me, "callhalf-1:0", "") },
				Send:   func(message string) { x.Send(message) },
				Call: func(n int) (string, func()) {
					id := fmt.Sprintf("callhalf-%d:7", n)
					tell := func(kind, state string) {
						x.Report(me, kind, simulate.BroadWorksCall(id, "77:1", "Terminator", state, customer, ""))
					}
					tell("CallReceivedEvent", "Alerting")
					return id, func() { tell("CallReleasedEvent", "Released") }
				},
			}
		},
	}.Run(t)
}

func TestMain(m *testing.M) { linktest.Main(m) }
