package simulate

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// BroadWorks is an exchange with the Xtended Services Interface: channels,
// subscriptions and their events, the users of one group, and their calls. Access its
// fields only within With.
type BroadWorks struct {
	*server
	Users   []BroadWorksUser             // of the group; the first is the account's
	Calls   map[string]map[string]string // by user and id, as built by BroadWorksCall
	Group   bool                         // whether the account's user may follow the group
	Expires int                          // lifetime of channels and subscriptions, in seconds
	// Subscriptions has the path of each subscription, by id.
	Subscriptions map[string]string
	Unconfirmed   map[string]bool // events that were not acknowledged
	ListRequests  int             // how often calls were requested
	Renewals      int             // how often a channel or subscription was renewed

	channels     map[*broadWorksChannel]bool
	numbers      map[string]int // of the last event, by subscription
	idCount      int
	ownExtension extension
}

// BroadWorksUser is a user in the group.
type BroadWorksUser struct{ ID, Extension string }

type broadWorksChannel struct {
	id, set, app string
	out          chan string
	done         chan struct{}
	once         sync.Once
}

func (c *broadWorksChannel) Close() error {
	c.once.Do(func() { close(c.done) })
	return nil
}

// The group of this exchange, and the cookie that its channels expect back.
const (
	broadWorksGroup  = "/serviceprovider/simulatie/group/kantoor"
	broadWorksCookie = "JSESSIONID=simulated"
)

const xsi = "http://schema.broadsoft.com/xsi"

// StartBroadWorks starts a BroadWorks.
func StartBroadWorks(ctx context.Context, listen string, account Account) (*BroadWorks, error) {
	b := &BroadWorks{Users: []BroadWorksUser{{account.User, account.Extension}}, Calls: map[string]map[string]string{account.User: {}},
		Group: true, Expires: 3600, Subscriptions: map[string]string{}, Unconfirmed: map[string]bool{},
		channels: map[*broadWorksChannel]bool{}, numbers: map[string]int{}}
	b.server = newServer(func() bool { return len(b.channels) > 0 && len(b.Subscriptions) > 0 && b.ListRequests > 0 })
	err := b.startExchange(ctx, registry.BroadWorks, listen, account, b.serve)
	b.notifyEnd = func(c io.Closer) { _ = c.Close() } // there are only channels
	return b, err
}

func (b *BroadWorks) serve(w http.ResponseWriter, r *http.Request) {
	if user, secret, ok := r.BasicAuth(); !ok || user != b.account.User || secret != b.account.Secret {
		b.refuse(w, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/xml;charset=UTF-8")
	if path, ok := strings.CutPrefix(r.URL.Path, "/com.broadsoft.xsi-actions/v2.0/user/"); ok {
		b.serveUser(w, path)
		return
	}
	path, isEvents := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, "/com.broadsoft.async"), "/com.broadsoft.xsi-events/v2.0")
	var body struct {
		Set     string `xml:"channelSetId"`
		App     string `xml:"applicationId"`
		Event   string `xml:"event"`
		EventID string `xml:"eventID"`
	}
	if said, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage)); err != nil || len(said) > 0 && xml.Unmarshal(said, &body) != nil {
		b.refuse(w, http.StatusBadRequest)
		return
	}
	kind, rest, _ := strings.Cut(strings.Trim(path, "/"), "/")
	switch {
	case !isEvents:
		b.refuse(w, http.StatusNotFound)
	case r.Method == http.MethodPost && path == "/channel" && strings.HasPrefix(r.URL.Path, "/com.broadsoft.async"):
		b.channel(w, r, &broadWorksChannel{set: body.Set, app: body.App, out: make(chan string, 1<<10), done: make(chan struct{})})
	case r.Method == http.MethodPost && rest == "eventresponse":
		b.With(func() { delete(b.Unconfirmed, body.EventID) })
	case r.Method == http.MethodPost && body.Event == "Advanced Call":
		b.subscribe(w, path, body.Set)
	case r.Method == http.MethodPut && kind == "channel":
		b.heartbeat(w, r, rest)
	case r.Method == http.MethodPut && kind == "subscription":
		b.renew(w, rest)
	default:
		b.refuse(w, http.StatusNotFound)
	}
}

func (b *BroadWorks) refuse(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `%s<ErrorInfo xmlns="%s"><summaryEnglish>%s</summaryEnglish></ErrorInfo>`, xml.Header, xsi, http.StatusText(status))
}

// channel serves a channel until it ends. It ends those of the same application that
// belong to other channel sets.
func (b *BroadWorks) channel(w http.ResponseWriter, r *http.Request, c *broadWorksChannel) {
	ok := false
	b.With(func() {
		if ok = b.admit(c); !ok {
			return
		}
		b.idCount++
		c.id = fmt.Sprintf("channel-%d", b.idCount)
		for other := range b.channels {
			if other.app == c.app && other.set != c.set {
				other.enqueue(BroadWorksEnd(other.id, "DuplicateChannelSet"))
				_ = other.Close()
			}
		}
		c.enqueue(fmt.Sprintf(`<Channel xmlns="%s"><channelId>%s</channelId><expires>%d</expires></Channel>`, xsi, c.id, b.Expires))
		b.channels[c] = true
	})
	if !ok {
		b.refuse(w, http.StatusServiceUnavailable)
		return
	}
	defer b.release(c)
	defer b.With(func() { delete(b.channels, c) })
	w.Header().Set("Set-Cookie", broadWorksCookie+"; Path=/com.broadsoft.xsi-events; HttpOnly")
	web := http.NewResponseController(w)
	write := func(s string) {
		_ = web.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := io.WriteString(w, s); err != nil || web.Flush() != nil {
			_ = c.Close() // the other side is gone
		}
	}
	for {
		select {
		case s := <-c.out:
			write(s)
		case <-c.done:
			for len(c.out) > 0 {
				write(<-c.out)
			}
			return
		case <-r.Context().Done():
			return
		}
	}
}

// enqueue queues a document with its XML declaration, or closes a channel that is full.
func (c *broadWorksChannel) enqueue(document string) {
	select {
	case c.out <- xml.Header + document:
	default:
		_ = c.Close()
	}
}

// heartbeat sends a heartbeat on a channel, or renews it.
func (b *BroadWorks) heartbeat(w http.ResponseWriter, r *http.Request, what string) {
	id, beat := strings.CutSuffix(what, "/heartbeat")
	found := false
	b.With(func() {
		for c := range b.channels {
			if c.id != id {
				continue
			}
			found = r.Header.Get("Cookie") == broadWorksCookie // another server of the same name
			switch {
			case !beat:
				b.Renewals++
			case !b.ignorePings:
				c.enqueue(`<ChannelHeartBeat xmlns="` + xsi + `"/>`)
			}
		}
	})
	if !found {
		b.refuse(w, http.StatusNotFound)
	}
}

// subscribe creates a subscription for a user or the group.
func (b *BroadWorks) subscribe(w http.ResponseWriter, path, set string) {
	var id, user string
	allowed := path == broadWorksGroup
	b.With(func() {
		allowed = allowed && b.Group
		for _, u := range b.Users {
			if path == "/user/"+u.ID {
				allowed, user = true, u.ID
			}
		}
		if !allowed {
			return
		}
		b.idCount++
		id = fmt.Sprintf("subscription-%d", b.idCount)
		b.Subscriptions[id] = path
		for c := range b.channels {
			if c.set == set && user != "" {
				all := slices.Collect(maps.Values(b.Calls[user]))
				c.enqueue(b.event(id, user, "CallSubscriptionEvent", "<calls>"+strings.Join(all, "")+"</calls><hookStatus>On-Hook</hookStatus>"))
			}
		}
	})
	b.answerSubscription(w, id, allowed)
}

func (b *BroadWorks) renew(w http.ResponseWriter, id string) {
	known := false
	b.With(func() {
		if known = b.Subscriptions[id] != ""; known {
			b.Renewals++
		}
	})
	b.answerSubscription(w, id, known)
}

// answerSubscription answers a request for a subscription.
func (b *BroadWorks) answerSubscription(w http.ResponseWriter, id string, allowed bool) {
	if !allowed {
		b.refuse(w, http.StatusForbidden)
		return
	}
	_, _ = fmt.Fprintf(w, `%s<Subscription xmlns="%s"><subscriptionId>%s</subscriptionId><expires>%d</expires></Subscription>`, xml.Header, xsi, id, b.Expires)
}

func (b *BroadWorks) serveUser(w http.ResponseWriter, path string) {
	id, what, _ := strings.Cut(path, "/")
	b.With(func() {
		i := slices.IndexFunc(b.Users, func(u BroadWorksUser) bool { return u.ID == id })
		call, isCall := strings.CutPrefix(what, "calls/")
		switch {
		case i < 0:
			b.refuse(w, http.StatusForbidden)
		case what == "profile":
			_, _ = fmt.Fprintf(w, `%s<Profile xmlns="%s"><details>%s<groupId>kantoor</groupId><serviceProvider isEnterprise="true">simulatie</serviceProvider></details></Profile>`, xmlDeclaration, xsi, b.Users[i])
		case what == "directories/Group":
			_, _ = fmt.Fprintf(w, `%s<Group xmlns="%s"><groupDirectory>`, xmlDeclaration, xsi)
			for _, u := range b.Users {
				_, _ = fmt.Fprintf(w, `<directoryDetails>%s</directoryDetails>`, u)
			}
			_, _ = io.WriteString(w, "</groupDirectory></Group>")
		case what == "calls":
			b.ListRequests++
			_, _ = fmt.Fprintf(w, `%s<Calls xmlns="%s">`, xml.Header, xsi)
			for _, call := range slices.Sorted(maps.Keys(b.Calls[id])) {
				_, _ = fmt.Fprintf(w, `<call inConference="false"><callId>%s</callId><uri>/v2.0/user/%s/calls/%[1]s</uri></call>`, call, id)
			}
			_, _ = io.WriteString(w, "</Calls>")
		case isCall && b.Calls[id][call] != "":
			_, _ = io.WriteString(w, xml.Header+strings.NewReplacer("<call>", `<Call xmlns="`+xsi+`" xmlns:xsi1="http://www.w3.org/2001/XMLSchema-instance">`, "</call>", "</Call>").Replace(b.Calls[id][call]))
		default:
			b.refuse(w, http.StatusNotFound)
		}
	})
}

// xmlDeclaration begins the exchange's answers about its users.
const xmlDeclaration = `<?xml version="1.0" encoding="ISO-8859-1"?>`

// String returns the user's elements in a profile or directory.
func (u BroadWorksUser) String() string {
	return fmt.Sprintf(`<userId>%s</userId><firstName>Gebruiker</firstName><lastName>%s</lastName><number>+3120123%04[2]s</number><extension>%[2]s</extension>`, u.ID, u.Extension)
}

// each calls do for every channel.
func (b *BroadWorks) each(do func(*broadWorksChannel)) {
	b.With(func() {
		for c := range b.channels {
			do(c)
		}
	})
}

// Send writes documents to every channel.
func (b *BroadWorks) Send(documents ...string) {
	b.each(func(c *broadWorksChannel) {
		for _, d := range documents {
			c.enqueue(d)
		}
	})
}

// Report sends an event of a kind, such as CallReceivedEvent, about calls of BroadWorksCall
// to everybody subscribed to the user.
func (b *BroadWorks) Report(user, kind string, calls ...string) {
	said := strings.Join(calls, "")
	if len(calls) != 1 {
		said = "<calls>" + said + "</calls>"
	}
	b.With(func() {
		for id, path := range b.Subscriptions {
			for c := range b.channels {
				if path == broadWorksGroup || path == "/user/"+user {
					c.enqueue(b.event(id, user, kind, said))
				}
			}
		}
	})
}

// EndSubscriptions ends all subscriptions and notifies their clients.
func (b *BroadWorks) EndSubscriptions() {
	b.With(func() {
		for id := range b.Subscriptions {
			delete(b.Subscriptions, id)
			for c := range b.channels {
				c.enqueue(b.event(id, b.account.User, "SubscriptionTerminatedEvent", ""))
			}
		}
	})
}

// event returns the next event of a subscription. Call it within With.
func (b *BroadWorks) event(subscription, user, kind, said string) string {
	b.numbers[subscription]++
	b.idCount++
	id := fmt.Sprintf("event-%d", b.idCount)
	b.Unconfirmed[id] = true
	return BroadWorksEvent(id, subscription, user, kind, b.numbers[subscription], said)
}

// CloseChannels closes every channel.
func (b *BroadWorks) CloseChannels() { b.each(func(c *broadWorksChannel) { _ = c.Close() }) }

// EndChannels ends every channel, with a reason.
func (b *BroadWorks) EndChannels(reason string) {
	b.each(func(c *broadWorksChannel) {
		c.enqueue(BroadWorksEnd(c.id, reason))
		_ = c.Close()
	})
}

// SkipEvents advances the event number of each subscription by n.
func (b *BroadWorks) SkipEvents(n int) {
	b.With(func() {
		for id := range b.Subscriptions {
			b.numbers[id] += n
		}
	})
}

// BroadWorksEvent returns an event in the exchange's format.
func BroadWorksEvent(id, subscription, user, kind string, number int, said string) string {
	said = strings.NewReplacer("</", "</xsi:", "<", "<xsi:").Replace(said)
	return fmt.Sprintf(`<xsi:Event xmlns:xsi="%s" xmlns:xsi1="http://www.w3.org/2001/XMLSchema-instance" xsi1:type="xsi:SubscriptionEvent"><xsi:eventID>%s</xsi:eventID><xsi:sequenceNumber>%d</xsi:sequenceNumber><xsi:userId>beheer@simulatie.example</xsi:userId><xsi:externalApplicationId>wiebelt</xsi:externalApplicationId><xsi:subscriptionId>%s</xsi:subscriptionId><xsi:channelId>channel-1</xsi:channelId><xsi:targetId>%s</xsi:targetId><xsi:eventData xsi1:type="xsi:%s">%s</xsi:eventData></xsi:Event>`,
		xsi, id, number, subscription, user, kind, said)
}

// BroadWorksEnd returns the last event of a channel.
func BroadWorksEnd(channel, reason string) string {
	return fmt.Sprintf(`<xsi:Event xmlns:xsi="%s" xmlns:xsi1="http://www.w3.org/2001/XMLSchema-instance" xsi1:type="xsi:ChannelTerminatedEvent"><xsi:channelId>%s</xsi:channelId><xsi:reason>%s</xsi:reason></xsi:Event>`, xsi, channel, reason)
}

// BroadWorksCall returns a user's half of a call. more holds elements that only some have.
func BroadWorksCall(id, tracking, personality, state, remote, more string) string {
	return fmt.Sprintf(`<call><callId>%s</callId><extTrackingId>%s</extTrackingId><personality>%s</personality><state>%s</state><remoteParty>%s</remoteParty><startTime>1767601800000</startTime>%s</call>`,
		id, tracking, personality, state, remote, more)
}

// BroadWorksParty returns the other party of a call, withheld if there is no number.
func BroadWorksParty(name, number string) string {
	said := ""
	if name != "" {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(name)) // writes to memory
		said = "<name>" + b.String() + "</name>"
	}
	switch {
	case number == "":
		return "<privacy/><callType>Network</callType>"
	case len(number) <= 4:
		return said + "<address>tel:" + number + "</address><userId>" + number + "@simulatie.example</userId><callType>Group</callType>"
	}
	return said + "<address>tel:" + url.PathEscape(number) + "</address><callType>Network</callType>"
}

// SendUpdate reports a change to a call of the account's user.
func (b *BroadWorks) SendUpdate(_ context.Context, n Update) error {
	kind, id, said := map[Verb]string{Ring: "CallReceivedEvent", Answer: "CallAnsweredEvent", ChangeCaller: "CallTransferredEvent", End: "CallReleasedEvent"}[n.Verb], "", ""
	b.With(func() {
		c := b.ownExtension.apply(n).call
		personality, state, more := "Terminator", [...]string{"Alerting", "Alerting", "Active"}[c.state], ""
		if n.Call.Direction == "outgoing" {
			personality = "Originator"
			if n.Verb == Ring {
				kind = "CallOriginatedEvent"
			}
		}
		if c.state == legUp {
			more = "<answerTime>1767601805000</answerTime>"
		}
		if n.Verb == End {
			state = "Released"
			more += map[call.Reason]string{call.Missed: "<releasingParty>remoteRelease</releasingParty>", call.Rejected: "<releaseCause><internalReleaseCause>Busy</internalReleaseCause></releaseCause>",
				call.AnsweredElsewhere: "<releaseCause><internalReleaseCause>Request Failure</internalReleaseCause><q850Cause>26</q850Cause></releaseCause>"}[n.Reason]
		}
		tracking := c.conversation
		if n.Verb == ChangeCaller {
			tracking = b.ownExtension.nextNumber() // the number of the call that it becomes
		}
		id = fmt.Sprintf("callhalf-%d:0", c.conversation)
		said = BroadWorksCall(id, fmt.Sprintf("%d:1", tracking), personality, state, BroadWorksParty(n.Call.Name, digits(n.Call.Number)), more)
		if b.Calls[b.account.User][id] = said; n.Verb == End {
			delete(b.Calls[b.account.User], id)
		}
	})
	b.Report(b.account.User, cmp.Or(kind, "CallUpdatedEvent"), said)
	return nil
}
