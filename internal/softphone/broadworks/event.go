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

// document holds the fields used of anything the exchange sends.
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

	Present []half   `xml:"call"` // of a user's call list
	half             // a call's details
	Details person   `xml:"details"` // of a profile
	People  []person `xml:"groupDirectory>directoryDetails"`
}

// text is text without surrounding white space.
type text string

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *text) UnmarshalText(b []byte) error {
	*t = text(bytes.TrimSpace(b))
	return nil
}

// half is one user's half of a call. Any field may be missing.
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

type person struct {
	User      text `xml:"userId"`
	Extension text `xml:"extension"`
	Group     text `xml:"groupId"`
	Provider  text `xml:"serviceProvider"`
}

var errDocument = errors.New("not a document of BroadWorks")

// parse reads a document. The decoder's error may quote it and is dropped.
func parse(b []byte) (d document, err error) {
	x := xml.NewDecoder(bytes.NewReader(b))
	// Answers about users that are not UTF-8 are in ISO-8859-1.
	x.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return charmap.ISO8859_1.NewDecoder().Reader(in), nil }
	if x.Decode(&d) != nil {
		return document{}, errDocument
	}
	return d, nil
}

// kind returns the kind of an event, such as CallReceived.
func (d document) kind() string {
	kind := string(cmp.Or(d.Data.Type, d.Type))
	return strings.TrimSuffix(kind[strings.IndexByte(kind, ':')+1:], "Event")
}

// owner returns the user whose calls an event is about.
func (d document) owner() string { return string(cmp.Or(d.Target, d.User)) }

func (d document) calls() []half { return append(d.Data.Call, d.Data.Calls...) }

// normaliseWord returns a word without spelling differences.
func normaliseWord(t text) string { return exchangelink.NormaliseWord(string(t)) }

// event returns the state of a half of a call in an event of the given kind, "" for none.
// ok is false if it says nothing about the user's phone.
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
	e.Via = exchangelink.ColleagueName(h.Recall.name(), h.Recall.visibleNumber())
	for _, r := range h.Redirections {
		switch normaliseWord(r.Reason) {
		case "huntgroup", "callcenter", "routepoint":
			e.Queue, e.Line = cmp.Or(e.Queue, r.Party.name(), r.Party.visibleNumber()), cmp.Or(e.Line, r.Party.visibleNumber())
		default:
			e.Via = cmp.Or(e.Via, exchangelink.ColleagueName(r.Party.name(), r.Party.visibleNumber()))
		}
	}
	if e.Queue == "" {
		e.Queue, _, _ = strings.Cut(string(h.HuntGroup), "@")
	}
	return e, true
}

// direction returns the direction as the user sees it. An unknown one counts as incoming,
// so that no call is missed.
func (h half) direction(kind string) call.Direction {
	if p := normaliseWord(h.Personality); p == "originator" || p == "clicktodial" || strings.HasPrefix(kind, "CallOriginat") {
		return call.Outgoing
	}
	return call.Incoming
}

func (h half) state(kind string) (s call.State, ok bool) {
	state := normaliseWord(h.State)
	if kind == "CallReleased" || state == "released" || state == "idle" {
		return call.Ended, true
	}
	if h.Redirect != nil {
		switch normaliseWord(h.Redirect.Reason) {
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

func (h half) reason(d call.Direction) call.Reason {
	cause, q850 := "", call.ReasonUnknown
	if h.Cause != nil {
		n, _ := strconv.Atoi(string(h.Cause.Q850))
		cause, q850 = normaliseWord(h.Cause.Internal), exchangelink.HangupReason(n)
	}
	switch {
	case h.Answered != "":
		return call.Completed
	case q850 != call.ReasonUnknown:
		return q850
	case cause == "busy":
		return call.Rejected
	case d == call.Outgoing:
	case h.Redirect != nil && normaliseWord(h.Redirect.Reason) == "noanswer", cause == "requesttimeout", cause == "temporarilyunavailable",
		normaliseWord(h.Releasing) == "remoterelease":
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

// number returns a party's number, "" if there is none, "anonymous" if it is withheld.
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

// visibleNumber returns a party's number unless it is withheld.
func (p party) visibleNumber() string {
	if p.Privacy != nil {
		return ""
	}
	return p.number()
}

// number extracts the number from an address: a tel or sip URI, or just the number.
func (a address) number() string {
	s := string(a.URI)
	scheme, rest, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "tel":
		s, _, _ = strings.Cut(rest, ";")
	case "sip", "sips":
		user, _, _ := strings.Cut(rest, "@")
		if user, _, _ = strings.Cut(user, ";"); strings.Trim(user, "+0123456789*#") == "" {
			s = user
		}
	}
	if plain, err := url.PathUnescape(s); err == nil { // otherwise it is shown as it is
		s = plain
	}
	if country := string(a.Country); country != "" && len(s) >= 7 && strings.Trim(s, "0123456789") == "" && s[0] != '0' {
		if len(s) <= 10 || !strings.HasPrefix(s, country) { // without country code
			s = country + s
		}
		s = "+" + s
	}
	return s
}

// UserReport is an event of a user's call.
type UserReport struct {
	call.Event // its ID is the call's; Source, Extension and At are not set
	User       string
}

// Read parses an event posted by the exchange. over means that the subscription has
// ended and no more will come.
func Read(b []byte) (all []UserReport, over bool, err error) {
	d, err := parse(b)
	if err != nil || d.XMLName.Local != "Event" {
		return nil, false, errDocument
	}
	for _, h := range d.calls() {
		if e, ok := h.event(d.kind()); ok && h.ID != "" {
			e.ID = string(h.ID)
			all = append(all, UserReport{e, d.owner()})
		}
	}
	return all, d.kind() == "SubscriptionTerminated", nil
}
