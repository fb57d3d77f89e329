package broadworks

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

type told struct{ kind, call string }

// TestStories checks what the link makes of one user's events.
// Single events are tested with the messages in package webhook.
func TestStories(t *testing.T) {
	as := func(what string) string { return strings.Replace(rings, "ringing", what, 1) }
	with := func(tracking, personality, state, remote, more string) string {
		return simulate.BroadWorksCall("callhalf-1:0", tracking, personality, state, remote, more)
	}
	const answered = "<answerTime>1767601805000</answerTime>"
	const colleague = "ringing incoming #callhalf-1:0 100 (Receptie)"
	const passed = "answered incoming #callhalf-1:0 +31612345678 (J. de Vries) via Receptie"
	for _, tt := range []struct {
		name string
		send []told
		want []string
	}{
		{"answered, held and over", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallAnsweredEvent", half1("Active", answered)}, {"CallHeldEvent", half1("Held", answered)}, {"CallRetrievedEvent", half1("Active", answered)}, {"CallReleasedEvent", half1("Released", answered)}},
			[]string{rings, as("answered"), as("answered"), as("answered"), as("ended completed")}},
		{"the end does not say that it was answered", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallUpdatedEvent", half1("Active")}, {"CallReleasedEvent", half1("Released", "<releasingParty>remoteRelease</releasingParty>")}},
			[]string{rings, as("answered"), as("ended completed")}},
		{"the end overtakes everything", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallReleasedEvent", half1("Released")}, {"CallUpdatedEvent", half1("Alerting")}, {"CallAnsweredEvent", half1("Active")}},
			[]string{rings, as("ended")}},
		{"a repeat", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallReceivedEvent", half1("Alerting")}}, []string{rings, rings}},
		{"passed on by a colleague, who asked first", []told{{"CallReceivedEvent", with("1:1", "Terminator", "Alerting", reception, "")}, {"CallAnsweredEvent", with("1:1", "Terminator", "Active", reception, answered)}, {"CallTransferredEvent", with("2:1", "Originator", "Active", customer, answered)}, {"CallReleasedEvent", with("2:1", "Originator", "Released", customer, answered)}},
			[]string{colleague, strings.Replace(colleague, "ringing", "answered", 1), passed, strings.Replace(passed, "answered", "ended completed", 1)}},
		{"passed on, and it says by whom", []told{{"CallReceivedEvent", with("1:1", "Terminator", "Alerting", customer, "<redirections><redirection><party>"+reception+"</party><reason>transfer</reason></redirection></redirections>")}},
			[]string{"ringing incoming #callhalf-1:0 +31612345678 (J. de Vries) via Receptie (100)"}},
		{"passed on to one who is withheld", []told{{"CallReceivedEvent", with("1:1", "Terminator", "Alerting", reception, "")}, {"CallTransferredEvent", with("2:1", "Terminator", "Alerting", simulate.BroadWorksParty("", ""), "")}},
			[]string{colleague, "ringing incoming #callhalf-1:0 anonymous via Receptie"}},
		{"we pass it on, and it comes back", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallAnsweredEvent", half1("Active", answered)}, {"CallRedirectedEvent", half1("Held", answered, "<redirect><address>tel:103</address><reason>transfer</reason></redirect>")}, {"CallReceivedEvent", half1("Alerting", "<recallType>Call Transfer Recall</recallType><recallFromParty>", simulate.BroadWorksParty("Schade", "103"), "</recallFromParty>")}},
			[]string{rings, as("answered"), as("ended completed"), "ringing incoming #callhalf-1:0 +31612345678 (J. de Vries) via Schade (103)"}},
		{"it rings on two of our telephones", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallReceivedEvent", strings.Replace(half1("Alerting"), "callhalf-1:0", "callhalf-1:1", 1)}, {"CallAnsweredEvent", strings.Replace(half1("Active"), "callhalf-1:0", "callhalf-1:1", 1)}, {"CallReleasedEvent", half1("Released")}},
			[]string{rings, rings, as("answered")}},
		{"what one call says of all of them", []told{{"CallReceivedEvent", half1("Alerting")}, {"CallSubscriptionResyncEvent", ""}}, []string{rings, as("ended")}},
		{"nothing of a call", []told{{"HookStatusEvent", "<hookStatus>Off-Hook</hookStatus>"}, {"CallUpdatedEvent", "<call/>"}, {"CallReleasedEvent", half1("Released")}, {"CallRedirectedEvent", half1("Detached")}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			x.Intercept(linktest.Status(actions+userPath(me)+"/directories", http.StatusForbidden)) // as for most users
			w := x.link().Connected()
			for _, s := range tt.send {
				x.Report(me, s.kind, s.call)
			}
			x.Report("buur@kantoor.example", "CallReceivedEvent", half1("Alerting"))
			w.Expect(tt.want...)
			x.last(w)
			if err := x.Until(t.Context(), func() bool { return len(x.Unconfirmed) == 0 }); err != nil {
				t.Error("events were not acknowledged")
			}
		})
	}
}

// TestOffice: a link that follows the group reports the calls of every
// followed user; when one answers a call, it ends for the others.
func TestOffice(t *testing.T) {
	for name, group := range map[string]bool{"the group": true, "each user, where the group may not be followed": false} {
		t.Run(name, func(t *testing.T) {
			x := newExchange(t)
			x.With(func() { x.Group = group })
			a := x.office()
			x.has(me, "callhalf-1:0", half1("Active", "<answerTime>1</answerTime>"))
			w := listen(t, a).Connected()
			ours := strings.ReplaceAll(rings, "#", "#"+me+"/") + " at 101"
			w.Expect(strings.Replace(ours, "ringing", "answered", 1))
			ring := func(user, id, kind, state, more string) {
				x.Report(user, kind, simulate.BroadWorksCall(id, "9:1", "Terminator", state, customer, "<huntGroupUserId>verkoop@kantoor.example</huntGroupUserId>"+more))
			}
			const bobs = " incoming #bob@kantoor.example/callhalf-6:0 +31612345678 (J. de Vries) at 102"
			mine := " incoming #" + me + "/callhalf-5:0 +31612345678 (J. de Vries) at 101"
			ring("buur@kantoor.example", "callhalf-4:0", "CallReceivedEvent", "Alerting", "")
			ring(me, "callhalf-5:0", "CallReceivedEvent", "Alerting", "")
			w.Expect("ringing" + mine)
			ring("BOB@kantoor.example", "callhalf-6:0", "CallReceivedEvent", "Alerting", "")
			if !group {
				ring("bob@kantoor.example", "callhalf-6:0", "CallReceivedEvent", "Alerting", "")
			}
			w.Expect("ringing" + bobs)
			ring("bob@kantoor.example", "callhalf-6:0", "CallAnsweredEvent", "Active", "<answerTime>1</answerTime>")
			w.Expect("answered" + bobs)
			ring(me, "callhalf-5:0", "CallReleasedEvent", "Released", "")
			w.Expect("ended elsewhere" + mine)
		})
	}
}

// TestEnterprise: an administrator who is not in the exchange's directory follows the group
// named in the address; a called user's profile is then requested until there is an answer.
func TestEnterprise(t *testing.T) {
	x := newExchange(t)
	a := x.office()
	a.Address += "/serviceprovider/simulatie/group/kantoor"
	x.With(func() { x.Users = x.Users[1:] })
	w := listen(t, a).Connected()
	var asked atomic.Int32
	x.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		busy := strings.HasSuffix(r.URL.Path, "bob@kantoor.example/profile") && asked.Add(1) == 1
		if busy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return busy
	})
	x.Report("bob@kantoor.example", "CallReceivedEvent", half1("Alerting"))
	x.Report("bob@kantoor.example", "CallUpdatedEvent", half1("Alerting"))
	w.Expect("ringing incoming #bob@kantoor.example/callhalf-1:0 +31612345678 (J. de Vries) at 102")
	x.Report("1234@elders.example", "CallReceivedEvent", half1("Alerting")) // its extension is unknown
	w.Expect("ringing incoming #1234@elders.example/callhalf-1:0 +31612345678 (J. de Vries) at 1234")
	a.Address = strings.Replace(a.Address, "kantoor", "elders", 1)
	listen(t, a).Refused("BroadWorks does not let this user follow the calls (403)")
	a.Address = x.Address().Address + "/enterprise/%zz"
	if _, err := New(a); err == nil {
		t.Errorf("%s was taken", a.Address)
	}
}

// TestColleague: the account's user may differ from the one whose extension is followed,
// who must be in its directory.
func TestColleague(t *testing.T) {
	x := newExchange(t)
	x.office()
	a := linktest.Account(x.Address())
	a.Extension, a.Address = "102", a.Address+"/com.broadsoft.xsi-actions/"
	w := listen(t, a).Connected()
	x.Report("bob@kantoor.example", "CallReceivedEvent", half1("Alerting"))
	w.Expect(rings)
	a.Extension = "999"
	listen(t, a).Refused("BroadWorks does not know the extension of the settings, or not for this user")
}

// TestWithoutActions: an exchange that only offers events is followed anyway,
// from its first event; that it cannot list the current calls ends none.
func TestWithoutActions(t *testing.T) {
	x := newExchange(t)
	asked, missing := make(chan struct{}, 9), linktest.Status("/com.broadsoft.xsi-actions", http.StatusNotFound)
	x.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/calls") {
			asked <- struct{}{}
		}
		return missing(w, r)
	})
	x.has(me, "callhalf-1:0", half1("Alerting"))
	w := x.link().Connected()
	<-asked
	x.SkipEvents(1)
	x.Report(me, "HookStatusEvent", "<hookStatus>Off-Hook</hookStatus>")
	<-asked
	x.Report(me, "CallAnsweredEvent", half1("Active"))
	w.Expect(rings, strings.Replace(rings, "ringing", "answered", 1))
}

// TestTakenOver: a new channel for the same application replaces ours; withdrawing the
// password or removing the user ends the link while connected.
func TestTakenOver(t *testing.T) {
	for name, tt := range map[string]struct {
		do    func(*exchange)
		phase link.Phase
		cause link.Cause
	}{
		"another program":  {func(x *exchange) { x.EndChannels("DuplicateChannelSet") }, link.Kicked, link.NoCause},
		"no such user":     {func(x *exchange) { x.EndChannels("UserDeleted") }, link.Refused, link.CauseDenied},
		"unsubscribed":     {func(x *exchange) { x.EndSubscriptions() }, link.Waiting, link.CauseEnded},
		"expired":          {func(x *exchange) { x.EndChannels("Expired") }, link.Waiting, link.CauseEnded},
		"another password": {func(x *exchange) { x.Intercept(linktest.Status("/com.broadsoft", http.StatusUnauthorized)) }, link.Refused, link.CauseDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			a := linktest.Account(x.Address())
			if name == "another password" { // only a heartbeat shows this; elsewhere it could come first and say less
				a.Net.PingEvery = 20 * time.Millisecond
			}
			w := listen(t, a).Connected()
			x.Send(simulate.BroadWorksEnd("channel-of-before", "DuplicateChannelSet"))
			tt.do(x)
			if s := w.Until(tt.phase); s.Cause != tt.cause {
				t.Errorf("%v: %s", s.Err, s.Cause)
			}
			x.Intercept(nil)
			w.Wake <- struct{}{}
			w.Until(link.Connected)
		})
	}
}

// TestRenewal: channels and subscriptions are renewed before they
// expire, and recreated if the exchange does not renew them.
func TestRenewal(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	x.With(func() { x.Expires = 1 })
	both := make(chan struct{})
	x.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && !strings.HasSuffix(r.URL.Path, "/heartbeat") {
			select { // both renewals run at once, so that no event waits long
			case both <- struct{}{}:
			case <-both:
			case <-r.Context().Done():
			}
		}
		return false
	})
	w := x.link().Connected()
	must.Do(t, x.Until(t.Context(), func() bool { return x.Renewals >= 4 }))
	if len(w.States) != 0 {
		t.Error("the link did not stay")
	}
	x.With(func() { clear(x.Subscriptions) }) // they have expired silently
	if s := w.Until(link.Waiting); s.Cause != link.CauseEnded {
		t.Error(s.Err)
	}
	w.Until(link.Connected)
	x.last(w)
	x.Intercept(linktest.Status("/com.broadsoft.xsi-events/v2.0/subscription", http.StatusServiceUnavailable))
	if s := w.Until(link.Waiting); s.Cause != link.CauseUnavailable {
		t.Error(s.Err)
	}
}

// TestPeople: a known user's new extension is learned, however many users there are.
func TestPeople(t *testing.T) {
	s := &session{phone: &phone{people: map[string]person{}}}
	for i := range maxPeople + 1 {
		s.addUser(person{User: text(fmt.Sprint(i)), Extension: "101"})
	}
	s.addUser(person{User: "7", Extension: "102"})
	s.addUser(person{User: "7", Extension: text(strings.Repeat("1", maxID))})
	if len(s.people) != maxPeople || s.people["7"].Extension != "102" {
		t.Errorf("%d are known, one as %v", len(s.people), s.people["7"])
	}
}

// TestGaps: missing events are made up for by a query.
func TestGaps(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	for _, is := range [][2]string{{half1("Alerting"), rings}, {"", strings.Replace(rings, "ringing", "ended", 1)}} {
		x.has(me, "callhalf-1:0", is[0])
		x.SkipEvents(1)
		x.Report(me, "HookStatusEvent", "<hookStatus>Off-Hook</hookStatus>")
		w.Expect(is[1])
	}
}

// TestNumbers: events of different users may overtake each
// other; once all have arrived, none counts as missed.
func TestNumbers(t *testing.T) {
	s := &session{subscriptions: map[string]bool{"a": true, "b": true}, last: map[string]int64{}, missingEvents: map[string]bool{}, gaps: exchangelink.NewPollScheduler(time.Hour, 0)}
	for _, e := range []struct {
		subscription, number text
		missed               int
	}{{"a", "7", 0}, {"b", "1", 0}, {"a", "9", 1}, {"a", "10", 1}, {"a", "8", 0}, {"b", "4", 2}, {"b", "3", 1}, {"b", "x", 1}, {"c", "99", 1}, {"b", "2", 0}, {"a", "999999999", 0}, {"a", "11", 0}, {"a", "-9223372036854775808", 0}, {"a", "9223372036854775807", 0}} {
		if s.noteSequence(document{Subscription: e.subscription, Sequence: e.number}); len(s.missingEvents) != e.missed {
			t.Errorf("after %s %s: %v are missed", e.subscription, e.number, s.missingEvents)
		}
	}
	if err := s.refetchAfterGap(t.Context()); err != nil { // requests nothing: there is no exchange
		t.Error(err)
	}
}

// TestOneServer: heartbeats and acknowledgements go to the channel's server, with
// its cookies, though its name has other addresses too. Every request asks for XML.
func TestOneServer(t *testing.T) {
	x := newExchange(t)
	a := linktest.Account(x.Address())
	a.Net.PingEvery = 10 * time.Millisecond
	var beats atomic.Int32
	x.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/heartbeat") {
			beats.Add(1)
		}
		if r.Header.Get("Accept") != "application/xml" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/xml") {
			t.Errorf("%s is asked for with %v", r.URL.Path, r.Header)
		}
		return false
	})
	w := listen(t, a).Connected()
	if err := x.Until(t.Context(), func() bool { return beats.Load() > 5 }); err != nil || len(w.States) != 0 {
		t.Error("the link did not stay", err)
	}
}

// TestReordered: the final state of all calls is right in whatever
// order events arrive, even if some are repeated or missing.
func TestReordered(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	a := x.office()
	w := listen(t, a).Connected()
	r := rand.New(rand.NewPCG(1, 2))
	users := []string{me, "bob@kantoor.example"}
	states := []string{"Alerting", "Active", "Held", "Remote Held", "Detached", "Released", "Idle", "?"}
	for round := range 300 {
		var sent []func()
		for range 12 {
			user, id, state := users[r.IntN(2)], fmt.Sprintf("callhalf-%d:0", r.IntN(4)), states[r.IntN(len(states))]
			c := simulate.BroadWorksCall(id, fmt.Sprintf("%d:1", r.IntN(3)), "Terminator", state, customer, "")
			sent = append(sent, func() { x.Report(user, "CallUpdatedEvent", c) })
		}
		r.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
		for _, do := range sent {
			do()
		}
		want := map[string]bool{}
		for _, user := range users {
			var calls []string
			for i := range 2 {
				id := fmt.Sprintf("callhalf-%d-%d:9", round, i)
				want[user+"/"+id] = true
				calls = append(calls, simulate.BroadWorksCall(id, fmt.Sprintf("r%d%s%d", round, user, i), "Terminator", "Alerting", simulate.BroadWorksParty("", fmt.Sprintf("06123456%02d", i)), ""))
			}
			x.Report(user, "CallSubscriptionEvent", calls...)
		}
		marker := fmt.Sprintf("callhalf-marker-%d:0", round)
		x.Report(me, "CallReceivedEvent", simulate.BroadWorksCall(marker, "m", "Terminator", "Alerting", simulate.BroadWorksParty("", "0201234599"), ""))
		x.Report(me, "CallReleasedEvent", simulate.BroadWorksCall(marker, "m", "Terminator", "Released", "", ""))
		on := map[string]bool{}
		if round > 0 {
			for _, user := range users {
				for i := range 2 {
					on[fmt.Sprintf("%s/callhalf-%d-%d:9", user, round-1, i)] = true
				}
			}
		}
		for {
			e := w.Next()
			if e.State == call.Ended {
				delete(on, e.ID)
				if strings.Contains(e.ID, "marker") {
					break
				}
			} else {
				on[e.ID] = true
			}
		}
		if len(on) != len(want) || slices.ContainsFunc(users, func(u string) bool {
			return !on[fmt.Sprintf("%s/callhalf-%d-0:9", u, round)] || !on[fmt.Sprintf("%s/callhalf-%d-1:9", u, round)]
		}) {
			t.Fatalf("round %d: %v, want %v", round, on, want)
		}
	}
}
