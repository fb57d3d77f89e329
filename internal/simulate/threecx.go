package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/softphone/registry"
)

// ThreeCX is the Call Control API of 3CX version 20: a token for client and key, events
// on a WebSocket that only name what has changed, and its current state on request. Access
// its fields only within With.
type ThreeCX struct {
	*server
	Participants        Listing // of all extensions, by number
	Tokens              Tokens
	Sequence            int            // number of the last event
	ExtensionRequests   int            // how often the extension was requested
	ParticipantRequests map[string]int // how often each participant was
	ownExtension        extension
}

// Start3CX starts a ThreeCX.
func Start3CX(ctx context.Context, listen string, account Account) (*ThreeCX, error) {
	t := &ThreeCX{Participants: Listing{}, Tokens: Tokens{Lifetime: time.Hour}, ParticipantRequests: map[string]int{}}
	t.server = newServer(func() bool { return t.ExtensionRequests > 0 && len(t.conns) > 0 })
	return t, t.startExchange(ctx, registry.ThreeCX, listen, account, t.serve)
}

func (t *ThreeCX) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/connect/token" {
		t.token(w, r)
		return
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t.With(func() { ok = ok && t.Tokens.has(token) })
	path := r.URL.Path
	at, rest, _ := strings.Cut(strings.TrimPrefix(path, "/callcontrol/"), "/")
	switch {
	case !ok:
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/callcontrol/ws":
		t.upgrade(w, r, socketHandler{})
	case r.Method != http.MethodGet || r.URL.RawQuery != "":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case path == "/callcontrol":
		all := []any{}
		t.With(func() {
			t.ExtensionRequests++
			for _, extension := range slices.Sorted(maps.Keys(t.participantsByExtension())) {
				all = append(all, t.state(extension))
			}
		})
		answerJSON(w, http.StatusOK, all)
	case path == "/callcontrol/"+at && at == t.account.Extension:
		var one any
		t.With(func() { one, t.ExtensionRequests = t.state(at), t.ExtensionRequests+1 })
		answerJSON(w, http.StatusOK, one)
	case strings.HasPrefix(rest, "participants/"):
		t.participant(w, at, strings.TrimPrefix(rest, "participants/"))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// participantsByExtension returns the participants by extension; our own is always included.
func (t *ThreeCX) participantsByExtension() map[string][]json.RawMessage {
	all := map[string][]json.RawMessage{t.account.Extension: {}}
	for _, p := range t.Participants.all() {
		var of struct {
			Extension string `json:"dn"`
		}
		_ = json.Unmarshal(p, &of) // some tests have invalid ones
		extension := cmp.Or(of.Extension, t.account.Extension)
		all[extension] = append(all[extension], p)
	}
	return all
}

func (t *ThreeCX) state(extension string) any {
	return map[string]any{"dn": extension, "type": "Wextension", "participants": t.participantsByExtension()[extension],
		"devices": []map[string]string{{"dn": extension, "device_id": device, "user_agent": "3CX Mobile Client"}}}
}

func (t *ThreeCX) participant(w http.ResponseWriter, extension, which string) {
	var found json.RawMessage
	t.With(func() {
		if extension != t.account.Extension && !slices.ContainsFunc(t.participantsByExtension()[extension], func(p json.RawMessage) bool { return string(p) == string(t.Participants[which]) }) {
			return
		}
		if found = t.Participants[which]; found != nil || len(t.ParticipantRequests) < maxRemembered {
			t.ParticipantRequests[which]++
		}
	})
	if found == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answerJSON(w, http.StatusOK, found)
}

func (t *ThreeCX) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxMessage)
	if r.Method != http.MethodPost || r.ParseForm() != nil || r.PostForm.Get("grant_type") != "client_credentials" ||
		r.PostForm.Get("client_id") != t.account.User || r.PostForm.Get("client_secret") != t.account.Secret {
		answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_client"})
		return
	}
	var token string
	var life time.Duration
	t.With(func() { token, life = t.Tokens.issue(), t.Tokens.Lifetime })
	answerJSON(w, http.StatusOK, map[string]any{"token_type": "Bearer", "expires_in": life.Seconds(), "access_token": token, "refresh_token": nil})
}

// The types of events.
const (
	Upsert = 0
	Remove = 1
)

// Event returns the next event, with its number, about an entity. Call it within With.
func (t *ThreeCX) Event(kind int, entity string) string {
	t.Sequence++
	return string(toJSON(map[string]any{"sequence": t.Sequence, "event": map[string]any{"event_type": kind, "entity": entity, "attached_data": nil}}))
}

// Entity returns the path of an extension's participant.
func Entity(extension string, participant int) string {
	return fmt.Sprintf("/callcontrol/%s/participants/%d", extension, participant)
}

const device = "sip:" + extensionNumber + "@127.0.0.1:5483"

func participant(c exchangeCall, leg int) map[string]any {
	number := digits(c.call.Number)
	if number == "" {
		number = "anonymous"
	}
	m := map[string]any{"id": leg, "status": [...]string{"Ringing", "Dialing", "Connected"}[c.state], "dn": extensionNumber, "party_caller_name": c.call.Name,
		"party_dn": "10000", "party_caller_id": number, "party_did": digits(c.call.Line), "device_id": device, "party_dn_type": "Wexternalline",
		"direct_control": false, "originated_by_dn": "", "referred_by_dn": digits(c.call.Via), "on_behalf_of_dn": "", "callid": c.conversation, "legid": 2}
	if c.call.Direction == "outgoing" {
		m["party_did"] = ""
	}
	return m
}

// SendUpdate sends what has changed, and waits until the client has requested it.
func (t *ThreeCX) SendUpdate(ctx context.Context, n Update) error {
	var events []string
	before := map[string]int{} // how often each participant had been requested
	t.With(func() {
		ch := t.ownExtension.apply(n)
		t.ownExtension.listLegs(t.Participants, strconv.Itoa, participant)
		for _, leg := range append(ch.began, ch.changed...) {
			events = append(events, t.Event(Upsert, Entity(extensionNumber, leg)))
			before[strconv.Itoa(leg)] = t.ParticipantRequests[strconv.Itoa(leg)]
		}
		for _, leg := range ch.ended {
			events = append(events, t.Event(Remove, Entity(extensionNumber, leg)))
			delete(t.ParticipantRequests, strconv.Itoa(leg))
		}
	})
	t.SendAll(events...)
	return t.awaitProcessed(ctx, func() bool {
		for leg, n := range before {
			if len(t.conns) > 0 && t.ParticipantRequests[leg] == n {
				return false
			}
		}
		return true
	})
}
