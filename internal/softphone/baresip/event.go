package baresip

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"wiebelt/internal/call"
)

// frame is what we read of an event. Version 4.9 adds more fields and types and
// may leave peeruri out; everything else is ignored.
type frame struct {
	Event    bool   `json:"event"`
	Type     string `json:"type"`
	Account  string `json:"accountaor"`
	Way      string `json:"direction"`
	Peer     string `json:"peeruri"`
	Name     string `json:"peerdisplayname"`
	Diverter string `json:"diverteruri"`
	ID       string `json:"id"`
	Param    string `json:"param"`
}

// known is a call that the phone has told of.
type known struct {
	event    call.Event // as reported last
	answered bool
}

// maxCalls bounds the memory for calls whose end never comes.
const maxCalls = 256

// frame takes the content of one netstring. What is no event of a call is not
// ours; what cannot be read costs this one event, not the link.
func (l *link) frame(b []byte) {
	var f frame
	if err := json.Unmarshal(b, &f); err != nil {
		// The decoder's error may quote what it read.
		if l.odd++; l.odd == 1 {
			l.cfg.Log.Warn("baresip event cannot be read", "name", l.cfg.Name, "bytes", len(b))
		}
		return
	}
	if !f.Event {
		return // the answer to somebody's command
	}
	id := callID(f.ID)
	k := l.calls[id]
	var e call.Event
	switch f.Type {
	case "CALL_INCOMING":
		e = l.event(f, id)
		e.Direction = call.Incoming
		e.State = call.Ringing
	case "CALL_OUTGOING", "CALL_RINGING", "CALL_PROGRESS":
		// The last two are the caller's events; version 1.0.0 has no
		// CALL_OUTGOING. The first of them tells of the call.
		if f.Way == "incoming" || k != nil {
			return
		}
		e = l.event(f, id)
		e.Direction = call.Outgoing
		e.State = call.Ringing
	case "CALL_ESTABLISHED":
		e = l.event(f, id)
		e.State = call.Answered
	case "CALL_CLOSED":
		e = l.event(f, id)
		e.State = call.Ended
		// Whether a call that was not answered here was missed, refused or
		// answered elsewhere does not show: param is an error text of the
		// system, the same for all three.
		if k != nil && k.answered {
			e.Reason = call.Completed
		}
	default:
		return
	}
	l.report(e, k)
}

// event gives what f tells about its call, completed by what is known of it.
func (l *link) event(f frame, id string) call.Event {
	e := call.Event{
		Way: l.way, ID: id, At: l.cfg.Now(),
		Number: f.Peer, Name: unquote(f.Name), Line: f.Account, Via: userPart(f.Diverter),
	}
	if e.Number == "" && f.Type == "CALL_INCOMING" && (strings.HasPrefix(f.Param, "sip:") || strings.HasPrefix(f.Param, "sips:") || strings.HasPrefix(f.Param, "tel:")) {
		e.Number = f.Param // the same address, there even where peeruri is left out
	}
	switch f.Way {
	case "incoming":
		e.Direction = call.Incoming
	case "outgoing":
		e.Direction = call.Outgoing
	default:
		e.Direction = call.DirectionUnknown
	}
	if k := l.calls[id]; k != nil {
		if e.Number == "" {
			e.Number, e.Name = k.event.Number, k.event.Name
		}
		if e.Line == "" {
			e.Line = k.event.Line
		}
		if e.Via == "" {
			e.Via = k.event.Via
		}
		e.Direction = k.event.Direction
	}
	return e.Clean()
}

// report hands e over and remembers what it says.
func (l *link) report(e call.Event, k *known) {
	switch {
	case e.ID == "":
	case e.State == call.Ended:
		delete(l.calls, e.ID)
	case k != nil:
		k.event = e
		k.answered = k.answered || e.State == call.Answered
	case len(l.calls) < maxCalls:
		l.calls[e.ID] = &known{event: e, answered: e.State == call.Answered}
	}
	if err := l.cfg.Take(e); err != nil {
		l.cfg.Log.Warn("baresip event was not taken", "name", l.cfg.Name, "state", e.State.String())
	}
}

// over ends every call that is still known, for a phone that is gone.
func (l *link) over() {
	for id, k := range l.calls {
		e := k.event
		e.State, e.Reason, e.At = call.Ended, call.ReasonUnknown, l.cfg.Now()
		if k.answered {
			e.Reason = call.Completed
		}
		delete(l.calls, id)
		l.report(e, nil)
	}
}

// callID makes the SIP Call-ID, which the caller chooses, fit for an event. One
// that would have to be cut or cleaned, and so could become another call's, is
// replaced by its hash.
func callID(id string) string {
	if len(id) <= call.MaxID && call.CleanText(id, call.MaxID) == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// unquote undoes the backslashes of a quoted SIP display name, which baresip
// leaves in.
func unquote(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// userPart gives the part of a SIP address that a person knows: who passed the
// call on is shown as it stands.
func userPart(uri string) string {
	for _, scheme := range [...]string{"sip:", "sips:", "tel:"} {
		if len(uri) > len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme) {
			uri = uri[len(scheme):]
			break
		}
	}
	if i := strings.IndexAny(uri, "@;"); i >= 0 {
		uri = uri[:i]
	}
	return uri
}
