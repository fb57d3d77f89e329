package simulate

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/softphone/registry"
)

// Yeastar is a P-series exchange with its API: a token for client id and secret, a refresh
// token, and the events of all calls on a WebSocket for subscribed clients. Access its
// fields only within With.
type Yeastar struct {
	*server
	Calls          Listing // active calls, by id
	Tokens         Tokens
	refreshTokens  map[string]bool   // refresh tokens that are valid
	Logins         int               // with id and secret, including rejected ones
	Idle           time.Duration     // how long a connection may be silent
	RejectsQueries bool              // rejects queries for the active calls
	topics         map[*wsConn][]int // subscribed topics
	queried        bool              // somebody has requested the calls
}

// The kinds of events.
const (
	yeastarChanged     = 30011
	yeastarTransferred = 30013
)

// maxYeastarTokens is how many tokens an application may have.
const maxYeastarTokens = 8

// The codes of answers.
const (
	yeastarOK       = 0
	yeastarDenied   = 40002
	yeastarBadToken = 10004
	yeastarTooMany  = 60002
)

// StartYeastar starts a Yeastar.
func StartYeastar(ctx context.Context, listen string, account Account) (*Yeastar, error) {
	y := &Yeastar{Calls: Listing{}, Tokens: Tokens{Lifetime: 30 * time.Minute}, refreshTokens: map[string]bool{}, Idle: time.Minute, topics: map[*wsConn][]int{}}
	y.server = newServer(func() bool { return y.queried && len(y.topics) > 0 })
	return y, y.startExchange(ctx, registry.YeastarSocket, listen, account, y.serve)
}

func codedAnswer(code int, more ...any) map[string]any {
	says := "FAILURE"
	if code == yeastarOK {
		says = "SUCCESS"
	}
	return withFields(map[string]any{"errcode": code, "errmsg": says}, more...)
}

func (y *Yeastar) serve(w http.ResponseWriter, r *http.Request) {
	path, ours := strings.CutPrefix(r.URL.Path, "/openapi/v1.0/")
	var asked map[string]string
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMessage)).Decode(&asked) // nothing is refused below
	}
	token := r.URL.Query().Get("access_token")
	answer := codedAnswer(yeastarBadToken)
	y.With(func() {
		switch valid := y.Tokens.has(token); {
		case !ours || r.UserAgent() != "OpenAPI":
			answer = codedAnswer(10001)
		case path == "get_token" && r.Method == http.MethodPost:
			if y.Logins++; asked["username"] == y.account.User && asked["password"] == y.account.Secret {
				answer = y.token()
			} else {
				answer = codedAnswer(yeastarDenied)
			}
		case path == "refresh_token" && r.Method == http.MethodPost:
			if old := asked["refresh_token"]; y.refreshTokens[old] {
				delete(y.refreshTokens, old)
				y.forget(strings.TrimPrefix(old, refreshPrefix))
				answer = y.token()
			}
		case !valid || r.Method != http.MethodGet:
		case path == "del_token":
			y.forget(token)
			answer = codedAnswer(yeastarOK)
		case path == "call/query" && !y.RejectsQueries:
			answer, y.queried = codedAnswer(yeastarOK, "data", y.Calls.all()), true
		case path == "subscribe":
			answer = nil
		}
	})
	if answer != nil {
		answerJSON(w, http.StatusOK, answer)
		return
	}
	y.upgrade(w, r, socketHandler{onMessage: y.handleMessage, onClose: func(c *wsConn) { delete(y.topics, c) }, onOpen: y.began})
}

// began sets the time after which a silent connection ends.
func (y *Yeastar) began(c *wsConn) func() {
	_ = c.conn.SetReadDeadline(time.Now().Add(y.Idle))
	return nil
}

// refreshPrefix is the prefix of refresh tokens.
const refreshPrefix = "refresh."

func (y *Yeastar) forget(token string) {
	y.Tokens.Valid = slices.DeleteFunc(y.Tokens.Valid, func(t string) bool { return t == token })
}

func (y *Yeastar) token() map[string]any {
	if len(y.Tokens.Valid) >= maxYeastarTokens {
		return codedAnswer(yeastarTooMany)
	}
	access := y.Tokens.issue()
	y.refreshTokens[refreshPrefix+access] = true
	return codedAnswer(yeastarOK, "access_token_expire_time", y.Tokens.Lifetime.Seconds(), "access_token", access,
		"refresh_token_expire_time", 86400, "refresh_token", refreshPrefix+access)
}

func (y *Yeastar) handleMessage(c *wsConn, b []byte) bool {
	var asked struct {
		Topics []int `json:"topic_list"`
	}
	answer := string(toJSON(codedAnswer(10002)))
	y.With(func() {
		_ = c.conn.SetReadDeadline(time.Now().Add(y.Idle))
		if string(b) == "heartbeat" {
			answer = "heartbeat response"
		} else if json.Unmarshal(b, &asked) == nil && len(asked.Topics) > 0 {
			answer = string(toJSON(codedAnswer(yeastarOK)))
			y.topics[c] = asked.Topics
		}
	})
	return c.send([]byte(answer)) == nil
}

// RevokeTokens invalidates all tokens, and closes the connections made with them.
func (y *Yeastar) RevokeTokens() {
	y.With(func() { y.Tokens.Valid = nil; clear(y.refreshTokens) })
	y.EachSocket(func(c *websocket.Conn) { _ = c.NetConn().Close() })
}

// Send sends an event to the clients subscribed to its kind.
func (y *Yeastar) Send(kind int, event string) {
	y.sendEach(func(c *wsConn) []string {
		if slices.Contains(y.topics[c], kind) {
			return []string{event}
		}
		return nil
	})
}

// SendUpdate sends an event.
func (y *Yeastar) SendUpdate(_ context.Context, n Update) error {
	kind, call := yeastarCall(n)
	y.With(func() {
		if y.Calls[n.Call.ID] = toJSON(call); n.Verb == End {
			delete(y.Calls, n.Call.ID)
		}
	})
	y.Send(kind, string(yeastarEvent(kind, call)))
	return nil
}
