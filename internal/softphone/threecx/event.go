package threecx

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
)

// message is an event: that something has changed, and not what.
type message struct {
	Sequence *int64 `json:"sequence"`
	Event    *struct {
		Type   *int   `json:"event_type"`
		Entity string `json:"entity"`
	} `json:"event"`
}

// The types of events that we know.
const (
	upsert = 0
	remove = 1
)

// participant is one device's part in a call. Every field may be missing or null.
type participant struct {
	ID         *int64  `json:"id"`
	Status     string  `json:"status"`
	Extension  string  `json:"dn"`
	Name       string  `json:"party_caller_name"`
	Number     *string `json:"party_caller_id"`
	Called     string  `json:"party_did"`
	Call       int64   `json:"callid"`
	ReferredBy string  `json:"referred_by_dn"`
	OnBehalfOf string  `json:"on_behalf_of_dn"`
}

// message takes one event. What cannot be read costs this one event, not the
// link.
func (s *session) message(ctx context.Context, b []byte) error {
	var m message
	if json.Unmarshal(b, &m) != nil {
		s.r.Odd(len(b)) // the decoder's error may quote what it read
		return nil
	}
	if m.Sequence != nil {
		if s.heard && *m.Sequence != s.last+1 {
			s.gaps.seen = true
		}
		s.last, s.heard = *m.Sequence, true
	}
	if m.Event == nil || m.Event.Type == nil {
		return nil
	}
	id, ok := s.entity(m.Event.Entity)
	switch {
	case !ok:
	case *m.Event.Type == upsert:
		return s.changed(ctx, id)
	case *m.Event.Type == remove:
		s.end(id)
	}
	return nil
}

// entity reads /callcontrol/<our extension>/participants/<number>.
func (s *session) entity(path string) (id int64, ok bool) {
	rest, ok := strings.CutPrefix(path, "/callcontrol/"+s.Account.Extension+"/participants/")
	if !ok || len(rest) > 18 || strings.Trim(rest, "0123456789") != "" {
		return 0, false
	}
	id, err := strconv.ParseInt(rest, 10, 64)
	return id, err == nil
}

// changed asks what a participant is now.
func (s *session) changed(ctx context.Context, id int64) error {
	var p participant
	status, err := s.get(ctx, s.path()+"/participants/"+legOf(id), &p)
	switch {
	case exchangelink.Unreadable(err):
		s.r.Odd(0)
		s.gaps.seen = true
	case err != nil:
		return err
	case status == http.StatusOK:
		if s.mine(p) && *p.ID == id {
			s.take(p)
		}
	case status == http.StatusNotFound:
		s.end(id) // it was over before we asked
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return s.refused(status)
	default:
		s.gaps.seen = true // not told now; the extension is looked at again
	}
	return nil
}

// mine says whether a participant is the extension's.
func (s *session) mine(p participant) bool {
	return p.ID != nil && *p.ID >= 0 && (p.Extension == s.Account.Extension || p.Extension == "")
}

// maxCalls bounds the memory for participants whose end never comes.
const maxCalls = 512

// take reports what a participant tells.
func (s *session) take(p participant) {
	known, isKnown := s.Legs.Known(s.r, legOf(*p.ID))
	e := call.Event{Direction: call.DirectionUnknown, Name: p.Name, Line: s.Account.Extension}
	if p.Number != nil {
		e.Number = *p.Number
	}
	if p.Called != "" {
		e.Line = p.Called
	}
	for _, by := range []string{p.OnBehalfOf, p.ReferredBy} {
		if by != "" && by != s.Account.Extension {
			e.Via = by
		}
	}
	switch p.Status {
	case "Ringing":
		e.Direction = call.Incoming
	case "Dialing":
		e.Direction, e.Line, e.Via = call.Outgoing, s.Account.Extension, ""
	case "Connected":
		e.State = call.Answered
		if isKnown && p.Called == "" {
			e.Line = "" // as it was
		}
	default:
		return
	}
	if e.Number == "" {
		e.Name = ""
		if p.Number != nil && isKnown && known.Number != "" {
			e.Number = "anonymous" // whoever it is now, it is not the one before
		}
	}
	if len(s.calls) >= maxCalls {
		clear(s.calls)
	}
	s.calls[*p.ID] = p.Call
	s.Legs.Take(s.r, legOf(*p.ID), fmt.Sprintf("%d.%d", p.Call, *p.ID), e, func(other string) bool {
		id, err := strconv.ParseInt(other, 10, 64)
		theirs, ok := s.calls[id]
		return err == nil && ok && p.Call != 0 && theirs == p.Call
	})
}
