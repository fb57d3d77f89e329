package broadworks

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

// documents splits a channel into its documents. A truncated one ends
// where the next begins.
func documents(data []byte, _ bool) (advance int, document []byte, err error) {
	start := bytes.IndexByte(data, '<')
	if start < 0 {
		return len(data), nil, nil
	}
	data = data[start:]
	most := len(data)
	next := bytes.Index(data[1:], []byte("<?xml"))
	if next >= 0 {
		most = next + 1
	}
	if n := documentEnd(data[:most]); n > 0 {
		return start + n, data[:n], nil
	}
	if next >= 0 {
		return start + most, data[:most], nil
	}
	return start, nil, nil
}

// documentEnd returns where the document at the start of data ends, 0 if it is incomplete.
func documentEnd(data []byte) int {
	root := 0
	if bytes.HasPrefix(data, []byte("<?")) {
		i := bytes.Index(data, []byte("?>"))
		if i < 0 {
			return 0
		}
		if root = bytes.IndexByte(data[i:], '<') + i; root < i {
			return 0
		}
	}
	close := bytes.IndexByte(data[root:], '>') + root
	if close < root {
		return 0
	}
	if data[close-1] == '/' {
		return close + 1
	}
	name := bytes.Fields(data[root:close])[0][1:]
	last := bytes.Index(data[close:], append([]byte("</"), name...))
	if last < 0 {
		return 0
	}
	last += close
	if i := bytes.IndexByte(data[last:], '>'); i >= 0 {
		return last + i + 1
	}
	return 0
}

const (
	maxID              = 512
	maxPeople          = 4096
	maxMissed          = 4096
	pages              = 8
	askTime            = time.Second // how long a call waits for details of its user
	maxProfileRequests = 8           // concurrent requests
)

// readUsers reads who the user is and, if it matters, the other users. It returns the group
// when following many, "" if unknown.
func (s *session) readUsers(ctx context.Context) (group string, err error) {
	d, status, err := s.do(ctx, http.MethodGet, actions+userPath(s.Account.User)+"/profile", nil)
	me := d.Details
	switch {
	case err != nil:
		return "", err
	case status == http.StatusUnauthorized:
		return "", s.statusError(status)
	case me.Group != "" && me.Provider != "": // empty for an administrator, or a user without this right
		group = "/serviceprovider/" + url.PathEscape(string(me.Provider)) + "/group/" + url.PathEscape(string(me.Group))
	}
	many := s.Account.HasExtension != nil
	if !many && (me.Extension == "" || string(me.Extension) == s.Account.Extension) {
		s.target = string(cmp.Or(me.User, text(s.Account.User)))
		return "", nil
	}
	for first, page := 1, 0; page < pages; page++ {
		d, _, err := s.do(ctx, http.MethodGet, actions+userPath(s.Account.User)+"/directories/Group?results=1000&start="+strconv.Itoa(first), nil)
		if err != nil {
			return "", err
		}
		if first += len(d.People); len(d.People) == 0 {
			break
		}
		for _, p := range d.People {
			s.addUser(p)
			if !many && string(p.Extension) == s.Account.Extension {
				s.target = string(p.User)
			}
		}
	}
	if !many && s.target == "" {
		return "", &link.Refusal{Why: "BroadWorks does not know the extension of the settings, or not for this user", Cause: link.CauseExtension}
	}
	return group, nil
}

func (s *session) addUser(p person) {
	id := strings.ToLower(string(p.User))
	if _, known := s.people[id]; id != "" && len(id)+len(p.Extension) <= maxID && (known || len(s.people) < maxPeople) {
		s.people[id] = person{User: p.User, Extension: p.Extension}
	}
}

// extension returns a user's extension, and requests an unknown user's profile. If the
// exchange does not give one, the user ID stands in for it.
func (s *session) extension(ctx context.Context, id string) string {
	if strings.EqualFold(id, s.target) {
		return s.Account.Extension
	} else if s.target != "" || id == "" || len(id) > maxID {
		return ""
	}
	p, ok := s.people[strings.ToLower(id)]
	if !ok {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		d, _, err := s.do(ctx, http.MethodGet, actions+userPath(id)+"/profile", nil)
		if p = d.Details; p.Extension == "" {
			name, _, _ := strings.Cut(id, "@")
			p.Extension = text(name)
		}
		if p.User = text(id); err == nil { // otherwise it is requested again
			s.addUser(p)
		}
	}
	return string(p.Extension)
}

// snapshot reports the current calls, and ends all others. changed is whether
// it reported anything new.
func (s *session) snapshot(ctx context.Context) (changed bool, err error) {
	before := exchangelink.CallStates(s.r)
	who := map[string]bool{}
	for _, k := range s.halves {
		who[strings.ToLower(k.user)] = true
	}
	for id, p := range s.people {
		if _, ours := s.Account.Follows(string(p.Extension)); ours {
			who[id] = true
		}
	}
	if s.target != "" {
		who = map[string]bool{s.target: true}
	}
	ids := slices.Collect(maps.Keys(who))
	lists := make([][]half, len(ids))
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(maxProfileRequests)
	for i, id := range ids {
		group.Go(func() (err error) {
			lists[i], err = s.fetchCalls(limited, id)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	there := map[string]bool{}
	for i, id := range ids {
		for _, h := range lists[i] {
			there[s.reportHalf(ctx, id, h, "")] = true
		}
		if lists[i] == nil {
			for leg := range s.legsOf(id) {
				there[leg] = true
			}
		}
	}
	s.Legs.EndOthers(s.r, there)
	maps.DeleteFunc(s.halves, func(leg string, _ known) bool { return !there[leg] })
	return !maps.Equal(exchangelink.CallStates(s.r), before), nil
}

// fetchCalls returns a user's current calls with their details; nil means that the exchange
// does not list them, which leaves them to its events.
func (s *session) fetchCalls(ctx context.Context, id string) (all []half, err error) {
	path := actions + userPath(id) + "/calls"
	d, status, err := s.do(ctx, http.MethodGet, path, nil)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusUnauthorized:
		return nil, s.statusError(status)
	case status/100 != 2:
		return nil, nil
	}
	all = []half{}
	for _, h := range d.Present {
		if h.State == "" && h.ID != "" {
			d, status, err := s.do(ctx, http.MethodGet, path+"/"+url.PathEscape(string(h.ID)), nil)
			if err != nil {
				return nil, err
			} else if status/100 != 2 {
				continue // over, or no longer at the phone
			}
			d.half.ID, h = h.ID, d.half
		}
		all = append(all, h)
	}
	return all, nil
}

// message processes one document of the channel. An unreadable one is skipped,
// the connection stays.
func (s *session) message(ctx context.Context, b []byte) error {
	d, err := parse(b)
	if err != nil {
		s.r.Unreadable(len(b))
		return nil
	}
	if d.Event != "" && len(d.Event) <= maxID {
		select {
		case s.acks <- string(d.Event):
		default: // the exchange will consider the channel dead
		}
	}
	id := d.owner()
	switch kind := d.kind(); {
	case kind == "ChannelTerminated":
		return s.terminated(d)
	case kind == "SubscriptionTerminated" && s.subscriptions[string(d.Subscription)]:
		return s.Server.Failure("it has ended the subscription", link.CauseEnded)
	case strings.HasPrefix(kind, "CallSubscription"): // all calls of a user
		s.noteSequence(d)
		there := map[string]bool{}
		for _, h := range d.calls() {
			there[s.reportHalf(ctx, id, h, "")] = true
		}
		for leg := range s.legsOf(id) {
			if !there[leg] {
				s.end(leg, call.ReasonUnknown)
			}
		}
	default:
		s.noteSequence(d)
		for _, h := range d.calls() {
			if !s.endedCalls.Has(s.leg(id, h)) {
				s.reportHalf(ctx, id, h, kind)
			}
		}
	}
	return nil
}

func (s *session) terminated(d document) error {
	switch {
	case d.Channel != "" && string(d.Channel) != s.channel:
		return nil // of an earlier one
	case d.Reason == "DuplicateChannelSet":
		return link.ErrReplaced
	case d.Reason == "UserDeleted":
		return s.statusError(http.StatusUnauthorized)
	}
	return s.Server.Failure("it has ended the channel", link.CauseEnded)
}

// noteSequence notes an event's number within its subscription. Events of different users
// may overtake each other; those that never arrive leave a gap.
func (s *session) noteSequence(d document) {
	n, err := strconv.ParseInt(string(d.Sequence), 10, 64)
	if err != nil || !s.subscriptions[string(d.Subscription)] {
		return
	}
	event := func(n int64) string { return string(d.Subscription) + " " + strconv.FormatInt(n, 10) }
	delete(s.missingEvents, event(n))
	last := s.last[string(d.Subscription)]
	if last > 0 && n-last <= maxMissed {
		for i := last + 1; i < n && len(s.missingEvents) < maxMissed; i++ {
			s.missingEvents[event(i)] = true
		}
	}
	s.last[string(d.Subscription)] = max(last, n)
	if len(s.missingEvents) > 0 {
		s.gaps.NoteGap()
	}
}

// leg returns the key of half of a call: the exchange's ID,
// prefixed with the user's when following many.
func (s *session) leg(id string, h half) string {
	if s.target != "" {
		return string(h.ID)
	}
	return strings.ToLower(id) + "/" + string(h.ID)
}

func (s *session) legsOf(id string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for leg, k := range s.halves {
			if strings.EqualFold(k.user, id) && !yield(leg) {
				return
			}
		}
	}
}

// reportHalf reports the state of a half of one of our calls, and returns its leg. A half from
// a list of calls, without a kind of event, is not reported again unless it has changed.
func (s *session) reportHalf(ctx context.Context, id string, h half, kind string) (leg string) {
	named, ours := s.Account.Follows(s.extension(ctx, id))
	if !ours || h.ID == "" || len(h.ID)+len(h.Tracking) > maxID {
		return ""
	}
	leg = s.leg(id, h)
	e, ok := h.event(kind)
	switch {
	case !ok:
		return leg
	case e.State == call.Ended:
		if e.Reason != call.Completed && e.Direction == call.Incoming && s.answeredElsewhere(leg, h) {
			e.Reason = call.AnsweredElsewhere
		}
		s.end(leg, e.Reason)
		if h.Redirect == nil { // a call passed on may come back
			s.endedCalls.Add(leg)
		}
		return leg
	}
	e.Extension = named
	exchangelink.Remember(s.halves, leg, known{id, string(h.Tracking)})
	if k, isKnown := s.Legs.Known(s.r, leg); isKnown && kind == "" && k.State == e.State && k.Number == e.Number {
		return leg
	}
	s.Legs.Report(s.r, leg, leg, e, func(other string) bool { return h.Tracking != "" && s.halves[other].tracking == string(h.Tracking) })
	return leg
}

// answeredElsewhere reports whether somebody else answered the call of a leg.
func (s *session) answeredElsewhere(leg string, h half) bool {
	for other, k := range s.halves {
		if e, on := s.Legs.Known(s.r, other); other != leg && h.Tracking != "" && k.tracking == string(h.Tracking) && on && e.State == call.Answered && e.Direction == call.Incoming {
			return true
		}
	}
	return false
}

func (s *session) end(leg string, why call.Reason) {
	delete(s.halves, leg)
	s.Legs.End(s.r, leg, why)
}
