package xelion

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/webhook"
)

// channel is one device's part in a call.
type channel struct {
	id, call, name, number, phone string
	role                          string // one of the words below
	up, gone                      bool
	numberRequested               bool // its number was requested
	version                       int64

	// Set for our own channels:
	extension, named      string     // named is the extension as in events
	waits                 bool       // it will be reported
	lastReport            call.Event // last report, as read
	peer                  string     // channel of the other party
	previousAnswerer, via string     // channel that had answered the call before this one rang, and its party
}

const (
	caller     = "caller"
	callee     = "callee"
	conference = "conference"
	listening  = "listening"
)

// callInfo holds what is known of a call apart from its channels.
type callInfo struct {
	caller, callerName, called, queue, via           string
	callerChannel                                    string // that caller's channel
	answererChannel, answererName, answererExtension string // who answered last: channel, party, our extension
	pendingEvent                                     string // event about it, to be compared with its channels
	missed, idle                                     bool
}

const (
	maxID       = 512
	maxText     = 2 << 10 // bytes of what is remembered of a channel
	maxChannels = 4096
)

// Words for a connected channel and for an ended one. Any other state leaves
// the call unchanged.
var (
	isUp    = words("connected", "up", "answered", "active", "hold", "held", "onhold", "parked", "incall", "bridged", "talking")
	isGone  = words("hungup", "hangup", "disconnected", "ended", "terminated", "finished", "closed")
	removes = words("remove", "removed", "delete", "deleted")
)

// words returns a function that reports whether a word is one of all,
// ignoring case and signs.
func words(all ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(all, exchangelink.NormaliseWord(s)) }
}

func isNumber(s string) bool {
	return len(s) >= 3 && strings.Trim(s, "+0123456789 ()-.") == "" && strings.ContainsAny(s, "0123456789")
}

// read converts the description of a channel; it returns
// nil for anything else, or if it is too long.
func (s *session) read(d webhook.Document) *channel {
	c := &channel{id: d.First("channelId"), name: d.First("name", "organisationName"), number: d.First("phoneNumber", "number"),
		phone: d.First("phone"), role: strings.ToLower(d.First("role"))}
	c.call = cmp.Or(d.First("callId"), c.id)
	if c.id == "" || len(c.id)+len(c.call)+len(c.name)+len(c.number)+len(c.phone) > maxText {
		return nil
	}
	user := d.First("phoneUser")
	if c.phone == "" && user == "" { // SIP/101-0000002a
		_, rest, _ := strings.Cut(c.id, "/")
		c.phone = rest[:max(strings.LastIndexByte(rest, '-'), 0)]
	}
	if c.role != caller && c.role != conference && c.role != listening {
		c.role = callee
		if c.call == c.id && d.First("role") == "" { // a call has the ID of its first channel
			c.role = caller
		}
	}
	state := d.First("state")
	c.up, c.gone = isUp(state), isGone(state)
	switch {
	case address.IsPrivateName(c.name):
		c.name, c.number = "", cmp.Or(c.number, exchangelink.Anonymous)
	case address.IsUnknownName(c.name): // its number may be known
		c.name = ""
	case isNumber(c.name):
		c.name, c.number = "", cmp.Or(c.number, c.name)
	}
	for _, x := range []string{user, c.phone} {
		if named, ok := s.Account.Follows(x); ok && c.role != listening {
			c.extension, c.named = x, named
		}
	}
	return c
}

// message processes one message, and reports whether it is our own test
// message coming back. An unreadable message is skipped; the connection stays.
func (s *session) message(b []byte) (back bool) {
	var m webhook.Document
	if !s.r.Decode(b, &m) {
		return false
	}
	about := m
	for _, name := range []string{"notification", "notificationObject", "object"} {
		if inner := m.At(name); inner.Exists() {
			about = inner
		}
	}
	if told := about.At("activeChannel"); told.Exists() {
		s.changed(about, told)
	} else if id := about.First("callId"); id != "" && len(id) <= maxID {
		s.handleCallEvent(strings.ToLower(m.First("notificationType")), id, about)
	}
	return m.First("messageType") == test
}

func (s *session) changed(about, told webhook.Document) {
	version, err := strconv.ParseInt(about.First("version"), 10, 64)
	if s.hasVersion && version != s.version+1 {
		s.gaps.NoteGap()
	}
	s.version, s.hasVersion = version, err == nil
	c := s.read(told)
	if c == nil {
		s.gaps.NoteGap() // unknown content
		return
	}
	c.version = version
	c.gone = c.gone || removes(about.First("updateType"))
	switch old := s.channels[c.id]; {
	case old == nil && (c.gone || len(s.channels) >= maxChannels), old != nil && c.version < old.version:
	case c.gone:
		old.gone, old.version = true, c.version
		s.wait()
	default:
		s.put(c)
		s.report(c.call)
	}
}

func (s *session) put(c *channel) {
	t := s.infoOf(c.call)
	if old := s.channels[c.id]; old != nil {
		c.number, c.numberRequested = cmp.Or(c.number, old.number), old.numberRequested
		c.waits, c.lastReport, c.peer, c.previousAnswerer, c.via = old.waits, old.lastReport, old.peer, old.previousAnswerer, old.via
	} else {
		c.previousAnswerer, c.via = t.answererChannel, t.answererName
	}
	s.channels[c.id] = c
	if c.role == callee && c.up {
		t.answererChannel, t.answererExtension, t.answererName = c.id, c.extension, cmp.Or(exchangelink.ColleagueName(c.name, c.phone), c.number)
	}
}

func (s *session) infoOf(id string) *callInfo {
	t := s.callInfos[id]
	if t == nil {
		t = &callInfo{}
		exchangelink.Remember(s.callInfos, id, t)
	}
	t.idle = false
	return t
}

// channelsOf returns the channels of a call in a stable order, including ended ones.
func (s *session) channelsOf(id string) (all []*channel) {
	for _, c := range s.channels {
		if c.call == id {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *channel) int { return cmp.Compare(a.id, b.id) })
	return all
}

// otherParty returns the channel of the other party to one of ours, nil while unknown.
func otherParty(c *channel, all []*channel) (is *channel) {
	for _, o := range all {
		if o != c && o.role != listening && (o.role != c.role || c.role == conference) && (is == nil || is.gone && !o.gone || o.up && !is.up && !o.gone) {
			is = o
		}
	}
	return is
}

func (t *callInfo) number(c, other *channel) (number, name string) {
	if other == nil {
		other = &channel{}
	}
	number, name = other.number, other.name
	switch c.role {
	case caller:
		number = cmp.Or(number, t.called)
	case callee:
		if t.callerChannel = cmp.Or(t.callerChannel, other.id); t.callerChannel == other.id {
			number, name = cmp.Or(number, t.caller), cmp.Or(name, t.callerName)
		}
	}
	if number == "" && exchangelink.LooksInternal(other.phone) {
		number = other.phone
	}
	return number, name
}

// report reports our channels of a call. One whose other party is still
// unknown waits a moment.
func (s *session) report(id string) {
	all := s.channelsOf(id)
	for _, c := range all {
		if c.extension == "" || c.gone {
			continue
		}
		is := otherParty(c, all)
		if number, _ := s.infoOf(id).number(c, is); number == "" && (is == nil && c.peer == "" || is != nil && !is.numberRequested) {
			c.waits = true
			s.wait()
			continue
		}
		s.reportChannel(c, all)
	}
}

func (s *session) reportChannel(c *channel, all []*channel) {
	is, t := otherParty(c, all), s.infoOf(c.call)
	known, isKnown := s.Legs.Known(s.r, c.id)
	e := call.Event{Direction: call.DirectionUnknown, Extension: c.named}
	e.Number, e.Name = t.number(c, is)
	switch c.role {
	case caller:
		e.Direction = call.Outgoing
	case callee:
		e.Direction, e.Queue, e.Via = call.Incoming, t.queue, t.via
		if exchangelink.IsPublicNumber(t.called) {
			e.Line = t.called
		}
		e.Via = cmp.Or(e.Via, c.via)
	}
	if c.up && (e.Direction != call.Outgoing || is == nil || is.up) {
		e.State = call.Answered
	}
	if is != nil {
		if e.Number == "" && isKnown && known.Number != "" && is.id != c.peer {
			e.Number = exchangelink.Anonymous // unknown, but no longer the previous party
		}
		c.peer = is.id
	}
	c.waits = false
	if isKnown && e == c.lastReport {
		return
	}
	if c.lastReport = e; !isKnown {
		e.Line = cmp.Or(e.Line, c.extension)
	}
	s.Legs.Report(s.r, c.id, c.call+"."+c.id, e, func(other string) bool {
		o := s.channels[other]
		return o != nil && o.call == c.call
	})
}

// handleCallEvent processes an event about a call. It adds to what the channels report,
// and is no call by itself.
func (s *session) handleCallEvent(kind, id string, d webhook.Document) {
	t := s.infoOf(id)
	replace := func(field *string, said string) {
		if len(said) <= maxID {
			*field = cmp.Or(said, *field)
		}
	}
	replace(&t.caller, d.First("callerPhoneNumber", "callerNumber", "caller.phoneNumber", "caller.number"))
	replace(&t.called, d.First("calleePhoneNumber", "calleeNumber", "callee.phoneNumber", "callee.number"))
	replace(&t.queue, d.First("queue.commonName", "callQueue.commonName", "huntGroup.commonName", "queueName", "queue"))
	replace(&t.via, d.First("transferrer.commonName", "transferredBy.commonName", "transferrer", "transferredBy"))
	if name := d.First("callerAddressable.commonName", "caller.commonName", "callerCommonName", "callerName"); !isNumber(name) {
		replace(&t.callerName, name)
	}
	t.missed = t.missed || kind == "missedcallevent"
	t.pendingEvent = kind
	s.wait()
	s.report(id)
}

func (s *session) endChannel(c *channel) {
	if c.waits { // report that it rang
		s.reportChannel(c, s.channelsOf(c.call))
	}
	delete(s.channels, c.id)
	t := s.infoOf(c.call)
	switch {
	case c.extension == "":
	case c.role == callee && t.answererChannel != "" && t.answererChannel != c.id && t.answererChannel != c.previousAnswerer &&
		t.answererExtension != c.extension:
		s.Legs.EndBy(s.r, c.id, call.AnsweredElsewhere, t.answererName)
	case t.missed:
		s.Legs.End(s.r, c.id, call.Missed)
	default:
		s.Legs.End(s.r, c.id, call.ReasonUnknown)
	}
}

// waiting returns our waiting channels, and whether a number must be requested.
func (s *session) waiting() (all []*channel, ask bool) {
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		c := s.channels[id]
		if !c.waits {
			continue
		}
		all = append(all, c)
		is := otherParty(c, s.channelsOf(c.call))
		if number, _ := s.infoOf(c.call).number(c, is); number == "" && is != nil && !is.numberRequested {
			is.numberRequested, ask = true, true
		}
	}
	return all, ask
}

// finish reports the waiting channels, then the ended ones, and requests the list if an
// event about a call does not match its channels.
func (s *session) finish(waiting []*channel) {
	for _, c := range waiting {
		s.reportChannel(c, s.channelsOf(c.call))
	}
	calls := map[string]bool{} // with a channel, and whether one is connected
	less := map[string]bool{}  // calls that lost a channel
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		if c := s.channels[id]; c.gone {
			s.endChannel(c)
			less[c.call] = true
		} else {
			calls[c.call] = calls[c.call] || c.up
		}
	}
	for _, id := range slices.Sorted(maps.Keys(less)) {
		if slices.ContainsFunc(s.channelsOf(id), s.isUnreported) {
			s.report(id)
		}
	}
	for id, t := range s.callInfos {
		up, on := calls[id]
		switch {
		case t.pendingEvent == "newcallevent" && !on, t.pendingEvent == "callconnectedevent" && !up, t.pendingEvent == "callhungupevent" && on:
			s.gaps.NoteGap()
		case !on && t.idle:
			delete(s.callInfos, id) // IDs may be reused
		}
		t.pendingEvent, t.idle = "", !on
	}
}

// isUnreported reports whether our channel's call ended with another of our devices.
func (s *session) isUnreported(c *channel) bool {
	_, said := s.Legs.Known(s.r, c.id)
	return c.extension != "" && !said
}

// replace takes over all current channels, and reports whether that changed anything. anew
// means that nothing is known about the time before.
func (s *session) replace(there []*channel, anew bool) (news bool) {
	legs, calls := map[string]bool{}, map[string]bool{}
	for _, c := range there {
		old := s.channels[c.id]
		news = news || old == nil || old.call != c.call || old.up != c.up
		if anew && old != nil && old.call != c.call {
			s.endChannel(old) // IDs may be reused
		}
		legs[c.id], calls[c.call], c.version = true, true, s.version
		s.put(c)
	}
	for id, c := range s.channels {
		if !legs[id] {
			news = true
			s.endChannel(c)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		s.report(id)
	}
	s.Legs.EndOthers(s.r, legs)
	return news
}
