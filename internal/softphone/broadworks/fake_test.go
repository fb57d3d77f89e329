package broadworks

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

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
	a.Extension, a.HasExtension = "", func(e string) bool { return strings.HasPrefix(e, "1") }
	return a
}

func (x *exchange) link() *linktest.Watch { return listen(x.t, linktest.Account(x.Address())) }

// listen runs a link until the test ends.
var listen = linktest.Listen(New, func(p *phone) { p.minPollInterval = 0 })

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
			"cut":                func(e *linktest.Exchange) { e.Fake.(*exchange).CloseChannels() },
			"ended":              func(e *linktest.Exchange) { e.Fake.(*exchange).EndChannels("NonResponsiveChannel") },
			"ended with words":   func(e *linktest.Exchange) { e.Fake.(*exchange).EndChannels("number " + linktest.Number) },
			"unsubscribed":       func(e *linktest.Exchange) { e.Fake.(*exchange).EndSubscriptions() },
		},
		Losses: []func(*linktest.Exchange){
			func(e *linktest.Exchange) { e.Fake.(*exchange).CloseChannels() },
			func(e *linktest.Exchange) { e.Fake.(*exchange).EndChannels("Expired") },
			func(e *linktest.Exchange) { e.Fake.(*exchange).EndSubscriptions() },
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
				Want: "it answers with status 503", Cause: link.CauseUnavailable},
			"another program": {Answer: linktest.Says(comet+"/channel", "<html><body/></html>"), Waits: true,
				Want: "what it answers is no channel", Cause: link.CauseUnexpected},
			"no subscription": {Answer: linktest.Says(events+userPath(me), "<Subscription/>"), Waits: true,
				Want: "what it answers is no subscription", Cause: link.CauseUnexpected},
			"nobody tells a thing": {Answer: linktest.Says(events+userPath(me), "not XML"), Waits: true,
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
				Call: func(n int, extension string) (string, func()) {
					id := fmt.Sprintf("callhalf-%d:7", n)
					tell := func(kind, state string) {
						half := simulate.BroadWorksCall(id, "77:1", "Terminator", state, customer, "")
						if extension == linktest.Known.Extension {
							x.Report(me, kind, half)
						} else { // a user to whom nobody is subscribed
							x.Send(simulate.BroadWorksEvent("e", "s", extension+"@kantoor.example", kind, 1, half))
						}
					}
					tell("CallReceivedEvent", "Alerting")
					return id, func() { tell("CallReleasedEvent", "Released") }
				},
			}
		},
	}.Run(t)
}

func TestMain(m *testing.M) { linktest.Main(m) }

// event1 returns an event of the user, as sent.
func event1(kind, said string) string {
	return simulate.BroadWorksEvent("e1", "s1", me, kind, 7, said)
}

func hostile(n int) []string {
	wrap := func(said string) string { return event1("CallReceivedEvent", said) }
	long := strings.Repeat("9", 50_000)
	out := []string{
		"", "<", "<>", "</>", "<a", "<a/>", "<?xml", "<?xml?>", "<?xml version=\"1.1\"?><a/>", "<?xml version=\"1.0\" encoding=\"x-nobody\"?><a/>", "{}", "[]", "null", "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>",
		"<Channel/>", "<Channel><channelId>other</channelId></Channel>", "<ChannelHeartBeat/>", "<ChannelHeartbeat></ChannelHeartbeat>", "<Subscription/>", "<Event/>", "<xsi:Event/>", "<Event><eventData/></Event>",
		"<Event><eventData><call/></eventData></Event>", "<Event><eventData><call><callId/></call></eventData></Event>", "<Event><targetId>" + me + "</targetId><eventData><call><callId>x<b/></callId></call></eventData></Event>",
		wrap(""), wrap("<call></call>"), wrap("<calls/>"), wrap("<calls><call/></calls>"), wrap("<call><callId>" + long + "</callId></call>"),
		wrap(simulate.BroadWorksCall("a", long, long, long, "<address>"+long+"</address>", "")), wrap(simulate.BroadWorksCall("b", "", "", "", "", "")),
		wrap(simulate.BroadWorksCall("c", "1", "Terminator", "Alerting", "<name>\u202eevil</name><address countryCode=\""+long+"\">tel:%zz%00;;=</address>", "")),
		wrap(simulate.BroadWorksCall("d", "1", "Terminator", "Alerting", "<address>sip:@;</address>", "<redirections>"+strings.Repeat("<redirection/>", 2000)+"</redirections>")),
		wrap(simulate.BroadWorksCall("e", "1", "Terminator", "Alerting", customer, "<redirections><redirection/></redirections><redirect/>")),
		event1("SubscriptionTerminatedEvent", ""), simulate.BroadWorksEnd("another", "DuplicateChannelSet"), event1(long, ""), event1("", ""),
		strings.Repeat("<a>", 20_000), strings.Repeat("<a b='c'/>", 2000), "\x00\x01\x02", "\xff\xfe", "<a>\xff</a>", "<a>&#0;</a>", "<a>&x;</a>",
		simulate.BroadWorksEvent(long, "s1", me, "HookStatusEvent", -1, ""), strings.Replace(event1("HookStatusEvent", ""), ">7<", ">9223372036854775807<", 1), strings.Replace(event1("HookStatusEvent", ""), ">7<", ">x<", 1),
	}
	seeds := []string{event1("CallReceivedEvent", half1("Alerting")), event1("CallAnsweredEvent", half1("Active")), event1("CallReleasedEvent", half1("Released"))}
	for _, m := range linktest.Mutate(nil, n-len(out), seeds...) {
		out = append(out, strings.ReplaceAll(m, `{"[,<`, "<![CDATA["))
	}
	return out
}

// FuzzDocuments: whatever arrives on a channel is split and read to the end, calls
// are reported in a usable form, and a valid event that follows is not lost.
func FuzzDocuments(f *testing.F) {
	const longest = 8 << 10 // longer ones are slow, and are in hostile
	good := xml.Header + event1("CallReceivedEvent", half1("Alerting"))
	for _, s := range hostile(100) {
		if len(s) <= longest {
			f.Add([]byte(s))
		}
	}
	f.Add([]byte(good + good))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > longest {
			return
		}
		in := bufio.NewScanner(iotest.OneByteReader(bytes.NewReader(append(b, good+xml.Header+"<ChannelHeartBeat/>"...))))
		in.Buffer(nil, 256<<10)
		in.Split(documents)
		found, last := false, ""
		for in.Scan() {
			last = in.Text()
			found = found || strings.HasSuffix(last, good)
			all, _, err := Read(in.Bytes())
			if err != nil && all != nil {
				t.Fatal("an error and calls")
			}
			for _, e := range all {
				if e.ID == "" || e.State > call.Ended || e.State != call.Ended && e.Reason != call.ReasonUnknown {
					t.Fatalf("%+v", e)
				}
			}
		}
		if in.Err() != nil || !found || !strings.HasSuffix(last, "<ChannelHeartBeat/>") {
			t.Fatalf("%v, found %v after %q, at last %q", in.Err(), found, b, last)
		}
	})
}
