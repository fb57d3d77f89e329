package server

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

// notified is VoIPGRID's message about a call, for the given account numbers.
func notified(status, more string, at ...string) string {
	var targets []string
	for _, a := range at {
		targets = append(targets, `{"account_number":`+a+`}`)
	}
	return `{"call_id":"c1","status":"` + status + `","direction":"inbound","caller":{"number":"+31698760011"},"destination":{"number":"+31201234567","targets":[` + strings.Join(targets, ",") + `]}` + more + `}`
}

// TestWebhook: a message from an exchange rings at the users it names; the address identifies the
// sender, and a message that cannot be read is counted, not refused.
func TestWebhook(t *testing.T) {
	mapping := must.Get(webhook.ParseMapping([]byte("id = \"uuid\"\nnumber = \"from\"\nextension = \"to\"\nstate = \"event\"\n[states]\nend = \"ended\"\n")))(t)
	o := start(t, func(c *Config) { c.Webhooks = map[string]webhook.Reader{"ringdesk": mapping.Reader()} })
	anna := o.desk(users.Entry{User: "anna", Name: "Anna de Boer", Email: "anna@kantoor.example", Extensions: []string{"678"}})
	bob := o.desk(users.Entry{User: "bob", Extensions: []string{"679"}})
	o.report("/voipgrid", notified("ringing", "", "678", "679"))
	const c1 = "incoming #voipgrid/c1 +31698760011 on +31201234567"
	bob.Expect("ringing " + c1)
	o.report("/voipgrid", notified("in-progress", "", "678"))
	anna.Expect("ringing "+c1, "answered "+c1)
	bob.Expect("ended elsewhere " + c1 + " by Anna de Boer")
	o.report("/voipgrid", `{"call_id":"c1","status":"ended","reason":"completed"}`)
	anna.Expect("ended completed " + c1)
	a, err := o.http.Get(o.at.Web + "/in/" + o.secret + "/ringdesk?uuid=1&event=start&from=0698760012&to=679")
	if err != nil || a.StatusCode != http.StatusNoContent {
		t.Fatal(a, err)
	}
	_ = a.Body.Close()
	bob.Expect("ringing incoming #ringdesk/1 0698760012")
	dropped := o.dropped.Load()
	o.report("/voipgrid", "gone wrong")
	if s := o.status(); s.Links[1].Cause != string(link.CauseUnreadable) {
		t.Errorf("%+v", s)
	}
	o.report("/voipgrid", notified("created", ""))
	if s := o.status(); s.Links[1].Cause != "" || s.Dropped != dropped+1 || len(s.Links) != 2 || s.Links[0].Name != "ringdesk" || s.Links[0].Kind != registry.Webhook || s.Links[1].Kind != registry.VoIPGRID || s.Links[1].State != wire.LinkWebhook || s.Links[1].LastCallAt.IsZero() {
		t.Errorf("%+v", s)
	}
	// BroadWorks expects another answer, and reports when it stops.
	for kind, cause := range map[string]link.Cause{"SubscriptionTerminatedEvent": link.CauseEnded, "CallReceivedEvent": link.NoCause} {
		status, _ := o.post("/in/"+o.secret+"/broadworks", simulate.BroadWorksEvent("e1", "s1", "678@kantoor.example", kind, 1, ""))
		if s := o.status(); status != http.StatusOK || s.Links[0].Kind != registry.BroadWorks || s.Links[0].Cause != string(cause) {
			t.Errorf("%s: %d, %+v", kind, status, s.Links)
		}
	}
}

// sent is a message with its values in the address, as in "?id=1", or in a body.
func sent(s string) webhook.Message {
	if q, ok := strings.CutPrefix(s, "?"); ok {
		values, _ := url.ParseQuery(q)
		return webhook.Message{Query: values}
	}
	return webhook.Message{Body: []byte(s)}
}

// members is Yeastar's message about a call: the trunk, and each extension with its state.
func members(kind, trunk string, states ...string) string {
	all := []string{`{"inbound":{"from":"0698760011","to":"0201234567","member_status":"` + trunk + `"}}`}
	for _, s := range states {
		number, state, _ := strings.Cut(s, " ")
		all = append(all, `{"extension":{"number":"`+number+`","member_status":"`+state+`"}}`)
	}
	return `{"type":` + kind + `,"msg":{"call_id":"c1","members":[` + strings.Join(all, ",") + `]}}`
}

// TestWebhookOrders: in whatever order the messages about a call arrive, some of them
// twice, nobody's phone rings after the end has arrived; and before that, everybody
// has the right state.
func TestWebhookOrders(t *testing.T) {
	rules := phone.DefaultRules()
	var all []users.Entry
	for i, u := range []wire.User{"anna", "bob", "carla", "receptie"} {
		all = append(all, users.Entry{User: u, Extensions: []string{fmt.Sprint(234 + i)}})
	}
	table := users.NewTable(all, rules)
	by := `,"redirector":{"account_number":237}`
	half := func(kind, state string) string {
		return simulate.BroadWorksEvent("e1", "s1", "234@kantoor.example", kind, 1, simulate.BroadWorksCall("c1", "1:1", "Terminator", state, simulate.BroadWorksParty("", "0698760011"), ""))
	}
	zeker := func(to, status string) string {
		return "?calluniqueid=c1&callfrom=0698760011&direction=in&callto=" + to + "&status_desc=" + status
	}
	for _, story := range []struct {
		kind   string
		said   []string
		ended  []string
		states string // of anna, bob, carla and the reception; any if it depends on the order
	}{
		{registry.VoIPGRID, []string{notified("created", ""), notified("ringing", "", "237"), notified("in-progress", "", "237"),
			notified("cold-transfer", by, "234", "235"), notified("ringing", "", "236"), notified("in-progress", "", "234")},
			[]string{notified("ended", `,"reason":"completed"`)}, "answered any any any"},
		{registry.Yeastar, []string{members("30011", "ALERT"), members("30011", "ALERT", "237 RING"), members("30011", "ANSWERED", "237 ANSWER"),
			members("30013", "ANSWERED", "237 BYE", "234 RING", "235 RING"), members("30011", "ANSWERED", "234 ANSWER", "235 BYE", "236 RING")},
			[]string{members("30011", "BYE", "234 ANSWER")}, "answered ended any any"},
		{registry.VOIPZeker, []string{zeker("234", "INCOMING_RINGING"), zeker("235", "INCOMING_RINGING"), zeker("236", "INCOMING_RINGING"), zeker("237", "INCOMING_RINGING"), zeker("234", "CONNECTED")},
			[]string{zeker("234", "DISCONNECTED"), zeker("235", "DISCONNECTED"), zeker("236", "DISCONNECTED"), zeker("237", "DISCONNECTED")}, "answered any any any"},
		{registry.BroadWorks, []string{half("CallReceivedEvent", "Alerting"), half("CallUpdatedEvent", "Alerting"), half("CallAnsweredEvent", "Active"), half("CallHeldEvent", "Held")},
			[]string{half("CallReleasedEvent", "Released")}, "answered any any any"},
	} {
		read, _ := webhook.Of(story.kind)
		states := strings.Fields(story.states)
		for seed := range uint64(500) {
			rnd := rand.New(rand.NewPCG(seed, 19))
			messages := append([]string{story.said[rnd.IntN(len(story.said))]}, story.said...)
			over := seed%2 == 0
			if over {
				messages = append(messages, story.ended...)
			}
			rnd.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
			now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
			var r calls.Record
			for _, m := range messages {
				now = now.Add(time.Second / 10)
				reports := must.Get(read(sent(m)))(t)
				for _, one := range reports {
					p := newReport(one, now)
					var err error
					if r, _, err = r.Apply(calls.Report{Event: p.Event, Users: table.UsersCalled(p.Place, ""), MaybeForAll: p.MaybeForAll, MayReturn: true}); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i, e := range all {
				c, ok := r.ForUser(e.User)
				if over && ok && c.State != "ended" || !over && states[i] != "any" && c.State != states[i] && (ok || states[i] != "ended") {
					t.Errorf("%s %d: %s: %+v, %v", story.kind, seed, e.User, c, ok)
				}
			}
		}
	}
}

// TestLate: a call reported minutes late shows no card, and is kept for those
// who missed it, but not for the user who answered it. A call whose end is
// never reported counts as missed too.
func TestLate(t *testing.T) {
	o := start(t, func(c *Config) { c.Settings.Journal.Days = 1 })
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"678"}})
	bob := o.desk(users.Entry{User: "bob", Name: "Bob Smit", Extensions: []string{"679"}})
	then := time.Now().Add(-lateAfter - time.Minute)
	say := func(status, more string, at ...string) {
		t.Helper()
		then = then.Add(time.Second)
		o.report("/voipgrid", notified(status, `,"timestamp":"`+then.Format(time.RFC3339Nano)+`"`+more, at...))
	}
	rang := then.Add(time.Second)
	say("ringing", "", "678", "679")
	say("in-progress", "", "679")
	say("ended", `,"reason":"completed"`)
	if all := o.until("anna", 1); all[0].AnsweredBy != "Bob Smit" || all[0].Reason != call.AnsweredElsewhere.String() || all[0].Rang.Sub(rang).Abs() > time.Second {
		t.Errorf("%+v", all)
	}
	then = time.Now().Add(-lateAfter * 3 / 5) // late, but not too late for a card
	say("ringing", "", "678")
	if e := anna.Next(); e.State != call.Ringing || len(bob.Events) > 0 {
		t.Errorf("%+v, and bob hears of %d", e, len(bob.Events))
	}
	if page, err := o.journal.Page(t.Context(), "bob", 0); err != nil || len(page.Calls) > 0 || o.status().Late != 4 {
		t.Errorf("%+v, %v, %d", page.Calls, err, o.status().Late)
	}
	at := time.Now()
	var l lateCalls
	if r := l.add(calls.Report{Event: call.Event{ID: "1", Number: "0698760011", At: at.Add(-time.Hour)}, Users: []wire.User{"anna"}}); r.ID != "" {
		t.Errorf("%+v", r)
	}
	var over []calls.Record
	for _, after := range []time.Duration{lateTimeout / 2, 2 * lateTimeout, 3 * lateTimeout} {
		over = append(over, l.expire(at.Add(after))...)
	}
	if len(over) != 1 || over[0].ID != "1" {
		t.Errorf("%+v", over)
	}
}

// TestSenders: a sender of too many messages is told to wait, while others are not, and does
// not fill the log. A message that is too long is counted.
func TestSenders(t *testing.T) {
	var log logtest.Buffer
	o := start(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	defer func() {
		if o.end(); strings.Contains(log.String(), o.secret) || strings.Contains(log.String(), "canary") || strings.Count(log.String(), "not understood") != 1 {
			t.Errorf("the log: %s", log.String())
		}
	}()
	for range 3 { // logged once
		o.report("/voipgrid", `{"canary"`)
		o.report("/voipgrid", notified("ended", ""))
	}
	dropped := o.dropped.Load()
	if got, _ := o.post("/in/"+o.secret+"/voipgrid", strings.Repeat("canary", webhook.MaxBody)); got != http.StatusRequestEntityTooLarge || o.dropped.Load() != dropped+1 {
		t.Errorf("a long one: %d, and %d are dropped", got, o.dropped.Load()-dropped)
	}
	status := func(path string) int {
		got, _ := o.post("/in/"+o.secret+path, `{"id":"1","extension":"9"}`)
		return got
	}
	o.webhooks.paces["voipgrid"] = rate.NewLimiter(0, mostAtOnce)
	for range mostAtOnce {
		if !o.webhooks.allow("voipgrid") {
			t.Fatal("not as many as may come")
		}
	}
	if a, b := status("/voipgrid"), status(""); a != http.StatusTooManyRequests || b != http.StatusNoContent {
		t.Errorf("%d, %d", a, b)
	}
}

// TestWebhookSecrets: a secret is valid as soon as it is created, and guesses do not make the
// relay read its file again.
func TestWebhookSecrets(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, setup.RenewWebhookSecret(dir))
	first := must.Get(setup.LoadWebhookSecrets(dir))(t)
	var s webhookSecrets
	is := func(want setup.WebhookSecrets) {
		t.Helper()
		if got, err := s.current(dir); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	is(first)
	file, written := filepath.Join(dir, "reports.json"), setup.WebhookSecretsWritten(dir)
	b := must.Get(os.ReadFile(file))(t)
	must.Do(t, os.WriteFile(file, []byte("?"), 0o600), os.Chtimes(file, written, written))
	is(first)
	must.Do(t, os.Chtimes(file, written, written.Add(time.Second)))
	if got, err := s.current(dir); err == nil || got != first {
		t.Errorf("%+v, %v: what cannot be read changes nothing, and is told", got, err)
	}
	is(first)
	must.Do(t, os.WriteFile(file, b, 0o600), setup.RenewWebhookSecret(dir))
	is(must.Get(setup.LoadWebhookSecrets(dir))(t))
}

// TestMappingGone: an unreadable message is no longer reported once its mapping is gone,
// and merely checking whether an address exists does not count as a message.
func TestMappingGone(t *testing.T) {
	mapping := must.Get(webhook.ParseMapping([]byte("id = \"uuid\"\nnumber = \"from\"\n")))(t)
	changes := make(chan Office)
	o := start(t, func(c *Config) {
		c.Webhooks, c.Changes = map[string]webhook.Reader{"ringdesk": mapping.Reader()}, changes
	})
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"678"}})
	o.report("/ringdesk", "not understood")
	for anna.Until(link.Connected).Cause != link.CauseExchange {
	}
	a := must.Get(o.http.Get(o.at.Web + "/in/" + o.secret + "/voipgrid"))(t)
	must.Do(t, a.Body.Close())
	if l := o.status().Links; len(l) != 1 || l[0].Name != "ringdesk" {
		t.Errorf("told of %v", l)
	}
	changes <- Office{}
	for anna.Until(link.Connected).Cause != link.NoCause {
	}
	if l := o.status().Links; len(l) != 0 {
		t.Errorf("told of %v", l)
	}
}
