package threecx

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
)

// message is an event: it says that something has changed, not what.
type message struct {
	Sequence *int64 `json:"sequence"`
	Event    *struct {
		Type   *int   `json:"event_type"`
		Entity string `json:"entity"`
	} `json:"event"`
}

// Known types of events.
const (
	upsert = 0
	remove = 1
)

// participant is one device's part in a call. Any field may be missing or null.
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

// message processes one event. An unreadable event is skipped; the connection stays.
func (s *session) message(ctx context.Context, b []byte) error {
	var m message
	if !s.r.Decode(b, &m) {
		return nil
	}
	if m.Sequence != nil {
		if s.hasSequence && *m.Sequence != s.last+1 {
			s.gaps.NoteGap()
		}
		s.last, s.hasSequence = *m.Sequence, true
	}
	if m.Event == nil || m.Event.Type == nil {
		return nil
	}
	extension, id, ok := s.entity(m.Event.Entity)
	switch {
	case !ok:
	case *m.Event.Type == upsert:
		return s.fetchParticipant(ctx, extension, id)
	case *m.Event.Type == remove:
		s.end(s.leg(extension, id))
	}
	return nil
}

// entity reads /callcontrol/<an extension of ours>/participants/<number>.
func (s *session) entity(path string) (extension string, id int64, ok bool) {
	extension, number, _ := strings.Cut(strings.TrimPrefix(path, "/callcontrol/"), "/participants/")
	_, ours := s.Account.Follows(extension)
	n, err := strconv.ParseUint(number, 10, 63)
	return extension, int64(n), ours && err == nil
}

func (s *session) fetchParticipant(ctx context.Context, extension string, id int64) error {
	var p participant
	status, err := s.get(ctx, path(extension)+"/participants/"+strconv.FormatInt(id, 10), &p)
	switch {
	case exchangelink.Unreadable(err):
		s.r.Unreadable(0)
		s.gaps.NoteGap()
	case err != nil:
		return err
	case status == http.StatusOK:
		if p.belongsTo(extension) && *p.ID == id {
			s.reportParticipant(extension, p)
		}
	case status == http.StatusNotFound:
		s.end(s.leg(extension, id)) // it ended before the request
	default:
		s.gaps.NoteGap() // unavailable or refused now; the extension is requested again
	}
	return nil
}

func (p participant) belongsTo(extension string) bool {
	return p.ID != nil && (p.Extension == extension || p.Extension == "")
}

func (s *session) reportParticipant(extension string, p participant) {
	leg := s.leg(extension, *p.ID)
	known, isKnown := s.Legs.Known(s.r, leg)
	e := call.Event{Direction: call.DirectionUnknown, Name: p.Name, Line: extension}
	e.Extension, _ = s.Account.Follows(extension)
	if p.Number != nil {
		e.Number = *p.Number
	}
	if p.Called != "" {
		e.Line = p.Called
	}
	for _, by := range []string{p.OnBehalfOf, p.ReferredBy} {
		if by != "" && by != extension {
			e.Via = by
		}
	}
	switch p.Status {
	case "Ringing":
		e.Direction = call.Incoming
	case "Dialing":
		e.Direction, e.Line, e.Via = call.Outgoing, extension, ""
	case "Connected":
		e.State = call.Answered
		if isKnown && p.Called == "" {
			e.Line = "" // unchanged
		}
	default:
		return
	}
	if e.Number == "" {
		e.Name = ""
		if p.Number != nil && known.Number != "" {
			e.Number = exchangelink.Anonymous // unknown, but no longer the previous party
		}
	}
	exchangelink.Remember(s.calls, leg, p.Call)
	s.Legs.Report(s.r, leg, fmt.Sprintf("%d.%s", p.Call, leg), e, func(other string) bool {
		return p.Call != 0 && s.calls[other] == p.Call
	})
}
