package broadworks

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
)

// document is whatever the exchange sends or answers, as far as we read it.
type document struct {
	XMLName      xml.Name
	Type         text `xml:"type,attr"`
	Event        text `xml:"eventID"`
	Sequence     text `xml:"sequenceNumber"`
	Subscription text `xml:"subscriptionId"`
	Channel      text `xml:"channelId"`
	Target       text `xml:"targetId"`
	User         text `xml:"userId"`
	Reason       text `xml:"reason"`
	Expires      text `xml:"expires"`
	Data         struct {
		Type  text   `xml:"type,attr"`
		Call  []half `xml:"call"`
		Calls []half `xml:"calls>call"`
	} `xml:"eventData"`

	Present []half   `xml:"call"` // of the list of a user's calls
	half             // details of one
	Details person   `xml:"details"` // of a profile
	People  []person `xml:"groupDirectory>directoryDetails"`
}

// text has no white space around it.
type text string

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *text) UnmarshalText(b []byte) error {
	*t = text(bytes.TrimSpace(b))
	return nil
}

// half is one user's half of a call. Every field may be missing.
type half struct {
	ID          text `xml:"callId"`
	Tracking    text `xml:"extTrackingId"`
	Personality text `xml:"personality"`
	State       text `xml:"state"`
	Cause       *struct {
		Internal text `xml:"internalReleaseCause"`
		Q850     text `xml:"q850Cause"`
	} `xml:"releaseCause"`
	Releasing    text  `xml:"releasingParty"`
	Remote       party `xml:"remoteParty"`
	Redirections []struct {
		Party  party `xml:"party"`
		Reason text  `xml:"reason"`
	} `xml:"redirections>redirection"` // the latest first
	Redirect *struct {
		Reason text `xml:"reason"`
	} `xml:"redirect"`
	HuntGroup text `xml:"huntGroupUserId"`
	Answered  text `xml:"answerTime"`
	Queue     struct {
		Name   text    `xml:"acdName"`
		Number address `xml:"acdNumber"`
		Caller party   `xml:"callingPartyInfo"`
	} `xml:"acdCallInfo"`
	Recall party `xml:"recallFromParty"`
}

// party is somebody on the line.
type party struct {
	Name    text      `xml:"name"`
	Address address   `xml:"address"`
	DN      address   `xml:"userDN"`
	Privacy *struct{} `xml:"privacy"`
}

type address struct {
	URI     text `xml:",chardata"`
	Country text `xml:"countryCode,attr"`
}

// person is a user of the exchange.
type person struct {
	User      text `xml:"userId"`
	Extension text `xml:"extension"`
	Group     text `xml:"groupId"`
	Provider  text `xml:"serviceProvider"`
}

var errDocument = errors.New("not a document of BroadWorks")

// parse reads a document. What the decoder says of it may quote it and is not kept.
func parse(b []byte) (d document, err error) {
	x := xml.NewDecoder(bytes.NewReader(b))
	// What is not UTF-8, answers about users, comes in ISO-8859-1.
	x.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return charmap.ISO8859_1.NewDecoder().Reader(in), nil }
	if x.Decode(&d) != nil {
		return document{}, errDocument
	}
	return d, nil
}

// kind is what an event tells, such as CallReceived.
func (d document) kind() string {
	kind := string(cmp.Or(d.Data.Type, d.Type))
	return strings.TrimSuffix(kind[strings.IndexByte(kind, ':')+1:], "Event")
}

// owner is the user at whom the calls of an event are.
func (d document) owner() string { return string(cmp.Or(d.Target, d.User)) }

// calls are all that an event tells of.
func (d document) calls() []half { return append(d.Data.Call, d.Data.Calls...) }

// word is a word without what its spellings differ in.
func word(t text) string { return exchangelink.Word(string(t)) }

// event is what a half of a call tells in an event of a kind, "" being none. Not ok is
// one that says nothing of the user's telephone.
func (h half) event(kind string) (e call.Event, ok bool) {
	e.Direction = h.direction(kind)
	e.State, ok = h.state(kind)
	if !ok || e.State == call.Ended {
		e.Reason = h.reason(e.Direction)
		return e, ok
	}
	e.Number, e.Name = h.Remote.number(), h.Remote.name()
	if e.Direction == call.Outgoing {
		return e, true
	}
	if e.Number == "" {
		e.Number, e.Name = h.Queue.Caller.number(), cmp.Or(e.Name, h.Queue.Caller.name())
	}
	e.Queue, e.Line = string(h.Queue.Name), h.Queue.Number.number()
	e.Via = exchangelink.Person(h.Recall.name(), h.Recall.shown())
	for _, r := range h.Redirections {
		switch word(r.Reason) {
		case "huntgroup", "callcenter", "routepoint":
			e.Queue, e.Line = cmp.Or(e.Queue, r.Party.name(), r.Party.shown()), cmp.Or(e.Line, r.Party.shown())
		default:
			e.Via = cmp.Or(e.Via, exchangelink.Person(r.Party.name(), r.Party.shown()))
		}
	}
	if e.Queue == "" {
		e.Queue, _, _ = strings.Cut(string(h.HuntGroup), "@")
	}
	return e, true
}

// direction is the call's as the user sees it. What nobody can tell is a call that
// comes: it must not be missed.
func (h half) direction(kind string) call.Direction {
	switch p := word(h.Personality); {
	case p == "terminator":
		return call.Incoming
	case p == "originator", p == "clicktodial", strings.HasPrefix(kind, "CallOriginat"):
		return call.Outgoing
	}
	return call.Incoming
}

func (h half) state(kind string) (s call.State, ok bool) {
	state := word(h.State)
	if kind == "CallReleased" || state == "released" || state == "idle" {
		return call.Ended, true
	}
	if h.Redirect != nil {
		switch word(h.Redirect.Reason) {
		case "followme", "simultaneousring", "simultaneousringing", "sequentialring", "sequentialringing":
			// on the user's own telephones
		default:
			return call.Ended, true // passed on
		}
	} else if state == "detached" {
		return s, false
	}
	switch {
	case state == "alerting", kind == "CallReleasing" && h.Answered == "": // a tone, and nobody
		return call.Ringing, true
	case state == "active", strings.HasSuffix(state, "held"), h.Answered != "", kind == "CallAnswered":
		return call.Answered, true
	}
	return call.Ringing, true
}

// reason is why a half of a call has ended.
func (h half) reason(d call.Direction) call.Reason {
	cause, q850 := "", call.ReasonUnknown
	if h.Cause != nil {
		n, _ := strconv.Atoi(string(h.Cause.Q850))
		cause, q850 = word(h.Cause.Internal), exchangelink.Hangup(n)
	}
	switch {
	case h.Answered != "":
		return call.Completed
	case q850 != call.ReasonUnknown:
		return q850
	case cause == "busy":
		return call.Rejected
	case d == call.Outgoing:
	case h.Redirect != nil && word(h.Redirect.Reason) == "noanswer", cause == "requesttimeout", cause == "temporarilyunavailable",
		word(h.Releasing) == "remoterelease":
		return call.Missed
	}
	return call.ReasonUnknown
}

func (p party) name() string {
	if p.Privacy != nil {
		return ""
	}
	return string(p.Name)
}

// number is a party's, "" if there is none, "anonymous" if it is withheld.
func (p party) number() string {
	if p.Privacy != nil {
		return exchangelink.Anonymous
	}
	if n := p.Address.number(); n != "" {
		return n
	}
	if _, extension, ok := strings.Cut(string(p.DN.URI), ";ext="); ok {
		return extension
	}
	return p.DN.number()
}

// shown is a party's number if it is not withheld.
func (p party) shown() string {
	if p.Privacy != nil {
		return ""
	}
	return p.number()
}

// number is that in an address: a tel or sip URI, or the number alone.
func (a address) number() string {
	s := string(a.URI)
	scheme, rest, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "tel":
		s, _, _ = strings.Cut(rest, ";")
	case "sip", "sips":
		user, _, _ := strings.Cut(rest, "@")
		if user, _, _ = strings.Cut(user, ";"); strings.Trim(user, "+0123456789*#") == "" && user != "" {
			s = user
		}
	}
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if country := string(a.Country); country != "" && len(s) >= 7 && strings.Trim(s, "0123456789") == "" && s[0] != '0' {
		if len(s) <= 10 || !strings.HasPrefix(s, country) { // no country code in it
			s = country + s
		}
		s = "+" + s
	}
	return s
}

// Told is what an event says of a call of a user.
type Told struct {
	call.Event // its ID is the call's; no Source, Extension or At
	User       string
}

// Read reads an event that the exchange has posted. over is that no more will come: the
// subscription has ended.
func Read(b []byte) (all []Told, over bool, err error) {
	d, err := parse(b)
	if err != nil || d.XMLName.Local != "Event" {
		return nil, false, errDocument
	}
	for _, h := range d.calls() {
		if e, ok := h.event(d.kind()); ok && h.ID != "" {
			e.ID = string(h.ID)
			all = append(all, Told{e, d.owner()})
		}
	}
	return all, d.kind() == "SubscriptionTerminated", nil
}
